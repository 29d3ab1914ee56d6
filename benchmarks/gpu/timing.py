"""What every implementation of a model offers, and how it is timed."""

from __future__ import annotations

import statistics
import time
from typing import Any, Protocol

WARM = 3


class Training(Protocol):
    """A model ready to train on one batch."""

    def step(self) -> None:
        """One training step; its results may still be on their way when this returns."""

    def step_and_loss(self) -> float:
        """One training step, and the loss it found, on the host."""

    def peak_bytes(self) -> int:
        """The most device memory that was in use; 0 where nobody counts."""


def measure(training: Training, steps: int, samples: int) -> dict[str, Any]:
    """Medians of seconds per step.

    `running`: `steps` steps of which only the last gives its loss, as training loops run.
    `fetched`: every step gives its loss.
    """
    began = time.perf_counter()
    losses = [training.step_and_loss() for _ in range(WARM)]
    for _ in range(WARM):
        training.step()
    losses.append(training.step_and_loss())
    warm = time.perf_counter() - began
    running = [_running(training, steps) for _ in range(samples)]
    fetched = [_fetched(training, steps) for _ in range(samples)]
    return {
        "running": statistics.median(running),
        "fetched": statistics.median(fetched),
        "fastest": min(running),
        "warm_up": warm,
        "losses": losses,
        "peak_bytes": training.peak_bytes(),
    }


def _running(training: Training, steps: int) -> float:
    began = time.perf_counter()
    for _ in range(steps - 1):
        training.step()
    training.step_and_loss()
    return (time.perf_counter() - began) / steps


def _fetched(training: Training, steps: int) -> float:
    began = time.perf_counter()
    for _ in range(steps):
        training.step_and_loss()
    return (time.perf_counter() - began) / steps
