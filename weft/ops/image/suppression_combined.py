"""Non-maximum suppression within each of several classes, for a batch of images."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core import dtypes
from weft.graph import shape_fn as s
from weft.graph.graph import name_scope
from weft.graph.op_def import op, raw
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.traits import HOST, NO_GRADIENT
from weft.ops.image.box_overlap import check_scalars, check_threshold, overlap_of, select_in_order
from weft.ops.image.suppression import LOWEST, size_given, thresholds
from weft.ops.kit.shared import invalid


def _combined_shape(c: ShapeContext) -> list[Dims]:
    batch, anchors, per_class, columns = s.with_rank(c.dims(0), 4)
    scores_batch, scores_anchors, classes = s.with_rank(c.dims(1), 3)
    for i in range(2, 6):
        s.with_rank(c.dims(i), 0)
    s.merge_dim(batch, scores_batch)
    s.merge_dim(anchors, scores_anchors)
    if columns not in (None, 4):
        raise ValueError(f"Dimension must be 4 but is {columns}")
    if per_class is not None and classes is not None and per_class not in (1, classes):
        raise ValueError(
            "third dimension of boxes must be either 1 or equal to the third dimension of scores"
        )
    total, each = size_given(c, 3), size_given(c, 2)
    if total is not None and total <= 0:
        raise ValueError("max_total_size should be > 0 ")
    if c.attr("pad_per_class"):
        known = None not in (total, each, classes)
        total = min(total, each * classes) if known else None  # type: ignore[type-var,operator]
    return [(batch, total, 4), (batch, total), (batch, total), (batch,)]


def _check_combined(boxes: Any, scores: Any, per_class: Any, total: Any, threshold: Any) -> None:
    if len(boxes) != len(scores):
        raise invalid("boxes and scores must have same batch size")
    check_scalars(max_size_per_class=per_class, max_total_size=total, iou_threshold=threshold)
    if per_class <= 0:
        raise invalid("max_size_per_class must be positive")
    if total <= 0:
        raise invalid("max_total_size must be > 0")
    check_threshold(threshold)
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
    shape=_combined_shape, traits=HOST | NO_GRADIENT,
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
    for number in range(scores.shape[1]) if len(scores) else ():
        of_class = boxes[:, number if boxes.shape[1] > 1 else 0]
        score = scores[:, number]
        kept = select_in_order(score, overlap_of(of_class), each, least, lambda x: x > limit)
        marks = np.full((len(kept), 1), number, np.float32)
        rows.append(np.concatenate([of_class[kept], score[kept, None], marks], axis=1))
    return np.concatenate(rows)


def combined_non_max_suppression(
    boxes: Any,
    scores: Any,
    max_output_size_per_class: Any,
    max_total_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = LOWEST,
    pad_per_class: bool = False,
    clip_boxes: bool = True,
    name: str | None = None,
) -> Any:
    """Boxes, scores, classes and their number for every image, best first over all classes."""
    with name_scope(name, "combined_non_max_suppression"):
        limits = thresholds(iou_threshold, score_threshold, dtypes.float32)
        return raw.CombinedNonMaxSuppression(
            boxes, scores, max_output_size_per_class, max_total_size, *limits,
            pad_per_class=pad_per_class, clip_boxes=clip_boxes,
        )  # fmt: skip
