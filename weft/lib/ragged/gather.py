"""tf.gather, gather_nd and batch_gather of ragged arguments."""

from __future__ import annotations

from typing import Any

from weft.graph.graph import control_dependencies, name_scope
from weft.graph.op_def import raw
from weft.graph.tensor import Tensor
from weft.lib.ragged.rows import check_rank, int_tensor, known_rank
from weft.lib.ragged.shape import expand_dims
from weft.lib.ragged.tensor import RaggedTensor, convert_alike
from weft.ops.array import array
from weft.ops.array.gather import batch_gather as dense_batch_gather
from weft.ops.array.gather import gather as dense_gather
from weft.ops.array.gather import gather_nd as dense_gather_nd
from weft.ops.control import check
from weft.ops.math import math


def _only_zero(name: str, value: Any) -> None:
    if not isinstance(value, int) or value != 0:
        raise ValueError(f"{name} != 0 is not supported for ragged gather yet.")


def gather(
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    name: str | None = None,
    axis: Any = 0,
    batch_dims: Any = 0,
) -> Any:
    """The rows of `params` that `indices` name."""
    _only_zero("axis", 0 if axis is None else axis)
    _only_zero("batch_dims", batch_dims)
    with name_scope(name, "RaggedGather", [params, indices]):
        params, indices = convert_alike({}, params=params, indices=indices)[1]
        if isinstance(indices, RaggedTensor):
            return indices.with_values(gather(params, indices.values))
        if not isinstance(params, RaggedTensor):
            return dense_gather(params, indices)
        if indices.shape.ndims is None:
            raise ValueError("indices.shape.ndims must be known statically")
        levels = indices.shape.ndims + params.ragged_rank - 1
        splits, values = _gathered(params, indices, levels)
        return RaggedTensor.from_nested_row_splits(values, splits, validate=False)


def _gathered(params: RaggedTensor, indices: Tensor, levels: int) -> tuple[list[Tensor], Tensor]:
    splits, values = raw.RaggedGather(
        params.nested_row_splits, params.flat_values, indices, OUTPUT_RAGGED_RANK=levels
    )
    return splits, values


# ---- gather_nd ----------------------------------------------------------------------------------


_NO_SCALAR = "indices.rank must be at least 1."


def gather_nd(params: Any, indices: Any, name: str | None = None, batch_dims: Any = 0) -> Any:
    """The slices of `params` at the coordinates in the last dimension of `indices`."""
    _only_zero("batch_dims", batch_dims)
    with name_scope(name, "RaggedGatherNd", [params, indices]):
        params, indices = convert_alike({}, params=params, indices=indices)[1]
        check_rank(indices, {None: "indices.rank be statically known.", 0: _NO_SCALAR})
        rank = indices.shape.ndims
        if isinstance(indices, RaggedTensor) and rank == indices.ragged_rank + 1:
            raise ValueError("The innermost dimension of indices may not be ragged")
        if indices.shape.as_list()[-1] is None:
            raise ValueError("indices.shape[-1] must be statically known.")
        if rank > 2:
            return _nd_by_rows(params, indices)
        if not isinstance(params, RaggedTensor):
            return dense_gather_nd(params, indices)
        return _nd(params, indices)


def _nd_by_rows(params: Any, indices: Any) -> Any:
    """Indices of a higher rank: the innermost two dimensions, put back into rows."""
    if isinstance(indices, RaggedTensor):
        return indices.with_flat_values(gather_nd(params, indices.flat_values))
    levels = indices.shape.ndims - 2
    rows = RaggedTensor.from_tensor(
        indices, ragged_rank=levels, row_splits_dtype=params.row_splits.dtype
    )
    result = rows.with_flat_values(gather_nd(params, rows.flat_values))
    return result.to_tensor() if result.ragged_rank == levels else result


def _nd(params: RaggedTensor, indices: Tensor) -> Any:
    size, rank = int(indices.shape[-1]), known_rank(indices)
    if size == 0:
        return _nothing_indexed(params, indices)
    if size == 1:
        rows = gather(params, array.reshape(indices, [-1]))
        return rows if rank == 2 else rows[0]  # a vector is one index
    indices = math.cast(indices, params.row_splits.dtype)
    place, values = (
        dense_gather(params.row_splits, indices[..., 0]) + indices[..., 1],
        params.values,
    )
    for dim in range(2, size):
        if not isinstance(values, RaggedTensor):
            rest = array.concat([array.expand_dims(place, -1), indices[..., dim:]], axis=-1)
            return dense_gather_nd(values, rest)
        place = dense_gather(values.row_starts(), place) + indices[..., dim]
        values = values.values
    return gather(values, place)


def _nothing_indexed(params: RaggedTensor, indices: Tensor) -> Any:
    """Coordinates of length 0 mean all of it, once for each."""
    from weft.lib.ragged.array import tile

    rank = params.ragged_rank + array.rank(params.flat_values)
    result: Any = params
    for _ in range(known_rank(indices) - 1):
        result = expand_dims(result, axis=0)
    ones = array.ones(array.stack([rank]), "int32")
    return tile(result, array.concat([array.shape(indices)[:-1], ones], axis=0))


# ---- batch_gather -------------------------------------------------------------------------------

_NO_BATCH = "batch shape from indices does not match params shape"


def batch_gather(params: Any, indices: Any, name: str | None = None) -> Any:
    """From each row of `params` what the same row of `indices` names."""
    with name_scope(name, "RaggedBatchGather", [params, indices]):
        params, indices = convert_alike({}, params=params, indices=indices)[1]
        no_rank = "batch_gather does not allow indices with unknown shape."
        check_rank(indices, {None: no_rank, 0: _NO_SCALAR})
        rank = indices.shape.ndims
        if isinstance(indices, RaggedTensor):
            return _batch_rows(params, indices)
        if not isinstance(params, RaggedTensor):
            return dense_batch_gather(params, indices)
        if rank == 1:
            return gather(params, indices)
        if rank > 2:
            raise ValueError(_NO_BATCH)
        starts = array.expand_dims(params.row_starts(), 1)
        return gather(params.values, math.cast(indices, starts.dtype) + starts)


def _batch_rows(params: Any, indices: RaggedTensor) -> Any:
    if known_rank(indices) > 2:
        if not isinstance(params, RaggedTensor):
            raise ValueError(_NO_BATCH)
        with control_dependencies([check.assert_equal(params.row_splits, indices.row_splits)]):
            values = batch_gather(params.values, indices.values)
            return RaggedTensor.from_row_splits(values, indices.row_splits, validate=False)
    if not isinstance(params, RaggedTensor):
        if params.shape.ndims is not None and params.shape.ndims < 2:
            raise ValueError(_NO_BATCH)
        params = RaggedTensor.from_tensor(params, row_splits_dtype=indices.row_splits.dtype)
    starts = array.repeat(params.row_starts(), indices.row_lengths(), axis=0)
    places = int_tensor(indices.values, "indices", starts.dtype) + starts
    return indices.with_values(gather(params.values, places))
