"""Reductions of integers: means do not overflow, sums and norms wrap around, as in TensorFlow."""

import numpy as np
import pytest

import weft as tf

TYPES = ["uint8", "int8", "uint16", "int16", "uint32", "int32", "int64", "uint64"]


def _run(node):
    """What the first run gives, and those that may be compiled."""
    with tf.Session() as session:
        found = [session.run(node) for _ in range(3)]
    np.testing.assert_array_equal(found[0], found[2])
    assert found[0].dtype == found[2].dtype == node.dtype.as_numpy_dtype
    return found[0]


def _fed(values):
    return tf.identity(tf.placeholder_with_default(values, values.shape))


@pytest.mark.parametrize("end", ["min", "max"])
@pytest.mark.parametrize("name", TYPES[:6])
def test_the_mean_of_many_is_within_range(name, end):
    limits = np.iinfo(name)
    value = limits.max if end == "max" else limits.min
    assert _run(tf.reduce_mean(_fed(np.full(300, value, name)))) == value
    assert _run(tf.reduce_mean(_fed(np.full([3, 100], value, name)), 0)).tolist() == [value] * 100


def test_means_round_toward_zero():
    x = np.array([[-7, -8], [7, 8], [1, 0]], np.int8)
    assert _run(tf.reduce_mean(_fed(x), 1)).tolist() == [-7, 7, 0]
    assert _run(tf.reduce_mean(_fed(x[:0]))) == 0


@pytest.mark.parametrize("name", TYPES)
def test_sums_wrap_around(name):
    x = np.full(300, np.iinfo(name).max, name)
    assert _run(tf.reduce_sum(_fed(x))) == np.add.reduce(x, dtype=name)
    assert _run(tf.cumsum(_fed(x)))[-1] == np.add.reduce(x, dtype=name)


@pytest.mark.parametrize(
    "name, values, wanted",
    [
        ("uint8", [20, 20], 5),  # 800 is 32 in a byte
        ("int8", [12, 0], 0),  # 144 is below zero
        ("int16", [3, 4], 5),
        ("int32", [65536, 3], 3),
        ("int64", [30, 40], 50),
    ],
)
def test_the_squares_of_a_norm_wrap_around(name, values, wanted):
    x = _fed(np.array(values, name))
    assert _run(tf.math.reduce_euclidean_norm(x)) == wanted
