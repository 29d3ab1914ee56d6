"""How several processes share the tests: a file at a time, so that its fixtures are made once.

A file that takes very long is shared, too: in parts, by what its tests are named for.
"""

from __future__ import annotations

import zlib
from typing import Any

from xdist.scheduler import LoadFileScheduling

# Folders of files with few tests that take long: they come first, for at the end all would wait.
FIRST = ("processes", "typed", "examples", "cluster")
IN_PARTS = "ops/test_samples.py"
PARTS = 60


def part_of(name: str) -> int:
    """Which part of a file in parts is about `name`, the same in all processes."""
    return zlib.crc32(name.encode()) % PARTS


class FileByFile(LoadFileScheduling):
    """Deals out files, and parts of files."""

    def _split_scope(self, nodeid: str) -> str:
        file, _, test = nodeid.partition("::")
        if not file.endswith(IN_PARTS):
            return file
        return f"{file} {part_of(test.partition('[')[2].removesuffix(']'))}"


def comes_later(item: Any) -> bool:
    """The key by which tests are put in order."""
    return not any(name in FIRST for name in item.path.parts)
