"""Changes of brightness, contrast and colour, by given or random amounts; types of pixels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import name_scope
from weft.graph.op_def import raw
from weft.graph.tensor import Tensor
from weft.ops.array import array
from weft.ops.control import control
from weft.ops.image.check import assert_at_least_3d, assert_grayscale, require
from weft.ops.kit.operands import operands
from weft.ops.kit.shared import is_tensor_like
from weft.ops.math import math
from weft.ops.random.random import random_uniform

_FLOATS = (dtypes.float16, dtypes.float32)


# ---- types of pixels -----------------------------------------------------------------------------


def convert_image_dtype(
    image: Any, dtype: Any, saturate: bool = False, name: str | None = None
) -> Tensor:
    """`image` in another type: integers span their whole range, floats go from 0 to 1.

    Args:
        image: one image or more.
        dtype: the type to convert to.
        saturate: whether to cut off what does not fit.
        name: of the operation.

    Returns:
        A tensor of that type.

    Raises:
        AttributeError: the type is neither floating point nor integer.

    Example:
        >>> session.run(tf.image.convert_image_dtype(np.array([0, 255], np.uint8), tf.float32))
        array([0., 1.], dtype=float32)
    """
    image = convert_to_tensor(image, name="image")
    dtype = dtypes.as_dtype(dtype)
    if not (dtype.is_floating or dtype.is_integer):
        raise AttributeError("dtype must be either floating point or integer")
    if dtype == image.dtype:
        return array.identity(image, name=name)
    if image.dtype.is_integer:
        convert = _between_integers if dtype.is_integer else _from_integers
    else:
        floats = image.dtype.is_floating and dtype.is_floating
        convert = _between_floats if floats else _to_integers
    with name_scope(name, "convert_image", [image]) as scope:
        return convert(image, dtype, _caster(saturate), scope)


def _between_floats(image: Tensor, dtype: Any, _: Any, name: str) -> Tensor:
    return math.cast(image, dtype, name=name)


def _from_integers(image: Tensor, dtype: Any, _: Any, name: str) -> Tensor:
    return math.multiply(math.cast(image, dtype), 1.0 / image.dtype.max, name=name)


def _to_integers(image: Tensor, dtype: Any, cast: Callable[..., Tensor], name: str) -> Tensor:
    # Every integer gets an equal share of the floats.
    return cast(math.multiply(image, dtype.max + 0.5), dtype, name=name)


def _caster(saturate: bool) -> Callable[..., Tensor]:
    return math.saturate_cast if saturate else math.cast


def _between_integers(image: Tensor, dtype: Any, cast: Callable[..., Tensor], name: str) -> Tensor:
    have, want = image.dtype.max, dtype.max
    if have > want:
        return cast(math.div(image, (have + 1) // (want + 1)), dtype, name=name)
    return math.multiply(cast(image, dtype), (want + 1) // (have + 1), name=name)


def _in_floats(
    scope: operands, compute: Callable[[Tensor, str], Tensor], saturate: bool = True
) -> Tensor:
    """`compute(image, name of the scope)` on the image of `scope` in floats, in its own type."""
    with scope as (name, image):
        return _through_floats(image, compute, name, saturate)


def _through_floats(
    image: Tensor, compute: Callable[[Tensor, str], Tensor], name: str, saturate: bool = True
) -> Tensor:
    floats = image if image.dtype in _FLOATS else convert_image_dtype(image, dtypes.float32)
    return convert_image_dtype(compute(floats, name), image.dtype, saturate)


# ---- brightness and contrast ---------------------------------------------------------------------


def adjust_brightness(image: Any, delta: Any) -> Tensor:
    """`image` with `delta` added, on the scale on which white is 1."""
    return _in_floats(
        operands(None, "adjust_brightness", delta, image=image),
        lambda image, name: math.add(image, math.cast(delta, image.dtype), name=name),
    )


def adjust_contrast(images: Any, contrast_factor: Any) -> Tensor:
    """Every channel's distance from its mean, times `contrast_factor`."""
    return _in_floats(
        operands(None, "adjust_contrast", contrast_factor, images=images),
        lambda images, name: raw.AdjustContrastv2(images, contrast_factor, name=name),
    )


def adjust_gamma(image: Any, gamma: Any = 1, gain: Any = 1) -> Tensor:
    """`gain * image ** gamma`"""

    def raised(image: Tensor, _: str) -> Tensor:
        checks = require(gamma >= 0, "Gamma should be a non-negative real number.")
        power = control.with_dependencies(checks, gamma) if checks else gamma
        return gain * image**power

    return _in_floats(operands(None, "adjust_gamma", gamma, gain, image=image), raised)


def per_image_standardization(image: Any) -> Tensor:
    """Each image moved and scaled to mean 0 and variance 1.

    Args:
        image: [..., height, width, channels].

    Returns:
        A float32 tensor; the deviation divided by is at least 1 over the root of the size.

    Raises:
        ValueError: there are fewer than three dimensions.

    Example:
        >>> session.run(tf.image.per_image_standardization([[[1.0], [3.0]]]))[:, :, 0]
        array([[-1.,  1.]], dtype=float32)
    """
    with operands(None, "per_image_standardization", image=image) as (scope, image):
        return _through_floats(assert_at_least_3d(image), _standardized, scope)


def _standardized(image: Tensor, name: str) -> Tensor:
    pixels = math.reduce_prod(array.shape(image)[-3:])
    mean, deviation = (
        measure(image, [-1, -2, -3], keepdims=True)
        for measure in (math.reduce_mean, math.reduce_std)
    )
    # An image of one colour must not be divided by zero.
    deviation = math.maximum(deviation, math.rsqrt(math.cast(pixels, image.dtype)))
    return math.div(image - mean, deviation, name=name)


