"""Several images as one."""

from __future__ import annotations

import math
from typing import Any

from weft.graph.tensor import Tensor
from weft.ops.array import array
from weft.ops.array.fill import zeros_like


def image_grid(
    input_tensor: Tensor, grid_shape: Any, image_shape: Any = (32, 32), num_channels: int = 3
) -> Tensor:
    """A batch of images, or of their values in rows, as one image of rows and columns of them.

    Args:
        input_tensor: [batch, height, width, channels], or [batch, values].
        grid_shape: how many rows and columns there are: as many as images, together.
        image_shape: height and width of an image.
        num_channels: how many numbers a pixel has.

    Returns:
        [1, height of all, width of all, channels].

    Raises:
        ValueError: these do not go together.
    """
    (rows, columns), (height, width) = grid_shape, image_shape
    batch, *sizes = input_tensor.shape.as_list()
    if rows * columns != batch:
        raise ValueError(f"Grid shape {grid_shape} incompatible with minibatch size {batch}.")
    known = {1: [height * width * num_channels], 3: [height, width, num_channels]}
    if len(sizes) not in known:
        raise ValueError("Unrecognized input tensor format.")
    if sizes != known[len(sizes)]:
        raise ValueError("Image shape and number of channels incompatible with input tensor.")
    apart = array.reshape(input_tensor, (rows, columns, height, width, num_channels))
    joined = array.transpose(apart, [0, 2, 1, 3, 4])
    return array.reshape(joined, [1, rows * height, columns * width, num_channels])


def image_reshaper(images: Any, num_cols: int | None = None) -> Tensor:
    """Images as one, in rows of `num_cols`, or about as many rows as columns.

    Args:
        images: a batch, or a list of images [height, width, 1 or 3 channels] of one size.
        num_cols: how many are beside each other.

    Returns:
        [1, height of all, width of all, channels]; what is left of the last row is zero.
    """
    given = array.unstack(images) if isinstance(images, Tensor) else list(images)
    for each in given:
        _check_image(each)
    columns = num_cols or math.ceil(math.sqrt(len(given)))
    given += [zeros_like(given[-1])] * (-len(given) % columns)
    rows = [array.concat(given[i : i + columns], 1) for i in range(0, len(given), columns)]
    return array.expand_dims(array.concat(rows, 0), 0)


def _check_image(image: Tensor) -> None:
    image.shape.assert_has_rank(3)
    image.shape.assert_is_fully_defined()
    if image.shape.as_list()[-1] not in (1, 3):
        raise ValueError("image_reshaper only supports 1 or 3 channel images.")
