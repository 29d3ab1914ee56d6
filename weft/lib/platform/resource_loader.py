"""tf.resource_loader: files that lie next to a program."""

from __future__ import annotations

import os
import sys
from types import FrameType

from weft.core.errors import PACKAGE


def _folder_of(frame: FrameType) -> str:
    return os.path.dirname(frame.f_code.co_filename)


def load_resource(path: str) -> bytes:
    """The contents of a file of the weft package; `path` is relative to it."""
    with open(os.path.join(PACKAGE, path), "rb") as file:
        return file.read()


def get_data_files_path() -> str:
    """The folder that the calling program lies in."""
    return _folder_of(sys._getframe(1))


def get_path_to_datafile(path: str) -> str:
    """`path` relative to the folder that the calling program lies in."""
    return os.path.join(_folder_of(sys._getframe(1)), path)


def get_root_dir_with_all_resources() -> str:
    """The folder just below a Bazel `.runfiles` folder, or else the calling program's folder."""
    start = folder = _folder_of(sys._getframe(1))
    while folder != os.path.dirname(folder):
        below, folder = folder, os.path.dirname(folder)
        if ".runfiles" in os.path.basename(below):
            return start
        if ".runfiles" in os.path.basename(folder):
            return below
    return start


def readahead_file_path(path: str, readahead: str = "128M") -> str:
    """`path`: reading ahead is left to the operating system."""
    return path
