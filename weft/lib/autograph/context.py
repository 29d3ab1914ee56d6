"""The log of conversions."""

from __future__ import annotations

import logging
import os
import sys
from typing import Any

_LOG = logging.getLogger("weft.autograph")


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
