"""Prints the test files that a change concerns, for `make check`.

A test is concerned by the modules that it imports by name, itself or through its helpers; what
`import weft` brings along does not count, for that is everything. The tests of a folder are
concerned by all of the folder (`weft/lib/keras/losses/` -> `tests/keras/losses/`, or the nearest
folder above that has tests).
"""

from __future__ import annotations

import functools
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.test_layers import ROOT, imports, module_named, module_of

ALWAYS = ("tests/test_tiny.py", "tests/test_layers.py")


def changed_files(base: str) -> set[Path]:
    """Python files that differ from the commit `base`, new ones among them."""
    known = ["git", "diff", "--name-only", "--diff-filter=d", base]
    new = ["git", "ls-files", "--others", "--exclude-standard"]
    lines = [
        line
        for command in (known, new)
        for line in subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout.splitlines()
    ]
    return {ROOT / line for line in lines if line.endswith(".py")}


@functools.cache
def imported(path: Path) -> frozenset[Path]:
    """Files of weft and of the tests that a file imports itself; not the whole package."""
    names = {module_named(name) for name, _, _ in imports(path) if name[:5] in ("weft.", "tests")}
    return frozenset(file for name in names for file in _files_of(name))


def _files_of(module: str) -> Iterator[Path]:
    path = ROOT.joinpath(*module.split("."))
    found = path.with_suffix(".py") if path.with_suffix(".py").is_file() else path / "__init__.py"
    if found.is_file() and found != ROOT / "weft" / "__init__.py":
        yield found


def folder_of_tests(path: Path) -> Path | None:
    """The nearest folder of tests for a file of weft, by the names of its folders."""
    parts = [part for part in module_of(path).split(".")[1:] if part != "lib"]
    for length in range(len(parts), 0, -1):
        folder = ROOT.joinpath("tests", *parts[:length])
        if folder.is_dir():
            return folder
    return None


def affected(changed: set[Path]) -> list[Path]:
    folders = {folder_of_tests(path) for path in changed if path.is_relative_to(ROOT / "weft")}
    tests = sorted((ROOT / "tests").rglob("test_*.py"))
    return [
        test
        for test in tests
        if test.parent in folders or test in changed or _imports_directly(test) & changed
    ]


def _imports_directly(test: Path) -> set[Path]:
    """What a test names, and what its helpers among the tests name."""
    seen: set[Path] = set()
    waiting = [test]
    while waiting:
        found = imported(waiting.pop()) - seen
        seen |= found
        waiting.extend(path for path in found if path.is_relative_to(ROOT / "tests"))
    return seen


if __name__ == "__main__":
    found = affected(changed_files(sys.argv[1] if len(sys.argv) > 1 else "HEAD"))
    print(*dict.fromkeys([*ALWAYS, *(str(path.relative_to(ROOT)) for path in found)]))
