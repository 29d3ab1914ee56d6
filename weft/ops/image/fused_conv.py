"""Convolutions of images that are first resized, or padded by what lies at their edges."""

from __future__ import annotations

from typing import Any

from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.traits import XLA
from weft.ops.array.pad import mirror_pad_
from weft.ops.image.resize import resize_bilinear_
from weft.ops.nn.conv_nodes import conv2d_
from weft.ops.nn.windows import padded_size

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
        size = c.value(1) if first == 2 else None
        pads, strides = c.value(first), c.attr("strides")
        found: list[int | None] = []
        for i in (1, 2):
            have = x[i] if first == 1 else None if size is None else int(size[i - 1])
            taps = 1 if c.attr("padding") == "SAME" else w[i - 1]
            if have is None or pads is None or taps is None:
                found.append(None)
                continue
            whole = have + int(pads[i].sum())
            found.append(padded_size(whole, taps, strides[i], 1, c.attr("padding"))[0])
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
