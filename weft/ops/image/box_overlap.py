"""Non-maximum suppression on NumPy arrays: of boxes that overlap, which stay.

Boxes are given by two opposite corners, (y, x) each.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core.step_limits import limits
from weft.graph import shape_fn as s
from weft.ops.kit.room import check_room
from weft.ops.kit.shared import invalid

# Boxes, each of which takes some calls of NumPy, after which a selection looks at its step's end.
_LOOK_AFTER = 1 << 11

# From a box and others to how much of both each pair has in common.
Similarity = Callable[[int, np.ndarray], np.ndarray]


def overlap_of(boxes: np.ndarray) -> Similarity:
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


class Candidates:
    """A queue of boxes, the highest score first.

    Which of equal scores comes first is decided by the heap that they lie in, which is that of
    C++'s standard library: TensorFlow's choices follow from it.
    """

    def __init__(self, scores: np.ndarray, least: Any) -> None:
        self._heap: list[tuple[Any, int, int]] = []
        chosen = np.flatnonzero(scores > least)
        for score, box in zip(scores[chosen].tolist(), chosen.tolist(), strict=True):
            self.push(score, box)

    def __bool__(self) -> bool:
        return bool(self._heap)

    def push(self, score: Any, box: int, seen: int = 0) -> None:
        self._heap.append((score, box, seen))
        self._rise(len(self._heap) - 1)

    def pop(self) -> tuple[Any, int, int]:
        """Score, box, and what was pushed as `seen`. The last takes the place that becomes free."""
        heap, last = self._heap, self._heap.pop()
        if not heap:
            return last
        best, hole, end = heap[0], 0, len(heap)
        while (child := 2 * hole + 2) <= end:
            if child == end or heap[child][0] < heap[child - 1][0]:
                child -= 1
            heap[hole], hole = heap[child], child
        heap[hole] = last
        self._rise(hole)
        return best

    def _rise(self, hole: int) -> None:
        heap, item = self._heap, self._heap[hole]
        while hole and heap[above := (hole - 1) // 2][0] < item[0]:
            heap[hole], hole = heap[above], above
        heap[hole] = item


def _wants_more(selected: list[int], count: int) -> bool:
    """Whether boxes are to be selected; of an empty one there may be as many as there is memory."""
    if selected and len(selected) % _LOOK_AFTER == 0:
        limits.check()
        check_room([len(selected)], np.int64, times=4)
    return len(selected) < count


def select_hard(
    scores: np.ndarray,
    similarity: Similarity,
    count: int,
    least: Any,
    suppressed: Callable[[Any], Any],
) -> list[int]:
    """Takes the best box that is left, and drops what is too similar to it.

    A box that was taken remains a candidate, as in TensorFlow: it is dropped for being similar to
    itself, but for an empty box, which is taken as often as there is room.
    """
    left, every = Candidates(scores, least), np.arange(len(scores))
    dropped = np.zeros(len(scores), bool)
    selected: list[int] = []
    while left and _wants_more(selected, count):
        score, box, _ = left.pop()
        if not dropped[box]:
            selected.append(box)
            dropped |= suppressed(similarity(box, every))
            left.push(score, box)
    return selected


def select_in_order(
    scores: np.ndarray,
    similarity: Similarity,
    count: int,
    least: Any,
    suppressed: Callable[[Any], Any],
) -> list[int]:
    """As `select_hard`, but takes each box once, and the earlier one of equal scores first."""
    candidates = np.flatnonzero(scores > least)
    left = candidates[np.argsort(-scores[candidates], kind="stable")]
    selected: list[int] = []
    while left.size and len(selected) < count:
        best, left = int(left[0]), left[1:]
        selected.append(best)
        left = left[~suppressed(similarity(best, left))]
    return selected


def select_soft(
    scores: np.ndarray, similarity: Similarity, count: int, limit: Any, least: Any, sigma: Any
) -> tuple[list[int], list[Any]]:
    """Lowers the score of a box for every better one that it overlaps, instead of dropping it.

    A box comes up again with its lower score; `seen` is how many of the selected it has met.
    """
    kind = scores.dtype.type
    scale = kind(-0.5) / kind(sigma)
    left = Candidates(scores, least)
    selected: list[int] = []
    kept: list[Any] = []
    while left and _wants_more(selected, count):
        before, box, seen = left.pop()
        score, hard, met = kind(before), False, len(selected)
        if seen < met:
            for common in similarity(box, np.array(selected[seen:]))[::-1]:
                if common >= limit:
                    hard = True
                    break
                score = kind(score * kind(math.exp(scale * common * common)))
                if score <= least:
                    break
        if hard:
            continue
        if score == before:
            selected.append(box)
            kept.append(score)
        if score > least:
            left.push(float(score), box, met)
    return selected, kept


# ---- checks --------------------------------------------------------------------------------------


def check_scalars(**scalars: Any) -> None:
    for name, value in scalars.items():
        if np.ndim(value):
            raise invalid(f"{name} must be 0-D, got shape {s.show(np.shape(value))}")


def check_threshold(value: Any) -> None:
    if not 0 <= value <= 1:
        raise invalid("iou_threshold must be in [0, 1]")


def check_boxes(boxes: np.ndarray, scores: np.ndarray) -> None:
    if boxes.ndim != 2:
        raise invalid(f"boxes must be 2-D{s.show(boxes.shape)}")
    if boxes.shape[1] != 4:
        raise invalid("boxes must have 4 columns")
    check_scores(scores, len(boxes))


def check_scores(scores: np.ndarray, count: int) -> None:
    if scores.ndim != 1:
        raise invalid(f"scores must be 1-D{s.show(scores.shape)}")
    if len(scores) != count:
        raise invalid("scores has incompatible shape")


def output_size(max_output_size: Any) -> int:
    check_scalars(max_output_size=max_output_size)
    if max_output_size < 0:
        raise invalid("output size must be non-negative")
    return int(max_output_size)


def select(
    boxes: Any, scores: Any, max_output_size: Any, iou_threshold: Any, score_threshold: Any
) -> list[int]:
    check_scalars(iou_threshold=iou_threshold, score_threshold=score_threshold)
    count = output_size(max_output_size)
    check_threshold(iou_threshold)
    check_boxes(boxes, scores)
    limit = scores.dtype.type(iou_threshold)
    return select_hard(scores, overlap_of(boxes), count, score_threshold, lambda x: x >= limit)


def as_indices(selected: list[int], count: int | None = None) -> np.ndarray:
    """As an array, padded with zeros to `count`."""
    padding = [] if count is None else [0] * (count - len(selected))
    return np.array([*selected, *padding], np.int32)
