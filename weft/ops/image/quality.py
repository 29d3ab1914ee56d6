"""Measures of images: how alike two are (PSNR, SSIM), how they vary from pixel to pixel."""

from __future__ import annotations

from functools import partial
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
from weft.ops.kit.operands import operands, tensors
from weft.ops.math import math
from weft.ops.nn.activations import relu, softmax
from weft.ops.nn.dilated import depthwise_conv2d
from weft.ops.nn.pool import avg_pool

_SCALES = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)


def _compatible(img1: Tensor, img2: Tensor) -> tuple[Tensor, Tensor, list[Any]]:
    """(shape, shape, checks that both show images of one size)"""
    shapes = [image.shape.with_rank_at_least(3) for image in (img1, img2)]
    shapes[0][-3:].assert_is_compatible_with(shapes[1][-3:])
    outer = [shape[:-3].as_list()[::-1] if shape.ndims else [] for shape in shapes]
    if any(
        None not in pair and 1 not in pair and pair[0] != pair[1]
        for pair in zip(*outer, strict=False)
    ):
        raise ValueError(f"Two images are not compatible: {shapes[0]} and {shapes[1]}")
    sizes1, sizes2 = array.shape_n([img1, img2])

    def required(condition: Tensor) -> Any:
        return control.Assert(condition, [sizes1, sizes2], summarize=10)

    enough = required(math.greater_equal(array.size(sizes1), 3))
    same = required(math.reduce_all(math.equal(sizes1[-3:], sizes2[-3:])))
    return sizes1, sizes2, [enough, same]


