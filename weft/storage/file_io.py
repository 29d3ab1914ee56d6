"""tf.gfile and tf.io.gfile: files by path, local or remote."""

from __future__ import annotations

import binascii
import contextlib
import os
import uuid
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from weft.core import compat, errors
from weft.storage.filesystem import FileStatistics, exists_already, system_of

_MODES = ("r", "w", "a", "r+", "w+", "a+")
_BLOCK = 16 * 1024 * 1024


def _path(path: Any) -> str:
    return compat.as_str_any(compat.path_to_str(path))


def _at(path: Any) -> tuple[Any, str]:
    return system_of(_path(path))


def open_binary(path: Any, mode: str = "rb") -> BinaryIO:
    """A binary file object; `mode` is one of rb, wb, ab."""
    system, where = _at(path)
    return system.open(where, mode)


def read_whole(path: Any) -> bytes:
    """As many bytes of a file as it is long: of a pipe or a device none, as in TensorFlow."""
    system, where = _at(path)
    if system.is_endless(where):
        return b""
    with system.open(where, "rb") as file:
        return file.read()


class FileIO:
    """A file that is opened when it is first read or written.

    With "b" in the mode it is read as bytes, otherwise as text. Reading and writing have places of
    their own.
    """

    def __init__(self, name: Any, mode: str) -> None:
        self._name, self._mode = name, mode
        self._binary = "b" in mode
        plain = mode.replace("b", "")
        if plain not in _MODES:
            raise errors.InvalidArgumentError(
                None, None, "mode is not 'r' or 'w' or 'a' or 'r+' or 'w+' or 'a+'"
            )
        self._readable = plain in ("r", "r+", "a+", "w+")
        self._writable = plain != "r"
        self._appends = "a" in plain
        self._reader: BinaryIO | None = None
        self._writer: BinaryIO | None = None

    @property
    def name(self) -> Any:
        """The path as it was given."""
        return self._name

    @property
    def mode(self) -> str:
        return self._mode

    def _for_reading(self) -> BinaryIO:
        if self._reader is None:
            if not self._readable:
                raise errors.PermissionDeniedError(None, None, "File isn't open for reading")
            if self._writer is None and self._mode.startswith("w"):
                self._for_writing()
            self._reader = open_binary(self._name)
        if self._writer is not None:
            self._writer.flush()
        return self._reader

    def _for_writing(self) -> BinaryIO:
        if self._writer is None:
            if not self._writable:
                raise errors.PermissionDeniedError(None, None, "File isn't open for writing")
            self._writer = open_binary(self._name, "ab" if self._appends else "wb")
        return self._writer

    def _value(self, content: bytes) -> Any:
        return content if self._binary else compat.as_str_any(content)

    def size(self) -> int:
        """The length of the file in bytes."""
        return stat(self._name).length

    def write(self, file_content: Any) -> None:
        """Adds text or bytes at the end."""
        self._for_writing().write(compat.as_bytes(file_content))

    def read(self, n: int = -1) -> Any:
        """The next `n` bytes, or all that are left."""
        return self._value(self._for_reading().read(n))

    def seek(self, offset: int | None = None, whence: int = 0, position: int | None = None) -> None:
        """Moves the reading place; `position` is the older name of `offset`."""
        reader = self._for_reading()
        if offset is None and position is None:
            raise TypeError("seek(): offset argument required")
        if offset is not None and position is not None:
            raise TypeError("seek(): offset and position may not be set simultaneously.")
        if whence not in (0, 1, 2):
            raise errors.InvalidArgumentError(
                None, None, f"Invalid whence argument: {whence}. Valid values are 0, 1, or 2."
            )
        offset = position if offset is None else offset
        assert offset is not None
        start = (0, reader.tell(), self.size() if whence == 2 else 0)[whence]
        if start + offset < 0:
            raise errors.InvalidArgumentError(
                None, None, f"Seeking to a negative position: {start + offset}"
            )
        reader.seek(start + offset)

    def readline(self) -> Any:
        """The next line with its line feed; empty at the end."""
        return self._value(self._for_reading().readline())

    def readlines(self) -> list[Any]:
        return list(self)

    def tell(self) -> int:
        return (self._for_reading() if self._readable else self._for_writing()).tell()

    def __enter__(self) -> FileIO:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> FileIO:
        return self

    def __next__(self) -> Any:
        return self.next()

    def next(self) -> Any:
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    def flush(self) -> None:
        """Makes written data visible to others; it need not be on the disk yet."""
        if self._writer is not None:
            self._writer.flush()

    def close(self) -> None:
        for file in (self._reader, self._writer):
            if file is not None:
                file.close()
        self._reader = self._writer = None

    def __del__(self) -> None:
        if getattr(self, "_writer", None) is not None or getattr(self, "_reader", None) is not None:
            self.close()

    def seekable(self) -> bool:
        return True


