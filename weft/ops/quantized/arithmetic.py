"""Arithmetic of quantized tensors (levels.py says what their numbers stand for).

Products are computed exactly in 32 bits, and their range follows from one level of each factor.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.tensor import Tensor
from weft.graph.traits import HOST
from weft.ops.kit.shared import invalid
from weft.ops.quantized.levels import (
    QUANTIZED,
    Range,
    centered,
    check_range,
    ends,
    f32,
    narrowed,
    product_range,
    quantized,
    real,
    with_range,
)

# ---- shapes --------------------------------------------------------------------------------------


def _first_and_range(c: ShapeContext) -> list[Dims]:
    return [c.dims(0), (), ()]


def _broadcast_and_range(c: ShapeContext) -> list[Dims]:
    return [s.broadcast_dims(c.dims(0), c.dims(1)), (), ()]


def _product_shape(c: ShapeContext) -> list[Dims]:
    a, b = s.with_rank(c.dims(0), 2), s.with_rank(c.dims(1), 2)
    a = a[::-1] if c.attr("transpose_a") else a
    b = b[::-1] if c.attr("transpose_b") else b
    s.merge((a[1],), (b[0],))
    return [(a[0], b[1]), (), ()]


# ---- products ------------------------------------------------------------------------------------

_FACTORS = f"T1: {QUANTIZED}, T2: {QUANTIZED}, Toutput: {QUANTIZED} = qint32"


@op(
    "QuantizedMatMul",
    inputs="a: T1, b: T2, min_a: float, max_a: float, min_b: float, max_b: float",
    outputs="out: Toutput, min_out: float, max_out: float",
    attrs=f"{_FACTORS}, transpose_a: bool = false, transpose_b: bool = false,"
    f" Tactivation: {QUANTIZED} = quint8",
    shape=_product_shape, traits=HOST,
)  # fmt: skip
def quantized_mat_mul_(
    xp: Any, a: Any, b: Any, min_a: Any, max_a: Any, min_b: Any, max_b: Any, *, T1: DType,
    T2: DType, Toutput: DType, transpose_a: bool, transpose_b: bool,
) -> Any:  # fmt: skip
    check_range("a", min_a, max_a)
    check_range("b", min_b, max_b)
    if a.ndim != 2 or b.ndim != 2:
        raise invalid("In[0] and In[1] must be matrices")
    left, right = centered(a, T1, min_a, max_a), centered(b, T2, min_b, max_b)
    left = left.T if transpose_a else left
    right = right.T if transpose_b else right
    if left.shape[1] != right.shape[0]:
        raise invalid(
            f"Matrix size-incompatible: In[0]: {s.show(a.shape)}, In[1]: {s.show(b.shape)}"
        )
    bounds = product_range((T1, min_a, max_a), (T2, min_b, max_b), Toutput)
    return with_range(left @ right, Toutput, bounds)


@op(
    "QuantizedMul",
    inputs="x: T1, y: T2, min_x: float, max_x: float, min_y: float, max_y: float",
    outputs="z: Toutput, min_z: float, max_z: float", attrs=_FACTORS,
    shape=_broadcast_and_range, traits=HOST,
)  # fmt: skip
def quantized_mul_(
    xp: Any, x: Any, y: Any, min_x: Any, max_x: Any, min_y: Any, max_y: Any, *, T1: DType,
    T2: DType, Toutput: DType,
) -> Any:  # fmt: skip
    check_range("x", min_x, max_x)
    check_range("y", min_y, max_y)
    product = centered(x, T1, min_x, max_x) * centered(y, T2, min_y, max_y)
    bounds = product_range((T1, min_x, max_x), (T2, min_y, max_y), Toutput)
    return with_range(product, Toutput, bounds)


# ---- sums ----------------------------------------------------------------------------------------


def _sum(x: Any, y: Any, kinds: tuple[DType, DType, DType], ranges: list[Range], room: int) -> Any:
    """x + y in a range around zero that is `room` times as wide as the wider one's."""
    widest = f32(max(abs(f32(end)) for bounds in ranges for end in bounds))
    top = f32(widest * f32(room))
    out = kinds[2]
    parts = [
        quantized(real(each, kind, *bounds), out, -top, top).astype(np.int64)
        for each, kind, bounds in zip((x, y), kinds, ranges, strict=False)
    ]
    zero = quantized(f32(0), out, -top, top).astype(np.int64)
    return with_range(parts[0] + parts[1] + zero, out, (-top, top))


