"""tf.app.run: the entry point of a program."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from weft.lib.platform import flags


def _parse_known_flags(argv: list[str] | None) -> list[str]:
    """Sets the flags that are defined; what is left, with unknown flags, is for `main`."""
    return flags.FLAGS(sys.argv if argv is None else argv, known_only=True)


def run(main: Callable[..., Any] | None = None, argv: list[str] | None = None) -> None:
    """Parses the command line, then exits with what `main(remaining arguments)` returns.

    `main` is the one of the running program unless it is given.

    Args:
        main: a function of the arguments that are no flags; None: `main` of the program.
        argv: the command line; None: `sys.argv`.

    Raises:
        SystemExit: always, with the exit code.

    Example:
        >>> tf.app.run(main=lambda argv: 3, argv=["program"])
        Traceback (most recent call last):
            ...
        SystemExit: 3
    """
    from absl import app

    main = main or sys.modules["__main__"].main  # type: ignore[attr-defined]
    app.run(main=main, argv=argv, flags_parser=_parse_known_flags)
