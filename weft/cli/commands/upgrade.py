"""`weft upgrade`: an old program written anew, for plain Python with `import weft as tf`."""

from __future__ import annotations

import argparse
import difflib
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.cli.terminal import print_while_read

if TYPE_CHECKING:
    from weft.legacy.upgrading.program import Upgrade

EXAMPLES = """\
  weft upgrade train.py                 the same program with `import weft as tf`, as a diff
"""

_HELP = """\
Shows, as a diff, the Python files and notebooks at or below PATH with weft in TensorFlow's place,
names of today for old ones, and Python 3 for Python 2. Nothing is written without --write or
--output.
"""


def add_parser(commands: Any) -> Any:
    upgrade = commands.add_parser(
        "upgrade", help="rewrite a TensorFlow program for `import weft as tf`", description=_HELP
    )
    upgrade.add_argument("path", metavar="PATH", help="a Python file, a notebook or a folder")
    where = upgrade.add_mutually_exclusive_group()
    where.add_argument("--write", action="store_true", help="change the files themselves")
    where.add_argument("--output", metavar="DIR", help="write the files below this folder")
    return upgrade


@print_while_read
def run(arguments: argparse.Namespace) -> int:
    """Runs `upgrade`; returns the exit code."""
    from weft.legacy.checking.sources import CannotRead
    from weft.legacy.upgrading.program import upgrade

    path = Path(arguments.path)
    try:
        upgrades = upgrade(path)
    except CannotRead as error:
        sys.stderr.write(f"weft upgrade: {error}\n")
        return 2
    for each in upgrades:
        sys.stdout.writelines(diff_of(each))
    try:
        _write_all(upgrades, path, arguments)
    except OSError as error:
        sys.stderr.write(f"weft upgrade: cannot write {error.filename}: {error.strerror}\n")
        return 1
    sys.stderr.writelines(f"{note}\n" for each in upgrades for note in each.notes)
    return 1 if any(each.notes for each in upgrades) else 0


def diff_of(upgrade: Upgrade) -> list[str]:
    """A unified diff that `patch` takes."""
    name = str(upgrade.path)
    before, after = (text.splitlines(keepends=True) for text in (upgrade.before, upgrade.after))
    lines = difflib.unified_diff(before, after, name, name)
    return [
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    ]


def _write_all(upgrades: list[Upgrade], path: Path, arguments: argparse.Namespace) -> None:
    root = path if path.is_dir() else path.parent
    if arguments.write:
        for each in upgrades:
            if each.is_changed:
                write_at_once(each.path, each.data)
    elif arguments.output:
        for each in upgrades:
            target = Path(arguments.output, each.path.relative_to(root))
            target.parent.mkdir(parents=True, exist_ok=True)
            write_at_once(target, each.data, like=each.path)


def write_at_once(path: Path, data: bytes, like: Path | None = None) -> None:
    """Writes a file whole or not at all, with the permissions of the one that it replaces."""
    path = path.resolve()  # a link stays one
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        shutil.copymode(like or path, name)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