def _as_floats(max_val: Any, img1: Tensor, img2: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    given = (math.cast(max_val, img1.dtype), img1, img2)
    top, img1, img2 = (convert_image_dtype(each, dtypes.float32) for each in given)
    return top, img1, img2


def psnr(a: Any, b: Any, max_val: Any, name: str | None = None) -> Tensor:
    """The ratio of `max_val` to the error, in decibels."""
    with name_scope(name, "PSNR", [a, b]):
        top, a, b = _as_floats(max_val, convert_to_tensor(a), convert_to_tensor(b))
        error = math.reduce_mean(math.squared_difference(a, b), [-3, -2, -1])
        signal = 20 * math.log(top) / math.log(10.0)
        noise = np.float32(10 / np.log(10)) * math.log(error)
        return _once_compatible(a, b, math.subtract(signal, noise, name="psnr"))[0]


def _once_compatible(img1: Tensor, img2: Tensor, result: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """(`result` after the checks of both images, their shapes)"""
    shape1, shape2, checks = _compatible(img1, img2)
    with control_dependencies(checks):
        return array.identity(result), shape1, shape2


# ---- structural similarity -----------------------------------------------------------------------


def _gaussian(size: Tensor, sigma: Tensor) -> Tensor:
    """A blur [size, size, 1, 1] whose weights add up to 1."""
    places = math.cast(math.range(size), sigma.dtype)
    middle = math.cast(size - 1, sigma.dtype) / 2.0
    exponents = math.square(places - middle) * (-0.5 / math.square(sigma))
    row, column = (array.reshape(exponents, dims) for dims in ([1, -1], [-1, 1]))
    weights = softmax(array.reshape(row + column, [1, -1]))
    return array.reshape(weights, [size, size, 1, 1])


def _shaped(x: Tensor, *dims: Any) -> Tensor:
    """`x` in the shape that `dims` are together."""
    return array.reshape(x, array.concat(dims, 0))


def _blurred(x: Tensor, kernel: Tensor) -> Tensor:
    sizes = array.shape(x)
    blurred = depthwise_conv2d(_shaped(x, [-1], sizes[-3:]), kernel, [1] * 4, "VALID")
    return _shaped(blurred, sizes[:-3], array.shape(blurred)[1:])


def _per_channel(
    img1: Tensor, img2: Tensor, max_val: Tensor, filter_size: Any, filter_sigma: Any,
    k1: float, k2: float,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """(similarity, what of it is contrast and structure), of each channel"""
    size, sigma = constant(filter_size, dtypes.int32), constant(filter_sigma, img1.dtype)
    shapes = array.shape_n([img1, img2])
    large_enough = [_at_least(size, shape) for shape in shapes]
    with control_dependencies(large_enough):
        checked = array.identity(img1)
    kernel = array.tile(_gaussian(size, sigma), [1, 1, shapes[0][-1], 1])
    luminance, structure = _parts(checked, img2, kernel, max_val, k1, k2)
    axes = constant([-3, -2], dtypes.int32)
    return math.reduce_mean(luminance * structure, axes), math.reduce_mean(structure, axes)


def _at_least(size: Tensor, shape: Tensor) -> Any:
    """A check that images are as high and wide as the filter."""
    large = math.reduce_all(math.greater_equal(shape[-3:-1], size))
    return control.Assert(large, [shape, size], summarize=8)


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
    c2 = c2 * 1.0  # TensorFlow's correction for windows that are not whole: none
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
    first, second = tensors(img1=img1, img2=img2)
    first, _, _ = _once_compatible(first, second, first)
    top, first, second = _as_floats(max_val, first, second)
    similarity, _ = _per_channel(first, second, top, filter_size, filter_sigma, k1, k2)
    return math.reduce_mean(similarity, [-1])


def _halved(images: list[Tensor], heads: list[Tensor], tails: list[Tensor], halves: Tensor) -> Any:
    """(images at half the size, the last three of their dimensions)"""
    flat = [_shaped(x, [-1], tail) for x, tail in zip(images, tails, strict=True)]
    rest = tails[0] % halves
    odd = math.reduce_any(math.not_equal(rest, 0))
    even = cond(odd, lambda: _padded(flat, rest), lambda: flat)
    half = [avg_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "VALID") for x in even]
    tails = [sizes[1:] for sizes in array.shape_n(half)]
    return [_shaped(x, *both) for x, *both in zip(half, heads, tails, strict=True)], tails


def _padded(images: list[Tensor], rest: Tensor) -> list[Tensor]:
    """Images with a last row or column more where `rest` has a 1."""
    margins = array.pad(array.expand_dims(rest, -1), [[1, 0], [1, 0]])
    return [*map(partial(array.pad, paddings=margins, mode="SYMMETRIC"), images)]


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
    with operands(None, "MS-SSIM", img1=img1, img2=img2) as (_, first, second):
        first, *shapes = _once_compatible(first, second, first)
        top, *images = _as_floats(max_val, first, second)
        heads, tails = [shape[:-3] for shape in shapes], [shape[-3:] for shape in shapes]
        halves, parts = constant([2, 2, 1], dtypes.int32), []
        for number in range(len(power_factors)):
            with name_scope(None, f"Scale{number}", images):
                if number:
                    images, tails = _halved(images, heads, tails, halves)
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
        down, across = (_differences(images, rank - 3 + i, after=2 - i) for i in (0, 1))
        of_each = None if rank == 3 else [1, 2, 3]
        by_row, by_column = (math.reduce_sum(math.abs(x), of_each) for x in (down, across))
        return by_row + by_column


def _differences(images: Any, axis: int, after: int = 0) -> Tensor:
    """Each pixel but the first along `axis`, less the one before; indices name `after` more."""
    whole = slice(None)
    later, earlier = (
        images[(*[whole] * axis, part, *[whole] * after)]
        for part in (slice(1, None), slice(None, -1))
    )
    return later - earlier


def image_gradients(image: Any) -> tuple[Tensor, Tensor]:
    """(dy, dx): the next pixel less this one, and zeros in the last row and column."""
    if image.shape.ndims != 4:
        # TensorFlow's message is these two, as they are.
        raise ValueError(
            "image_gradients expects a 4D tensor [batch_size, h, w, d], not %s.", image.shape
        )
    shape, axes = array.shape(image), (1, 2)
    sizes = array.unstack(shape)
    changes = [_differences(image, axis, 3 - axis) for axis in axes]
    ends = [
        array.zeros(array.stack([*sizes[:axis], 1, *sizes[axis + 1 :]]), image.dtype)
        for axis in axes
    ]
    dy, dx = (
        array.reshape(array.concat(parts, axis), shape)
        for axis, *parts in zip(axes, changes, ends, strict=True)
    )
    return dy, dx


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
