"""Waiting for what another thread brings, with an ear for signals."""

from __future__ import annotations

import queue
import threading
import time
from typing import TypeVar

T = TypeVar("T")
NAP = 1.0  # seconds


def take(items: queue.SimpleQueue[T], left: float | None = None) -> T:
    """The next item of a queue; `queue.Empty` if there was none in the seconds left.

    A signal that comes just before the main thread blocks, or to another thread, does not wake it:
    Ctrl-C would be heeded when the next item comes, or never. So it wakes once a second by itself.
    """
    if left is None and threading.current_thread() is not threading.main_thread():
        return items.get()
    end = None if left is None else time.monotonic() + left
    while True:
        try:
            return items.get(timeout=NAP if left is None else min(left, NAP))
        except queue.Empty:
            if end is not None and (left := end - time.monotonic()) <= 0:
                raise
