"""Convolutions in two and three dimensions, depthwise ones, and their gradients.

Kernels put channels last, look up the windows and leave the work to conv_lowering.py. Sizes
given as inputs are static. `data_format` says where the channels are: NHWC, NCHW, NDHWC or NCDHW.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from weft.graph import shape_fn as s
from weft.graph.op_def import OpDef, op, raw
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.traits import DEPRECATED, XLA, costs
from weft.ops.array.array import invalid, shape
from weft.ops.kit.shared import shape_vector, taking_attrs
from weft.ops.nn import conv_lowering
from weft.ops.nn.window_shapes import (
    arranged,
    as_format,
    channels_last,
    conv_window,
    depth,
    explicit_edges,
    spatial,
    window_attr,
    window_dims,
)
from weft.ops.nn.windows import Ints, Window

Array = Any
FLOATS = "{half, bfloat16, float, double}"


def _check_depths(name: str, channels: int, filter_shape: Sequence[int]) -> None:
    inner, outer = filter_shape[-2:]
    if inner == 0 or channels % inner or (outer % max(channels // inner, 1)):
        raise invalid(
            f"{name}: input depth must be evenly divisible by filter depth: {channels} vs {inner}"
        )


def _check_same_depth(name: str, channels: int, filter_shape: Sequence[int]) -> None:
    if channels != filter_shape[2]:
        raise invalid(f"input and filter must have the same depth: {channels} vs {filter_shape[2]}")


def _check_gradient(
    name: str, batch: int, window: Window, channels: int, g: Array, data_format: str
) -> None:
    wanted = arranged(batch, window.output, channels, data_format)
    if g.shape != wanted:
        raise invalid(
            f"{name}: Size of out_backprop doesn't match computed: "
            f"actual = {s.show(g.shape)}, computed = {s.show(wanted)}"
        )


def _empty(xp: Any, dims: Sequence[int], like: Array) -> Array:
    return xp.zeros(tuple(dims), like.dtype)


# ---- shape rules ------------------------------------------------------------------------------


def _convolved(name: str) -> Callable[[ShapeContext], Dims]:
    def rule(c: ShapeContext) -> Dims:
        data_format = c.attr("data_format")
        rank = len(data_format)
        x, w = s.with_rank(c.dims(0), rank), s.with_rank(c.dims(1), rank)
        dilations = window_attr(c, "dilations", name, rank)
        at = f" on data format {data_format}" if name == "Conv2D" else ""
        strides = window_attr(c, "strides", name + at, rank)
        _check_static_depths(depth(x, data_format), *w[-2:])
        padding = c.attr("padding")
        edges = explicit_edges(padding, c.attrs.get("explicit_paddings", []), rank, data_format)
        outputs = window_dims(
            spatial(x, data_format),
            w[:-2],
            spatial(strides, data_format),
            spatial(dilations, data_format),
            padding,
            edges,
        )
        return arranged(x[0], outputs, w[-1], data_format)

    return rule


def _check_static_depths(channels: int | None, inner: int | None, outer: int | None) -> None:
    if channels is None or inner is None:
        return
    if inner == 0:
        raise ValueError("Depth of filter must not be 0")
    if channels % inner:
        raise ValueError(
            f"Depth of input ({channels}) is not a multiple of input depth of filter ({inner})"
        )
    groups = channels // inner
    if outer is not None and groups > 1 and outer % groups:
        raise ValueError(
            f"Depth of output ({outer}) is not a multiple of the number of groups ({groups})"
        )


def _sized_by(i: int, rank: int) -> Callable[[ShapeContext], Dims]:
    """The output's shape is the value of input `i`."""

    def rule(c: ShapeContext) -> Dims:
        return s.with_rank(shape_vector(c, i), rank)

    return rule


def _input_sized(c: ShapeContext) -> Dims:
    """As the value of input 0 says; the batch is that of the gradient, too."""
    sizes, g = s.with_rank(shape_vector(c, 0), 4), s.with_rank(c.dims(2), 4)
    return (g[0], *sizes[1:]) if sizes[0] is None else sizes


