"""Colors turned in the space YIQ, and regions of one color."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import name_scope
from weft.graph.tensor import Tensor
from weft.ops.image.adjust import convert_image_dtype
from weft.ops.image.components import connected_components_
from weft.ops.image.yiq import adjust_hsv_in_yiq_
from weft.ops.math import math
from weft.ops.random.random import random_uniform


def adjust_hsv_in_yiq(
    image: Any,
    delta_hue: Any = 0,
    scale_saturation: Any = 1,
    scale_value: Any = 1,
    name: str | None = None,
) -> Tensor:
    """Turns the hue of RGB images by radians, and scales saturation and value, all linearly."""
    amounts = delta_hue, scale_saturation, scale_value
    with name_scope(name, "adjust_hsv_in_yiq", [image]):
        given = convert_to_tensor(image, name="image")
        turned = adjust_hsv_in_yiq_(convert_image_dtype(given, dtypes.float32), *amounts)
        return convert_image_dtype(turned, given.dtype)


def random_hsv_in_yiq(
    image: Any,
    max_delta_hue: float = 0,
    lower_saturation: float = 1,
    upper_saturation: float = 1,
    lower_value: float = 1,
    upper_value: float = 1,
    seed: int | None = None,
) -> Tensor:
    """`adjust_hsv_in_yiq` by random amounts between limits.

    Raises:
        ValueError: a limit is negative, or a lower one is above the upper one.
    """
    lower = {
        "max_delta": max_delta_hue,
        "lower_saturation": lower_saturation,
        "lower_value": lower_value,
    }
    for limit, given in lower.items():
        if given < 0:
            raise ValueError(f"{limit} must be non-negative.")
    if lower_saturation > upper_saturation:
        raise ValueError("lower_saturation must be < upper_saturation.")
    if lower_value > upper_value:
        raise ValueError("lower_value must be < upper_value.")
    ranges = [
        (-max_delta_hue, max_delta_hue),
        (lower_saturation, upper_saturation),
        (lower_value, upper_value),
    ]
    drawn: list[Any] = [
        low if low == high else random_uniform([], low, high, seed=seed) for low, high in ranges
    ]
    return adjust_hsv_in_yiq(image, *drawn)


def connected_components(images: Any) -> Tensor:
    """The regions of equal pixels that touch, numbered from 1; pixels that are zero are in none.

    Args:
        images: `[height, width]`, or a batch of such images.

    Returns:
        Numbers of the same shape, in the order of the regions' first pixels in the whole batch.

    Raises:
        TypeError: there are more or fewer dimensions.
    """
    with name_scope("connected_components"):
        images = convert_to_tensor(images, name="images")
        rank = images.shape.ndims
        if rank not in (2, 3):
            raise TypeError(
                f"images should have rank 2 (HW) or 3 (NHW). Static shape is {images.shape}"
            )
        found = connected_components_(images[None] if rank == 2 else images)
        found = math.cast(found, dtypes.int32)
        return found[0] if rank == 2 else found


adjust_yiq_hsv = adjust_hsv_in_yiq
random_yiq_hsv = random_hsv_in_yiq
