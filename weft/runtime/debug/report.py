"""Levelled debug output on standard error: what WEFT_DEBUG asks for."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from weft.core import flags


def say(level: int, text: Callable[[], str]) -> None:
    """Prints `text()` if WEFT_DEBUG is at least `level`."""
    if flags.DEBUG.value >= level:
        sys.stderr.write(f"weft: {text()}\n")


def log(text: str) -> None:
    """Prints what the program itself asked to be told."""
    sys.stderr.write(f"{text}\n")


@contextmanager
def timed(level: int, text: Callable[[], str]) -> Iterator[None]:
    start = time.perf_counter()
    yield
    say(level, lambda: f"{text()}: {(time.perf_counter() - start) * 1e3:.1f} ms")
