"""tf.compat.v2.image.resize and resize_with_pad: pixels have centres, and kernels may be wider."""

from __future__ import annotations

from functools import partial
from typing import Any

from weft.core import dtypes
from weft.graph.graph import name_scope
from weft.graph.op_def import raw
from weft.graph.tensor import Tensor
from weft.ops.array import array
from weft.ops.image.scaling import padded, resized
from weft.ops.math import math


class ResizeMethod:
    """The ways in which `tf.compat.v2.image.resize` fills pixels in.

    Attributes:
        BILINEAR: linearly between the four nearest.
        NEAREST_NEIGHBOR: the nearest one.
        BICUBIC: by cubic polynomials over sixteen.
        AREA: the mean of what the new pixel covers.
        LANCZOS3, LANCZOS5: by Lanczos' kernel of radius 3 or 5.
        GAUSSIAN: by a Gaussian of radius 3.
        MITCHELLCUBIC: by Mitchell and Netravali's cubic.
    """

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"


# Without `antialias`, some methods have operations of their own; the others are kernels.
_OPERATIONS = {"bilinear": "ResizeBilinear", "bicubic": "ResizeBicubic"}
_KERNELS = {"bilinear": "triangle", "bicubic": "keyscubic"} | {
    name: name for name in ("lanczos3", "lanczos5", "gaussian", "mitchellcubic")
}


def resize(
    images: Any,
    size: Any,
    method: str = ResizeMethod.BILINEAR,
    preserve_aspect_ratio: bool = False,
    antialias: bool = False,
    name: str | None = None,
) -> Tensor:
    """`images`, one or a batch, at another `size` (height, width), in float32 unless by `nearest`.

    Args:
        images: [height, width, channels] or [batch, height, width, channels].
        size: the new height and width.
        method: one of `tf.compat.v2.image.ResizeMethod`.
        preserve_aspect_ratio: make it no larger than `size`, undistorted.
        antialias: widen the kernel where the image becomes smaller.
        name: of the operation.

    Raises:
        ValueError: the shape is not one of images, or an argument is unknown.
    """
    with name_scope(name, "resize", [images, size]):
        by_method = partial(_by_method, method=method, antialias=antialias)
        return resized(images, size, by_method, preserve_aspect_ratio, skip_if_same=False)


def _by_method(batch: Tensor, size: Tensor, method: str, antialias: bool) -> Tensor:
    if method == "nearest":
        return raw.ResizeNearestNeighbor(batch, size, half_pixel_centers=True)
    if method == "area":
        return raw.ResizeArea(batch, size)
    if method in _OPERATIONS and not antialias:
        return getattr(raw, _OPERATIONS[method])(batch, size, half_pixel_centers=True)
    if method not in _KERNELS:
        raise ValueError(f"Resize method is not implemented: {method}")
    old = math.cast(array.shape(batch)[1:3], dtypes.float32)
    scale = math.cast(size, dtypes.float32) / old
    return raw.ScaleAndTranslate(
        batch, size, scale, array.zeros([2]), kernel_type=_KERNELS[method], antialias=antialias
    )


def resize_with_pad(
    image: Any,
    target_height: Any,
    target_width: Any,
    method: str = ResizeMethod.BILINEAR,
    antialias: bool = False,
) -> Tensor:
    """Resized without a change of proportions, in the middle of a black target."""
    by_method = partial(resize, method=method, antialias=antialias)
    return padded(image, target_height, target_width, by_method)
