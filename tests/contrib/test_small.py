"""tf.contrib.sparsemax and tf.contrib.nn."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf

LOGITS = np.array([[1.0, 1.2, -3.0], [0.0, 0.0, 0.0], [5.0, 0.0, 4.5]])


def test_sparsemax_is_the_nearest_distribution() -> None:
    with tf.Session() as session:
        found = session.run(tf.contrib.sparsemax.sparsemax(tf.constant(LOGITS)))
    expected = [[0.4, 0.6, 0.0], [1 / 3] * 3, [0.75, 0.0, 0.25]]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_the_gradient_of_its_loss() -> None:
    logits, labels = tf.constant(LOGITS), tf.constant(np.eye(3))
    found = tf.contrib.sparsemax.sparsemax(logits)
    loss = tf.contrib.sparsemax.sparsemax_loss(logits, found, labels)
    with tf.Session() as session:
        loss, gradient, found = session.run([loss, tf.gradients(loss, logits)[0], found])
    np.testing.assert_allclose(gradient, found - np.eye(3), atol=1e-12)
    assert (loss >= 0).all() and loss[0] == pytest.approx(0.36)


def test_what_is_not_a_number_stays_so() -> None:
    rows = tf.constant([[0.0, float("nan")], [float("-inf"), 1.0]])
    with tf.Session() as session:
        found = session.run(tf.contrib.sparsemax.sparsemax(rows))
    assert np.isnan(found[0]).all() and found[1].tolist() == [0, 1]


def test_alpha_dropout_keeps_mean_and_variance() -> None:
    x = tf.random_normal([200, 200], seed=1)
    dropped = tf.contrib.nn.alpha_dropout(x, 0.7, seed=2)
    with tf.Session() as session:
        found = session.run(dropped)
    assert abs(found.mean()) < 0.03 and abs(found.var() - 1) < 0.05
    _, counts = np.unique(found, return_counts=True)
    assert counts.max() == pytest.approx(0.3 * found.size, rel=0.05)  # those that were dropped
    assert tf.contrib.nn.alpha_dropout(x, 1.0) is x
    with pytest.raises(ValueError, match="keep_prob must be a scalar"):
        tf.contrib.nn.alpha_dropout(x, 0.0)


def test_losses_the_old_way_round() -> None:
    logits, labels = tf.constant([[2.0, 0.0]]), tf.constant([[1.0, 0.0]])
    flipped = tf.contrib.nn.deprecated_flipped_softmax_cross_entropy_with_logits(logits, labels)
    plain = tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits)
    with tf.Session() as session:
        one, other = session.run([flipped, plain])
    np.testing.assert_allclose(one, other)
