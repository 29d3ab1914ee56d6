"""Files of Python 2: those of bytes take text and give strings, those of text take bytes."""

from __future__ import annotations

import csv
import gzip
import io
import subprocess
import sys
import zipfile
from collections.abc import Callable
from typing import Any

from weft.legacy.old.python2.statements import RUNTIME
from weft.legacy.old.python2.strings import as_strings, as_text, bytes_of, with_strings


def _given(data: Any) -> Any:
    """What was read: strings to Python 2 code, bytes to libraries, which may want numbers."""
    return as_strings(data) if RUNTIME in sys._getframe(2).f_globals else data


class _GivesStrings:
    """Reading gives strings."""

    def read(self, *args: Any) -> Any:
        return _given(super().read(*args))  # type: ignore[misc]

    def readline(self, *args: Any) -> Any:
        return _given(super().readline(*args))  # type: ignore[misc]

    def readlines(self, *args: Any) -> Any:
        return _given(super().readlines(*args))  # type: ignore[misc]


class _TakesText:
    """Text can be written."""

    def write(self, data: Any) -> int:
        return int(super().write(bytes_of(data)))  # type: ignore[misc]


class _Reader(_GivesStrings, io.BufferedReader):
    pass


class _Writer(_TakesText, io.BufferedWriter):
    pass


class _Both(_GivesStrings, _TakesText, io.BufferedRandom):
    pass


class _TextFile(io.TextIOWrapper):
    """Bytes can be written."""

    def write(self, data: Any) -> int:
        return super().write(as_text(data))


class GzipFile(_GivesStrings, _TakesText, gzip.GzipFile):
    """`gzip.GzipFile`."""


class _ZipMember(_GivesStrings, zipfile.ZipExtFile):
    pass


class ZipFile(zipfile.ZipFile):
    """`zipfile.ZipFile`."""

    def read(self, *args: Any, **options: Any) -> Any:
        """The bytes of a member, as a string."""
        return as_strings(super().read(*args, **options))

    def open(self, *args: Any, **options: Any) -> Any:
        """A file to read a member from."""
        found = super().open(*args, **options)
        if type(found) is zipfile.ZipExtFile:
            found.__class__ = _ZipMember
        return found


class Popen(subprocess.Popen[Any]):
    """`subprocess.Popen`, whose pipes take and give strings."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        for name, kind in (("stdin", _Writer), ("stdout", _Reader), ("stderr", _Reader)):
            pipe = getattr(self, name)
            if isinstance(pipe, io.BufferedReader | io.BufferedWriter):
                setattr(self, name, kind(pipe.detach()))

    def communicate(self, input: Any = None, *args: Any, **options: Any) -> Any:
        """(what it printed, its errors)."""
        given = input if self.universal_newlines else bytes_of(input)
        return as_strings(super().communicate(given, *args, **options))


def giving_files(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that gives a file of bytes, which takes and gives strings."""

    def call(*args: Any, **options: Any) -> Any:
        made = function(*args, **options)
        if not isinstance(made, io.TextIOBase):
            _mix(made)
        return made

    return call


def _mix(made: Any) -> None:
    """Has a file that something else made take and give strings."""
    for name in ("read", "readline", "readlines"):
        setattr(made, name, with_strings(getattr(made, name)))
    if hasattr(made, "write"):
        made.write = with_strings(made.write)


def gzip_open(name: Any, mode: str = "rb", level: int = 9) -> GzipFile:
    """`gzip.open`."""
    return GzipFile(name, mode, level)


def csv_reader(lines: Any, *args: Any, **options: Any) -> Any:
    """`csv.reader`, also of a file of bytes."""
    return csv.reader(map(as_text, lines), *args, **options)


def csv_dict_reader(lines: Any, *args: Any, **options: Any) -> Any:
    """`csv.DictReader`, also of a file of bytes."""
    return csv.DictReader(map(as_text, lines), *args, **options)


class _File(type):
    """Any file counts as an instance."""

    def __call__(cls, *args: Any, **options: Any) -> Any:
        return open_(*args, **options)

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, io.IOBase)


class file(metaclass=_File):
    """The class of files, which opened one when it was called."""


def open_(name: Any, mode: str = "r", buffering: int = -1, *args: Any, **options: Any) -> Any:
    """A file. Any bytes can be read and written as text; `wb` takes text, and `rb` gives it."""
    if args or options:
        return open(name, mode, buffering, *args, **options)
    newline = None if "U" in mode else "\n"
    mode = mode.replace("U", "") or "r"
    mode = mode if mode[0] in "rwax" else f"r{mode}"
    size = buffering if buffering > 1 else io.DEFAULT_BUFFER_SIZE
    raw = io.FileIO(name, mode.replace("b", "").replace("t", ""))
    access = "+" if "+" in mode else "r" if "r" in mode else "w"
    if "b" in mode:
        return _OF_BYTES[access](raw, size)
    return _TextFile(
        _OF_TEXT[access](raw, size),
        "utf-8",
        "surrogateescape",
        newline,
        line_buffering=buffering in (0, 1),  # text cannot be unbuffered
    )


_OF_BYTES: Any = {"+": _Both, "r": _Reader, "w": _Writer}
_OF_TEXT: Any = {"+": io.BufferedRandom, "r": io.BufferedReader, "w": io.BufferedWriter}