# ---- colour --------------------------------------------------------------------------------------


def adjust_hue(image: Any, delta: Any, name: str | None = None) -> Tensor:
    """The hue turned by `delta`, a fraction of the circle."""
    scope = operands(name, "adjust_hue", image=image)
    return _in_floats(scope, lambda image, _: raw.AdjustHue(image, delta), saturate=False)


def adjust_saturation(image: Any, saturation_factor: Any, name: str | None = None) -> Tensor:
    """The saturation times `saturation_factor`."""
    return _in_floats(
        operands(name, "adjust_saturation", image=image),
        lambda image, _: raw.AdjustSaturation(image, saturation_factor),
        saturate=False,
    )


def adjust_jpeg_quality(image: Any, jpeg_quality: Any, name: str | None = None) -> Tensor:
    """`image` as it looks after JPEG compression."""
    with operands(name, "adjust_jpeg_quality", image=image) as (_, image):
        pixels = convert_image_dtype(image, dtypes.uint8)
        given = is_tensor_like(jpeg_quality)
        quality = jpeg_quality if given else convert_to_tensor(jpeg_quality, dtypes.int32)
        encoded = raw.EncodeJpegVariableQuality(pixels, quality)
        return convert_image_dtype(raw.DecodeJpeg(encoded), image.dtype)


def rgb_to_grayscale(images: Any, name: str | None = None) -> Tensor:
    """The luminance, in one channel.

    Args:
        images: RGB pixels [..., 3].
        name: of the operation.

    Returns:
        A tensor [..., 1] of the same type.

    Example:
        >>> session.run(tf.image.rgb_to_grayscale([[[1.0, 1.0, 1.0]]]))
        array([[[0.99990004]]], dtype=float32)
    """
    with operands(name, "rgb_to_grayscale", images=images) as (scope, images):
        floats = convert_image_dtype(images, dtypes.float32)
        gray = array.expand_dims(math.tensordot(floats, _LUMINANCE, [-1, -1]), -1)
        return convert_image_dtype(gray, images.dtype, name=scope)


def grayscale_to_rgb(images: Any, name: str | None = None) -> Tensor:
    """The one channel three times."""
    with operands(name, "grayscale_to_rgb", images=images) as (scope, images):
        gray = assert_grayscale(images)
        gray = control.with_dependencies([], gray) if gray is images else gray
        before = array.ones(array.expand_dims(array.rank(gray) - 1, 0), dtypes.int32)
        copies = array.concat([before, array.expand_dims(3, 0)], 0)
        rgb = array.tile(gray, copies, name=scope)
        rgb.set_shape(gray.shape[:-1].concatenate([3]))
        return rgb


_LUMINANCE = [0.2989, 0.5870, 0.1140]
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
    pixels: Any = convert_to_tensor(images, name="images")
    kernel = convert_to_tensor(matrix, pixels.dtype, "kernel")
    channels = pixels.shape.ndims - 1
    return math.tensordot(pixels, kernel, [[channels], [0]])


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
    """`adjust_brightness` by up to `max_delta` either way.

    Args:
        image: one image or more.
        max_delta: not negative.
        seed: makes the choice repeatable.

    Returns:
        A tensor of the same type and shape.

    Raises:
        ValueError: `max_delta` is negative.

    Example:
        >>> session.run(tf.image.random_brightness(tf.ones([1, 1, 3]), max_delta=0.0))
        array([[[1., 1., 1.]]], dtype=float32)
    """
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return adjust_brightness(image, random_uniform([], -max_delta, max_delta, seed=seed))


def random_contrast(image: Any, lower: Any, upper: Any, seed: Any = None) -> Tensor:
    """`adjust_contrast` by a factor from `lower` to `upper`.

    Args:
        image: one image or more.
        lower, upper: not negative.
        seed: makes the choice repeatable.

    Returns:
        A tensor of the same type and shape.

    Raises:
        ValueError: the bounds are negative or the wrong way round.

    Example:
        >>> session.run(tf.image.random_contrast(tf.ones([1, 1, 3]), 0.5, 2.0))
        array([[[1., 1., 1.]]], dtype=float32)
    """
    _check_range(lower, upper)
    return adjust_contrast(image, random_uniform([], lower, upper, seed=seed))


def random_hue(image: Any, max_delta: Any, seed: Any = None) -> Tensor:
    """`adjust_hue` by up to `max_delta` either way.

    Args:
        image: RGB pixels [..., 3].
        max_delta: from 0 to 0.5.
        seed: makes the choice repeatable.

    Returns:
        A tensor of the same type and shape.

    Raises:
        ValueError: `max_delta` is outside.

    Example:
        >>> session.run(tf.image.random_hue(tf.ones([1, 1, 3]), max_delta=0.2))
        array([[[1., 1., 1.]]], dtype=float32)
    """
    if max_delta > 0.5:
        raise ValueError("max_delta must be <= 0.5.")
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return adjust_hue(image, random_uniform([], -max_delta, max_delta, seed=seed))


def random_saturation(image: Any, lower: Any, upper: Any, seed: Any = None) -> Tensor:
    """`adjust_saturation` by a factor from `lower` to `upper`.

    Args:
        image: RGB pixels [..., 3].
        lower, upper: not negative.
        seed: makes the choice repeatable.

    Returns:
        A tensor of the same type and shape.

    Raises:
        ValueError: the bounds are negative or the wrong way round.

    Example:
        >>> session.run(tf.image.random_saturation(tf.ones([1, 1, 3]), 0.5, 2.0))
        array([[[1., 1., 1.]]], dtype=float32)
    """
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
    limits = min_jpeg_quality, max_jpeg_quality
    return adjust_jpeg_quality(image, random_uniform([], *limits, dtypes.int32, seed))
