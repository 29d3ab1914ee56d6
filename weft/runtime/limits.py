"""The registry of running steps, so that closing a session ends them; deadlines."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from weft.core.errors import OpError
from weft.core.step_limits import deadline_error as deadline_error
from weft.core.step_limits import limits as limits


class Step(Protocol):
    def abort(self, error: OpError) -> None:
        """Ends the step with `error`, from any thread."""


@contextmanager
def deadline_scope(deadline: float | None) -> Iterator[None]:
    """Loops of a step that runs inside stop at `deadline`."""
    before, limits.deadline = limits.deadline, deadline
    try:
        yield
    finally:
        limits.deadline = before


@contextmanager
def compiling_ahead() -> Iterator[None]:
    """A step that runs inside for the second time is compiled, as if shapes were few."""
    before, limits.compiles = limits.compiles, True
    try:
        yield
    finally:
        limits.compiles = before


@contextmanager
def in_session(running: RunningSteps | None) -> Iterator[None]:
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
