"""Rows of tables that may be split into several tensors, and weighted sums of such rows."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.core.shapes import TensorShape, dimension_value
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import Tensor, colocate_with, control_dependencies, name_scope
from weft.graph.op_def import GRADIENTS, raw
from weft.graph.slices import IndexedSlices, SparseTensor, convert_to_tensor_or_indexed_slices
from weft.ops.array.array import (
    concat,
    expand_dims,
    fill,
    identity,
    rank,
    reshape,
    shape,
    size,
    stack,
    unique,
)
from weft.ops.array.gather import gather
from weft.ops.array.one_hot_search import where
from weft.ops.array.partition import dynamic_partition, parallel_dynamic_stitch
from weft.ops.math import sequence
from weft.ops.math.casts import cast
from weft.ops.math.clip import clip_by_norm
from weft.ops.math.math import div
from weft.ops.math.reduce import reduce_sum
from weft.ops.math.segment_sparse import (
    sparse_segment_mean,
    sparse_segment_sqrt_n,
    sparse_segment_sum,
)
from weft.ops.state.partitioned_variable import PartitionedVariable

COMBINERS = ("mean", "sqrtn", "sum")
_SUMS = {
    "sum": sparse_segment_sum,
    "mean": sparse_segment_mean,
    "sqrtn": sparse_segment_sqrt_n,
}


def table_parts(params: Any) -> list[Any]:
    if isinstance(params, PartitionedVariable | tuple):
        return list(params)
    return params if isinstance(params, list) else [params]


def is_resource(param: Any) -> bool:
    return getattr(param, "handle", None) is not None and hasattr(param, "sparse_read")


def _beside(param: Any) -> Any:
    """Colocation with the table itself, not with a read of it."""
    return colocate_with(param.handle.op if is_resource(param) else param)


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

    Args:
        params: a table [rows, ...], a list of its parts, or a partitioned variable.
        ids: numbers of rows, in any shape.
        partition_strategy: "mod" or "div".
        name: of the operation.
        validate_indices: not used.
        max_norm: the largest norm of a row; None: any.

    Returns:
        A tensor of the shape of `ids` followed by that of a row.

    Raises:
        ValueError: there are no `params`, or the strategy is unknown.

    Example:
        >>> table = tf.constant([[1.0, 2.0], [3.0, 4.0]])
        >>> session.run(tf.nn.embedding_lookup(table, [1, 0]))
        array([[3., 4.],
               [1., 2.]], dtype=float32)
    """
    if params is None:
        raise ValueError("params must be specified")
    parts = table_parts(params)
    if not parts:
        raise ValueError("Need at least one param")
    with name_scope(name, "embedding_lookup", [*parts, ids]) as name:
        if not any(map(is_resource, parts)):
            parts = [
                convert_to_tensor_or_indexed_slices(part, name=f"params_{i}")
                for i, part in enumerate(parts)
            ]
        ids = convert_to_tensor(ids, name="ids")
        if len(parts) == 1:
            return identity(_from_one(parts[0], ids, max_norm, name))
        return _from_parts(parts, ids, partition_strategy, max_norm, name)


def _from_one(
    part: Any, ids: Tensor, max_norm: Any, name: str | None, each_once: bool = False
) -> Tensor:
    """Rows of a whole table; `each_once`: its gradient names no row twice."""
    with _beside(part):
        rows = gather(part, ids, name=name)
        if each_once:
            # What a resource variable hands out is a copy of what was gathered. Of what is computed
            # eagerly, and not recorded, nothing but its value is known.
            copied = is_resource(part) and rows.op.inputs
            gathered = rows.op.inputs[0].op if copied else rows.op
            gathered._gradient_function = _each_row_once  # type: ignore[attr-defined]
        return _clipped(rows, ids, max_norm)


def _each_row_once(op: Any, grad: Any) -> list[Any]:
    """The gradient of a lookup, as if each row had been looked up once."""
    gradient = GRADIENTS[op.type]
    assert gradient is not None
    slices, *others = gradient(op, grad)
    # After the gradient, so that tables looked up alike do not share one `Unique`: each of them
    # can then become part of the update it is for.
    with control_dependencies([slices.values.op]):
        rows, places = unique(slices.indices)
    summed = raw.UnsortedSegmentSum(slices.values, places, shape(rows)[0])
    return [IndexedSlices(summed, rows, slices.dense_shape), *others]


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
    """The part that holds each row, and the row's number there."""
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
    known = [dimension_value(part.shape[0]) for part in parts]
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
    return combined_rows(
        params, sp_ids, sp_weights, partition_strategy, name, combiner or "mean", max_norm
    )


