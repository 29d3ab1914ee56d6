"""Embeddings whose numbers lie at hashed places of one vector."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.core.shapes import dimension_value
from weft.graph.graph import Tensor, name_scope
from weft.graph.slices import SparseTensor
from weft.lib.platform import tf_logging as logging
from weft.ops.array import array
from weft.ops.math import casts, segment_sparse, sequence
from weft.ops.nn import embedding
from weft.ops.sparse import convert as sparse_convert
from weft.ops.sparse.feature_cross import sparse_feature_cross
from weft.ops.sparse.select import sparse_fill_empty_rows

_SUMS = {
    "sum": segment_sparse.sparse_segment_sum,
    "mean": segment_sparse.sparse_segment_mean,
    "sqrtn": segment_sparse.sparse_segment_sqrt_n,
}


def scattered_embedding_lookup(
    params: Any,
    values: Any,
    dimension: int | None,
    name: str | None = None,
    hash_key: int | None = None,
) -> Tensor:
    """For each value, `dimension` elements of the vector `params`, at places that its hash says."""
    if dimension is None:
        raise ValueError("You must specify dimension.")
    if dimension <= 0:
        raise ValueError(f"Dimension must be >0. Given is {dimension}")
    parts = embedding.table_parts(params)
    with name_scope(name, "scattered_embedding_lookup", [*parts, values]):
        shape = array.shape(values)
        values = array.reshape(values, [-1, 1])
        numbers = array.expand_dims(sequence.range(0, dimension), 0)
        numbers = array.tile(numbers, array.shape(values))
        buckets = sum(_checked_sizes(parts))
        crossed = sparse_feature_cross([numbers, values], True, buckets, hash_key=hash_key)
        ids = sparse_convert.sparse_tensor_to_dense(crossed)
        found = embedding.embedding_lookup(parts, ids, partition_strategy="div")
        return array.reshape(found, array.concat([shape, [dimension]], 0))


def _checked_sizes(parts: list[Any]) -> list[int]:
    """The sizes of the parts of a vector, which are as even as can be."""
    for part in parts:
        part.get_shape().assert_has_rank(1)
        part.get_shape().assert_is_fully_defined()
    sizes = [dimension_value(part.get_shape()[0]) for part in parts]
    for i, size in enumerate(sizes):
        expected = (sum(sizes) - i - 1) // len(parts) + 1
        if size != expected:
            raise ValueError(f"Tensor {i} in params has size {size}, expected {expected}.")
    return sizes


def scattered_embedding_lookup_sparse(
    params: Any,
    sparse_values: Any,
    dimension: int,
    combiner: str | None = None,
    default_value: Any = None,
    name: str | None = None,
    hash_key: int | None = None,
) -> Tensor:
    """`scattered_embedding_lookup` of the values of each row, combined."""
    if combiner is None:
        logging.warn(
            'The default value of combiner will change from "mean" to "sqrtn" after 2016/11/01.'
        )
        combiner = "mean"
    parts = embedding.table_parts(params)
    if not isinstance(sparse_values, SparseTensor):
        raise TypeError("sparse_values must be SparseTensor")
    if combiner not in _SUMS:
        raise ValueError("Combiner must be one of 'mean', 'sqrtn' or 'sum'.")
    with name_scope(name, "scattered_embedding_lookup_sparse", [*parts, sparse_values]) as scope:
        if default_value is None:
            # Values that no feature is likely to have, TensorFlow's.
            default_value = "6ZxWzWOHxZ" if sparse_values.dtype == dtypes.string else 1288896567
        sparse_values, _ = sparse_fill_empty_rows(sparse_values, default_value)
        segments = casts.cast(sparse_values.indices[:, 0], dtypes.int32)
        values, at = array.unique(sparse_values.values)
        rows = scattered_embedding_lookup(parts, values, dimension, hash_key=hash_key)
        return _SUMS[combiner](rows, at, segments, name=scope)
