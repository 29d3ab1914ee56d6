"""Categorical columns whose ids are places in a vocabulary."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.graph.slices import SparseTensor
from weft.lib.feature_column import checks
from weft.lib.feature_column.categorical import KeyedColumn
from weft.lib.platform import tf_logging as logging
from weft.ops.lookup import vocabulary as lookup_vocabulary
from weft.ops.math import casts
from weft.storage import file_io


class LookupColumn(KeyedColumn):
    """A column that finds its values in a table."""

    num_oov_buckets: int
    default_value: int

    @property
    def no_negatives(self) -> bool:  # type: ignore[override]
        return self.num_oov_buckets > 0 or self.default_value >= 0

    def _table(self, key_dtype: Any, name: str) -> Any:
        raise NotImplementedError

    def _ids(self, feature: SparseTensor, state_manager: Any) -> SparseTensor:
        for check in (checks.check_input_kind, checks.check_input_dtype):
            check(self, feature.dtype)
        kind = dtypes.int64 if feature.dtype.is_integer else self.dtype
        keys = casts.cast(feature, kind) if feature.dtype.is_integer else feature
        name = f"{self.key}_lookup"
        table = self._table(kind, name)
        if state_manager is not None:
            state_manager.add_resource(self, name, table)
        return table.lookup(keys)


class VocabularyFileCategoricalColumn(
    LookupColumn,
    namedtuple(
        "VocabularyFileCategoricalColumn",
        ["key", "vocabulary_file", "vocabulary_size", "num_oov_buckets", "dtype", "default_value"],
    ),
):
    """See `categorical_column_with_vocabulary_file`."""

    @property
    def num_buckets(self) -> int:
        return self.vocabulary_size + self.num_oov_buckets

    def _table(self, key_dtype: Any, name: str) -> Any:
        return lookup_vocabulary.index_table_from_file(
            vocabulary_file=self.vocabulary_file,
            num_oov_buckets=self.num_oov_buckets,
            vocab_size=self.vocabulary_size,
            default_value=self.default_value,
            key_dtype=key_dtype,
            name=name,
        )


def categorical_column_with_vocabulary_file(
    key: Any,
    vocabulary_file: Any,
    vocabulary_size: int | None = None,
    num_oov_buckets: int = 0,
    default_value: int | None = None,
    dtype: Any = dtypes.string,
) -> VocabularyFileCategoricalColumn:
    """Values that are lines of a file, whose ids are the numbers of the lines.

    Values not in the file are dropped, become `default_value`, or are hashed into
    `num_oov_buckets` ids after those of the file.
    """
    checks.refuse((not vocabulary_file, f"Missing vocabulary_file in {key}."))
    size = _line_count(key, vocabulary_file) if vocabulary_size is None else vocabulary_size
    checks.refuse((size < 1, f"Invalid vocabulary_size in {key}."))
    _check_buckets(key, num_oov_buckets, default_value is not None)
    checks.assert_string_or_int(dtype, prefix=f"column_name: {key}")
    checks.assert_key_is_string(key)
    buckets = 0 if num_oov_buckets is None else num_oov_buckets
    default = -1 if default_value is None else default_value
    return VocabularyFileCategoricalColumn(key, vocabulary_file, size, buckets, dtype, default)


def _line_count(key: Any, path: str) -> int:
    checks.refuse((not file_io.Exists(path), f"vocabulary_file in {key} does not exist."))
    with file_io.GFile(path) as file:
        count = len([*file])
    told = "vocabulary_size = %d in %s is inferred from the number of elements in the"
    logging.info(f"{told} vocabulary_file %s.", count, key, path)
    return count


def _check_buckets(key: Any, num_oov_buckets: int, has_default: bool) -> None:
    if not num_oov_buckets:
        return
    if has_default:
        raise ValueError(f"Can't specify both num_oov_buckets and default_value in {key}.")
    if num_oov_buckets < 0:
        raise ValueError(f"Invalid num_oov_buckets {num_oov_buckets} in {key}.")


class VocabularyListCategoricalColumn(
    LookupColumn,
    namedtuple(
        "VocabularyListCategoricalColumn",
        ["key", "vocabulary_list", "dtype", "default_value", "num_oov_buckets"],
    ),
):
    """See `categorical_column_with_vocabulary_list`."""

    @property
    def num_buckets(self) -> int:
        return len(self.vocabulary_list) + self.num_oov_buckets

    def _table(self, key_dtype: Any, name: str) -> Any:
        return lookup_vocabulary.index_table_from_tensor(
            vocabulary_list=tuple(self.vocabulary_list),
            num_oov_buckets=self.num_oov_buckets,
            default_value=self.default_value,
            dtype=key_dtype,
            name=name,
        )


def categorical_column_with_vocabulary_list(
    key: Any,
    vocabulary_list: Any,
    dtype: Any = None,
    default_value: int = -1,
    num_oov_buckets: int = 0,
) -> VocabularyListCategoricalColumn:
    """Values of a list, whose ids are their places in it; see the vocabulary file for others."""
    words = () if vocabulary_list is None else tuple(vocabulary_list)
    column = f"column_name: {key}"
    checks.refuse(
        (not words, f"vocabulary_list {vocabulary_list} must be non-empty, {column}"),
        (
            len(set(words)) != len(words),
            f"Duplicate keys in vocabulary_list {vocabulary_list}, {column}",
        ),
    )
    listed = dtypes.as_dtype(np.array(vocabulary_list).dtype)
    _check_buckets(key, num_oov_buckets, default_value != -1)
    checks.assert_string_or_int(listed, prefix=f"{column} vocabulary")
    dtype = listed if dtype is None else dtype
    message = f"dtype {dtype} and vocabulary dtype {listed} do not match, {column}"
    checks.refuse((dtype.is_integer != listed.is_integer, message))
    checks.assert_string_or_int(dtype, prefix=column)
    checks.assert_key_is_string(key)
    return VocabularyListCategoricalColumn(key, words, dtype, default_value, num_oov_buckets)
