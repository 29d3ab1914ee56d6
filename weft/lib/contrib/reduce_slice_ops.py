"""tf.contrib.reduce_slice_ops: reductions over ranges of rows that values give."""

from __future__ import annotations

from typing import Any

from weft.graph.op_def import raw
from weft.graph.tensor import Tensor


def reduce_slice_sum(data: Any, indices: Any, axis: Any, name: str | None = None) -> Tensor:
    """The sums over the ranges [start, end) in the rows of `indices`; zero for an empty one."""
    return raw.ReduceSliceSum(data, indices, axis, name=name)


def reduce_slice_prod(data: Any, indices: Any, axis: Any, name: str | None = None) -> Tensor:
    """The products over the ranges of `indices`; one for an empty one."""
    return raw.ReduceSliceProd(data, indices, axis, name=name)


def reduce_slice_max(data: Any, indices: Any, axis: Any, name: str | None = None) -> Tensor:
    """The maxima over the ranges of `indices`; the least value for an empty one."""
    return raw.ReduceSliceMax(data, indices, axis, name=name)


def reduce_slice_min(data: Any, indices: Any, axis: Any, name: str | None = None) -> Tensor:
    """The minima over the ranges of `indices`; the greatest value for an empty one."""
    return raw.ReduceSliceMin(data, indices, axis, name=name)
