"""What this machine has."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator

_FALLBACK = 1 << 33
# Where a container's limits are told: (limit, use, file of counts, its line of what can be freed).
_GROUPS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current",
     "/sys/fs/cgroup/memory.stat", b"inactive_file"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes",
     "/sys/fs/cgroup/memory/memory.stat", b"total_inactive_file"),
)  # fmt: skip


@functools.cache
def memory() -> int:
    """Its memory, in bytes."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return _FALLBACK


@functools.cache
def large() -> int:
    """Bytes that are few next to its memory: for less, nobody needs to ask what is free."""
    return memory() // 64


def free() -> int:
    """Bytes that this process could still get: of the machine, its container, its own limit.

    Takes some hundred microseconds to find out.
    """
    return min(max(0, found) for found in (memory(), *_free_of_machine(), *_limits()))


def _free_of_machine() -> Iterator[int]:
    try:
        counts = _counts("/proc/meminfo", b":")
        yield 1024 * (counts[b"MemAvailable"] + counts.get(b"SwapFree", 0))
    except (OSError, ValueError, KeyError):
        return  # not a Linux: what there is at all has to do


def _limits() -> Iterator[int]:
    for limit, use, counts, can_be_freed in _GROUPS:
        try:
            left = int(_text(limit)) - int(_text(use))  # "max" is no number, and no limit
            yield left + _counts(counts, b" ")[can_be_freed]
        except (OSError, ValueError, KeyError):
            continue
    try:
        import resource

        own = resource.getrlimit(resource.RLIMIT_AS)[0]
        if own != resource.RLIM_INFINITY:
            yield own - int(_text("/proc/self/statm").split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (ImportError, OSError, ValueError):
        return


def _text(path: str) -> bytes:
    with open(path, "rb", buffering=0) as file:
        return file.read()


def _counts(path: str, separator: bytes) -> dict[bytes, int]:
    """A file of lines, each a name and a number."""
    pairs = (line.split(separator, 1) for line in _text(path).splitlines() if separator in line)
    return {name: int(rest.split()[0]) for name, rest in pairs}
