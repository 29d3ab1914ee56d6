"""Counts of integers, of whole tensors or of each row: ops of versions after 1.15."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.traits import HOST, NO_GRADIENT
from weft.ops.kit.shared import check_sparse, invalid

_ATTRS = "Tidx: {int32, int64}, T: {int32, int64, float, double}, binary_output: bool = false"
_SETTINGS: dict[str, Any] = {
    "outputs": "output: T", "attrs": _ATTRS, "traits": HOST | NO_GRADIENT
}  # fmt: skip


def _size_of(c: s.ShapeContext, i: int) -> int | None:
    s.with_rank(c.dims(i), 0)
    size = c.value(i)
    if size is not None and size < 0:
        raise ValueError(f"size ({size}) must be non-negative")
    return None if size is None else int(size)


def _counted(
    values: Any, rows: Any, count: int | None, size: Any, weights: Any, binary_output: bool
) -> Any:
    """Counts of `values`, in `count` rows where there are rows; those past the end are left out."""
    if np.ndim(size) or int(size) < 0:
        raise invalid(f"size ({int(np.ravel(size)[0])}) must be non-negative")
    if np.any(values < 0):
        raise invalid("Input arr must be non-negative!")
    bins = np.zeros((1 if count is None else count, int(size)), weights.dtype)
    kept = values < size
    at = (rows[kept], values[kept])
    if binary_output:
        bins[at] = 1
    else:
        amounts = weights.reshape(-1)[kept] if weights.size else weights.dtype.type(1)
        np.add.at(bins, at, amounts)
    return bins[0] if count is None else bins


def _dense_shape(c: s.ShapeContext) -> s.Dims:
    dims, size = c.dims(0), _size_of(c, 1)
    if dims is not None and len(dims) > 2:
        raise ValueError(f"Shape must be at most rank 2 but is rank {len(dims)}")
    if dims is None:
        return None
    return (dims[0], size) if len(dims) == 2 else (size,)


@op("DenseBincount", inputs="input: Tidx, size: Tidx, weights: T", shape=_dense_shape, **_SETTINGS)
def dense_bincount_(xp: Any, input: Any, size: Any, weights: Any, *, binary_output: bool) -> Any:
    if input.ndim > 2:
        raise invalid(f"Shape must be at most rank 2 but is rank {input.ndim}")
    if weights.size and weights.shape != input.shape:
        raise invalid(
            "`weights` must be the same shape as `arr` or a length-0 `Tensor`, in which case it"
            f" acts as all weights equal to 1. Received {s.show(weights.shape)}"
        )
    count = input.shape[0] if input.ndim == 2 else None
    rows = np.repeat(np.arange(count or 1), input.size // (count or 1) if input.size else 0)
    return _counted(input.reshape(-1), rows, count, size, weights, binary_output)


def _rows_shape(c: s.ShapeContext) -> s.Dims:
    (splits,) = s.with_rank(c.dims(0), 1)
    return (None if splits is None else splits - 1, _size_of(c, 2))


@op(
    "RaggedBincount", inputs="splits: int64, values: Tidx, size: Tidx, weights: T",
    shape=_rows_shape, **_SETTINGS,
)  # fmt: skip
def ragged_bincount_(
    xp: Any, splits: Any, values: Any, size: Any, weights: Any, *, binary_output: bool
) -> Any:
    if not splits.size or splits[0] != 0:
        raise invalid(f"Splits must start with 0, not with {splits[0] if splits.size else 0}")
    if splits[-1] != values.size:
        raise invalid(
            f"Splits must end with the number of values, got {splits[-1]} instead of {values.size}"
        )
    rows = np.repeat(np.arange(splits.size - 1), np.diff(splits))
    return _counted(values.reshape(-1), rows, splits.size - 1, size, weights, binary_output)


def _sparse_shape(c: s.ShapeContext) -> s.Dims:
    (rank,), size, shape = s.with_rank(c.dims(2), 1), _size_of(c, 3), c.partial(2)
    if rank is None:
        return None
    if rank == 1:
        return (size,)
    return (shape[0] if shape else None, size)


@op(
    "SparseBincount",
    inputs="indices: int64, values: Tidx, dense_shape: int64, size: Tidx, weights: T",
    shape=_sparse_shape, **_SETTINGS,
)  # fmt: skip
def sparse_bincount_(
    xp: Any, indices: Any, values: Any, dense_shape: Any, size: Any, weights: Any, *,
    binary_output: bool,
) -> Any:  # fmt: skip
    check_sparse(indices, values, dense_shape)
    matrix = len(dense_shape) == 2
    rows = indices[:, 0] if matrix else np.zeros(values.size, np.int64)
    count = int(dense_shape[0]) if matrix else None
    return _counted(values, rows, count, size, weights, binary_output)


# ---- counts as sparse tensors --------------------------------------------------------------------

_SPARSE: dict[str, Any] = {
    "outputs": "output_indices: int64, output_values: output_type, output_dense_shape: int64",
    "attrs": "T: {int32, int64}, minlength: int >= -1 = -1, maxlength: int >= -1 = -1, "
    "binary_output: bool, output_type: {int32, int64, float, double}",
    "traits": HOST | NO_GRADIENT,
}


def _sparse_counts(values: Any, rows: Any, count: int | None, weights: Any, how: Any) -> list[Any]:
    """Indices, counts and shape of what is counted in each row, or in all where `count` is None."""
    least, most, binary_output = how
    if np.any(values < 0):
        raise invalid("Input values must all be non-negative")
    kept = values < most if most > 0 else np.ones(values.shape, bool)
    pairs = np.stack([rows, values], -1).astype(np.int64)[kept]
    found, place = np.unique(pairs, axis=0, return_inverse=True)
    totals = np.zeros(len(found), weights.dtype)
    amounts = weights.reshape(-1)[kept] if weights.size else weights.dtype.type(1)
    np.add.at(totals, place.reshape(-1), amounts)
    if binary_output:
        totals[:] = 1
    seen = int(values[kept].max()) + 1 if kept.any() else 0
    size = most if most > 0 else max(seen, least)
    shape = [size] if count is None else [count, size]
    return [found[:, 1:] if count is None else found, totals, np.array(shape, np.int64)]


def _check_weights(values: Any, weights: Any) -> None:
    if weights.size and weights.shape != values.shape:
        raise invalid(_unlike(weights.shape, values.shape))


def _unlike(weights: Any, values: Any) -> str:
    said = "Weights and data must have the same shape."
    return f"{said} Weight shape: {s.show(weights)}; data shape: {s.show(values)}"


def _rank_shapes(rank: int | None) -> list[s.Dims]:
    return [(None, rank), (None,), (rank,)]


def _dense_count_shape(c: s.ShapeContext) -> list[s.Dims]:
    dims, weights = c.dims(0), c.dims(1)
    known = None not in (dims, weights) and None not in (*(dims or ()), *(weights or ()))
    if known and 0 not in weights and weights != dims:  # type: ignore[operator]
        raise ValueError(_unlike(weights, dims))
    return _rank_shapes(None if dims is None else len(dims))


@op(
    "DenseCountSparseOutput", inputs="values: T, weights: output_type", shape=_dense_count_shape,
    **_SPARSE,
)  # fmt: skip
def dense_count_sparse_output_(
    xp: Any, values: Any, weights: Any, *, minlength: int, maxlength: int, binary_output: bool
) -> Any:
    if values.ndim not in (1, 2):
        raise invalid(f"Input must be a 1 or 2-dimensional tensor. Got: {s.show(values.shape)}")
    _check_weights(values, weights)
    count = len(values) if values.ndim == 2 else None
    rows = np.repeat(np.arange(count or 1), values.size // (count or 1))
    how = minlength, maxlength, binary_output
    return _sparse_counts(values.reshape(-1), rows.reshape(-1), count, weights, how)


@op(
    "SparseCountSparseOutput",
    inputs="indices: int64, values: T, dense_shape: int64, weights: output_type",
    shape=lambda c: _rank_shapes((c.dims(2) or (None,))[0]), **_SPARSE,
)  # fmt: skip
def sparse_count_sparse_output_(
    xp: Any,
    indices: Any,
    values: Any,
    dense_shape: Any,
    weights: Any,
    *,
    minlength: int,
    maxlength: int,
    binary_output: bool,
) -> Any:
    _check_weights(values, weights)
    check_sparse(indices, values, dense_shape)
    matrix = len(dense_shape) > 1
    rows = indices[:, 0] if matrix else np.zeros(values.size, np.int64)
    how = minlength, maxlength, binary_output
    return _sparse_counts(values, rows, int(dense_shape[0]) if matrix else None, weights, how)


@op(
    "RaggedCountSparseOutput", inputs="splits: int64, values: T, weights: output_type",
    shape=lambda c: _rank_shapes(2), **_SPARSE,
)  # fmt: skip
def ragged_count_sparse_output_(
    xp: Any,
    splits: Any,
    values: Any,
    weights: Any,
    *,
    minlength: int,
    maxlength: int,
    binary_output: bool,
) -> Any:
    _check_weights(values, weights)
    rows = np.repeat(np.arange(splits.size - 1), np.diff(splits))
    how = minlength, maxlength, binary_output
    return _sparse_counts(values, rows, splits.size - 1, weights, how)
