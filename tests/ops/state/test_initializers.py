"""Initializers: distributions, shapes and configurations."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf

ALL = {
    "zeros": lambda: tf.zeros_initializer(),
    "ones": lambda: tf.ones_initializer(),
    "constant": lambda: tf.constant_initializer(2.5),
    "random_uniform": lambda: tf.random_uniform_initializer(-1, 2, seed=1),
    "random_normal": lambda: tf.random_normal_initializer(0.5, 2.0, seed=1),
    "truncated_normal": lambda: tf.truncated_normal_initializer(0.5, 2.0, seed=1),
    "uniform_unit_scaling": lambda: tf.uniform_unit_scaling_initializer(1.5, seed=1),
    "variance_scaling": lambda: tf.variance_scaling_initializer(2.0, "fan_out", "uniform", seed=1),
    "glorot_uniform": lambda: tf.glorot_uniform_initializer(seed=1),
    "glorot_normal": lambda: tf.glorot_normal_initializer(seed=1),
    "orthogonal": lambda: tf.orthogonal_initializer(0.5, seed=1),
    "identity": lambda: tf.initializers.identity(2.0),
    "lecun_normal": lambda: tf.initializers.lecun_normal(seed=1),
    "he_uniform": lambda: tf.initializers.he_uniform(seed=1),
}


@pytest.mark.parametrize("name", ALL)
def test_config_round_trip(name, sess):
    first = ALL[name]()
    again = type(first).from_config(first.get_config())
    assert again.get_config() == first.get_config()
    a, b = sess.run([first([4, 4]), again([4, 4])])
    assert a.dtype == np.float32 and a.shape == (4, 4)
    if name not in ("random_uniform", "random_normal", "truncated_normal"):
        assert np.isfinite(a).all()
    np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    ("mode", "distribution", "fan"),
    [
        ("fan_in", "truncated_normal", 200),
        ("fan_out", "untruncated_normal", 50),
        ("fan_avg", "uniform", 125),
    ],
)
def test_variance_scaling(mode, distribution, fan, sess):
    values = sess.run(tf.variance_scaling_initializer(3.0, mode, distribution, seed=2)([200, 50]))
    assert abs(values.var() / (3.0 / fan) - 1) < 0.05
    assert abs(values.mean()) < 0.01


def test_fans_of_convolution_kernels(sess):
    values = sess.run(tf.glorot_uniform_initializer(seed=2)([3, 3, 8, 16]))
    limit = np.sqrt(6 / (9 * (8 + 16)))
    assert 0.95 * limit < np.abs(values).max() <= limit


@pytest.mark.parametrize("shape", [(4, 7), (7, 4), (2, 3, 4)])
def test_orthogonal(shape, sess):
    q = sess.run(tf.orthogonal_initializer(2.0, seed=3)(shape)).reshape(-1, shape[-1])
    small = q.T @ q if q.shape[0] >= q.shape[1] else q @ q.T
    np.testing.assert_allclose(small, 4 * np.eye(len(small)), atol=1e-5)


def test_constants_fill_up(sess):
    init = tf.constant_initializer([1, 2])
    assert sess.run(init([2, 2], dtype=tf.int32)).tolist() == [[1, 2], [2, 2]]
    with pytest.raises(ValueError, match="Too many elements"):
        init([1])
    with pytest.raises(TypeError):
        tf.constant_initializer([1, 2], verify_shape=True)([2, 2])
    with pytest.raises(TypeError, match="Invalid type for initial value"):
        tf.constant_initializer(tf.constant(1.0))


def test_wrong_arguments():
    with pytest.raises(ValueError, match="must be positive float"):
        tf.variance_scaling_initializer(0)
    with pytest.raises(ValueError, match="Invalid `mode`"):
        tf.variance_scaling_initializer(mode="fan")
    with pytest.raises(ValueError, match="Expected floating point type"):
        tf.random_normal_initializer(dtype=tf.int32)
    with pytest.raises(ValueError, match="at least two-dimensional"):
        tf.orthogonal_initializer()([3])
    with pytest.raises(ValueError, match="2D matrices"):
        tf.initializers.identity()([3])


@pytest.mark.parametrize("made", [tf.glorot_uniform_initializer, tf.glorot_normal_initializer])
def test_glorot_is_float32_unless_the_call_asks_for_another_type(made):
    for dtype in (tf.float64, tf.int32):
        first = made(seed=1, dtype=dtype)
        assert first([2, 3]).dtype == tf.float32 and first.get_config()["dtype"] == "float32"
        assert first([2, 3], dtype=tf.float64).dtype == tf.float64
