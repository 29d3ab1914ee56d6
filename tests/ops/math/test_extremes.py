"""Extremes among all elements of a large array, which programs find side by side."""

import numpy as np
import pytest

import weft as tf
from weft.core import machine
from weft.runtime.xla import compile, nans, region

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


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, tf.bfloat16.as_numpy_dtype])
@pytest.mark.parametrize("shape", [(4, 6), (300, 512), (300, 511), (8, 200, 64)])
@pytest.mark.parametrize("keepdims", [True, False])
def test_a_nan_is_the_extreme_of_what_it_lies_in(sess, dtype, shape, keepdims):
    value = _values(shape, np.dtype(np.float32)).astype(dtype)
    value[1, 2], value[3, -1] = np.nan, -np.nan
    wide, x = value.astype(np.float64), tf.Variable(value)
    every = [None, *range(len(shape)), (0, len(shape) - 1)]
    reductions = (tf.reduce_max, np.max), (tf.reduce_min, np.min)
    found = [[f(x, axis, keepdims=keepdims) for axis in every] for f, _ in reductions]
    sess.run(x.initializer)
    for _ in range(3):
        for had, (_, wanted) in zip(sess.run(found), reductions, strict=True):
            for have, axis in zip(had, every, strict=True):
                expected = wanted(wide, axis=axis, keepdims=keepdims)
                np.testing.assert_array_equal(np.asarray(have, np.float64), expected)


CHANGES = {
    "abs": tf.abs,
    "square": tf.square,
    "relu": tf.nn.relu,
    "relu6": tf.nn.relu6,
    "maximum": lambda x: tf.maximum(x, 0.5),
    "minimum": lambda x: tf.minimum(0.5, x),
    "clip": lambda x: tf.clip_by_value(x, -1.0, 1.0),
    "integers": lambda x: tf.maximum(x, tf.cast(tf.maximum(tf.cast(x > 0, tf.int32), 0), x.dtype)),
}
REDUCTIONS = {"max": tf.reduce_max, "min": tf.reduce_min, "sum": tf.reduce_sum}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("reduction", [*REDUCTIONS, "mean"])
def test_a_nan_that_is_computed_on_the_way_is_kept(sess, change, reduction):
    value = _values((256, 1024), np.dtype(np.float32))
    value[3, 5] = np.nan
    x = tf.Variable(value)
    found = (REDUCTIONS | {"mean": tf.reduce_mean})[reduction](CHANGES[change](x), 1)
    sess.run(x.initializer)
    for _ in range(3):
        np.testing.assert_array_equal(np.isnan(sess.run(found)), np.arange(256) == 3)


@pytest.mark.parametrize("width", [300, 2000])  # below and above what is cut off before a sum
def test_only_extremes_that_are_added_up_become_choices(sess, monkeypatch, width):
    changed = []
    monkeypatch.setattr(compile, "keep_nans", lambda m: changed.append(nans.keep_nans(m)))
    monkeypatch.setattr(region, "CALL_COST", -1e9)
    monkeypatch.setattr(machine, "IS_ARM", False)
    x, w = tf.placeholder(tf.float32, [100, width]), tf.Variable(np.ones([width, 4], np.float32))
    hidden = tf.nn.relu(x)
    found = [tf.matmul(hidden, w), tf.reduce_sum(tf.nn.relu(x - 1.0) * 2.0, 1)]
    sess.run(w.initializer)
    value = _values((100, width), np.dtype(np.float32))
    value[7, 8] = np.nan
    for _ in range(3):
        for have in sess.run(found, {x: value}):
            np.testing.assert_array_equal(
                np.isnan(have).reshape(100, -1)[:, 0], np.arange(100) == 7
            )
    assert changed == [1]
