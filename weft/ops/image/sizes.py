"""Sizes that images are resized to: as shape rules know them, and checked before they are made."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.shape_fn import Dims, ShapeContext
from weft.ops.kit.room import check_room
from weft.ops.kit.shared import check_size, invalid


def sized(c: ShapeContext, batch: int | None, channels: int | None, size_input: int) -> Dims:
    """[batch, *the value of an input of two integers, channels]"""
    (length,) = s.with_rank(c.dims(size_input), 1)
    if length not in (None, 2):
        raise ValueError(f"Dimension must be 2 but is {length}")
    size = c.value(size_input)
    if size is None:
        return (batch, None, None, channels)
    return (batch, *(None if n < 0 else int(n) for n in size), channels)


def resized(c: ShapeContext) -> Dims:
    """The shape of input 0, of the height and width that input 1 holds."""
    batch, _, _, channels = s.with_rank(c.dims(0), 4)
    return sized(c, batch, channels, 1)


def two_sizes(size: Any) -> tuple[int, int]:
    """Height and width out of a vector."""
    if np.ndim(size) != 1:
        raise invalid(f"shape_t must be 1-dimensional{s.show(np.shape(size))}")
    if len(size) != 2:
        raise invalid(f"shape_t must have two elements{s.show(np.shape(size))}")
    return int(size[0]), int(size[1])


def checked_size(
    images: Any, size: Any, align_corners: bool, half_pixel: bool, dtype: Any = np.float32
) -> tuple[int, int]:
    """Height and width, if there is an image to resize and room for the result."""
    if half_pixel and align_corners:
        raise invalid("If half_pixel_centers is True, align_corners must be False.")
    if np.ndim(images) != 4:
        raise invalid(f"input must be 4-dimensional{s.show(np.shape(images))}")
    height, width = two_sizes(size)
    if height <= 0 or width <= 0:
        raise invalid("output dimensions must be positive")
    if images.shape[3] <= 0:
        raise invalid("image must have at least one channel")
    if images.shape[1] <= 0 or images.shape[2] <= 0:
        raise invalid("input image must be of non-zero size")
    wanted = images.shape[0], height, width, images.shape[3]
    try:
        check_size(wanted)
    except ValueError as error:
        raise invalid(str(error)) from None
    check_room(wanted, dtype)
    return height, width
