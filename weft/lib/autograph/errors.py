"""Errors in converted functions, told with the lines of the user's program that led to them."""

from __future__ import annotations

import linecache
import os
import re
import traceback
from types import TracebackType
from typing import Any

from weft.core.errors import PACKAGE, OpError
from weft.lib.autograph.compile import FACTORY, is_converted
from weft.lib.autograph.syntax import AG
from weft.ops.functions.traced_graph import InaccessibleTensorError

# Classes that can be made of a message alone.
_PLAIN = (
    AssertionError, AttributeError, NameError, NotImplementedError, RuntimeError, StopIteration,
    TypeError, UnboundLocalError, ValueError, InaccessibleTensorError,
)  # fmt: skip
_TOLD = "_weft_told"


class _ToldKeyError(KeyError):
    """A KeyError with a message of several lines, which the class itself would quote."""

    def __init__(self, message: str, *args: Any) -> None:
        super().__init__(*args)
        self._message = message

    def __str__(self) -> str:
        return self._message


_ToldKeyError.__name__ = _ToldKeyError.__qualname__ = "KeyError"


def raise_told(error: Exception) -> None:
    """Raises an error like this one whose message says where in the user's code it came up.

    One of a class that we cannot make anew gets a note, and is left to the caller.
    """
    if getattr(error, _TOLD, False) or hasattr(error, "ag_pass_through"):
        return
    message = _message(error)
    told = _made_anew(error, message)
    if told is None:
        error.add_note(message)
        setattr(error, _TOLD, True)
        return
    setattr(told, _TOLD, True)
    raise told.with_traceback(error.__traceback__) from error.__cause__


def _made_anew(error: Exception, message: str) -> Exception | None:
    kind = type(error)
    if kind in _PLAIN:
        return kind(message)
    if kind is KeyError:
        return _ToldKeyError(message, *error.args)
    if isinstance(error, OpError) and kind.__module__ == OpError.__module__ and kind is not OpError:
        return kind(error.node_def, error.op, message)  # type: ignore[call-arg]
    return None


def _message(error: Exception) -> str:
    frames = user_frames(error.__traceback__)
    lines = ["in converted code:", ""]
    for filename, line, function, ours in frames:
        mark = "  *" if ours else ""
        lines += [f"    {_short(filename)}:{line} {function}{mark}"]
        lines += [f"        {linecache.getline(filename, line).strip()}"]
    return "\n".join([*lines, "", f"    {type(error).__name__}: {error}"])


def _short(filename: str) -> str:
    return os.path.relpath(filename) if filename.startswith(os.getcwd() + os.sep) else filename


# What rewrite.py and rewrite_expressions.py call the functions that blocks become.
_BLOCK = re.compile(
    r"(if_body|else_body|loop_test|loop_body|extra_test|get_state|set_state)(_\d+)?|<lambda>"
)


def _function(code: Any) -> tuple[str, bool]:
    """The name of the user's function, and whether the code is a block of it only."""
    parts: list[str] = code.co_qualname.split(".<locals>.")
    if parts[0] != FACTORY:
        return code.co_name, False
    whole = parts[1:]
    while len(whole) > 1 and _BLOCK.fullmatch(whole[-1]):
        whole.pop()
    return whole[-1].removeprefix(AG), len(whole) < len(parts) - 1


def user_frames(tb: TracebackType | None) -> list[tuple[str, int, str, bool]]:
    """(file, line, function, whether converted) for what is not weft's, outermost first."""
    found: list[tuple[str, int, str, bool]] = []
    for frame, line in traceback.walk_tb(tb):
        code: Any = frame.f_code
        if os.path.abspath(code.co_filename).startswith(PACKAGE):
            continue
        name, is_block = _function(code)
        if is_block and found and found[-1][0] == code.co_filename and found[-1][2] == name:
            found.pop()  # the line of a block says more than that of its statement
        each = code.co_filename, line, name, is_converted(code)
        if not found or found[-1] != each:
            found.append(each)
    return found
