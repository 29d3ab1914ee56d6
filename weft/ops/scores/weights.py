"""Weights of losses and metrics: scalars, or of the values' rank with each size equal or 1."""

from __future__ import annotations

from functools import partial
from typing import Any

from weft.graph.convert import convert_to_tensor
from weft.graph.graph import control_dependencies, name_scope
from weft.graph.op_def import raw
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor
from weft.ops.array import array
from weft.ops.control import control
from weft.ops.control.cond import cond
from weft.ops.kit.operands import as_type_of, operands
from weft.ops.math import math as math_ops

_PROBLEM = "weights can not be broadcast to values."


def assert_broadcastable(weights: Any, values: Any) -> Operation:
    """An operation that fails unless `weights` fit `values`; ValueError if that is known now."""
    with name_scope(None, "assert_broadcastable", (weights, values)) as scope:
        weights, weights_shape, weights_rank = _measured("weights", weights)
        values, values_shape, values_rank = _measured("values", values)
        if _fits(weights, values):
            what = "scalar" if weights.dims == () else "dims"
            return control.no_op(name=f"static_{what}_check_success")
        is_scalar = math_ops.equal(0, weights_rank, name="is_scalar")
        fits = cond(
            is_scalar,
            lambda: is_scalar,
            lambda: _is_like((weights_shape, weights_rank), (values_shape, values_rank)),
            name="is_valid_shape",
        )
        shapes = ["weights.shape=", weights.name, weights_shape]
        shapes += ["values.shape=", values.name, values_shape]
        return control.Assert(fits, [_PROBLEM, *shapes, "is_scalar=", is_scalar], name=scope)


def _measured(name: str, value: Any) -> tuple[Tensor, Tensor, Tensor]:
    """A tensor, its shape and its rank."""
    with name_scope(None, name, (value,)) as scope:
        tensor = convert_to_tensor(value, name=scope)
        measures = {"shape": array.shape, "rank": array.rank}
        shape, rank = (measure(tensor, name=what) for what, measure in measures.items())
        return tensor, shape, rank


def _fits(weights: Tensor, values: Tensor) -> bool:
    """Whether the static shapes fit; False if that is not yet known, ValueError if they do not."""
    if weights.dims is None or values.dims is None:
        return False
    if weights.dims == ():
        return True
    if len(weights.dims) != len(values.dims):
        raise ValueError(
            f"{_PROBLEM} values.rank={len(values.dims)}. weights.rank={len(weights.dims)}. "
            f"values.shape={values.shape}. weights.shape={weights.shape}."
        )
    known = True
    for i, (size, wanted) in enumerate(zip(weights.dims, values.dims, strict=True)):
        if size == 1:
            continue
        if size is None or wanted is None:
            known = False
        elif size != wanted:
            raise ValueError(
                f"{_PROBLEM} Mismatch at dim {i}. values.shape={_sizes(values)} "
                f"weights.shape={_sizes(weights)}."
            )
    return known


def _sizes(tensor: Tensor) -> str:
    """A shape as NumPy writes a vector."""
    return f"[{' '.join('?' if size is None else str(size) for size in tensor.dims or ())}]"


def _is_like(weights: tuple[Tensor, Tensor], values: tuple[Tensor, Tensor]) -> Tensor:
    """Of two shapes and their ranks: whether the ranks are the same, and each size is too, or 1."""
    (weights_shape, own), (values_shape, wanted) = weights, values
    with name_scope("has_valid_nonscalar_shape") as scope:
        same = math_ops.equal(wanted, own, name="is_same_rank")
        fits = partial(_sizes_fit, weights_shape, values_shape)
        return cond(same, fits, lambda: same, name=scope)


def _sizes_fit(weights_shape: Tensor, values_shape: Tensor) -> Tensor:
    """Whether each size of the weights is that of the values, or 1."""
    with name_scope("has_invalid_dims") as scope:
        count = array.size(_misfits(weights_shape, values_shape), name="num_invalid_dims")
        return math_ops.equal(0, count, name=scope)


def _misfits(sizes: Tensor, wanted: Tensor) -> Tensor:
    """Those of `sizes` that are not in the set of what is `wanted` at their place, and 1."""
    columns = [array.expand_dims(wanted, -1)]
    columns.append(array.ones_like(columns[0]))
    allowed = array.concat(columns, axis=1)
    rows = array.expand_dims(sizes, -1)
    difference = raw.DenseToDenseSetOperation(rows, allowed, set_operation="a-b")
    misfits: Tensor = difference[1]
    return misfits


def broadcast_weights(weights: Any, values: Any) -> Tensor:
    """`weights` as large as `values`."""
    with operands(None, "broadcast_weights", weights, values=values) as (scope, values):
        weights = as_type_of(values, "weights", weights)
        if weights.shape.is_fully_defined() and weights.dims == values.dims:
            return weights
        with control_dependencies([assert_broadcastable(weights, values)]):
            return math_ops.multiply(weights, array.ones_like(values), name=scope)


def ratio(total: Any, count: Any, name: str | None = None) -> Tensor:
    """`total` over `count`, and 0 where nothing was counted."""
    return math_ops.div_no_nan(total, math_ops.maximum(count, 0), name=name)