class GFile(FileIO):
    r"""A file, read as text unless the mode has a "b".

    Args:
        name: a path on this machine, or an address such as "gs://bucket/file".
        mode: "r", "w", "a" or "r+", with "b" for bytes.

    Raises:
        tf.errors.NotFoundError: from reading: there is no such file.

    Example:
        >>> with tf.gfile.GFile("notes.txt", "w") as file:
        ...     file.write("first\nsecond\n")
        >>> tf.gfile.GFile("notes.txt").readline()
        'first\n'
    """

    def __init__(self, name: Any, mode: str = "r") -> None:
        super().__init__(name, mode)


Open = GFile


class FastGFile(GFile):
    """`GFile` under an older name.

    Args:
        name: a path.
        mode: "r", "w", "a" or "r+", with "b" for bytes.

    Example:
        >>> with tf.gfile.FastGFile("notes.txt", "w") as file:
        ...     file.write("text")
        >>> tf.gfile.FastGFile("notes.txt", "rb").read()
        b'text'
    """


# ---- tf.io.gfile ---------------------------------------------------------------------------------


def exists(path: Any) -> bool:
    """Whether there is a file or directory at `path`."""
    system, where = _at(path)
    return system.exists(where)


def remove(path: Any) -> None:
    """Deletes the file at `path`."""
    system, where = _at(path)
    system.remove(where)


def glob(pattern: Any) -> list[str]:
    """The files that match a shell pattern, or any of several."""
    if isinstance(pattern, (str, bytes)) or hasattr(pattern, "__fspath__"):
        pattern = [pattern]
    found: list[str] = []
    for each in pattern:
        system, where = _at(each)
        found += system.matches(where)
    return found


def mkdir(path: Any) -> None:
    """Makes a directory whose parent exists; no error if there is something of its name."""
    system, where = _at(path)
    with contextlib.suppress(errors.AlreadyExistsError):
        system.make_directory(where)


def makedirs(path: Any) -> None:
    """Makes a directory and its parents; no error if it is there."""
    system, where = _at(path)
    system.make_directories(where)


