"""Lookup tables as objects: keys to values, held by the process."""

from __future__ import annotations

import itertools
import math
import threading
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from weft.core import dtypes, errors
from weft.core.dtypes import DType
from weft.graph import shape_fn as s
from weft.graph.shape_fn import Dims
from weft.ops.kit.shared import as_array, invalid
from weft.ops.queues.queue_values import show_types
from weft.ops.strings.numbers import number
from weft.storage import file_io

WHOLE_LINE, LINE_NUMBER = -2, -1


def _not_ready(message: str) -> errors.FailedPreconditionError:
    return errors.FailedPreconditionError(None, None, message)


class Table:
    """Keys, which are scalars, to values of one shape. The base of the kinds of tables."""

    def __init__(self, name: str, key_dtype: DType, value_dtype: DType, value_shape: Dims) -> None:
        self.name, self.key_dtype, self.value_dtype = name, key_dtype, value_dtype
        self.key_shape: tuple[int, ...] = ()
        self.value_shape = tuple(d or 0 for d in value_shape or ())
        self.lock = threading.Lock()
        self.entries: dict[Any, Any] = {}

    # Keys and values as Python has them in `entries`.

    def _keys(self, keys: Any) -> list[Any]:
        keys = as_array(keys)
        if not self.key_shape:
            return keys.ravel().tolist()
        if keys.shape[keys.ndim - len(self.key_shape) :] != self.key_shape:
            wanted = (*keys.shape[:1], *self.key_shape)
            raise invalid(f"Expected key shape {s.show(wanted)} got {s.show(keys.shape)}")
        return [tuple(row) for row in keys.reshape(-1, *self.key_shape).tolist()]

    def _values(self, values: Any) -> list[Any]:
        values = as_array(values)
        return (
            list(values.reshape(-1, *self.value_shape))
            if self.value_shape
            else (values.ravel().tolist())
        )

    def _array(self, values: list[Any], outer: tuple[int, ...], is_key: bool = False) -> Any:
        dtype, inner = self.value_dtype, self.value_shape
        if is_key:
            dtype, inner = self.key_dtype, self.key_shape
        if dtype is dtypes.variant and not outer:
            return values[0]
        if inner or dtype is dtypes.string or dtype is dtypes.variant:
            out = np.empty((len(values), *inner), dtype.np_storage)
            if values:
                out[:] = values
        else:
            out = np.fromiter(values, dtype.np_storage, len(values))
        return out.reshape((*outer, *inner))

    def check_types(self, keys: DType, values: DType) -> None:
        if (keys, values) != (self.key_dtype, self.value_dtype):
            raise invalid(
                f"Conflicting key/value dtypes {show_types([keys])}->{show_types([values])} with"
                f" {show_types([self.key_dtype])}-{show_types([self.value_dtype])} for table"
                f" {self.name}"
            )

    def _check_values(self, keys: Any, values: Any) -> None:
        outer = np.shape(as_array(keys))
        outer = outer[: len(outer) - len(self.key_shape)]
        wanted = (*outer, *self.value_shape)
        if np.shape(as_array(values)) != wanted:
            raise invalid(
                f"Expected shape {s.show(wanted)} for value, got"
                f" {s.show(np.shape(as_array(values)))}"
            )

    # What operations ask.

    def size(self) -> int:
        return len(self.entries)

    def find(self, keys: Any, default: Any) -> Any:
        shape = np.shape(as_array(keys))
        outer = shape[: len(shape) - len(self.key_shape)]
        filler = as_array(default)
        if filler.shape != self.value_shape:
            raise invalid(
                f"Expected shape {s.show(self.value_shape)} for default value, got"
                f" {s.show(filler.shape)}"
            )
        absent = filler if self.value_shape else filler.item()
        wanted = self._keys(keys)
        with self.lock:
            found = list(map(self.entries.get, wanted, itertools.repeat(absent)))
        return self._array(found, outer)

    def insert(self, keys: Any, values: Any) -> None:
        raise errors.UnimplementedError(None, None, "Insert not supported by this table.")

    def remove(self, keys: Any) -> None:
        raise errors.UnimplementedError(None, None, "Remove not supported by this table.")

    def replace(self, keys: Any, values: Any) -> None:
        """Has these entries and no others."""
        raise NotImplementedError

    def export(self) -> list[Any]:
        with self.lock:
            keys, values = list(self.entries), list(self.entries.values())
        return [self._array(keys, (len(keys),), True), self._array(values, (len(keys),))]


