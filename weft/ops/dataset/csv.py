"""Records of comma-separated files."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.ops.dataset.declare import STRUCTURE, dataset_op, scalar
from weft.ops.dataset.files import Files, compression, opened, strings
from weft.ops.dataset.objects import Dataset
from weft.ops.kit.shared import invalid
from weft.ops.strings.numbers import numbers, type_name


class Format:
    """How records are written, and what is wanted of them."""

    def __init__(
        self, delimiter: str, quotes: bool, missing: str, columns: Sequence[int],
        types: Sequence[DType], defaults: Sequence[Any], header: bool,
    ) -> None:  # fmt: skip
        self.delimiter, self.quotes, self.missing = delimiter.encode(), quotes, missing.encode()
        self.columns, self.types, self.header = list(columns), list(types), header
        self.defaults = [np.ravel(each)[0] if np.size(each) else None for each in defaults]
        self.ends = re.compile(b"[\r\n" + re.escape(self.delimiter) + b"]")

    def element(self, row: list[bytes]) -> tuple[Any, ...]:
        wanted = len(self.types)
        if self.columns:
            row = [row[i] for i in self.columns if i < len(row)]
        elif len(row) > wanted:
            raise invalid(f"Expect {wanted} fields but have more in record")
        if len(row) != wanted:
            raise invalid(f"Expect {wanted} fields but have {len(row)} in record")
        return tuple([self._field(text, i) for i, text in enumerate(row)])

    def _field(self, text: bytes, i: int) -> Any:
        dtype = self.types[i]
        if not text or text == self.missing:
            if self.defaults[i] is None:
                raise invalid(f"Field {i} is required but missing in record!")
            return self.defaults[i]
        if dtype == dtypes.string:
            return text
        found, wrong = numbers(np.array([text], object), dtype)
        if wrong >= 0:
            shown = text.decode(errors="replace")
            raise invalid(f"Field {i} in record is not a valid {type_name(dtype)}: {shown}")
        return found[0]


class RecordsOfFile:
    """The records of a file; line ends within quotes belong to a field."""

    def __init__(self, path: str, kind: str, form: Format) -> None:
        with opened(path, kind) as file:
            self._content = file.read()
        self._at, self._form = 0, form
        if form.header and self._fields() is None:
            raise invalid("Can't read header of file")

    def read(self) -> Any:
        row = self._fields()
        return None if row is None else self._form.element(row)

    def _fields(self) -> list[bytes] | None:
        """The fields of the next record. One with an error in it is passed over."""
        if self._at >= len(self._content):
            return None
        row: list[bytes] = []
        error: Exception | None = None
        while True:
            try:
                row.append(self._field())
            except Exception as found:
                error, self._at = error or found, self._end(self._at)
            if not self._next_field():
                break
        if error is not None:
            raise error
        return row

    def _field(self) -> bytes:
        content, start = self._content, self._at
        if self._form.quotes and content.startswith(b'"', start):
            return self._quoted(start + 1)
        self._at = end = self._end(start)
        if self._form.quotes and b'"' in content[start:end]:
            raise invalid("Unquoted fields cannot have quotes inside")
        return content[start:end]

    def _end(self, start: int) -> int:
        """The end of a field without quotes."""
        found = self._form.ends.search(self._content, start)
        return len(self._content) if found is None else found.start()

    def _quoted(self, start: int) -> bytes:
        content, parts = self._content, []
        while True:
            end = content.find(b'"', start)
            if end < 0:
                self._at = len(content)
                raise invalid("Reached end of file without closing quoted field in record")
            parts.append(content[start:end])
            self._at = end + 1
            follows = content[end + 1 : end + 2]
            if follows in (b"", b"\r", b"\n", self._form.delimiter):
                return b"".join(parts)
            if follows != b'"':
                raise invalid("Quote inside a string has to be escaped by another quote")
            parts.append(b'"')
            start = end + 2

    def _next_field(self) -> bool:
        """Goes past what ends a field; False at the end of the record."""
        content, at = self._content, self._at
        self._at = at + (2 if content.startswith(b"\r\n", at) else 1)
        return content.startswith(self._form.delimiter, at)

    def close(self) -> None:
        self._content = b""


_TYPES = STRUCTURE.replace("list(type)", "list({float, double, int32, int64, string})")


@dataset_op(
    "CSVDataset",
    "filenames: string, compression_type: string, buffer_size: int64, header: bool,"
    " field_delim: string, use_quote_delim: bool, na_value: string, select_cols: int64,"
    " record_defaults: list(output_types)",
    _TYPES, stateful=True, experimental=True,
)  # fmt: skip
def csv_dataset(
    xp: Any, filenames: Any, compression_type: Any, buffer_size: Any, header: Any,
    field_delim: Any, use_quote_delim: Any, na_value: Any, select_cols: Any,
    record_defaults: list[Any], *, output_types: Sequence[DType],
) -> Dataset:  # fmt: skip
    if scalar(buffer_size, "buffer_size") <= 0:
        raise invalid("buffer_size should be positive")
    delimiter = np.asarray(field_delim).item().decode()
    if len(delimiter) != 1:
        raise invalid("field_delim should be only 1 char")
    columns = [int(i) for i in np.ravel(select_cols)]
    if columns and len(columns) != len(output_types):
        raise invalid("select_cols should match output size")
    if any(b <= a for a, b in itertools.pairwise(columns)):
        raise invalid("select_cols should be strictly increasing indices")
    if columns and columns[0] < 0:
        raise invalid("select_cols should be non-negative indices")
    missing = np.asarray(na_value).item().decode()
    form = Format(
        delimiter, bool(use_quote_delim), missing, columns, output_types, record_defaults,
        bool(header),
    )  # fmt: skip
    return Files(strings(filenames), RecordsOfFile, compression(compression_type), form)
