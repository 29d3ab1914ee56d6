"""Non-maximum suppression: of boxes that overlap, the one with the highest score stays.

Boxes are given by two opposite corners, (y, x) each.
How many boxes stay depends on their values, so all of this runs on the host.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import name_scope
from weft.graph.op_def import op, raw
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.tensor import Tensor
from weft.graph.traits import HOST, NO_GRADIENT
from weft.ops.image.box_overlap import (
    as_indices,
    check_boxes,
    check_scalars,
    check_scores,
    check_threshold,
    output_size,
    overlap_of,
    select,
    select_hard,
    select_soft,
)
from weft.ops.kit.shared import invalid

LOWEST = float("-inf")
_TYPES = "T: {half, float} = float"
_BOTH_TYPES = f"{_TYPES}, T_threshold: {{half, float}} = float"


# ---- shapes --------------------------------------------------------------------------------------


def _boxes_and_scores(c: ShapeContext) -> Dims:
    boxes, columns = s.with_rank(c.dims(0), 2)
    s.merge_dim(boxes, s.with_rank(c.dims(1), 1)[0])
    for i in range(2, c.num_inputs):
        s.with_rank(c.dims(i), 0)
    if columns not in (None, 4):
        raise ValueError(f"Dimension must be 4 but is {columns}")
    return (None,)


def size_given(c: ShapeContext, i: int) -> int | None:
    value = c.value(i)
    if value is not None and value < 0:
        raise ValueError(
            f"Dimension size, given by scalar input {i}, must be non-negative but is {int(value)}"
        )
    return None if value is None else int(value)


def _padded(c: ShapeContext) -> list[Dims]:
    dims = _boxes_and_scores(c)
    if c.attr("pad_to_max_output_size"):
        dims = (size_given(c, 2),)
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
    shape=_boxes_and_scores, traits=HOST | NO_GRADIENT,
)  # fmt: skip
def non_max_suppression_(
    xp: Any, boxes: Any, scores: Any, max_output_size: Any, *, iou_threshold: float
) -> Any:
    least = np.finfo(scores.dtype).min
    return as_indices(select(boxes, scores, max_output_size, np.float32(iou_threshold), least))


@op(
    "NonMaxSuppressionV2",
    inputs="boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold",
    outputs="selected_indices: int32", attrs=_BOTH_TYPES,
    shape=_boxes_and_scores, traits=HOST | NO_GRADIENT,
)  # fmt: skip
def non_max_suppression_v2_(
    xp: Any, boxes: Any, scores: Any, max_output_size: Any, iou_threshold: Any
) -> Any:
    least = np.finfo(scores.dtype).min
    return as_indices(select(boxes, scores, max_output_size, iou_threshold, least))


@op(
    "NonMaxSuppressionV3",
    inputs="boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold,"
    " score_threshold: T_threshold",
    outputs="selected_indices: int32", attrs=_BOTH_TYPES,
    shape=_boxes_and_scores, traits=HOST,
)  # fmt: skip
def non_max_suppression_v3_(
    xp: Any, boxes: Any, scores: Any, max_output_size: Any, iou_threshold: Any,
    score_threshold: Any,
) -> Any:  # fmt: skip
    return as_indices(select(boxes, scores, max_output_size, iou_threshold, score_threshold))


@op(
    "NonMaxSuppressionV4",
    inputs="boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold,"
    " score_threshold: T_threshold",
    outputs="selected_indices: int32, valid_outputs: int32",
    attrs=f"{_BOTH_TYPES}, pad_to_max_output_size: bool = false",
    shape=_padded, traits=HOST,
)  # fmt: skip
def non_max_suppression_v4_(
    xp: Any, boxes: Any, scores: Any, max_output_size: Any, iou_threshold: Any,
    score_threshold: Any, *, pad_to_max_output_size: bool,
) -> Any:  # fmt: skip
    selected = select(boxes, scores, max_output_size, iou_threshold, score_threshold)
    count = int(max_output_size) if pad_to_max_output_size else None
    return as_indices(selected, count), np.array(len(selected), np.int32)


@op(
    "NonMaxSuppressionV5",
    inputs="boxes: T, scores: T, max_output_size: int32, iou_threshold: T, score_threshold: T,"
    " soft_nms_sigma: T",
    outputs="selected_indices: int32, selected_scores: T, valid_outputs: int32",
    attrs=f"{_TYPES}, pad_to_max_output_size: bool = false",
    shape=_padded, traits=HOST,
)  # fmt: skip
def non_max_suppression_v5_(
    xp: Any, boxes: Any, scores: Any, max_output_size: Any, iou_threshold: Any,
    score_threshold: Any, soft_nms_sigma: Any, *, pad_to_max_output_size: bool,
) -> Any:  # fmt: skip
    check_scalars(
        iou_threshold=iou_threshold, score_threshold=score_threshold, soft_nms_sigma=soft_nms_sigma
    )
    if soft_nms_sigma < 0:
        raise invalid("soft_nms_sigma_val must be >= 0")
    if soft_nms_sigma == 0:
        selected = select(boxes, scores, max_output_size, iou_threshold, score_threshold)
        kept = list(scores[selected])
    else:
        count = output_size(max_output_size)
        check_threshold(iou_threshold)
        check_boxes(boxes, scores)
        selected, kept = select_soft(
            scores, overlap_of(boxes), count, iou_threshold, score_threshold, soft_nms_sigma
        )
    size = int(max_output_size) if pad_to_max_output_size else len(kept)
    found = np.zeros(size, scores.dtype)
    found[: len(kept)] = kept
    return as_indices(selected, size), found, np.array(len(selected), np.int32)


@op(
    "NonMaxSuppressionWithOverlaps",
    inputs="overlaps: float, scores: float, max_output_size: int32, overlap_threshold: float,"
    " score_threshold: float",
    outputs="selected_indices: int32", attrs="",
    shape=_overlaps, traits=HOST | NO_GRADIENT,
)  # fmt: skip
def non_max_suppression_with_overlaps_(
    xp: Any, overlaps: Any, scores: Any, max_output_size: Any, overlap_threshold: Any,
    score_threshold: Any,
) -> Any:  # fmt: skip
    check_scalars(overlap_threshold=overlap_threshold, score_threshold=score_threshold)
    count = output_size(max_output_size)
    if overlaps.ndim != 2:
        raise invalid(f"overlaps must be 2-D{s.show(overlaps.shape)}")
    if overlaps.shape[0] != overlaps.shape[1]:
        raise invalid(f"overlaps must be square{s.show(overlaps.shape)}")
    check_scores(scores, len(overlaps))
    return as_indices(
        select_hard(
            scores, lambda box, others: overlaps[others, box], count, score_threshold,
            lambda x: x >= overlap_threshold,
        )
    )  # fmt: skip


# ---- public functions ----------------------------------------------------------------------------


def thresholds(iou_threshold: Any, score_threshold: Any, dtype: Any = None) -> tuple[Tensor, ...]:
    """Both as tensors."""
    given = {"iou_threshold": iou_threshold, "score_threshold": score_threshold}
    return tuple(convert_to_tensor(value, dtype, name) for name, value in given.items())


def non_max_suppression(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = LOWEST,
    name: str | None = None,
) -> Tensor:
    """The indices of the boxes that stay, best first."""
    with name_scope(name, "non_max_suppression"):
        limit, least = thresholds(iou_threshold, score_threshold)
        return raw.NonMaxSuppressionV3(boxes, scores, max_output_size, limit, least)


def non_max_suppression_with_scores(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = LOWEST,
    soft_nms_sigma: Any = 0.0,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """The indices of the boxes that stay, and their scores, lowered by `soft_nms_sigma`."""
    with name_scope(name, "non_max_suppression_with_scores"):
        limits = thresholds(iou_threshold, score_threshold)
        limits = *limits, convert_to_tensor(soft_nms_sigma, name="soft_nms_sigma")
        found = raw.NonMaxSuppressionV5(boxes, scores, max_output_size, *limits)
        return found[0], found[1]


def non_max_suppression_padded(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = LOWEST,
    pad_to_max_output_size: bool = False,
    name: str | None = None,
) -> Any:
    """The indices of the boxes that stay, if asked padded with zeros, and their number."""
    with name_scope(name, "non_max_suppression_padded"):
        limit, least = thresholds(iou_threshold, score_threshold)
        return raw.NonMaxSuppressionV4(
            boxes, scores, max_output_size, limit, least,
            pad_to_max_output_size=pad_to_max_output_size,
        )  # fmt: skip


def non_max_suppression_overlaps(
    overlaps: Any,
    scores: Any,
    max_output_size: Any,
    overlap_threshold: Any = 0.5,
    score_threshold: Any = LOWEST,
    name: str | None = None,
) -> Tensor:
    """The indices of the boxes that stay, from a matrix of how much any two overlap."""
    with name_scope(name, "non_max_suppression_overlaps"):
        limit = convert_to_tensor(overlap_threshold, name="overlap_threshold")
        return raw.NonMaxSuppressionWithOverlaps(
            overlaps, scores, max_output_size, limit, score_threshold
        )
