"""Memory of arrays that are gone, kept for the next ones.

The C library gives arrays of more than 128 KB back to the system, and gets them as new pages, all
of which the system fills with zeros, in the next step: for an image that takes longer than decoding
it, for a sum of 32 MB three times as long as adding. Once it has seen an array of 32 MB go, it
keeps what is smaller, but not what a thread other than the first has left. Here it keeps more from
the start: as much as is little on this machine.

Of all threads it keeps it only where they share one arena. Results of 32 MB then take less than
half the time; but of sixteen cores, each waits for the others whenever it needs a few bytes, and
the step of a small network takes half as long again.
"""

from __future__ import annotations

import ctypes
import functools
import os
import sys

from weft.core import machine

# Parameters of mallopt.
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
_LEAST_KEPT, _MOST_KEPT = 1 << 25, 1 << 28  # bytes of an array
_PART = 64  # of the free memory
_ARRAYS = 4  # so many of the largest
_FEW_CORES = 4
_CHOSEN_BY_USER = (
    "MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "MALLOC_ARENA_MAX", "GLIBC_TUNABLES",
)  # fmt: skip


@functools.cache
def keep_freed_memory() -> None:
    """Asks the C library, where it can be asked and the user has not, to keep freed memory."""
    if not sys.platform.startswith("linux") or any(map(os.environ.get, _CHOSEN_BY_USER)):
        return
    choose = getattr(ctypes.CDLL(None), "mallopt", None)
    if choose is None:
        return
    largest = min(max(machine.free() // _PART, _LEAST_KEPT), _MOST_KEPT)
    choose(_MMAP_THRESHOLD, largest) or choose(_MMAP_THRESHOLD, _LEAST_KEPT)
    choose(_TRIM_THRESHOLD, _ARRAYS * largest)
    if machine.cores() <= _FEW_CORES:
        choose(_ARENA_MAX, 1)
