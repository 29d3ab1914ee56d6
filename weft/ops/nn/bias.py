"""Biases: one number for each channel, added to all of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.graph import shape_fn as s
from weft.graph.op_def import op, raw
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.tensor import Tensor
from weft.ops.array.array import concat, invalid, ones_like, reshape, shape
from weft.ops.kit.row_sums import sum_along
from weft.ops.math.reduce import wide

Array = Any


_BIAS_ATTRS = 'T: numbertype, data_format: {"NHWC", "NCHW"} = "NHWC"'


def _channel_axis(rank: int, data_format: str) -> int:
    return 1 if data_format == "NCHW" else rank - 1


def _biased(c: ShapeContext) -> Dims:
    data_format = c.attrs.get("data_format", "NHWC")
    bias = s.with_rank(c.dims(1), 1)
    dims = s.with_rank_at_least(c.dims(0), 2)
    if dims is None:
        return None
    axis = _channel_axis(len(dims), data_format)
    channels = s.merge_dim(dims[axis], bias[0])
    return (*dims[:axis], channels, *dims[axis + 1 :])


def _add_bias(value: Array, bias: Array, data_format: str) -> Array:
    if value.ndim < 2:
        raise invalid(f"Input tensor must be at least 2D: {s.show(value.shape)}")
    if bias.ndim != 1:
        raise invalid(f"Biases must be 1D: {s.show(bias.shape)}")
    axis = _channel_axis(value.ndim, data_format)
    if bias.shape[0] != value.shape[axis]:
        which = "channel" if data_format == "NCHW" else "last"
        raise invalid(
            f"Must provide as many biases as the {which} dimension of the input tensor: "
            f"{s.show(bias.shape)} vs. {s.show(value.shape)}"
        )
    return value + bias.reshape(-1, *[1] * (value.ndim - 1 - axis))


@op(
    "BiasAdd",
    inputs="value: T, bias: T",
    outputs="output: T",
    attrs=_BIAS_ATTRS,
    shape=_biased,
)
def bias_add_(xp: Any, value: Array, bias: Array, *, data_format: str) -> Array:
    return _add_bias(value, bias, data_format)


@bias_add_.gradient
def _(op: Operation, grad: Any) -> Any:
    return grad, raw.BiasAddGrad(grad, data_format=op.attrs["data_format"])


@op(
    "BiasAddV1",
    inputs="value: T, bias: T",
    outputs="output: T",
    attrs="T: numbertype",
    shape=_biased,
)
def bias_add_v1_(xp: Any, value: Array, bias: Array) -> Array:
    return _add_bias(value, bias, "NHWC")


@bias_add_v1_.gradient
def _(op: Operation, grad: Any) -> Any:
    outer = raw.Range(0, raw.Rank(grad) - 1, 1, name="range")
    return grad, raw.Sum(grad, outer)


def _bias_gradient(c: ShapeContext) -> Dims:
    dims = s.with_rank_at_least(c.dims(0), 2)
    return (None,) if dims is None else (dims[_channel_axis(len(dims), c.attr("data_format"))],)


@op(
    "BiasAddGrad",
    inputs="out_backprop: T",
    outputs="output: T",
    attrs=_BIAS_ATTRS,
    shape=_bias_gradient,
)
def bias_add_grad_(xp: Any, out_backprop: Array, *, data_format: str) -> Array:
    if out_backprop.ndim < 2:
        raise invalid(f"Input tensor must be at least 2D: {s.show(out_backprop.shape)}")
    kept = _channel_axis(out_backprop.ndim, data_format)
    axes = tuple(i for i in range(out_backprop.ndim) if i != kept)
    g = wide(out_backprop)
    return sum_along(xp, g, axis=axes).astype(out_backprop.dtype)


# The axes before the channels, and those after them if there are any.
_AROUND_CHANNELS = {"NHWC": (slice(-1), ()), "NCHW": (slice(1), (slice(2, None),))}


@bias_add_grad_.gradient
def _(op: Operation, grad: Any) -> Any:
    dims, channels = shape(op.inputs[0]), shape(grad)
    before, after = _AROUND_CHANNELS[op.attrs["data_format"]]

    def around(middle: Any, part: Callable[[Any], Any]) -> Tensor:
        return concat([part(dims[before]), middle, *(part(dims[axes]) for axes in after)], 0)

    expanded = around(channels, ones_like)
    repeats = around([1], lambda part: part)
    return raw.Tile(reshape(grad, expanded), repeats)
