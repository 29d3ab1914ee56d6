"""GenerateBoundingBoxProposals: where a region proposal network says that something is.

TensorFlow has it on GPUs only; ours runs on the host.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from weft.core import errors
from weft.graph import shape_fn as s
from weft.graph.graph import Tensor
from weft.graph.op_def import op
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.traits import HOST, NO_GRADIENT
from weft.ops.image.box_overlap import overlap_of, select_in_order
from weft.ops.kit.shared import invalid

_LARGEST = np.float32(np.log(1000.0 / 16.0))  # of what scales the sides, as a logarithm


def _proposal_dims(c: ShapeContext) -> list[Dims]:
    ranks = (4, 4, 2, 3, 0, 0, 0)
    dims = [s.with_rank(c.dims(i), rank) for i, rank in enumerate(ranks)]
    described = dims[2][1]
    if described is not None and described != 5:
        raise ValueError(f"Dimension must be 5 but is {described}")
    images, count = dims[0][0], c.attr("post_nms_topn")
    return [(images, count, 4), (images, count)]


@op(
    "GenerateBoundingBoxProposals",
    inputs="scores: float, bbox_deltas: float, image_info: float, anchors: float,"
    " nms_threshold: float, pre_nms_topn: int32, min_size: float",
    outputs="rois: float, roi_probabilities: float", attrs="post_nms_topn: int = 300",
    shape=_proposal_dims, traits=HOST | NO_GRADIENT,
)  # fmt: skip
def generate_bounding_box_proposals_(
    xp: Any, scores: ndarray, bbox_deltas: ndarray, image_info: ndarray, anchors: ndarray,
    nms_threshold: Any, pre_nms_topn: Any, min_size: Any, *, post_nms_topn: int,
) -> tuple[ndarray, ndarray]:  # fmt: skip
    _check(scores, anchors, nms_threshold, pre_nms_topn, post_nms_topn)
    if not bbox_deltas.size == scores.shape[0] * anchors.size == 4 * scores.size:
        raise invalid(
            f"Scores, deltas and anchors are of different numbers of boxes: {s.show(scores.shape)},"
            f" {s.show(bbox_deltas.shape)} and {s.show(anchors.shape)}"
        )
    images = scores.shape[0]
    boxes = np.zeros((images, post_nms_topn, 4), np.float32)
    likely = np.zeros((images, post_nms_topn), np.float32)
    for i in range(images):
        order = np.argsort(-scores[i].reshape(-1), kind="stable")[: int(pre_nms_topn)]
        found = _moved(anchors.reshape(-1, 4)[order], bbox_deltas[i].reshape(-1, 4)[order])
        found = np.clip(found, 0, np.tile(image_info[i, :2], 2)).astype(np.float32)
        large = (found[:, 2:] - found[:, :2]).min(axis=1) >= min_size * image_info[i, 2]
        found, score = found[large], scores[i].reshape(-1)[order][large]
        kept = select_in_order(
            score, overlap_of(found), post_nms_topn, -np.inf, lambda common: common > nms_threshold
        )
        boxes[i, : len(kept)], likely[i, : len(kept)] = found[kept], score[kept]
    return boxes, likely


def _check(scores: ndarray, anchors: ndarray, threshold: Any, before: Any, after: int) -> None:
    if after <= 0:
        raise invalid("post_nms_topn can't be 0 or less")
    if anchors.shape[2] != 4 * scores.shape[3]:
        raise errors.OutOfRangeError(None, None, "Box dimensions need to be 4")
    if not 0 <= threshold <= 1:
        raise invalid(f"nms_threshold should be between 0 and 1. Got {float(threshold):g}")
    if before <= 0:
        raise invalid(f"pre_nms_topn should be greater than 0{int(before)}")


def _moved(anchors: ndarray, deltas: ndarray) -> ndarray:
    """Anchors, of corners (y, x), moved by parts of their sides and scaled."""
    sides = anchors[:, 2:] - anchors[:, :2]
    centers = anchors[:, :2] + np.float32(0.5) * sides + sides * deltas[:, :2]
    half = np.float32(0.5) * sides * np.exp(np.minimum(deltas[:, 2:], _LARGEST))
    return np.concatenate([centers - half, centers + half], axis=1)


def generate_bounding_box_proposals(
    scores: Any,
    bbox_deltas: Any,
    image_info: Any,
    anchors: Any,
    nms_threshold: Any = 0.7,
    pre_nms_topn: Any = 6000,
    min_size: Any = 16,
    post_nms_topn: int = 300,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Boxes and their scores, best first: anchors moved, cut to the image, without doubles."""
    return generate_bounding_box_proposals_(
        scores, bbox_deltas, image_info, anchors, nms_threshold, pre_nms_topn, min_size,
        post_nms_topn=post_nms_topn, name=name,
    )  # fmt: skip