def _shaped_like(i: int, rank: int) -> Callable[[ShapeContext], Dims]:
    def rule(c: ShapeContext) -> Dims:
        return s.with_rank(c.dims(i), rank)

    return rule


def _depthwise(c: ShapeContext) -> Dims:
    data_format = c.attr("data_format")
    x, w = s.with_rank(c.dims(0), 4), s.with_rank(c.dims(1), 4)
    strides = window_attr(c, "strides", "DepthwiseConv2D")
    dilations = window_attr(c, "dilations", "DepthwiseConv2D")
    channels = s.merge_dim(depth(x, data_format), w[2])
    outputs = window_dims(
        spatial(x, data_format),
        w[:2],
        spatial(strides, data_format),
        spatial(dilations, data_format),
        c.attr("padding"),
    )
    total = None if channels is None or w[3] is None else channels * w[3]
    return arranged(x[0], outputs, total, data_format)


# ---- work estimates ---------------------------------------------------------------------------


def _forward_flops(dims: Sequence[Any], attrs: dict[str, Any]) -> float:
    strides = math.prod(attrs["strides"])
    return 2.0 * math.prod(dims[0]) * math.prod(dims[1][:-2]) * dims[1][-1] / strides


def _input_flops(dims: Sequence[Any], attrs: dict[str, Any]) -> float:
    return 2.0 * math.prod(dims[2]) * math.prod(dims[1][:-1])


def _filter_flops(dims: Sequence[Any], attrs: dict[str, Any]) -> float:
    # The window's size is a value, not a shape; nine positions are typical.
    return 18.0 * math.prod(dims[0]) * dims[2][-1] / math.prod(attrs["strides"])


def _depthwise_flops(dims: Sequence[Any], attrs: dict[str, Any]) -> float:
    return 36.0 * max(math.prod(d) for d in dims)


# ---- what convolutions compute ----------------------------------------------------------------


@dataclass(frozen=True)
class _Kind:
    """The differences of full and depthwise convolutions; the last three are conv_lowering's."""

    check_depths: Callable[[str, int, Sequence[int]], None]
    channels: Callable[[Sequence[int]], int]  # of the output, by the filter's shape
    forward: Callable[[Array, Array, Window], Array]
    to_input: Callable[[Array, Array, Window, int], Array]
    to_filter: Callable[[Array, Array, Window, Ints], Array]


_FULL = _Kind(
    _check_depths,
    lambda shape: shape[-1],
    conv_lowering.convolve,
    conv_lowering.convolve_input,
    conv_lowering.convolve_filter,
)
_DEPTHWISE = _Kind(
    _check_same_depth,
    lambda shape: shape[2] * shape[3],
    conv_lowering.depthwise,
    lambda w, g, window, channels: conv_lowering.depthwise_input(w, g, window),
    conv_lowering.depthwise_filter,
)


def _forward(kind: _Kind, name: str, xp: Any, input: Array, filter: Array, **attrs: Any) -> Array:
    data_format = attrs["data_format"]
    window = conv_window(name, input.shape, filter.shape, **attrs)
    kind.check_depths(name, depth(input.shape, data_format), filter.shape)
    channels = kind.channels(filter.shape)
    dims = arranged(input.shape[0], window.output, channels, data_format)
    if 0 in dims or 0 in input.shape or 0 in filter.shape:
        return _empty(xp, dims, input)
    x = channels_last(xp, input, data_format)
    return as_format(xp, kind.forward(x, filter, window), data_format)


