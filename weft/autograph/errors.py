"""Errors in converted functions, told with the lines of the user's program that led to them."""

from __future__ import annotations

import linecache
import os
import traceback
from types import TracebackType
from typing import Any

from weft.autograph.compile import FACTORY
from weft.autograph.syntax import AG

_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Classes that can be made of a message alone.
_PLAIN = (
    AssertionError, AttributeError, NameError, NotImplementedError, RuntimeError, StopIteration,
    TypeError, UnboundLocalError, ValueError,
)  # fmt: skip
_TOLD = "_weft_told"


def raise_told(error: Exception) -> None:
    """Raises an error like this one whose message says where in the user's code it came up.

    One that cannot be made anew is left to the caller.
    """
    if getattr(error, _TOLD, False) or type(error) not in _PLAIN:
        return
    told = type(error)(_message(error))
    setattr(told, _TOLD, True)
    raise told.with_traceback(error.__traceback__) from error.__cause__


def _message(error: Exception) -> str:
    frames = user_frames(error.__traceback__)
    lines = ["in converted code:", ""]
    for filename, line, function, is_converted in frames:
        mark = "  *" if is_converted else ""
        lines += [f"    {_short(filename)}:{line} {function}{mark}"]
        lines += [f"        {linecache.getline(filename, line).strip()}"]
    return "\n".join([*lines, "", f"    {type(error).__name__}: {error}"])


def _short(filename: str) -> str:
    return os.path.relpath(filename) if filename.startswith(os.getcwd() + os.sep) else filename


def _function(code: Any) -> str:
    """The name of the function; a block of a converted one has that of the whole."""
    parts: list[str] = code.co_qualname.split(".<locals>.")
    return parts[1].removeprefix(AG) if parts[0] == FACTORY else code.co_name


def user_frames(tb: TracebackType | None) -> list[tuple[str, int, str, bool]]:
    """(file, line, function, whether converted) for what is not weft's, outermost first."""
    found: list[tuple[str, int, str, bool]] = []
    for frame, line in traceback.walk_tb(tb):
        code: Any = frame.f_code
        if os.path.abspath(code.co_filename).startswith(_HERE + os.sep):
            continue
        is_converted = AG in code.co_freevars
        each = code.co_filename, line, _function(code), is_converted
        if not found or found[-1] != each:
            found.append(each)
    return found
