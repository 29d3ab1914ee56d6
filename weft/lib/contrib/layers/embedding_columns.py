"""Columns of ids for networks: one hot, or rows of tables that are learned."""

from __future__ import annotations

import math
from collections import namedtuple
from collections.abc import Sequence
from typing import Any

from weft.core import dtypes
from weft.core.shapes import TensorShape
from weft.graph.graph import Tensor
from weft.lib.contrib.layers.column_base import (
    Column,
    DeepArguments,
    check_checkpoint,
    check_initializer,
    feature_config,
    inner_flatten,
)
from weft.lib.contrib.layers.embedding_tables import embeddings
from weft.lib.contrib.layers.sparse_columns import _SparseColumn, _WeightedSparseColumn
from weft.lib.feature_column.base import DenseColumn
from weft.lib.platform import tf_logging as logging
from weft.ops.array import array
from weft.ops.array import one_hot_search as select
from weft.ops.math import reduce
from weft.ops.parsing.features import VarLenFeature
from weft.ops.sparse import convert as sparse_convert
from weft.ops.sparse import select as sparse_select
from weft.ops.state import initializers


class OfIds(Column, DenseColumn):
    """A dense column made of a column of ids."""

    sparse_id_column: Any

    @property
    def config(self) -> dict[str, Any]:
        return feature_config(self.sparse_id_column)

    @property
    def length(self) -> int:
        return self.sparse_id_column.length

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        return transformation_cache.get(self.sparse_id_column, state_manager)


class _OneHotColumn(OfIds, namedtuple("_OneHotColumn", ["sparse_id_column"])):
    """See `one_hot_column`."""

    @property
    def name(self) -> str:
        return f"{self.sparse_id_column.name}_one_hot"

    @property
    def variable_shape(self) -> TensorShape:
        return TensorShape([self.length])

    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        return self._to_dnn_input_layer(transformation_cache.get(self, state_manager))

    def _to_dnn_input_layer(
        self,
        input_tensor: Any,
        weight_collections: Any = None,
        trainable: bool = False,
        output_rank: int = 2,
    ) -> Tensor:
        source, axis = self.sparse_id_column, output_rank - 1
        ids = inner_flatten(source.id_tensor(input_tensor), output_rank)
        weights = source.weight_tensor(input_tensor)
        if weights is not None:
            return self._weighted(ids, weights)
        padded = sparse_convert.sparse_tensor_to_dense(ids, default_value=-1)
        return reduce.reduce_sum(select.one_hot(padded, self.length, 1.0, 0.0), axis=[axis])

    def _weighted(self, ids: Any, weights: Any) -> Tensor:
        pairs = sparse_select.sparse_merge(ids, weights, vocab_size=self.length)
        # Weights of negative ids, which are not in the vocabulary, fall off here.
        sizes = pairs.dense_shape
        kept = sparse_select.sparse_slice(pairs, array.zeros_like(sizes), sizes)
        rows = sparse_convert.sparse_tensor_to_dense(kept)
        return array.reshape(rows, array.concat([array.shape(rows)[:-1], [self.length]], axis=0))


def one_hot_column(sparse_id_column: Any) -> _OneHotColumn:
    """How often each id is there, or the sum of its weights."""
    return _OneHotColumn(sparse_id_column)


class Embedded(Column, DenseColumn):
    """A column that looks into a table."""

    dimension: int

    @property
    def key(self) -> str:
        return self._key_without_properties(["initializer"])

    @property
    def variable_shape(self) -> TensorShape:
        return TensorShape([self.dimension])

    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        tensor = transformation_cache.get(self, state_manager)
        arguments = self._deep_embedding_lookup_arguments(tensor)
        return embeddings(self, arguments, state_manager._collections, state_manager._trainable)


class _EmbeddingColumn(
    Embedded,
    OfIds,
    namedtuple(
        "_EmbeddingColumn",
        [
            "sparse_id_column",
            "dimension",
            "combiner",
            "initializer",
            "ckpt_to_load_from",
            "tensor_name_in_ckpt",
            "shared_embedding_name",
            "shared_vocab_size",
            "max_norm",
            "trainable",
        ],
    ),
):
    """See `embedding_column`."""

    def __new__(
        cls,
        sparse_id_column: Any,
        dimension: int,
        combiner: str = "mean",
        initializer: Any = None,
        ckpt_to_load_from: str | None = None,
        tensor_name_in_ckpt: str | None = None,
        shared_embedding_name: str | None = None,
        shared_vocab_size: int | None = None,
        max_norm: Any = None,
        trainable: bool = True,
    ) -> Any:
        check_initializer(initializer, f"Embedding of column_name: {sparse_id_column.name}")
        check_checkpoint(ckpt_to_load_from, tensor_name_in_ckpt)
        if initializer is None:
            logging.warn(
                'The default stddev value of initializer was changed from "1/sqrt(vocab_size)" to '
                '"1/sqrt(dimension)" in core implementation (tf.feature_column.embedding_column).'
            )
            stddev = 1 / math.sqrt(sparse_id_column.length)
            initializer = initializers.TruncatedNormal(mean=0.0, stddev=stddev)
        given = locals()
        return super().__new__(cls, **{field: given[field] for field in cls._fields})

    @property
    def name(self) -> str:
        kind = "embedding" if self.shared_embedding_name is None else "shared_embedding"
        return f"{self.sparse_id_column.name}_{kind}"

    @property
    def length(self) -> int:
        if self.shared_vocab_size is not None:
            return self.shared_vocab_size
        return self.sparse_id_column.length

    def _deep_embedding_lookup_arguments(self, input_tensor: Any) -> DeepArguments:
        source = self.sparse_id_column
        return DeepArguments(
            source.id_tensor(input_tensor), source.weight_tensor(input_tensor), self.length,
            self.initializer, self.combiner, self.dimension, self.shared_embedding_name, None,
            self.max_norm, self.trainable,
        )  # fmt: skip

    def _wide_embedding_lookup_arguments(self, input_tensor: Any) -> Any:
        raise ValueError(
            f"Column {self} is not supported in linear models. Please use sparse_column."
        )

    def _checkpoint_path(self) -> tuple[str, str] | None:
        if self.ckpt_to_load_from is None:
            return None
        return self.ckpt_to_load_from, self.tensor_name_in_ckpt


