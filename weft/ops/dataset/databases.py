"""Rows of databases: SQLite queries, LMDB files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.core.errors import UnknownError
from weft.ops.dataset.declare import dataset_op
from weft.ops.dataset.files import Files, strings
from weft.ops.dataset.objects import Dataset, Iterator
from weft.ops.dataset.scope import Scope
from weft.ops.kit.shared import invalid
from weft.storage import lmdb
from weft.storage.confinement import is_confined, permitted


def _text(value: Any, name: str) -> str:
    if np.ndim(value):
        raise invalid(f"`{name}` must be a scalar")
    found: str = np.asarray(value).item().decode()
    return found


class Query(Dataset):
    """The rows that a query finds."""

    def __init__(self, path: str, query: str, types: Sequence[DType]) -> None:
        self.path, self.query, self.row_types = path, query, types

    def open(self, scope: Scope, raw: bool = False) -> Iterator:
        return Found(self)


class Found(Iterator):
    state = ("taken",)

    def __init__(self, dataset: Query) -> None:
        self.dataset, self.taken = dataset, 0
        self.connection: Any = None
        self.cursor: Any = None

    def next(self) -> Any:
        if self.cursor is None:
            self._start()
        row = self.cursor.fetchone()
        if row is None:
            return None
        self.taken += 1
        types = self.dataset.row_types
        if len(row) != len(types):
            raise invalid(
                f"The number of columns in query ({len(row)}) must match the number of elements in"
                f" output_types ({len(types)})."
            )
        return tuple([_value(each, dtype) for each, dtype in zip(row, types, strict=True)])

    def _start(self) -> None:
        import sqlite3

        try:
            path = permitted(self.dataset.path)
            self.connection = sqlite3.connect(path, check_same_thread=False)
            if is_confined():  # a query can open other files, and make them
                self.connection.set_authorizer(_without_attachments)
            self.connection.text_factory = bytes
            self.cursor = self.connection.execute(self.dataset.query)
        except sqlite3.Error as error:
            code, query = error.sqlite_errorcode & 0xFF, self.dataset.query
            raise UnknownError(None, None, f"Prepare() failed: [{code}] {error}: {query}") from None

    def restore(self, saved: Any) -> None:
        self.close()
        super().restore(saved)
        self._start()
        for _ in range(self.taken):
            self.cursor.fetchone()

    def close(self) -> None:
        if self.connection is not None:
            self.connection.close()
        self.connection = self.cursor = None


def _value(value: Any, dtype: DType) -> Any:
    """A value as SQLite would convert it: of text, the number that it begins with."""
    if dtype == dtypes.string:
        return value if isinstance(value, bytes) else str(value or "").encode()
    if isinstance(value, bytes):
        number = re.match(rb"\s*[-+]?\d+(\.\d+)?", value)
        value = float(number[0]) if number else 0
    return np.array(value or 0).astype(dtype.np_storage)[()]


def _sql_op(name: str) -> None:
    @dataset_op(name, "driver_name: string, data_source_name: string, query: string", stateful=True)
    def sql_dataset(
        xp: Any, driver_name: Any, data_source_name: Any, query: Any, *, output_types: Any
    ) -> Dataset:
        driver = _text(driver_name, "driver_name")
        if driver != "sqlite":
            raise invalid(
                f"The database type, {driver}, is not supported by SqlDataset. The set of supported"
                " databases is: {'sqlite'}."
            )
        path, text = _text(data_source_name, "data_source_name"), _text(query, "query")
        return Query(path, text, output_types)


_sql_op("SqlDataset")
_sql_op("ExperimentalSqlDataset")


class Pairs:
    """Keys and values of an LMDB file."""

    def __init__(self, path: str) -> None:
        self._records = lmdb.records(path)

    def read(self) -> Any:
        return next(self._records, None)

    def close(self) -> None:
        self._records.close()  # type: ignore[attr-defined]


@dataset_op("LMDBDataset", "filenames: string", stateful=True, experimental=True)
def lmdb_dataset(xp: Any, filenames: Any) -> Dataset:
    return Files(strings(filenames), Pairs)


def _without_attachments(action: int, *names: object) -> int:
    """SQLite's callback about each action of a query: denies to attach databases."""
    import sqlite3

    return sqlite3.SQLITE_DENY if action == sqlite3.SQLITE_ATTACH else sqlite3.SQLITE_OK