def _to_input(
    kind: _Kind,
    name: str,
    xp: Any,
    input_sizes: Sequence[int],
    filter: Array,
    out_backprop: Array,
    **attrs: Any,
) -> Array:
    data_format = attrs["data_format"]
    dims = tuple(int(d) for d in input_sizes)
    if len(dims) == len(data_format) - 2 and kind is _FULL:  # spatial sizes only
        dims = arranged(out_backprop.shape[0], dims, filter.shape[-2], data_format)
    window = conv_window(name, dims, filter.shape, **attrs)
    channels = depth(dims, data_format)
    kind.check_depths(name, channels, filter.shape)
    outputs = kind.channels(filter.shape)
    _check_gradient(name, dims[0], window, outputs, out_backprop, data_format)
    if 0 in dims or 0 in out_backprop.shape or 0 in filter.shape:
        return _empty(xp, dims, out_backprop)
    g = channels_last(xp, out_backprop, data_format)
    return as_format(xp, kind.to_input(filter, g, window, channels), data_format)


def _to_filter(
    kind: _Kind,
    name: str,
    xp: Any,
    input: Array,
    filter_sizes: Sequence[int],
    out_backprop: Array,
    **attrs: Any,
) -> Array:
    data_format = attrs["data_format"]
    dims: Ints = tuple(int(d) for d in filter_sizes)
    window = conv_window(name, input.shape, dims, **attrs)
    kind.check_depths(name, depth(input.shape, data_format), dims)
    outputs = kind.channels(dims)
    _check_gradient(name, input.shape[0], window, outputs, out_backprop, data_format)
    if 0 in dims or 0 in out_backprop.shape or 0 in input.shape:
        return _empty(xp, dims, out_backprop)
    x, g = (channels_last(xp, a, data_format) for a in (input, out_backprop))
    return kind.to_filter(x, g, window, dims)


# ---- declarations -----------------------------------------------------------------------------


_ATTRS = ("strides", "padding", "data_format", "dilations")
_Rule = Callable[[ShapeContext], Dims]


def _declare(
    kind: _Kind,
    names: Sequence[str],
    attrs: str,
    rules: Sequence[_Rule],
    flops: Sequence[Callable[..., float]],
    shown: Sequence[str] = (),
    sizes: str = "int32",
) -> list[OpDef]:
    """A convolution, its gradient for the input and that for the filter, by their `names`.

    `shown` are the names in messages; `sizes` is the type of the input's sizes, with its attribute.
    """
    used = [*_ATTRS, "explicit_paddings"] if "explicit_paddings" in attrs else _ATTRS
    size_type, _, size_attr = sizes.partition(": ")
    computed: tuple[tuple[Callable[..., Array], str, str, str], ...] = (
        (_forward, "input: T, filter: T", "", ""),
        (
            _to_input,
            f"input_sizes: {size_type}, filter: T, out_backprop: T",
            f", {sizes}" if size_attr else "",
            "input_sizes",
        ),
        (_to_filter, "input: T, filter_sizes: int32, out_backprop: T", "", "filter_sizes"),
    )
    ops = []
    for i, (compute, inputs, more, static) in enumerate(computed):
        declare = op(
            names[i], inputs=inputs, outputs="output: T", attrs=attrs + more, shape=rules[i],
            static=static, traits=XLA | costs(flops[i]),
        )  # fmt: skip
        kernel = partial(compute, kind, (shown or names)[i])
        ops.append(declare(taking_attrs(kernel, used)))
    _differentiate(*ops)
    return ops


def _differentiate(forward: OpDef, to_input: OpDef, to_filter: OpDef) -> None:
    """Each of the three has the other two for gradients."""
    handed_on = [*_ATTRS, "explicit_paddings", "use_cudnn_on_gpu"]

    def copied(op: Operation) -> dict[str, Any]:
        return {name: op.attrs[name] for name in handed_on if name in op.attrs}

    @forward.gradient
    def _(op: Operation, grad: Any) -> Any:
        x, w = op.inputs
        attrs = copied(op)
        if forward.name == "Conv2D":
            x_shape, w_shape = raw.ShapeN([x, w])
            return to_input(x_shape, w, grad, **attrs), to_filter(x, w_shape, grad, **attrs)
        return to_input(shape(x), w, grad, **attrs), to_filter(x, shape(w), grad, **attrs)

    @to_input.gradient
    def _(op: Operation, grad: Any) -> Any:
        _, w, g = op.inputs
        attrs = copied(op)
        return None, to_filter(grad, shape(w), g, **attrs), forward(grad, w, **attrs)

    @to_filter.gradient
    def _(op: Operation, grad: Any) -> Any:
        x, _, g = op.inputs
        attrs = copied(op)
        return to_input(shape(x), grad, g, **attrs), None, forward(x, grad, **attrs)


