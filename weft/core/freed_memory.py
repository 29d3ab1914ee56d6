"""Memory of arrays that are gone, kept for the next ones.

The C library gives arrays of more than 128 KB back to the system, and gets them as new pages, all
of which the system fills with zeros, in the next step: for an image that takes longer than decoding
it. Once it has seen an array of 32 MB go, it keeps what is smaller; here it does so from the start.
"""

from __future__ import annotations

import ctypes
import os
import sys

LARGE, LARGEST = 1 << 25, 1 << 30  # bytes
# Parameters of glibc's mallopt.
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
_MOST = (1 << 31) - 1
_kept = 0


def keep_freed_memory(up_to: int = LARGE) -> None:
    """Asks the C library to keep freed memory of up to so many bytes, unless it keeps more.

    Nothing is done where it cannot be asked, or the user has settings of his own. To keep what is
    larger than `LARGE`, all threads must have one heap: others cannot grow so far.
    """
    global _kept
    if up_to <= _kept or not sys.platform.startswith("linux") or _is_chosen_by_user():
        return
    choose = getattr(ctypes.CDLL(None), "mallopt", None)
    if choose is not None:
        _kept = up_to
        if up_to > LARGE:
            choose(_ARENA_MAX, 1)
        choose(_MMAP_THRESHOLD, up_to)
        choose(_TRIM_THRESHOLD, min(2 * up_to, _MOST))


def _is_chosen_by_user() -> bool:
    return any(name.startswith("MALLOC_") or name == "GLIBC_TUNABLES" for name in os.environ)
