"""Models of columns: the input of a network, and weighted sums."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

from weft.core import dtypes, nest
from weft.core.shapes import dimension_value
from weft.graph.graph import GraphKeys, Tensor
from weft.graph.slices import SparseTensor
from weft.lib.contrib.framework.variables import model_variable
from weft.lib.contrib.layers.column_base import Tensors, WideArguments, inner_flatten
from weft.lib.contrib.layers.crossed_columns import _CrossedColumn
from weft.lib.contrib.layers.dense_columns import (
    _BucketizedColumn,
    _RealValuedColumn,
    _RealValuedVarLenColumn,
)
from weft.lib.contrib.layers.embedding_columns import (
    _EmbeddingColumn,
    _OneHotColumn,
    _ScatteredEmbeddingColumn,
)
from weft.lib.contrib.layers.embedding_tables import embeddings, parts
from weft.lib.contrib.layers.sparse_columns import _WeightedSparseColumn
from weft.lib.feature_column.embedding import load_table
from weft.ops.array import array
from weft.ops.math import casts, math, matmul
from weft.ops.nn import activations as nn_impl
from weft.ops.nn import embedding_safe
from weft.ops.sparse import select as sparse_select
from weft.ops.state import initializers
from weft.ops.state import variable_scope as vs


def check_feature_columns(feature_columns: Any) -> None:
    """The columns are different ones."""
    if isinstance(feature_columns, dict):
        raise ValueError("Expected feature_columns to be iterable, found dict.")
    seen: set[str] = set()
    for column in feature_columns:
        if column.key in seen:
            raise ValueError(
                f"Duplicate feature column key found for column: {column.name}. This usually means "
                "that the column is almost identical to another column, and one must be discarded."
            )
        seen.add(column.key)


def by_key(feature_columns: Iterable[Any]) -> list[Any]:
    return sorted(set(feature_columns), key=lambda column: column.key)


# ---- the input of a network ----------------------------------------------------------------------


def input_from_feature_columns(
    columns_to_tensors: dict[Any, Any],
    feature_columns: Any,
    weight_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
    cols_to_outs: dict[Any, Any] | None = None,
) -> Tensor:
    """The columns, ordered by key, as one matrix with a row per example."""
    name = "input_from_feature_columns"
    wanted = columns_to_tensors, feature_columns, weight_collections, trainable, scope
    return _input_from_feature_columns(*wanted, 2, name, cols_to_outs)


def sequence_input_from_feature_columns(
    columns_to_tensors: dict[Any, Any],
    feature_columns: Any,
    weight_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> Tensor:
    """As above for features that have steps: [batch, steps, width]."""
    _check_sequence_columns(feature_columns)
    name = "sequence_input_from_feature_columns"
    wanted = columns_to_tensors, feature_columns, weight_collections, trainable, scope
    return _input_from_feature_columns(*wanted, 3, name, None)


def _input_from_feature_columns(
    columns_to_tensors: dict[Any, Any],
    feature_columns: Any,
    weight_collections: Any,
    trainable: bool,
    scope: Any,
    output_rank: int,
    default_name: str,
    cols_to_outs: dict[Any, Any] | None,
) -> Tensor:
    features = columns_to_tensors.copy()
    check_feature_columns(feature_columns)
    if cols_to_outs is not None and not isinstance(cols_to_outs, dict):
        raise ValueError("cols_to_outs must be a dict unless None")
    with vs.variable_scope(scope, default_name=default_name, values=features.values()):
        cache = Tensors(features)
        collections = _with_global(weight_collections)
        made = {}
        for column in by_key(feature_columns):
            with vs.variable_scope(None, default_name=column.name):
                tensor = cache.get(column)
                if output_rank == 3:
                    ranked = functools.partial(_reshaped, column_name=column.name, output_rank=3)
                    tensor = nest.map_structure(ranked, tensor)
                made[column] = _dense(column, tensor, collections, trainable, output_rank)
        if cols_to_outs is not None:
            cols_to_outs.update(made)
        return array.concat(list(made.values()), output_rank - 1)


def _dense(column: Any, tensor: Any, collections: Any, trainable: bool, output_rank: int) -> Tensor:
    """The embeddings of a column or, if it has none, what it makes of itself."""
    settings = collections, trainable, output_rank
    try:
        return embeddings(column, column._deep_embedding_lookup_arguments(tensor), *settings)
    except NotImplementedError as error:
        no_embedding = error
    try:
        return column._to_dnn_input_layer(tensor, *settings)
    except ValueError as error:
        reasons = f"{error}, {no_embedding}"
        message = f"Error creating input layer for column: {column.name}.\n{reasons}"
        raise ValueError(message) from error


def _reshaped(tensor: Any, column_name: str, output_rank: int) -> Any:
    """A feature with `output_rank` dimensions: one may be added, any number joined."""
    rank = tensor.get_shape().ndims
    if rank is None and isinstance(tensor, SparseTensor):
        rank = dimension_value(tensor.dense_shape.shape[0])
    whose = f"Error while processing column {column_name}."
    if rank is None:
        raise ValueError(f"{whose} Rank of input Tensor can not be None.")
    if output_rank > rank + 1:
        raise ValueError(
            f"{whose} Rank of input Tensor ({rank}) should be the same as output_rank "
            f"({output_rank}). For example, sequence data should typically be 3 dimensional "
            "(rank 3) while non-sequence data is typically 2 dimensional (rank 2)."
        )
    if output_rank < rank:
        return inner_flatten(tensor, output_rank)
    if output_rank == rank:
        return tensor
    if isinstance(tensor, SparseTensor):
        return sparse_select.sparse_reshape(tensor, array.concat([tensor.dense_shape, [1]], 0))
    return array.expand_dims(tensor, -1)


def _with_global(collections: Any) -> Any:
    return list({*collections, GraphKeys.GLOBAL_VARIABLES}) if collections else collections


# What may have steps, and what none of the columns behind that may be.
_WITH_STEPS = (_OneHotColumn, _EmbeddingColumn, _RealValuedColumn, _RealValuedVarLenColumn)
_WITHOUT_STEPS = (_ScatteredEmbeddingColumn, _BucketizedColumn, _CrossedColumn)


def _check_sequence_columns(feature_columns: Any) -> None:
    for column in feature_columns:
        if not isinstance(column, _WITH_STEPS):
            raise ValueError(
                f"FeatureColumn type {type(column).__name__} is not currently supported for "
                "sequence data."
            )
    waiting = list(feature_columns)
    while waiting:
        column = waiting.pop(0)
        if isinstance(column, _WITHOUT_STEPS):
            raise ValueError(
                f"Column {column.name} is of type {type(column).__name__}, which is not currently "
                "supported for sequences."
            )
        if isinstance(column, _WeightedSparseColumn | _OneHotColumn | _EmbeddingColumn):
            waiting.append(column.sparse_id_column)


# ---- weighted sums -------------------------------------------------------------------------------


def weighted_sum_from_feature_columns(
    columns_to_tensors: dict[Any, Any],
    feature_columns: Any,
    num_outputs: int,
    weight_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> tuple[Tensor, dict[Any, Any], Any]:
    """`num_outputs` weighted sums of all columns plus a bias; the variables by column; the bias."""
    features = columns_to_tensors.copy()
    check_feature_columns(feature_columns)
    name = "weighted_sum_from_feature_columns"
    settings = {"trainable": trainable, "collections": weight_collections}
    with vs.variable_scope(scope, default_name=name, values=features.values()):
        cache, sums, variables = Tensors(features), [], {}
        for column in by_key(feature_columns):
            variable, total = _weighted_sum(column, cache.get(column), num_outputs, settings)
            sums.append(array.reshape(total, shape=(-1, num_outputs)))
            variables[column] = parts(variable)
            load_table(variable, *(column._checkpoint_path() or (None, None)))
        predictions, bias = _with_bias(math.add_n(sums), num_outputs, settings)
        return predictions, variables, bias


def _weighted_sum(
    column: Any, tensor: Any, num_outputs: int, settings: dict[str, Any]
) -> tuple[Any, Tensor]:
    try:
        arguments = column._wide_embedding_lookup_arguments(tensor)
    except NotImplementedError:
        with vs.variable_scope(None, default_name=column.name):
            dense = _reshaped(column._to_dense_tensor(tensor), column.name, output_rank=2)
            weights = _zeros("weight", [dense.shape[1], num_outputs], settings)
            return weights, matmul.matmul(dense, weights, name="matmul")
    except ValueError as error:
        raise ValueError(
            f"Error creating weighted sum for column: {column.name}.\n{error}"
        ) from error
    return _looked_up(column.name, column.name + "_weights", arguments, num_outputs, settings)


def _looked_up(
    scope: str, name: str, arguments: WideArguments, num_outputs: int, settings: dict[str, Any]
) -> tuple[Any, Tensor]:
    with vs.variable_scope(None, default_name=scope):
        weights = _zeros("weights", [arguments.vocab_size, num_outputs], settings)
        return weights, embedding_safe.safe_embedding_lookup_sparse(
            parts(weights),
            arguments.input_tensor,
            sparse_weights=arguments.weight_tensor,
            combiner=arguments.combiner,
            name=name,
        )


def _zeros(name: str, shape: Any, settings: dict[str, Any]) -> Any:
    return model_variable(
        name, shape=shape, dtype=dtypes.float32, initializer=initializers.Zeros(), **settings
    )


def _with_bias(total: Tensor, num_outputs: int, settings: dict[str, Any]) -> tuple[Tensor, Any]:
    settings = settings | {"collections": _with_global(settings["collections"])}
    bias = _zeros("bias_weight", [num_outputs], settings)
    return nn_impl.bias_add(total, bias), bias


def joint_weighted_sum_from_feature_columns(
    columns_to_tensors: dict[Any, Any],
    feature_columns: Any,
    num_outputs: int,
    weight_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> tuple[Tensor, list[Any], Any]:
    """As above, with the weights of all columns in one variable; for columns of ids."""
    features = columns_to_tensors.copy()
    check_feature_columns(feature_columns)
    name = "joint_weighted_sum_from_feature_columns"
    settings = {"trainable": trainable, "collections": weight_collections}
    with vs.variable_scope(scope, default_name=name, values=features.values()):
        cache = Tensors(features)
        arguments = [_wide(column, cache.get(column)) for column in by_key(feature_columns)]
        joint = _joined(arguments)
        variable, total = _looked_up("linear_weights", "_weights", joint, num_outputs, settings)
        predictions, bias = _with_bias(total, num_outputs, settings)
        return predictions, parts(variable), bias


def _wide(column: Any, tensor: Any) -> WideArguments:
    try:
        return column._wide_embedding_lookup_arguments(tensor)
    except NotImplementedError:
        raise NotImplementedError(
            "Real-valued columns are not supported. Use weighted_sum_from_feature_columns instead, "
            "or bucketize these columns."
        ) from None


def _joined(arguments: list[WideArguments]) -> WideArguments:
    """The ids of all columns, those of each after those of the one before."""
    instead = "Please use weighted_sum_from_feature_columns instead."
    for each in arguments:
        if each.weight_tensor is not None:
            raise AssertionError(
                f"Joint sums for weighted sparse columns are not supported. {instead}"
            )
        if each.combiner != "sum":
            raise AssertionError(
                f"Combiners other than sum are not supported for joint sums. {instead}"
            )
    if not arguments:
        raise AssertionError("At least one column must be in the model.")
    size, moved = 0, []
    for each in arguments:
        ids = each.input_tensor
        values = casts.cast(ids.values, dtypes.int64) + size
        moved.append(SparseTensor(ids.indices, values, ids.dense_shape))
        size += each.vocab_size
    return arguments[0]._replace(
        input_tensor=sparse_select.sparse_concat(1, moved), vocab_size=size
    )
