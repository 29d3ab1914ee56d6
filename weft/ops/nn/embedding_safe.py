"""Weighted sums of rows of a table for examples of which some have no ids, or none that count."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.core.shapes import dimension_value, unknown_shape
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import Tensor, get_default_graph, name_scope
from weft.graph.op_def import raw
from weft.graph.slices import SparseTensor
from weft.ops.array.array import (
    concat,
    identity,
    ones_like,
    reshape,
    shape,
    size,
    stack,
    zeros_like,
)
from weft.ops.array.gather import gather
from weft.ops.array.slicing import slice
from weft.ops.math.casts import cast
from weft.ops.math.reduce import reduce_prod
from weft.ops.nn.embedding import combined_rows, is_resource, looks_up_each, table_parts


def safe_embedding_lookup_sparse(
    embedding_weights: Any,
    sparse_ids: Any,
    sparse_weights: Any = None,
    combiner: str = "mean",
    default_id: int | None = None,
    name: str | None = None,
    partition_strategy: str = "div",
    max_norm: Any = None,
) -> Tensor:
    """`embedding_lookup_sparse` that passes over negative ids and weights that are not positive.

    Rows left with no id get `default_id`'s row, or zeros. Leading dimensions may be any number.
    """
    return lookup(**locals())


def lookup(
    embedding_weights: Any,
    sparse_ids: Any,
    sparse_weights: Any = None,
    combiner: str = "mean",
    default_id: int | None = None,
    name: str | None = None,
    partition_strategy: str = "div",
    max_norm: Any = None,
    no_negatives: bool = False,
    no_gaps: bool = False,
) -> Tensor:
    """As above; `no_negatives`: no id is negative, `no_gaps`: every row has an id to begin with."""
    parts = _tables(embedding_weights, sparse_weights)
    graph = get_default_graph()
    before = graph._last_id
    with name_scope(name, "embedding_lookup", [*parts, sparse_ids, sparse_weights]) as scope:
        outer = sparse_ids.dense_shape
        sparse_ids, rows = _as_matrix(sparse_ids)
        if sparse_weights is not None:
            sparse_weights = SparseTensor(
                sparse_ids.indices, sparse_weights.values, sparse_ids.dense_shape
            )
        if not no_negatives:
            sparse_ids, sparse_weights = _non_negative(sparse_ids, sparse_weights)
        if combiner != "sum" and sparse_weights is not None:
            positive = sparse_weights.values > 0
            sparse_ids = _retained(sparse_ids, positive)
            sparse_weights = _retained(sparse_weights, positive)
        full = no_gaps and no_negatives and sparse_weights is None
        if not full:
            sparse_ids, is_empty = _filled(sparse_ids, default_id or 0)
        if sparse_weights is not None:
            sparse_weights, _ = _filled(sparse_weights, 1.0)
        at_rows = graph._last_id
        result = combined_rows(
            parts,
            sparse_ids,
            sparse_weights,
            partition_strategy,
            scope if full or default_id is not None else None,
            combiner,
            max_norm,
            count=rows,
        )
        in_sums = graph._last_id - at_rows - (2 if looks_up_each(parts, rows) else 0)
        if not full and default_id is None:
            result = raw.Select(is_empty, zeros_like(result), result, name=scope)
        result = _with_leading(result, outer)
    counted = _nodes(sparse_weights is not None, combiner, default_id is None)
    graph.count_nodes(before, in_sums + counted)
    return result


def _nodes(weighted: bool, combiner: str, zeros: bool) -> int:
    """How many operations TensorFlow makes around the sums.

    A matrix of ids, negative ones left out, those without weight too, empty rows filled, empty rows
    as zeros, and the shape of the result: some of that is not needed here, or takes fewer.
    """
    both = 2 if weighted else 1
    chosen = 2 + 8 * both + (4 if weighted else 0)
    if weighted and combiner != "sum":
        chosen += 2 + 8 * both
    return 11 + chosen + 2 * both + (12 if zeros else 0) + 11


def _tables(embedding_weights: Any, sparse_weights: Any) -> list[Any]:
    parts = None if embedding_weights is None else table_parts(embedding_weights)
    if not parts:
        raise ValueError(f"Missing embedding_weights {embedding_weights}.")
    dtype = getattr(sparse_weights, "dtype", None)
    return [
        w if is_resource(w) and dtype in (None, w.dtype) else convert_to_tensor(w, dtype=dtype)
        for w in parts
    ]


def _as_matrix(ids: SparseTensor) -> tuple[SparseTensor, Tensor]:
    """The ids with all dimensions but the last as one, and how many rows that makes."""
    outer = ids.dense_shape
    known = dimension_value(outer.shape[0])
    if known == 2:
        return ids, outer[0]
    axes = size(outer) if known is None else known
    rows = reduce_prod(slice(outer, [0], [axes - 1]))
    new = stack([cast(rows, dtypes.int64), gather(outer, axes - 1)])
    indices, dense_shape = raw.SparseReshape(ids.indices, outer, new)
    return SparseTensor(indices, ids.values, dense_shape), rows


def _with_leading(result: Tensor, outer: Tensor) -> Tensor:
    """`result` with the dimensions before the last one of the ids in place of its first."""
    known = dimension_value(outer.shape[0])
    if known == 2:
        return result
    axes = size(outer) if known is None else known
    leading = slice(cast(outer, dtypes.int32), [0], [axes - 1])
    final = reshape(result, concat([leading, slice(shape(result), [1], [-1])], 0))
    lead = unknown_shape(None if known is None else known - 1)
    final.set_shape(lead.concatenate(result.shape[1:]))
    return final


def _filled(x: SparseTensor, default: Any) -> tuple[SparseTensor, Tensor]:
    """Empty rows get one entry, `default`; which rows those are."""
    value = convert_to_tensor(default, dtype=x.values.dtype)
    indices, values, empty, _ = raw.SparseFillEmptyRows(x.indices, x.values, x.dense_shape, value)
    return SparseTensor(indices, values, x.dense_shape), empty


def _non_negative(ids: SparseTensor, weights: Any) -> tuple[SparseTensor, Any]:
    valid = raw.GreaterEqual(ids.values, constant(0, ids.values.dtype))
    if weights is not None:
        valid = raw.LogicalAnd(valid, ones_like(weights.values, dtype=dtypes.bool))
        weights = _retained(weights, valid)
    return _retained(ids, valid), weights


def _retained(x: SparseTensor, keep: Tensor) -> SparseTensor:
    at = reshape(raw.Where(keep), [-1])
    indices, values = (gather(part, at) for part in (x.indices, x.values))
    return SparseTensor(indices, values, identity(x.dense_shape))
