"""The memory of this machine, and how many cores of what kind it has."""

from __future__ import annotations

import functools
import os
import platform
from collections.abc import Iterator

IS_ARM = platform.machine().lower() in ("aarch64", "arm64")
_FALLBACK = 1 << 33
# Of the free memory, one part in this many is for others: threads that ask at the same time, and
# what kernels need besides their results.
_KEPT = 8
_ROOT = "/sys/fs/cgroup"
# The files of a group of processes: (limit, use, file of counts, its line of what can be freed).
_FILES = {
    2: ("memory.max", "memory.current", "memory.stat", b"inactive_file"),
    1: ("memory.limit_in_bytes", "memory.usage_in_bytes", "memory.stat", b"total_inactive_file"),
}


@functools.cache
def memory() -> int:
    """The memory of the machine, in bytes."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return _FALLBACK


@functools.cache
def large() -> int:
    """Bytes that are few next to the machine's memory: for less, `free` need not be asked."""
    return memory() // 64


# Of x86's ways to compute with many numbers at once what Linux calls all they need.
_INSTRUCTIONS = {
    "avx512": {"avx512f", "avx512dq", "avx512bw", "avx512vl", "avx2", "fma"},
    "avx2": {"avx2", "fma"},
}


@functools.cache
def computes_with(kind: str) -> bool:
    """Whether the cores have "avx512" or "avx2", as far as Linux says."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            flags = (set(line.split()) for line in file if line[:5] == "flags")
            return _INSTRUCTIONS[kind] <= next(flags, set())
    except (OSError, UnicodeDecodeError):
        return False


def cores() -> int:
    """How many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except (AttributeError, OSError):
        return os.cpu_count() or 1


def free() -> int:
    """Bytes that this process could still get: of the machine, its container, its own limit.

    Takes some hundred microseconds to find out.
    """
    return min(max(0, found) for found in (memory(), *_free_of_machine(), *_limits()))


def _free_of_machine() -> Iterator[int]:
    try:
        counts = _counts("/proc/meminfo", b":")
        left = 1024 * (counts[b"MemAvailable"] + counts.get(b"SwapFree", 0))
        yield left - left // _KEPT
    except (OSError, ValueError, KeyError):
        return  # not a Linux: what there is at all has to do


@functools.cache
def _groups() -> tuple[tuple[int, str], ...]:
    """The groups that limit this process, each with its folder: its own and those around it."""
    try:
        lines = _text("/proc/self/cgroup").decode().splitlines()
    except OSError:
        lines = []
    # In a container, what is its own group outside may be all that it sees, as the root.
    found = {(2, _ROOT): None, (1, f"{_ROOT}/memory"): None}
    for line in lines:
        number, kinds, path = line.split(":", 2)
        version = 1 if "memory" in kinds.split(",") else 2 if number == "0" else 0
        root = {1: f"{_ROOT}/memory", 2: _ROOT}.get(version)
        while root is not None and path.strip("/"):
            found[version, root + path.rstrip("/")] = None
            path = path.rstrip("/").rpartition("/")[0]
    return tuple(group for group in found if os.path.exists(f"{group[1]}/{_FILES[group[0]][0]}"))


def _limits() -> Iterator[int]:
    for version, folder in _groups():
        limit, use, counts, can_be_freed = _FILES[version]
        try:
            # "max" is no number, and no limit
            left = int(_text(f"{folder}/{limit}")) - int(_text(f"{folder}/{use}"))
            yield left + _counts(f"{folder}/{counts}", b" ")[can_be_freed]
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
