"""Columns of ids: as they are, hashed, of a vocabulary, with weights."""

from __future__ import annotations

from collections import namedtuple
from typing import Any, NamedTuple

from weft.core import dtypes
from weft.graph.slices import SparseTensor
from weft.lib.contrib import lookup
from weft.lib.contrib.layers.column_base import (
    Column,
    WideArguments,
    feature_config,
    is_string_or_integer,
    refuse,
    with_rank,
    with_values,
    zero_weights,
)
from weft.lib.feature_column.base import CategoricalColumn
from weft.lib.feature_column.transformation import to_sparse_input
from weft.lib.platform import tf_logging as logging
from weft.ops.math import casts, math
from weft.ops.parsing.features import VarLenFeature
from weft.ops.sparse import select as sparse_select
from weft.ops.strings import hash as string_hash
from weft.ops.strings import numbers as string_numbers


class _SparseIdLookupConfig(NamedTuple):
    """The vocabulary of a column."""

    vocabulary_file: str | None = None
    keys: tuple[Any, ...] | None = None
    num_oov_buckets: int = 0
    vocab_size: int | None = None
    default_value: int = -1


class IdColumn(Column, CategoricalColumn):
    """A column of ids, which a linear model takes and a network does not."""

    no_negatives = False
    combiner: str

    @property
    def length(self) -> int:
        raise NotImplementedError

    @property
    def num_buckets(self) -> int:
        return self.length

    def id_tensor(self, input_tensor: Any) -> SparseTensor:
        return input_tensor

    def weight_tensor(self, input_tensor: Any) -> Any:
        return None

    def get_sparse_tensors(self, transformation_cache: Any, state_manager: Any) -> Any:
        tensor = transformation_cache.get(self, state_manager)
        return self.IdWeightPair(self.id_tensor(tensor), self.weight_tensor(tensor))

    def _wide_embedding_lookup_arguments(self, input_tensor: Any) -> WideArguments:
        ids, weights = self.id_tensor(input_tensor), self.weight_tensor(input_tensor)
        return zero_weights(ids, weights, self.length, self.combiner)


class _SparseColumn(
    IdColumn,
    namedtuple(
        "_SparseColumn",
        ["column_name", "is_integerized", "bucket_size", "lookup_config", "combiner", "dtype"],
    ),
):
    """Ids made of one feature."""

    def __new__(
        cls,
        column_name: str,
        is_integerized: bool = False,
        bucket_size: int | None = None,
        lookup_config: Any = None,
        combiner: str = "sum",
        dtype: Any = dtypes.string,
    ) -> Any:
        _check_sparse(column_name, is_integerized, bucket_size, lookup_config, dtype)
        return super().__new__(
            cls, column_name, is_integerized, bucket_size, lookup_config, combiner, dtype
        )

    @property
    def name(self) -> str:
        return self.column_name

    @property
    def length(self) -> int:
        if self.bucket_size is not None:
            return self.bucket_size
        return self.lookup_config.vocab_size + self.lookup_config.num_oov_buckets

    @property
    def config(self) -> dict[str, Any]:
        return {self.column_name: VarLenFeature(self.dtype)}

    def _to_dnn_input_layer(self, *_: Any, **__: Any) -> Any:
        raise ValueError(
            "SparseColumn is not supported in DNN. "
            f"Please use embedding_column or one_hot_column. column: {self}"
        )

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        feature = transformation_cache.get(self.name, state_manager)
        if not isinstance(feature, SparseTensor):
            feature = to_sparse_input(with_rank(feature, 2, self.name))
        return self._do_transform(feature)

    def _do_transform(self, input_tensor: SparseTensor) -> SparseTensor:
        raise NotImplementedError

    def is_compatible(self, other_column: Any) -> bool:
        """Whether the ids of both may mean the same."""
        if self.lookup_config and other_column.lookup_config:
            return self.lookup_config == other_column.lookup_config
        mine, other = self.dtype, other_column.dtype
        alike = mine == other or (mine.is_integer and other.is_integer)
        if alike and self.length == other_column.length:
            logging.warn(
                f"Column {self.name} and {other_column.name} may not have the same vocabulary."
            )
            return True
        return False


