"""Categorical columns as sums of rows of a table that is learned."""

from __future__ import annotations

import math
from collections import namedtuple
from typing import Any

from weft.core import dtypes
from weft.core.shapes import TensorShape
from weft.graph.graph import Tensor
from weft.lib.feature_column import checks
from weft.lib.feature_column.base import Densified, SequenceDenseColumn
from weft.lib.feature_column.lengths import sequence_length_from_sparse_tensor
from weft.lib.train.checkpoint.inspection import init_from_checkpoint
from weft.ops.nn import embedding_safe
from weft.ops.state import initializers
from weft.ops.state.partitioned_variable import PartitionedVariable


class LookupColumn(Densified):
    """The embedding of a categorical column, whatever holds its table."""

    _function = "embedding_column"
    combiner: str
    max_norm: Any

    def _table(self, state_manager: Any) -> Any:
        raise NotImplementedError

    def _row_size(self) -> int:
        raise NotImplementedError

    @property
    def variable_shape(self) -> TensorShape:
        return TensorShape([self._row_size()])

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        return transformation_cache.get(self.categorical_column, state_manager)

    def _embedded(self, transformation_cache: Any, state_manager: Any) -> Tensor:
        column = self.categorical_column
        ids, weights = column.get_sparse_tensors(transformation_cache, state_manager)
        return embedding_safe.lookup(
            self._table(state_manager),
            ids,
            weights,
            combiner=self.combiner,
            name=f"{self.name}_weights",
            max_norm=self.max_norm,
            no_negatives=column.no_negatives,
            no_gaps=column.no_gaps,
        )

    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        self._check_no_sequence(state_manager)
        return self._embedded(transformation_cache, state_manager)

    def get_sequence_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        self._check_sequence()
        dense = self._embedded(transformation_cache, state_manager)
        column = self.categorical_column
        ids = column.get_sparse_tensors(transformation_cache, state_manager).id_tensor
        return SequenceDenseColumn.TensorSequenceLengthPair(
            dense, sequence_length_from_sparse_tensor(ids)
        )


class EmbeddingColumn(
    LookupColumn,
    namedtuple(
        "EmbeddingColumn",
        [
            "categorical_column",
            "dimension",
            "combiner",
            "initializer",
            "ckpt_to_load_from",
            "tensor_name_in_ckpt",
            "max_norm",
            "trainable",
        ],
    ),
):
    """See `embedding_column`."""

    _suffix = "_embedding"

    def _row_size(self) -> int:
        return self.dimension

    def create_state(self, state_manager: Any) -> None:
        state_manager.create_variable(
            self,
            name="embedding_weights",
            shape=(self.categorical_column.num_buckets, self.dimension),
            dtype=dtypes.float32,
            trainable=self.trainable,
            use_resource=True,
            initializer=self.initializer,
        )

    def _table(self, state_manager: Any) -> Any:
        table = state_manager.get_variable(self, name="embedding_weights")
        load_table(table, self.ckpt_to_load_from, self.tensor_name_in_ckpt)
        return table


def load_table(table: Any, checkpoint: str | None, name: Any) -> None:
    """Makes the initializer of `table` read the tensor `name` of a checkpoint, if one is given."""
    if checkpoint is not None:
        parts = list(table) if isinstance(table, PartitionedVariable) else table
        init_from_checkpoint(checkpoint, {name: parts})


def check_embedding(
    dimension: Any, initializer: Any, checkpoint: Any, tensor_name: Any, whose: str
) -> Any:
    """The initializer of a table with these settings."""
    checks.refuse(
        (dimension is None or dimension < 1, f"Invalid dimension {dimension}."),
        (
            (checkpoint is None) != (tensor_name is None),
            "Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none of them.",
        ),
        (
            initializer is not None and not callable(initializer),
            "initializer must be callable if specified." + whose,
        ),
    )
    if initializer is None:
        return initializers.TruncatedNormal(mean=0.0, stddev=1 / math.sqrt(dimension))
    return initializer


def embedding_column(
    categorical_column: Any,
    dimension: Any,
    combiner: str = "mean",
    initializer: Any = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: Any = None,
    trainable: bool = True,
) -> EmbeddingColumn:
    """The ids of `categorical_column` as rows of `dimension` numbers, combined per example.

    The table starts at random, or as a tensor of a checkpoint. Rows longer than `max_norm` are
    scaled down to it.
    """
    whose = f" Embedding of column_name: {getattr(categorical_column, 'name', None)}"
    initializer = check_embedding(
        dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt, whose
    )
    return EmbeddingColumn(
        categorical_column,
        dimension,
        combiner,
        initializer,
        ckpt_to_load_from,
        tensor_name_in_ckpt,
        max_norm,
        trainable,
    )
