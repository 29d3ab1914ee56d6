"""The memory of steps on a CPU, which the C library is told to keep for the next step."""

from __future__ import annotations

import ctypes
import os
import sys

# Of glibc's mallopt.
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
_KEPT = ((_ARENA_MAX, 1), (_MMAP_THRESHOLD, 1 << 30), (_TRIM_THRESHOLD, (1 << 31) - 1))


def keep_memory() -> None:
    """Buffers of up to a gigabyte are used again.

    glibc would ask the system for each large one, and give it back after the step; then every page
    of it is a fault, which took a third of a step of data-parallel training. Where the user has
    settings of his own, or the C library is another one, nothing is done.
    """
    if sys.platform != "linux" or any(name.startswith("MALLOC_") for name in os.environ):
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        for option, value in _KEPT:
            mallopt(option, value)
