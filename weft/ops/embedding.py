"""Rows of tables that may be split into several tensors, and weighted sums of such rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.core import dtypes
from weft.core.shapes import TensorShape, unknown_shape
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import Tensor, colocate_with, name_scope
from weft.graph.op_def import raw
from weft.graph.slices import SparseTensor, convert_to_tensor_or_indexed_slices
from weft.ops import sequence
from weft.ops.array import (
    concat,
    expand_dims,
    fill,
    identity,
    ones_like,
    rank,
    reshape,
    shape,
    size,
    stack,
    tile,
    unique,
    zeros_like,
)
from weft.ops.casts import cast
from weft.ops.clip import clip_by_norm
from weft.ops.gather import gather
from weft.ops.math import div
from weft.ops.partition import dynamic_partition, parallel_dynamic_stitch
from weft.ops.partitioned_variable import PartitionedVariable
from weft.ops.reduce import reduce_prod, reduce_sum
from weft.ops.select import where
from weft.ops.slicing import slice

Rows = Callable[[Tensor], Tensor]
COMBINERS = ("mean", "sqrtn", "sum")


def table_parts(params: Any) -> list[Any]:
    if isinstance(params, PartitionedVariable | tuple):
        return list(params)
    return params if isinstance(params, list) else [params]


def _is_resource(param: Any) -> bool:
    return getattr(param, "handle", None) is not None and hasattr(param, "sparse_read")


def _beside(param: Any) -> Any:
    """Colocation with the table itself, not with a read of it."""
    return colocate_with(param.handle.op if _is_resource(param) else param)


def embedding_lookup(
    params: Any,
    ids: Any,
    partition_strategy: str = "mod",
    name: str | None = None,
    validate_indices: bool = True,
    max_norm: Any = None,
) -> Tensor:
    """The rows `ids` of a table in one or several parts.

    "mod" puts row i into part i % n, "div" puts contiguous ranges into parts. Rows longer than
    `max_norm` are scaled down to it.
    """
    if params is None:
        raise ValueError("params must be specified")
    parts = table_parts(params)
    if not parts:
        raise ValueError("Need at least one param")
    with name_scope(name, "embedding_lookup", [*parts, ids]) as name:
        if not any(map(_is_resource, parts)):
            parts = [
                convert_to_tensor_or_indexed_slices(part, name=f"params_{i}")
                for i, part in enumerate(parts)
            ]
        ids = convert_to_tensor(ids, name="ids")
        if len(parts) == 1:
            with _beside(parts[0]):
                rows = _clipped(gather(parts[0], ids, name=name), ids, max_norm)
            return identity(rows)
        return _from_parts(parts, ids, partition_strategy, max_norm, name)


def _clipped(rows: Tensor, ids: Any, max_norm: Any) -> Tensor:
    if max_norm is None:
        return rows
    ids = convert_to_tensor(ids)
    if ids.dims is not None and rows.dims is not None and ids.dims:
        return clip_by_norm(rows, max_norm, axes=list(range(len(ids.dims), len(rows.dims))))
    return clip_by_norm(rows, max_norm, axes=sequence.range(rank(ids), rank(rows)))


def _from_parts(
    parts: list[Any], ids: Tensor, strategy: str, max_norm: Any, name: str | None
) -> Tensor:
    """Asks every part for its rows and puts them back into the order of `ids`."""
    flat = reshape(ids, [-1])
    places = sequence.range(size(flat))
    owners, own_ids = _assignments(parts, flat, strategy)
    owners = cast(owners, dtypes.int32)
    ids_of = dynamic_partition(own_ids, owners, len(parts))
    places_of = dynamic_partition(places, owners, len(parts))
    found = []
    for part, wanted in zip(parts, ids_of, strict=True):
        with _beside(part):
            found.append(gather(part, wanted))
    rows = parallel_dynamic_stitch(places_of, found, name=name)
    row_shape = TensorShape(None)
    for part in parts:
        row_shape = row_shape.merge_with(part.shape[1:])
    if row_shape.is_fully_defined():
        dynamic: Any = row_shape
    else:
        with _beside(parts[0]):
            whole = shape(parts[0])
        dynamic = whole[1:]
    rows = reshape(rows, concat([shape(ids), dynamic], 0))
    rows.set_shape(ids.shape.concatenate(row_shape))
    return _clipped(rows, ids, max_norm)


def _assignments(parts: list[Any], ids: Tensor, strategy: str) -> tuple[Tensor, Tensor]:
    """Which part holds each row, and its number there."""
    count = len(parts)
    if strategy == "mod":
        return ids % count, ids // count
    if strategy != "div":
        raise ValueError("Unrecognized partition strategy: " + strategy)
    total = _row_count(parts, ids)
    each, extras = total // count, total % count
    # The first `extras` parts hold one row more than the others.
    owners = raw.Maximum(ids // (each + 1), (ids - extras) // each)
    return owners, where(owners < extras, ids % (each + 1), (ids - extras) % each)


def _row_count(parts: list[Any], ids: Tensor) -> Tensor:
    known = [part.shape[0].value for part in parts]
    if None not in known:
        return constant(sum(known), ids.dtype)
    sizes = []
    for part, rows in zip(parts, known, strict=True):
        if rows is None:
            with _beside(part):
                rows = shape(part)[0]
        sizes.append(rows)
    return reduce_sum(cast(stack(sizes), ids.dtype))


# ---- weighted sums ----------------------------------------------------------------------------


def embedding_lookup_sparse(
    params: Any,
    sp_ids: Any,
    sp_weights: Any,
    partition_strategy: str = "mod",
    name: str | None = None,
    combiner: str | None = None,
    max_norm: Any = None,
) -> Tensor:
    """For every row of `sp_ids`, the sum, mean or root-normalized sum of the table rows it names.

    `sp_weights` None means weights of 1.
    """
    combiner = "mean" if combiner is None else combiner
    if combiner not in COMBINERS:
        raise ValueError("combiner must be one of 'mean', 'sqrtn' or 'sum'")
    parts = table_parts(params)
    _check_sparse(sp_ids, sp_weights)
    with name_scope(name, "embedding_lookup_sparse", [*parts, sp_ids]) as name:
        segments = sp_ids.indices[:, 0]
        if segments.dtype != dtypes.int32:
            segments = cast(segments, dtypes.int32)
        ids, at = unique(sp_ids.values)
        rows = embedding_lookup(
            parts, ids, partition_strategy=partition_strategy, max_norm=max_norm
        )
        if rows.dtype in (dtypes.float16, dtypes.bfloat16):
            rows = cast(rows, dtypes.float32)
        if sp_weights is None:
            ops = {
                "sum": raw.SparseSegmentSum,
                "mean": raw.SparseSegmentMean,
                "sqrtn": raw.SparseSegmentSqrtN,
            }
            return ops[combiner](rows, at, segments, name=name)
        return _weighted(gather(rows, at), sp_weights.values, segments, combiner, name)


def _check_sparse(sp_ids: Any, sp_weights: Any) -> None:
    if not isinstance(sp_ids, SparseTensor):
        raise TypeError("sp_ids must be SparseTensor")
    if sp_weights is None:
        return
    if not isinstance(sp_weights, SparseTensor):
        raise TypeError("sp_weights must be either None or SparseTensor")
    sp_ids.values.shape.assert_is_compatible_with(sp_weights.values.shape)
    sp_ids.indices.shape.assert_is_compatible_with(sp_weights.indices.shape)
    sp_ids.dense_shape.shape.assert_is_compatible_with(sp_weights.dense_shape.shape)


def _weighted(
    rows: Tensor, weights: Tensor, segments: Tensor, combiner: str, name: str | None
) -> Tensor:
    if weights.dtype != rows.dtype:
        weights = cast(weights, rows.dtype)
    ones = fill(expand_dims(rank(rows) - 1, 0), 1)
    spread = reshape(weights, concat([shape(weights), ones], 0))
    if rows.dims is not None:
        spread.set_shape(weights.shape.concatenate([1] * (len(rows.dims) - 1)))
    rows = rows * spread
    if combiner == "sum":
        return raw.SegmentSum(rows, segments, name=name)
    rows = raw.SegmentSum(rows, segments)
    if combiner == "mean":
        return div(rows, raw.SegmentSum(spread, segments), name=name)
    squares = raw.SegmentSum(raw.Pow(spread, 2), segments)
    return div(rows, raw.Sqrt(squares), name=name)


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
    if embedding_weights is None:
        raise ValueError(f"Missing embedding_weights {embedding_weights}.")
    parts = table_parts(embedding_weights)
    if not parts:
        raise ValueError(f"Missing embedding_weights {embedding_weights}.")
    dtype = sparse_weights.dtype if sparse_weights is not None else None
    parts = [
        w if _is_resource(w) and dtype in (None, w.dtype) else convert_to_tensor(w, dtype=dtype)
        for w in parts
    ]
    values = [*parts, sparse_ids, sparse_weights]
    with name_scope(name, "embedding_lookup", values) as scope:
        outer = sparse_ids.dense_shape
        static_rank = outer.shape[0].value
        axes = size(outer) if static_rank is None else static_rank
        rows = reduce_prod(slice(outer, [0], [axes - 1]))
        sparse_ids = _reshaped(sparse_ids, [rows, gather(outer, axes - 1)])
        if sparse_weights is not None:
            sparse_weights = SparseTensor(
                sparse_ids.indices, sparse_weights.values, sparse_ids.dense_shape
            )
        sparse_ids, sparse_weights = _usable(sparse_ids, sparse_weights, combiner)
        sparse_ids, is_empty = _filled(sparse_ids, default_id or 0)
        if sparse_weights is not None:
            sparse_weights, _ = _filled(sparse_weights, 1.0)
        result = embedding_lookup_sparse(
            parts,
            sparse_ids,
            sparse_weights,
            combiner=combiner,
            partition_strategy=partition_strategy,
            name=None if default_id is None else scope,
            max_norm=max_norm,
        )
        if default_id is None:
            blank = tile(reshape(is_empty, [-1, 1]), stack([1, shape(result)[1]]))
            result = where(blank, zeros_like(result), result, name=scope)
        leading = slice(cast(outer, dtypes.int32), [0], [axes - 1])
        final = reshape(result, concat([leading, slice(shape(result), [1], [-1])], 0))
        lead = unknown_shape(None if static_rank is None else static_rank - 1)
        final.set_shape(lead.concatenate(result.shape[1:]))
        return final


def _reshaped(x: SparseTensor, dims: list[Any]) -> SparseTensor:
    new = convert_to_tensor(stack([cast(d, dtypes.int64) for d in dims]), dtypes.int64)
    indices, dense_shape = raw.SparseReshape(x.indices, x.dense_shape, new)
    return SparseTensor(indices, x.values, dense_shape)


def _filled(x: SparseTensor, default: Any) -> tuple[SparseTensor, Tensor]:
    """Empty rows get one entry, `default`; which rows those are."""
    value = convert_to_tensor(default, dtype=x.values.dtype)
    indices, values, empty, _ = raw.SparseFillEmptyRows(x.indices, x.values, x.dense_shape, value)
    return SparseTensor(indices, values, x.dense_shape), empty


def _usable(ids: SparseTensor, weights: Any, combiner: str) -> tuple[SparseTensor, Any]:
    valid = raw.GreaterEqual(ids.values, constant(0, ids.values.dtype))
    if weights is not None:
        valid = raw.LogicalAnd(valid, ones_like(weights.values, dtype=dtypes.bool))
    ids = _retained(ids, valid)
    weights = None if weights is None else _retained(weights, valid)
    if combiner != "sum" and weights is not None:
        positive = weights.values > 0
        ids, weights = _retained(ids, positive), _retained(weights, positive)
    return ids, weights


def _retained(x: SparseTensor, keep: Tensor) -> SparseTensor:
    at = reshape(raw.Where(keep), [-1])
    return SparseTensor(gather(x.indices, at), gather(x.values, at), identity(x.dense_shape))
