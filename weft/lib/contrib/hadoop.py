"""tf.contrib.hadoop: pairs of texts out of Hadoop's sequence files."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

from weft.core import dtypes
from weft.core.errors import InvalidArgumentError, UnimplementedError
from weft.lib.data.dataset import Dataset
from weft.storage.file_io import GFile

_TEXT = b"org.apache.hadoop.io.Text"
_MARK = 16  # bytes of the marker between parts of a file
_AT_MARK = 2**32 - 1


class _Ended(Exception):
    """The end of a file, between records."""


def _invalid(message: str) -> InvalidArgumentError:
    return InvalidArgumentError(None, None, message)


class _Reader:
    """The numbers and texts that a sequence file is made of."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def take(self, count: int) -> bytes:
        """So many bytes."""
        found = self._file.read(count)
        if len(found) < count:
            raise _Ended
        return found

    def word(self) -> int:
        """An unsigned number of four bytes."""
        return int(struct.unpack(">I", self.take(4))[0])

    def text(self) -> bytes:
        """A text after its length, which is short in one byte or long in as many as it says."""
        first = struct.unpack("b", self.take(1))[0]
        if first >= -112:
            return self.take(first)
        negative = first < -120
        length = int.from_bytes(self.take((-120 if negative else -112) - first), "big")
        return self.take(~length if negative else length)


def _read_header(file: _Reader) -> bytes:
    """Checks the start of a file; the marker that will stand between its parts."""
    magic = file.take(4)
    if magic != b"SEQ\x06":
        received = f"{magic[:3].decode('latin-1')}{magic[3]}"
        raise _invalid(f'sequence file header must starts with `SEQ6`, received "{received}"')
    kinds = file.text(), file.text()
    if kinds != (_TEXT, _TEXT):
        named = "/".join(kind.decode() for kind in kinds)
        raise UnimplementedError(None, None, f"key/value of '{named}' is currently not supported")
    if any(file.take(2)):
        raise UnimplementedError(None, None, "compression is currently not supported")
    pairs = file.word()
    if pairs > 1024:
        raise _invalid(
            f"sequence file metadata should have key value pairs < 1024,  received {pairs}"
        )
    for _ in range(2 * pairs):
        file.text()
    return file.take(_MARK)


def _records(path: bytes) -> Iterator[tuple[bytes, bytes]]:
    with GFile(path, "rb") as opened:
        file = _Reader(opened)
        mark = _read_header(file)
        while True:
            try:
                length = file.word()
                if length == _AT_MARK:
                    if (found := file.take(_MARK)) != mark:
                        told = f'sync marker "{mark!r}", received "{found!r}"'
                        raise _invalid(f"sequence file should have {told}")
                    continue
                if (key_length := file.word()) > length:
                    raise _invalid(
                        f"key length ({key_length}) should be < record length ({length})"
                    )
                yield file.text(), file.text()
            except _Ended:
                return


def SequenceFileDataset(filenames: Any) -> Dataset:
    """A dataset of the (key, value) pairs of one or more files, all of them texts.

    Compressed files are not read.
    """
    types, shapes = (dtypes.string, dtypes.string), ((), ())

    def pairs(path: Any) -> Any:
        return Dataset.from_generator(_records, types, shapes, args=(path,))

    names = Dataset.from_tensor_slices([filenames] if isinstance(filenames, str) else filenames)
    return names.flat_map(pairs)
