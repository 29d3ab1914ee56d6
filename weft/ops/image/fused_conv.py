"""Convolutions of images that are first resized, or padded by what lies at their edges."""

from __future__ import annotations

from typing import Any

from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.traits import NO_GRADIENT, XLA
from weft.ops.array.pad import mirror_pad_
from weft.ops.image.resize import resize_bilinear_
from weft.ops.nn.conv_nodes import conv2d_
from weft.ops.nn.window_shapes import window_attr, window_dims

_ATTRS = (
    'T: {half, float, double}%s, mode: {"REFLECT", "SYMMETRIC"}, strides: list(int),'
    ' padding: {"SAME", "VALID"}'
)


def _padded_and_convolved(
    xp: Any, x: Any, paddings: Any, filter: Any, mode: str, strides: list[int], padding: str
) -> Any:
    pad: Any = mirror_pad_.kernel
    convolve: Any = conv2d_.kernel
    return convolve(
        xp, pad(xp, x, paddings, mode=mode), filter, strides=strides, padding=padding,
        explicit_paddings=[], data_format="NHWC", dilations=[1, 1, 1, 1],
    )  # fmt: skip


def _shape(first: int) -> Any:
    """The rule of an op whose paddings are input `first`, and its filter the one after."""

    def rule(c: ShapeContext) -> Dims:
        x, w = s.with_rank(c.dims(0), 4), s.with_rank(c.dims(first + 1), 4)
        s.merge(c.dims(first), (4, 2))
        if first == 2:
            s.merge(c.dims(1), (2,))
        size = c.value(1) if first == 2 else None
        pads, strides = c.value(first), window_attr(c, "strides", c.op.type)
        whole: list[int | None] = []
        for i in (1, 2):
            have = x[i] if first == 1 else None if size is None else int(size[i - 1])
            is_known = have is not None and pads is not None
            whole.append(have + int(pads[i].sum()) if is_known else None)  # type: ignore
        found = window_dims(whole, w[:2], strides[1:3], (1, 1), c.attr("padding"))
        return x[0], *found, w[3]

    return rule


@op(
    "FusedPadConv2D", inputs="input: T, paddings: int32, filter: T", outputs="output: T",
    attrs=_ATTRS % "", shape=_shape(1), static="paddings", traits=XLA,
)  # fmt: skip
def fused_pad_conv2d_(
    xp: Any, input: Any, paddings: Any, filter: Any, *, mode: str, strides: list[int], padding: str
) -> Any:
    return _padded_and_convolved(xp, input, paddings, filter, mode, strides, padding)


@op(
    "FusedResizeAndPadConv2D", inputs="input: T, size: int32, paddings: int32, filter: T",
    outputs="output: T", attrs=_ATTRS % ", resize_align_corners: bool = false", shape=_shape(2),
    static="size, paddings", traits=XLA,
)  # fmt: skip
def fused_resize_and_pad_conv2d_(
    xp: Any, input: Any, size: Any, paddings: Any, filter: Any, *, resize_align_corners: bool,
    mode: str, strides: list[int], padding: str,
) -> Any:  # fmt: skip
    resize: Any = resize_bilinear_.kernel
    resized = resize(
        xp, input, size, align_corners=resize_align_corners, half_pixel_centers=False
    ).astype(input.dtype)
    return _padded_and_convolved(xp, resized, paddings, filter, mode, strides, padding)


def _activated_shape(c: ShapeContext) -> Dims:
    data_format = c.attr("data_format")
    x, w = s.with_rank(c.dims(0), 4), s.with_rank(c.dims(1), 4)
    taps, depth = (w[2:], w[0]) if c.attr("filter_format") == "OIHW" else (w[:2], w[3])
    bias = s.with_rank(c.dims(2), 1)
    if None not in (depth, bias[0]) and depth != bias[0]:
        raise ValueError(
            f"Output depth dimension ({depth}) and bias dimension ({bias[0]}) do not match."
        )
    inner = slice(data_format.index("H"), data_format.index("H") + 2)
    strides = window_attr(c, "strides", c.op.type)[inner]
    sizes = window_dims(x[inner], taps, strides, (1, 1), c.attr("padding"))
    return (x[0], *sizes, depth) if data_format == "NHWC" else (x[0], depth, *sizes)


@op(
    "FusedConv2DBiasActivation",
    inputs="conv_input: T, filter: T, bias: Tbias, side_input: T, conv_input_scale: float, "
    "side_input_scale: float",
    outputs="output: T",
    attrs='T: {float, half}, Tbias: {float, half}, strides: list(int), padding: {"SAME", "VALID"},'
    ' data_format: {"NHWC", "NCHW"} = "NHWC", filter_format: {"HWIO", "OIHW"} = "HWIO",'
    ' activation_mode: {"Relu", "None"} = "Relu", dilations: list(int) = [1, 1, 1, 1]',
    shape=_activated_shape, traits=XLA | NO_GRADIENT,
)  # fmt: skip
def fused_conv2d_bias_activation_(
    xp: Any, conv_input: Any, filter: Any, bias: Any, side_input: Any, conv_input_scale: Any,
    side_input_scale: Any, *, strides: list[int], padding: str, data_format: str,
    filter_format: str, activation_mode: str, dilations: list[int],
) -> Any:  # fmt: skip
    convolve: Any = conv2d_.kernel
    taps = xp.transpose(filter, (2, 3, 1, 0)) if filter_format == "OIHW" else filter
    found = convolve(
        xp, conv_input, taps, strides=strides, padding=padding, explicit_paddings=[],
        data_format=data_format, dilations=dilations,
    )  # fmt: skip
    total = found * conv_input_scale.astype(found.dtype)
    if side_input.ndim > 1:
        total = total + side_input * side_input_scale.astype(found.dtype)
    channels = (1, -1, 1, 1) if data_format == "NCHW" else (1, 1, 1, -1)
    total = total + xp.reshape(bias, channels).astype(found.dtype)
    return xp.maximum(total, xp.zeros_like(total)) if activation_mode == "Relu" else total
