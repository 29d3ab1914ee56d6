"""The two ways of a command to write: an error, and lines for as long as they are read."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from typing import Any

from weft.core.printable import escaped_lines

# As a shell reports a process that wrote to a pipe without a reader.
_ENDED_BY_PIPE = 128 + 13


def complain(command: str, message: object) -> None:
    """Writes an error of `weft command` to the standard error."""
    sys.stderr.write(f"weft {command}: {escaped_lines(message)}\n")


def print_while_read(run: Callable[[Any], int]) -> Callable[[Any], int]:
    """Decorator of a command that prints, so that `weft saved-model show m | head` ends well."""

    @functools.wraps(run)
    def printing(arguments: Any) -> int:
        try:
            code = run(arguments)
            sys.stdout.flush()
            return code
        except BrokenPipeError:
            # What is still buffered must not fail again when Python ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return _ENDED_BY_PIPE

    return printing
