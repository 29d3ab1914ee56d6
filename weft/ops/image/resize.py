"""Images made larger or smaller: bilinear, bicubic, nearest neighbour, area.

All four are separable. For each axis the sizes alone say which input pixels (*taps*) an output
pixel is made of and with which weights; these are small NumPy arrays, computed in single precision
as TensorFlow does, so that the same pixels are met. A gradient is the product with the transposed
weights.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.graph import shape_fn as s
from weft.graph.by_library import by_library
from weft.graph.op_def import op, raw
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor
from weft.ops.array import array
from weft.ops.image.sizes import checked_size, resized, two_sizes
from weft.ops.kit.apart import apart
from weft.ops.kit.describe import with_example
from weft.ops.kit.shared import invalid
from weft.ops.kit.target import target_platform

# Index and weight of one tap, for every output pixel along an axis.
Tap = tuple[np.ndarray, np.ndarray]
Taps = list[Tap]

F = np.float32
_TYPES = "{int8, uint8, int16, uint16, int32, int64, half, float, double}"
_TYPES_AND_BFLOAT16 = "{int8, uint8, int16, uint16, int32, int64, bfloat16, half, float, double}"
_CENTERS = "align_corners: bool = false, half_pixel_centers: bool = false"
_FEW = 40  # more taps than this are multiplied as a matrix
_TABLE = 1 << 10  # steps between two pixels at which the cubic weights are tabulated


# ---- where output pixels lie in the input --------------------------------------------------------


def scale_of(size_in: int, size_out: int, align_corners: bool) -> np.float32:
    """Input pixels per output pixel."""
    if align_corners and size_out > 1:
        return F(size_in - 1) / F(size_out - 1)
    return F(size_in) / F(size_out)


def _positions(size_in: int, size_out: int, align_corners: bool, half_pixel: bool) -> np.ndarray:
    scale, at = scale_of(size_in, size_out, align_corners), np.arange(size_out, dtype=F)
    return (at + F(0.5)) * scale - F(0.5) if half_pixel else at * scale


def bounded(index: np.ndarray, size: int) -> np.ndarray:
    return np.clip(index, 0, size - 1).astype(np.int32)


@lru_cache(maxsize=256)
def _linear_taps(size_in: int, size_out: int, align_corners: bool, half_pixel: bool) -> Taps:
    at = _positions(size_in, size_out, align_corners, half_pixel)
    weight = at - np.floor(at)
    lower, upper = bounded(np.floor(at), size_in), bounded(np.ceil(at), size_in)
    return [(lower, F(1) - weight), (upper, weight)]


@lru_cache(maxsize=256)
def _nearest(size_in: int, size_out: int, align_corners: bool, half_pixel: bool) -> np.ndarray:
    at = np.arange(size_out, dtype=F) + F(0.5 if half_pixel else 0)
    at = at * scale_of(size_in, size_out, align_corners)
    # Halves go up, as C's roundf does with what is not negative.
    found = np.where(at - np.floor(at) >= F(0.5), np.ceil(at), np.floor(at))
    return bounded(found if align_corners else np.floor(at), size_in)


@lru_cache(maxsize=2)
def _cubic_table(a: float) -> np.ndarray:
    """Weights of the near and the far pixel, [steps + 1, 2]."""
    x = (np.arange(_TABLE + 1) / _TABLE).astype(F).astype(np.float64)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    x = x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return np.stack([near, far], axis=1).astype(F)


@lru_cache(maxsize=256)
def _cubic_taps(size_in: int, size_out: int, align_corners: bool, half_pixel: bool) -> Taps:
    at = _positions(size_in, size_out, align_corners, half_pixel)
    first = np.floor(at)
    step = np.rint((at - first) * F(_TABLE)).astype(np.int64)
    table = _cubic_table(-0.5 if half_pixel else -0.75)
    before, after = table[step], table[_TABLE - step]
    weights = [before[:, 1], before[:, 0], after[:, 0], after[:, 1]]
    places = [first.astype(np.int64) + offset for offset in (-1, 0, 1, 2)]
    kept = [bounded(place, size_in) for place in places]
    if half_pixel:
        weights = _renormalized(weights, [a == b for a, b in zip(kept, places, strict=True)])
    return list(zip(kept, weights, strict=True))


def _renormalized(weights: list[np.ndarray], inside: list[np.ndarray]) -> list[np.ndarray]:
    """Weights with zeros for places outside; the rest is scaled to a sum of 1."""
    weights = [np.where(ok, weight, F(0)) for weight, ok in zip(weights, inside, strict=True)]
    total = weights[0] + weights[1] + weights[2] + weights[3]
    usable = np.abs(total) >= F(1000) * np.finfo(F).tiny
    factor = np.where(usable, F(1) / np.where(usable, total, F(1)), F(1))
    return [weight * factor for weight in weights]


@lru_cache(maxsize=256)
def _area_taps(size_in: int, size_out: int, align_corners: bool) -> Taps:
    """An output pixel covers the input from its own edge to the next one's."""
    scale, at = scale_of(size_in, size_out, align_corners), np.arange(size_out + 1, dtype=F)
    begin, end = (at * scale)[:-1], (at * scale)[1:]
    first, last = np.floor(begin), np.ceil(end)
    taps = []
    for offset in range(int((last - first).max())):
        place = first + F(offset)
        past = place + F(1) > end
        cut = np.where(past, scale, place + F(1) - begin)
        whole = np.where(past, end - place, F(1))
        weight = np.where(place < begin, cut, whole)
        taps.append((bounded(place, size_in), np.where(place < last, weight, F(0)).astype(F)))
    return taps


