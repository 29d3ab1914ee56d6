"""What this machine has."""

from __future__ import annotations

import functools
import os

_FALLBACK = 1 << 33


@functools.cache
def memory() -> int:
    """Its memory, in bytes."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return _FALLBACK
