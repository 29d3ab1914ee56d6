"""Boxes cut out of images and brought to one size: CropAndResize, and its gradients."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from weft.core import dtypes, errors
from weft.core.dtypes import DType
from weft.graph import shape_fn as s
from weft.graph.by_library import by_library
from weft.graph.op_def import op, raw
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.tensor import Tensor
from weft.ops.array import array
from weft.ops.image.sizes import sized
from weft.ops.kit.row_updates import add_at
from weft.ops.kit.shared import deprecated_alias, invalid
from weft.ops.kit.value_checks import must_be_within

F = np.float32
_TYPES = "{uint8, uint16, int8, int16, int32, int64, half, float, double}"
_METHODS = 'method: {"bilinear", "nearest"} = "bilinear"'


# ---- where crops take their pixels ---------------------------------------------------------------


class Axis(NamedTuple):
    """Positions along one axis of the image, [boxes, pixels of the crop]."""

    at: Any
    lower: Any
    upper: Any
    weight: Any  # of the upper pixel
    inside: Any  # whether the image reaches there

    def nearest(self) -> Any:
        return (self.lower + (self.weight >= 0.5)).astype(np.int32)


def _axis(xp: Any, first: Any, last: Any, size: int, count: int) -> Axis:
    """`count` places from `first` to `last`, which are fractions of an axis of `size` pixels."""
    first, last = first[:, None], last[:, None]
    if count > 1:
        step = (last - first) * F(size - 1) / F(count - 1)
        at = first * F(size - 1) + np.arange(count, dtype=F) * step
    else:
        at = F(0.5) * (first + last) * F(size - 1)
    inside = (at >= 0) & (at <= size - 1)
    at = xp.where(inside, at, F(0))
    below = xp.floor(at)
    lower, upper = below.astype(np.int32), xp.ceil(at).astype(np.int32)
    return Axis(at, lower, upper, at - below, inside)


def _axes(xp: Any, boxes: Any, image: tuple[int, ...], crop: tuple[int, ...]) -> tuple[Axis, Axis]:
    """Along the height and along the width of [batch, height, width, channels]."""
    return (
        _axis(xp, boxes[:, 0], boxes[:, 2], image[1], crop[0]),
        _axis(xp, boxes[:, 1], boxes[:, 3], image[2], crop[1]),
    )


def _pixels(image: Any, box_ind: Any, rows: Any, columns: Any) -> Any:
    return image[box_ind[:, None, None], rows[:, :, None], columns[:, None, :]].astype(F)


def _down(weight: Any) -> Any:
    return weight[:, :, None, None]


def _across(weight: Any) -> Any:
    return weight[:, None, :, None]


def _reached(rows: Axis, columns: Axis) -> Any:
    return _down(rows.inside) & _across(columns.inside)


# ---- checks --------------------------------------------------------------------------------------


def _check_boxes(xp: Any, boxes: Any, box_ind: Any, batch: int) -> None:
    if boxes.ndim != 2:
        raise invalid(f"boxes must be 2-D{s.show(boxes.shape)}")
    if boxes.shape[1] != 4:
        raise invalid("boxes must have 4 columns")
    if box_ind.ndim != 1:
        raise invalid(f"box_index must be 1-D{s.show(box_ind.shape)}")
    if box_ind.shape[0] != boxes.shape[0]:
        raise invalid("box_index has incompatible shape")
    _check_box_indices(xp, box_ind, batch)


@by_library
def _check_box_indices(xp: Any, box_ind: Any, batch: int) -> None:
    must_be_within(box_ind, batch)


@_check_box_indices.numpy
def _(xp: Any, box_ind: Any, batch: int) -> None:
    if ((box_ind < 0) | (box_ind >= batch)).any():
        raise errors.OutOfRangeError(None, None, "box_index has values outside [0, batch_size)")


def _check_image(shape: tuple[int, ...], what: str) -> None:
    if len(shape) != 4:
        raise invalid(f"{what} must be 4-D{s.show(shape)}")
    if shape[1] <= 0 or shape[2] <= 0:
        raise invalid("image dimensions must be positive")


def _crop_size(crop_size: Any) -> tuple[int, int]:
    if np.ndim(crop_size) != 1:
        raise invalid(f"crop_size must be 1-D{s.show(np.shape(crop_size))}")
    if len(crop_size) != 2:
        raise invalid(f"crop_size must have two elements{s.show(np.shape(crop_size))}")
    height, width = (int(n) for n in crop_size)
    if height <= 0 or width <= 0:
        raise invalid("crop dimensions must be positive")
    return height, width


def _crops(c: ShapeContext) -> Dims:
    channels = s.with_rank(c.dims(0), 4)[3]
    boxes, columns = s.with_rank(c.dims(1), 2)
    boxes = s.merge_dim(boxes, s.with_rank(c.dims(2), 1)[0])
    if columns not in (None, 4):
        raise ValueError(f"Dimension must be 4 but is {columns}")
    return sized(c, boxes, channels, 3)


# ---- the operation -------------------------------------------------------------------------------


@op(
    "CropAndResize",
    inputs="image: T, boxes: float, box_ind: int32, crop_size: int32",
    outputs="crops: float",
    attrs=f"T: {_TYPES}, {_METHODS}, extrapolation_value: float = 0",
    shape=_crops,
    static="crop_size",
)
def crop_and_resize_(
    xp: Any,
    image: Any,
    boxes: Any,
    box_ind: Any,
    crop_size: Any,
    *,
    method: str,
    extrapolation_value: float,
) -> Any:
    _check_image(image.shape, "input image")
    _check_boxes(xp, boxes, box_ind, image.shape[0])
    rows, columns = _axes(xp, boxes, image.shape, _crop_size(crop_size))
    if method == "nearest":
        crops = _pixels(image, box_ind, rows.nearest(), columns.nearest())
    else:
        edges = []
        for place in (rows.lower, rows.upper):
            left = _pixels(image, box_ind, place, columns.lower)
            right = _pixels(image, box_ind, place, columns.upper)
            edges.append(left + (right - left) * _across(columns.weight))
        top, bottom = edges
        crops = top + (bottom - top) * _down(rows.weight)
    return xp.where(_reached(rows, columns), crops, F(extrapolation_value))


@crop_and_resize_.gradient
def _(op: Operation, grad: Any) -> Any:
    image, boxes, box_ind, _ = op.inputs
    dims = image.shape
    size = dims.as_list() if dims.is_fully_defined() else array.shape(image)
    to_image = None
    if image.dtype in (dtypes.float16, dtypes.float32, dtypes.float64):
        to_image = raw.CropAndResizeGradImage(
            grad, boxes, box_ind, size, T=image.dtype, method=op.get_attr("method")
        )
    return to_image, raw.CropAndResizeGradBoxes(grad, image, boxes, box_ind), None, None


# ---- its gradients -------------------------------------------------------------------------------


def _four(shape: Any) -> tuple[int, ...]:
    if np.ndim(shape) != 1:
        raise invalid(f"image_size must be 1-D{s.show(np.shape(shape))}")
    if len(shape) != 4:
        raise invalid(f"image_size must have 4 elements{s.show(np.shape(shape))}")
    return tuple(int(n) for n in shape)


def _check_grads(grads: Any, boxes: Any) -> tuple[int, int]:
    if grads.ndim != 4:
        raise invalid(f"grads image must be 4-D{s.show(grads.shape)}")
    if grads.shape[1] <= 0 or grads.shape[2] <= 0:
        raise invalid("grads dimensions must be positive")
    if grads.shape[0] != boxes.shape[0]:
        raise invalid("boxes and grads have incompatible shape")
    return grads.shape[1], grads.shape[2]


def _contributions(rows: Axis, columns: Axis, grads: Any, method: str) -> list[Any]:
    """(rows, columns, what these pixels get)"""
    if method == "nearest":
        return [(rows.nearest(), columns.nearest(), grads)]
    halves = [
        (rows.lower, grads * _down(1 - rows.weight)),
        (rows.upper, grads * _down(rows.weight)),
    ]
    return [
        (place, aside, part * _across(weight))
        for place, part in halves
        for aside, weight in ((columns.lower, 1 - columns.weight), (columns.upper, columns.weight))
    ]


@op(
    "CropAndResizeGradImage",
    inputs="grads: float, boxes: float, box_ind: int32, image_size: int32",
    outputs="output: T",
    attrs=f"T: {{float, half, double}}, {_METHODS}",
    shape=lambda c: s.with_rank(c.partial(3), 4),
    static="image_size",
)
def crop_and_resize_grad_image_(
    xp: Any, grads: Any, boxes: Any, box_ind: Any, image_size: Any, *, T: DType, method: str
) -> Any:
    shape = _four(image_size)
    crop = _check_grads(grads, boxes)
    _check_image(shape, "image_size")
    _check_boxes(xp, boxes, box_ind, shape[0])
    if grads.shape[3] != shape[3]:
        raise invalid("image_size and grads are incompatible")
    rows, columns = _axes(xp, boxes, shape, crop)
    grads = xp.where(_reached(rows, columns), grads, F(0))
    total = xp.zeros(shape, np.float64 if T == dtypes.float64 else F)
    for down, across, part in _contributions(rows, columns, grads, method):
        index = (box_ind[:, None, None], down[:, :, None], across[:, None, :])
        total = add_at(xp, total, index, part.astype(total.dtype))
    return total.astype(T.as_numpy_dtype)


@op(
    "CropAndResizeGradBoxes",
    inputs="grads: float, image: T, boxes: float, box_ind: int32",
    outputs="output: float",
    attrs=f'T: {_TYPES}, method: {{"bilinear"}} = "bilinear"',
    shape=lambda c: c.dims(2),
)
def crop_and_resize_grad_boxes_(xp: Any, grads: Any, image: Any, boxes: Any, box_ind: Any) -> Any:
    crop = _check_grads(grads, boxes)
    _check_image(image.shape, "input image")
    _check_boxes(xp, boxes, box_ind, image.shape[0])
    rows, columns = _axes(xp, boxes, image.shape, crop)
    top_left, top_right = (
        _pixels(image, box_ind, rows.lower, place) for place in (columns.lower, columns.upper)
    )
    bottom_left, bottom_right = (
        _pixels(image, box_ind, rows.upper, place) for place in (columns.lower, columns.upper)
    )
    slope = _across(columns.weight)
    along_y = (1 - slope) * (bottom_left - top_left) + slope * (bottom_right - top_right)
    slope = _down(rows.weight)
    along_x = (1 - slope) * (top_right - top_left) + slope * (bottom_right - bottom_left)
    grads = xp.where(_reached(rows, columns), grads, F(0))
    y1, y2 = _ends(xp, xp.sum(along_y * grads, axis=(2, 3)), image.shape[1], crop[0])
    x1, x2 = _ends(xp, xp.sum(along_x * grads, axis=(1, 3)), image.shape[2], crop[1])
    return xp.stack([y1, x1, y2, x2], axis=1)


def _ends(xp: Any, slopes: Any, size: int, count: int) -> tuple[Any, Any]:
    """The slopes of the first and the last place of an axis, from the slopes of all places."""
    share = np.arange(count, dtype=F) * (F(size - 1) / F(count - 1)) if count > 1 else None
    if share is None:
        share = np.full(count, 0.5 * (size - 1), F)
    return xp.sum(slopes * (F(size - 1) - share), axis=1), xp.sum(slopes * share, axis=1)


def crop_and_resize(
    image: Any,
    boxes: Any,
    box_ind: Any = None,
    crop_size: Any = None,
    method: str = "bilinear",
    extrapolation_value: float = 0,
    name: str | None = None,
    box_indices: Any = None,
) -> Tensor:
    """Cuts `boxes`, in fractions of the image that `box_ind` names, and resizes each."""
    which = deprecated_alias("box_indices", box_indices, "box_ind", box_ind)
    return crop_and_resize_(
        image, boxes, which, crop_size, method=method, extrapolation_value=extrapolation_value,
        name=name,
    )  # fmt: skip