def copy(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Copies a file, also between file systems."""
    source, from_path = _at(src)
    target, to_path = _at(dst)
    if not overwrite and target.exists(to_path):
        raise exists_already()
    if type(source) is type(target) and getattr(source, "system", None) is getattr(
        target, "system", None
    ):
        source.copy(from_path, to_path)
        return
    with source.open(from_path, "rb") as reader, target.open(to_path, "wb") as writer:
        while block := reader.read(_BLOCK):
            writer.write(block)


def rename(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Moves a file or directory."""
    system, from_path = _at(src)
    target, to_path = _at(dst)
    if not overwrite and target.exists(to_path):
        raise exists_already()
    if type(system) is not type(target):
        raise errors.UnimplementedError(
            None, None, f"Renaming {_path(src)} to {_path(dst)} not implemented"
        )
    system.rename(from_path, to_path)


def rmtree(path: Any) -> None:
    """Deletes everything at and below `path`."""
    system, where = _at(path)
    system.remove_tree(where)


def isdir(path: Any) -> bool:
    """Whether `path` is a directory."""
    system, where = _at(path)
    return system.is_directory(where)


def listdir(path: Any) -> list[str]:
    """The names in a directory, in no particular order."""
    system, where = _at(path)
    if not system.is_directory(where):
        raise errors.NotFoundError(None, None, f"Could not find directory {_path(path)}")
    return system.children(where)


def walk(
    top: Any, topdown: bool = True, onerror: Callable[[Exception], Any] | None = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """(directory, names of directories in it, names of files in it) for all below `top`."""
    top = _path(top)
    try:
        listing = listdir(top)
    except errors.NotFoundError as error:
        if onerror is not None:
            onerror(error)
        return
    directories = [name for name in listing if isdir(os.path.join(top, name))]
    inside = set(directories)
    here = top, directories, [name for name in listing if name not in inside]
    if topdown:
        yield here
    for name in directories:
        yield from walk(os.path.join(top, name), topdown, onerror)
    if not topdown:
        yield here


def stat(path: Any) -> FileStatistics:
    """Length, time of the last change, and whether `path` is a directory."""
    system, where = _at(path)
    return system.stat(where)


# ---- tf.gfile ------------------------------------------------------------------------------------


def Exists(filename: Any) -> bool:
    """Whether there is a file or directory.

    Args:
        filename: a path.

    Returns:
        A bool.

    Example:
        >>> tf.gfile.Exists("."), tf.gfile.Exists("no-such-file")
        (True, False)
    """
    return exists(filename)


def Remove(filename: Any) -> None:
    """Deletes a file.

    Args:
        filename: a path.

    Raises:
        tf.errors.NotFoundError: there is no such file.

    Example:
        >>> with tf.gfile.GFile("old", "w") as file:
        ...     file.write("text")
        >>> tf.gfile.Remove("old")
        >>> tf.gfile.Exists("old")
        False
    """
    remove(filename)


def Glob(filename: Any) -> list[str]:
    """The files that match a shell pattern, or any of several.

    Args:
        filename: a pattern with `*`, `?` and `[...]`, or a list of patterns.

    Returns:
        A list of paths.

    Raises:
        tf.errors.NotFoundError: the folder does not exist.

    Example:
        >>> with tf.gfile.GFile("part-0.txt", "w") as file:
        ...     file.write("text")
        >>> tf.gfile.Glob("part-*.txt")
        ['part-0.txt']
    """
    return glob(filename)


def MkDir(dirname: Any) -> None:
    """Makes a directory whose parent exists; no error if there is something of its name."""
    mkdir(dirname)


def MakeDirs(dirname: Any) -> None:
    """Makes a directory and its parents.

    Args:
        dirname: a path; nothing happens if it is there.

    Raises:
        tf.errors.PermissionDeniedError: it may not be made.
        tf.errors.FailedPreconditionError: a file is in the way.

    Example:
        >>> tf.gfile.MakeDirs("a/b/c")
        >>> tf.gfile.IsDirectory("a/b/c")
        True
    """
    makedirs(dirname)


def Copy(oldpath: Any, newpath: Any, overwrite: bool = False) -> None:
    """Copies a file."""
    copy(oldpath, newpath, overwrite)


def Rename(oldname: Any, newname: Any, overwrite: bool = False) -> None:
    """Moves a file or directory.

    Args:
        oldname, newname: paths.
        overwrite: whether a file that is there already is replaced.

    Raises:
        tf.errors.NotFoundError: there is no such file.
        tf.errors.AlreadyExistsError: the new name is taken.

    Example:
        >>> with tf.gfile.GFile("before", "w") as file:
        ...     file.write("text")
        >>> tf.gfile.Rename("before", "after")
        >>> tf.gfile.GFile("after").read()
        'text'
    """
    rename(oldname, newname, overwrite)


def DeleteRecursively(dirname: Any) -> None:
    """Deletes a directory with everything in it.

    Args:
        dirname: a path.

    Raises:
        tf.errors.NotFoundError: there is no such folder.

    Example:
        >>> tf.gfile.MakeDirs("a/b")
        >>> tf.gfile.DeleteRecursively("a")
        >>> tf.gfile.Exists("a")
        False
    """
    rmtree(dirname)


def IsDirectory(dirname: Any) -> bool:
    """Whether there is a directory.

    Args:
        dirname: a path.

    Returns:
        A bool; False also when there is nothing.

    Example:
        >>> tf.gfile.IsDirectory("."), tf.gfile.IsDirectory("no-such-folder")
        (True, False)
    """
    return isdir(dirname)


def ListDirectory(dirname: Any) -> list[str]:
    """The names in a directory.

    Args:
        dirname: a path.

    Returns:
        A list of names, without the path.

    Raises:
        tf.errors.NotFoundError: there is no such folder.

    Example:
        >>> tf.gfile.MakeDirs("a/b")
        >>> tf.gfile.ListDirectory("a")
        ['b']
    """
    return listdir(dirname)


def Walk(top: Any, in_order: bool = True) -> Iterator[tuple[str, list[str], list[str]]]:
    """As `walk`; `in_order` is its `topdown`."""
    return walk(top, in_order)


def Stat(filename: Any) -> FileStatistics:
    """Length, time of the last change, and whether it is a directory."""
    return stat(filename)


# ---- whole files ---------------------------------------------------------------------------------


def read_file_to_string(filename: Any, binary_mode: bool = False) -> Any:
    """The content of a file, as text or bytes."""
    with FileIO(filename, "rb" if binary_mode else "r") as file:
        return file.read()


def write_string_to_file(filename: Any, file_content: Any) -> None:
    """Makes a file with this content, or replaces it."""
    with FileIO(filename, "w") as file:
        file.write(file_content)
        file._for_writing()  # an empty file is made, too


def atomic_write_string_to_file(filename: Any, contents: Any, overwrite: bool = True) -> None:
    """As above, but readers never see a part of it: it is written beside and then renamed."""
    beside = f"{_path(filename)}.tmp{uuid.uuid4().hex}"
    write_string_to_file(beside, contents)
    try:
        rename(beside, filename, overwrite)
    except errors.OpError:
        remove(beside)
        raise


def file_crc32(filename: Any, block_size: int = _BLOCK) -> str:
    """The crc32 of a file's content, in hexadecimal."""
    crc = 0
    with open_binary(filename) as file:
        while block := file.read(block_size):
            crc = binascii.crc32(block, crc)
    return hex(crc & 0xFFFFFFFF)


def filecmp(filename_a: Any, filename_b: Any) -> bool:
    """Whether two files have the same content."""
    if stat(filename_a).length != stat(filename_b).length:
        return False
    return file_crc32(filename_a) == file_crc32(filename_b)
