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


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "uint8", "int64"])
@pytest.mark.parametrize("k", [3, 300])
def test_compiled_sorts_are_those_of_numpy(sess, monkeypatch, dtype, k):
    """Few of a row are looked for, many are sorted, value and place in one number."""
    monkeypatch.setattr("weft.runtime.xla.region.Region._is_heavy", True)
    random = np.random.RandomState(1)
    value = random.randint(-50 if dtype != "uint8" else 0, 50, [4, 300]).astype(dtype)
    if dtype == "float32":
        value[0, :4], value[1, 5] = [np.inf, -np.inf, 0.0, -0.0], np.nan
    x = tf.placeholder(dtype, [4, 300])
    found = tf.nn.top_k(x, k)
    compiled = sess.run(found, {x: value})
    order = np.argsort(-value.astype(np.float64), axis=-1, kind="stable")
    order[1] = np.argsort(
        np.where(np.isnan(value[1]), -np.inf, -value[1].astype(np.float64)), kind="stable"
    )
    np.testing.assert_array_equal(compiled.indices, order[:, :k])
    np.testing.assert_array_equal(compiled.values, np.take_along_axis(value, order, -1)[:, :k])


@pytest.mark.parametrize("shape", [(4, 20_000), (70, 1000), (3, 7, 5000)])
def test_rows_are_sorted_in_parts(sess, rng, shape) -> None:
    """Large arrays, with equal elements and NaNs; some runs, so that the step is compiled."""
    values = rng.integers(-50, 50, shape).astype(np.float32)
    values[..., 3] = np.nan
    fed = tf.placeholder(tf.float32, shape)
    ordered, places = tf.nn.top_k(fed, shape[-1])
    for _ in range(4):
        got, at = sess.run([ordered, places], {fed: values})
        order = np.argsort(np.where(np.isnan(values), -np.inf, -values), axis=-1, kind="stable")
        np.testing.assert_array_equal(at, order)
        np.testing.assert_array_equal(got, np.take_along_axis(values, order, axis=-1))
