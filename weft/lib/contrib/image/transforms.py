"""Images rotated, moved, or seen through a projective transform."""

from __future__ import annotations

import functools
from typing import Any

from weft.core import dtypes
from weft.graph.constant_value import constant_value
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import name_scope
from weft.graph.op_def import raw
from weft.graph.tensor import Tensor
from weft.ops.array import array
from weft.ops.image.transform import flat_transforms_to_matrices, matrices_to_flat_transforms
from weft.ops.math import math

_TYPES = (
    dtypes.uint8, dtypes.int32, dtypes.int64, dtypes.float16, dtypes.float32, dtypes.float64
)  # fmt: skip


def _as_batch(images: Tensor) -> Tensor:
    """[height, width] or [height, width, channels] as a batch of one."""
    if images.dtype not in _TYPES:
        raise TypeError(f"Invalid dtype {images.dtype}.")
    rank = images.shape.ndims
    if rank is None:
        raise TypeError("image_or_images rank must be statically known")
    if rank == 2:
        return images[None, :, :, None]
    if rank == 3:
        return images[None, :, :, :]
    if rank == 4:
        return images
    raise TypeError("Images should have rank between 2 and 4.")


def _as_before(batch: Tensor, rank: int | None) -> Tensor:
    if rank == 2:
        return batch[0, :, :, 0]
    return batch[0, :, :, :] if rank == 3 else batch


def transform(
    images: Any,
    transforms: Any,
    interpolation: str = "NEAREST",
    output_shape: Any = None,
    name: str | None = None,
) -> Tensor:
    """Output pixel (x, y) is the input's at ((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k).

    A row of `transforms` is [a0, a1, a2, b0, b1, b2, c0, c1], and k = c0 x + c1 y + 1.
    """
    with name_scope(name, "transform"):
        given = convert_to_tensor(images, name="images")
        rows = convert_to_tensor(transforms, name="transforms", dtype=dtypes.float32)
        batch = _as_batch(given)
        if output_shape is None:
            output_shape = array.shape(batch)[1:3]
            known = constant_value(output_shape)
            output_shape = output_shape if known is None else known
        size = convert_to_tensor(output_shape, dtypes.int32, name="output_shape")
        if not size.shape.is_compatible_with([2]):
            raise ValueError(
                "output_shape must be a 1-D Tensor of 2 elements: new_height, new_width"
            )
        if rows.shape.ndims is None:
            raise TypeError("transform_or_transforms rank must be statically known")
        if rows.shape.ndims not in (1, 2):
            raise TypeError("Transforms should have rank 1 or 2.")
        rows = rows[None] if rows.shape.ndims == 1 else rows
        moved = raw.ImageProjectiveTransformV2(
            batch, output_shape=size, transforms=rows, interpolation=interpolation.upper()
        )
        return _as_before(moved, given.shape.ndims)


def rotate(
    images: Any, angles: Any, interpolation: str = "NEAREST", name: str | None = None
) -> Tensor:
    """Images turned counter-clockwise by `angles`, in radians, around their middle."""
    with name_scope(name, "rotate"):
        given = convert_to_tensor(images)
        batch = _as_batch(given)
        height, width = (
            math.cast(array.shape(batch)[axis], dtypes.float32)[None] for axis in (1, 2)
        )
        turned = transform(
            batch, angles_to_projective_transforms(angles, height, width),
            interpolation=interpolation,
        )  # fmt: skip
        return _as_before(turned, given.shape.ndims)


def translate(
    images: Any, translations: Any, interpolation: str = "NEAREST", name: str | None = None
) -> Tensor:
    """Images moved by (dx, dy)."""
    with name_scope(name, "translate"):
        moves = translations_to_projective_transforms(translations)
        return transform(images, moves, interpolation=interpolation)


def angles_to_projective_transforms(
    angles: Any, image_height: Any, image_width: Any, name: str | None = None
) -> Tensor:
    """The transforms that turn images of a size by `angles`."""
    with name_scope(name, "angles_to_projective_transforms"):
        angles = convert_to_tensor(angles, name="angles", dtype=dtypes.float32)
        if angles.shape.ndims not in (0, 1):
            raise TypeError("Angles should have rank 0 or 1.")
        angles = angles[None] if angles.shape.ndims == 0 else angles

        # TensorFlow computes each of these anew, and random operations count the nodes before them.
        def column(values: Tensor) -> Tensor:
            column: Tensor = values[:, None]
            return column

        x_offset = (
            (image_width - 1)
            - (math.cos(angles) * (image_width - 1) - math.sin(angles) * (image_height - 1))
        ) / 2.0
        y_offset = (
            (image_height - 1)
            - (math.sin(angles) * (image_width - 1) + math.cos(angles) * (image_height - 1))
        ) / 2.0
        count = array.shape(angles)[0]
        columns = [
            column(math.cos(angles)),
            -column(math.sin(angles)),
            column(x_offset),
            column(math.sin(angles)),
            column(math.cos(angles)),
            column(y_offset),
            array.zeros((count, 2), dtypes.float32),
        ]
        return array.concat(columns, axis=1)


def translations_to_projective_transforms(translations: Any, name: str | None = None) -> Tensor:
    """The transforms that move images by (dx, dy)."""
    with name_scope(name, "translations_to_projective_transforms"):
        moves = convert_to_tensor(translations, name="translations", dtype=dtypes.float32)
        if moves.shape.ndims is None:
            raise TypeError("translation_or_translations rank must be statically known")
        if moves.shape.ndims not in (1, 2):
            raise TypeError("Translations should have rank 1 or 2.")
        moves = moves[None] if moves.shape.ndims == 1 else moves
        count = array.shape(moves)[0]
        columns = [
            array.ones((count, 1), dtypes.float32),
            array.zeros((count, 1), dtypes.float32),
            -moves[:, 0, None],
            array.zeros((count, 1), dtypes.float32),
            array.ones((count, 1), dtypes.float32),
            -moves[:, 1, None],
            array.zeros((count, 2), dtypes.float32),
        ]
        return array.concat(columns, axis=1)


def compose_transforms(*transforms: Any) -> Tensor:
    """The transform that does what `transforms` do, one after the other."""
    assert transforms, "transforms cannot be empty"
    with name_scope("compose_transforms"):
        matrices = map(flat_transforms_to_matrices, transforms)
        return matrices_to_flat_transforms(functools.reduce(math.matmul, matrices))


def bipartite_match(
    distance_mat: Any, num_valid_rows: Any, top_k: int = -1, name: str | None = "bipartite_match"
) -> Any:
    """Rows and columns paired greedily by distance: (column of every row, row of every column)."""
    return raw.BipartiteMatch(distance_mat, num_valid_rows, top_k=top_k, name=name)
