"""Proposals: which boxes stay, how they are moved and cut, and what is wrong with arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf

# Two places with two anchors each, of corners (y, x).
ANCHORS = np.array(
    [[[[0, 0, 20, 20], [0, 0, 20, 30]], [[10, 40, 30, 60], [90, 90, 130, 130]]]], np.float32
).reshape(1, 2, 8)
SCORES = np.array([0.9, 0.8, 0.7, 0.6], np.float32).reshape(1, 1, 2, 2)
DELTAS = np.zeros((1, 1, 2, 8), np.float32)
INFO = np.array([[100, 100, 1, 0, 0]], np.float32)


def proposals(deltas: Any = DELTAS, **options: Any) -> tuple[Any, Any]:
    found = tf.image.generate_bounding_box_proposals(
        SCORES, deltas, INFO, ANCHORS, **{"post_nms_topn": 3, "min_size": 8, **options}
    )
    assert [each.shape.as_list() for each in found] == [[1, 3, 4], [1, 3]]
    with tf.Session() as session:
        boxes, scores = session.run(found)
        return boxes[0], scores[0]


def test_of_boxes_that_overlap_the_better_one_stays() -> None:
    boxes, scores = proposals(nms_threshold=0.5)
    expected = [[0, 0, 20, 20], [10, 40, 30, 60], [90, 90, 100, 100]]  # cut to the image
    np.testing.assert_array_equal(boxes, expected)
    np.testing.assert_allclose(scores, [0.9, 0.7, 0.6])
    boxes, scores = proposals(nms_threshold=0.7)  # they share two thirds
    np.testing.assert_allclose(scores, [0.9, 0.8, 0.7])


def test_small_boxes_and_bad_scores_do_not_count() -> None:
    boxes, scores = proposals(nms_threshold=0.5, min_size=15)
    np.testing.assert_allclose(scores, [0.9, 0.7, 0])
    assert not boxes[2].any()
    np.testing.assert_allclose(proposals(pre_nms_topn=1)[1], [0.9, 0, 0])


def test_boxes_are_moved_by_parts_of_their_sides_and_scaled() -> None:
    deltas = DELTAS.copy()
    deltas[0, 0, 1, :4] = [0.5, 0.25, np.log(2), 0]
    boxes, _ = proposals(deltas, nms_threshold=0.5)
    np.testing.assert_allclose(boxes[1], [10, 45, 50, 65], rtol=1e-6)


def test_what_is_wrong() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"between 0 and 1\. Got 1\.5"):
        proposals(nms_threshold=1.5)
    with pytest.raises(tf.errors.InvalidArgumentError, match="pre_nms_topn should be greater"):
        proposals(pre_nms_topn=0)
