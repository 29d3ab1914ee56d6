"""Changes of brightness, contrast and colour, by given or random amounts; types of pixels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import name_scope
from weft.graph.op_def import raw
from weft.graph.tensor import Tensor
from weft.ops.array import array
from weft.ops.control import control
from weft.ops.image.check import assert_at_least_3d, assert_grayscale, require
from weft.ops.kit.shared import is_tensor_like
from weft.ops.math import math
from weft.ops.random.random import random_uniform

_FLOATS = (dtypes.float16, dtypes.float32)


# ---- types of pixels -----------------------------------------------------------------------------


def convert_image_dtype(
    image: Any, dtype: Any, saturate: bool = False, name: str | None = None
) -> Tensor:
    """`image` in another type: integers span their whole range, floats go from 0 to 1."""
    image = convert_to_tensor(image, name="image")
    dtype = dtypes.as_dtype(dtype)
    if not dtype.is_floating and not dtype.is_integer:
        raise AttributeError("dtype must be either floating point or integer")
    if dtype == image.dtype:
        return array.identity(image, name=name)
    with name_scope(name, "convert_image", [image]) as name:
        if image.dtype.is_integer and dtype.is_integer:
            return _between_integers(image, dtype, saturate, name)
        if image.dtype.is_floating and dtype.is_floating:
            return math.cast(image, dtype, name=name)
        if image.dtype.is_integer:
            return math.multiply(math.cast(image, dtype), 1.0 / image.dtype.max, name=name)
        # Every integer gets an equal share of the floats.
        scaled = math.multiply(image, dtype.max + 0.5)
        return _caster(saturate)(scaled, dtype, name=name)


def _caster(saturate: bool) -> Callable[..., Tensor]:
    return math.saturate_cast if saturate else math.cast


def _between_integers(image: Tensor, dtype: Any, saturate: bool, name: str | None) -> Tensor:
    have, want = image.dtype.max, dtype.max
    cast = _caster(saturate)
    if have > want:
        return cast(math.div(image, (have + 1) // (want + 1)), dtype, name=name)
    return math.multiply(cast(image, dtype), (want + 1) // (have + 1), name=name)


def _as_floats(image: Tensor) -> Tensor:
    return image if image.dtype in _FLOATS else convert_image_dtype(image, dtypes.float32)


# ---- brightness and contrast ---------------------------------------------------------------------


def adjust_brightness(image: Any, delta: Any) -> Tensor:
    """`image` with `delta` added, on the scale on which white is 1."""
    with name_scope(None, "adjust_brightness", [image, delta]) as name:
        image = convert_to_tensor(image, name="image")
        floats = _as_floats(image)
        adjusted = math.add(floats, math.cast(delta, floats.dtype), name=name)
        return convert_image_dtype(adjusted, image.dtype, saturate=True)


def adjust_contrast(images: Any, contrast_factor: Any) -> Tensor:
    """Every channel's distance from its mean, times `contrast_factor`."""
    with name_scope(None, "adjust_contrast", [images, contrast_factor]) as name:
        images = convert_to_tensor(images, name="images")
        adjusted = raw.AdjustContrastv2(
            _as_floats(images), contrast_factor=contrast_factor, name=name
        )
        return convert_image_dtype(adjusted, images.dtype, saturate=True)


def adjust_gamma(image: Any, gamma: Any = 1, gain: Any = 1) -> Tensor:
    """`gain * image ** gamma`"""
    with name_scope(None, "adjust_gamma", [image, gamma, gain]):
        image = convert_to_tensor(image, name="image")
        floats = _as_floats(image)
        checks = require(gamma >= 0, "Gamma should be a non-negative real number.")
        if checks:
            gamma = control.with_dependencies(checks, gamma)
        return convert_image_dtype(gain * floats**gamma, image.dtype, saturate=True)


def per_image_standardization(image: Any) -> Tensor:
    """Each image moved and scaled to mean 0 and variance 1."""
    with name_scope(None, "per_image_standardization", [image]) as scope:
        image = assert_at_least_3d(convert_to_tensor(image, name="image"))
        stored = image.dtype
        image = _as_floats(image)
        pixels = math.reduce_prod(array.shape(image)[-3:])
        mean = math.reduce_mean(image, axis=[-1, -2, -3], keepdims=True)
        deviation = math.reduce_std(image, axis=[-1, -2, -3], keepdims=True)
        # An image of one colour must not be divided by zero.
        smallest = math.rsqrt(math.cast(pixels, image.dtype))
        deviation = math.maximum(deviation, smallest)
        image = math.div(image - mean, deviation, name=scope)
        return convert_image_dtype(image, stored, saturate=True)


# ---- colour --------------------------------------------------------------------------------------


def adjust_hue(image: Any, delta: Any, name: str | None = None) -> Tensor:
    """The hue turned by `delta`, a fraction of the circle."""
    with name_scope(name, "adjust_hue", [image]):
        image = convert_to_tensor(image, name="image")
        return convert_image_dtype(raw.AdjustHue(_as_floats(image), delta), image.dtype)


def adjust_saturation(image: Any, saturation_factor: Any, name: str | None = None) -> Tensor:
    """The saturation times `saturation_factor`."""
    with name_scope(name, "adjust_saturation", [image]):
        image = convert_to_tensor(image, name="image")
        adjusted = raw.AdjustSaturation(_as_floats(image), saturation_factor)
        return convert_image_dtype(adjusted, image.dtype)


