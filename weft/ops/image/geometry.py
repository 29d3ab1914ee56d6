"""Flips, turns, crops and margins of images, [height, width, channels] or batches of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import name_scope
from weft.graph.tensor import Tensor
from weft.ops.array import array
from weft.ops.array.patches import extract_image_patches
from weft.ops.array.slicing import slice as slice_images
from weft.ops.control import control
from weft.ops.control.case import case
from weft.ops.control.cond import cond
from weft.ops.image.check import assert_at_least_3d, check_at_least_3d, dimensions, require
from weft.ops.kit.operands import operands
from weft.ops.kit.shared import is_tensor_like
from weft.ops.math import math
from weft.ops.random.random import random_uniform

_WRONG_RANK = "'image' must have either 3 or 4 dimensions."


def _axes_before(image: Tensor) -> int:
    """The number of dimensions before the height: 0, or 1 for a batch."""
    if image.shape.ndims in (3, None):
        return 0
    if image.shape.ndims == 4:
        return 1
    raise ValueError(_WRONG_RANK)


def _checked(image: Any) -> Tensor:
    return assert_at_least_3d(convert_to_tensor(image, name="image"))


# ---- flips ---------------------------------------------------------------------------------------


def _same_shape(image: Tensor, result: Tensor) -> Tensor:
    result.set_shape([None, None, None] if image.shape.ndims is None else image.shape)
    return result


def _flip(image: Any, axis: int, scope_name: str) -> Tensor:
    with name_scope(None, scope_name, [image]):
        image = _checked(image)
        before = _axes_before(image)
        flipped = array.reverse(image, [axis + before])
        return flipped if before else _same_shape(image, flipped)


def flip_left_right(image: Any) -> Tensor:
    """Mirrored at the vertical axis."""
    return _flip(image, 1, "flip_left_right")


def flip_up_down(image: Any) -> Tensor:
    """Mirrored at the horizontal axis."""
    return _flip(image, 0, "flip_up_down")


def _random_flip(image: Any, axis: int, seed: Any, scope_name: str) -> Tensor:
    with name_scope(None, scope_name, [image]) as scope:
        image = _checked(image)
        if _axes_before(image):
            return _flip_some(image, axis + 1, seed)
        flips = math.less(random_uniform([], 0, 1.0, seed=seed), 0.5)
        result = cond(flips, lambda: array.reverse(image, [axis]), lambda: image, name=scope)
        return _same_shape(image, result)


def _flip_some(images: Tensor, axis: int, seed: Any) -> Tensor:
    """A batch in which each image is mirrored or is not."""
    count, kind = array.shape(images)[0], images.dtype
    drawn = array.reshape(random_uniform([count], 0, 1.0, seed=seed), [count, 1, 1, 1])
    mirrored = math.cast(math.round(drawn), kind)
    flipped = mirrored * array.reverse(images, [axis])
    return flipped + (1 - mirrored) * images


def random_flip_left_right(image: Any, seed: Any = None) -> Tensor:
    """`flip_left_right` of each image with probability one half.

    Args:
        image: one image [height, width, channels] or a batch.
        seed: makes the choice repeatable.

    Returns:
        A tensor of the same type and shape.

    Raises:
        ValueError: there are neither three nor four dimensions.

    Example:
        >>> session.run(tf.image.random_flip_left_right(tf.ones([1, 2, 1])))[:, :, 0]
        array([[1., 1.]], dtype=float32)
    """
    return _random_flip(image, 1, seed, "random_flip_left_right")


def random_flip_up_down(image: Any, seed: Any = None) -> Tensor:
    """`flip_up_down` of each image with probability one half."""
    return _random_flip(image, 0, seed, "random_flip_up_down")


# ---- turns ---------------------------------------------------------------------------------------


def _transposed(image: Tensor, before: int, name: str | None = None) -> Tensor:
    order = [*range(before), before + 1, before, before + 2]
    return array.transpose(image, order, name=name)


def transpose(image: Any, name: str | None = None) -> Tensor:
    """Height and width exchanged."""
    with name_scope(name, "transpose", [image]):
        image = _checked(image)
        return _transposed(image, _axes_before(image), name=name)


def rot90(image: Any, k: Any = 1, name: str | None = None) -> Tensor:
    """Turned `k` quarters of a circle, counter-clockwise."""
    with name_scope(name, "rot90", [image, k]) as scope:
        image = _checked(image)
        k = convert_to_tensor(k, dtype=dtypes.int32, name="k")
        k.shape.assert_has_rank(0)
        k = math.mod(k, 4)
        before = _axes_before(image)
        rows, columns = before, before + 1
        turns: list[Callable[[], Tensor]] = [
            lambda: _transposed(array.reverse(image, [columns]), before),
            lambda: array.reverse(image, [rows, columns]),
            lambda: array.reverse(_transposed(image, before), [columns]),
        ]
        cases = [(math.equal(k, i + 1), turn) for i, turn in enumerate(turns)]
        result = case(cases, default=lambda: image, exclusive=True, name=scope)
        outer = result.shape if before else image.shape.with_rank(3)
        dims = outer.as_list()
        result.set_shape([*dims[:before], None, None, dims[-1]])
        return result


# ---- crops and margins ---------------------------------------------------------------------------


def as_batch(image: Any) -> tuple[Tensor, bool]:
    """(a batch of images, whether `image` was one itself)"""
    image = convert_to_tensor(image, name="image")
    rank = image.shape.ndims
    if rank == 4:
        return image, True
    if rank not in (3, None):
        raise ValueError(_WRONG_RANK)
    one = array.expand_dims(image, 0)
    if rank is None:
        one.set_shape([None] * 4)
    return one, False


def from_batch(images: Tensor, was_batch: bool) -> Tensor:
    return images if was_batch else array.squeeze(images, axis=[0])


def _static(sizes: list[Any]) -> list[Any]:
    return [None if is_tensor_like(size) else size for size in sizes]


def central_crop(image: Any, central_fraction: float) -> Tensor:
    """The middle of the image, `central_fraction` of its height and width."""
    with operands(None, "central_crop", image=image) as (_, image):
        if not 0.0 < central_fraction <= 1.0:
            raise ValueError("central_fraction must be within (0, 1]")
        if central_fraction == 1.0:
            return image
        assert_at_least_3d(image)
        rank = image.shape.ndims
        if rank not in (3, 4):
            raise ValueError(
                f"`image` should either be a Tensor with rank = 3 or rank = 4. Had rank = {rank}."
            )
        outer = image.shape.as_list()
        spans = [_central(image, axis, central_fraction) for axis in (rank - 3, rank - 2)]
        begin, size = zip(*spans, strict=True)
        begins = array.stack([*[0] * (rank - 3), *begin, 0])
        sizes = array.stack([*[-1] * (rank - 3), *size, -1])
        cropped = slice_images(image, begins, sizes)
        cropped.set_shape([*outer[: rank - 3], *_static(list(size)), outer[-1]])
        return cropped


def _central(image: Tensor, axis: int, fraction: float) -> tuple[Any, Any]:
    """(begin, size) of the middle of an axis"""
    known = image.shape.as_list()[axis]
    if known is not None:
        begin = int((known - known * fraction) / 2)
        return begin, known - begin * 2
    size = array.shape(image)[axis]
    wide = math.cast(size, dtypes.float64)
    start = math.cast((wide - wide * fraction) / 2, dtypes.int32)
    return start, size - start * 2


def pad_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> Tensor:
    """The image on black, with its corner at the offset, in a frame of the target's size.

    Args:
        image: one image [height, width, channels] or a batch.
        offset_height, offset_width: where the image goes.
        target_height, target_width: how large the result is.

    Returns:
        A larger image, or batch.

    Raises:
        ValueError: the image does not fit.

    Example:
        >>> session.run(tf.image.pad_to_bounding_box([[[5]]], 0, 1, 2, 2))[:, :, 0]
        array([[0, 5],
               [0, 0]], dtype=int32)
    """
    with name_scope(None, "pad_to_bounding_box", [image]):
        image, was_batch = as_batch(image)
        checks = check_at_least_3d(image)
        batch, height, width, depth = dimensions(image, rank=4)
        after_width = target_width - offset_width - width
        after_height = target_height - offset_height - height
        for holds, message in (
            (lambda: offset_height >= 0, "offset_height must be >= 0"),
            (lambda: offset_width >= 0, "offset_width must be >= 0"),
            (lambda: after_width >= 0, "width must be <= target - offset"),
            (lambda: after_height >= 0, "height must be <= target - offset"),
        ):
            checks += require(holds(), message)
        image = control.with_dependencies(checks, image)
        margins = [0, 0, offset_height, after_height, offset_width, after_width, 0, 0]
        padded = array.pad(image, array.reshape(array.stack(margins), [4, 2]))
        padded.set_shape(_static([batch, target_height, target_width, depth]))
        return from_batch(padded, was_batch)


def crop_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> Tensor:
    """The part of the image with its corner at the offset, of the target's size.

    Args:
        image: one image [height, width, channels] or a batch.
        offset_height, offset_width: where the part begins.
        target_height, target_width: how large it is.

    Returns:
        A smaller image, or batch.

    Raises:
        ValueError: the part reaches outside of the image.

    Example:
        >>> session.run(tf.image.crop_to_bounding_box([[[1], [2], [3]]], 0, 1, 1, 2))[:, :, 0]
        array([[2, 3]], dtype=int32)
    """
    with name_scope(None, "crop_to_bounding_box", [image]):
        image, was_batch = as_batch(image)
        checks = check_at_least_3d(image)
        batch, height, width, depth = dimensions(image, rank=4)
        for holds, message in (
            (lambda: offset_width >= 0, "offset_width must be >= 0."),
            (lambda: offset_height >= 0, "offset_height must be >= 0."),
            (lambda: target_width > 0, "target_width must be > 0."),
            (lambda: target_height > 0, "target_height must be > 0."),
            (lambda: width >= target_width + offset_width, "width must be >= target + offset."),
            (lambda: height >= target_height + offset_height, "height must be >= target + offset."),
        ):
            checks += require(holds(), message)
        image = control.with_dependencies(checks, image)
        cropped = slice_images(
            image,
            array.stack([0, offset_height, offset_width, 0]),
            array.stack([-1, target_height, target_width, -1]),
        )
        cropped.set_shape(_static([batch, target_height, target_width, depth]))
        return from_batch(cropped, was_batch)


def extract_patches(
    images: Any, sizes: Any, strides: Any, rates: Any, padding: str, name: str | None = None
) -> Tensor:
    """Patches of images, flattened into the depth dimension."""
    return extract_image_patches(images, sizes, strides, rates, padding, name)
