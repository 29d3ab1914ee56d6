"""`input_layer`: dense columns side by side, as the input of a network."""

from __future__ import annotations

from typing import Any

from weft.graph.graph import GraphKeys, Tensor, get_collection
from weft.lib.feature_column.base import DenseColumn
from weft.lib.feature_column.state import ScopeState, weight_collections
from weft.lib.feature_column.transformation import (
    FeatureTransformationCache,
    normalize_feature_columns,
    verify_static_batch_size_equality,
)
from weft.ops.array import array
from weft.ops.state import variable_scope as vs
from weft.ops.state.template import make_template

_collections = weight_collections


def input_layer(
    features: dict[str, Any],
    feature_columns: Any,
    weight_collections: Any = None,
    trainable: bool = True,
    cols_to_vars: dict[Any, Any] | None = None,
    cols_to_output_tensors: dict[Any, Any] | None = None,
) -> Tensor:
    """The columns, ordered by name, as one matrix with a row per example.

    `cols_to_vars` and `cols_to_output_tensors` are filled in by column.
    """
    columns = _dense_columns(feature_columns)
    with vs.variable_scope(None, default_name="input_layer", values=features.values()):
        return _joined(
            features, columns, weight_collections, trainable, cols_to_vars, cols_to_output_tensors
        )


def _dense_columns(feature_columns: Any) -> list[Any]:
    columns = normalize_feature_columns(feature_columns, "_")
    for column in columns:
        if not isinstance(column, DenseColumn):
            raise ValueError(
                "Items of feature_columns must be a _DenseColumn. "
                "You can wrap a categorical column with an "
                f"embedding_column or indicator_column. Given: {column}"
            )
    return columns


def _joined(
    features: dict[str, Any],
    columns: list[Any],
    collections: Any = None,
    trainable: bool = True,
    cols_to_vars: dict[Any, Any] | None = None,
    cols_to_output_tensors: dict[Any, Any] | None = None,
) -> Tensor:
    cache = FeatureTransformationCache(features)
    state = ScopeState(_collections(collections), trainable)
    outputs = []
    for column in columns:
        with vs.variable_scope(None, default_name=column._var_scope_name) as scope:
            output = as_rows(column, column.get_dense_tensor(cache, state))
            outputs.append(output)
            if cols_to_vars is not None:
                cols_to_vars[column] = get_collection(GraphKeys.GLOBAL_VARIABLES, scope=scope.name)
            if cols_to_output_tensors is not None:
                cols_to_output_tensors[column] = output
    verify_static_batch_size_equality(outputs, columns)
    return array.concat(outputs, 1)


def as_rows(column: Any, tensor: Tensor) -> Tensor:
    """The tensor of a column with its elements in a row per example."""
    count = column.variable_shape.num_elements()
    return array.reshape(tensor, shape=(array.shape(tensor)[0], count))


class InputLayer:
    """`input_layer` that can be called several times and shares its variables between calls."""

    def __init__(
        self,
        feature_columns: Any,
        weight_collections: Any = None,
        trainable: bool = True,
        cols_to_vars: dict[Any, Any] | None = None,
        name: str = "feature_column_input_layer",
        create_scope_now: bool = True,
    ) -> None:
        self.name = name
        self._arguments = _dense_columns(feature_columns), weight_collections, trainable
        self._cols_to_vars = cols_to_vars
        self._template = make_template(name, _joined, create_scope_now_=create_scope_now)

    def __call__(
        self, features: dict[str, Any], cols_to_output_tensors: dict[Any, Any] | None = None
    ) -> Tensor:
        return self._template(
            features, *self._arguments, self._cols_to_vars, cols_to_output_tensors
        )

    @property
    def variables(self) -> list[Any]:
        return self._template.variables

    @property
    def trainable_variables(self) -> list[Any]:
        return self._template.trainable_variables

    @property
    def non_trainable_variables(self) -> list[Any]:
        return self._template.non_trainable_variables

    weights = variables
    trainable_weights = trainable_variables
    non_trainable_weights = non_trainable_variables