conv2d_, conv2d_backprop_input_, conv2d_backprop_filter_ = _declare(
    _FULL,
    ("Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter"),
    f"T: {FLOATS}, strides: list(int), use_cudnn_on_gpu: bool = true,"
    ' padding: {"SAME", "VALID", "EXPLICIT"}, explicit_paddings: list(int) = [],'
    ' data_format: {"NHWC", "NCHW"} = "NHWC", dilations: list(int) = [1, 1, 1, 1]',
    (_convolved("Conv2D"), _input_sized, _sized_by(1, 4)),
    (_forward_flops, _input_flops, _filter_flops),
)

conv3d_, conv3d_backprop_input_v2_, conv3d_backprop_filter_v2_ = _declare(
    _FULL,
    ("Conv3D", "Conv3DBackpropInputV2", "Conv3DBackpropFilterV2"),
    f"T: {FLOATS}, strides: list(int) >= 5,"
    ' padding: {"SAME", "VALID"}, data_format: {"NDHWC", "NCDHW"} = "NDHWC",'
    " dilations: list(int) = [1, 1, 1, 1, 1]",
    (_convolved("Conv3D"), _sized_by(0, 5), _sized_by(1, 5)),
    (_forward_flops, _input_flops, _filter_flops),
    shown=("Conv3D", "Conv3DBackpropInput", "Conv3DBackpropFilter"),
    sizes="Tshape: {int32, int64} = int32",
)

(
    depthwise_conv2d_native_,
    depthwise_conv2d_native_backprop_input_,
    depthwise_conv2d_native_backprop_filter_,
) = _declare(
    _DEPTHWISE,
    (
        "DepthwiseConv2dNative",
        "DepthwiseConv2dNativeBackpropInput",
        "DepthwiseConv2dNativeBackpropFilter",
    ),
    f'T: {FLOATS}, strides: list(int), padding: {{"SAME", "VALID"}},'
    ' data_format: {"NHWC", "NCHW"} = "NHWC", dilations: list(int) = [1, 1, 1, 1]',
    (_depthwise, _sized_by(0, 4), _sized_by(1, 4)),
    (
        _depthwise_flops,
        lambda dims, attrs: _depthwise_flops(dims[1:], attrs),
        _depthwise_flops,
    ),
    shown=(
        "DepthwiseConv2dNative",
        "DepthwiseConv2DBackpropInput",
        "DepthwiseConv2DBackpropFilter",
    ),
)


def _declare_first_version(
    name: str, compute: Callable[..., Array], sized: int, flops: Callable[..., float]
) -> OpDef:
    """A gradient of Conv3D that is given, at `sized`, a tensor of the shape it shall have."""

    def by_tensor(xp: Any, *inputs: Array, **attrs: Any) -> Array:
        arguments = list(inputs)
        arguments[sized] = inputs[sized].shape
        return compute(_FULL, name, xp, *arguments, data_format="NDHWC", **attrs)

    return op(
        name,
        inputs="input: T, filter: T, out_backprop: T",
        outputs="output: T",
        attrs="T: {half, float, double}, strides: list(int) >= 5,"
        ' padding: {"SAME", "VALID"}, dilations: list(int) = [1, 1, 1, 1, 1]',
        shape=_shaped_like(sized, 5),
        traits=XLA | costs(flops) | DEPRECATED,
    )(taking_attrs(by_tensor, ("strides", "padding", "dilations")))


_declare_first_version("Conv3DBackpropInput", _to_input, 0, _input_flops)
_declare_first_version("Conv3DBackpropFilter", _to_filter, 1, _filter_flops)
