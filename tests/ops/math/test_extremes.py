"""Extremes among all elements of a large array, which programs find side by side."""

import numpy as np
import pytest

import weft as tf

SHAPES = [(1 << 16,), (2, 1 << 16), (300, 17, 16), (65_537,), (100_003, 3)]


def _values(shape, dtype):
    random = np.random.RandomState(0)
    if dtype.kind == "f":
        return random.standard_normal(shape).astype(dtype)
    return random.randint(-100, 100, shape).astype(dtype)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
@pytest.mark.parametrize("keepdims", [True, False])
def test_the_same_as_numpy_finds(sess, shape, dtype, keepdims):
    value = _values(shape, np.dtype(dtype))
    x = tf.Variable(value)
    found = [f(x, keepdims=keepdims) for f in (tf.reduce_max, tf.reduce_min)]
    sess.run(x.initializer)
    for _ in range(3):
        largest, smallest = sess.run(found)
        for have, wanted in ((largest, value.max), (smallest, value.min)):
            np.testing.assert_array_equal(have, wanted(keepdims=keepdims))
            assert have.dtype == dtype and have.shape == ((1,) * len(shape) if keepdims else ())


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [0, 7, 70_000, (1 << 17) - 1])
def test_odd_numbers_wherever_they_are(sess, odd, place):
    value = np.full(1 << 17, 2.0, np.float32)
    value[place] = odd
    x = tf.Variable(value)
    found = [tf.reduce_max(x), tf.reduce_min(x)]
    sess.run(x.initializer)
    for _ in range(3):
        np.testing.assert_array_equal(sess.run(found), [value.max(), value.min()])
