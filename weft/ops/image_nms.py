"""Non-maximum suppression: of boxes that overlap, the one with the highest score stays.

Boxes are given by two opposite corners, (y, x) each. Of equal scores the earlier box goes first.
How many boxes stay depends on their values, so all of this runs on the host.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.graph import shape_fn as s
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import name_scope
from weft.graph.op_def import op, raw
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.tensor import Tensor
from weft.ops.kernels import invalid

# From a box and others to how much of both each pair has in common.
Similarity = Callable[[int, np.ndarray], np.ndarray]

_LOWEST = float("-inf")
_TYPES = "T: {half, float} = float"
_BOTH_TYPES = f"{_TYPES}, T_threshold: {{half, float}} = float"


# ---- the algorithm -------------------------------------------------------------------------------


def _overlap_of(boxes: np.ndarray) -> Similarity:
    """Intersection over union; 0 with a box that is empty."""
    low = np.minimum(boxes[:, :2], boxes[:, 2:])
    high = np.maximum(boxes[:, :2], boxes[:, 2:])
    area = (high - low).prod(axis=1)

    def similarity(box: int, others: np.ndarray) -> np.ndarray:
        sides = np.minimum(high[box], high[others]) - np.maximum(low[box], low[others])
        common = np.maximum(sides, 0).prod(axis=1)
        union = area[box] + area[others] - common
        usable = (area[others] > 0) & (area[box] > 0)
        return np.where(usable, common / np.where(usable, union, 1), 0).astype(boxes.dtype)

    return similarity


def _by_score(scores: np.ndarray, least: Any) -> np.ndarray:
    candidates = np.flatnonzero(scores > least)
    return candidates[np.argsort(-scores[candidates], kind="stable")]


def _hard(
    scores: np.ndarray,
    similarity: Similarity,
    count: int,
    least: Any,
    suppressed: Callable[[Any], Any],
) -> list[int]:
    """Takes the best box that is left, and drops what is too similar to it."""
    left = _by_score(scores, least)
    selected: list[int] = []
    while left.size and len(selected) < count:
        best, left = int(left[0]), left[1:]
        selected.append(best)
        left = left[~suppressed(similarity(best, left))]
    return selected


def _soft(
    scores: np.ndarray, similarity: Similarity, count: int, limit: Any, least: Any, sigma: Any
) -> tuple[list[int], list[Any]]:
    """Lowers the score of a box for every better one that it overlaps, instead of dropping it.

    A box comes up again with its lower score; `seen` is how many of the selected it has met.
    """
    kind = scores.dtype.type
    scale = kind(-0.5) / kind(sigma)
    heap = [(-scores[box], int(box), 0) for box in _by_score(scores, least)]
    selected: list[int] = []
    kept: list[Any] = []
    while heap and len(selected) < count:
        negative, box, seen = heapq.heappop(heap)
        score = before = -negative
        hard = False
        if seen < len(selected):
            for common in similarity(box, np.array(selected[seen:]))[::-1]:
                if common >= limit:
                    hard = True
                    break
                score = kind(score * kind(np.exp(np.float32(scale * common * common))))
                if score <= least:
                    break
        if hard:
            continue
        if score == before:
            selected.append(box)
            kept.append(score)
        elif score > least:
            heapq.heappush(heap, (-score, box, len(selected)))
    return selected, kept


# ---- checks --------------------------------------------------------------------------------------


def _check_scalars(**scalars: Any) -> None:
    for name, value in scalars.items():
        if np.ndim(value):
            raise invalid(f"{name} must be 0-D, got shape {s.show(np.shape(value))}")


def _check_threshold(value: Any) -> None:
    if not 0 <= value <= 1:
        raise invalid("iou_threshold must be in [0, 1]")


def _check_boxes(boxes: np.ndarray, scores: np.ndarray) -> None:
    if boxes.ndim != 2:
        raise invalid(f"boxes must be 2-D{s.show(boxes.shape)}")
    if boxes.shape[1] != 4:
        raise invalid("boxes must have 4 columns")
    _check_scores(scores, len(boxes))


def _check_scores(scores: np.ndarray, count: int) -> None:
    if scores.ndim != 1:
        raise invalid(f"scores must be 1-D{s.show(scores.shape)}")
    if len(scores) != count:
        raise invalid("scores has incompatible shape")


def _count(max_output_size: Any) -> int:
    _check_scalars(max_output_size=max_output_size)
    if max_output_size < 0:
        raise invalid("output size must be non-negative")
    return int(max_output_size)


def _selected(
    boxes: Any, scores: Any, max_output_size: Any, iou_threshold: Any, score_threshold: Any
) -> list[int]:
    _check_scalars(iou_threshold=iou_threshold, score_threshold=score_threshold)
    count = _count(max_output_size)
    _check_threshold(iou_threshold)
    _check_boxes(boxes, scores)
    limit = scores.dtype.type(iou_threshold)
    return _hard(scores, _overlap_of(boxes), count, score_threshold, lambda x: x >= limit)


def _indices(selected: list[int], count: int | None = None) -> np.ndarray:
    """As an array, padded with zeros to `count`."""
    padding = [] if count is None else [0] * (count - len(selected))
    return np.array([*selected, *padding], np.int32)


# ---- shapes --------------------------------------------------------------------------------------


def _boxes_and_scores(c: ShapeContext) -> Dims:
    boxes, columns = s.with_rank(c.dims(0), 2)
    s.merge_dim(boxes, s.with_rank(c.dims(1), 1)[0])
    for i in range(2, c.num_inputs):
        s.with_rank(c.dims(i), 0)
    if columns not in (None, 4):
        raise ValueError(f"Dimension must be 4 but is {columns}")
    return (None,)


def _size_given(c: ShapeContext, i: int) -> int | None:
    value = c.value(i)
    if value is not None and value < 0:
        raise ValueError(
            f"Dimension size, given by scalar input {i}, must be non-negative but is {int(value)}"
        )
    return None if value is None else int(value)


def _padded(c: ShapeContext) -> list[Dims]:
    dims = _boxes_and_scores(c)
    if c.attr("pad_to_max_output_size"):
        dims = (_size_given(c, 2),)
    return [dims] * (c.num_outputs - 1) + [()]


def _overlaps(c: ShapeContext) -> Dims:
    rows, columns = s.with_rank(c.dims(0), 2)
    s.merge_dim(rows, s.with_rank(c.dims(1), 1)[0])
    for i in range(2, c.num_inputs):
        s.with_rank(c.dims(i), 0)
    s.merge_dim(rows, columns)
    return (None,)


# ---- ops -----------------------------------------------------------------------------------------


@op(
    "NonMaxSuppression", inputs="boxes: float, scores: float, max_output_size: int32",
    outputs="selected_indices: int32", attrs="iou_threshold: float = 0.5",
    shape=_boxes_and_scores, runs_on="host", differentiable=False,
)  # fmt: skip
def non_max_suppression_(
    xp: Any, boxes: Any, scores: Any, max_output_size: Any, *, iou_threshold: float
) -> Any:
    least = np.finfo(scores.dtype).min
    return _indices(_selected(boxes, scores, max_output_size, np.float32(iou_threshold), least))


@op(
    "NonMaxSuppressionV2",
    inputs="boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold",
    outputs="selected_indices: int32", attrs=_BOTH_TYPES,
    shape=_boxes_and_scores, runs_on="host", differentiable=False,
)  # fmt: skip
def non_max_suppression_v2_(
    xp: Any, boxes: Any, scores: Any, max_output_size: Any, iou_threshold: Any
) -> Any:
    least = np.finfo(scores.dtype).min
    return _indices(_selected(boxes, scores, max_output_size, iou_threshold, least))


@op(
    "NonMaxSuppressionV3",
    inputs="boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold,"
    " score_threshold: T_threshold",
    outputs="selected_indices: int32", attrs=_BOTH_TYPES,
    shape=_boxes_and_scores, runs_on="host", differentiable=False,
)  # fmt: skip
def non_max_suppression_v3_(
    xp: Any, boxes: Any, scores: Any, max_output_size: Any, iou_threshold: Any,
    score_threshold: Any,
) -> Any:  # fmt: skip
    return _indices(_selected(boxes, scores, max_output_size, iou_threshold, score_threshold))


@op(
    "NonMaxSuppressionV4",
    inputs="boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold,"
    " score_threshold: T_threshold",
    outputs="selected_indices: int32, valid_outputs: int32",
    attrs=f"{_BOTH_TYPES}, pad_to_max_output_size: bool = false",
    shape=_padded, runs_on="host", differentiable=False,
)  # fmt: skip
def non_max_suppression_v4_(
    xp: Any, boxes: Any, scores: Any, max_output_size: Any, iou_threshold: Any,
    score_threshold: Any, *, pad_to_max_output_size: bool,
) -> Any:  # fmt: skip
    selected = _selected(boxes, scores, max_output_size, iou_threshold, score_threshold)
    count = int(max_output_size) if pad_to_max_output_size else None
    return _indices(selected, count), np.array(len(selected), np.int32)


@op(
    "NonMaxSuppressionV5",
    inputs="boxes: T, scores: T, max_output_size: int32, iou_threshold: T, score_threshold: T,"
    " soft_nms_sigma: T",
    outputs="selected_indices: int32, selected_scores: T, valid_outputs: int32",
    attrs=f"{_TYPES}, pad_to_max_output_size: bool = false",
    shape=_padded, runs_on="host", differentiable=False,
)  # fmt: skip
def non_max_suppression_v5_(
    xp: Any, boxes: Any, scores: Any, max_output_size: Any, iou_threshold: Any,
    score_threshold: Any, soft_nms_sigma: Any, *, pad_to_max_output_size: bool,
) -> Any:  # fmt: skip
    _check_scalars(
        iou_threshold=iou_threshold, score_threshold=score_threshold, soft_nms_sigma=soft_nms_sigma
    )
    if soft_nms_sigma < 0:
        raise invalid("soft_nms_sigma_val must be >= 0")
    if soft_nms_sigma == 0:
        selected = _selected(boxes, scores, max_output_size, iou_threshold, score_threshold)
        kept = list(scores[selected])
    else:
        count = _count(max_output_size)
        _check_threshold(iou_threshold)
        _check_boxes(boxes, scores)
        selected, kept = _soft(
            scores, _overlap_of(boxes), count, iou_threshold, score_threshold, soft_nms_sigma
        )
    size = int(max_output_size) if pad_to_max_output_size else len(kept)
    found = np.zeros(size, scores.dtype)
    found[: len(kept)] = kept
    return _indices(selected, size), found, np.array(len(selected), np.int32)


@op(
    "NonMaxSuppressionWithOverlaps",
    inputs="overlaps: float, scores: float, max_output_size: int32, overlap_threshold: float,"
    " score_threshold: float",
    outputs="selected_indices: int32", attrs="",
    shape=_overlaps, runs_on="host", differentiable=False,
)  # fmt: skip
def non_max_suppression_with_overlaps_(
    xp: Any, overlaps: Any, scores: Any, max_output_size: Any, overlap_threshold: Any,
    score_threshold: Any,
) -> Any:  # fmt: skip
    _check_scalars(overlap_threshold=overlap_threshold, score_threshold=score_threshold)
    count = _count(max_output_size)
    if overlaps.ndim != 2:
        raise invalid(f"overlaps must be 2-D{s.show(overlaps.shape)}")
    if overlaps.shape[0] != overlaps.shape[1]:
        raise invalid(f"overlaps must be square{s.show(overlaps.shape)}")
    _check_scores(scores, len(overlaps))
    return _indices(
        _hard(
            scores, lambda box, others: overlaps[others, box], count, score_threshold,
            lambda x: x >= overlap_threshold,
        )
    )  # fmt: skip


def _combined_shape(c: ShapeContext) -> list[Dims]:
    batch, anchors, per_class, columns = s.with_rank(c.dims(0), 4)
    scores_batch, scores_anchors, classes = s.with_rank(c.dims(1), 3)
    for i in range(2, 6):
        s.with_rank(c.dims(i), 0)
    batch = s.merge_dim(batch, scores_batch)
    s.merge_dim(anchors, scores_anchors)
    if columns not in (None, 4):
        raise ValueError(f"Dimension must be 4 but is {columns}")
    if per_class is not None and classes is not None and per_class not in (1, classes):
        raise ValueError(
            "third dimension of boxes must be either 1 or equal to the third dimension of scores"
        )
    total, each = _size_given(c, 3), _size_given(c, 2)
    if total is not None and total <= 0:
        raise ValueError("max_total_size should be > 0 ")
    if c.attr("pad_per_class"):
        known = None not in (total, each, classes)
        total = min(total, each * classes) if known else None  # type: ignore[type-var,operator]
    return [(batch, total, 4), (batch, total), (batch, total), (batch,)]


def _check_combined(boxes: Any, scores: Any, per_class: Any, total: Any, threshold: Any) -> None:
    if len(boxes) != len(scores):
        raise invalid("boxes and scores must have same batch size")
    _check_scalars(max_size_per_class=per_class, max_total_size=total, iou_threshold=threshold)
    if per_class <= 0:
        raise invalid("max_size_per_class must be positive")
    if total <= 0:
        raise invalid("max_total_size must be > 0")
    _check_threshold(threshold)
    if boxes.ndim != 4:
        raise invalid(f"boxes must be 4-D{s.show(boxes.shape)}")
    if boxes.shape[2] not in (1, scores.shape[2]):
        raise invalid("third dimension of boxes must be either 1 or num classes")
    if boxes.shape[3] != 4:
        raise invalid("boxes must have 4 columns")
    if scores.ndim != 3:
        raise invalid(f"scores must be 3-D{s.show(scores.shape)}")
    if scores.shape[1] != boxes.shape[1]:
        raise invalid("scores has incompatible shape")


@op(
    "CombinedNonMaxSuppression",
    inputs="boxes: float, scores: float, max_output_size_per_class: int32,"
    " max_total_size: int32, iou_threshold: float, score_threshold: float",
    outputs="nmsed_boxes: float, nmsed_scores: float, nmsed_classes: float,"
    " valid_detections: int32",
    attrs="pad_per_class: bool = false, clip_boxes: bool = true",
    shape=_combined_shape, runs_on="host", differentiable=False,
)  # fmt: skip
def combined_non_max_suppression_(
    xp: Any, boxes: Any, scores: Any, max_output_size_per_class: Any, max_total_size: Any,
    iou_threshold: Any, score_threshold: Any, *, pad_per_class: bool, clip_boxes: bool,
) -> Any:  # fmt: skip
    _check_combined(boxes, scores, max_output_size_per_class, max_total_size, iou_threshold)
    each, total = int(max_output_size_per_class), int(max_total_size)
    if pad_per_class:
        total = min(total, each * scores.shape[2])
    found = np.zeros((len(boxes), total, 6), np.float32)  # box, score, class
    valid = np.zeros(len(boxes), np.int32)
    for i, (image_boxes, image_scores) in enumerate(zip(boxes, scores, strict=True)):
        rows = _all_classes(image_boxes, image_scores, each, iou_threshold, score_threshold)
        rows = rows[np.argsort(-rows[:, 4], kind="stable")][:total]
        found[i, : len(rows)], valid[i] = rows, len(rows)
    kept = np.clip(found[..., :4], 0, 1) if clip_boxes else found[..., :4]
    return kept, found[..., 4], found[..., 5], valid


def _all_classes(boxes: Any, scores: Any, each: int, limit: Any, least: Any) -> np.ndarray:
    """Rows of box, score and class of what stays within each class."""
    rows = [np.zeros((0, 6), np.float32)]
    for number in range(scores.shape[1]):
        of_class = boxes[:, number if boxes.shape[1] > 1 else 0]
        score = scores[:, number]
        kept = _hard(score, _overlap_of(of_class), each, least, lambda x: x > limit)
        marks = np.full((len(kept), 1), number, np.float32)
        rows.append(np.concatenate([of_class[kept], score[kept, None], marks], axis=1))
    return np.concatenate(rows)


# ---- public functions ----------------------------------------------------------------------------


def non_max_suppression(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = _LOWEST,
    name: str | None = None,
) -> Tensor:
    """The indices of the boxes that stay, best first."""
    with name_scope(name, "non_max_suppression"):
        limit = convert_to_tensor(iou_threshold, name="iou_threshold")
        least = convert_to_tensor(score_threshold, name="score_threshold")
        return raw.NonMaxSuppressionV3(boxes, scores, max_output_size, limit, least)


def non_max_suppression_with_scores(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = _LOWEST,
    soft_nms_sigma: Any = 0.0,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """The indices of the boxes that stay, and their scores, lowered by `soft_nms_sigma`."""
    with name_scope(name, "non_max_suppression_with_scores"):
        limit = convert_to_tensor(iou_threshold, name="iou_threshold")
        least = convert_to_tensor(score_threshold, name="score_threshold")
        sigma = convert_to_tensor(soft_nms_sigma, name="soft_nms_sigma")
        selected, kept, _ = raw.NonMaxSuppressionV5(
            boxes, scores, max_output_size, limit, least, sigma, pad_to_max_output_size=False
        )
        return selected, kept


def non_max_suppression_padded(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = _LOWEST,
    pad_to_max_output_size: bool = False,
    name: str | None = None,
) -> Any:
    """The indices of the boxes that stay, if asked padded with zeros, and their number."""
    with name_scope(name, "non_max_suppression_padded"):
        limit = convert_to_tensor(iou_threshold, name="iou_threshold")
        least = convert_to_tensor(score_threshold, name="score_threshold")
        return raw.NonMaxSuppressionV4(
            boxes, scores, max_output_size, limit, least,
            pad_to_max_output_size=pad_to_max_output_size,
        )  # fmt: skip


def non_max_suppression_overlaps(
    overlaps: Any,
    scores: Any,
    max_output_size: Any,
    overlap_threshold: Any = 0.5,
    score_threshold: Any = _LOWEST,
    name: str | None = None,
) -> Tensor:
    """The indices of the boxes that stay, from a matrix of how much any two overlap."""
    with name_scope(name, "non_max_suppression_overlaps"):
        limit = convert_to_tensor(overlap_threshold, name="overlap_threshold")
        return raw.NonMaxSuppressionWithOverlaps(
            overlaps, scores, max_output_size, limit, score_threshold
        )


def combined_non_max_suppression(
    boxes: Any,
    scores: Any,
    max_output_size_per_class: Any,
    max_total_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = _LOWEST,
    pad_per_class: bool = False,
    clip_boxes: bool = True,
    name: str | None = None,
) -> Any:
    """Boxes, scores, classes and their number for every image, best first over all classes."""
    with name_scope(name, "combined_non_max_suppression"):
        limit = convert_to_tensor(iou_threshold, dtype=dtypes.float32, name="iou_threshold")
        least = convert_to_tensor(score_threshold, dtype=dtypes.float32, name="score_threshold")
        return raw.CombinedNonMaxSuppression(
            boxes, scores, max_output_size_per_class, max_total_size, limit, least,
            pad_per_class=pad_per_class, clip_boxes=clip_boxes,
        )  # fmt: skip