def embedding_column(
    sparse_id_column: Any,
    dimension: int,
    combiner: str = "mean",
    initializer: Any = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: Any = None,
    trainable: bool = True,
) -> _EmbeddingColumn:
    """The ids as rows of `dimension` numbers, combined per example."""
    return _EmbeddingColumn(**locals())


def shared_embedding_columns(
    sparse_id_columns: Any,
    dimension: int,
    combiner: str = "mean",
    shared_embedding_name: str | None = None,
    initializer: Any = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: Any = None,
    trainable: bool = True,
) -> Any:
    """Embeddings of columns whose ids mean the same, with one table for all."""
    _check_shared(sparse_id_columns)
    settings: dict[str, Any] = {
        "dimension": dimension,
        "combiner": combiner,
        "initializer": initializer,
        "ckpt_to_load_from": ckpt_to_load_from,
        "tensor_name_in_ckpt": tensor_name_in_ckpt,
        "shared_embedding_name": shared_embedding_name,
        "max_norm": max_norm,
        "trainable": trainable,
    }
    first, *others = sparse_id_columns
    if not others:
        return [_EmbeddingColumn(first, **settings)]
    if not all(_compatible(first, column) for column in others):
        raise ValueError("The input sparse id columns are not compatible.")
    settings["shared_embedding_name"] = shared_embedding_name or _shared_name(sparse_id_columns)
    settings["shared_vocab_size"] = first.length
    return tuple(_EmbeddingColumn(column, **settings) for column in sparse_id_columns)


def _check_shared(columns: Any) -> None:
    if isinstance(columns, str) or not isinstance(columns, Sequence):
        kind = "a non-string sequence (ex: list or tuple)"
        raise TypeError(f"sparse_id_columns must be {kind} instead of type {type(columns)}.")
    if not columns:
        raise ValueError("The input sparse_id_columns should have at least one element.")
    kinds = _SparseColumn | _WeightedSparseColumn
    wrong = [column for column in columns if not isinstance(column, kinds)]
    if wrong:
        raise TypeError(
            "Elements of sparse_id_columns must be _SparseColumn or _WeightedSparseColumn, "
            f"but {wrong[0]} is not."
        )


def _compatible(first: Any, other: Any) -> bool:
    if isinstance(first, _WeightedSparseColumn):
        return first.is_compatible(other)
    return other.is_compatible(first)


def _shared_name(columns: Any) -> str:
    plain = sorted(c for c in columns if isinstance(c, _SparseColumn))
    weighted = [c for c in columns if not isinstance(c, _SparseColumn)]
    names = [c.name for c in plain + sorted(weighted, key=lambda c: c.name)]
    shared = "_".join(names[:3])
    if len(names) > 3:
        shared += f"_plus_{len(names) - 3}_others"
    return shared + "_shared_embedding"


class _ScatteredEmbeddingColumn(
    Embedded,
    namedtuple(
        "_ScatteredEmbeddingColumn",
        ["column_name", "size", "dimension", "hash_key", "combiner", "initializer"],
    ),
):
    """See `scattered_embedding_column`."""

    def __new__(
        cls,
        column_name: str,
        size: int,
        dimension: int,
        hash_key: int | None,
        combiner: str = "sqrtn",
        initializer: Any = None,
    ) -> Any:
        check_initializer(initializer, f"column_name: {column_name}")
        drawn = initializer or initializers.TruncatedNormal(mean=0.0, stddev=0.1)
        return super().__new__(cls, column_name, size, dimension, hash_key, combiner, drawn)

    @property
    def name(self) -> str:
        return f"{self.column_name}_scattered_embedding"

    @property
    def config(self) -> dict[str, Any]:
        return {self.column_name: VarLenFeature(dtypes.string)}

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        return transformation_cache.get(self.column_name, state_manager)

    def _deep_embedding_lookup_arguments(self, input_tensor: Any) -> DeepArguments:
        return DeepArguments(
            input_tensor, None, self.size, self.initializer, self.combiner, self.dimension, None,
            self.hash_key, None, True,
        )  # fmt: skip


def scattered_embedding_column(
    column_name: str,
    size: int,
    dimension: int,
    hash_key: int | None,
    combiner: str = "mean",
    initializer: Any = None,
) -> _ScatteredEmbeddingColumn:
    """Rows whose every number is at a hashed place of one vector of `size` numbers."""
    whose = f"column_name: {column_name}"
    if min(dimension, size) < 1:
        given = f"dimension: {dimension}, size: {size}, {whose}"
        raise ValueError(f"Dimension and size must be greater than 0. {given}")
    if combiner not in ("mean", "sqrtn", "sum"):
        rule = "Combiner must be one of 'mean', 'sqrtn' or 'sum'."
        raise ValueError(f"{rule} combiner: {combiner}, {whose}")
    return _ScatteredEmbeddingColumn(column_name, size, dimension, hash_key, combiner, initializer)
