"""tf.sort and tf.argsort: TopK of a whole axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.graph.constant_value import constant_value
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import name_scope
from weft.graph.op_def import raw
from weft.graph.tensor import Tensor
from weft.ops.array import array
from weft.ops.math import math as math_ops


def sort(
    values: Any, axis: int = -1, direction: str = "ASCENDING", name: str | None = None
) -> Tensor:
    """`values` in order along `axis`."""
    with name_scope(name, "sort"):
        return _sorted(values, axis, direction)


def argsort(
    values: Any,
    axis: int = -1,
    direction: str = "ASCENDING",
    stable: bool = False,
    name: str | None = None,
) -> Tensor:
    """The positions that put `values` in order along `axis`. Equal values keep their order."""
    with name_scope(name, "argsort"):
        return _sorted(values, axis, direction, positions=True)


def _sorted(values: Any, axis: Any, direction: str, positions: bool = False) -> Tensor:
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(f"{direction} should be one of ASCENDING, DESCENDING")
    axis = constant_value(convert_to_tensor(axis, name="axis"))
    if axis is None or axis.ndim:
        raise ValueError("axis must be a constant scalar")
    values = convert_to_tensor(values, name="values")
    if direction == "DESCENDING":
        return _descending(values, int(axis), positions)
    found = _descending(_reversed(values), int(axis), positions)
    return found if positions else _reversed(found)


def _reversed(values: Tensor) -> Tensor:
    """Values in the opposite order; twice gives them back."""
    # The negative of the least integer, or of an unsigned one, is not itself reversed.
    return raw.Invert(values) if values.dtype.is_integer else raw.Neg(values)


def _descending(values: Tensor, axis: int, positions: bool) -> Tensor:
    """The values along `axis`, the largest first, or their positions."""
    count = array.shape(values)[axis]
    rank = None if values.dims is None else len(values.dims)
    array.rank(values)  # a node of TensorFlow's that nothing reads
    if axis in (-1, (rank or 0) - 1):
        return raw.TopKV2(values, count)[positions]
    swap = _swap_with_last(values, axis, rank)
    found = raw.TopKV2(array.transpose(values, swap), count)[positions]
    return array.transpose(found, swap)


def _swap_with_last(values: Tensor, axis: int, rank: int | None) -> Tensor:
    if rank is not None:
        known = np.arange(rank)
        known[[axis, -1]] = known[[-1, axis]]
        return constant(known, name="transposition")
    count = array.rank(values)
    position = count + axis if axis < 0 else convert_to_tensor(axis)
    order, size = math_ops.range(count), array.expand_dims(count, 0)
    at, last = math_ops.equal(order, position), math_ops.equal(order, count - 1)
    moved = raw.Select(at, array.fill(size, count - 1), order)
    return raw.Select(last, array.fill(size, position), moved, name="transposition")
