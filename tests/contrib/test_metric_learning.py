"""tf.contrib.losses.metric_learning against the definitions, pair by pair."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf

losses = tf.contrib.losses.metric_learning
LABELS = np.array([0, 1, 0, 2, 1, 0])
POINTS = np.random.RandomState(3).normal(size=(6, 4)).astype(np.float32)
SQUARES = ((POINTS[:, None] - POINTS[None]) ** 2).sum(-1)
PAIRS = [(i, j) for i in range(6) for j in range(6) if i != j and LABELS[i] == LABELS[j]]


def test_distances_and_their_gradient(sess):
    points = tf.constant(np.concatenate([POINTS, np.zeros([2, 4], np.float32)]))
    found = losses.pairwise_distance(points)
    gradient = tf.gradients(found, points)[0]
    distances, slopes = sess.run([found, gradient])
    np.testing.assert_allclose(distances[:6, :6], np.sqrt(SQUARES), rtol=1e-4, atol=1e-4)
    assert (distances.diagonal() == 0).all()
    assert distances[6, 7] == 0
    assert np.isfinite(slopes).all()
    squared = sess.run(losses.pairwise_distance(POINTS, squared=True))
    np.testing.assert_allclose(squared, SQUARES, rtol=1e-4, atol=1e-4)


def test_triplets(sess):
    def semihard(anchor: int, positive: int) -> float:
        others = SQUARES[anchor][LABELS != LABELS[anchor]]
        farther = others[others > SQUARES[anchor, positive]]
        return farther.min() if len(farther) else others.max()

    for margin in (1.0, 30.0):
        terms = [max(margin + SQUARES[a, p] - semihard(a, p), 0) for a, p in PAIRS]
        found = losses.triplet_semihard_loss(tf.constant(LABELS), tf.constant(POINTS), margin)
        assert found.op.name.startswith("triplet_semihard_loss")
        assert sess.run(found) == pytest.approx(np.mean(terms), rel=1e-4)


def test_lifted_structure(sess):
    nearness = np.exp(1.0 - np.sqrt(SQUARES))

    def term(i: int, j: int) -> float:
        others = sum(nearness[k][LABELS != LABELS[k]].sum() for k in (i, j))
        return max(np.log(others) + np.sqrt(SQUARES[i, j]), 0) ** 2

    wanted = 0.25 * sum(term(i, j) for i, j in PAIRS) / (len(PAIRS) / 2)
    found = losses.lifted_struct_loss(tf.constant(LABELS), tf.constant(POINTS))
    assert sess.run(found) == pytest.approx(wanted, rel=1e-4)


def test_pairs(sess):
    near, far = POINTS[:3], POINTS[3:]
    distances = np.sqrt(((near - far) ** 2).sum(1))
    together = np.array([1, 0, 1])
    wanted = np.where(together, distances**2, np.maximum(2.0 - distances, 0) ** 2).mean()
    found = losses.contrastive_loss(together, tf.constant(near), tf.constant(far), margin=2.0)
    assert sess.run(found) == pytest.approx(wanted, rel=1e-5)
    scores = near @ far.T
    picked = (scores - np.log(np.exp(scores).sum(1, keepdims=True))).diagonal()
    size = 0.25 * 0.002 * ((near**2).sum(1).mean() + (far**2).sum(1).mean())
    found = losses.npairs_loss(tf.constant([0, 1, 2]), tf.constant(near), tf.constant(far))
    assert sess.run(found) == pytest.approx(size - picked.mean(), rel=1e-5)
    with pytest.raises(ValueError, match="vector"):
        losses.npairs_loss(tf.constant([[0, 1, 2]]), tf.constant(near), tf.constant(far))


def test_pairs_of_several_labels(sess):
    """Values of TensorFlow 1.15.5."""
    random = np.random.RandomState(0)
    anchor, positive = (tf.constant(random.randn(3, 5).astype("f")) for _ in range(2))
    where = [[[0, 0], [0, 1]], [[0, 2]], [[0, 1], [0, 3]]]
    labels = [tf.SparseTensor(each, [1] * len(each), [1, 4]) for each in where]
    loss = losses.npairs_loss_multilabel(labels, anchor, positive)
    assert sess.run(loss) == pytest.approx(1.429619, rel=1e-5)
    with pytest.raises(TypeError, match="sparse_labels must be a list of SparseTensors"):
        losses.npairs_loss_multilabel([tf.constant(1)], anchor, positive)
