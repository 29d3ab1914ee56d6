"""Quantization: values rounded to a few bits, as quantized types or, simulated, as floats."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from weft.core.dtypes import DType
from weft.graph import shape_fn as s
from weft.graph.op_def import op, raw
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.tensor import Tensor
from weft.graph.traits import DEPRECATED
from weft.ops.array.array import invalid
from weft.ops.kit.shared import taking_attrs
from weft.ops.kit.value_checks import require

f32 = np.float32

# ---- to a few bits and back, keeping zero exact -----------------------------------------------


def _round(xp: Any, x: Any, mode: str) -> Any:
    """To whole numbers; halves to even, up, or away from zero."""
    if mode == "HALF_TO_EVEN":
        return xp.round(x)
    if mode == "HALF_UP":
        return xp.floor(x + 0.5)
    return xp.trunc(x + xp.copysign(0.5, x).astype(x.dtype))


def _divide(xp: Any, a: Any, b: Any, where: Any, otherwise: Any) -> Any:
    """`a / b` where it is wanted, without dividing elsewhere."""
    return xp.where(where, a / xp.where(where, b, 1).astype(b.dtype), otherwise)


def _through_bits(
    xp: Any,
    x: Any,
    input_min: Any,
    input_max: Any,
    num_bits: Any,
    signed_input: bool,
    range_given: bool,
    round_mode: str = "HALF_TO_EVEN",
    narrow_range: bool = False,
) -> Any:
    """`x` rounded to the bits. Each version of the op has its own inputs and attributes."""
    bits, signed, kind = int(num_bits), signed_input, x.dtype
    if not 1 <= bits <= (62 if signed else 63):
        raise invalid(f"num_bits is out of range: {bits} with signed_input_ {int(signed)}")
    if range_given:
        low, high = xp.asarray(input_min, kind), xp.asarray(input_max, kind)
        wrong = "Invalid range: input_min {} > input_max {}".format
        require(xp, low <= high, lambda: invalid(wrong(low, high)))
    elif 0 in x.shape:
        return x
    else:
        low, high = xp.asarray(x.min()), xp.asarray(x.max())
    least = -(1 << (bits - 1)) + int(narrow_range) if signed else 0
    most = (1 << (bits - 1)) - 1 if signed else (1 << bits) - 1
    largest = ml_dtypes.finfo(kind).max.astype(kind)
    # The range that asks for the smaller scale decides; the other end follows from it.
    from_low = _divide(xp, np.array(least, kind), low, least * low > 0, largest)
    from_high = _divide(xp, np.array(most, kind), high, most * high > 0, largest)
    by_low = from_low < from_high
    scale = xp.where(by_low, from_low, from_high)
    inverse = xp.where(by_low, low / (least or 1), high / most).astype(kind)
    if range_given:
        top = xp.where(by_low, most * inverse, high).astype(kind)
        bottom = xp.where(by_low, low, least * inverse).astype(kind)
        x = xp.maximum(xp.minimum(x, top), bottom)
    return (_round(xp, x * scale, round_mode) * inverse).astype(kind)


def scalar_range(c: ShapeContext) -> Dims:
    for i in range(1, c.num_inputs):
        s.with_rank(c.dims(i), 0)
    return c.dims(0)


quantize_and_dequantize_ = op(
    "QuantizeAndDequantize",
    inputs="input: T",
    outputs="output: T",
    attrs="signed_input: bool = true, num_bits: int = 8, range_given: bool = false,"
    " input_min: float = 0, input_max: float = 0, T: floattype",
    shape=s.unchanged,
    traits=DEPRECATED,
)(
    taking_attrs(
        _through_bits, ("signed_input", "num_bits", "range_given", "input_min", "input_max")
    )
)

quantize_and_dequantize_v2_ = op(
    "QuantizeAndDequantizeV2",
    inputs="input: T, input_min: T, input_max: T",
    outputs="output: T",
    attrs="signed_input: bool = true, num_bits: int = 8, range_given: bool = false, T: floattype,"
    ' round_mode: {"HALF_TO_EVEN", "HALF_UP"} = "HALF_TO_EVEN", narrow_range: bool = false',
    shape=scalar_range,
)(
    taking_attrs(
        _through_bits, ("signed_input", "num_bits", "range_given", "round_mode", "narrow_range")
    )
)

quantize_and_dequantize_v3_ = op(
    "QuantizeAndDequantizeV3",
    inputs="input: T, input_min: T, input_max: T, num_bits: int32",
    outputs="output: T",
    attrs="signed_input: bool = true, range_given: bool = true, T: floattype,"
    " narrow_range: bool = false",
    shape=scalar_range,
    static="num_bits",
)(taking_attrs(_through_bits, ("signed_input", "range_given", "narrow_range")))


# ---- the same with a range for each slice, and a gradient for its ends -------------------------


def _sliced(
    xp: Any, x: Any, input_min: Any, input_max: Any, *, axis: int, range_given: bool, **attrs: Any
) -> Any:
    """`_through_bits` of all of x, or of each of its slices along an axis."""
    if range_given and np.ndim(input_min):
        raise invalid("input_min must be a scalar.")  # TensorFlow's kernel takes no others
    if axis == -1 or range_given:
        return _through_bits(xp, x, input_min, input_max, range_given=range_given, **attrs)
    slices = [
        _through_bits(xp, part, input_min, input_max, range_given=False, **attrs)
        for part in xp.moveaxis(x, axis, 0)
    ]
    return xp.moveaxis(xp.stack(slices), 0, axis) if slices else x


def _range_rank(c: ShapeContext, i: int) -> Dims:
    return s.with_rank(c.dims(i), 0 if c.attr("axis") == -1 else 1)


def _range_shapes(c: ShapeContext) -> Dims:
    for i in (1, 2):
        _range_rank(c, i)
    return c.dims(0)


quantize_and_dequantize_v4_ = op(
    "QuantizeAndDequantizeV4",
    inputs="input: T, input_min: T, input_max: T",
    outputs="output: T",
    attrs="signed_input: bool = true, num_bits: int = 8, range_given: bool = false, T: floattype,"
    ' round_mode: {"HALF_TO_EVEN", "HALF_UP"} = "HALF_TO_EVEN", narrow_range: bool = false,'
    " axis: int = -1",
    shape=_range_shapes,
)(
    taking_attrs(
        _sliced,
        ("signed_input", "num_bits", "range_given", "round_mode", "narrow_range", "axis"),
    )
)


@op(
    "QuantizeAndDequantizeV4Grad",
    inputs="gradients: T, input: T, input_min: T, input_max: T",
    outputs="input_backprop: T, input_min_backprop: T, input_max_backprop: T",
    attrs="T: floattype, axis: int = -1",
    shape=lambda c: [s.merge(c.dims(0), c.dims(1)), _range_rank(c, 2), _range_rank(c, 3)],
)
def quantize_and_dequantize_v4_grad_(
    xp: Any, gradients: Any, input: Any, input_min: Any, input_max: Any, *, axis: int
) -> list[Any]:
    """The gradients of inputs inside of the range; its ends are taken for fixed."""
    along = [1] * input.ndim
    if axis != -1:
        along[axis] = input.shape[axis]
    low, high = (xp.reshape(end, along) for end in (input_min, input_max))
    inside = (input >= low) & (input <= high)
    passed = xp.where(inside, gradients, xp.zeros_like(gradients))
    return [passed, xp.zeros_like(input_min), xp.zeros_like(input_max)]


@quantize_and_dequantize_v4_.gradient
def _(op: Operation, grad: Any) -> Any:
    return raw.QuantizeAndDequantizeV4Grad(grad, *op.inputs, axis=op.get_attr("axis"))


def _straight_through(op: Operation, grad: Any) -> Any:
    return [grad, *[None] * (len(op.inputs) - 1)]


for _definition in (
    quantize_and_dequantize_, quantize_and_dequantize_v2_, quantize_and_dequantize_v3_,
):  # fmt: skip
    _definition.gradient(_straight_through)


# ---- quantized types --------------------------------------------------------------------------


def _range_of(T: DType) -> tuple[int, int]:
    info = np.iinfo(T.np_storage)
    return int(info.min), int(info.max)


@op(
    "QuantizeV2",
    inputs="input: float, min_range: float, max_range: float",
    outputs="output: T, output_min: float, output_max: float",
    attrs='T: quantizedtype, mode: {"MIN_COMBINED", "MIN_FIRST", "SCALED"} = "MIN_COMBINED",'
    ' round_mode: {"HALF_AWAY_FROM_ZERO", "HALF_TO_EVEN"} = "HALF_AWAY_FROM_ZERO"',
    shape=lambda c: [scalar_range(c), (), ()],
)
def quantize_v2_(
    xp: Any,
    input: Any,
    min_range: Any,
    max_range: Any,
    *,
    T: DType,
    mode: str,
    round_mode: str,
) -> Any:
    if round_mode == "HALF_TO_EVEN" and mode != "SCALED":
        raise invalid(
            f"Round mode 'HALF_TO_EVEN' only supported for mode 'SCALED', but mode is '{mode}'."
        )
    message = "input_max_range must be larger than input_min_range."
    require(xp, xp.logical_not(max_range < min_range), lambda: invalid(message))
    least, most = _range_of(T)
    low, high = _widened(xp, min_range, max_range)
    if mode == "SCALED":
        levels, low, high = _scaled_levels(xp, input, low, high, least, most, round_mode)
    elif mode == "MIN_COMBINED":
        scale = f32(float(most) - float(least)) / (high - low)
        levels = (xp.maximum(xp.minimum(input, high), low) - low) * scale
        if least:
            levels = _round(xp, levels - f32((float(most) - least + 1) / 2), "AWAY")
        else:
            levels = xp.floor(levels + f32(0.5))
    else:
        steps = float(most - least + 1)
        scale = steps / ((high - low).astype(np.float64) * (steps / (steps - 1)))
        levels = _round(xp, input.astype(np.float64) * scale, "AWAY")
        levels = levels - _round(xp, xp.asarray(low, np.float64) * scale, "AWAY") + least
    levels = xp.clip(levels.astype(np.float64), least, most).astype(T.np_storage)
    return levels, xp.asarray(low, f32), xp.asarray(high, f32)


def _widened(xp: Any, low: Any, high: Any) -> tuple[Any, Any]:
    """A range that holds zero and is wide enough for its levels to be distinct."""
    margin = xp.maximum(f32(1), xp.maximum(xp.abs(low), xp.abs(high))) / f32(100)
    low = xp.minimum(low, f32(0))
    return low, xp.maximum(xp.maximum(high, low + margin), f32(0))


def _scaled_levels(
    xp: Any, x: Any, low: Any, high: Any, least: int, most: int, round_mode: str
) -> tuple[Any, Any, Any]:
    """The levels of a range around zero, and that range."""
    largest = np.finfo(np.float32).max
    scale = _divide(xp, f32(most), high, high > 0, largest)
    if least:
        scale = xp.minimum(_divide(xp, f32(least), low, low < 0, largest), scale)
    low, high = f32(least) / scale, f32(most) / scale
    return _round(xp, xp.maximum(xp.minimum(x, high), low) * scale, round_mode), low, high


@op(
    "Dequantize",
    inputs="input: T, min_range: float, max_range: float",
    outputs="output: float",
    attrs='T: quantizedtype, mode: {"MIN_COMBINED", "MIN_FIRST", "SCALED"} = "MIN_COMBINED"',
    shape=scalar_range,
)
def dequantize_(
    xp: Any,
    input: Any,
    min_range: Any,
    max_range: Any,
    *,
    T: DType,
    mode: str,
) -> Any:
    least, most = _range_of(T)
    levels = input.astype(np.float32)
    if mode == "SCALED":
        scale = max_range / f32(most)
        if least:
            scale = xp.maximum(min_range / f32(least), scale)
        return (levels * scale).astype(np.float32)
    if mode == "MIN_COMBINED":
        scale = (max_range - min_range) / f32(float(most) - float(least))
        half = f32((float(most) - least + 1) / 2 if least else 0)
        return ((levels + half) * scale + min_range).astype(np.float32)
    steps = float(most - least + 1)
    width = (max_range - min_range).astype(np.float64) * (steps / (steps - 1)) / steps
    step = width.astype(np.float32)
    bottom = _round(xp, _divide(xp, min_range, step, step != 0, f32(0)), "AWAY") * step
    out = bottom + (input.astype(np.float64) - least) * width
    return xp.where(step == 0, min_range, out).astype(np.float32)


# ---- wrappers ---------------------------------------------------------------------------------


def quantize(
    input: Any,
    min_range: Any,
    max_range: Any,
    T: Any,
    mode: str = "MIN_COMBINED",
    round_mode: str = "HALF_AWAY_FROM_ZERO",
    name: str | None = None,
) -> Any:
    """`input` as levels of the quantized type `T`, and the range that they stand for."""
    return quantize_v2_(
        input, min_range, max_range, T=T, mode=mode, round_mode=round_mode, name=name
    )


def quantize_v2(
    input: Any,
    min_range: Any,
    max_range: Any,
    T: Any,
    mode: str = "MIN_COMBINED",
    name: str | None = None,
    round_mode: str = "HALF_AWAY_FROM_ZERO",
) -> Any:
    """An older order of the arguments of `quantize`."""
    return quantize(input, min_range, max_range, T, mode, round_mode, name)


def dequantize(
    input: Any, min_range: Any, max_range: Any, mode: str = "MIN_COMBINED", name: str | None = None
) -> Tensor:
    """Levels of a quantized type as the floats they stand for."""
    return dequantize_(input, min_range, max_range, mode=mode, name=name)


def quantize_and_dequantize(
    input: Any,
    input_min: Any,
    input_max: Any,
    signed_input: bool = True,
    num_bits: int = 8,
    range_given: bool = False,
    round_mode: str = "HALF_TO_EVEN",
    name: str | None = None,
    narrow_range: bool = False,
) -> Tensor:
    """`input` rounded to what `num_bits` bits can hold."""
    return quantize_and_dequantize_v2_(
        input,
        input_min,
        input_max,
        signed_input=signed_input,
        num_bits=num_bits,
        range_given=range_given,
        round_mode=round_mode,
        narrow_range=narrow_range,
        name=name,
    )