@op(
    "QuantizedAdd",
    inputs="x: T1, y: T2, min_x: float, max_x: float, min_y: float, max_y: float",
    outputs="z: Toutput, min_z: float, max_z: float", attrs=_FACTORS,
    shape=_broadcast_and_range, traits=HOST,
)  # fmt: skip
def quantized_add_(
    xp: Any, x: Any, y: Any, min_x: Any, max_x: Any, min_y: Any, max_y: Any, *, T1: DType,
    T2: DType, Toutput: DType,
) -> Any:  # fmt: skip
    check_range("x", min_x, max_x)
    check_range("y", min_y, max_y)
    return _sum(x, y, (T1, T2, Toutput), [(min_x, max_x), (min_y, max_y)], 1 << 14)


@op(
    "QuantizedBiasAdd",
    inputs="input: T1, bias: T2, min_input: float, max_input: float, min_bias: float,"
    " max_bias: float",
    outputs="output: out_type, min_out: float, max_out: float",
    attrs=f"T1: {QUANTIZED}, T2: {QUANTIZED}, out_type: {QUANTIZED}",
    shape=_first_and_range, traits=HOST,
)  # fmt: skip
def quantized_bias_add_(
    xp: Any, input: Any, bias: Any, min_input: Any, max_input: Any, min_bias: Any, max_bias: Any,
    *, T1: DType, T2: DType, out_type: DType,
) -> Any:  # fmt: skip
    if input.ndim < 2:
        raise invalid(f"Input tensor must be at least 2D: {s.show(input.shape)}")
    if bias.ndim != 1:
        raise invalid(f"Biases must be 1D: {s.show(bias.shape)}")
    if bias.shape[0] != input.shape[-1]:
        raise invalid(
            "Must provide as many biases as the last dimension of the input tensor: "
            f"{s.show(bias.shape)} vs. {s.show(input.shape)}"
        )
    ranges = [(min_input, max_input), (min_bias, max_bias)]
    return _sum(input, bias, (T1, T2, out_type), ranges, 1 << 17)


# ---- limits --------------------------------------------------------------------------------------

_LIMITED = f"Tinput: {QUANTIZED}, out_type: {QUANTIZED} = quint8"
_FEATURES = "features: Tinput, min_features: float, max_features: float"
_ACTIVATIONS = "activations: out_type, min_activations: float, max_activations: float"


def _limited(x: Any, T: DType, out: DType, bounds: Range, top: Any) -> list[Any]:
    """Between zero and `top`, if there is one."""
    found = np.maximum(x, quantized(f32(0), T, *bounds))
    if top is not None:
        found = np.minimum(found, quantized(f32(top), T, *bounds))
    return with_range(found, out, bounds)


@op("QuantizedRelu", inputs=_FEATURES, outputs=_ACTIVATIONS, attrs=_LIMITED,
    shape=_first_and_range, traits=HOST)  # fmt: skip
def quantized_relu_(
    xp: Any, features: Any, min_features: Any, max_features: Any, *, Tinput: DType, out_type: DType
) -> Any:
    return _limited(features, Tinput, out_type, (min_features, max_features), None)


@op("QuantizedRelu6", inputs=_FEATURES, outputs=_ACTIVATIONS, attrs=_LIMITED,
    shape=_first_and_range, traits=HOST)  # fmt: skip
def quantized_relu6_(
    xp: Any, features: Any, min_features: Any, max_features: Any, *, Tinput: DType, out_type: DType
) -> Any:
    return _limited(features, Tinput, out_type, (min_features, max_features), 6.0)


@op("QuantizedReluX",
    inputs="features: Tinput, max_value: float, min_features: float, max_features: float",
    outputs=_ACTIVATIONS, attrs=_LIMITED, shape=_first_and_range, traits=HOST,
)  # fmt: skip
def quantized_relu_x_(
    xp: Any, features: Any, max_value: Any, min_features: Any, max_features: Any, *,
    Tinput: DType, out_type: DType,
) -> Any:  # fmt: skip
    return _limited(features, Tinput, out_type, (min_features, max_features), max_value)


# ---- other ranges --------------------------------------------------------------------------------

_ONE = "input: Tinput, input_min: float, input_max: float"
_TWO_TYPES = f"Tinput: {QUANTIZED}, out_type: {QUANTIZED}"
_NEW = "output: out_type, output_min: float, output_max: float"


def _used_range(x: Any, T: DType, bounds: Range) -> Range:
    """The range that the values take up, with zero in it."""
    least, most = ends(T)
    low, high = (x.min(), x.max()) if x.size else (most, least)
    return f32(min(f32(0), real(low, T, *bounds))), f32(real(high, T, *bounds))


@op("QuantizeDownAndShrinkRange", inputs=_ONE, outputs=_NEW, attrs=_TWO_TYPES,
    shape=_first_and_range, traits=HOST)  # fmt: skip
