"""The folder of compiled programs: what is in it, how large it may be, and how it is emptied.

The user chooses the folder (`WEFT_CACHE`), and may have chosen one with other files in it: only
those are counted and removed that have names which weft and jax give.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from weft.core import flags

TIMES = "compile_times"
LEGACY = "legacy"  # programs of old, translated
_PROGRAM = re.compile(r"\w+-[0-9a-f]{64}-(cache|atime)")


@dataclass(frozen=True)
class Entry:
    """A file of the cache."""

    path: str
    size: int
    used: float  # when it was last read or written, in seconds since the epoch

    @property
    def is_program(self) -> bool:
        return self.path.endswith("-cache")


def entries() -> list[Entry]:
    """The files of the cache, the one that was not used for longest first."""
    folder = flags.cache_directory()
    found = [] if folder is None else [_entry(path) for path in _files(Path(folder))]
    return sorted((entry for entry in found if entry is not None), key=lambda entry: entry.used)


def _files(folder: Path) -> Iterator[str]:
    with contextlib.suppress(OSError), os.scandir(folder) as found:
        yield from (file.path for file in found if _PROGRAM.fullmatch(file.name))
    for name in (LEGACY, TIMES):
        for parent, _, files in os.walk(folder / name):
            yield from (os.path.join(parent, file) for file in files)


def _entry(path: str) -> Entry | None:
    try:
        status = os.stat(path)
    except OSError:  # another process was faster
        return None
    return Entry(path, status.st_size, max(status.st_atime, status.st_mtime))


def trim() -> None:
    """Removes what was not used for longest, until the rest is within `WEFT_CACHE_LIMIT`."""
    if not flags.CACHE_LIMIT:
        return
    found = entries()
    excess = sum(entry.size for entry in found) - flags.CACHE_LIMIT.value * 2**20
    for entry in found:
        if excess <= 0:
            break
        if _remove(entry):
            excess -= entry.size


def clear() -> list[Entry]:
    """Empties the cache; returns what was in it."""
    return [entry for entry in entries() if _remove(entry)]


def _remove(entry: Entry) -> bool:
    try:
        os.remove(entry.path)
    except OSError:
        return False
    return True


def last_time(key: str) -> float | None:
    """How many seconds it took to compile what `key` stands for when it was last compiled."""
    folder = flags.cache_directory()
    if folder is None:
        return None
    try:
        return float(Path(folder, TIMES, key).read_text())
    except (OSError, ValueError):
        return None


def keep_time(key: str, seconds: float) -> None:
    """Notes how long compiling took; a folder that cannot be written to is no error."""
    folder = flags.cache_directory()
    if folder is None:
        return
    with contextlib.suppress(OSError):
        path = Path(folder, TIMES, key)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{seconds:.1f}\n")
