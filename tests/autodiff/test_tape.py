"""tf.GradientTape over a graph."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf


@pytest.fixture(params=[False, True])
def v(request, sess):
    made = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=request.param)
    sess.run(made.initializer)
    return made


def test_variables_are_watched(sess, v):
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(v * v)
    assert tape.watched_variables() == (v,)
    np.testing.assert_allclose(sess.run(tape.gradient(y, v)), [2.0, 4.0])


def test_variables_that_are_not_to_be_watched(sess, v):
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        y = v * v
    assert tape.watched_variables() == ()
    assert tape.gradient(y, v) is None
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(v)
        y = v * v
    np.testing.assert_allclose(sess.run(tape.gradient(y, v)), [2.0, 4.0])


def test_tensors_must_be_watched(sess):
    x = tf.constant([3.0, 4.0])
    with tf.GradientTape(persistent=True) as tape:
        y = x * x
    assert tape.gradient(y, x) is None
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = {"square": x * x, "cube": x**3}
    weights = {"square": tf.constant([1.0, 0.0]), "cube": tf.constant([0.0, 1.0])}
    got = tape.gradient(y, {"x": x}, output_gradients=weights)
    np.testing.assert_allclose(sess.run(got["x"]), [6.0, 48.0])


def test_what_was_not_recorded_is_constant(sess):
    x = tf.constant(3.0)
    before = x * x
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        first = before * x
        with tape.stop_recording():
            hidden = x * 5.0
        y = first + hidden
    after = y * 2.0
    assert sess.run(tape.gradient(y, x)) == 9.0
    assert tape.gradient(after, x) is None
    zero = tape.gradient(after, x, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    assert sess.run(zero) == 0.0
    assert tape.gradient(y, before) is None


def test_a_result_on_the_way_is_a_source(sess, v):
    with tf.GradientTape() as tape:
        h = v * 3.0
        y = h * h
    np.testing.assert_allclose(sess.run(tape.gradient(y, h)), [6.0, 12.0])


def test_integers_on_the_way_lead_nowhere(sess, v):
    """What is made of them is watched no more than a constant, as in TensorFlow's tape."""
    with tf.GradientTape(persistent=True) as tape:
        whole = tf.cast(tf.cast(v, tf.int32), tf.float32)
        chosen = tf.where(v > 1.5, tf.ones([2]), tf.zeros([2]))
        y = whole * whole + chosen
        beside = whole * v
    assert tape.gradient(y, [whole, chosen, v]) == [None, None, None]
    np.testing.assert_allclose(sess.run(tape.gradient(beside, v)), [1.0, 2.0])


def test_once_unless_persistent(v):
    with tf.GradientTape() as tape:
        y = v * v
    tape.gradient(y, v)
    with pytest.raises(RuntimeError, match="can only be called once on non-persistent tapes"):
        tape.gradient(y, v)
    tape.reset()
    with tape:
        y = v * 2.0
    assert tape.gradient(y, v) is not None


def test_second_order(sess):
    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x**3
        first = inner.gradient(y, x)
    assert sess.run(outer.gradient(first, x)) == pytest.approx(12.0)


def test_misuse():
    tape = tf.GradientTape()
    with pytest.raises(RuntimeError, match="Trying to stop recording a tape which is not"):
        with tape.stop_recording():
            pass
    with tape, pytest.raises(ValueError, match="Tape is already recording"):
        tape.__enter__()
    with pytest.raises(ValueError, match=r"Passed in object of type <class 'int'>, not"):
        tape.watch(1)


def test_jacobian(sess, v):
    matrix = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    other = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(other)
        y = tf.linalg.matvec(matrix, v * v)
    jacobian, none = tape.jacobian(y, [v, other])
    assert none is None and jacobian.shape.as_list() == [3, 2]
    np.testing.assert_allclose(sess.run(jacobian), [[2.0, 8.0], [6.0, 16.0], [10.0, 24.0]])
    with pytest.raises(RuntimeError, match="only be called once"):
        tape.gradient(y, v)


def test_batch_jacobian(sess):
    x = tf.constant(np.arange(6, dtype=np.float32).reshape(2, 3))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.stack([x[:, 0] * x[:, 1], x[:, 2] ** 2], 1)
    got = tape.batch_jacobian(y, x)
    assert got.shape.as_list() == [2, 2, 3]
    want = [[[1, 0, 0], [0, 0, 4]], [[4, 3, 0], [0, 0, 10]]]
    np.testing.assert_allclose(sess.run(got), want)
    with tf.GradientTape() as tape, pytest.raises(ValueError, match="Need first dimension of"):
        tape.batch_jacobian(tf.zeros([3, 1]), x)