def combined_rows(
    params: Any,
    sp_ids: Any,
    sp_weights: Any,
    strategy: str,
    name: str | None,
    combiner: str,
    max_norm: Any,
    count: Any = None,
) -> Tensor:
    """`embedding_lookup_sparse`; `count`, if known, is the number of rows that `sp_ids` has."""
    if combiner not in COMBINERS:
        raise ValueError("combiner must be one of 'mean', 'sqrtn' or 'sum'")
    parts = table_parts(params)
    _check_sparse(sp_ids, sp_weights)
    with name_scope(name, "embedding_lookup_sparse", [*parts, sp_ids]) as name:
        segments = sp_ids.indices[:, 0]
        if segments.dtype != dtypes.int32:
            segments = cast(segments, dtypes.int32)
        rows, at = _looked_up(parts, sp_ids.values, strategy, max_norm, count)
        if rows.dtype in (dtypes.float16, dtypes.bfloat16):
            rows = cast(rows, dtypes.float32)
        if sp_weights is None:
            return _SUMS[combiner](rows, at, segments, name=name, num_segments=count)
        return _weighted(gather(rows, at), sp_weights.values, segments, combiner, name, count)


def _looked_up(
    parts: list[Any], ids: Tensor, strategy: str, max_norm: Any, count: Any
) -> tuple[Tensor, Tensor]:
    """The rows that `ids` name, and where that of each id is among them.

    Rows of a table elsewhere are asked for once. Of one that is here it is quicker to take some
    twice: how many there are then follows from shapes, and the step can be compiled.
    """
    if not looks_up_each(parts, count):
        ids, at = unique(ids)
        return embedding_lookup(parts, ids, partition_strategy=strategy, max_norm=max_norm), at
    with name_scope(None, "embedding_lookup", [*parts, ids]) as name:
        rows = _from_one(parts[0], ids, max_norm, name, each_once=True)
    return rows, sequence.range(size(ids))


def looks_up_each(parts: list[Any], count: Any) -> bool:
    """Whether a row is looked up for every id that names it."""
    return count is not None and len(parts) == 1 and not getattr(parts[0], "device", None)


def _check_sparse(sp_ids: Any, sp_weights: Any) -> None:
    if not isinstance(sp_ids, SparseTensor):
        raise TypeError("sp_ids must be SparseTensor")
    if not isinstance(sp_weights, SparseTensor | None):
        raise TypeError("sp_weights must be either None or SparseTensor")
    for part in ("values", "indices", "dense_shape") if sp_weights is not None else ():
        ids, weights = getattr(sp_ids, part), getattr(sp_weights, part)
        ids.shape.assert_is_compatible_with(weights.shape)


def _weighted(
    rows: Tensor, weights: Tensor, segments: Tensor, combiner: str, name: str | None, count: Any
) -> Tensor:
    if weights.dtype != rows.dtype:
        weights = cast(weights, rows.dtype)
    ones = fill(expand_dims(rank(rows) - 1, 0), 1)
    spread = reshape(weights, concat([shape(weights), ones], 0))
    if rows.dims is not None:
        spread.set_shape(weights.shape.concatenate([1] * (len(rows.dims) - 1)))
    rows = rows * spread
    if combiner == "sum":
        return _segment_sums(rows, segments, count, name)
    rows = _segment_sums(rows, segments, count)
    if combiner == "mean":
        return div(rows, _segment_sums(spread, segments, count), name=name)
    squares = _segment_sums(raw.Pow(spread, 2), segments, count)
    return div(rows, raw.Sqrt(squares), name=name)


def _segment_sums(rows: Tensor, segments: Tensor, count: Any, name: str | None = None) -> Tensor:
    if count is None:
        return raw.SegmentSum(rows, segments, name=name)
    return raw.UnsortedSegmentSum(rows, segments, count, name=name)
