"""Convolutions and pooling of quantized images."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.traits import HOST
from weft.ops.kit.shared import invalid
from weft.ops.nn.window_shapes import conv_window, window_attr, window_dims
from weft.ops.nn.windows import Window, window_of
from weft.ops.quantized.levels import QUANTIZED, centered, ends, product_range, with_range


def _sizes(x: Any, sizes: Any, c: ShapeContext, dilations: Any) -> tuple[int | None, ...]:
    strides, padding = window_attr(c, "strides", c.op.type), c.attr("padding")
    return window_dims(x[1:3], sizes, strides[1:3], dilations[1:3], padding)


def _conv_shape(c: ShapeContext) -> list[Dims]:
    x, w = s.with_rank(c.dims(0), 4), s.with_rank(c.dims(1), 4)
    sizes = _sizes(x, w[:2], c, window_attr(c, "dilations", c.op.type))
    return [(x[0], *sizes, w[3]), (), ()]


def _pool_shape(c: ShapeContext) -> list[Dims]:
    x = s.with_rank(c.dims(0), 4)
    window = window_attr(c, "ksize", c.op.type)
    return [(x[0], *_sizes(x, window[1:3], c, (1, 1, 1, 1)), x[3]), (), ()]


def _taps(x: Any, window: Window, fill: Any) -> list[Any]:
    """Per tap of a window, what it sees: [batch, height, width, channels]."""
    edges = [(b, max(a, 0)) for b, a in zip(window.before, window.after, strict=True)]
    padded = np.pad(x, [(0, 0), *edges, (0, 0)], constant_values=fill)
    found = []
    for tap in window.taps:
        at = []
        for i in window.axes:
            begin = tap[i] * window.dilation[i]
            end = begin + (window.output[i] - 1) * window.stride[i] + 1
            at.append(slice(begin, end, window.stride[i]))
        found.append(padded[:, at[0], at[1]])
    return found


@op(
    "QuantizedConv2D",
    inputs="input: Tinput, filter: Tfilter, min_input: float, max_input: float,"
    " min_filter: float, max_filter: float",
    outputs="output: out_type, min_output: float, max_output: float",
    attrs=f"Tinput: {QUANTIZED}, Tfilter: {QUANTIZED}, out_type: {QUANTIZED} = qint32,"
    " strides: list(int),"
    ' padding: {"SAME", "VALID"}, dilations: list(int) = [1, 1, 1, 1]',
    shape=_conv_shape, traits=HOST,
)  # fmt: skip
def quantized_conv2d_(
    xp: Any, input: Any, filter: Any, min_input: Any, max_input: Any, min_filter: Any,
    max_filter: Any, *, Tinput: DType, Tfilter: DType, out_type: DType, strides: list[int],
    padding: str, dilations: list[int],
) -> Any:  # fmt: skip
    window = conv_window(
        "QuantizedConv2D", input.shape, filter.shape, strides, padding, dilations, "NHWC"
    )
    image = centered(input, Tinput, min_input, max_input)
    weights = centered(filter, Tfilter, min_filter, max_filter).reshape(-1, *filter.shape[2:])
    parts = zip(_taps(image, window, 0), weights, strict=True)
    total = sum(part @ weight for part, weight in parts)
    bounds = product_range((Tinput, min_input, max_input), (Tfilter, min_filter, max_filter),
                            out_type)  # fmt: skip
    return with_range(total, out_type, bounds)


# ---- pooling -------------------------------------------------------------------------------------

_POOL = f'T: {QUANTIZED}, ksize: list(int), strides: list(int), padding: {{"SAME", "VALID"}}'
_POOLED = "output: T, min_output: float, max_output: float"


def _pool_taps(x: Any, ksize: list[int], strides: list[int], padding: str, fill: Any) -> list[Any]:
    if x.ndim != 4:
        raise invalid("tensor_in must be 4-dimensional")
    window = window_of(x.shape[1:3], ksize[1:3], strides[1:3], (1, 1), padding)
    return _taps(x, window, fill)


@op("QuantizedAvgPool", inputs="input: T, min_input: float, max_input: float", outputs=_POOLED,
    attrs=_POOL, shape=_pool_shape, traits=HOST)  # fmt: skip
def quantized_avg_pool_(
    xp: Any, input: Any, min_input: Any, max_input: Any, *, T: DType, ksize: list[int],
    strides: list[int], padding: str,
) -> Any:  # fmt: skip
    wide = input.astype(np.int64)
    totals = np.sum(_pool_taps(wide, ksize, strides, padding, 0), axis=0)
    counts = np.sum(_pool_taps(np.ones_like(wide), ksize, strides, padding, 0), axis=0)
    means = np.trunc(totals / np.maximum(counts, 1))
    return with_range(np.clip(means, *ends(T)), T, (min_input, max_input))


@op("QuantizedMaxPool", inputs="input: T, min_input: float, max_input: float", outputs=_POOLED,
    attrs=_POOL, shape=_pool_shape, traits=HOST)  # fmt: skip
def quantized_max_pool_(
    xp: Any, input: Any, min_input: Any, max_input: Any, *, T: DType, ksize: list[int],
    strides: list[int], padding: str,
) -> Any:  # fmt: skip
    taps = _pool_taps(input.astype(np.int64), ksize, strides, padding, ends(T)[0])
    return with_range(np.max(taps, axis=0), T, (min_input, max_input))


# ---- public names --------------------------------------------------------------------------------


def quantized_conv2d(
    input: Any, filter: Any, min_input: Any, max_input: Any, min_filter: Any, max_filter: Any,
    strides: Any, padding: str, out_type: DType = dtypes.qint32, dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
) -> Any:  # fmt: skip
    """(output, min_output, max_output) of a convolution of quantized images."""
    return quantized_conv2d_(
        input, filter, min_input, max_input, min_filter, max_filter, out_type=out_type,
        strides=list(strides), padding=padding, dilations=list(dilations), name=name,
    )  # fmt: skip


def quantized_avg_pool(
    input: Any, min_input: Any, max_input: Any, ksize: Any, strides: Any, padding: str,
    name: str | None = None,
) -> Any:  # fmt: skip
    """(output, min, max): means of windows."""
    return quantized_avg_pool_(
        input, min_input, max_input, ksize=list(ksize), strides=list(strides), padding=padding,
        name=name,
    )  # fmt: skip


def quantized_max_pool(
    input: Any, min_input: Any, max_input: Any, ksize: Any, strides: Any, padding: str,
    name: str | None = None,
) -> Any:  # fmt: skip
    """(output, min, max): the largest of windows."""
    return quantized_max_pool_(
        input, min_input, max_input, ksize=list(ksize), strides=list(strides), padding=padding,
        name=name,
    )  # fmt: skip