def adjust_jpeg_quality(image: Any, jpeg_quality: Any, name: str | None = None) -> Tensor:
    """`image` as it looks after JPEG compression."""
    with name_scope(name, "adjust_jpeg_quality", [image]):
        image = convert_to_tensor(image, name="image")
        stored = image.dtype
        image = convert_image_dtype(image, dtypes.uint8)
        if not is_tensor_like(jpeg_quality):
            jpeg_quality = convert_to_tensor(jpeg_quality, dtype=dtypes.int32)
        image = raw.DecodeJpeg(raw.EncodeJpegVariableQuality(image, jpeg_quality))
        return convert_image_dtype(image, stored)


def rgb_to_grayscale(images: Any, name: str | None = None) -> Tensor:
    """The luminance, in one channel."""
    with name_scope(name, "rgb_to_grayscale", [images]) as name:
        images = convert_to_tensor(images, name="images")
        floats = convert_image_dtype(images, dtypes.float32)
        gray = math.tensordot(floats, [0.2989, 0.5870, 0.1140], [-1, -1])
        return convert_image_dtype(array.expand_dims(gray, -1), images.dtype, name=name)


def grayscale_to_rgb(images: Any, name: str | None = None) -> Tensor:
    """The one channel three times."""
    with name_scope(name, "grayscale_to_rgb", [images]) as name:
        images = assert_grayscale(convert_to_tensor(images, name="images"))
        ones = array.ones(array.expand_dims(array.rank(images) - 1, 0), dtype=dtypes.int32)
        multiples = array.concat([ones, array.expand_dims(3, 0)], 0)
        rgb = array.tile(images, multiples, name=name)
        rgb.set_shape(images.shape[:-1].concatenate([3]))
        return rgb


# Columns are the new channels.
_RGB_TO_YIQ = [
    [0.299, 0.59590059, 0.2115],
    [0.587, -0.27455667, -0.52273617],
    [0.114, -0.32134392, 0.31119955],
]
_YIQ_TO_RGB = [
    [1.0, 1.0, 1.0],
    [0.95598634, -0.27201283, -1.10674021],
    [0.6208248, -0.64720424, 1.70423049],
]
_RGB_TO_YUV = [
    [0.299, -0.14714119, 0.61497538],
    [0.587, -0.28886916, -0.51496512],
    [0.114, 0.43601035, -0.10001026],
]
_YUV_TO_RGB = [[1.0, 1.0, 1.0], [0.0, -0.394642334, 2.03206185], [1.13988303, -0.58062185, 0.0]]


def _recolored(images: Any, matrix: list[list[float]]) -> Tensor:
    images = convert_to_tensor(images, name="images")
    kernel = convert_to_tensor(np.array(matrix), dtype=images.dtype, name="kernel")
    return math.tensordot(images, kernel, axes=[[images.shape.ndims - 1], [0]])


def rgb_to_yiq(images: Any) -> Tensor:
    """Luma and the two chroma signals of NTSC."""
    return _recolored(images, _RGB_TO_YIQ)


def yiq_to_rgb(images: Any) -> Tensor:
    """The inverse of `rgb_to_yiq`."""
    return _recolored(images, _YIQ_TO_RGB)


def rgb_to_yuv(images: Any) -> Tensor:
    """Luma and the two chroma signals of PAL."""
    return _recolored(images, _RGB_TO_YUV)


def yuv_to_rgb(images: Any) -> Tensor:
    """The inverse of `rgb_to_yuv`."""
    return _recolored(images, _YUV_TO_RGB)


# ---- by random amounts ---------------------------------------------------------------------------


def _check_range(lower: Any, upper: Any) -> None:
    if upper <= lower:
        raise ValueError("upper must be > lower.")
    if lower < 0:
        raise ValueError("lower must be non-negative.")


def random_brightness(image: Any, max_delta: Any, seed: Any = None) -> Tensor:
    """`adjust_brightness` by up to `max_delta` either way."""
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return adjust_brightness(image, random_uniform([], -max_delta, max_delta, seed=seed))


def random_contrast(image: Any, lower: Any, upper: Any, seed: Any = None) -> Tensor:
    """`adjust_contrast` by a factor from `lower` to `upper`."""
    _check_range(lower, upper)
    return adjust_contrast(image, random_uniform([], lower, upper, seed=seed))


def random_hue(image: Any, max_delta: Any, seed: Any = None) -> Tensor:
    """`adjust_hue` by up to `max_delta` either way."""
    if max_delta > 0.5:
        raise ValueError("max_delta must be <= 0.5.")
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return adjust_hue(image, random_uniform([], -max_delta, max_delta, seed=seed))


def random_saturation(image: Any, lower: Any, upper: Any, seed: Any = None) -> Tensor:
    """`adjust_saturation` by a factor from `lower` to `upper`."""
    _check_range(lower, upper)
    return adjust_saturation(image, random_uniform([], lower, upper, seed=seed))


def random_jpeg_quality(
    image: Any, min_jpeg_quality: int, max_jpeg_quality: int, seed: Any = None
) -> Tensor:
    """`adjust_jpeg_quality` with a quality from a range, its end excluded."""
    if not (0 <= min_jpeg_quality <= 100 and 0 <= max_jpeg_quality <= 100):
        raise ValueError("jpeg encoding range must be between 0 and 100.")
    if min_jpeg_quality >= max_jpeg_quality:
        raise ValueError("`min_jpeg_quality` must be less than `max_jpeg_quality`.")
    quality = random_uniform([], min_jpeg_quality, max_jpeg_quality, seed=seed, dtype=dtypes.int32)
    return adjust_jpeg_quality(image, quality)