def _check_sparse(
    column_name: str, is_integerized: bool, bucket_size: Any, lookup_config: Any, dtype: Any
) -> None:
    whose, kind = f"column_name: {column_name}", f"dtype: {dtype}"
    hashed, config = bucket_size is not None, lookup_config
    is_config = isinstance(config, _SparseIdLookupConfig)
    of_file = is_config and bool(config.vocabulary_file)
    rules = (
        (is_integerized and not hashed, "bucket_size must be set if is_integerized is True.", ""),
        (is_integerized and not dtype.is_integer,
         "dtype must be an integer if is_integerized is True.", f"{kind}, {whose}."),
        (not is_string_or_integer(dtype), "dtype must be string or integer.", f"{kind}, {whose}"),
        (not hashed and config is None, "one of bucket_size or lookup_config must be set.", ""),
        (hashed and config, "one and only one of bucket_size or lookup_config must be set.", ""),
        (hashed and bucket_size < 1, "bucket_size must be at least 1.",
         f"bucket_size: {bucket_size}, {whose}"),
        (of_file and config.vocab_size is None, "vocab_size must be defined.", ""),
    )  # fmt: skip
    refuse(*((wrong, ValueError, f"{rule} {found or whose}") for wrong, rule, found in rules))
    if config and not is_config:
        raise TypeError(
            "lookup_config must be an instance of _SparseIdLookupConfig. "
            f"Given one is in type {type(config)} for column_name {column_name}"
        )


class _SparseColumnIntegerized(_SparseColumn):
    """See `sparse_column_with_integerized_feature`."""

    def _do_transform(self, input_tensor: SparseTensor) -> SparseTensor:
        ids = math.mod(input_tensor.values, self.bucket_size, name="mod")
        return with_values(input_tensor, ids)


def sparse_column_with_integerized_feature(
    column_name: str, bucket_size: int, combiner: str = "sum", dtype: Any = dtypes.int64
) -> _SparseColumnIntegerized:
    """Integers that are ids, modulo `bucket_size`."""
    return _SparseColumnIntegerized(column_name, True, bucket_size, combiner=combiner, dtype=dtype)


class _SparseColumnHashed(_SparseColumn):
    """See `sparse_column_with_hash_bucket`."""

    hash_keys: Any = None

    def __new__(cls, *args: Any, hash_keys: Any = None, **kwargs: Any) -> Any:
        _check_hash_keys(hash_keys)
        made = super().__new__(cls, *args, **kwargs)
        made.hash_keys = hash_keys
        return made

    def _do_transform(self, input_tensor: SparseTensor) -> SparseTensor:
        values, size = input_tensor.values, self.bucket_size
        if self.dtype.is_integer:
            values = string_numbers.as_string(values)
        if not self.hash_keys:
            ids = string_hash.string_to_hash_bucket_fast(values, size, name="lookup")
            return with_values(input_tensor, ids)
        strong = string_hash.string_to_hash_bucket_strong
        hashed = [with_values(input_tensor, strong(values, size, key)) for key in self.hash_keys]
        return sparse_select.sparse_concat(axis=1, sp_inputs=hashed, name="lookup")


def _check_hash_keys(hash_keys: Any) -> None:
    if hash_keys is None:
        return
    if not hash_keys or not isinstance(hash_keys, list):
        raise ValueError("hash_keys must be a non-empty list.")
    for pair in hash_keys:
        whole = isinstance(pair, list) and len(pair) == 2
        if not whole or not all(isinstance(key, int) for key in pair):
            raise ValueError("Each element of hash_keys must be a pair of integers.")


def sparse_column_with_hash_bucket(
    column_name: str,
    hash_bucket_size: int,
    combiner: str = "sum",
    dtype: Any = dtypes.string,
    hash_keys: Any = None,
) -> _SparseColumnHashed:
    """Strings or integers by their hash; by several of them, if `hash_keys` are given."""
    return _SparseColumnHashed(
        column_name,
        bucket_size=hash_bucket_size,
        combiner=combiner,
        dtype=dtype,
        hash_keys=hash_keys,
    )


