"""Non-maximum suppression: which of equal scores stays, and what empty boxes do.

What is wanted was recorded from TensorFlow 1.15.5.
"""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf

CORNERS = [
    [4.41, 5.67], [2.33, 4.09], [7.14, 7.17], [1.0, 1.66], [0.41, 3.53], [0.24, 3.65],
    [5.19, 2.23], [5.41, 4.73], [0.19, 4.47], [2.07, 3.32], [2.27, 5.55], [3.52, 1.25],
]  # fmt: skip
BOXES = np.array([[y, x, y + 2, x + 2] for y, x in CORNERS], np.float32)
SCORES = np.array([1, 0, 1, 0, 2, 1, 1, 2, 0, 0, 2, 0], np.float32) / 4


def test_of_equal_scores_the_heap_decides() -> None:
    with tf.Session() as session:
        kept = session.run(tf.image.non_max_suppression(BOXES, SCORES, 12, 0.2))
    assert kept.tolist() == [4, 7, 10, 2, 6, 0, 9, 11, 3]


def test_of_equal_scores_that_fall_the_heap_decides() -> None:
    with tf.Session() as session:
        kept, scores = session.run(
            tf.image.non_max_suppression_with_scores(BOXES, SCORES, 12, 0.6, soft_nms_sigma=0.3)
        )
    assert kept.tolist() == [4, 7, 10, 2, 6, 0, 9, 1, 11, 8, 3]
    np.testing.assert_allclose(scores, [0.5] * 3 + [0.25] * 2 + [0.2404662] + [0] * 5, rtol=1e-6)


def test_of_equal_scores_by_their_overlaps() -> None:
    overlaps = np.array([[1, 0.3, 0.9], [0.3, 1, 0.1], [0.9, 0.1, 1]], np.float32)
    with tf.Session() as session:
        kept = session.run(tf.image.non_max_suppression_overlaps(overlaps, [0.5] * 3, 3, 0.4))
    assert kept.tolist() == [0, 1]


def test_an_empty_box_is_taken_as_often_as_there_is_room() -> None:
    boxes = np.array([[0, 0, 1, 1], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0.05, 1, 1]], np.float32)
    for scores, wanted in (
        ([0.9, 0, 0, 0.8], [0, 1, 2, 1, 2, 1]),
        ([0.9, 0.2, 0.1, 0.8], [0, 1, 1, 1, 1, 1]),
    ):
        with tf.Session() as session:
            kept = session.run(
                tf.image.non_max_suppression(boxes, np.array(scores, np.float32), 6, 0.5)
            )
        assert kept.tolist() == wanted


@pytest.mark.parametrize("sigma", [0.0, 0.5])
def test_taking_an_empty_box_ends_with_the_step(sigma: float) -> None:
    given = tf.placeholder_with_default(2**31 - 1, [])
    config = tf.ConfigProto(operation_timeout_in_ms=100)
    kept = tf.image.non_max_suppression_with_scores(
        np.zeros([1, 4], np.float32), [0.5], given, 0.5, soft_nms_sigma=sigma
    )
    with tf.Session(config=config) as session, pytest.raises(tf.errors.DeadlineExceededError):
        session.run(kept)
