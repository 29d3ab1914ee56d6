"""Modules that are imported when a public name is first used: one thread at a time does that.

A package and its modules import each other, and Python has a lock for each. Two threads that
enter at different ones would wait for each other, and one of them gets a module half made.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
import threading
from types import FrameType, ModuleType

_lock = threading.RLock()


def module(name: str) -> ModuleType:
    """Imports it.

    Who is importing a module of weft already has Python's lock for it, which the thread that is
    here may want: it goes on at once.
    """
    with contextlib.nullcontext() if _is_importing() else _lock:
        return importlib.import_module(name)


def _is_importing() -> bool:
    """Whether this thread runs the body of a module of weft."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == "<module>":
            name = frame.f_globals.get("__name__")  # of what `exec` was given: maybe none
            if isinstance(name, str) and name.startswith("weft."):
                return True
        frame = frame.f_back
    return False
