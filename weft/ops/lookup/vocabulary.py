"""Lookup tables from vocabularies: a file or a tensor of words."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.graph.constant_value import constant_value
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import init_scope, name_scope
from weft.graph.tensor import Tensor
from weft.ops.array import array
from weft.ops.lookup.initializers import (
    KeyValueTensorInitializer,
    TextFileIdTableInitializer,
    TextFileIndex,
    TextFileStringTableInitializer,
)
from weft.ops.lookup.tables import FastHashSpec, IdTableWithHashBuckets, StaticHashTable
from weft.ops.math import casts, math


def _check_vocabulary(vocabulary_file: Any, vocab_size: int | None, shown: bool) -> None:
    if isinstance(vocabulary_file, str | None) and not vocabulary_file:
        raise ValueError("vocabulary_file must be specified and must not be empty.")
    if vocab_size is not None and vocab_size < 1:
        value = vocabulary_file
        if isinstance(vocabulary_file, Tensor):
            value = constant_value(vocabulary_file) or "?"
        where = f" vocabulary_file: {value}" if shown else ""
        raise ValueError(f"vocab_size must be greater than 0, got {vocab_size}.{where}")


def _check_list(vocabulary_list: Any) -> None:
    if vocabulary_list is None:
        raise ValueError("vocabulary_list must be specified.")


def _check_keys(num_oov_buckets: int, dtype: DType) -> None:
    if num_oov_buckets < 0:
        raise ValueError(f"num_oov_buckets must be greater or equal than 0, got {num_oov_buckets}.")
    if not dtype.is_integer and dtype.base_dtype != dtypes.string:
        raise TypeError("Only integer and string keys are supported.")


def index_table_from_file(
    vocabulary_file: Any = None,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: Any = -1,
    hasher_spec: Any = FastHashSpec,
    key_dtype: Any = dtypes.string,
    name: str | None = None,
    key_column_index: int = TextFileIndex.WHOLE_LINE,
    value_column_index: int = TextFileIndex.LINE_NUMBER,
    delimiter: str = "\t",
) -> Any:
    """The table from the lines of a file to their numbers."""
    key_dtype = dtypes.as_dtype(key_dtype)
    _check_vocabulary(vocabulary_file, None, True)
    _check_keys(num_oov_buckets, dtypes.string)
    _check_vocabulary(vocabulary_file, vocab_size, True)
    _check_keys(num_oov_buckets, key_dtype)
    with name_scope(name, "string_to_index"):
        with name_scope(None, "hash_table"):
            initializer = TextFileIdTableInitializer(
                vocabulary_file, key_column_index, value_column_index, vocab_size, delimiter,
                "table_init", dtypes.int64 if key_dtype.is_integer else key_dtype,
            )  # fmt: skip
            table = StaticHashTable(initializer, default_value)
        return _with_buckets(table, num_oov_buckets, hasher_spec, key_dtype)


def _with_buckets(table: Any, num_oov_buckets: int, hasher_spec: Any, dtype: Any) -> Any:
    """`table`, with so many buckets for keys that it does not know."""
    if not num_oov_buckets:
        return table
    return IdTableWithHashBuckets(table, num_oov_buckets, hasher_spec=hasher_spec, key_dtype=dtype)


def index_table_from_tensor(
    vocabulary_list: Any,
    num_oov_buckets: int = 0,
    default_value: Any = -1,
    hasher_spec: Any = FastHashSpec,
    dtype: Any = dtypes.string,
    name: str | None = None,
) -> Any:
    """The table from the elements of a vector to their positions."""
    _check_list(vocabulary_list)
    dtype = dtypes.as_dtype(dtype)
    _check_keys(num_oov_buckets, dtype)
    # The table lies outside of functions, and so does all that fills it.
    with name_scope(name, "string_to_index"), init_scope():
        keys = convert_to_tensor(vocabulary_list)
        if keys.dtype.is_integer != dtype.is_integer:
            kind = "integer" if dtype.is_integer else "non-integer"
            raise ValueError(f"Expected {kind}, got {keys.dtype}.")
        if not dtype.is_integer and keys.dtype.base_dtype != dtype:
            raise ValueError(f"Expected <dtype: {dtype.name!r}>, got <dtype: {keys.dtype.name!r}>.")
        values = _positions(keys)
        with name_scope(None, "hash_table"):
            if keys.dtype.is_integer:
                keys = casts.cast(keys, dtypes.int64)
            initializer = KeyValueTensorInitializer(
                keys, values, keys.dtype.base_dtype, dtypes.int64, name="table_init"
            )
            table = StaticHashTable(initializer, default_value)
        return _with_buckets(table, num_oov_buckets, hasher_spec, dtype)


def _positions(vector: Tensor) -> Tensor:
    numbers: Tensor = casts.cast(math.range(array.size(vector)), dtypes.int64)
    return numbers


def index_to_string_table_from_file(
    vocabulary_file: Any,
    vocab_size: int | None = None,
    default_value: Any = "UNK",
    name: str | None = None,
    key_column_index: int = TextFileIndex.LINE_NUMBER,
    value_column_index: int = TextFileIndex.WHOLE_LINE,
    delimiter: str = "\t",
) -> StaticHashTable:
    """The table from line numbers to the lines of a file."""
    _check_vocabulary(vocabulary_file, vocab_size, False)
    with name_scope(name, "index_to_string"):
        initializer = TextFileStringTableInitializer(
            vocabulary_file, key_column_index, value_column_index, vocab_size, delimiter,
            "table_init",
        )  # fmt: skip
        return StaticHashTable(initializer, default_value)


def index_to_string_table_from_tensor(
    vocabulary_list: Any, default_value: Any = "UNK", name: str | None = None
) -> StaticHashTable:
    """The table from positions to the elements of a vector."""
    _check_list(vocabulary_list)
    with name_scope(name, "index_to_string"):
        words = convert_to_tensor(vocabulary_list, dtypes.string)
        content = KeyValueTensorInitializer(_positions(words), words, name="table_init")
        return StaticHashTable(content, default_value)
