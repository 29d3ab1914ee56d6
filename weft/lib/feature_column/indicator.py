"""The ids of an example as a vector with a number for every bucket."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

from weft.core.shapes import TensorShape
from weft.graph.slices import SparseTensor
from weft.lib.feature_column.base import Densified, SequenceDenseColumn
from weft.lib.feature_column.lengths import sequence_length_from_sparse_tensor
from weft.ops.array import one_hot_search as select
from weft.ops.math import indexing, reduce
from weft.ops.sparse import convert as sparse_convert
from weft.ops.sparse import select as sparse_select


def _weighted(merged: SparseTensor) -> Any:
    # Weights of negative ids, which are not in the vocabulary, fall off here.
    kept = sparse_select.sparse_slice(merged, [0, 0], merged.dense_shape)
    return indexing.scatter_nd(kept.indices, kept.values, kept.dense_shape)


class IndicatorColumn(Densified, namedtuple("IndicatorColumn", ["categorical_column"])):
    """See `indicator_column`."""

    _suffix = "_indicator"
    _function = "indicator_column"

    @property
    def variable_shape(self) -> TensorShape:
        return TensorShape([1, self.categorical_column.num_buckets])

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        column = self.categorical_column
        ids, weights = column.get_sparse_tensors(transformation_cache, state_manager)
        depth = column.num_buckets
        if weights is not None:
            return _weighted(sparse_select.sparse_merge(ids, weights, vocab_size=depth))
        dense = sparse_convert.sparse_tensor_to_dense(ids, default_value=-1)
        one_hot = select.one_hot(dense, depth, on_value=1.0, off_value=0.0)
        return reduce.reduce_sum(one_hot, axis=[-2])

    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        self._check_no_sequence(state_manager)
        return transformation_cache.get(self, state_manager)

    def get_sequence_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        self._check_sequence()
        dense = transformation_cache.get(self, state_manager)
        column = self.categorical_column
        ids = column.get_sparse_tensors(transformation_cache, state_manager).id_tensor
        return SequenceDenseColumn.TensorSequenceLengthPair(
            dense, sequence_length_from_sparse_tensor(ids)
        )


def indicator_column(categorical_column: Any) -> IndicatorColumn:
    """How often each id of `categorical_column` is there, or the sum of its weights."""
    return IndicatorColumn(categorical_column)