# ---- applying taps -------------------------------------------------------------------------------


def along(weight: np.ndarray, axis: int) -> np.ndarray:
    """A vector shaped to scale an axis of [batch, height, width, channels]."""
    return weight.reshape([-1 if i == axis else 1 for i in range(4)])


@by_library
def take(xp: Any, x: Any, index: np.ndarray, axis: int) -> Any:
    """`x` at places along an axis, all of which exist."""
    return xp.take(x, index, axis=axis, mode="clip")


@take.numpy
def _(xp: Any, x: Any, index: np.ndarray, axis: int) -> Any:
    return np.take(x, index, axis=axis)


def _weighted(xp: Any, x: Any, taps: Taps, axis: int) -> Any:
    terms = [take(xp, x, index, axis) * along(weight, axis) for index, weight in taps]
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def _lerp(xp: Any, x: Any, taps: Taps, axis: int) -> Any:
    (lower, _), (upper, weight) = taps
    start = take(xp, x, lower, axis)
    return start + (take(xp, x, upper, axis) - start) * along(weight, axis)


def _matrix(taps: Taps, size_in: int) -> np.ndarray:
    """Taps as a matrix of weights, [output, input]."""
    matrix = np.zeros((len(taps[0][0]), size_in), F)
    for index, weight in taps:
        np.add.at(matrix, (np.arange(len(index)), index), weight)
    return matrix


def _transposed(xp: Any, grads: Any, rows: np.ndarray, columns: np.ndarray) -> Any:
    """The gradient of each input pixel, from the weights along the height and the width."""
    grads = grads.astype(np.float64 if grads.dtype == np.float64 else F)
    return _transposed_along(xp, _transposed_along(xp, grads, rows, 1), columns, 2)


@by_library
def _exact_product(xp: Any, x: Any, y: Any) -> Any:
    return xp.matmul(x, y, precision="highest")


@_exact_product.numpy
def _(xp: Any, x: Any, y: Any) -> Any:
    return np.matmul(x, y)


def _transposed_along(xp: Any, grads: Any, matrix: np.ndarray, axis: int) -> Any:
    weights = matrix.T.astype(grads.dtype)
    most = int((weights != 0).sum(axis=1).max())  # outputs that one input is part of
    if 0 < most <= _FEW:
        used = np.argsort(weights == 0, axis=1, kind="stable")[:, :most].astype(np.int32)
        shares = np.take_along_axis(weights, used, axis=1)
        return _weighted(xp, grads, list(zip(used.T, shares.T, strict=True)), axis)
    outer, inner = grads.shape[:axis], grads.shape[axis + 1 :]
    flat = grads.reshape(math.prod(outer), len(matrix), math.prod(inner))
    return _exact_product(xp, weights, flat).reshape(*outer, len(weights), *inner)


# ---- bilinear and bicubic ------------------------------------------------------------------------


def _taps_of_image(
    find: Callable[..., Taps], image: Any, size: tuple[int, int], *centers: bool
) -> tuple[Taps, Taps]:
    _, height, width, _ = np.shape(image)
    return find(height, size[0], *centers), find(width, size[1], *centers)


@op(
    "ResizeBilinear", inputs="images: T, size: int32", outputs="resized_images: float",
    attrs=f"T: {_TYPES_AND_BFLOAT16}, {_CENTERS}", shape=resized, static="size",
)  # fmt: skip
def resize_bilinear_(
    xp: Any, images: Any, size: Any, *, align_corners: bool, half_pixel_centers: bool
) -> Any:
    wanted = checked_size(images, size, align_corners, half_pixel_centers)
    if images.shape[1:3] == wanted:
        return images.astype(F)
    return _bilinear(xp, images, size=wanted, centers=(align_corners, half_pixel_centers))


