"""What every implementation of a model offers, and how it is timed."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
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
    return measure_by_turns([training], steps, samples)[0]


def measure_by_turns(
    trainings: Sequence[Training], steps: int, samples: int
) -> list[dict[str, Any]]:
    """The same for several models in one process, whose samples are taken by turns."""
    found = [_warm_up(training) for training in trainings]
    for field, sample in (("running", _running), ("fetched", _fetched)):
        taken: list[list[float]] = [[] for _ in trainings]
        for _ in range(samples):
            for training, seconds in zip(trainings, taken, strict=True):
                seconds.append(sample(training, steps))
        for result, seconds in zip(found, taken, strict=True):
            result |= {field: statistics.median(seconds), f"fastest_{field}": min(seconds)}
    for result, training in zip(found, trainings, strict=True):
        result["peak_bytes"] = training.peak_bytes()
    return found


def _warm_up(training: Training) -> dict[str, Any]:
    """The first losses, and how long it took until every kind of step had run."""
    began = time.perf_counter()
    losses = [training.step_and_loss() for _ in range(WARM)]
    for _ in range(WARM):
        training.step()
    losses.append(training.step_and_loss())
    return {"warm_up": time.perf_counter() - began, "losses": losses}


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
