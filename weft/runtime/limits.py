"""The registry of running steps, so that closing a session ends them; deadlines."""

from __future__ import annotations

import threading
from typing import Any, Protocol

from weft.core.errors import OpError
from weft.core.step_limits import deadline_error as deadline_error
from weft.core.step_limits import limits as limits


class Step(Protocol):
    def abort(self, error: OpError) -> None:
        """Ends the step with `error`, from any thread."""


class _Scope:
    """Inside, one of the limits of this thread's step is another. Entered once."""

    __slots__ = ("_name", "_value")

    def __init__(self, name: str, value: Any) -> None:
        self._name, self._value = name, value

    def _exchange(self, *_: object) -> None:
        before = getattr(limits, self._name)
        setattr(limits, self._name, self._value)
        self._value = before

    __enter__ = __exit__ = _exchange


def deadline_scope(deadline: float | None) -> _Scope:
    """Loops of a step that runs inside stop at `deadline`."""
    return _Scope("deadline", deadline)


def compiling_ahead() -> _Scope:
    """A step that runs inside for the second time is compiled, as if shapes were few."""
    return _Scope("compiles", True)


def in_session(running: RunningSteps | None) -> _Scope:
    """Loops of a step that runs inside stop when its session is closed.

    A step inside a step has none of its own.
    """
    return _Scope("running", limits.running if running is None else running)


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
