"""Kernels on colours: between RGB and HSV, and changes of contrast, hue and saturation."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core import errors
from weft.graph import shape_fn as s
from weft.graph.by_library import by_library
from weft.graph.op_def import op, raw
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.tensor import Tensor
from weft.graph.traits import DEPRECATED, NO_GRADIENT
from weft.ops.array import array
from weft.ops.array.gather import gather
from weft.ops.array.one_hot_search import one_hot
from weft.ops.kit.shared import invalid
from weft.ops.math import math

F = np.float32
_TYPES = "T: {half, bfloat16, float, double} = float"


# ---- hue, saturation, value ----------------------------------------------------------------------


def _colors(c: ShapeContext) -> Dims:
    dims = s.with_rank_at_least(c.dims(0), 1)
    if dims is None:
        return None
    if dims[-1] not in (None, 3):
        raise ValueError(f"Dimension must be 3 but is {dims[-1]}")
    return (*dims[:-1], 3)


def _check_colors(images: Any) -> None:
    if images.ndim < 1:
        raise invalid(f"input must be at least 1D{s.show(images.shape)}")
    if images.shape[-1] != 3:
        message = f"input must have 3 channels but input only has {images.shape[-1]} channels."
        raise errors.FailedPreconditionError(None, None, message)


def _channels(images: Any) -> tuple[Any, Any, Any]:
    return images[..., 0], images[..., 1], images[..., 2]


@op(
    "RGBToHSV", inputs="images: T", outputs="output: T", attrs=_TYPES, shape=_colors,
)  # fmt: skip
def rgb_to_hsv_(xp: Any, images: Any) -> Any:
    _check_colors(images)
    hue, saturation, value = _hsv(xp, images)
    return xp.stack([hue, saturation, value], axis=-1).astype(images.dtype)


def _hsv(xp: Any, images: Any) -> tuple[Any, Any, Any]:
    red, green, blue = _channels(images)
    kind = images.dtype.type
    value = xp.maximum(red, xp.maximum(green, blue))
    span = value - xp.minimum(red, xp.minimum(green, blue))
    saturation = xp.where(value > 0, span / xp.where(value > 0, value, kind(1)), kind(0))
    gray = ~(span > 0)
    scale = kind(1) / xp.where(gray, kind(1), span) * kind(kind(1) / kind(6))
    third = kind(kind(2) / kind(6))
    other = xp.where(
        green == value,
        scale * (blue - red) + third,
        scale * (red - green) + kind(kind(4) / kind(6)),
    )
    hue = xp.where(gray, kind(0), xp.where(red == value, scale * (green - blue), other))
    return xp.where(hue < 0, hue + kind(1), hue), saturation, value


@rgb_to_hsv_.gradient
def _(op: Operation, grad: Any) -> Any:
    """With x, y the two channels after the largest: hue = (x - y) / (6 * span) + a constant."""
    (rgb,) = op.inputs
    following, last = [1, 2, 0], [2, 0, 1]
    # Of equal channels the first is the largest and the last is the smallest.
    largest = one_hot(math.argmax(rgb, axis=-1), 3, dtype=rgb.dtype)
    backwards = array.reverse(rgb, [-1])
    smallest = one_hot(2 - math.argmin(backwards, axis=-1), 3, dtype=rgb.dtype)
    high = math.reduce_sum(largest * rgb, axis=-1, keepdims=True)
    low = math.reduce_sum(smallest * rgb, axis=-1, keepdims=True)
    positive = math.cast(high > 0, rgb.dtype)

    by_high = math.div_no_nan(low, math.square(high))
    by_low = math.cast(rgb > 0, rgb.dtype) * math.div_no_nan(array.ones_like(high), high)
    to_saturation = positive * (largest * by_high - smallest * by_low)

    per_span = math.div_no_nan(positive, high - low)
    apart = gather(rgb, following, axis=-1) - gather(rgb, last, axis=-1)
    apart = math.reduce_sum(largest * apart, axis=-1, keepdims=True) * math.square(per_span)
    after = gather(largest, last, axis=-1) - gather(largest, following, axis=-1)
    to_hue = ((smallest - largest) * apart + after * per_span) / 6

    hue, saturation, value = (grad[..., i : i + 1] for i in range(3))
    return value * largest + saturation * to_saturation + hue * to_hue


@op(
    "HSVToRGB", inputs="images: T", outputs="output: T", attrs=_TYPES, shape=_colors,
    traits=NO_GRADIENT,
)  # fmt: skip
def hsv_to_rgb_(xp: Any, images: Any) -> Any:
    _check_colors(images)
    hue, saturation, value = _channels(images)
    sixth = hue * 6
    parts = (abs(sixth - 3) - 1, 2 - abs(sixth - 2), 2 - abs(sixth - 4))
    pale = 1 - saturation
    bright = [(pale + saturation * xp.clip(part, 0, 1)) * value for part in parts]
    return xp.stack(bright, axis=-1).astype(images.dtype)


# ---- contrast, hue, saturation -------------------------------------------------------------------


def _image(c: ShapeContext) -> Dims:
    return s.with_rank_at_least(c.dims(0), 3)


def _image_and_factor(c: ShapeContext) -> Dims:
    s.with_rank(c.dims(1), 0)
    return _image(c)


def _check_image(images: Any, **scalars: Any) -> None:
    if images.ndim < 3:
        raise invalid(f"input must be at least 3-D, got shape{s.show(images.shape)}")
    for name, value in scalars.items():
        if np.ndim(value):
            raise invalid(f"{name} must be scalar: {s.show(np.shape(value))}")


def _check_rgb(images: Any, **scalars: Any) -> None:
    _check_image(images, **scalars)
    if images.shape[-1] != 3:
        count = images.shape[-1]
        raise invalid(f"input must have 3 channels but instead has {count} channels.")


def _contrasted(xp: Any, images: Any, factor: Any) -> Any:
    images = images.astype(F)
    mean = _mean(xp, images)
    return mean + factor * (images - mean)


@by_library
def _mean(xp: Any, images: Any) -> Any:
    return xp.mean(images, axis=(-3, -2), keepdims=True)


@_mean.numpy
def _(xp: Any, images: Any) -> Any:
    # NumPy adds along leading axes one by one, which loses digits in single precision.
    return np.mean(images, axis=(-3, -2), keepdims=True, dtype=np.float64).astype(F)


@op(
    "AdjustContrastv2", inputs="images: T, contrast_factor: float", outputs="output: T",
    attrs="T: {half, float} = float", shape=_image_and_factor,
)  # fmt: skip
def adjust_contrast_v2_(xp: Any, images: Any, contrast_factor: Any) -> Any:
    _check_image(images, contrast_factor=contrast_factor)
    return _contrasted(xp, images, contrast_factor).astype(images.dtype) if images.size else images


def _image_and_factors(c: ShapeContext) -> Dims:
    for i in (1, 2, 3):
        s.with_rank(c.dims(i), 0)
    return _image(c)


@op(
    "AdjustContrast",
    inputs="images: T, contrast_factor: float, min_value: float, max_value: float",
    outputs="output: float", attrs="T: {uint8, int8, int16, int32, int64, float, double}",
    shape=_image_and_factors, traits=DEPRECATED,
)  # fmt: skip
def adjust_contrast_(
    xp: Any, images: Any, contrast_factor: Any, min_value: Any, max_value: Any
) -> Any:
    factors = {"contrast_factor": contrast_factor, "min_value": min_value, "max_value": max_value}
    _check_image(images, **factors)
    return xp.clip(_contrasted(xp, images, contrast_factor), min_value, max_value).astype(F)


@op(
    "AdjustHue", inputs="images: T, delta: float", outputs="output: T",
    attrs="T: {half, float} = float", shape=_image,
)  # fmt: skip
def adjust_hue_(xp: Any, images: Any, delta: Any) -> Any:
    """Turns the hue by `delta` of a full circle, which is 6 long here."""
    _check_rgb(images, delta=delta)
    low, span, high, (red, green, blue) = _extremes(xp, images)
    per_span = F(1) / xp.where(span > 0, span, F(1))
    other = xp.where(green == high, (blue - red) * per_span + 2, (red - green) * per_span + 4)
    hue = xp.where(red == high, (green - blue) * per_span, other) + delta * F(6)
    # A channel is at its highest for a third of the circle, and each reaches it at another place.
    place = hue[..., None] + np.array([0, 4, 2], F)
    place = place - F(6) * xp.floor(place / F(6))
    share = xp.clip(abs(place - F(3)) - F(1), F(0), F(1))
    return (low[..., None] + span[..., None] * share).astype(images.dtype)


def _extremes(xp: Any, images: Any) -> tuple[Any, Any, Any, tuple[Any, Any, Any]]:
    """(lowest channel, distance to the highest, highest channel, all three) of every pixel"""
    red, green, blue = channels = _channels(images.astype(F))
    high = xp.maximum(red, xp.maximum(green, blue))
    low = xp.minimum(red, xp.minimum(green, blue))
    return low, high - low, high, channels


@op(
    "AdjustSaturation", inputs="images: T, scale: float", outputs="output: T",
    attrs="T: {half, float} = float", shape=_image,
)  # fmt: skip
def adjust_saturation_(xp: Any, images: Any, scale: Any) -> Any:
    """Keeps the highest channel, and the order of the distances of the others from it."""
    _check_rgb(images, scale=scale)
    _, span, high, _ = _extremes(xp, images)
    saturation = xp.where(high > 0, span / xp.where(high > 0, high, F(1)), F(0))
    wanted = xp.clip(saturation * scale, F(0), F(1)) * high
    ratio = xp.where(span > 0, wanted / xp.where(span > 0, span, F(1)), F(0))
    high, ratio = high[..., None], ratio[..., None]
    return (high - (high - images.astype(F)) * ratio).astype(images.dtype)


def rgb_to_hsv(images: Any, name: str | None = None) -> Tensor:
    """Hue, saturation and value, each from 0 to 1, of images in RGB."""
    return raw.RGBToHSV(images, name=name)


def hsv_to_rgb(images: Any, name: str | None = None) -> Tensor:
    """RGB of images in hue, saturation and value."""
    return raw.HSVToRGB(images, name=name)
