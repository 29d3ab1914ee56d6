"""What commands say when something is wrong."""

from __future__ import annotations

import sys

from weft.core.printable import escaped_lines


def complain(command: str, message: object) -> None:
    """Writes an error of `weft command` to the standard error."""
    sys.stderr.write(f"weft {command}: {escaped_lines(message)}\n")