def quantize_down_and_shrink_range_(
    xp: Any, input: Any, input_min: Any, input_max: Any, *, Tinput: DType, out_type: DType
) -> Any:
    old = (input_min, input_max)
    new = _used_range(input, Tinput, old)
    return with_range(narrowed(input, Tinput, old, out_type, new), out_type, new)


@op("RequantizationRange", inputs=_ONE, outputs="output_min: float, output_max: float",
    attrs=f"Tinput: {QUANTIZED}", shape=lambda c: [(), ()], traits=HOST,
)  # fmt: skip
def requantization_range_(
    xp: Any, input: Any, input_min: Any, input_max: Any, *, Tinput: DType
) -> Any:
    return [np.asarray(end) for end in _used_range(input, Tinput, (input_min, input_max))]


@op("Requantize",
    inputs=f"{_ONE}, requested_output_min: float, requested_output_max: float", outputs=_NEW,
    attrs=_TWO_TYPES, shape=_first_and_range, traits=HOST)  # fmt: skip
def requantize_(
    xp: Any, input: Any, input_min: Any, input_max: Any, requested_output_min: Any,
    requested_output_max: Any, *, Tinput: DType, out_type: DType,
) -> Any:  # fmt: skip
    if requested_output_min > 0:
        raise invalid(f"requested_output_min must be <= 0, but got {requested_output_min:g}")
    if requested_output_max < requested_output_min:
        raise invalid(
            "requested_output_max must be >= requested_output_min, but got "
            f"{requested_output_max:g} and {requested_output_min:g}"
        )
    new = (requested_output_min, requested_output_max)
    found = narrowed(input, Tinput, (input_min, input_max), out_type, new)
    return with_range(found, out_type, new)


def _reshaped_and_range(c: ShapeContext) -> list[Dims]:
    dims = c.partial(1)
    known = None if dims is None else tuple(None if d == -1 else d for d in dims)
    return [known, (), ()]


# ---- arrangement ---------------------------------------------------------------------------------


@op("QuantizedReshape", inputs="tensor: T, shape: Tshape, input_min: float, input_max: float",
    outputs="output: T, output_min: float, output_max: float",
    attrs="T: type, Tshape: indextype = int32",
    shape=_reshaped_and_range, traits=HOST)  # fmt: skip
def quantized_reshape_(xp: Any, tensor: Any, shape: Any, input_min: Any, input_max: Any) -> Any:
    return [np.reshape(tensor, tuple(shape.tolist())), np.asarray(input_min), np.asarray(input_max)]


def _joined_shape(c: ShapeContext) -> list[Dims]:
    count, axis = c.attr("N"), c.value(0)
    parts = [c.dims(1 + i) for i in range(count)]
    if axis is None or any(part is None for part in parts):
        return [None, (), ()]
    first, at = list(parts[0] or ()), int(axis)
    sizes = [part[at] for part in parts if part is not None]
    first[at] = None if None in sizes else sum(size or 0 for size in sizes)
    return [tuple(first), (), ()]


@op("QuantizedConcat", inputs="concat_dim: int32, values: N * T, input_mins: N * float,"
    " input_maxes: N * float", outputs="output: T, output_min: float, output_max: float",
    attrs="N: int >= 2, T: type", shape=_joined_shape, traits=HOST,
)  # fmt: skip
def quantized_concat_(
    xp: Any, concat_dim: Any, values: list[Any], input_mins: list[Any], input_maxes: list[Any], *,
    T: DType,
) -> Any:  # fmt: skip
    low, high = min(f32(0), *map(f32, input_mins)), max(map(f32, input_maxes))
    if ends(T)[0] < 0:  # of signed types the range lies around zero
        high = max(abs(low), abs(high))
        low = -high
    parts = [
        part if bounds == (low, high) else quantized(real(part, T, *bounds), T, low, high)
        for part, *bounds in zip(values, input_mins, input_maxes, strict=True)
    ]
    return with_range(np.concatenate(parts, int(concat_dim)), T, (low, high))


# ---- public names --------------------------------------------------------------------------------


def quantized_relu_x(
    features: Any, max_value: Any, min_features: Any, max_features: Any,
    out_type: DType = dtypes.quint8, name: str | None = None,
) -> Any:  # fmt: skip
    """(activations, min, max): between zero and `max_value`."""
    return quantized_relu_x_(
        features, max_value, min_features, max_features, out_type=out_type, name=name
    )


def quantized_concat(
    concat_dim: Any, values: list[Tensor], input_mins: list[Any], input_maxes: list[Any],
    name: str | None = None,
) -> Any:  # fmt: skip
    """(output, min, max): tensors of different ranges, joined in one that holds them all."""
    return quantized_concat_(concat_dim, values, input_mins, input_maxes, name=name)