@by_library
def _bilinear(xp: Any, images: Any, **settings: Any) -> Any:
    """In a program for a CPU, the images are an array, whatever is done with them.

    XLA would find each pixel where it is used. A loop that goes through pixels in another way than
    row by row, as that of a crop somewhere does, takes several times as long for that.
    """
    alone = target_platform() == "cpu"
    return _bilinear_apart(images, **settings) if alone else _interpolated(xp, images, **settings)


@_bilinear.numpy
def _(xp: Any, images: Any, **settings: Any) -> Any:
    return _interpolated(xp, images, **settings)


@apart
def _bilinear_apart(images: Any, **settings: Any) -> Any:
    import jax.numpy as jnp

    return _interpolated(jnp, images, **settings)


def _interpolated(
    xp: Any, images: Any, *, size: tuple[int, int], centers: tuple[bool, bool]
) -> Any:
    rows, columns = _taps_of_image(_linear_taps, images, size, *centers)
    return _lerp(xp, _lerp(xp, images.astype(F), columns, 2), rows, 1)


@op(
    "ResizeBicubic", inputs="images: T, size: int32", outputs="resized_images: float",
    attrs=f"T: {_TYPES}, {_CENTERS}", shape=resized, static="size",
)  # fmt: skip
def resize_bicubic_(
    xp: Any, images: Any, size: Any, *, align_corners: bool, half_pixel_centers: bool
) -> Any:
    wanted = checked_size(images, size, align_corners, half_pixel_centers)
    images = images.astype(F)
    rows, columns = _taps_of_image(_cubic_taps, images, wanted, align_corners, half_pixel_centers)
    return _weighted(xp, _weighted(xp, images, rows, 1), columns, 2)


def _gradient_op(name: str, types: str, find: Callable[..., Taps]) -> Any:
    """Declares the gradient of a resizing that gives floats."""

    def kernel(
        xp: Any, grads: Any, original_image: Any, *, align_corners: bool, half_pixel_centers: bool
    ) -> Any:
        if grads.ndim != 4:
            raise invalid(f"input_grad must be 4-dimensional{s.show(grads.shape)}")
        size = grads.shape[1:3]
        checked_size(original_image, size, align_corners, half_pixel_centers)
        _, height, width, _ = original_image.shape
        rows, columns = _taps_of_image(
            find, original_image, size, align_corners, half_pixel_centers
        )
        if original_image.dtype == np.float64:
            grads = grads.astype(np.float64)
        found = _transposed(xp, grads, _matrix(rows, height), _matrix(columns, width))
        return found.astype(original_image.dtype)

    declare = op(
        name, inputs="grads: float, original_image: T", outputs="output: T",
        attrs=f"T: {types}, {_CENTERS}", shape=lambda c: c.dims(1),
    )  # fmt: skip
    return declare(kernel)


resize_bilinear_grad_ = _gradient_op(
    "ResizeBilinearGrad", "{float, bfloat16, half, double}", _linear_taps
)
resize_bicubic_grad_ = _gradient_op("ResizeBicubicGrad", "{float, double}", _cubic_taps)


def _centers(op: Operation) -> dict[str, bool]:
    return {name: op.get_attr(name) for name in ("align_corners", "half_pixel_centers")}


@resize_bilinear_.gradient
def _(op: Operation, grad: Any) -> Any:
    return raw.ResizeBilinearGrad(grad, op.inputs[0], **_centers(op)), None


@resize_bicubic_.gradient
def _(op: Operation, grad: Any) -> Any:
    if op.inputs[0].dtype not in (dtypes.float32, dtypes.float64):
        return None, None
    return raw.ResizeBicubicGrad(grad, op.inputs[0], **_centers(op)), None


# ---- nearest neighbour and area ------------------------------------------------------------------


@op(
    "ResizeNearestNeighbor", inputs="images: T, size: int32", outputs="resized_images: T",
    attrs=f"T: {_TYPES}, {_CENTERS}", shape=resized, static="size",
)  # fmt: skip
def resize_nearest_neighbor_(
    xp: Any, images: Any, size: Any, *, align_corners: bool, half_pixel_centers: bool
) -> Any:
    centers = align_corners, half_pixel_centers
    height, width = checked_size(images, size, *centers, images.dtype)
    rows = _nearest(images.shape[1], height, *centers)
    columns = _nearest(images.shape[2], width, *centers)
    return take(xp, take(xp, images, columns, 2), rows, 1)


