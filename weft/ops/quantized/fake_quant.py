"""Quantization simulated in floats, for training."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.op_def import op, raw
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims, ShapeContext
from weft.ops.array.array import invalid
from weft.ops.kit.declare import public
from weft.ops.quantized.quantize import scalar_range


def _levels(num_bits: int, narrow_range: bool) -> tuple[int, int]:
    if not 2 <= num_bits <= 16:
        raise invalid("num_bits must be between 2 and 16, inclusive")
    return int(narrow_range), (1 << num_bits) - 1


def _nudged(xp: Any, low: Any, high: Any, levels: tuple[int, int]) -> tuple[Any, Any, Any]:
    """(low, high, step) moved a little so that zero is one of the levels."""
    least, most = levels
    # In double precision: XLA multiplies by the rounded reciprocal of a constant, and the zero
    # point of a symmetric range is a tie that this would break the other way.
    step = ((high - low).astype(np.float64) / (most - least)).astype(np.float32)
    safe = xp.where(step == 0, np.float32(1), step)
    zero = least - low / safe
    zero = xp.clip(xp.floor(zero + np.float32(0.5)), least, most)
    return (least - zero) * step, (most - zero) * step, safe


def _fake_quantized(
    xp: Any, x: Any, low: Any, high: Any, levels: tuple[int, int], in_steps: Any = operator.truediv
) -> Any:
    """`in_steps(x, step)` is what decides between two levels that are equally near."""
    bottom, top, step = _nudged(xp, low, high, levels)
    zero = xp.trunc(-bottom / step + np.float32(0.5))
    clamped = xp.maximum(xp.minimum(x, top), bottom)
    level = xp.floor(in_steps(clamped - bottom, step) + np.float32(0.5))
    out = ((level - zero) * step).astype(np.float32)
    return xp.where((low == 0) & (high == 0), np.float32(0), out)


def _fake_gradients(
    xp: Any, grad: Any, x: Any, low: Any, high: Any, levels: tuple[int, int], axes: Any
) -> tuple[Any, Any, Any]:
    bottom, top, _ = _nudged(xp, low, high, levels)
    empty = (low == 0) & (high == 0)
    zero = np.float32(0)
    inside = xp.where(empty | ((x >= bottom) & (x <= top)), grad, zero)
    below = xp.sum(xp.where(~empty & (x < bottom), grad, zero), axis=axes, dtype=np.float32)
    above = xp.sum(xp.where(~empty & (x > top), grad, zero), axis=axes, dtype=np.float32)
    return inside, below, above


def _check_args(low: float, high: float) -> None:
    if low >= high:
        raise invalid(f"min has to be smaller than max, was: {low:g} >= {high:g}")


_BITS = "num_bits: int = 8, narrow_range: bool = false"
_ARGS = f"min: float = -6, max: float = 6, {_BITS}"


@op(
    "FakeQuantWithMinMaxArgs",
    inputs="inputs: float",
    outputs="outputs: float",
    attrs=_ARGS,
    shape=s.unchanged,
)
def fake_quant_with_min_max_args_(
    xp: Any, inputs: Any, *, min: float, max: float, num_bits: int, narrow_range: bool
) -> Any:
    _check_args(min, max)
    levels = _levels(num_bits, narrow_range)
    return _fake_quantized(xp, inputs, np.float32(min), np.float32(max), levels, _by_reciprocal)


def _by_reciprocal(x: Any, step: Any) -> Any:
    return x * (np.float32(1) / step)


@fake_quant_with_min_max_args_.gradient
def _(op: Operation, grad: Any) -> Any:
    attrs = {k: op.attrs[k] for k in ("min", "max", "num_bits", "narrow_range")}
    return raw.FakeQuantWithMinMaxArgsGradient(grad, op.inputs[0], **attrs)


@op(
    "FakeQuantWithMinMaxArgsGradient",
    inputs="gradients: float, inputs: float",
    outputs="backprops: float",
    attrs=_ARGS,
    shape=s.like_first,
)
def fake_quant_with_min_max_args_gradient_(
    xp: Any,
    gradients: Any,
    inputs: Any,
    *,
    min: float,
    max: float,
    num_bits: int,
    narrow_range: bool,
) -> Any:
    _check_args(min, max)
    _check_same(gradients, inputs)
    levels = _levels(num_bits, narrow_range)
    low, high = np.float32(min), np.float32(max)
    return _fake_gradients(xp, gradients, inputs, low, high, levels, None)[0]


def _check_same(gradients: Any, inputs: Any) -> None:
    if gradients.shape != inputs.shape:
        raise invalid("gradient and input must be the same size")


@op(
    "FakeQuantWithMinMaxVars",
    inputs="inputs: float, min: float, max: float",
    outputs="outputs: float",
    attrs=_BITS,
    shape=scalar_range,
)
def fake_quant_with_min_max_vars_(
    xp: Any, inputs: Any, min: Any, max: Any, *, num_bits: int, narrow_range: bool
) -> Any:
    return _fake_quantized(xp, inputs, min, max, _levels(num_bits, narrow_range))


@fake_quant_with_min_max_vars_.gradient
def _(op: Operation, grad: Any) -> Any:
    attrs = {k: op.attrs[k] for k in ("num_bits", "narrow_range")}
    return raw.FakeQuantWithMinMaxVarsGradient(grad, *op.inputs, **attrs)


def _vars_gradient_shape(c: ShapeContext) -> list[Dims]:
    s.with_rank(c.dims(2), 0)
    s.with_rank(c.dims(3), 0)
    return [s.merge(c.dims(0), c.dims(1)), (), ()]


_GRADIENTS = "backprops_wrt_input: float, backprop_wrt_min: float, backprop_wrt_max: float"


@op(
    "FakeQuantWithMinMaxVarsGradient",
    inputs="gradients: float, inputs: float, min: float, max: float",
    outputs=_GRADIENTS,
    attrs=_BITS,
    shape=_vars_gradient_shape,
)
def fake_quant_with_min_max_vars_gradient_(
    xp: Any, gradients: Any, inputs: Any, min: Any, max: Any, *, num_bits: int, narrow_range: bool
) -> Any:
    _check_same(gradients, inputs)
    levels = _levels(num_bits, narrow_range)
    return _fake_gradients(xp, gradients, inputs, min, max, levels, None)


def _channels(c: ShapeContext) -> Dims:
    dims = s.with_rank_at_least(c.dims(0), 1)
    (low,), (high,) = s.with_rank(c.dims(1), 1), s.with_rank(c.dims(2), 1)
    depth = s.merge_dim(low, high)
    if dims is not None:
        s.merge_dim(dims[-1], depth)
    return dims


def _check_channels(inputs: Any, low: Any, high: Any) -> None:
    depth = inputs.shape[-1]
    for what, value in (("min", low), ("max", high)):
        if value.shape != (depth,):
            raise invalid(f"{what} has incorrect size, expected {depth} was {value.shape[0]}")


@op(
    "FakeQuantWithMinMaxVarsPerChannel",
    inputs="inputs: float, min: float, max: float",
    outputs="outputs: float",
    attrs=_BITS,
    shape=_channels,
)
def fake_quant_with_min_max_vars_per_channel_(
    xp: Any, inputs: Any, min: Any, max: Any, *, num_bits: int, narrow_range: bool
) -> Any:
    _check_channels(inputs, min, max)
    return _fake_quantized(xp, inputs, min, max, _levels(num_bits, narrow_range))


@fake_quant_with_min_max_vars_per_channel_.gradient
def _(op: Operation, grad: Any) -> Any:
    attrs = {k: op.attrs[k] for k in ("num_bits", "narrow_range")}
    return raw.FakeQuantWithMinMaxVarsPerChannelGradient(grad, *op.inputs, **attrs)


def _channels_gradient_shape(c: ShapeContext) -> list[Dims]:
    dims = s.with_rank_at_least(s.merge(c.dims(0), c.dims(1)), 1)
    (low,), (high,) = s.with_rank(c.dims(2), 1), s.with_rank(c.dims(3), 1)
    depth = s.merge_dim(low, high)
    if dims is not None:
        depth = s.merge_dim(dims[-1], depth)
        dims = (*dims[:-1], depth)
    return [dims, (depth,), (depth,)]


@op(
    "FakeQuantWithMinMaxVarsPerChannelGradient",
    inputs="gradients: float, inputs: float, min: float, max: float",
    outputs=_GRADIENTS,
    attrs=_BITS,
    shape=_channels_gradient_shape,
)
def fake_quant_with_min_max_vars_per_channel_gradient_(
    xp: Any, gradients: Any, inputs: Any, min: Any, max: Any, *, num_bits: int, narrow_range: bool
) -> Any:
    _check_same(gradients, inputs)
    _check_channels(inputs, min, max)
    axes = tuple(range(inputs.ndim - 1))
    levels = _levels(num_bits, narrow_range)
    return _fake_gradients(xp, gradients, inputs, min, max, levels, axes)


fake_quant_with_min_max_args = public(
    "fake_quant_with_min_max_args",
    "FakeQuantWithMinMaxArgs",
    "`inputs` rounded to the levels of a fixed range.",
    "inputs, min, max, num_bits, narrow_range",
)
fake_quant_with_min_max_args_gradient = public(
    "fake_quant_with_min_max_args_gradient",
    "FakeQuantWithMinMaxArgsGradient",
    "The gradient of `fake_quant_with_min_max_args`: straight through inside the range.",
    "gradients, inputs, min, max, num_bits, narrow_range",
)
fake_quant_with_min_max_vars = public(
    "fake_quant_with_min_max_vars",
    "FakeQuantWithMinMaxVars",
    "`inputs` rounded to the levels of a range that is itself learned.",
    "inputs, min, max, num_bits, narrow_range",
)
fake_quant_with_min_max_vars_gradient = public(
    "fake_quant_with_min_max_vars_gradient",
    "FakeQuantWithMinMaxVarsGradient",
    "The gradients of `fake_quant_with_min_max_vars` for its inputs, minimum and maximum.",
    "gradients, inputs, min, max, num_bits, narrow_range",
)
fake_quant_with_min_max_vars_per_channel = public(
    "fake_quant_with_min_max_vars_per_channel",
    "FakeQuantWithMinMaxVarsPerChannel",
    "`fake_quant_with_min_max_vars` with a range for each channel.",
    "inputs, min, max, num_bits, narrow_range",
)
fake_quant_with_min_max_vars_per_channel_gradient = public(
    "fake_quant_with_min_max_vars_per_channel_gradient",
    "FakeQuantWithMinMaxVarsPerChannelGradient",
    "The gradients for its inputs, and for the minimum and the maximum of each channel.",
    "gradients, inputs, min, max, num_bits, narrow_range",
)
