"""Images seen through a projective transform: ImageProjectiveTransform (tf.contrib.image)."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.convert import constant
from weft.graph.op_def import op, raw
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.tensor import Tensor
from weft.ops.array import array
from weft.ops.image.sizes import sized
from weft.ops.kit.operands import operands
from weft.ops.kit.shared import invalid

F = np.float32
_ATTRS = "dtype: {uint8, int32, int64, half, float, double}, interpolation: string"


def _sources(xp: Any, transforms: Any, height: int, width: int) -> tuple[Any, Any, Any]:
    """(y, x) in the input of every output pixel, and whether it is a place at all."""
    across, down = (
        np.arange(width, dtype=F)[None, None, :],
        np.arange(height, dtype=F)[None, :, None],
    )
    a0, a1, a2, b0, b1, b2, c0, c1 = (transforms[:, i, None, None] for i in range(8))
    scale = c0 * across + c1 * down + F(1)
    finite = scale != 0
    scale = xp.where(finite, scale, F(1))
    return (
        (b0 * across + b1 * down + b2) / scale,
        (a0 * across + a1 * down + a2) / scale,
        finite,
    )


def _nearest_integer(xp: Any, x: Any) -> Any:
    whole = xp.trunc(x)  # halves go away from zero
    return whole + xp.where(abs(x - whole) >= F(0.5), xp.sign(x), F(0))


def _read(xp: Any, images: Any, y: Any, x: Any, finite: Any, outside: Any = 0) -> Any:
    """The pixels at whole places, and the same value everywhere outside."""
    batch, height, width, _ = images.shape
    inside = finite & (y >= 0) & (y < height) & (x >= 0) & (x < width)
    rows, columns = (xp.where(inside, at, F(0)).astype(np.int32) for at in (y, x))
    found = images[np.arange(batch)[:, None, None], rows, columns]
    return xp.where(inside[..., None], found, xp.asarray(outside).astype(images.dtype))


def _between(before: Any, after: Any, whole: Any, at: Any) -> Any:
    """What lies between two values, to the last bit: of whole pixels fractions are cut off."""
    shares = (whole + 1 - at, at - whole)
    nearer, farther = (share[..., None].astype(np.float64) for share in shares)
    return (nearer * before + farther * after).astype(F)


def _transformed(
    xp: Any,
    images: Any,
    transforms: Any,
    size: tuple[int, int],
    interpolation: str,
    outside: Any = 0,
    place: Any = None,
) -> Any:
    """Pixels where the transforms say; `place(xp, coordinate, length)` brings them inside."""
    _check(images, transforms)
    wanted = (images.shape[0], *size, images.shape[3])
    if 0 in images.shape:  # of which no pixel can be read
        return xp.broadcast_to(xp.asarray(outside).astype(images.dtype), wanted)
    y, x, finite = _sources(xp, transforms, *size)
    y, x, finite = (xp.broadcast_to(each, (images.shape[0], *size)) for each in (y, x, finite))
    if place is not None:
        y, x = place(xp, y, images.shape[1]), place(xp, x, images.shape[2])
    if interpolation == "NEAREST":
        at = _nearest_integer(xp, y), _nearest_integer(xp, x)
        return _read(xp, images, *at, finite, outside)
    if interpolation != "BILINEAR":
        raise invalid(f"Invalid interpolation {interpolation}. Supported types: NEAREST, BILINEAR")
    top, left = xp.floor(y), xp.floor(x)
    lines = []
    for row in (top, top + 1):
        before = _read(xp, images, row, left, finite, outside).astype(F)
        after = _read(xp, images, row, left + 1, finite, outside).astype(F)
        lines.append(_between(before, after, left, x))
    found = _between(lines[0], lines[1], top, y)
    return xp.where(finite[..., None], found, xp.asarray(outside).astype(F)).astype(images.dtype)


def _check(images: Any, transforms: Any) -> None:
    if images.ndim != 4:
        raise invalid("Input images must have rank 4")
    count = images.shape[0]
    fits = transforms.ndim == 2 and transforms.shape[0] in (1, count) and transforms.shape[1] == 8
    if not fits:
        raise invalid("Input transform should be num_images x 8 or 1 x 8")


@op(
    "ImageProjectiveTransform", inputs="images: dtype, transforms: float",
    outputs="transformed_images: dtype", attrs=_ATTRS, shape=s.unchanged,
)  # fmt: skip
def image_projective_transform_(
    xp: Any, images: Any, transforms: Any, *, interpolation: str
) -> Any:
    return _transformed(xp, images, transforms, images.shape[1:3], interpolation)


def _sized(c: ShapeContext) -> Dims:
    batch, _, _, channels = s.with_rank(c.dims(0), 4)
    return sized(c, batch, channels, 2)


def _clamped(xp: Any, at: Any, length: int) -> Any:
    return xp.minimum(xp.maximum(at, F(0)), F(length - 1))


def _reflected(xp: Any, at: Any, length: int) -> Any:
    """Coordinates in an image that is mirrored at its edges again and again."""
    period = F(2 * length)
    low = xp.trunc(-at / period) * period + at
    low = xp.where(low < -length, low + period, -low - F(1))
    high = at - xp.trunc(at / period) * period
    high = xp.where(high >= length, period - high - F(1), high)
    return _moved(xp, at, length, low, high)


def _wrapped(xp: Any, at: Any, length: int) -> Any:
    """Coordinates in an image that is repeated again and again."""
    steps = F(max(length - 1, 1))
    low = at + F(length) * (xp.trunc(-at / steps) + F(1))
    high = at - F(length) * xp.trunc(at / steps)
    return _moved(xp, at, length, low, high)


def _moved(xp: Any, at: Any, length: int, low: Any, high: Any) -> Any:
    """`low` for what is before an image, `high` for what is after it, all within it."""
    if length <= 1:
        return xp.zeros_like(at)
    inside = xp.where(at < 0, low, xp.where(at > F(length - 1), high, at))
    return _clamped(xp, inside, length)


_PLACES = {"CONSTANT": None, "REFLECT": _reflected, "WRAP": _wrapped, "NEAREST": _clamped}


@op(
    "ImageProjectiveTransformV2",
    inputs="images: dtype, transforms: float, output_shape: int32",
    outputs="transformed_images: dtype", attrs=_ATTRS, shape=_sized, static="output_shape",
)  # fmt: skip
def image_projective_transform_v2_(
    xp: Any, images: Any, transforms: Any, output_shape: Any, *, interpolation: str
) -> Any:
    return _transformed(xp, images, transforms, _output_size(output_shape), interpolation)


def _output_size(shape: Any) -> tuple[int, int]:
    if np.ndim(shape) != 1:
        raise invalid(f"output shape must be 1-dimensional{s.show(np.shape(shape))}")
    if len(shape) != 2:
        raise invalid(f"output shape must have two elements{s.show(np.shape(shape))}")
    height, width = (int(n) for n in shape)
    if height <= 0 or width <= 0:
        raise invalid("output dimensions must be positive")
    return height, width


@op(
    "ImageProjectiveTransformV3",
    inputs="images: dtype, transforms: float, output_shape: int32, fill_value: float",
    outputs="transformed_images: dtype", shape=_sized, static="output_shape",
    attrs="dtype: {uint8, int32, int64, half, bfloat16, float, double}, interpolation: string, "
    'fill_mode: string = "CONSTANT"',
)  # fmt: skip
def image_projective_transform_v3_(
    xp: Any,
    images: Any,
    transforms: Any,
    output_shape: Any,
    fill_value: Any,
    *,
    interpolation: str,
    fill_mode: str,
) -> Any:
    if fill_mode not in _PLACES:
        allowed = ", ".join(each for each in ("REFLECT", "WRAP", "CONSTANT", "NEAREST"))
        raise invalid(f"Invalid mode {fill_mode}. Supported types: {allowed}")
    size, place = _output_size(output_shape), _PLACES[fill_mode]
    return _transformed(xp, images, transforms, size, interpolation, fill_value, place)


@image_projective_transform_v2_.gradient
def _(op: Operation, grad: Any) -> Any:
    """The gradient seen through the inverse transform: exact for whole translations."""
    return _seen_back(op, grad, raw.ImageProjectiveTransformV2)


@image_projective_transform_v3_.gradient
def _(op: Operation, grad: Any) -> Any:
    """The gradient seen through the inverse transform, with zeros from outside."""
    seen = {"fill_value": 0.0, "fill_mode": op.get_attr("fill_mode")}
    return _seen_back(op, grad, functools.partial(raw.ImageProjectiveTransformV3, **seen))


def _seen_back(op: Operation, grad: Any, transform: Any) -> list[Any]:
    images, transforms, *others = op.inputs
    inverse = raw.MatrixInverse(flat_transforms_to_matrices(transforms))
    back = transform(
        grad, matrices_to_flat_transforms(inverse), array.shape(images)[1:3],
        interpolation=op.get_attr("interpolation"),
    )  # fmt: skip
    return [back, None, *(None for _ in others)]


def flat_transforms_to_matrices(transforms: Any) -> Tensor:
    """Transforms of 8 numbers as 3 x 3 matrices, whose last entry is 1."""
    with operands(None, "flat_transforms_to_matrices", transforms=transforms) as (_, given):
        rows = _rows(given, 8, (1, 2), "Transforms should be 1D or 2D")
        ends = array.ones([array.shape(rows)[0], 1])
        return array.reshape(array.concat([rows, ends], 1), constant([-1, 3, 3]))


def _rows(x: Tensor, width: int, ranks: tuple[int, ...], message: str) -> Tensor:
    if x.shape.ndims not in ranks:
        raise ValueError(f"{message}, got: {x}")
    return array.reshape(x, constant([-1, width]))


def matrices_to_flat_transforms(transform_matrices: Any) -> Tensor:
    """3 x 3 matrices as transforms of 8 numbers."""
    given = {"transform_matrices": transform_matrices}
    with operands(None, "matrices_to_flat_transforms", **given) as (_, matrices):
        rows = _rows(matrices, 9, (2, 3), "Matrices should be 2D or 3D")
        return (rows / rows[:, 8:9])[:, :8]
