"""Initializers of lookup tables: tensors of keys and values, and text files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.graph.constant_value import constant_value
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import GraphKeys, add_to_collection, device, init_scope, name_scope
from weft.graph.op_def import raw
from weft.graph.tensor import Tensor
from weft.ops.lookup.table_objects import LINE_NUMBER, WHOLE_LINE


class Typed:
    """From keys of one type to values of one type."""

    def __init__(self, key_dtype: Any, value_dtype: Any) -> None:
        self._key_dtype = dtypes.as_dtype(key_dtype)
        self._value_dtype = dtypes.as_dtype(value_dtype)

    @property
    def key_dtype(self) -> DType:
        return self._key_dtype

    @property
    def value_dtype(self) -> DType:
        return self._value_dtype


class TableInitializerBase(Typed):
    """Fills a table."""

    def initialize(self, table: Any) -> Any:
        """The operation that fills `table`."""
        raise NotImplementedError

    @property
    def _shared_name(self) -> str:
        """The name under which all tables with this content can be one."""
        return ""

    def _check_types(self, table: Any) -> None:
        for what, own, wanted in (
            ("key", self._key_dtype, table.key_dtype),
            ("value", self._value_dtype, table.value_dtype),
        ):
            if own.base_dtype != wanted:
                raise TypeError(f"Invalid {what} dtype, expected {wanted!r} but got {own!r}.")


class KeyValueTensorInitializer(TableInitializerBase):
    """Fills a table from a tensor of keys and one of values."""

    def __init__(
        self, keys: Any, values: Any, key_dtype: Any = None, value_dtype: Any = None,
        name: str | None = None,
    ) -> None:  # fmt: skip
        given = {"keys": (keys, key_dtype), "values": (values, value_dtype)}
        with init_scope():
            made = [convert_to_tensor(*each, part) for part, each in given.items()]
        self._keys, self._values = made
        self._name = "key_value_init" if name is None else name
        super().__init__(*(tensor.dtype for tensor in made))

    def initialize(self, table: Any) -> Any:
        self._check_types(table)
        given = (table.resource_handle, self._keys, self._values)
        with name_scope(self._name, values=given):
            made = raw.LookupTableImportV2(*given)
        add_to_collection(GraphKeys.TABLE_INITIALIZERS, made)
        return made


class TextFileIndex:
    """The choices for a column of a text file, besides a number."""

    WHOLE_LINE = WHOLE_LINE
    LINE_NUMBER = LINE_NUMBER


class TextFileInitializer(TableInitializerBase):
    """Fills a table from the lines of a file: keys and values are columns, lines or numbers."""

    def __init__(
        self,
        filename: Any,
        key_dtype: Any,
        key_index: int,
        value_dtype: Any,
        value_index: int,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str | None = None,
    ) -> None:
        if not isinstance(filename, Tensor) and not filename:
            raise ValueError(f"Filename required for {name}.")
        super().__init__(key_dtype, value_dtype)
        _check_index("key", "Keys", key_index, self._key_dtype)
        _check_index("value", "Values", value_index, self._value_dtype)
        if vocab_size is not None and vocab_size <= 0:
            raise ValueError(f"Invalid vocab_size {vocab_size}.")
        self._key_index, self._value_index = key_index, value_index
        self._vocab_size, self._delimiter, self._name = vocab_size, delimiter, name
        # Only what is made from a name: a tensor may belong to a function.
        with nullcontext() if isinstance(filename, Tensor) else _for_assets():
            self._source = convert_to_tensor(filename, dtypes.string, name="asset_path")
        self._filename = filename

    def initialize(self, table: Any) -> Any:
        self._check_types(table)
        filename = self._source
        with name_scope(self._name, "text_file_init", (table.resource_handle,)):
            made = raw.InitializeTableFromTextFileV2(
                table.resource_handle, filename, key_index=self._key_index,
                value_index=self._value_index, vocab_size=self._vocab_size or -1,
                delimiter=self._delimiter,
            )  # fmt: skip
        add_to_collection(GraphKeys.TABLE_INITIALIZERS, made)
        if constant_value(filename) is not None:
            add_to_collection(GraphKeys.ASSET_FILEPATHS, filename)
        return made

    @property
    def _shared_name(self) -> str:
        size = f"_{self._vocab_size}" if self._vocab_size else ""
        return f"hash_table_{self._filename}{size}_{self._key_index}_{self._value_index}"


@contextmanager
def _for_assets() -> Iterator[None]:
    with init_scope(), device("CPU"):
        yield


def _check_index(what: str, which: str, index: int, dtype: DType) -> None:
    if index < WHOLE_LINE:
        raise ValueError(f"Invalid {what} index {index}.")
    if index == LINE_NUMBER and dtype != dtypes.int64:
        raise ValueError(f"Signature mismatch. {which} must be dtype {dtypes.int64}, got {dtype}.")
    if index == WHOLE_LINE and dtype != dtypes.string:
        if what == "value":
            raise ValueError(
                f"Signature mismatch. Values must be dtype {dtypes.string}, got {dtype}."
            )
        if not dtype.is_integer:
            raise ValueError(f"Signature mismatch. Keys must be integer or string, got {dtype}.")


class TextFileStringTableInitializer(TextFileInitializer):
    """Line numbers to lines."""

    def __init__(
        self,
        filename: Any,
        key_column_index: int = TextFileIndex.LINE_NUMBER,
        value_column_index: int = TextFileIndex.WHOLE_LINE,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str | None = "text_file_string_table_init",
    ) -> None:
        super().__init__(
            filename, dtypes.int64, key_column_index, dtypes.string, value_column_index,
            vocab_size=vocab_size, delimiter=delimiter, name=name,
        )  # fmt: skip


class TextFileIdTableInitializer(TextFileInitializer):
    """Lines to line numbers."""

    def __init__(
        self,
        filename: Any,
        key_column_index: int = TextFileIndex.WHOLE_LINE,
        value_column_index: int = TextFileIndex.LINE_NUMBER,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str | None = "text_file_id_table_init",
        key_dtype: Any = dtypes.string,
    ) -> None:
        super().__init__(
            filename, key_dtype, key_column_index, dtypes.int64, value_column_index,
            vocab_size=vocab_size, delimiter=delimiter, name=name,
        )  # fmt: skip
