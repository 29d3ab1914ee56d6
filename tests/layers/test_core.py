"""Dense, dropout and flatten."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from tests.running import run_initialized as run


def test_dense() -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    layer = tf.layers.Dense(4, activation="relu", bias_initializer=tf.ones_initializer())
    y = layer(tf.constant(x))
    got, kernel, bias = run(y, layer.kernel, layer.bias)
    np.testing.assert_allclose(got, np.maximum(x @ kernel + bias, 0), rtol=1e-6)
    assert y.op.name == "dense/Relu"


def test_dense_on_more_axes() -> None:
    x = np.random.RandomState(0).randn(2, 3, 4).astype(np.float32)
    layer = tf.layers.Dense(5, use_bias=False)
    y = layer(tf.placeholder_with_default(x, [None, 3, 4]))
    assert y.shape.as_list() == [None, 3, 5]
    got, kernel = run(y, layer.kernel)
    np.testing.assert_allclose(got, x @ kernel, rtol=1e-5)


def test_dense_needs_a_known_depth_and_floats() -> None:
    with pytest.raises(ValueError, match="last dimension of the inputs to `Dense`"):
        tf.layers.dense(tf.placeholder(tf.float32, [2, None]), 3)
    with pytest.raises(TypeError, match="non-floating point"):
        tf.layers.dense(tf.ones([2, 3], tf.int32), 3)


def test_dropout() -> None:
    x = tf.ones([200])
    kept, dropped = run(
        tf.layers.dropout(x, 0.25), tf.layers.dropout(x, 0.25, training=True, seed=3)
    )
    np.testing.assert_array_equal(kept, np.ones(200))
    assert set(np.round(dropped, 4)) == {0, np.float32(1.3333)}


def test_dropout_decided_when_run() -> None:
    training = tf.placeholder(tf.bool, [])
    y = tf.layers.dropout(tf.ones([50]), 0.5, training=training)
    with tf.Session() as session:
        assert session.run(y, {training: False}).all()
        assert not session.run(y, {training: True}).all()


def test_flatten() -> None:
    x = np.arange(24).reshape(2, 3, 2, 2)
    last = tf.layers.flatten(tf.constant(x))
    first = tf.layers.flatten(tf.constant(x), data_format="channels_first")
    unknown = tf.layers.flatten(tf.placeholder(tf.float32, [None, None, 2]))
    assert last.shape.as_list() == [2, 12]
    assert unknown.shape.as_list() == [None, None]
    got_last, got_first = run(last, first)
    np.testing.assert_array_equal(got_last, x.reshape(2, 12))
    np.testing.assert_array_equal(got_first, x.transpose(0, 2, 3, 1).reshape(2, 12))
