"""Memory of arrays that are gone, kept for the next ones.

The C library gives arrays of more than 128 KB back to the system, and gets them as new pages, all
of which the system fills with zeros, in the next step: for an image that takes longer than decoding
it. Once it has seen an array of 32 MB go, it keeps what is smaller; here it does so from the start.
"""

from __future__ import annotations

import ctypes
import functools
import os
import sys

# Parameters of mallopt.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_LARGEST_KEPT = 1 << 25  # the C library allows no more
_MOST_KEPT = 2 * _LARGEST_KEPT
_CHOSEN_BY_USER = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "GLIBC_TUNABLES")


@functools.cache
def keep_freed_memory() -> None:
    """Asks the C library, where it can be asked and the user has not, to keep freed memory."""
    if not sys.platform.startswith("linux") or any(map(os.environ.get, _CHOSEN_BY_USER)):
        return
    choose = getattr(ctypes.CDLL(None), "mallopt", None)
    if choose is not None:
        choose(_MMAP_THRESHOLD, _LARGEST_KEPT)
        choose(_TRIM_THRESHOLD, _MOST_KEPT)
