"""Convolutions and products of 8-bit numbers in one piece with bias, sum, ReLU and requantization.

TensorFlow has kernels for these only where it is built with oneDNN, for unsigned images and signed
weights. Levels stand for a share of the largest number of a range: zero is level zero, whatever
the lower end is. What one operation does is told by its name.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.traits import HOST
from weft.ops.kit.shared import invalid, taking_attrs
from weft.ops.nn.window_shapes import conv_window, window_attr
from weft.ops.quantized.levels import QUANTIZED, ends, f32
from weft.ops.quantized.windows import _conv_shape, _sizes, _taps

_UNSIGNED, _SIGNED = f32(255), f32(127)


# ---- numbers -------------------------------------------------------------------------------------


def _reach(low: Any, high: Any) -> Any:
    """The largest number of a range, or of each of several."""
    return np.maximum(np.abs(f32(low)), np.abs(f32(high)))


def _step(low: Any, high: Any, most: Any) -> Any:
    """The value of one level."""
    return (f32(high) - f32(low)) / most


def _product_ends(x: tuple[Any, Any], w: tuple[Any, Any]) -> list[Any]:
    """The range of 32 bits whose levels are products of levels."""
    step = _step(*x, _UNSIGNED) * _step(*w, 2 * _SIGNED)
    return [(step * f32(end)).astype(f32) for end in ends(dtypes.qint32)]


def _rounded(values: Any, kind: DType) -> Any:
    return np.clip(np.rint(values), *ends(kind)).astype(kind.np_storage)


def _finished(total: Any, summand: Any, given: dict[str, Any], kind: DType, relu: bool) -> Any:
    """Sums as levels of the result."""
    if "min_freezed_output" in given:
        reach = _reach(given["min_freezed_output"], given["max_freezed_output"])
        most = _UNSIGNED if kind == dtypes.quint8 else _SIGNED
        own = _reach(given["min_input"], given["max_input"])
        weight = _reach(given["min_filter"], given["max_filter"])
        total = total * (most * own * weight / (_UNSIGNED * _SIGNED * reach))
    if summand is not None:
        total = total + summand
    return _rounded(np.maximum(total, f32(0)) if relu else total, kind)


def _summand(given: dict[str, Any], kind: DType, per_level: Any) -> Any:
    """The summand, in levels of the result."""
    value = given.get("summand")
    if value is None:
        return None
    if "min_summand" not in given:
        return np.rint(value * per_level)
    reach = _reach(given["min_freezed_output"], given["max_freezed_output"])
    share = _reach(given["min_summand"], given["max_summand"]) / reach
    # Levels of the other sign lie further apart.
    return value.astype(f32) * (share if kind == dtypes.quint8 else share * _UNSIGNED / _SIGNED)


# ---- convolutions --------------------------------------------------------------------------------


def _convolved(
    name: str, image: Any, weights: Any, depthwise: bool, strides: list[int], padding: str,
    dilations: list[int], padding_list: list[int],
) -> Any:  # fmt: skip
    edges = ("EXPLICIT", padding_list) if padding_list else (padding, ())
    window = conv_window(
        name, image.shape, weights.shape, strides, edges[0], dilations, "NHWC", edges[1]
    )
    taps = _taps(image.astype(np.int64), window, 0)
    parts = weights.astype(np.int64).reshape(-1, *weights.shape[2:])
    if not depthwise:
        return sum(tap @ part for tap, part in zip(taps, parts, strict=True))
    total = sum(tap[..., None] * part for tap, part in zip(taps, parts, strict=True))
    return total.reshape(*total.shape[:3], -1)


def _conv_ranges(c: ShapeContext, requantized: bool) -> list[Dims]:
    """The shapes of the ends: one for each channel where the weights have so many."""
    names = [arg.name for arg in c.op.definition.input_args]
    ranges: Dims = () if requantized else c.dims(names.index("min_filter"))
    return [ranges, ranges]


def _conv_rule(depthwise: bool, requantized: bool) -> s.Rule:
    def rule(c: ShapeContext) -> list[Dims]:
        found = _depthwise_shape(c) if depthwise else _conv_shape(c)[0]
        explicit = "padding_list" in c.op.definition.attrs and c.attr("padding_list")
        if explicit and found is not None:
            found = (found[0], None, None, found[3])
        return [found, *_conv_ranges(c, requantized)]

    return rule


def _depthwise_shape(c: ShapeContext) -> Dims:
    x, w = s.with_rank(c.dims(0), 4), s.with_rank(c.dims(1), 4)
    channels = None if None in w[2:] else w[2] * w[3]  # type: ignore[operator]
    return (x[0], *_sizes(x, w[:2], c, window_attr(c, "dilations", c.op.type)), channels)


def _conv_inputs(name: str, requantized: bool) -> list[tuple[str, str]]:
    found = [("input", "Tinput"), ("filter", "Tfilter")]
    if "Bias" in name:
        found.append(("bias", "Tbias" if requantized else "float"))
    found += [(f"{end}_{what}", "float") for what in ("input", "filter") for end in ("min", "max")]
    if requantized:
        found += [(f"{end}_freezed_output", "float") for end in ("min", "max")]
    if "Sum" in name:
        found.append(("summand", "Tsummand" if requantized else "float"))
    if "Sum" in name and requantized:
        found += [("min_summand", "float"), ("max_summand", "float")]
    return found


def _conv_attrs(name: str, inputs: list[tuple[str, str]], out: str) -> str:
    kinds = {kind for _, kind in inputs}
    found = [f"Tinput: {QUANTIZED}", f"Tfilter: {QUANTIZED}", f"out_type: {QUANTIZED} = {out}"]
    found += ["Tbias: {float, qint32}"] if "Tbias" in kinds else []
    found += [f"Tsummand: {QUANTIZED}"] if "Tsummand" in kinds else []
    found += ["strides: list(int)", 'padding: {"SAME", "VALID"}']
    found.append("dilations: list(int) = [1, 1, 1, 1]")
    if "Depthwise" not in name and not name.endswith("PerChannel"):
        found.append("padding_list: list(int) = []")
    return ", ".join(found)


def _convolution(name: str) -> None:
    """Declares the convolution that does what its name says."""
    requantized, relu, depthwise = name.endswith("Requantize"), "Relu" in name, "Depthwise" in name
    inputs = _conv_inputs(name, requantized)
    out = ("quint8" if relu else "qint8") if requantized else "qint32"
    attrs = _conv_attrs(name, inputs, out)
    names = [each for each, _ in inputs]
    signed = "Signed" in name

    def compute(
        xp: Any, *values: Any, out_type: DType, strides: list[int], padding: str,
        dilations: list[int], padding_list: list[int] = [],  # noqa: B006
    ) -> list[Any]:  # fmt: skip
        given = dict(zip(names, values, strict=True))
        x, w = ((given[f"min_{what}"], given[f"max_{what}"]) for what in ("input", "filter"))
        per_level = _UNSIGNED * _SIGNED / (_reach(*x) * _reach(*w))
        total = _convolved(
            name, given["input"], given["filter"], depthwise, strides, padding, dilations,
            padding_list,
        ).astype(f32)  # fmt: skip
        if "bias" in given:
            bias = given["bias"]
            total = total + (bias * per_level if bias.dtype == f32 else bias.astype(f32))
        kind = dtypes.qint8 if signed else dtypes.quint8
        levels = _finished(total, _summand(given, kind, per_level), given, out_type, relu)
        if requantized:
            return [levels, f32(given["min_freezed_output"]), f32(given["max_freezed_output"])]
        return [levels, *_product_ends(x, w)]

    used = ["out_type", "strides", "padding", "dilations"]
    used += ["padding_list"] if "padding_list" in attrs else []
    op(
        name, inputs=", ".join(f"{each}: {kind}" for each, kind in inputs),
        outputs="output: out_type, min_output: float, max_output: float", attrs=attrs,
        shape=_conv_rule(depthwise, requantized), traits=HOST,
    )(taking_attrs(compute, used))  # fmt: skip


for _name in (
    *("QuantizedConv2DAndRelu", "QuantizedConv2DAndReluAndRequantize"),
    *("QuantizedConv2DAndRequantize", "QuantizedConv2DPerChannel", "QuantizedConv2DWithBias"),
    *("QuantizedConv2DWithBiasAndRelu", "QuantizedConv2DWithBiasAndReluAndRequantize"),
    *("QuantizedConv2DWithBiasAndRequantize", "QuantizedConv2DWithBiasSumAndRelu"),
    "QuantizedConv2DWithBiasSignedSumAndReluAndRequantize",
    "QuantizedConv2DWithBiasSumAndReluAndRequantize",
    *("QuantizedDepthwiseConv2D", "QuantizedDepthwiseConv2DWithBias"),
    "QuantizedDepthwiseConv2DWithBiasAndRelu",
    "QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize",
):
    _convolution(_name)


# ---- products ------------------------------------------------------------------------------------


def _product_shape(c: ShapeContext) -> list[Dims]:
    a, b = s.with_rank(c.dims(0), 2), s.with_rank(c.dims(1), 2)
    a = a[::-1] if c.attr("transpose_a") else a
    b = b[::-1] if c.attr("transpose_b") else b
    s.merge((a[1],), (b[0],))
    return [(a[0], b[1]), (), ()]


def _biased(product: Any, bias: Any, b: Any, x: tuple[Any, Any], reach: Any, mode: str) -> Any:
    """The product with a bias in its levels; levels that begin at the lower end are moved to 0."""
    if bias.dtype != f32:
        return product + bias.astype(f32)
    low, high = map(f32, x)
    if mode == "SCALED":
        return product + bias * (_UNSIGNED * _SIGNED / high * reach)
    width = high - low
    moved = b.astype(np.int64).sum(axis=0).astype(f32) * (_UNSIGNED * low / width)
    return product + (bias * (_UNSIGNED * _SIGNED / (width * reach)) + moved)


def _product(name: str) -> None:
    requantized, relu = name.endswith("Requantize"), "Relu" in name
    bias = "float" if relu and not requantized else "Tbias"
    inputs = f"a: T1, b: T2, bias: {bias}, min_a: float, max_a: float, min_b: float, max_b: float"
    if requantized:
        inputs += ", min_freezed_output: float, max_freezed_output: float"

    def compute(
        xp: Any, a: Any, b: Any, bias: Any, min_a: Any, max_a: Any, min_b: Any, max_b: Any,
        *frozen: Any, Toutput: DType, transpose_a: bool, transpose_b: bool, input_quant_mode: str,
    ) -> list[Any]:  # fmt: skip
        a, b = a.T if transpose_a else a, b.T if transpose_b else b
        total = (a.astype(np.int64) @ b.astype(np.int64)).astype(f32)
        total = _biased(total, bias, b, (min_a, max_a), _reach(min_b, max_b), input_quant_mode)
        bounds = _product_ends((min_a, max_a), (min_b, max_b))
        if frozen:
            levels = 2**23 if Toutput == dtypes.quint8 else 2**24
            total = total * (_reach(*bounds) / _reach(*frozen) / f32(levels))
            bounds = list(map(f32, frozen))
        return [_rounded(np.maximum(total, f32(0)) if relu else total, Toutput), *bounds]

    attrs = f"T1: {QUANTIZED}, T2: {QUANTIZED}, "
    attrs += "Tbias: {float, qint32}, " if bias == "Tbias" else ""
    out = "quint8" if requantized else "qint32"
    attrs += f"Toutput: {QUANTIZED} = {out}, transpose_a: bool = false, transpose_b: bool = false,"
    attrs += ' input_quant_mode: {"MIN_FIRST", "SCALED"} = "MIN_FIRST"'
    used = ["Toutput", "transpose_a", "transpose_b", "input_quant_mode"]
    op(
        name, inputs=inputs, outputs="out: Toutput, min_out: float, max_out: float", attrs=attrs,
        shape=_product_shape, traits=HOST,
    )(taking_attrs(compute, used))  # fmt: skip


for _name in ("", "AndRelu", "AndReluAndRequantize"):
    _product(f"QuantizedMatMulWithBias{_name}")


# ---- a range for each channel --------------------------------------------------------------------


def _check_channels(input: Any, input_min: Any, input_max: Any) -> None:
    depth = input_max.size
    if input_min.size != depth:
        raise invalid(f"input_min has incorrect size, expected {depth} was {input_min.size}")
    if not input.size:
        raise invalid("input must not be empty")
    if input.ndim != 4:
        raise invalid("input must be in NHWC format")
    if input.shape[3] != depth:
        raise invalid(
            "input must have same number of channels as length of input_min:"
            f" {input.shape[3]} vs {depth}"
        )


_OF_CHANNELS = "input: T, input_min: float, input_max: float"


@op(
    "RequantizationRangePerChannel", inputs=_OF_CHANNELS,
    outputs="output_min: float, output_max: float",
    attrs=f"T: {QUANTIZED} = qint32, clip_value_max: float", shape=lambda c: [(), ()],
    traits=HOST,
)  # fmt: skip
def requantization_range_per_channel_(
    xp: Any, input: Any, input_min: Any, input_max: Any, *, clip_value_max: float
) -> list[Any]:
    _check_channels(input, input_min, input_max)
    largest = np.abs(input.astype(np.int64)).max(axis=(0, 1, 2)).astype(f32)
    used = (_reach(input_min, input_max) * largest / f32(2**31)).max()
    most = min(f32(used), f32(clip_value_max))
    return [-most if (input < 0).any() else f32(0), most]


@op(
    "RequantizePerChannel",
    inputs=f"{_OF_CHANNELS}, requested_output_min: float, requested_output_max: float",
    outputs="output: out_type, output_min: float, output_max: float",
    attrs=f"T: {QUANTIZED} = qint32, out_type: {QUANTIZED} = quint8",
    shape=lambda c: [c.dims(0), (), ()], traits=HOST,
)  # fmt: skip
def requantize_per_channel_(
    xp: Any, input: Any, input_min: Any, input_max: Any, requested_output_min: Any,
    requested_output_max: Any, *, out_type: DType,
) -> list[Any]:  # fmt: skip
    if input.ndim != 4:
        raise invalid("Current RequantizePerChannel operator supports 4D tensors only.")
    if input_max.size != input_min.size:
        raise invalid(
            f"input_max has incorrect size, expected {input_min.size} was {input_max.size}"
        )
    new = f32(requested_output_min), f32(requested_output_max)
    most = _SIGNED if out_type == dtypes.qint8 else _UNSIGNED
    scale = most * (_reach(input_min, input_max) / _reach(*new) / f32(2**31))
    return [_rounded(input.astype(f32) * scale, out_type), *new]