class _SparseColumnKeys(_SparseColumn):
    """See `sparse_column_with_keys`."""

    def _do_transform(self, input_tensor: SparseTensor) -> SparseTensor:
        config = self.lookup_config
        known = tuple(config.keys), 0, config.default_value
        table = lookup.index_table_from_tensor(*known, dtype=self.dtype, name="lookup")
        return table.lookup(input_tensor)


def sparse_column_with_keys(
    column_name: str,
    keys: Any,
    default_value: int = -1,
    combiner: str = "sum",
    dtype: Any = dtypes.string,
) -> _SparseColumnKeys:
    """Values of a list, by their place in it."""
    keys = tuple(keys)
    config = _SparseIdLookupConfig(keys=keys, vocab_size=len(keys), default_value=default_value)
    return _SparseColumnKeys(column_name, lookup_config=config, combiner=combiner, dtype=dtype)


class _SparseColumnVocabulary(_SparseColumn):
    """See `sparse_column_with_vocabulary_file`."""

    def _do_transform(self, input_tensor: SparseTensor) -> SparseTensor:
        if self.dtype.is_integer:
            input_tensor = with_values(input_tensor, string_numbers.as_string(input_tensor.values))
        file, _, oov, size, default = self.lookup_config
        name = f"{self.name}_lookup"
        table = lookup.index_table_from_file(file, oov, size, default, name=name)
        return table.lookup(input_tensor)


def sparse_column_with_vocabulary_file(
    column_name: str,
    vocabulary_file: str,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: int = -1,
    combiner: str = "sum",
    dtype: Any = dtypes.string,
) -> _SparseColumnVocabulary:
    """Lines of a file, by their number."""
    if vocab_size is None:
        raise ValueError(f"vocab_size should be defined. column_name: {column_name}")
    config = _SparseIdLookupConfig(
        vocabulary_file, None, num_oov_buckets, vocab_size, default_value
    )
    return _SparseColumnVocabulary(
        column_name, lookup_config=config, combiner=combiner, dtype=dtype
    )


class _WeightedSparseColumn(
    IdColumn,
    namedtuple("_WeightedSparseColumn", ["sparse_id_column", "weight_column_name", "dtype"]),
):
    """See `weighted_sparse_column`."""

    @property
    def name(self) -> str:
        return f"{self.sparse_id_column.name}_weighted_by_{self.weight_column_name}"

    @property
    def length(self) -> int:
        return self.sparse_id_column.length

    @property
    def combiner(self) -> str:  # type: ignore[override]
        return self.sparse_id_column.combiner

    @property
    def lookup_config(self) -> Any:
        return self.sparse_id_column.lookup_config

    @property
    def config(self) -> dict[str, Any]:
        weights = {self.weight_column_name: VarLenFeature(self.dtype)}
        return feature_config(self.sparse_id_column) | weights

    def id_tensor(self, input_tensor: Any) -> SparseTensor:
        return input_tensor[0]

    def weight_tensor(self, input_tensor: Any) -> Any:
        return input_tensor[1]

    def _to_dnn_input_layer(self, *_: Any, **__: Any) -> Any:
        raise ValueError(
            "WeightedSparseColumn is not supported in DNN. "
            f"Please use embedding_column or one_hot_column. column: {self}"
        )

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        ids = transformation_cache.get(self.sparse_id_column, state_manager)
        weights = transformation_cache.get(self.weight_column_name, state_manager)
        if not isinstance(weights, SparseTensor):
            weights = to_sparse_input(weights, 0)
        if not self.dtype.is_floating:
            weights = casts.cast(weights, dtypes.float32)
        return ids, weights

    def is_compatible(self, other_column: Any) -> bool:
        if isinstance(other_column, _WeightedSparseColumn):
            other_column = other_column.sparse_id_column
        return self.sparse_id_column.is_compatible(other_column)


def weighted_sparse_column(
    sparse_id_column: Any, weight_column_name: str, dtype: Any = dtypes.float32
) -> _WeightedSparseColumn:
    """`sparse_id_column` with the weight of each id in the feature `weight_column_name`."""
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype is not convertible to float. Given {dtype}")
    return _WeightedSparseColumn(sparse_id_column, weight_column_name, dtype)
