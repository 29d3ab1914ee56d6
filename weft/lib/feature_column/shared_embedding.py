"""Several categorical columns that look into one table.

They find it by a collection of the graph, so that it serves all models built there.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

from weft.core import dtypes
from weft.graph.graph import Tensor, add_to_collection, get_collection, name_scope
from weft.lib.feature_column.base import CategoricalColumn
from weft.lib.feature_column.combined import WeightedCategoricalColumn
from weft.lib.feature_column.embedding import LookupColumn, check_embedding, load_table

_ADVICE = (
    "Suggested fix A: Choose a unique name for this collection. "
    "Suggested fix B: Do not add any variables to this collection. "
    "The feature_column library already adds a variable under the hood."
)


class _SharedEmbeddingColumn(
    LookupColumn,
    namedtuple(
        "_SharedEmbeddingColumn",
        [
            "categorical_column",
            "dimension",
            "combiner",
            "initializer",
            "shared_embedding_collection_name",
            "ckpt_to_load_from",
            "tensor_name_in_ckpt",
            "max_norm",
            "trainable",
        ],
    ),
):
    """See `shared_embedding_columns`."""

    _is_v2_column = False
    _suffix = "_shared_embedding"

    @property
    def _var_scope_name(self) -> str:
        return self.shared_embedding_collection_name

    def _row_size(self) -> int:
        return self.dimension

    def _embedded(self, transformation_cache: Any, state_manager: Any) -> Tensor:
        # Columns that share a variable scope are told apart by name scopes.
        with name_scope(None, default_name=self.name):
            return super()._embedded(transformation_cache, state_manager)

    def _table_shape(self) -> tuple[int, int]:
        return self.categorical_column.num_buckets, self.dimension

    def create_state(self, state_manager: Any) -> None:
        table = state_manager.create_variable(
            self,
            name="embedding_weights",
            shape=self._table_shape(),
            dtype=dtypes.float32,
            trainable=self.trainable,
            initializer=self.initializer,
        )
        add_to_collection(self.shared_embedding_collection_name, table)

    def _table(self, state_manager: Any) -> Any:
        shared = get_collection(self.shared_embedding_collection_name)
        if shared:
            table = self._checked(shared)
        else:
            table = state_manager.get_variable(self, name="embedding_weights")
        load_table(table, self.ckpt_to_load_from, self.tensor_name_in_ckpt)
        return table

    def _checked(self, shared: list[Any]) -> Any:
        if len(shared) > 1:
            raise ValueError(f"Collection {shared} can only contain one variable. {_ADVICE}")
        table = shared[0]
        if table.get_shape() != self._table_shape():
            raise ValueError(
                f"Shared embedding collection {self.shared_embedding_collection_name} contains "
                f"variable {table.name} of unexpected shape {table.get_shape()}. "
                f"Expected shape is {self._table_shape()}. {_ADVICE}"
            )
        return table


def shared_embedding_columns(
    categorical_columns: Any,
    dimension: Any,
    combiner: str = "mean",
    initializer: Any = None,
    shared_embedding_collection_name: str | None = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: Any = None,
    trainable: bool = True,
) -> list[Any]:
    """`embedding_column`s of columns of one kind and size, with one table for all."""
    initializer = check_embedding(
        dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt, ""
    )
    name = _common_name(categorical_columns)
    name = shared_embedding_collection_name or name
    return [
        _SharedEmbeddingColumn(
            column,
            dimension,
            combiner,
            initializer,
            name,
            ckpt_to_load_from,
            tensor_name_in_ckpt,
            max_norm,
            trainable,
        )
        for column in categorical_columns
    ]


def _common_name(columns: Any) -> str:
    """The name of what the columns share."""
    # Sorted, so that the name does not depend on the order of, say, a dictionary.
    in_order = sorted(columns, key=lambda column: column.name)
    first = in_order[0]
    if not isinstance(first, CategoricalColumn):
        raise ValueError(
            f"All categorical_columns must be subclasses of _CategoricalColumn. "
            f"Given: {first}, of type: {type(first)}"
        )
    buckets = first.num_buckets
    first = _unweighted(first)
    for column in map(_unweighted, in_order[1:]):
        if not isinstance(column, type(first)):
            raise ValueError(
                "To use shared_embedding_column, all categorical_columns must have the same type, "
                "or be weighted_categorical_column of the same type. "
                f"Given column: {first} of type: {type(first)} does not match given column: "
                f"{column} of type: {type(column)}"
            )
        if column.num_buckets != buckets:
            raise ValueError(
                "To use shared_embedding_column, all categorical_columns must have the same number "
                f"of buckets. Given column: {first} with buckets: {buckets} does  not match "
                f"column: {column} with buckets: {column.num_buckets}"
            )
    return "_".join(column.name for column in in_order) + "_shared_embedding"


def _unweighted(column: Any) -> Any:
    return column.categorical_column if isinstance(column, WeightedCategoricalColumn) else column
