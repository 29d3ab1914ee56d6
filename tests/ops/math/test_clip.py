"""Clipping by value and by norm."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf


def test_by_value(sess):
    x = tf.constant([-3.0, 0.5, 3.0])
    assert sess.run(tf.clip_by_value(x, -1, 2)).tolist() == [-1, 0.5, 2]
    slices = tf.IndexedSlices(x, tf.constant([0, 1, 2]), tf.constant([9]))
    clipped = tf.clip_by_value(slices, -1.0, 2.0)
    assert isinstance(clipped, tf.IndexedSlices) and clipped.indices is slices.indices
    with pytest.raises(ValueError, match="not compatible"):
        tf.clip_by_value(x, tf.zeros([2, 3]), 2.0)


def test_by_value_gradient(sess):
    x = tf.constant([-3.0, 0.5, 3.0])
    (grad,) = tf.gradients(tf.clip_by_value(x, -1.0, 2.0), x)
    assert sess.run(grad).tolist() == [0, 1, 0]


def test_by_norm(sess):
    x = tf.constant([[3.0, 4.0], [0.0, 0.0], [0.6, 0.8]])
    rows = sess.run(tf.clip_by_norm(x, 2.5, axes=[1]))
    np.testing.assert_allclose(rows, [[1.5, 2.0], [0, 0], [0.6, 0.8]], rtol=1e-6)
    (grad,) = tf.gradients(tf.clip_by_norm(x, 2.5, axes=[1]), x)
    assert np.isfinite(sess.run(grad)).all()


def test_by_global_norm(sess):
    xs = [tf.constant([3.0]), None, tf.constant([[4.0]])]
    clipped, norm = tf.clip_by_global_norm(xs, 2.5)
    assert clipped[1] is None
    assert [float(v) for v in sess.run([clipped[0][0], clipped[2][0, 0], norm])] == [1.5, 2.0, 5.0]
    unchanged, _ = tf.clip_by_global_norm(xs, 10.0)
    assert sess.run(unchanged[0]).tolist() == [3.0]
    broken, _ = tf.clip_by_global_norm([tf.constant([np.inf, 1.0], tf.float32)], 1.0)
    assert np.isnan(sess.run(broken[0])).all()
    with pytest.raises(TypeError, match="should be a sequence"):
        tf.clip_by_global_norm(tf.constant(1.0), 1.0)


def test_by_average_norm(sess):
    x = tf.constant([[3.0, 0.0], [0.0, 4.0]])
    np.testing.assert_allclose(
        sess.run(tf.clip_by_average_norm(x, 0.8)), [[1.92, 0], [0, 2.56]], rtol=1e-6
    )


def test_nodes_are_named_as_in_tensorflow():
    x = tf.placeholder(tf.float32, [3])
    clipped, norm = tf.clip_by_global_norm([x], 1.0)
    assert norm.name == "global_norm/global_norm:0"
    assert clipped[0].name == "clip_by_global_norm/clip_by_global_norm/_0:0"
    assert tf.clip_by_value(x, 0, 1).name == "clip_by_value:0"
    assert tf.clip_by_norm(x, 1.0).name == "clip_by_norm:0"


@pytest.mark.parametrize(
    "low, high, wanted",
    [
        (2.0, 0.5, [2, 2, 2, 2, np.nan]),
        ([2.0] * 5, 0.5, [2, 2, 2, 2, np.nan]),
        (2.0, [0.5] * 5, [2, 2, 2, 2, np.nan]),
        (np.nan, 0.5, [-1, 0, 0.5, 0.5, np.nan]),
        (0.0, np.nan, [0, 0, 1, 3, np.nan]),
    ],
)
def test_limits_that_cross(low, high, wanted):
    x = tf.placeholder(tf.float32)
    clipped = tf.raw_ops.ClipByValue(t=x, clip_value_min=low, clip_value_max=high)
    with tf.Session() as session:
        for _ in range(3):
            found = session.run(clipped, {x: [-1, 0, 1, 3, np.nan]})
            np.testing.assert_array_equal(found, np.array(wanted, np.float32))
