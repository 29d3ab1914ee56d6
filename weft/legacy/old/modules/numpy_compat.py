"""`numpy.compat` and its `py3k`: what was needed for Python 2 and 3 at once."""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import sys
from pathlib import Path
from typing import Any, TextIO

from weft.legacy.old.numpy_behaviour import asbytes, asstr

__all__ = [
    "Path",
    "asbytes",
    "asbytes_nested",
    "asstr",
    "asunicode",
    "asunicode_nested",
    "basestring",
    "bytes",
    "contextlib_nullcontext",
    "getexception",
    "integer_types",
    "is_pathlib_path",
    "isfileobj",
    "long",
    "open_latin1",
    "os_PathLike",
    "os_fspath",
    "pickle",
    "sixu",
    "strchar",
    "unicode",
]

bytes, long, basestring, unicode, integer_types = bytes, int, str, str, (int,)
strchar = "U"
asunicode = asstr
contextlib_nullcontext = contextlib.nullcontext
os_fspath, os_PathLike = os.fspath, os.PathLike


def asbytes_nested(value: Any) -> Any:
    """Lists of lists of what `asbytes` makes."""
    return _nested(asbytes, value)


def asunicode_nested(value: Any) -> Any:
    """Lists of lists of what `asunicode` makes."""
    return _nested(asunicode, value)


def _nested(function: Any, value: Any) -> Any:
    if hasattr(value, "__iter__") and not isinstance(value, (bytes, str)):
        return [_nested(function, each) for each in value]
    return function(value)


def getexception() -> BaseException | None:
    """The exception that is being handled."""
    return sys.exc_info()[1]


def isfileobj(f: Any) -> bool:
    """Whether `f` is a file of the system."""
    return isinstance(f, (io.FileIO, io.BufferedReader, io.BufferedWriter))


def is_pathlib_path(obj: Any) -> bool:
    """Whether `obj` is a path of `pathlib`."""
    return isinstance(obj, Path)


def open_latin1(filename: str, mode: str = "r") -> TextIO:
    """A file of text in Latin 1."""
    return open(filename, mode=mode, encoding="iso-8859-1")  # type: ignore[return-value]


def sixu(s: str) -> str:
    """Text, as `u""` writes it."""
    return s
