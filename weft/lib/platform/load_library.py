"""tf.load_op_library and its kind: there is no binary interface to load a plug-in into."""

from __future__ import annotations

import errno
import os
from typing import NoReturn

from weft.core import errors


def _refuse(path: str, what: str) -> NoReturn:
    if not os.path.exists(path):
        raise errors.NotFoundError(
            None, None, f"{path}: cannot open shared object file: No such file or directory"
        )
    raise errors.UnimplementedError(
        None,
        None,
        f"{path}: weft has no C++ runtime and cannot load {what} that were compiled for"
        " TensorFlow. Wrap the function with tf.py_func instead.",
    )


def load_op_library(library_filename: str) -> NoReturn:
    """Raises NotFoundError or UnimplementedError: compiled operations cannot be used."""
    _refuse(library_filename, "operations")


def load_file_system_library(library_filename: str) -> NoReturn:
    """Raises NotFoundError or UnimplementedError: compiled file systems cannot be used."""
    _refuse(library_filename, "file systems")


def load_library(library_location: str) -> NoReturn:
    """Raises OSError or UnimplementedError: compiled plug-ins cannot be used."""
    if not os.path.exists(library_location):
        raise OSError(
            errno.ENOENT,
            "The file or folder to load kernel libraries from does not exist.",
            library_location,
        )
    _refuse(library_location, "kernels")
