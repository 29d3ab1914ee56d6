"""tf.contrib.nn.rank_sampled_softmax_loss, with values of TensorFlow 1.15.5."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf


def loss(sess: Any, temperature: float, hits: bool, sampled: int = 4, resampled: int = 2) -> Any:
    random = np.random.RandomState(0)
    weights, biases = (tf.constant(random.randn(*shape).astype("f")) for shape in ([8, 4], [8]))
    labels = tf.constant(random.randint(0, 8, [3, 1]), tf.int64)
    inputs = tf.constant(random.randn(3, 4).astype("f"))
    classes = tf.constant([0, 1, 2, 5], tf.int64), tf.fill([3, 1], 0.5), tf.fill([4], 0.3)
    return sess.run(tf.contrib.nn.rank_sampled_softmax_loss(
        weights, biases, labels, inputs, sampled, resampled, 8, 1, classes, temperature, hits, "mod"
    ))  # fmt: skip


def test_the_nearest_of_the_sampled_classes_stay(sess: Any) -> None:
    np.testing.assert_allclose(loss(sess, 1.0, True), [3.371917, 1.019418, 0.1765335], rtol=1e-5)


def test_no_more_classes_than_there_are(sess: Any) -> None:
    with pytest.raises(ValueError, match=r"num_resampled \(4\) must be less than num_sampled \(2"):
        loss(sess, 1.0, True, 2, 4)
    with pytest.raises(ValueError, match=r"num_sampled \(9\) cannot be greater than num_classes"):
        loss(sess, 1.0, True, 9, 4)
