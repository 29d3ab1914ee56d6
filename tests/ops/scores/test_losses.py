from __future__ import annotations

import numpy as np
import pytest

import weft as tf

P = np.array([[0.5, 0.25], [0.75, 0.1], [0.9, 0.6]], np.float32)
Y = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]], np.float32)
SIGNS = 2 * Y - 1


def log(x):
    return np.log(x.astype(np.float64))


def softmax_entropy(logits, labels):
    return log(np.exp(logits).sum(-1)) - (labels * logits).sum(-1)


ELEMENTWISE = {
    "absolute_difference": (abs(P - Y), {}),
    "mean_squared_error": ((P - Y) ** 2, {}),
    "hinge_loss": (np.maximum(1 - SIGNS * P, 0), {}),
    "log_loss": (-Y * log(P + 1e-7) - (1 - Y) * log(1 - P + 1e-7), {}),
    "huber_loss": (
        np.where(abs(P - Y) < 0.4, (P - Y) ** 2 / 2, 0.4 * abs(P - Y) - 0.08),
        {"delta": 0.4},
    ),
    "sigmoid_cross_entropy": (np.maximum(P, 0) - P * Y + log(1 + np.exp(-abs(P))), {}),
}


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise_losses(sess, name) -> None:
    wanted, options = ELEMENTWISE[name]
    loss = getattr(tf.losses, name)
    np.testing.assert_allclose(sess.run(loss(Y, P, **options)), wanted.mean(), rtol=1e-5)
    weights = np.array([[2.0], [0.0], [1.0]], np.float32)
    weighted = sess.run(loss(Y, P, weights, **options))
    np.testing.assert_allclose(weighted, (wanted * weights).sum() / 4, rtol=1e-5)
    every = sess.run(loss(Y, P, reduction=tf.losses.Reduction.NONE, **options))
    np.testing.assert_allclose(every, wanted, rtol=1e-5)


def test_classes(sess) -> None:
    logits = np.array([[2.0, 1.0, 0.5], [0.1, 0.2, 3.0]], np.float32)
    classes = np.array([0, 1])
    labels = np.eye(3, dtype=np.float32)[classes]
    wanted = softmax_entropy(logits, labels).mean()
    for loss in (
        tf.losses.softmax_cross_entropy(labels, logits),
        tf.losses.sparse_softmax_cross_entropy(classes, logits),
        tf.losses.sparse_softmax_cross_entropy(classes[:, None], logits, weights=[[1.0], [1.0]]),
    ):
        np.testing.assert_allclose(sess.run(loss), wanted, rtol=1e-5)
    smooth = tf.losses.softmax_cross_entropy(labels, logits, label_smoothing=0.3)
    wanted = softmax_entropy(logits, labels * 0.7 + 0.1).mean()
    np.testing.assert_allclose(sess.run(smooth), wanted, rtol=1e-5)


def test_vectors(sess) -> None:
    a = np.array([[1.0, 0.0], [0.6, 0.8]], np.float32)
    b = np.array([[0.0, 1.0], [0.6, 0.8]], np.float32)
    assert sess.run(tf.losses.cosine_distance(a, b, axis=1)) == pytest.approx(0.5)
    pairs = []
    for label, guess in zip(Y, P, strict=True):
        pairs.append(((guess[0] - guess[1]) - (label[0] - label[1])) ** 2)
    found = sess.run(tf.losses.mean_pairwise_squared_error(Y, P))
    assert found == pytest.approx(np.sum(pairs), rel=1e-5)


def test_reductions(sess) -> None:
    losses, weights = [1.0, 2.0, 3.0, 4.0], [0.0, 1.0, 0.5, 0.5]
    total = 2 + 1.5 + 2
    for reduction, wanted in (
        (tf.losses.Reduction.SUM, total),
        (tf.losses.Reduction.SUM_OVER_BATCH_SIZE, total / 4),
        (tf.losses.Reduction.MEAN, total / 2),
        (tf.losses.Reduction.SUM_BY_NONZERO_WEIGHTS, total / 3),
    ):
        loss = tf.losses.compute_weighted_loss(losses, weights, reduction=reduction)
        assert sess.run(loss) == pytest.approx(wanted)
    assert sess.run(tf.losses.compute_weighted_loss(losses, 0.0)) == 0.0
    with pytest.raises(ValueError, match="Invalid Reduction Key"):
        tf.losses.compute_weighted_loss(losses, reduction="most")


def test_names_and_collections(sess) -> None:
    first = tf.losses.mean_squared_error(Y, P)
    second = tf.losses.absolute_difference(Y, P, scope="mine")
    tf.losses.hinge_loss(Y, P, loss_collection=None)
    assert first.name == "mean_squared_error/value:0"
    assert second.name == "mine/value:0"
    assert tf.losses.get_losses() == [first, second]
    assert tf.losses.get_losses(scope="mine") == [second]
    extra = tf.constant(2.0)
    tf.add_to_collection(tf.GraphKeys.REGULARIZATION_LOSSES, extra)
    total = tf.losses.get_total_loss()
    found = sess.run([total, first, second, extra, tf.losses.get_regularization_loss()])
    assert found[0] == pytest.approx(sum(found[1:4]))
    assert found[4] == 2.0


def test_shapes_must_fit(sess) -> None:
    with pytest.raises(ValueError, match="labels must not be None"):
        tf.losses.mean_squared_error(None, P)
    sizes = r"Mismatch at dim 0\. values\.shape=\[3 2\] weights\.shape=\[2 1\]\."
    with pytest.raises(ValueError, match=sizes):
        tf.losses.mean_squared_error(Y, P, weights=np.ones((2, 1)))
    with pytest.raises(ValueError, match=r"values\.rank=2\. weights\.rank=1"):
        tf.losses.mean_squared_error(Y, P, weights=np.ones(3))
    p, w = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    loss = tf.losses.mean_squared_error(tf.zeros_like(p), p, weights=w)
    assert sess.run(loss, {p: P, w: np.ones((3, 1))}) == pytest.approx((P**2).mean())
    with pytest.raises(tf.errors.InvalidArgumentError, match="can not be broadcast"):
        sess.run(loss, {p: P, w: np.ones(2)})


def test_gradients(sess) -> None:
    p = tf.constant(P)
    grad = sess.run(tf.gradients(tf.losses.mean_squared_error(Y, p), p)[0])
    np.testing.assert_allclose(grad, 2 * (P - Y) / 6, rtol=1e-5)


def test_confusion_matrix(sess) -> None:
    found = sess.run(tf.confusion_matrix([0, 1, 1, 2], [0, 2, 1, 2]))
    np.testing.assert_array_equal(found, [[1, 0, 0], [0, 1, 1], [0, 0, 1]])
    weighted = tf.confusion_matrix([[1], [1]], [1, 0], 3, tf.float32, weights=[0.5, 2.0])
    np.testing.assert_array_equal(sess.run(weighted), [[0, 0, 0], [2, 0.5, 0], [0, 0, 0]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="out of bound"):
        sess.run(tf.confusion_matrix(tf.placeholder_with_default([3], [1]), [0], 2))
