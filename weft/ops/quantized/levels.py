"""Levels of quantized types: whole numbers, and the range of real ones that they stand for.

The lowest number of a type stands for the lower end of the range, the highest for the upper end.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.ops.kit.shared import invalid

f32 = np.float32
Range = tuple[Any, Any]
QUANTIZED = "quantizedtype"


def ends(T: DType) -> tuple[int, int]:
    info = np.iinfo(T.np_storage)
    return int(info.min), int(info.max)


def away(x: Any) -> Any:
    """Rounded, halves away from zero."""
    return np.trunc(x + np.copysign(0.5, x))


def levels_of(x: Any, T: DType, low: Any, high: Any) -> Any:
    """The levels of real numbers, which may lie outside of what the type can hold."""
    least, most = ends(T)
    if low == high:
        return np.full(np.shape(x), least, np.int64)
    scale = (most - least) / (np.float64(high) - np.float64(low))
    level = away(np.asarray(x, np.float64) * scale) - away(np.float64(low) * scale)
    return level.astype(np.int64) + least


def quantized(x: Any, T: DType, low: Any, high: Any) -> Any:
    """Real numbers as levels of a type; those outside of the range become its ends."""
    return np.clip(levels_of(x, T, low, high), *ends(T)).astype(T.np_storage)


def real(x: Any, T: DType, low: Any, high: Any) -> Any:
    """The real values of levels."""
    least, most = ends(T)
    if low == high:
        return np.full(np.shape(x), low, f32)
    step = (np.float64(high) - np.float64(low)) / (most - least)
    rounded = f32(step)
    start = np.float64(away(np.float64(low) / rounded)) * rounded
    return (start + (np.asarray(x, np.float64) - least) * step).astype(f32)


def centered(x: Any, T: DType, low: Any, high: Any) -> Any:
    """Levels counted from the one that stands for zero."""
    return np.asarray(x, np.int64) - levels_of(f32(0), T, low, high)


def check_range(name: str, low: Any, high: Any) -> None:
    if not high > low:
        raise invalid(f"max_{name} must be larger than min_{name}.")


def product_range(a: tuple[DType, Any, Any], b: tuple[DType, Any, Any], out: DType) -> Range:
    """The range of a type whose every level is a level of one times a level of the other."""
    step = f32(1)
    for T, low, high in (a, b):
        least, most = ends(T)
        step = f32(step * f32((f32(high) - f32(low)) / f32(most - least)))
    least, most = ends(out)
    return f32(step * f32(least)), f32(step * f32(most))


def with_range(values: Any, T: DType, bounds: Range) -> list[Any]:
    return [np.asarray(values).astype(T.np_storage), *(np.asarray(f32(end)) for end in bounds)]


def narrowed(x: Any, T: DType, old: Range, out: DType, new: Range) -> Any:
    """Levels of another type and range. From 32 bits to 8 in whole numbers, as TensorFlow does."""
    if (T, out) != (dtypes.qint32, dtypes.quint8):
        return quantized(real(x, T, *old), out, *new)
    (low, high), (to_low, to_high) = (tuple(map(np.float64, each)) for each in (old, new))
    width = to_high - to_low
    if width == 0:
        return np.zeros(x.shape, np.uint8)
    one = float(1 << 16)
    scale = int(255.0 * one * (high - low) / width)
    offset = int((low + high) / 2.0 * (255.0 / width) * one) - int(one * to_low * 255.0 / width)
    found = ((x.astype(np.int64) * scale) >> 32) + offset + (1 << 15)
    return np.clip(found >> 16, 0, 255).astype(np.uint8)
