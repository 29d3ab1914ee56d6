"""Which steps of a session are under way, so that closing it can end them; and until when."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Protocol

from weft.core import interrupts
from weft.core.errors import DeadlineExceededError, OpError


def too_late(awaited: Iterable[str] = ()) -> OpError:
    """The error of a step that waited for these when its time was up."""
    names = ", ".join(sorted(awaited))
    message = "Timed out waiting for notification" + (f": {names}" if names else "")
    return DeadlineExceededError(None, None, message)


class Step(Protocol):
    def abort(self, error: OpError) -> None:
        """Ends the step with `error`, from any thread."""


class _Limits(threading.local):
    """When the step of this thread must be over, by time.monotonic; None if there is no limit.

    `running`: the steps of its session, where it is known.
    """

    deadline: float | None = None
    running: RunningSteps | None = None

    def check(self) -> None:
        if self.running is not None:
            self.running.check()
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise too_late()

    @contextmanager
    def not_counted(self) -> Iterator[None]:
        """The time that a step may take does not pass inside."""
        start = time.monotonic()
        try:
            yield
        finally:
            if self.deadline is not None:
                self.deadline += time.monotonic() - start


limits = _Limits()
interrupts.add_check(limits.check)


@contextmanager
def until(deadline: float | None) -> Iterator[None]:
    """Loops of a step that runs inside stop at `deadline`."""
    before, limits.deadline = limits.deadline, deadline
    try:
        yield
    finally:
        limits.deadline = before


@contextmanager
def among(running: RunningSteps | None) -> Iterator[None]:
    """Loops of a step that runs inside stop when its session is closed.

    A step inside a step has none of its own.
    """
    before = limits.running
    limits.running = before if running is None else running
    try:
        yield
    finally:
        limits.running = before


class RunningSteps:
    """The steps of one session that are under way and may be waiting, to be ended with it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._steps: set[Step] = set()
        self._closed: OpError | None = None

    def check(self) -> None:
        """Raises if no step may start any more."""
        if self._closed is not None:
            raise self._closed

    def add(self, step: Step) -> None:
        with self._lock:
            if self._closed is not None:
                raise self._closed
            self._steps.add(step)

    def remove(self, step: Step) -> None:
        with self._lock:
            self._steps.discard(step)

    def close(self, error: OpError) -> None:
        """Ends every step under way with `error` or a more telling one; no other can start."""
        with self._lock:
            self._closed = error
            steps = list(self._steps)
        for step in steps:
            step.abort(error)

    def steps(self) -> list[Step]:
        with self._lock:
            return list(self._steps)

    def __len__(self) -> int:
        return len(self._steps)
