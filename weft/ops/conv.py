"""Convolutions in two and three dimensions, depthwise ones, and their gradients.

Kernels put channels last, look up the windows and leave the work to conv_lowering.py. Sizes
given as inputs are static. `data_format` says where the channels are: NHWC, NCHW, NDHWC or NCDHW.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.op_def import op, raw
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims, ShapeContext
from weft.ops import conv_lowering
from weft.ops.array import invalid, shape
from weft.ops.window_shapes import (
    arranged,
    as_format,
    channels_last,
    conv_window,
    depth,
    explicit_edges,
    spatial,
    window_dims,
)
from weft.ops.windows import Ints, Window

Array = Any
FLOATS = "{half, bfloat16, float, double}"


def _check_depths(name: str, channels: int, filter_shape: Sequence[int]) -> None:
    inner, outer = filter_shape[-2:]
    if inner == 0 or channels % inner or (outer % max(channels // inner, 1)):
        raise invalid(
            f"{name}: input depth must be evenly divisible by filter depth: {channels} vs {inner}"
        )


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


def _listed(c: ShapeContext, name: str, attr: str, rank: int) -> list[int]:
    values = c.attr(attr + "s")
    if len(values) != rank:
        at = (
            f" on data format {c.attr('data_format')}"
            if (name, attr) == ("Conv2D", "stride")
            else ""
        )
        raise ValueError(
            f"{name}{at} requires the {attr} attribute to contain {rank} values, "
            f"but got: {len(values)}"
        )
    return values


def _convolved(name: str) -> Callable[[ShapeContext], Dims]:
    def rule(c: ShapeContext) -> Dims:
        data_format = c.attr("data_format")
        rank = len(data_format)
        x, w = s.with_rank(c.dims(0), rank), s.with_rank(c.dims(1), rank)
        dilations = _listed(c, name, "dilation", rank)
        strides = _listed(c, name, "stride", rank)
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
        return s.with_rank(c.partial(i), rank)

    return rule


def _input_sized(c: ShapeContext) -> Dims:
    """As the value of input 0 says; the batch is that of the gradient, too."""
    sizes, g = s.with_rank(c.partial(0), 4), s.with_rank(c.dims(2), 4)
    return (g[0], *sizes[1:]) if sizes[0] is None else sizes


def _shaped_like(i: int, rank: int) -> Callable[[ShapeContext], Dims]:
    def rule(c: ShapeContext) -> Dims:
        return s.with_rank(c.dims(i), rank)

    return rule


def _depthwise(c: ShapeContext) -> Dims:
    data_format = c.attr("data_format")
    x, w = s.with_rank(c.dims(0), 4), s.with_rank(c.dims(1), 4)
    strides = _listed(c, "DepthwiseConv2D", "stride", 4)
    channels = s.merge_dim(depth(x, data_format), w[2])
    outputs = window_dims(
        spatial(x, data_format),
        w[:2],
        spatial(strides, data_format),
        spatial(c.attr("dilations"), data_format),
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


# ---- what convolutions compute ----------------------------------------------------------------


def _convolution(xp: Any, name: str, input: Array, filter: Array, **attrs: Any) -> Array:
    data_format = attrs["data_format"]
    window = conv_window(name, input.shape, filter.shape, **attrs)
    _check_depths(name, depth(input.shape, data_format), filter.shape)
    dims = arranged(input.shape[0], window.output, filter.shape[-1], data_format)
    if 0 in dims or 0 in input.shape or 0 in filter.shape:
        return _empty(xp, dims, input)
    x = channels_last(xp, input, data_format)
    return as_format(xp, conv_lowering.convolve(x, filter, window), data_format)


def _convolution_input(
    xp: Any, name: str, input_sizes: np.ndarray, filter: Array, out_backprop: Array, **attrs: Any
) -> Array:
    data_format = attrs["data_format"]
    dims = tuple(int(d) for d in input_sizes)
    if len(dims) == len(data_format) - 2:  # spatial sizes only
        channels = filter.shape[-2]
        dims = arranged(out_backprop.shape[0], dims, channels, data_format)
    window = conv_window(name, dims, filter.shape, **attrs)
    _check_depths(name, depth(dims, data_format), filter.shape)
    _check_gradient(name, dims[0], window, filter.shape[-1], out_backprop, data_format)
    if 0 in dims or 0 in out_backprop.shape or 0 in filter.shape:
        return _empty(xp, dims, out_backprop)
    g = channels_last(xp, out_backprop, data_format)
    x = conv_lowering.convolve_input(filter, g, window, depth(dims, data_format))
    return as_format(xp, x, data_format)


def _convolution_filter(
    xp: Any, name: str, input: Array, filter_sizes: np.ndarray, out_backprop: Array, **attrs: Any
) -> Array:
    data_format = attrs["data_format"]
    dims: Ints = tuple(int(d) for d in filter_sizes)
    window = conv_window(name, input.shape, dims, **attrs)
    _check_depths(name, depth(input.shape, data_format), dims)
    _check_gradient(name, input.shape[0], window, dims[-1], out_backprop, data_format)
    if 0 in dims or 0 in out_backprop.shape or 0 in input.shape:
        return _empty(xp, dims, out_backprop)
    x, g = (channels_last(xp, a, data_format) for a in (input, out_backprop))
    return conv_lowering.convolve_filter(x, g, window, dims)


def _copied(op: Operation, *names: str) -> dict[str, Any]:
    """Attributes of `op` to hand on; names default to those every convolution has."""
    names = names or ("strides", "padding", "data_format", "dilations")
    return {name: op.attrs[name] for name in names}


def _copied_2d(op: Operation) -> dict[str, Any]:
    return _copied(op) | _copied(op, "explicit_paddings", "use_cudnn_on_gpu")


def _bound_explicit(compute: Callable[..., Array], name: str) -> Callable[..., Array]:
    """`compute` as the kernel of an op that may be padded by any amounts."""

    def kernel(
        xp: Any,
        *inputs: Array,
        strides: list[int],
        padding: str,
        explicit_paddings: list[int],
        data_format: str,
        dilations: list[int],
    ) -> Array:
        return compute(
            xp,
            name,
            *inputs,
            strides=strides,
            padding=padding,
            explicit_paddings=explicit_paddings,
            data_format=data_format,
            dilations=dilations,
        )

    return kernel


def _bound_plain(compute: Callable[..., Array], name: str) -> Callable[..., Array]:
    def kernel(
        xp: Any,
        *inputs: Array,
        strides: list[int],
        padding: str,
        data_format: str,
        dilations: list[int],
    ) -> Array:
        return compute(
            xp,
            name,
            *inputs,
            strides=strides,
            padding=padding,
            data_format=data_format,
            dilations=dilations,
        )

    return kernel


# ---- two dimensions ---------------------------------------------------------------------------

_CONV2D_ATTRS = (
    f"T: {FLOATS}, strides: list(int), use_cudnn_on_gpu: bool = true,"
    ' padding: {"SAME", "VALID", "EXPLICIT"}, explicit_paddings: list(int) = [],'
    ' data_format: {"NHWC", "NCHW"} = "NHWC", dilations: list(int) = [1, 1, 1, 1]'
)

conv2d_ = op(
    "Conv2D",
    inputs="input: T, filter: T",
    outputs="output: T",
    attrs=_CONV2D_ATTRS,
    shape=_convolved("Conv2D"),
    xla=True,
    flops=_forward_flops,
)(_bound_explicit(_convolution, "Conv2D"))

conv2d_backprop_input_ = op(
    "Conv2DBackpropInput",
    inputs="input_sizes: int32, filter: T, out_backprop: T",
    outputs="output: T",
    attrs=_CONV2D_ATTRS,
    shape=_input_sized,
    static="input_sizes",
    xla=True,
    flops=_input_flops,
)(_bound_explicit(_convolution_input, "Conv2DBackpropInput"))

conv2d_backprop_filter_ = op(
    "Conv2DBackpropFilter",
    inputs="input: T, filter_sizes: int32, out_backprop: T",
    outputs="output: T",
    attrs=_CONV2D_ATTRS,
    shape=_sized_by(1, 4),
    static="filter_sizes",
    xla=True,
    flops=_filter_flops,
)(_bound_explicit(_convolution_filter, "Conv2DBackpropFilter"))


@conv2d_.gradient
def _(op: Operation, grad: Any) -> Any:
    x, w = op.inputs
    x_shape, w_shape = raw.ShapeN([x, w])
    attrs = _copied_2d(op)
    return (
        raw.Conv2DBackpropInput(x_shape, w, grad, **attrs),
        raw.Conv2DBackpropFilter(x, w_shape, grad, **attrs),
    )


@conv2d_backprop_input_.gradient
def _(op: Operation, grad: Any) -> Any:
    _, w, g = op.inputs
    attrs = _copied_2d(op)
    return (
        None,
        raw.Conv2DBackpropFilter(grad, shape(w), g, **attrs),
        raw.Conv2D(grad, w, **attrs),
    )


@conv2d_backprop_filter_.gradient
def _(op: Operation, grad: Any) -> Any:
    x, _, g = op.inputs
    attrs = _copied_2d(op)
    return (
        raw.Conv2DBackpropInput(shape(x), grad, g, **attrs),
        None,
        raw.Conv2D(x, grad, **attrs),
    )


# ---- three dimensions -------------------------------------------------------------------------

_CONV3D_ATTRS = (
    f"T: {FLOATS}, strides: list(int) >= 5,"
    ' padding: {"SAME", "VALID"}, data_format: {"NDHWC", "NCDHW"} = "NDHWC",'
    " dilations: list(int) = [1, 1, 1, 1, 1]"
)
_CONV3D_V1_ATTRS = (
    "T: {half, float, double}, strides: list(int) >= 5,"
    ' padding: {"SAME", "VALID"}, dilations: list(int) = [1, 1, 1, 1, 1]'
)

conv3d_ = op(
    "Conv3D",
    inputs="input: T, filter: T",
    outputs="output: T",
    attrs=_CONV3D_ATTRS,
    shape=_convolved("Conv3D"),
    xla=True,
    flops=_forward_flops,
)(_bound_plain(_convolution, "Conv3D"))

conv3d_backprop_input_v2_ = op(
    "Conv3DBackpropInputV2",
    inputs="input_sizes: Tshape, filter: T, out_backprop: T",
    outputs="output: T",
    attrs=_CONV3D_ATTRS + ", Tshape: {int32, int64} = int32",
    shape=_sized_by(0, 5),
    static="input_sizes",
    xla=True,
    flops=_input_flops,
)(_bound_plain(_convolution_input, "Conv3DBackpropInput"))

conv3d_backprop_filter_v2_ = op(
    "Conv3DBackpropFilterV2",
    inputs="input: T, filter_sizes: int32, out_backprop: T",
    outputs="output: T",
    attrs=_CONV3D_ATTRS,
    shape=_sized_by(1, 5),
    static="filter_sizes",
    xla=True,
    flops=_filter_flops,
)(_bound_plain(_convolution_filter, "Conv3DBackpropFilter"))


@conv3d_.gradient
def _(op: Operation, grad: Any) -> Any:
    x, w = op.inputs
    attrs = _copied(op)
    return (
        raw.Conv3DBackpropInputV2(shape(x), w, grad, **attrs),
        raw.Conv3DBackpropFilterV2(x, shape(w), grad, **attrs),
    )


@conv3d_backprop_input_v2_.gradient
def _(op: Operation, grad: Any) -> Any:
    _, w, g = op.inputs
    attrs = _copied(op)
    return (
        None,
        raw.Conv3DBackpropFilterV2(grad, shape(w), g, **attrs),
        raw.Conv3D(grad, w, **attrs),
    )


@conv3d_backprop_filter_v2_.gradient
def _(op: Operation, grad: Any) -> Any:
    x, _, g = op.inputs
    attrs = _copied(op)
    return (
        raw.Conv3DBackpropInputV2(shape(x), grad, g, **attrs),
        None,
        raw.Conv3D(x, grad, **attrs),
    )


@op(
    "Conv3DBackpropInput",
    inputs="input: T, filter: T, out_backprop: T",
    outputs="output: T",
    attrs=_CONV3D_V1_ATTRS,
    shape=_shaped_like(0, 5),
    xla=True,
    flops=_input_flops,
    deprecated=True,
)
def conv3d_backprop_input_(
    xp: Any,
    input: Array,
    filter: Array,
    out_backprop: Array,
    *,
    strides: list[int],
    padding: str,
    dilations: list[int],
) -> Array:
    sizes = np.array(input.shape)
    attrs = {"strides": strides, "padding": padding, "dilations": dilations}
    return _convolution_input(
        xp, "Conv3DBackpropInput", sizes, filter, out_backprop, data_format="NDHWC", **attrs
    )


@op(
    "Conv3DBackpropFilter",
    inputs="input: T, filter: T, out_backprop: T",
    outputs="output: T",
    attrs=_CONV3D_V1_ATTRS,
    shape=_shaped_like(1, 5),
    xla=True,
    flops=_filter_flops,
    deprecated=True,
)
def conv3d_backprop_filter_(
    xp: Any,
    input: Array,
    filter: Array,
    out_backprop: Array,
    *,
    strides: list[int],
    padding: str,
    dilations: list[int],
) -> Array:
    sizes = np.array(filter.shape)
    attrs = {"strides": strides, "padding": padding, "dilations": dilations}
    return _convolution_filter(
        xp, "Conv3DBackpropFilter", input, sizes, out_backprop, data_format="NDHWC", **attrs
    )


# ---- depthwise --------------------------------------------------------------------------------

_DEPTHWISE_ATTRS = (
    f'T: {FLOATS}, strides: list(int), padding: {{"SAME", "VALID"}},'
    ' data_format: {"NHWC", "NCHW"} = "NHWC", dilations: list(int) = [1, 1, 1, 1]'
)


def _depthwise_flops(dims: Sequence[Any], attrs: dict[str, Any]) -> float:
    return 36.0 * max(math.prod(d) for d in dims)


def _check_same_depth(channels: int, filter_shape: Sequence[int]) -> None:
    if channels != filter_shape[2]:
        raise invalid(f"input and filter must have the same depth: {channels} vs {filter_shape[2]}")


def _depthwise_forward(xp: Any, name: str, input: Array, filter: Array, **attrs: Any) -> Array:
    data_format = attrs["data_format"]
    window = conv_window(name, input.shape, filter.shape, **attrs)
    _check_same_depth(depth(input.shape, data_format), filter.shape)
    channels = filter.shape[2] * filter.shape[3]
    dims = arranged(input.shape[0], window.output, channels, data_format)
    if 0 in dims or 0 in input.shape or 0 in filter.shape:
        return _empty(xp, dims, input)
    x = channels_last(xp, input, data_format)
    return as_format(xp, conv_lowering.depthwise(x, filter, window), data_format)


def _depthwise_input(
    xp: Any, name: str, input_sizes: np.ndarray, filter: Array, out_backprop: Array, **attrs: Any
) -> Array:
    data_format = attrs["data_format"]
    dims = tuple(int(d) for d in input_sizes)
    window = conv_window(name, dims, filter.shape, **attrs)
    _check_same_depth(depth(dims, data_format), filter.shape)
    channels = filter.shape[2] * filter.shape[3]
    _check_gradient(name, dims[0], window, channels, out_backprop, data_format)
    if 0 in dims or 0 in out_backprop.shape or 0 in filter.shape:
        return _empty(xp, dims, out_backprop)
    g = channels_last(xp, out_backprop, data_format)
    return as_format(xp, conv_lowering.depthwise_input(filter, g, window), data_format)


def _depthwise_filter(
    xp: Any, name: str, input: Array, filter_sizes: np.ndarray, out_backprop: Array, **attrs: Any
) -> Array:
    data_format = attrs["data_format"]
    dims: Ints = tuple(int(d) for d in filter_sizes)
    window = conv_window(name, input.shape, dims, **attrs)
    _check_same_depth(depth(input.shape, data_format), dims)
    _check_gradient(name, input.shape[0], window, dims[2] * dims[3], out_backprop, data_format)
    if 0 in dims or 0 in out_backprop.shape or 0 in input.shape:
        return _empty(xp, dims, out_backprop)
    x, g = (channels_last(xp, a, data_format) for a in (input, out_backprop))
    return conv_lowering.depthwise_filter(x, g, window, dims)


depthwise_conv2d_native_ = op(
    "DepthwiseConv2dNative",
    inputs="input: T, filter: T",
    outputs="output: T",
    attrs=_DEPTHWISE_ATTRS,
    shape=_depthwise,
    xla=True,
    flops=_depthwise_flops,
)(_bound_plain(_depthwise_forward, "DepthwiseConv2dNative"))

depthwise_conv2d_native_backprop_input_ = op(
    "DepthwiseConv2dNativeBackpropInput",
    inputs="input_sizes: int32, filter: T, out_backprop: T",
    outputs="output: T",
    attrs=_DEPTHWISE_ATTRS,
    shape=_sized_by(0, 4),
    static="input_sizes",
    xla=True,
    flops=lambda dims, attrs: _depthwise_flops(dims[1:], attrs),
)(_bound_plain(_depthwise_input, "DepthwiseConv2DBackpropInput"))

depthwise_conv2d_native_backprop_filter_ = op(
    "DepthwiseConv2dNativeBackpropFilter",
    inputs="input: T, filter_sizes: int32, out_backprop: T",
    outputs="output: T",
    attrs=_DEPTHWISE_ATTRS,
    shape=_sized_by(1, 4),
    static="filter_sizes",
    xla=True,
    flops=_depthwise_flops,
)(_bound_plain(_depthwise_filter, "DepthwiseConv2DBackpropFilter"))


@depthwise_conv2d_native_.gradient
def _(op: Operation, grad: Any) -> Any:
    x, w = op.inputs
    attrs = _copied(op)
    return (
        raw.DepthwiseConv2dNativeBackpropInput(shape(x), w, grad, **attrs),
        raw.DepthwiseConv2dNativeBackpropFilter(x, shape(w), grad, **attrs),
    )


@depthwise_conv2d_native_backprop_input_.gradient
def _(op: Operation, grad: Any) -> Any:
    _, w, g = op.inputs
    attrs = _copied(op)
    return (
        None,
        raw.DepthwiseConv2dNativeBackpropFilter(grad, shape(w), g, **attrs),
        raw.DepthwiseConv2dNative(grad, w, **attrs),
    )


@depthwise_conv2d_native_backprop_filter_.gradient
def _(op: Operation, grad: Any) -> Any:
    x, _, g = op.inputs
    attrs = _copied(op)
    return (
        raw.DepthwiseConv2dNativeBackpropInput(shape(x), grad, g, **attrs),
        None,
        raw.DepthwiseConv2dNative(x, grad, **attrs),
    )
