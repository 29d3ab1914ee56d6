"""CTC on padded labels against the sparse loss, whose values are recorded from TensorFlow."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from tests.ops.samples.ctc import BATCH

PADDED = np.array([[1, 2, 0], [3, 0, 0], [2, 2, 0]])
LABEL_LENGTHS, LENGTHS = [2, 1, 2], [4, 2, 5]


@pytest.fixture
def sess():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def _losses(logits, blank):
    """The dense and the sparse loss, with labels counted around `blank`."""
    labels = PADDED - (PADDED <= blank) if blank else PADDED
    dense = tf.nn.ctc_loss_v2(labels, logits, LABEL_LENGTHS, LENGTHS, blank_index=blank)
    rows = tf.constant([[0, 0], [0, 1], [1, 0], [2, 0], [2, 1]], tf.int64)
    values = tf.constant([labels[i, j] for i, j in [(0, 0), (0, 1), (1, 0), (2, 0), (2, 1)]])
    sparse = tf.SparseTensor(rows, tf.cast(values, tf.int32), [3, 2])
    return dense, tf.nn.ctc_loss_v2(sparse, logits, None, LENGTHS, blank_index=blank)


@pytest.mark.parametrize("blank", [0, 2, -1])
def test_padded_labels_give_what_sparse_ones_give(sess, blank):
    logits = tf.constant(BATCH)
    blank = blank if blank >= 0 else 3
    found = [(loss, tf.gradients(loss, logits)[0]) for loss in _losses(logits, blank)]
    for _ in range(3):  # interpreted, then compiled
        (dense, dense_grad), (sparse, sparse_grad) = sess.run(found)
        np.testing.assert_allclose(dense, sparse, rtol=1e-5)
        np.testing.assert_allclose(dense_grad, sparse_grad, atol=1e-6)


def test_what_comes_after_the_end_does_not_matter(sess):
    scores = BATCH.copy()
    scores[np.arange(5)[:, None] >= LENGTHS] = np.nan
    logits = tf.constant(scores)
    for loss in _losses(logits, 0):
        gradient = sess.run(tf.gradients(loss, logits)[0])
        assert np.isfinite(gradient).all()
        assert not gradient[4, 0].any()


def test_labels_for_which_there_is_no_time(sess):
    logits = tf.constant(BATCH)
    loss = tf.nn.ctc_loss_v2(PADDED, logits, LABEL_LENGTHS, [4, 2, 2])
    value, gradient = sess.run([loss, tf.gradients(loss, logits)[0]])
    assert np.isinf(value[2]) and np.isfinite(value[:2]).all() and np.isfinite(gradient).all()


def test_batch_major_scores(sess):
    labels = tf.SparseTensor([[0, 0], [1, 0], [2, 0]], [0, 1, 2], [3, 1])
    first = tf.nn.ctc_loss(labels, tf.constant(BATCH), LENGTHS)
    second = tf.nn.ctc_loss(
        labels, sequence_length=LENGTHS, logits=BATCH.transpose(1, 0, 2), time_major=False
    )
    np.testing.assert_array_equal(*sess.run([first, second]))
    assert second.op.inputs[0].name == "transpose:0"


def test_the_second_derivative_is_refused(sess):
    logits = tf.constant(BATCH)
    labels = tf.SparseTensor([[0, 0], [1, 0], [2, 0]], [0, 1, 2], [3, 1])
    gradient = tf.gradients(tf.nn.ctc_loss(labels, logits, LENGTHS), logits)[0]
    with pytest.raises(LookupError, match=r"explicitly disabled. Reason: b\"Currently"):
        tf.gradients(gradient, logits)


def test_collapsed_labels(sess):
    labels, lengths = tf.nn.collapse_repeated([[1, 1, 2, 2, 1], [1, 2, 3, 4, 5]], [5, 4])
    assert sess.run(labels).tolist() == [[1, 2, 1, 0], [1, 2, 3, 4]]
    assert sess.run(lengths).tolist() == [3, 4]


def test_unique_labels(sess):
    labels, places = sess.run(tf.nn.ctc_unique_labels([[3, 4, 4, 3], [5, 6, 7, 8]]))
    assert labels.tolist() == [[3, 4, 0, 0], [5, 6, 7, 8]]
    assert places.tolist() == [[0, 1, 1, 0], [0, 1, 2, 3]]


def test_a_prefix_that_was_driven_out_before_its_turn_does_not_grow(sess):
    """As TensorFlow: [1] makes room for [0] in the second frame, and there is no [1, 0] then."""
    scores = np.array([[[-9.0, 0.0, 0.2]], [[3.0, -9.0, -1.0]]], np.float32)
    found = tf.nn.ctc_beam_search_decoder(scores, [2], beam_width=2, top_paths=2)
    paths, log_probability = sess.run(found)
    assert [path.values.tolist() for path in paths] == [[0], []]
    np.testing.assert_allclose(log_probability, [[-0.61635, -4.61635]], rtol=1e-5)