@resize_nearest_neighbor_.gradient
def _(op: Operation, grad: Any) -> Any:
    (image, _) = op.inputs
    space = image.shape[1:3]
    size = space.as_list() if space.is_fully_defined() else array.shape(image)[1:3]
    return raw.ResizeNearestNeighborGrad(grad, size, **_centers(op)), None


@op(
    "ResizeNearestNeighborGrad", inputs="grads: T, size: int32", outputs="output: T",
    attrs=f"T: {{uint8, int8, int32, half, float, double}}, {_CENTERS}", shape=resized,
    static="size",
)  # fmt: skip
def resize_nearest_neighbor_grad_(
    xp: Any, grads: Any, size: Any, *, align_corners: bool, half_pixel_centers: bool
) -> Any:
    if np.ndim(grads) != 4:
        raise invalid(f"input must be 4-dimensional{s.show(np.shape(grads))}")
    height, width = two_sizes(size)
    if height <= 0 or width <= 0:
        raise invalid("shape_t's elements must be positive")
    if 0 in grads.shape:
        return xp.zeros((grads.shape[0], height, width, grads.shape[3]), grads.dtype)
    rows = _nearest(height, grads.shape[1], align_corners, half_pixel_centers)
    columns = _nearest(width, grads.shape[2], align_corners, half_pixel_centers)
    # Integers add up exactly in double precision, and wrap around when they are cast.
    wide = grads if grads.dtype.kind == "f" else grads.astype(np.float64)
    ones = [_matrix([(taken, np.ones(len(taken), F))], n)
            for taken, n in ((rows, height), (columns, width))]  # fmt: skip
    found = _transposed(xp, wide, *ones)
    if grads.dtype.kind != "f":
        found = found.astype(np.int64)
    return found.astype(grads.dtype)


@op(
    "ResizeArea", inputs="images: T, size: int32", outputs="resized_images: float",
    attrs=f"T: {_TYPES}, align_corners: bool = false", shape=resized, static="size",
)  # fmt: skip
def resize_area_(xp: Any, images: Any, size: Any, *, align_corners: bool) -> Any:
    height, width = checked_size(images, size, align_corners, False)
    count, rows_in, columns_in, channels = images.shape
    if not count:
        return xp.zeros((0, height, width, channels), F)
    # A single row or column has no corners to align: pixels would cover nothing of it.
    rows = rows_in, height, align_corners and rows_in > 1
    columns = columns_in, width, align_corners and columns_in > 1
    summed = _weighted(xp, images.astype(F), _area_taps(*columns), 2)
    summed = _weighted(xp, summed, _area_taps(*rows), 1)
    return summed * F(1.0 / float(scale_of(*rows) * scale_of(*columns)))


# ---- public functions ----------------------------------------------------------------------------


_RESIZE = """\
`images` [batch, height, width, channels] at another `size`{how}.

Args:
    images: a tensor of four dimensions.
    size: the new height and width.
    align_corners: whether the centres of the corner pixels stay where they are.
    name: of the operation.
    half_pixel_centers: whether pixels are counted from their middle.

Returns:
    Images of the new size.

Raises:
    ValueError: the images do not have four dimensions, or `size` not two entries."""


def _public(operation: Any, name: str, description: str) -> Callable[..., Tensor]:
    def resize(
        images: Any,
        size: Any,
        align_corners: bool = False,
        name: str | None = None,
        half_pixel_centers: bool = False,
    ) -> Tensor:
        centers = {"align_corners": align_corners, "half_pixel_centers": half_pixel_centers}
        return operation(images, size, name=name, **centers)

    resize.__name__ = resize.__qualname__ = name
    resize.__doc__ = with_example(_RESIZE.format(how=description), name)
    return resize


resize_bilinear = _public(resize_bilinear_, "resize_bilinear", ", interpolated linearly")
resize_bicubic = _public(resize_bicubic_, "resize_bicubic", ", interpolated by cubic polynomials")
resize_nearest_neighbor = _public(
    resize_nearest_neighbor_, "resize_nearest_neighbor", "; each pixel is one of the input's"
)


def resize_area(
    images: Any, size: Any, align_corners: bool = False, name: str | None = None
) -> Tensor:
    """`images` at another `size`; an output pixel is the mean of what it covers."""
    return resize_area_(images, size, align_corners=align_corners, name=name)