class StaticTable(Table):
    """A table that is filled once."""

    def __init__(self, name: str, key_dtype: DType, value_dtype: DType) -> None:
        super().__init__(name, key_dtype, value_dtype, ())
        self.initialized = False

    def find(self, keys: Any, default: Any) -> Any:
        if not self.initialized:
            raise _not_ready("Table not initialized.")
        return super().find(keys, default)

    def export(self) -> list[Any]:
        if not self.initialized:
            raise _not_ready("Table not initialized.")
        return super().export()

    def replace(self, keys: Any, values: Any) -> None:
        if np.shape(as_array(keys)) != np.shape(as_array(values)):
            raise invalid(
                f"keys and values do not have the same number of elements:"
                f" {np.size(keys)} vs {np.size(values)}"
            )
        self.fill(zip(self._keys(keys), self._values(values), strict=True))

    def fill(self, pairs: Iterable[tuple[Any, Any]]) -> None:
        entries: dict[Any, Any] = {}
        for key, value in pairs:
            if entries.setdefault(key, value) != value:
                raise _not_ready(
                    f"HashTable has different value for same key. Key {_shown(key)} has"
                    f" {_shown(entries[key])} and trying to add value {_shown(value)}"
                )
        with self.lock:
            if self.initialized and entries != self.entries:
                raise _not_ready("Table already initialized.")
            self.entries, self.initialized = entries, True


def _shown(value: Any) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


class MutableTable(Table):
    """A table that can be changed at any time."""

    def insert(self, keys: Any, values: Any) -> None:
        self._check_values(keys, values)
        pairs = list(zip(self._keys(keys), self._values(values), strict=True))
        with self.lock:
            self._before_insert(pairs)
            self.entries.update(pairs)

    def _before_insert(self, pairs: list[tuple[Any, Any]]) -> None:
        pass

    def remove(self, keys: Any) -> None:
        found = self._keys(keys)
        with self.lock:
            for key in found:
                self.entries.pop(key, None)

    def replace(self, keys: Any, values: Any) -> None:
        self._check_values(keys, values)
        pairs = dict(zip(self._keys(keys), self._values(values), strict=True))
        with self.lock:
            self.entries = pairs


