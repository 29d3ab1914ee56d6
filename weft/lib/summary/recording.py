"""Where this thread's summaries go, whether they are written, and at which step."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class _State(threading.local):
    writer: Any = None
    recording: Any = None
    step: Any = None


state = _State()


def default_writer() -> Any:
    """The writer that summaries of this thread go to, or None."""
    return state.writer


def recording(otherwise: bool) -> Any:
    """The condition for writing here: a bool or a tensor; `otherwise` where none was set."""
    condition = state.recording() if callable(state.recording) else state.recording
    return otherwise if condition is None else condition


@contextmanager
def record_if(condition: Any) -> Iterator[None]:
    """Summaries made inside are written if `condition` holds: a bool, a tensor, a function."""
    before, state.recording = state.recording, condition
    try:
        yield
    finally:
        state.recording = before


def get_step() -> Any:
    """The step that summaries of this thread are written at, or None.

    Returns:
        What `set_step` was given.
    """
    return state.step


def set_step(step: Any) -> None:
    """Sets the step of summaries that are not told theirs.

    Args:
        step: a number, tensor or variable (int64); None: there is no such step.
    """
    state.step = step
