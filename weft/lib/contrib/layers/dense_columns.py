"""Columns of numbers, and their buckets."""

from __future__ import annotations

import itertools
from collections import namedtuple
from typing import Any

from weft.core import dtypes
from weft.core.shapes import TensorShape
from weft.graph.graph import Tensor
from weft.graph.slices import SparseTensor
from weft.lib.contrib.layers.column_base import (
    Column,
    WideArguments,
    refuse,
    with_rank,
    with_values,
    zero_weights,
)
from weft.lib.feature_column.base import CategoricalColumn, DenseColumn
from weft.lib.feature_column.numeric import bucket_ids
from weft.ops.array import array
from weft.ops.array import one_hot_search as select
from weft.ops.math import casts
from weft.ops.math import histogram as bins
from weft.ops.parsing.features import FixedLenFeature, FixedLenSequenceFeature, VarLenFeature

_CONVERTIBLE = "dtype must be convertible to float. "


def _is_number(dtype: Any) -> bool:
    return dtype.is_integer or dtype.is_floating


class RealColumn(Column):
    """A column of numbers."""

    column_name: str
    normalizer: Any

    @property
    def name(self) -> str:
        return self.column_name

    @property
    def key(self) -> str:
        return self._key_without_properties(["normalizer"])

    @property
    def normalizer_fn(self) -> Any:
        return self.normalizer

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        feature = transformation_cache.get(self.name, state_manager)
        return casts.cast(self._normalized_input_tensor(feature), dtypes.float32)

    def _normalized_input_tensor(self, input_tensor: Any) -> Any:
        return input_tensor if self.normalizer is None else self.normalizer(input_tensor)

    def _to_dnn_input_layer(
        self,
        input_tensor: Any,
        weight_collections: Any = None,
        trainable: bool = True,
        output_rank: int = 2,
    ) -> Tensor:
        dense = casts.cast(self._to_dense_tensor(input_tensor), dtypes.float32)
        return with_rank(dense, output_rank, self.name)

    def _to_dense_tensor(self, input_tensor: Any) -> Tensor:
        return input_tensor


class _RealValuedColumn(
    RealColumn,
    DenseColumn,
    namedtuple(
        "_RealValuedColumn", ["column_name", "dimension", "default_value", "dtype", "normalizer"]
    ),
):
    """See `real_valued_column`."""

    def __new__(
        cls, column_name: str, dimension: int, default_value: Any, dtype: Any, normalizer: Any
    ) -> Any:
        if default_value is not None:
            default_value = tuple(default_value)
        return super().__new__(cls, column_name, dimension, default_value, dtype, normalizer)

    @property
    def config(self) -> dict[str, Any]:
        default = None if self.default_value is None else list(self.default_value)
        return {self.column_name: FixedLenFeature([self.dimension], self.dtype, default)}

    @property
    def variable_shape(self) -> TensorShape:
        return TensorShape([self.dimension])

    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        return transformation_cache.get(self, state_manager)


def real_valued_column(
    column_name: str,
    dimension: int = 1,
    default_value: Any = None,
    dtype: Any = dtypes.float32,
    normalizer: Any = None,
) -> _RealValuedColumn:
    """`dimension` numbers per example."""
    whose = f"column_name: {column_name}"
    given = f"dimension: {dimension}, {whose}"
    known = isinstance(dimension, int)
    instead = "Use the _real_valued_var_len_column for variable length features."
    refuse(
        (dimension is None, TypeError, f"dimension must be an integer. {instead}{given}"),
        (not known, TypeError, f"dimension must be an integer. {given}"),
        (known and dimension < 1, ValueError, f"dimension must be greater than 0. {given}"),
        (not _is_number(dtype), ValueError, f"{_CONVERTIBLE}dtype: {dtype}, {whose}"),
    )
    default = _default_values(default_value, dimension, dtype, whose)
    return _RealValuedColumn(column_name, dimension, default, dtype, normalizer)


def _default_values(given: Any, dimension: int, dtype: Any, whose: str) -> list[Any] | None:
    if given is None:
        return None
    values = [given] * dimension if isinstance(given, int | float) else given
    if isinstance(values, list):
        if len(values) != dimension:
            raise ValueError(
                "The length of default_value must be equal to dimension. "
                f"default_value: {given}, dimension: {dimension}, {whose}"
            )
        if dtype.is_floating and all(isinstance(value, int | float) for value in values):
            return [float(value) for value in values]
        if dtype.is_integer and all(isinstance(value, int) for value in values):
            return values
    raise TypeError(
        "default_value must be compatible with dtype. "
        f"default_value: {given}, dtype: {dtype}, {whose}"
    )


