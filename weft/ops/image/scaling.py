"""tf.image.resize_images and its relatives, which also crop, pad or keep proportions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from weft.core import dtypes
from weft.graph.constant_value import constant_value_as_shape
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import name_scope
from weft.graph.op_def import raw
from weft.graph.tensor import Tensor
from weft.ops.array import array
from weft.ops.control import control
from weft.ops.image.check import check_at_least_3d, dimensions, require
from weft.ops.image.geometry import as_batch, crop_to_bounding_box, from_batch, pad_to_bounding_box
from weft.ops.kit.shared import is_tensor_like
from weft.ops.math import math


class ResizeMethod:
    """The ways in which `tf.image.resize_images` fills pixels in.

    Attributes:
        BILINEAR: linearly between the four nearest.
        NEAREST_NEIGHBOR: the nearest one.
        BICUBIC: by cubic polynomials over sixteen.
        AREA: the mean of what the new pixel covers.

    Example:
        >>> image = tf.constant([[[1.0], [3.0]]])
        >>> nearest = tf.image.ResizeMethod.NEAREST_NEIGHBOR
        >>> session.run(tf.image.resize_images(image, [1, 4], nearest))[0, :, 0]
        array([1., 1., 3., 3.], dtype=float32)
    """

    BILINEAR = 0
    NEAREST_NEIGHBOR = 1
    BICUBIC = 2
    AREA = 3


_METHODS = {
    0: "ResizeBilinear",
    "bilinear": "ResizeBilinear",
    1: "ResizeNearestNeighbor",
    "nearest": "ResizeNearestNeighbor",
    2: "ResizeBicubic",
    "bicubic": "ResizeBicubic",
    3: "ResizeArea",
    "area": "ResizeArea",
}


def resize_images(
    images: Any,
    size: Any,
    method: Any = ResizeMethod.BILINEAR,
    align_corners: bool = False,
    preserve_aspect_ratio: bool = False,
    name: str | None = None,
) -> Tensor:
    """`images`, one or a batch, at another `size` (height, width).

    Args:
        images: [height, width, channels] or [batch, height, width, channels].
        size: the new height and width.
        method: one of `tf.image.ResizeMethod`: bilinear, nearest neighbour, bicubic or area.
        align_corners: whether the centres of the corner pixels stay where they are.
        preserve_aspect_ratio: make it no larger than `size`, undistorted.
        name: of the operation.

    Returns:
        A tensor; float32, unless the size or the method changes nothing.

    Raises:
        ValueError: the shape is not one of images, or an argument is unknown.

    Example:
        >>> tf.image.resize_images(tf.ones([1, 4, 4, 3]), [2, 8]).shape.as_list()
        [1, 2, 8, 3]
    """

    def by_method(batch: Tensor, size: Tensor) -> Tensor:
        if method not in _METHODS:
            raise ValueError("Resize method is not implemented.")
        return getattr(raw, _METHODS[method])(batch, size, align_corners=align_corners)

    with name_scope(name, "resize", [images, size]):
        return resized(images, size, by_method, preserve_aspect_ratio, skip_if_same=True)


def resized(
    images: Any,
    size: Any,
    resize: Callable[[Tensor, Tensor], Tensor],
    preserve_aspect_ratio: bool,
    skip_if_same: bool,
) -> Tensor:
    """One image or a batch, by `resize` of a batch to a height and width."""
    images = convert_to_tensor(images, name="images")
    rank = images.shape.ndims
    if rank is None:
        raise ValueError("'images' contains no shape.")
    if rank not in (3, 4):
        raise ValueError("'images' must have either 3 or 4 dimensions.")
    if rank == 3:
        images = array.expand_dims(images, 0)
    size = _size(size)
    if preserve_aspect_ratio:
        size = _within(size, images)
    wanted = constant_value_as_shape(size).as_list()
    if skip_if_same and None not in wanted and images.shape.as_list()[1:3] == wanted:
        return from_batch(images, rank == 4)
    made = resize(images, size)
    made.set_shape([None, *wanted, None])
    return from_batch(made, rank == 4)


def _size(size: Any) -> Tensor:
    try:
        pair = convert_to_tensor(size, dtypes.int32, name="size")
    except (TypeError, ValueError):
        raise ValueError("'size' must be a 1-D int32 Tensor") from None
    if pair.dims in (None, (2,), (None,)):
        return pair
    raise ValueError("'size' must be a 1-D Tensor of 2 elements: new_height, new_width")


def _within(size: Tensor, images: Tensor) -> Tensor:
    """The largest size within `size` that has the proportions of `images`."""
    have, known = dimensions(images, rank=4)[1:3], constant_value_as_shape(size).as_list()
    want = [size[i] if d is None else d for i, d in enumerate(known)]

    scales = [
        math.cast(w, dtypes.float32) / math.cast(h, dtypes.float32)
        for w, h in zip(want, have, strict=True)
    ]
    scale = math.minimum(*scales)
    longer = (math.round(scale * math.cast(h, dtypes.float32)) for h in have)
    scaled = [math.cast(length, dtypes.int32) for length in longer]
    return convert_to_tensor(scaled, dtypes.int32, name="size")


def _either(of_tensors: Callable[..., Any], of_numbers: Callable[..., Any]) -> Callable[..., Any]:
    def choose(x: Any, y: Any) -> Any:
        symbolic = is_tensor_like(x) or is_tensor_like(y)
        return (of_tensors if symbolic else of_numbers)(x, y)

    return choose


_max, _min = _either(math.maximum, max), _either(math.minimum, min)
_equal = _either(math.equal, lambda x, y: x == y)


def _targets(image: Any, target_height: Any, target_width: Any) -> tuple[Tensor, bool, list[Any]]:
    """(checked batch, whether it was one, the checks)"""
    image, was_batch = as_batch(image)
    checks = check_at_least_3d(image)
    checks += require(target_width > 0, "target_width must be > 0.")
    checks += require(target_height > 0, "target_height must be > 0.")
    return control.with_dependencies(checks, image), was_batch, checks


def resize_image_with_crop_or_pad(image: Any, target_height: Any, target_width: Any) -> Tensor:
    """Cut down or padded with black, evenly on both sides, to the target's size.

    Args:
        image: one image [height, width, channels] or a batch.
        target_height, target_width: the new size.

    Returns:
        An image, or batch, of that size.

    Raises:
        ValueError: a size is not positive.

    Example:
        >>> cut = tf.image.resize_image_with_crop_or_pad(tf.ones([3, 2, 1]), 1, 4)
        >>> session.run(cut)[:, :, 0]
        array([[0., 1., 1., 0.]], dtype=float32)
    """
    with name_scope(None, "resize_image_with_crop_or_pad", [image]):
        image, was_batch, checks = _targets(image, target_height, target_width)
        if is_tensor_like(target_height):
            target_height = control.with_dependencies(checks, target_height)
        if is_tensor_like(target_width):
            target_width = control.with_dependencies(checks, target_width)
        _, height, width, _ = dimensions(image, rank=4)
        more_width, more_height = target_width - width, target_height - height
        cropped = crop_to_bounding_box(
            image,
            _max(-more_height // 2, 0),
            _max(-more_width // 2, 0),
            _min(target_height, height),
            _min(target_width, width),
        )
        resized = pad_to_bounding_box(
            cropped, _max(more_height // 2, 0), _max(more_width // 2, 0),
            target_height, target_width,
        )  # fmt: skip
        _, new_height, new_width, _ = dimensions(resized, rank=4)
        checks = require(_equal(new_height, target_height), "resized height is not correct.")
        checks += require(_equal(new_width, target_width), "resized width is not correct.")
        return from_batch(control.with_dependencies(checks, resized), was_batch)


def resize_image_with_pad(
    image: Any,
    target_height: Any,
    target_width: Any,
    method: Any = ResizeMethod.BILINEAR,
    align_corners: bool = False,
) -> Tensor:
    """Resized without a change of proportions, in the middle of a black target."""
    resize = partial(resize_images, method=method, align_corners=align_corners)
    return padded(image, target_height, target_width, resize)


def padded(image: Any, target_height: Any, target_width: Any, resize: Callable[..., Any]) -> Tensor:
    """`image`, by `resize` as large as its proportions allow, in the middle of a black target."""
    with name_scope(None, "resize_image_with_pad", [image]):
        image, was_batch, _ = _targets(image, target_height, target_width)
        _, height, width, _ = dimensions(image, rank=4)
        sizes = [math.cast(d, dtypes.float64) for d in (height, width)]
        targets = [math.cast(d, dtypes.float64) for d in (target_height, target_width)]
        # The width first, as in TensorFlow's graph.
        ratio = math.maximum(sizes[1] / targets[1], sizes[0] / targets[0])
        scaled = [d / ratio for d in sizes]
        new_size = [math.cast(math.floor(d), dtypes.int32) for d in scaled]
        halves = [(t - d) / 2 for t, d in zip(targets, scaled, strict=True)]
        whole = [math.floor(half) for half in halves]
        margins = [math.maximum(0, math.cast(half, dtypes.int32)) for half in whole]
        framed = pad_to_bounding_box(
            resize(image, new_size), margins[0], margins[1], target_height, target_width
        )
        dimensions(framed, rank=4)  # which TensorFlow asks for, too, and its nodes count
        return from_batch(framed, was_batch)
