"""Whether functions that are called now are converted, and what the log says about it."""

from __future__ import annotations

import enum
import logging
import os
import sys
import threading
from types import TracebackType
from typing import Any

_LOG = logging.getLogger("weft.autograph")


class Status(enum.Enum):
    UNSPECIFIED = 0
    ENABLED = 1
    DISABLED = 2


class _Stack(threading.local):
    def __init__(self) -> None:
        self.open: list[ControlStatusCtx] = []


_stack = _Stack()


class ControlStatusCtx:
    """Functions called inside of it are converted if `status` says so; `features` as asked for."""

    def __init__(self, status: Status, features: frozenset[str] = frozenset()) -> None:
        self.status, self.features = status, features

    def __enter__(self) -> ControlStatusCtx:
        _stack.open.append(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:  # fmt: skip
        _stack.open.pop()


_default = ControlStatusCtx(Status.UNSPECIFIED)


def control_status_ctx() -> ControlStatusCtx:
    return _stack.open[-1] if _stack.open else _default


# ---- verbosity ----------------------------------------------------------------------------------

_verbosity: int | None = None
_to_stdout = False


def set_verbosity(level: int, alsologtostdout: bool = False) -> None:
    """How much conversions tell: 0 nothing, 1 what could not be converted, up to 10 everything."""
    global _verbosity, _to_stdout
    _verbosity, _to_stdout = level, alsologtostdout


def verbosity() -> int:
    return int(os.environ.get("AUTOGRAPH_VERBOSITY", 0)) if _verbosity is None else _verbosity


def log(level: int, message: str, *args: Any) -> None:
    if verbosity() >= level:
        _LOG.info(message, *args)
        if _to_stdout:
            sys.stdout.write(message % args + "\n")


def warn(message: str, *args: Any) -> None:
    _LOG.warning(message, *args)


def trace(*args: Any) -> None:
    """Prints values while a function is being traced, not when it runs."""
    print(*args)  # noqa: T201
