"""Ops that choose between values, element by element: Select and ClipByValue."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.op_def import op, raw
from weft.graph.traits import HOST, READS_ONLY
from weft.ops.array.array import shape, zeros, zeros_like
from weft.ops.kit.broadcast import check_broadcast, unbroadcast
from weft.ops.kit.shared import invalid

Array = Any


def _select_shape(c: s.ShapeContext) -> s.Dims:
    condition, dims = c.dims(0), s.merge(c.dims(1), c.dims(2))
    if condition is None or not condition or dims is None:
        return dims
    if len(condition) == 1 and dims:
        s.merge(condition, dims[:1])  # they must agree; TensorFlow infers nothing from it
        return dims
    return s.merge(dims, condition)


@op(
    "Select",
    inputs="condition: bool, t: T, e: T",
    outputs="output: T",
    attrs="T: type",
    shape=_select_shape,
)
def select(xp: Any, condition: Array, t: Array, e: Array) -> Array:
    return xp.where(_fit(condition, t, e), t, e)


@select.numpy
def _(xp: Any, condition: Array, t: Array, e: Array) -> Array:
    condition = _fit(condition, t, e)
    if condition.ndim:
        return np.where(condition, t, e)
    return t if condition else e


def _fit(condition: Array, t: Array, e: Array) -> Array:
    """`condition` in a shape that fits the two choices."""
    if t.shape != e.shape:
        raise invalid(
            "'then' and 'else' must have the same size.  but received: "
            f"{s.show(t.shape)} vs. {s.show(e.shape)}",
        )
    if condition.ndim == 1 and t.ndim > 1 and condition.shape[0] == t.shape[0]:
        condition = condition.reshape(condition.shape + (1,) * (t.ndim - 1))
    elif condition.ndim and condition.shape != t.shape:
        raise invalid(
            "'cond' must be a scalar, a vector or of the shape of 'then'  but received: "
            f"{s.show(condition.shape)} vs. {s.show(t.shape)}",
        )
    return condition


@select.gradient
def _(op: Any, grad: Any) -> Any:
    condition, x, _ = op.inputs
    nothing = zeros_like(x)
    return None, raw.Select(condition, grad, nothing), raw.Select(condition, nothing, grad)


def _ref_select_shape(c: s.ShapeContext) -> s.Dims:
    s.with_rank(c.dims(0), 0)
    dims = [c.dims(i) for i in range(1, c.num_inputs)]
    return dims[0] if s.known(dims[0]) and all(d == dims[0] for d in dims) else None


@op(
    "RefSelect",
    inputs="index: int32, inputs: ref(N * T)",
    outputs="output: ref(T)",
    attrs="T: type, N: int >= 1",
    shape=_ref_select_shape,
    traits=HOST | READS_ONLY,
)
def ref_select(xp: Any, index: Array, inputs: list[Any]) -> Any:
    if index.ndim:
        raise invalid(f"Index must be a scalar, but it has shape {s.show(index.shape)}")
    for cell in inputs:
        if not cell.initialized:
            cell.read()  # says so
    if not 0 <= index < len(inputs):
        raise invalid(f"Index must be in the range [0, {len(inputs)}) but got {int(index)}")
    return inputs[int(index)]


@op(
    "SelectV2",
    inputs="condition: bool, t: T, e: T",
    outputs="output: T",
    attrs="T: type",
    shape=lambda c: s.broadcast_dims(s.broadcast_dims(c.dims(1), c.dims(2)), c.dims(0)),
)
def select_v2(xp: Any, condition: Array, t: Array, e: Array) -> Array:
    check_broadcast(condition, t, e)
    return xp.where(condition, t, e)


@select_v2.gradient
def _(op: Any, grad: Any) -> Any:
    condition, x, y = op.inputs
    nothing = zeros([], dtype=grad.dtype.base_dtype)
    gx = raw.SelectV2(condition, grad, nothing)
    x_shape, output_shape = shape(x), shape(op.outputs[0])
    x_axes, _ = raw.BroadcastGradientArgs(x_shape, output_shape)
    gx = raw.Reshape(raw.Sum(gx, x_axes, keep_dims=True), x_shape)
    gy = raw.SelectV2(condition, nothing, grad)
    y_shape = shape(y)
    y_axes, _ = raw.BroadcastGradientArgs(y_shape, output_shape)
    gy = raw.Reshape(raw.Sum(gy, y_axes, keep_dims=True), y_shape)
    return None, gx, gy


def _clip_shape(c: s.ShapeContext) -> s.Dims:
    dims = c.dims(0)
    for i in (1, 2):
        if c.dims(i) != ():
            dims = s.merge(dims, None if c.dims(i) is None else dims)
    return dims


@op(
    "ClipByValue",
    inputs="t: T, clip_value_min: T, clip_value_max: T",
    outputs="output: T",
    attrs="T: numbertype",
    shape=_clip_shape,
)
def clip_by_value_op(xp: Any, t: Array, clip_value_min: Array, clip_value_max: Array) -> Array:
    for limit in (clip_value_min, clip_value_max):
        if limit.shape not in ((), t.shape):
            message = "clip_value_min and clip_value_max must be either of the same shape as input,"
            raise invalid(f"{message} or a scalar.")
    # The lower limit wins where the limits cross.
    lowered = xp.where(clip_value_max < t, clip_value_max, t)
    return xp.where(lowered < clip_value_min, clip_value_min, lowered)


@clip_by_value_op.gradient
def _(op: Any, grad: Any) -> Any:
    x, low, high = op.inputs
    nothing = zeros(shape(grad), grad.dtype.base_dtype)
    below, above = raw.Less(x, low), raw.Greater(x, high)
    _, to_low = unbroadcast(x, low)
    _, to_high = unbroadcast(x, high)
    gx = raw.Select(raw.LogicalOr(below, above), nothing, grad)
    return gx, to_low(raw.Select(below, grad, nothing)), to_high(raw.Select(above, grad, nothing))
