from __future__ import annotations

import numpy as np
import pytest

import weft as tf


@pytest.mark.parametrize("axis", [0, 1, -1, -2])
@pytest.mark.parametrize("known", [True, False])
def test_sort_and_argsort(sess, rng, axis, known) -> None:
    value = rng.permutation(24).reshape(4, 6).astype(np.float32)
    x = tf.placeholder(tf.float32, [4, 6] if known else None)
    feeds = {x: value}
    for direction, order in (("ASCENDING", value), ("DESCENDING", -value)):
        found = sess.run([tf.sort(x, axis, direction), tf.argsort(x, axis, direction)], feeds)
        where = np.argsort(order, axis)
        np.testing.assert_array_equal(found[0], np.take_along_axis(value, where, axis))
        np.testing.assert_array_equal(found[1], where)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64])
def test_the_ends_of_integers(sess, dtype) -> None:
    info = np.iinfo(dtype)
    value = np.array([3, info.max, info.min, 3, 0], dtype)
    np.testing.assert_array_equal(sess.run(tf.sort(value)), np.sort(value))
    np.testing.assert_array_equal(sess.run(tf.argsort(value)), np.argsort(value, kind="stable"))


def test_mistakes() -> None:
    with pytest.raises(ValueError, match="should be one of ASCENDING"):
        tf.sort([1.0], direction="UP")
    with pytest.raises(ValueError, match="axis must be a constant scalar"):
        tf.sort([1.0], axis=tf.placeholder(tf.int32, []))
