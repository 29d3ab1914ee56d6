"""Datasets of what is in files: records, lines, pieces of a fixed length; and of their names."""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from typing import Any, BinaryIO

import numpy as np

from weft.core import errors
from weft.ops.dataset.declare import dataset_op, scalar
from weft.ops.dataset.objects import Dataset, Iterator
from weft.ops.dataset.scope import Scope
from weft.ops.kit.shared import invalid
from weft.storage.file_io import open_binary
from weft.storage.filesystem import system_of
from weft.storage.tf_record import RecordReader, check_growth, open_records, read_up_to

_LOG = logging.getLogger("weft")
_CHUNK = 1 << 18
_COMPRESSIONS = ("", "ZLIB", "GZIP")
_FILES = "filenames: string"


def strings(value: Any) -> list[str]:
    """File names: a scalar or a vector of strings."""
    array = np.asarray(value)
    if array.ndim > 1:
        raise invalid("`filenames` must be a scalar or a vector.")
    return [name.decode() for name in array.ravel().tolist()]


def compression(value: Any) -> str:
    found: str = np.asarray(value).item().decode()
    if found not in _COMPRESSIONS:
        raise invalid("Unsupported compression_type.")
    return found


class Files(Dataset):
    """The records of files, one file after the other; `reader` reads one file."""

    def __init__(self, names: Sequence[str], reader: Any, *options: Any) -> None:
        self.names, self.reader, self.options = names, reader, options

    def open(self, scope: Scope, raw: bool = False) -> Iterator:
        return FileIterator(self)


class FileIterator(Iterator):
    """Goes through files. `taken` says how many elements of the present one are gone."""

    state = ("file", "taken")

    def __init__(self, dataset: Files) -> None:
        self.dataset = dataset
        self.file = self.taken = 0
        self.reader: Any = None

    def next(self) -> Any:
        while self.file < len(self.dataset.names):
            try:
                record = (self.reader or self._open()).read()
            except errors.DataLossError:
                self._leave()  # what follows in a damaged file cannot be found
                raise
            if record is not None:
                self.taken += 1
                return record if type(record) is tuple else (record,)
            self._leave()
        return None

    def _open(self) -> Any:
        self.reader = self.dataset.reader(self.dataset.names[self.file], *self.dataset.options)
        return self.reader

    def _leave(self) -> None:
        self.close()
        self.file, self.taken = self.file + 1, 0

    def close(self) -> None:
        if self.reader is not None:
            self.reader.close()
        self.reader = None

    def restore(self, saved: Any) -> None:
        self.close()
        super().restore(saved)
        if self.taken:
            reader = self._open()
            for _ in range(self.taken):
                reader.read()


# ---- records -------------------------------------------------------------------------------------


def _record_compression(value: Any) -> str:
    """The compression of records, none for a type that is not known."""
    found: str = np.asarray(value).item().decode()
    if found in _COMPRESSIONS:
        return found
    _LOG.error("Unsupported compression_type: %s. No compression will be used.", found)
    return ""


@dataset_op(
    "TFRecordDataset", f"{_FILES}, compression_type: string, buffer_size: int64", "", stateful=True
)
def tf_record_dataset(xp: Any, filenames: Any, compression_type: Any, buffer_size: Any) -> Dataset:
    if scalar(buffer_size, "buffer_size") < 0:
        raise invalid("`buffer_size` must be >= 0 (0 == no buffering)")
    return Files(strings(filenames), RecordReader, _record_compression(compression_type))


# ---- lines ---------------------------------------------------------------------------------------


class LineReader:
    """The lines of a file, without their ends."""

    def __init__(self, path: str, kind: str) -> None:
        self._file = opened(path, kind)
        self._lines: list[bytes] = []
        self._rest = b""
        self._over = False

    def read(self) -> bytes | None:
        while not self._lines:
            if self._over:
                return None
            self._fill()
        line = self._lines.pop()
        return line[:-1] if line.endswith(b"\r") else line

    def _fill(self) -> None:
        chunk = self._file.read(_CHUNK)
        if not chunk:
            self._over = True
            self._lines = [self._rest] if self._rest else []
            return
        lines = (self._rest + chunk).split(b"\n")
        self._rest = lines.pop()
        check_growth(self._file, len(self._rest), "A line")
        self._lines = lines[::-1]

    def close(self) -> None:
        self._file.close()


