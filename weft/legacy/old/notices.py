"""Says, once for each file, which old names a program uses; under `--strict` that is an error."""

from __future__ import annotations

import logging
import mmap
import os
import sys
import zlib

from weft.core import flags
from weft.legacy.old import table, users_code
from weft.legacy.old.python_rows import PYTHON_3

_LOG = logging.getLogger("weft.legacy")
_told: set[tuple[str, str]] = set()
_reasons: set[str] = set()
_python2: set[str] = set()
# A byte for each use that was told of, which this process shares with those that it forks: the
# workers of a pool all use the same, and are new each time.
_told_by_any = mmap.mmap(-1, 1 << 22)
_first = os.getpid()


class OldNameError(AttributeError):
    """A program run with `--strict` uses something that is gone."""


class OldModuleError(ModuleNotFoundError):
    """A program run with `--strict` imports something that is gone."""


def tell(row: table.Row) -> None:
    """Tells of the use of `row` by the user's code that is running now."""
    error = OldModuleError if row.kind == "module" else OldNameError
    _tell(row.shown, row.reason, row.advice, error)


def tell_of(name: str, case: str, used: str) -> None:
    """Tells of a use that only some calls of `name` are: `np.array of rows of unequal length`."""
    holder, _, last = name.rpartition(".")
    row = table.NAMES[holder, last]
    _tell(f"{row.shown} {case}", row.reason, f"{used} is used")


def is_before_1_0() -> bool:
    """Whether the program has used what TensorFlow had before 1.0 only."""
    return any(each.endswith("since TensorFlow 1.0") for each in _reasons)


def tell_of_python2(file: str) -> None:
    """Tells that a file is translated; of what only Python 2 had, its uses are then not told."""
    if file not in _python2:
        _python2.add(file)
        _LOG.warning("%s is a Python 2 program: it is translated in memory", _shown(file))


def _tell(name: str, reason: str, advice: str, error: type[Exception] = OldNameError) -> None:
    file, line = place()
    if flags.STRICT:
        raise error(f"{_shown(file)}:{line} uses {name}, {reason} (--strict)")
    if (name, file) in _told or (file in _python2 and reason == PYTHON_3):
        return
    _told.add((name, file))
    _reasons.add(reason)
    if _is_first(name, file):
        _LOG.warning("%s:%d uses %s, %s: %s", _shown(file), line, name, reason, advice)


def _is_first(name: str, file: str) -> bool:
    """Whether no process before this one, forked of the same, has told of a use."""
    at = zlib.crc32(f"{name} {file}".encode()) % len(_told_by_any)
    told, _told_by_any[at] = _told_by_any[at], 1
    return os.getpid() == _first or not told


def place() -> tuple[str, int]:
    """(file, line) of the innermost code that is neither weft's nor Python's importer."""
    frame = sys._getframe(1)
    while frame.f_back is not None and _passed_over(frame.f_code.co_filename):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


def _passed_over(file: str) -> bool:
    own = file.startswith((users_code.WEFT + os.sep, "<frozen importlib"))
    return own or "importlib" in file


def _shown(file: str) -> str:
    """The file as seen from where the program was started, where it is below."""
    shown = os.path.relpath(file) if os.path.isabs(file) else file
    return file if shown.startswith("..") else shown
