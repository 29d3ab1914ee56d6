"""Boxes drawn onto images, and boxes to crop images to, drawn at random."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.graph import name_scope
from weft.graph.op_def import op, raw
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.tensor import Tensor
from weft.graph.traits import HOST, NO_GRADIENT, draws
from weft.ops.kit import philox
from weft.ops.kit.shared import invalid
from weft.ops.nn.candidate_distributions import Words

F = np.float32
# Yellow, blue, red, lime, purple, olive, maroon, navy, aqua, fuchsia.
_COLORS = np.array(
    [[1, 1, 0, 1], [0, 0, 1, 1], [1, 0, 0, 1], [0, 1, 0, 1], [0.5, 0, 0.5, 1], [0.5, 0.5, 0, 1],
     [0.5, 0, 0, 1], [0, 0, 0.5, 1], [0, 1, 1, 1], [1, 0, 1, 1]], F,
)  # fmt: skip
_DEPTH = "Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA)"


# ---- drawing -------------------------------------------------------------------------------------


def _check_drawing(images: Any, boxes: Any) -> None:
    if images.ndim != 4:
        raise invalid("The rank of the images should be 4")
    if boxes.ndim != 3:
        raise invalid("The rank of the boxes tensor should be 3")
    if images.shape[0] != boxes.shape[0]:
        raise invalid("The batch sizes should be the same")
    if images.shape[3] not in (1, 3, 4):
        raise invalid(_DEPTH)
    if boxes.shape[2] != 4:
        raise invalid(
            f"The size of the third dimension of the box must be 4. Received: {boxes.shape[2]}"
        )


def _default_colors(images: Any) -> np.ndarray:
    return np.ones_like(_COLORS) if images.shape[3] == 1 else _COLORS


def _drawn(images: np.ndarray, boxes: np.ndarray, colors: np.ndarray) -> np.ndarray:
    canvas = images.copy()
    for image, image_boxes in zip(canvas, boxes, strict=True):
        for number, box in enumerate(image_boxes):
            _draw(image, box, colors[number % len(colors), : image.shape[2]].astype(image.dtype))
    return canvas


def _draw(image: np.ndarray, box: np.ndarray, color: np.ndarray) -> None:
    height, width, _ = image.shape
    scale = np.array([height - 1, width - 1, height - 1, width - 1], F)
    top, left, bottom, right = np.trunc(box.astype(F) * scale).astype(int).tolist()
    inside = top < height and bottom >= 0 and left < width and right >= 0
    if top > bottom or left > right or not inside:
        return
    rows, columns = slice(max(top, 0), bottom + 1), slice(max(left, 0), right + 1)
    for row in (top, bottom):
        if 0 <= row < height:
            image[row, columns] = color
    for column in (left, right):
        if 0 <= column < width:
            image[rows, column] = color


def _drawing_shape(c: ShapeContext) -> Dims:
    if s.with_rank(c.dims(0), 4)[3] not in (None, 1, 3, 4):
        raise ValueError(_DEPTH)
    s.with_rank(c.dims(1), 3)
    return c.dims(0)


@op(
    "DrawBoundingBoxes", inputs="images: T, boxes: float", outputs="output: T",
    attrs="T: {float, half} = float", shape=_drawing_shape, traits=HOST | NO_GRADIENT,
)  # fmt: skip
def draw_bounding_boxes_(xp: Any, images: Any, boxes: Any) -> Any:
    _check_drawing(images, boxes)
    return _drawn(images, boxes, _default_colors(images))


@op(
    "DrawBoundingBoxesV2", inputs="images: T, boxes: float, colors: float", outputs="output: T",
    attrs="T: {float, half} = float", shape=lambda c: s.with_rank_at_least(c.dims(0), 3),
    traits=HOST,
)  # fmt: skip
def draw_bounding_boxes_v2_(xp: Any, images: Any, boxes: Any, colors: Any) -> Any:
    _check_drawing(images, boxes)
    if colors.ndim != 2:
        raise invalid(f"colors must be a 2-D matrix{s.show(colors.shape)}")
    if colors.shape[1] < images.shape[3]:
        raise invalid(
            "colors must have equal or more channels than the image provided: "
            f"{s.show(colors.shape)}"
        )
    return _drawn(images, boxes, colors if colors.size else _default_colors(images))


def draw_bounding_boxes(
    images: Any, boxes: Any, name: str | None = None, colors: Any = None
) -> Tensor:
    """Images with the outlines of boxes (top, left, bottom, right as fractions) drawn on them."""
    if colors is None:
        return raw.DrawBoundingBoxes(images, boxes, name=name)
    return raw.DrawBoundingBoxesV2(images, boxes, colors, name=name)


# ---- random crops --------------------------------------------------------------------------------


class _Rectangle(NamedTuple):
    left: int
    top: int
    right: int
    bottom: int

    @property
    def area(self) -> int:
        return (self.right - self.left) * (self.bottom - self.top)

    def common_area(self, other: _Rectangle) -> int:
        left, top = max(self.left, other.left), max(self.top, other.top)
        right, bottom = min(self.right, other.right), min(self.bottom, other.bottom)
        return 0 if left > right or top > bottom else (right - left) * (bottom - top)


class _Draws:
    """Single numbers from a stream of words."""

    def __init__(self, rng: np.ndarray) -> None:
        self._words = Words(rng)

    def _next(self) -> int:
        return int(self._words.take(1)[0])

    def unit(self) -> np.float32:
        return philox.unit_float(self._words.take(1))[0]

    def below(self, bound: int) -> int:
        """An integer less than `bound`; words that would favour small ones are drawn again."""
        if bound & (bound - 1) == 0:
            return self._next() & (bound - 1)
        rest = (2**32 - 1) % bound + 1
        while (word := self._next()) < rest:
            pass
        return word % bound


def _rounded(x: Any) -> int:
    return int(np.rint(F(x)))


def _random_crop(
    width: int, height: int, areas: tuple[np.float32, np.float32], ratio: np.float32, draws: _Draws
) -> _Rectangle | None:
    """A place for a crop whose width is `ratio` times its height, if the limits leave room."""
    if areas[1] <= 0 or ratio <= 0 or width <= 0 or height <= 0 or areas[0] > areas[1]:
        return None
    least, most = (area * F(width) * F(height) for area in areas)
    high, highest = (_rounded(np.sqrt(area / ratio)) for area in (least, most))
    if _rounded(F(highest) * ratio) > width:
        highest = int((width + 0.5 - float(F(1e-7))) / float(ratio))
    highest = min(highest, height)
    high = min(high, highest)
    if high < highest:
        high += draws.below(highest - high + 1)
    wide = _rounded(F(high) * ratio)
    for step, wrong in ((1, lambda area: area < least), (-1, lambda area: area > most)):
        if wrong(F(wide * high)):  # by rounding
            high += step
            wide = _rounded(F(high) * ratio)
    fits = least <= F(wide * high) <= most and 0 < wide <= width and 0 < high <= height
    if not fits:
        return None
    top = draws.below(height - high) if high < height else 0
    left = draws.below(width - wide) if wide < width else 0
    return _Rectangle(left, top, left + wide, top + high)


def _covers(crop: _Rectangle, least: Any, objects: list[_Rectangle]) -> bool:
    """Whether enough of some object is in the crop."""
    if crop.area < 1:
        return False
    return any(
        F(crop.common_area(each)) / F(each.area) >= least for each in objects if each.area >= 1
    )


def _check_ranges(attrs: dict[str, Any]) -> None:
    ratios, areas = attrs["aspect_ratio_range"], attrs["area_range"]
    if len(ratios) != 2:
        raise invalid("Aspect ratio range field must specify 2 dimensions")
    if min(ratios) <= 0:
        raise invalid(f"Aspect ratio range must be non-negative: [{ratios[0]:g}, {ratios[1]:g}]")
    if len(areas) != 2:
        raise invalid("Area range field must specify 2 dimensions")
    if min(areas) <= 0:
        raise invalid(f"Area range must be non-negative: [{areas[0]:g}, {areas[1]:g}]")
    if max(areas) > 1:
        raise invalid(f"Area range must be less then or equal to 1.0: [{areas[0]:g}, {areas[1]:g}]")
    if attrs["max_attempts"] <= 0:
        raise invalid(f"Max attempts must be non-negative: {attrs['max_attempts']}")


def _objects(size: Any, boxes: Any, use_image: bool) -> list[_Rectangle]:
    if boxes.ndim != 3:
        raise invalid(
            f"input boxes must be 3-dimensional [batch, num_boxes, coords]: {s.show(boxes.shape)}"
        )
    if boxes.shape[-1] != 4:
        raise invalid(f"bounding boxes must have shape [4] or [*, 4], got {s.show(boxes.shape)}")
    height, width = size
    found = []
    for box in boxes.reshape(-1, 4):
        for value in box:
            if not 0 <= value <= 1:
                raise invalid(f"All bounding box coordinates must be in [0.0, 1.0]: {value:g}")
        top, left, bottom, right = box * np.array([height, width, height, width], F)
        found.append(_Rectangle(int(left), int(top), int(right), int(bottom)))
    if not found and not use_image:
        raise invalid(
            "No bounding boxes provided as input. One must enable use_image_if_no_bounding_boxes"
            " if you wish to not provide any bounding boxes."
        )
    return found or [_Rectangle(0, 0, width, height)]


def _sample(rng: Any, image_size: Any, boxes: Any, covered: Any, attrs: dict[str, Any]) -> Any:
    _check_ranges(attrs)
    if covered < 0:
        raise invalid(f"Min object covered must be non-negative: {covered:g}")
    if image_size.ndim != 1:
        raise invalid(f"image_size must be 1-dimensional{s.show(image_size.shape)}")
    if len(image_size) != 3:
        raise invalid(f"image_size must contain 3 elements{s.show(image_size.shape)}")
    height, width = int(image_size[0]), int(image_size[1])
    objects = _objects((height, width), boxes, attrs["use_image_if_no_bounding_boxes"])
    low, high = (F(x) for x in attrs["aspect_ratio_range"])
    areas = F(attrs["area_range"][0]), F(attrs["area_range"][1])
    draws, chosen = _Draws(rng), _Rectangle(0, 0, width, height)
    for _ in range(attrs["max_attempts"]):
        ratio = draws.unit() * (high - low) + low
        crop = _random_crop(width, height, areas, ratio, draws)
        if crop is not None and _covers(crop, covered, objects):
            chosen = crop
            break
    left, top, right, bottom = chosen
    begin = np.array([top, left, 0]).astype(image_size.dtype)
    size = np.array([bottom - top, right - left, -1]).astype(image_size.dtype)
    box = np.array([top, left, bottom, right], F) / np.array([height, width] * 2, F)
    return begin, size, box.reshape(1, 1, 4)


def _sample_shape(c: ShapeContext) -> list[Dims]:
    (length,) = s.with_rank(c.dims(0), 1)
    columns = s.with_rank(c.dims(1), 3)[2]
    if c.num_inputs == 3:
        s.with_rank(c.dims(2), 0)
    for got, wanted in ((length, 3), (columns, 4)):
        if got not in (None, wanted):
            raise ValueError(f"Dimension must be {wanted} but is {got}")
    return [(3,), (3,), (1, 1, 4)]


_SEEDS = "T: {uint8, int8, int16, int32, int64}, seed: int = 0, seed2: int = 0"
_RANGES = (
    "aspect_ratio_range: list(float) = [0.75, 1.33], area_range: list(float) = [0.05, 1],"
    " max_attempts: int = 100, use_image_if_no_bounding_boxes: bool = false"
)


def _blocks(dims: Any, attrs: dict[str, Any]) -> int:
    return attrs["max_attempts"]


@op(
    "SampleDistortedBoundingBox", inputs="image_size: T, bounding_boxes: float",
    outputs="begin: T, size: T, bboxes: float",
    attrs=f"{_SEEDS}, min_object_covered: float = 0.1, {_RANGES}",
    shape=_sample_shape, traits=HOST | draws(_blocks) | NO_GRADIENT,
)  # fmt: skip
def sample_distorted_bounding_box_(
    xp: Any, rng: Any, image_size: Any, bounding_boxes: Any, *, min_object_covered: float,
    aspect_ratio_range: list[float], area_range: list[float], max_attempts: int,
    use_image_if_no_bounding_boxes: bool,
) -> Any:  # fmt: skip
    attrs = {
        "aspect_ratio_range": aspect_ratio_range, "area_range": area_range,
        "max_attempts": max_attempts,
        "use_image_if_no_bounding_boxes": use_image_if_no_bounding_boxes,
    }  # fmt: skip
    return _sample(rng, image_size, bounding_boxes, F(min_object_covered), attrs)


@op(
    "SampleDistortedBoundingBoxV2",
    inputs="image_size: T, bounding_boxes: float, min_object_covered: float",
    outputs="begin: T, size: T, bboxes: float", attrs=f"{_SEEDS}, {_RANGES}",
    shape=_sample_shape, traits=HOST | draws(_blocks) | NO_GRADIENT,
)  # fmt: skip
def sample_distorted_bounding_box_v2_(
    xp: Any, rng: Any, image_size: Any, bounding_boxes: Any, min_object_covered: Any, *,
    aspect_ratio_range: list[float], area_range: list[float], max_attempts: int,
    use_image_if_no_bounding_boxes: bool,
) -> Any:  # fmt: skip
    if np.ndim(min_object_covered):
        got = s.show(np.shape(min_object_covered))
        raise invalid(f"min_object_covered must be 0-D, got shape {got}")
    attrs = {
        "aspect_ratio_range": aspect_ratio_range, "area_range": area_range,
        "max_attempts": max_attempts,
        "use_image_if_no_bounding_boxes": use_image_if_no_bounding_boxes,
    }  # fmt: skip
    return _sample(rng, image_size, bounding_boxes, min_object_covered, attrs)


def sample_distorted_bounding_box(
    image_size: Any,
    bounding_boxes: Any,
    seed: int | None = None,
    seed2: int | None = None,
    min_object_covered: Any = 0.1,
    aspect_ratio_range: Any = None,
    area_range: Any = None,
    max_attempts: int | None = None,
    use_image_if_no_bounding_boxes: bool | None = None,
    name: str | None = None,
) -> Any:
    """(begin, size, box): a crop drawn at random that shows enough of one of the objects.

    Args:
        image_size: [height, width, channels].
        bounding_boxes: the objects, [1, n, 4]: edges as fractions (top, left, bottom, right).
        seed, seed2: make the draw repeatable.
        min_object_covered: how much of an object the crop must show.
        aspect_ratio_range: of width over height; None: from 0.75 to 1.33.
        area_range: of the fraction of the image; None: from 0.05 to 1.
        max_attempts: before the whole image is taken; None: 100.
        use_image_if_no_bounding_boxes: take the whole image as the object.
        name: of the operation.

    Returns:
        A named tuple for `tf.slice`: where the crop begins and its size; and its box for
        `tf.image.draw_bounding_boxes`.

    Raises:
        tf.errors.InvalidArgumentError: from the step: there is no box, or one is not inside.

    Example:
        >>> boxes = tf.constant([[[0.0, 0.0, 1.0, 1.0]]])
        >>> begin, size, box = tf.image.sample_distorted_bounding_box([8, 8, 3], boxes)
        >>> session.run(tf.slice(tf.ones([8, 8, 3]), begin, size)).shape[2]
        3
    """
    given = {
        "seed": seed, "seed2": seed2, "aspect_ratio_range": aspect_ratio_range,
        "area_range": area_range, "max_attempts": max_attempts,
        "use_image_if_no_bounding_boxes": use_image_if_no_bounding_boxes,
    }  # fmt: skip
    attrs = {key: value for key, value in given.items() if value is not None}
    with name_scope(name, "sample_distorted_bounding_box"):
        return raw.SampleDistortedBoundingBoxV2(
            image_size, bounding_boxes, min_object_covered, name=name, **attrs
        )