def opened(path: str, kind: str) -> BinaryIO:
    """A file, uncompressed as it is read."""
    return open_records(path, kind) if kind else open_binary(path, "rb")


@dataset_op(
    "TextLineDataset", f"{_FILES}, compression_type: string, buffer_size: int64", "", stateful=True
)
def text_line_dataset(xp: Any, filenames: Any, compression_type: Any, buffer_size: Any) -> Dataset:
    if scalar(buffer_size, "buffer_size") < 0:
        raise invalid("`buffer_size` must be >= 0 (0 == default)")
    return Files(strings(filenames), LineReader, compression(compression_type))


# ---- pieces of a fixed length --------------------------------------------------------------------


class PieceReader:
    """Pieces of `size` bytes, between a header and a footer that are skipped."""

    def __init__(self, path: str, kind: str, header: int, size: int, footer: int) -> None:
        self._size = size
        with opened(path, kind) as file:
            content = read_up_to(file, sys.maxsize, f"The file {path}")
        body = len(content) - header - footer
        if body % size:
            raise invalid(
                f"Excluding the header ({header} bytes) and footer ({footer} bytes), input file"
                f' "{path}" has body length {body} bytes, which is not an exact multiple of the'
                f" record length ({size} bytes)."
            )
        self._content, self._at, self._end = content, header, header + body

    def read(self) -> bytes | None:
        if self._at >= self._end:
            return None
        at, self._at = self._at, self._at + self._size
        return self._content[at : self._at]

    def close(self) -> None:
        self._content = b""


def _pieces(filenames: Any, header: Any, size: Any, footer: Any, buffer: Any, kind: str) -> Dataset:
    head, length = scalar(header, "header_bytes"), scalar(size, "record_bytes")
    foot = scalar(footer, "footer_bytes")
    if head < 0:
        raise invalid("`header_bytes` must be >= 0")
    if length <= 0:
        raise invalid("`record_bytes` must be > 0")
    if foot < 0:
        raise invalid("`footer_bytes` must be >= 0")
    if scalar(buffer, "buffer_size") < 0:
        raise invalid("`buffer_size` must be >= 0")
    return Files(strings(filenames), PieceReader, kind, head, length, foot)


_PIECES = (
    f"{_FILES}, header_bytes: int64, record_bytes: int64, footer_bytes: int64, buffer_size: int64"
)


@dataset_op("FixedLengthRecordDataset", _PIECES, "", stateful=True)
def fixed_length_record_dataset(
    xp: Any, filenames: Any, header_bytes: Any, record_bytes: Any, footer_bytes: Any,
    buffer_size: Any,
) -> Dataset:  # fmt: skip
    return _pieces(filenames, header_bytes, record_bytes, footer_bytes, buffer_size, "")


@dataset_op("FixedLengthRecordDatasetV2", f"{_PIECES}, compression_type: string", "", stateful=True)
def fixed_length_record_dataset_v2(
    xp: Any, filenames: Any, header_bytes: Any, record_bytes: Any, footer_bytes: Any,
    buffer_size: Any, compression_type: Any,
) -> Dataset:  # fmt: skip
    kind = compression(compression_type)
    return _pieces(filenames, header_bytes, record_bytes, footer_bytes, buffer_size, kind)


# ---- names ---------------------------------------------------------------------------------------


class MatchingFiles(Dataset):
    """The names of files that match patterns, in order."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self.patterns = patterns

    def open(self, scope: Scope, raw: bool = False) -> Iterator:
        from weft.ops.dataset.sources import Listed

        found: set[str] = set()
        for pattern in self.patterns:
            system, path = system_of(pattern)
            found.update(system.matches(path))
        if not found:
            shown = ", ".join(self.patterns)
            raise errors.NotFoundError(None, None, f"No files matched pattern: {shown}")
        return Listed([(name.encode(),) for name in sorted(found)])


@dataset_op("MatchingFilesDataset", "patterns: string", "", stateful=True, experimental=True)
def matching_files_dataset(xp: Any, patterns: Any) -> Dataset:
    return MatchingFiles(strings(patterns))
