"""The file system of a path: the local one, or one that fsspec knows (`gs://`, `s3://`, ...).

Both classes have the same methods and raise TensorFlow's errors.
"""

from __future__ import annotations

import glob
import os
import re
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, NamedTuple

from weft.core import errors
from weft.core.exceptions import OS_KINDS, os_number
from weft.storage.confinement import permitted

# The packages that bring fsspec's drivers, where fsspec does not.
_DRIVERS = {"gs": "gcsfs", "gcs": "gcsfs", "s3": "s3fs", "s3a": "s3fs", "hdfs": "pyarrow"}


class FileStatistics(NamedTuple):
    """The result of `stat`: bytes, time of the last change in nanoseconds, whether a directory."""

    length: int
    mtime_nsec: int
    is_directory: bool


@contextmanager
def translated(path: str) -> Iterator[None]:
    """Turns the operating system's errors into TensorFlow's, for a path that may be used."""
    permitted(path)
    try:
        yield
    except OSError as error:
        number = os_number(error)
        kind = OS_KINDS.get(number or 0, errors.UnknownError)
        reason = os.strerror(number) if number else str(error)
        raise kind(None, None, f"{path}; {reason}") from error


def exists_already() -> errors.OpError:
    return errors.AlreadyExistsError(None, None, "file already exists")


class LocalFiles:
    """Paths of this machine."""

    def open(self, path: str, mode: str) -> BinaryIO:
        """A buffered binary file; `mode` is one of rb, wb, ab, r+b."""
        with translated(path):
            return open(path, mode, buffering=1 << 18)  # type: ignore[return-value]

    def exists(self, path: str) -> bool:
        return os.path.exists(path)

    def is_directory(self, path: str) -> bool:
        return os.path.isdir(path)

    def is_endless(self, path: str) -> bool:
        """Whether it is a pipe or a device, which may keep a reader waiting, or never end."""
        try:
            mode = os.stat(path).st_mode
        except OSError:
            return False
        return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))

    def children(self, path: str) -> list[str]:
        with translated(path):
            return os.listdir(path)

    def matches(self, pattern: str) -> list[str]:
        """The files that match; NotFoundError without the directory in which the pattern begins."""
        fixed = re.split(r"[*?\[\\]", pattern, maxsplit=1)[0]
        directory = os.path.dirname(fixed)
        if directory and not os.path.isdir(directory):
            text = f"{directory}; No such file or directory"
            raise errors.NotFoundError(None, None, text)
        return sorted(glob.glob(pattern, include_hidden=True))

    def make_directory(self, path: str) -> None:
        if not path:  # the directory of a bare file name: there is nothing to make
            return
        with translated(path):
            os.mkdir(path)

    def make_directories(self, path: str) -> None:
        if not path:
            return
        with translated(path):
            os.makedirs(path, exist_ok=True)

    def remove(self, path: str) -> None:
        with translated(path):
            os.remove(path)

    def remove_tree(self, path: str) -> None:
        with translated(path):
            if os.path.isdir(path):
                shutil.rmtree(path)
            else:
                os.remove(path)

    def rename(self, source: str, target: str) -> None:
        with translated(source):
            os.replace(source, target)

    def copy(self, source: str, target: str) -> None:
        with translated(source):
            shutil.copyfile(source, target)

    def stat(self, path: str) -> FileStatistics:
        with translated(path):
            found = os.stat(path)
        return FileStatistics(found.st_size, found.st_mtime_ns, stat.S_ISDIR(found.st_mode))


class RemoteFiles:
    """Paths of one fsspec file system; they come and go with their `scheme://`."""

    def __init__(self, system: Any) -> None:
        self.system = system

    def open(self, path: str, mode: str) -> BinaryIO:
        with translated(path):
            return self.system.open(path, mode)

    def exists(self, path: str) -> bool:
        return bool(self.system.exists(path))

    def is_directory(self, path: str) -> bool:
        return bool(self.system.isdir(path))

    def is_endless(self, path: str) -> bool:
        return False

    def children(self, path: str) -> list[str]:
        with translated(path):
            found = self.system.ls(path, detail=False)
        return [item.rstrip("/").rsplit("/", 1)[-1] for item in found]

    def matches(self, pattern: str) -> list[str]:
        return sorted(self.system.unstrip_protocol(p) for p in self.system.glob(pattern))

    def make_directory(self, path: str) -> None:
        with translated(path):
            self.system.mkdir(path, create_parents=False)

    def make_directories(self, path: str) -> None:
        with translated(path):
            self.system.makedirs(path, exist_ok=True)

    def remove(self, path: str) -> None:
        with translated(path):
            self.system.rm_file(path)

    def remove_tree(self, path: str) -> None:
        with translated(path):
            self.system.rm(path, recursive=True)

    def rename(self, source: str, target: str) -> None:
        with translated(source):
            self.system.mv(source, target, recursive=self.system.isdir(source))

    def copy(self, source: str, target: str) -> None:
        with translated(source):
            self.system.cp_file(source, target)

    def stat(self, path: str) -> FileStatistics:
        with translated(path):
            found = self.system.info(path)
        changed = found.get("mtime") or found.get("LastModified") or found.get("created")
        seconds = changed.timestamp() if hasattr(changed, "timestamp") else float(changed or 0)
        is_directory = found.get("type") == "directory"
        return FileStatistics(int(found.get("size") or 0), int(seconds * 1e9), is_directory)


LOCAL = LocalFiles()


def system_of(path: str) -> tuple[LocalFiles | RemoteFiles, str]:
    """The file system of a path, and the path as that system wants it."""
    permitted(path)
    if "://" not in path:
        return LOCAL, path
    scheme, rest = path.split("://", 1)
    if scheme == "file":
        return LOCAL, rest
    from fsspec.core import url_to_fs

    try:
        # Host, port and user are in the path, too: hdfs://host:8020/...
        return RemoteFiles(url_to_fs(path)[0]), path
    except (ValueError, ImportError) as error:
        driver = _DRIVERS.get(scheme)
        why = f"install {driver} to use it" if driver else str(error)
        raise errors.UnimplementedError(
            None, None, f"File system scheme '{scheme}' not implemented (file: '{path}'): {why}"
        ) from error
