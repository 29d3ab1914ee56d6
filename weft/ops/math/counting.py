"""Counts of integers, of whole tensors or of each row: ops of versions after 1.15."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.traits import HOST, NO_GRADIENT
from weft.ops.kit.shared import invalid

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
    rank, size, shape = c.dims(2), _size_of(c, 3), c.value(2)
    if rank is None or rank[0] is None:
        return None
    if rank[0] == 1:
        return (size,)
    return (None if shape is None else int(shape[0]), size)


@op(
    "SparseBincount",
    inputs="indices: int64, values: Tidx, dense_shape: int64, size: Tidx, weights: T",
    shape=_sparse_shape, **_SETTINGS,
)  # fmt: skip
def sparse_bincount_(
    xp: Any, indices: Any, values: Any, dense_shape: Any, size: Any, weights: Any, *,
    binary_output: bool,
) -> Any:  # fmt: skip
    matrix = len(dense_shape) == 2
    rows = indices[:, 0] if matrix else np.zeros(values.size, np.int64)
    count = int(dense_shape[0]) if matrix else None
    return _counted(values, rows, count, size, weights, binary_output)
