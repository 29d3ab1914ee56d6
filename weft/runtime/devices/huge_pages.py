"""Large variables of the host in pages of 2 MB.

A step that touches some rows of a large table spends more time on finding out where its pages lie
than on the rows. With 512 times fewer pages they stay known.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Callable, Iterable
from typing import Any

LARGE = 1 << 25
_PAGE = 1 << 21
_COLLAPSE = 25  # MADV_COLLAPSE, since Linux 6.1


def use_huge_pages(values: Iterable[Any]) -> None:
    """Moves the memory of large arrays that a program made into large pages, where it can be."""
    for value in values:
        address = getattr(value, "unsafe_buffer_pointer", None)
        if address is not None and value.nbytes >= LARGE and (collapse := _collapse()):
            start = -(-address() // _PAGE) * _PAGE
            collapse(start, (value.nbytes // _PAGE - 1) * _PAGE)


@functools.cache
def _collapse() -> Callable[[int, int], Any] | None:
    """Asks the system for large pages; it may refuse, which does no harm."""
    if not sys.platform.startswith("linux"):
        return None
    madvise = ctypes.CDLL(None).madvise
    return lambda start, size: madvise(
        ctypes.c_void_p(start), ctypes.c_size_t(size), ctypes.c_int(_COLLAPSE)
    )
