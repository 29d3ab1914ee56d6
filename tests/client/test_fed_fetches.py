"""Tensors that are both fed and fetched: what comes back is the array that went in."""

import numpy as np
import pytest

import weft as tf

SCALARS = [
    (tf.float32, 3.0, np.float32),
    (tf.float32, np.float64(3), np.float32),
    (tf.int64, 3, np.int64),
    (tf.bool, True, np.bool_),
    (tf.string, "ab", object),
]


@pytest.mark.parametrize("dtype, value, kind", SCALARS)
def test_a_scalar_is_an_array_without_dimensions(dtype, value, kind):
    x = tf.placeholder(dtype)
    with tf.Session() as session:
        for _ in range(2):
            found = session.run(x, {x: value})
            assert type(found) is np.ndarray and found.shape == () and found.dtype == kind
            assert found == value


def test_an_array_is_the_same_object():
    x = tf.placeholder(tf.float32, [2])
    given = np.array([1, 2], np.float32)
    with tf.Session() as session:
        found, twice = session.run([x, x * 2], {x: given})
    assert found is given and found.flags.writeable
    assert twice.tolist() == [2.0, 4.0]


def test_what_is_computed_from_a_fed_scalar_is_a_scalar():
    x = tf.placeholder(tf.float32)
    with tf.Session() as session:
        found = session.run({"x": x, "y": x + 1}, {x: 1.0})
    assert type(found["x"]) is np.ndarray and type(found["y"]) is np.float32


def test_sparse_values_come_back():
    x = tf.sparse_placeholder(tf.float32)
    with tf.Session() as session:
        found = session.run(x, {x: ([[0]], [1.0], [3])})
    assert found.values.tolist() == [1.0] and found.dense_shape.tolist() == [3]


def test_in_a_partial_run():
    x = tf.placeholder(tf.float32)
    y = x + 1
    with tf.Session() as session:
        handle = session.partial_run_setup([x, y], [x])
        found = session.partial_run(handle, [x, y], {x: 2.0})
    assert type(found[0]) is np.ndarray and found == [2.0, 3.0]
