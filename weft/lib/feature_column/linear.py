"""`linear_model`: a weight for every number and every id, their sum, and a bias."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.graph.graph import (
    GraphKeys,
    Tensor,
    add_to_collection,
    get_collection,
    get_default_graph,
    name_scope,
)
from weft.lib.feature_column.base import CategoricalColumn, DenseColumn
from weft.lib.feature_column.input_layer import as_rows
from weft.lib.feature_column.state import ScopeState, weight_collections
from weft.lib.feature_column.transformation import (
    FeatureTransformationCache,
    normalize_feature_columns,
    verify_static_batch_size_equality,
)
from weft.ops.array import array
from weft.ops.math import math, matmul
from weft.ops.nn import activations as nn_impl
from weft.ops.nn import embedding_safe
from weft.ops.sparse import select as sparse_select
from weft.ops.state import initializers
from weft.ops.state import variable_scope as vs
from weft.ops.state.get_variable import resource_variables
from weft.ops.state.partitioned_variable import PartitionedVariable

_collections = weight_collections


def linear_model(
    features: dict[str, Any],
    feature_columns: Any,
    units: int = 1,
    sparse_combiner: str = "sum",
    weight_collections: Any = None,
    trainable: bool = True,
    cols_to_vars: dict[Any, Any] | None = None,
) -> Tensor:
    """`units` weighted sums of all columns per example, plus a bias.

    `cols_to_vars` is filled in: columns to their variables, and "bias" to the bias.
    """
    with vs.variable_scope(None, "linear_model") as scope:
        model_name = _last(scope.name)
    columns = normalize_feature_columns(feature_columns, "_")
    collections = _collections(weight_collections)
    # Scopes of columns are unique where the model is, though they are opened inside it.
    names = [_free_scope_name(column._var_scope_name) for column in columns]
    with name_scope(model_name), vs.variable_scope(model_name), resource_variables():
        check_kinds(columns, "_")
        cache = FeatureTransformationCache(features)
        state = ScopeState(collections, trainable)
        sums, variables = [], {}
        in_order = sorted(zip(names, columns, strict=True), key=lambda pair: pair[0])
        for name, column in in_order:
            with vs.variable_scope(None, default_name=name) as scope:
                weights = _variable("weights", (rows(column), units), trainable, collections)
                sums.append(weighted_sum(column, cache, state, sparse_combiner, weights))
            variables[column] = get_collection(GraphKeys.GLOBAL_VARIABLES, scope=scope.name)
        verify_static_batch_size_equality(sums, [column for _, column in in_order])
        total = math.add_n(sums, name="weighted_sum_no_bias")
        bias = _variable("bias_weights", [units], trainable, collections)
        predictions = nn_impl.bias_add(total, as_tensor(bias), name="weighted_sum")
    if cols_to_vars is not None:
        cols_to_vars.update({**variables, "bias": parts(bias)})
    return predictions


def _last(name: str) -> str:
    return name.rsplit("/", 1)[-1]


def _free_scope_name(name: str) -> str:
    with vs.variable_scope(None, default_name=name) as scope:
        return _last(scope.name)


def check_kinds(columns: list[Any], class_prefix: str) -> None:
    """Every column is one that can be weighted."""
    for column in columns:
        if not isinstance(column, DenseColumn | CategoricalColumn):
            raise ValueError(
                f"Items of feature_columns must be either a {class_prefix}DenseColumn or "
                f"{class_prefix}CategoricalColumn. Given: {column}"
            )


def rows(column: Any) -> int:
    """How many weights a column has per unit."""
    if isinstance(column, CategoricalColumn):
        return column.num_buckets
    return column.variable_shape.num_elements()


def parts(variable: Any) -> list[Any]:
    return list(variable) if isinstance(variable, PartitionedVariable) else [variable]


def as_tensor(bias: Any) -> Any:
    return bias.as_tensor() if isinstance(bias, PartitionedVariable) else bias


def _variable(name: str, shape: Any, trainable: bool, collections: list[str]) -> Any:
    zeros = initializers.Zeros()
    variable = vs.get_variable(name, shape, dtypes.float32, zeros, trainable=trainable)
    for collection in collections:
        if collection != GraphKeys.GLOBAL_VARIABLES:
            for part in parts(variable):
                add_to_collection(collection, part)
    return variable


def weighted_sum(column: Any, cache: Any, state: Any, combiner: str, weights: Any) -> Tensor:
    """The contribution of one column to the model."""
    if not isinstance(column, CategoricalColumn):
        dense = as_rows(column, column.get_dense_tensor(cache, state))
        return matmul.matmul(dense, weights, name="weighted_sum")
    ids, id_weights = column.get_sparse_tensors(cache, state)
    ids = _flat(ids)
    if id_weights is not None:
        id_weights = _flat(id_weights)
    return embedding_safe.lookup(
        weights,
        ids,
        id_weights,
        combiner=combiner,
        name="weighted_sum",
        no_negatives=column.no_negatives,
        no_gaps=column.no_gaps,
    )


_NODES_OF_RESHAPING = 10


def _flat(sparse: Any) -> Any:
    if sparse.shape.ndims == 2:
        graph = get_default_graph()  # as it is one already, only TensorFlow's count is needed
        graph.count_nodes(graph._last_id, _NODES_OF_RESHAPING)
        return sparse
    return sparse_select.sparse_reshape(sparse, [array.shape(sparse)[0], -1])