class _RealValuedVarLenColumn(
    RealColumn,
    namedtuple(
        "_RealValuedVarLenColumn",
        ["column_name", "default_value", "dtype", "normalizer", "is_sparse"],
    ),
):
    """See `_real_valued_var_len_column`."""

    @property
    def config(self) -> dict[str, Any]:
        padded = FixedLenSequenceFeature([], self.dtype, True, self.default_value)
        return {self.column_name: VarLenFeature(self.dtype) if self.is_sparse else padded}

    def _normalized_input_tensor(self, input_tensor: Any) -> Any:
        if not self.is_sparse or self.normalizer is None:
            return super()._normalized_input_tensor(input_tensor)
        return with_values(input_tensor, self.normalizer(input_tensor.values))

    def _to_dense_tensor(self, input_tensor: Any) -> Tensor:
        if not self.is_sparse:
            return input_tensor
        raise ValueError(
            f"Set is_sparse to False if you want a dense Tensor for column_name: {self.name}"
        )


def _real_valued_var_len_column(
    column_name: str,
    default_value: Any = None,
    dtype: Any = dtypes.float32,
    normalizer: Any = None,
    is_sparse: bool = False,
) -> _RealValuedVarLenColumn:
    """As many numbers as an example has."""
    whose = f"column_name: {column_name}"
    padded = "default_value must be provided when is_sparse=False to parse a padded Tensor."
    scalar = f"Only scalar default value. default_value: {default_value}, {whose}"
    refuse(
        (not _is_number(dtype), TypeError, f"{_CONVERTIBLE}dtype: {dtype}, {whose}"),
        (default_value is None and not is_sparse, ValueError, f"{padded} {whose}"),
        (isinstance(default_value, list), ValueError, scalar),
    )
    if default_value is not None:
        default_value = int(default_value) if dtype.is_integer else float(default_value)
    return _RealValuedVarLenColumn(column_name, default_value, dtype, normalizer, is_sparse)


class _BucketizedColumn(
    Column,
    CategoricalColumn,
    DenseColumn,
    namedtuple("_BucketizedColumn", ["source_column", "boundaries"]),
):
    """See `bucketized_column`."""

    no_gaps = True

    def __new__(cls, source_column: Any, boundaries: Any) -> Any:
        if not isinstance(source_column, _RealValuedColumn):
            raise TypeError(
                "source_column must be an instance of _RealValuedColumn. "
                f"source_column: {source_column}"
            )
        if not isinstance(boundaries, list | tuple) or not boundaries:
            raise ValueError(
                f"boundaries must be a non-empty list or tuple. boundaries: {boundaries}"
            )
        if any(a > b for a, b in itertools.pairwise(boundaries)):
            raise ValueError(f"boundaries must be a sorted list. boundaries: {boundaries}")
        return super().__new__(cls, source_column, tuple(dict.fromkeys(boundaries)))

    @property
    def name(self) -> str:
        return f"{self.source_column.name}_bucketized"

    @property
    def length(self) -> int:
        return len(self.boundaries) + 1

    @property
    def num_buckets(self) -> int:
        return self.length * self.source_column.dimension

    @property
    def config(self) -> dict[str, Any]:
        return self.source_column.config

    @property
    def variable_shape(self) -> TensorShape:
        return TensorShape([self.num_buckets])

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        source = transformation_cache.get(self.source_column, state_manager)
        return bins.bucketize(source, boundaries=list(self.boundaries), name="bucketize")

    def to_sparse_tensor(self, input_tensor: Any) -> SparseTensor:
        """An id for every bucket of every value of an example."""
        return bucket_ids(input_tensor, self.length, self.source_column.dimension)

    def get_sparse_tensors(self, transformation_cache: Any, state_manager: Any) -> Any:
        numbers = transformation_cache.get(self, state_manager)
        return self.IdWeightPair(self.to_sparse_tensor(numbers), None)

    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        return self._to_dnn_input_layer(transformation_cache.get(self, state_manager))

    def _to_dnn_input_layer(
        self,
        input_tensor: Any,
        weight_collections: Any = None,
        trainable: bool = True,
        output_rank: int = 2,
    ) -> Tensor:
        if output_rank != 2:
            raise ValueError("BucketizedColumn currently only supports output_rank=2")
        numbers = casts.cast(input_tensor, dtypes.int64)
        one_hot = select.one_hot(numbers, self.length, 1.0, 0.0, name="one_hot")
        return array.reshape(one_hot, [-1, self.num_buckets], name="reshape")

    def _wide_embedding_lookup_arguments(self, input_tensor: Any) -> WideArguments:
        ids = self.to_sparse_tensor(input_tensor)
        return zero_weights(ids, None, self.num_buckets, "sum")


def bucketized_column(source_column: Any, boundaries: Any) -> _BucketizedColumn:
    """A real valued column cut at `boundaries`."""
    return _BucketizedColumn(source_column, boundaries)
