"""Measures of images: how alike two are (PSNR, SSIM), how they vary from pixel to pixel."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core import dtypes
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import control_dependencies, name_scope
from weft.graph.tensor import Tensor
from weft.ops.array import array
from weft.ops.control import control
from weft.ops.control.cond import cond
from weft.ops.image.adjust import convert_image_dtype
from weft.ops.math import math
from weft.ops.nn.activations import relu, softmax
from weft.ops.nn.dilated import depthwise_conv2d
from weft.ops.nn.pool import avg_pool

_SCALES = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)


def _compatible(img1: Tensor, img2: Tensor) -> tuple[Tensor, Tensor, list[Any]]:
    """(shape, shape, checks that both show images of one size)"""
    shape1, shape2 = img1.shape.with_rank_at_least(3), img2.shape.with_rank_at_least(3)
    shape1[-3:].assert_is_compatible_with(shape2[-3:])
    if shape1.dims is not None and shape2.dims is not None:
        outer = zip(reversed(shape1.dims[:-3]), reversed(shape2.dims[:-3]), strict=False)
        for dim1, dim2 in outer:
            if not (dim1 == 1 or dim2 == 1 or dim1.is_compatible_with(dim2)):
                raise ValueError(f"Two images are not compatible: {shape1} and {shape2}")
    sizes1, sizes2 = array.shape_n([img1, img2])
    enough = math.greater_equal(array.size(sizes1), 3)
    same = math.reduce_all(math.equal(sizes1[-3:], sizes2[-3:]))
    checks = [control.Assert(x, [sizes1, sizes2], summarize=10) for x in (enough, same)]
    return sizes1, sizes2, checks


def _as_floats(max_val: Any, img1: Tensor, img2: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    top = convert_image_dtype(math.cast(max_val, img1.dtype), dtypes.float32)
    return (
        top,
        convert_image_dtype(img1, dtypes.float32),
        convert_image_dtype(img2, dtypes.float32),
    )


def psnr(a: Any, b: Any, max_val: Any, name: str | None = None) -> Tensor:
    """The ratio of `max_val` to the error, in decibels."""
    with name_scope(name, "PSNR", [a, b]):
        top, a, b = _as_floats(max_val, convert_to_tensor(a), convert_to_tensor(b))
        error = math.reduce_mean(math.squared_difference(a, b), [-3, -2, -1])
        signal = 20 * math.log(top) / math.log(10.0)
        noise = np.float32(10 / np.log(10)) * math.log(error)
        ratio = math.subtract(signal, noise, name="psnr")
        _, _, checks = _compatible(a, b)
        with control_dependencies(checks):
            return array.identity(ratio)


# ---- structural similarity -----------------------------------------------------------------------


def _gaussian(size: Tensor, sigma: Tensor) -> Tensor:
    """A blur [size, size, 1, 1] whose weights add up to 1."""
    at = math.cast(math.range(size), sigma.dtype)
    at -= math.cast(size - 1, sigma.dtype) / 2.0
    log = math.square(at) * (-0.5 / math.square(sigma))
    log = array.reshape(log, [1, -1]) + array.reshape(log, [-1, 1])
    return array.reshape(softmax(array.reshape(log, [1, -1])), [size, size, 1, 1])


def _blurred(x: Tensor, kernel: Tensor) -> Tensor:
    shape = array.shape(x)
    flat = array.reshape(x, array.concat([[-1], shape[-3:]], 0))
    y = depthwise_conv2d(flat, kernel, strides=[1, 1, 1, 1], padding="VALID")
    return array.reshape(y, array.concat([shape[:-3], array.shape(y)[1:]], 0))


def _per_channel(
    img1: Tensor, img2: Tensor, max_val: Tensor, filter_size: Any, filter_sigma: Any,
    k1: float, k2: float,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """(similarity, what of it is contrast and structure), of each channel"""
    size = constant(filter_size, dtype=dtypes.int32)
    sigma = constant(filter_sigma, dtype=img1.dtype)
    shapes = array.shape_n([img1, img2])
    checks = [
        control.Assert(
            math.reduce_all(math.greater_equal(each[-3:-1], size)), [each, size], summarize=8
        )
        for each in shapes
    ]
    with control_dependencies(checks):
        img1 = array.identity(img1)
    kernel = array.tile(_gaussian(size, sigma), [1, 1, shapes[0][-1], 1])
    luminance, structure = _parts(img1, img2, kernel, max_val, k1, k2)
    axes = constant([-3, -2], dtype=dtypes.int32)
    return math.reduce_mean(luminance * structure, axes), math.reduce_mean(structure, axes)


def _parts(
    x: Tensor, y: Tensor, kernel: Tensor, max_val: Tensor, k1: float, k2: float
) -> tuple[Tensor, Tensor]:
    c1, c2 = (k1 * max_val) ** 2, (k2 * max_val) ** 2
    mean_x, mean_y = _blurred(x, kernel), _blurred(y, kernel)
    means = mean_x * mean_y * 2.0
    squares = math.square(mean_x) + math.square(mean_y)
    luminance = (means + c1) / (squares + c1)
    products = _blurred(x * y, kernel) * 2.0
    powers = _blurred(math.square(x) + math.square(y), kernel)
    return luminance, (products - means + c2) / (powers - squares + c2)


def ssim(
    img1: Any,
    img2: Any,
    max_val: Any,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
) -> Tensor:
    """Structural similarity, 1 for equal images."""
    img1, img2 = convert_to_tensor(img1, name="img1"), convert_to_tensor(img2, name="img2")
    _, _, checks = _compatible(img1, img2)
    with control_dependencies(checks):
        img1 = array.identity(img1)
    top, img1, img2 = _as_floats(max_val, img1, img2)
    similarity, _ = _per_channel(img1, img2, top, filter_size, filter_sigma, k1, k2)
    return math.reduce_mean(similarity, [-1])


def _halved(images: list[Tensor], heads: list[Tensor], tails: list[Tensor]) -> Any:
    """(images at half the size, the last three of their dimensions)"""
    flat = [
        array.reshape(x, array.concat([[-1], t], 0)) for x, t in zip(images, tails, strict=True)
    ]
    rest = tails[0] % constant([2, 2, 1], dtype=dtypes.int32)

    def padded() -> list[Tensor]:
        margins = array.pad(array.expand_dims(rest, -1), [[1, 0], [1, 0]])
        return [array.pad(x, margins, mode="SYMMETRIC") for x in flat]

    odd = math.reduce_any(math.not_equal(rest, 0))
    even = cond(odd, padded, lambda: flat)
    half = [avg_pool(x, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID") for x in even]
    tails = [x[1:] for x in array.shape_n(half)]
    shapes = [array.concat([h, t], 0) for h, t in zip(heads, tails, strict=True)]
    return [array.reshape(x, shape) for x, shape in zip(half, shapes, strict=True)], tails


def ssim_multiscale(
    img1: Any,
    img2: Any,
    max_val: Any,
    power_factors: Any = _SCALES,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
) -> Tensor:
    """Structural similarity at several scales, each half the size of the one before."""
    with name_scope(None, "MS-SSIM", [img1, img2]):
        img1, img2 = convert_to_tensor(img1, name="img1"), convert_to_tensor(img2, name="img2")
        shape1, shape2, checks = _compatible(img1, img2)
        with control_dependencies(checks):
            img1 = array.identity(img1)
        top, img1, img2 = _as_floats(max_val, img1, img2)
        images = [img1, img2]
        heads = [shape[:-3] for shape in (shape1, shape2)]
        tails = [shape[-3:] for shape in (shape1, shape2)]
        parts: list[Tensor] = []
        for number in range(len(power_factors)):
            with name_scope(None, f"Scale{number}", images):
                if number:
                    images, tails = _halved(images, heads, tails)
                similarity, structure = _per_channel(
                    images[0], images[1], top, filter_size, filter_sigma, k1, k2
                )
                parts.append(relu(structure))
        # The luminance counts at the last scale only.
        stacked = array.stack([*parts[:-1], relu(similarity)], axis=-1)
        powers = math.pow(stacked, power_factors)
        return math.reduce_mean(math.reduce_prod(powers, [-1]), [-1])


# ---- from pixel to pixel -------------------------------------------------------------------------


def total_variation(images: Any, name: str | None = None) -> Tensor:
    """The sum of the differences of neighbouring pixels, of each image."""
    with name_scope(name, "total_variation"):
        rank = images.shape.ndims
        if rank not in (3, 4):
            raise ValueError("'images' must be either 3 or 4-dimensional.")
        if rank == 3:
            down, across = images[1:] - images[:-1], images[:, 1:] - images[:, :-1]
            axes = None
        else:
            down = images[:, 1:] - images[:, :-1]
            across = images[:, :, 1:] - images[:, :, :-1]
            axes = [1, 2, 3]
        return math.reduce_sum(math.abs(down), axis=axes) + math.reduce_sum(
            math.abs(across), axis=axes
        )


def image_gradients(image: Any) -> tuple[Tensor, Tensor]:
    """(dy, dx): the next pixel less this one, and zeros in the last row and column."""
    if image.shape.ndims != 4:
        raise ValueError(
            f"image_gradients expects a 4D tensor [batch_size, h, w, d], not {image.shape}."
        )
    shape = array.shape(image)
    batch, height, width, depth = array.unstack(shape)
    dy = image[:, 1:, :, :] - image[:, :-1, :, :]
    dx = image[:, :, 1:, :] - image[:, :, :-1, :]
    last_row = array.zeros(array.stack([batch, 1, width, depth]), image.dtype)
    last_column = array.zeros(array.stack([batch, height, 1, depth]), image.dtype)
    return (
        array.reshape(array.concat([dy, last_row], 1), shape),
        array.reshape(array.concat([dx, last_column], 2), shape),
    )


def sobel_edges(image: Any) -> Tensor:
    """[batch, height, width, channels, 2]: Sobel's filters for (dy, dx)."""
    shape = array.shape(image)
    down = np.array([[-1, -2, -1], [0, 0, 0], [1, 2, 1]])
    kernels = np.stack([down, down.T], axis=-1)[:, :, np.newaxis]
    filters = constant(kernels, dtype=image.dtype)
    filters = array.tile(filters, [1, 1, shape[-1], 1], name="sobel_filters")
    padded = array.pad(image, [[0, 0], [1, 1], [1, 1], [0, 0]], mode="REFLECT")
    edges = depthwise_conv2d(padded, filters, [1, 1, 1, 1], "VALID")
    edges = array.reshape(edges, array.concat([shape, [2]], 0))
    edges.set_shape(image.shape.concatenate([2]))
    return edges