class DenseTable(MutableTable):
    """A mutable table with two keys set apart; its export shows its buckets, used or not."""

    def __init__(
        self, name: str, key_dtype: DType, value_dtype: DType, value_shape: Dims, empty: Any,
        deleted: Any, buckets: int, load: float,
    ) -> None:  # fmt: skip
        super().__init__(name, key_dtype, value_dtype, value_shape)
        if not 0 < load < 1:
            raise invalid(f"max_load_factor must be between 0 and 1, got: {load}")
        self.key_shape = np.shape(as_array(empty))
        if np.shape(as_array(deleted)) != self.key_shape:
            raise invalid(
                f"Empty and deleted keys must have same shape, got shapes:"
                f" {s.show(self.key_shape)} and {s.show(np.shape(as_array(deleted)))}"
            )
        (self.empty,), (self.deleted,) = super()._keys(empty), super()._keys(deleted)
        if self.empty == self.deleted:
            raise invalid("Empty and deleted keys cannot be equal")
        self.load = load
        self.graves: list[Any] = []  # values whose keys were removed: their buckets stay in use
        self._set_buckets(buckets)

    def _set_buckets(self, count: int) -> None:
        if count < 4 or count & (count - 1):
            raise invalid(f"Number of buckets must be at least 4 and a power of 2, got: {count}")
        self.buckets = count

    def _keys(self, keys: Any) -> list[Any]:
        shape = np.shape(as_array(keys))
        if shape[len(shape) - len(self.key_shape) :] != self.key_shape:
            raise invalid(
                f"Input key shape {s.show(shape)} must end with the table's key shape"
                f" {s.show(self.key_shape)}"
            )
        wanted = (*shape[:1], *self.key_shape)
        if math.prod(shape) != math.prod(wanted):
            raise invalid(f"Expected key shape {s.show(wanted)} got {s.show(shape)}")
        found = super()._keys(keys)
        for reserved, what in ((self.empty, "empty_key"), (self.deleted, "deleted_key")):
            if reserved in found:
                raise invalid(f"Using the {what} as a table key is not allowed")
        return found

    def _before_insert(self, pairs: list[tuple[Any, Any]]) -> None:
        pending = len(self.entries) + len(pairs)
        while pending > self.buckets * self.load:
            self.buckets *= 2
            self.graves = []

    def remove(self, keys: Any) -> None:
        found = self._keys(keys)
        with self.lock:
            self.graves += [self.entries.pop(key) for key in found if key in self.entries]

    def export(self) -> list[Any]:
        with self.lock:
            graves = self.graves[: self.buckets - len(self.entries)]
            unused = self.buckets - len(self.entries) - len(graves)
            keys = [*self.entries, *([self.deleted] * len(graves)), *([self.empty] * unused)]
            blank = np.zeros(self.value_shape, self.value_dtype.np_storage)
            filler = b"" if self.value_dtype in (dtypes.string, dtypes.variant) else blank
            values = [*self.entries.values(), *graves, *([filler] * unused)]
        # Both are matrices, even where a key or a value is a scalar.
        arrays = self._array(keys, (len(keys),), True), self._array(values, (len(keys),))
        return [array.reshape((len(keys), -1)) for array in arrays]

    def replace(self, keys: Any, values: Any) -> None:
        count = len(as_array(keys))
        keys = as_array(keys).reshape((count, *self.key_shape))
        values = as_array(values).reshape((count, *self.value_shape))
        pairs = zip(super()._keys(keys), self._values(values), strict=True)
        kept = {key: value for key, value in pairs if key not in (self.empty, self.deleted)}
        with self.lock:
            self._set_buckets(len(as_array(keys)))
            self.entries, self.graves = kept, []


# ---- tables from text files ----------------------------------------------------------------------


def _column(index: int, line: bytes, parts: list[bytes], at: int, dtype: DType) -> Any:
    if index == LINE_NUMBER:
        return at
    text = line if index == WHOLE_LINE else parts[index]
    if dtype == dtypes.string:
        return text
    value = number(text, dtype)
    if value is None:
        shown = text.decode(errors="replace")
        raise invalid(f"Field {shown} in line {at} is not a valid {show_types([dtype])}.")
    return value


def text_pairs(
    table: Table, filename: str, key_index: int, value_index: int, vocab_size: int, delimiter: str
) -> Iterator[tuple[Any, Any]]:
    """Keys and values from the lines of a file."""
    _check_columns(table, key_index, value_index)
    with file_io.open_binary(filename) as file:
        lines = file.read().split(b"\n")
    if lines and not lines[-1]:
        lines.pop()
    if vocab_size > len(lines):
        raise invalid(
            f"Invalid vocab_size in {filename}: expected {vocab_size} but got {len(lines)}"
        )
    for at, line in enumerate(lines if vocab_size < 0 else lines[:vocab_size]):
        line = line.rstrip(b"\r")
        if not line:
            raise invalid(f"Invalid content in {filename}: empty line found at position {at}.")
        parts = line.split(delimiter.encode())
        if max(key_index, value_index) >= len(parts):
            raise invalid(
                f"Invalid number of columns in {filename} line {at} ({_shown(line)}) : expected"
                f" {max(key_index, value_index)} got {len(parts)}"
            )
        yield (
            _column(key_index, line, parts, at, table.key_dtype),
            _column(value_index, line, parts, at, table.value_dtype),
        )


def _check_columns(table: Table, key_index: int, value_index: int) -> None:
    for what, index, dtype in (
        ("Key", key_index, table.key_dtype),
        ("Value", value_index, table.value_dtype),
    ):
        if index == LINE_NUMBER and dtype != dtypes.int64:
            raise invalid(
                f"{what} index for line number requires table {what.lower()} dtype of int64, got"
                f" {show_types([dtype])}"
            )
    if value_index == WHOLE_LINE and table.value_dtype != dtypes.string:
        raise invalid(
            "Value index for whole line requires table value dtype of string, got"
            f" {show_types([table.value_dtype])}"
        )
