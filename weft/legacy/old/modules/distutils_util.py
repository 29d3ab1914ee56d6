"""`distutils.util`, `.spawn`, `.dir_util` and `.file_util`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
from collections.abc import Sequence
from typing import Any

_TRUE = frozenset({"y", "yes", "t", "true", "on", "1"})
_FALSE = frozenset({"n", "no", "f", "false", "off", "0"})


def strtobool(val: str) -> int:
    """1 or 0 for a word that says yes or no."""
    if val.lower() in _TRUE:
        return 1
    if val.lower() in _FALSE:
        return 0
    raise ValueError(f"invalid truth value {val.lower()!r}")


def get_platform() -> str:
    """The platform as file names have it."""
    return sysconfig.get_platform()


def find_executable(executable: str, path: str | None = None) -> str | None:
    """The path of a program."""
    return executable if os.path.isfile(executable) else shutil.which(executable, path=path)


def spawn(cmd: Sequence[str], **_: Any) -> None:
    """Runs a program."""
    subprocess.run(list(cmd), check=True)


def mkpath(name: str, mode: int = 0o777, **_: Any) -> list[str]:
    """Makes a folder and those above it; the ones that were made."""
    made, above = [], os.path.abspath(name)
    while not os.path.isdir(above):
        made.append(above)
        above = os.path.dirname(above)
    os.makedirs(name, mode, exist_ok=True)
    return made[::-1]


def copy_tree(src: str, dst: str, **_: Any) -> list[str]:
    """Copies a folder into another that may be there; the files that were written."""
    shutil.copytree(src, dst, dirs_exist_ok=True)
    return [
        os.path.join(dst, os.path.relpath(os.path.join(folder, file), src))
        for folder, _, files in os.walk(src)
        for file in files
    ]


def remove_tree(directory: str, **_: Any) -> None:
    """Removes a folder and what is in it."""
    shutil.rmtree(directory, ignore_errors=True)


def copy_file(src: str, dst: str, **_: Any) -> tuple[str, int]:
    """Copies a file; (where it is, whether it was copied)."""
    return shutil.copy2(src, dst), 1
