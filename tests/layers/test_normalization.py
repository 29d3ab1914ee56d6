"""Batch normalization: fused or not, moving averages, renormalization, virtual batches."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf

X = np.random.RandomState(0).randn(4, 3, 2, 5).astype(np.float32) * 2 + 1


def normalized(x, axes):
    mean, variance = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    return (x - mean) / np.sqrt(variance + 1e-3)


def test_variables_and_names() -> None:
    y = tf.layers.batch_normalization(tf.constant(X), training=True)
    assert y.op.name == "batch_normalization/FusedBatchNormV3"
    names = [v.op.name.rpartition("/")[2] for v in tf.global_variables()]
    assert names == ["gamma", "beta", "moving_mean", "moving_variance"]
    assert [v.op.name for v in tf.trainable_variables()] == [
        "batch_normalization/gamma",
        "batch_normalization/beta",
    ]
    updates = [op.name for op in tf.get_collection(tf.GraphKeys.UPDATE_OPS)]
    assert updates == [
        "batch_normalization/AssignMovingAvg",
        "batch_normalization/AssignMovingAvg_1",
    ]


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize("decided", ["now", "when run"])
def test_training_and_inference(fused, decided) -> None:
    training = True if decided == "now" else tf.placeholder(tf.bool, [])
    layer = tf.layers.BatchNormalization(momentum=0.9, fused=fused)
    y = layer.apply(tf.constant(X), training=training)
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    assert len(updates) == 2
    feed = {} if decided == "now" else {training: True}
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        got = session.run([y, updates], feed)[0]
        np.testing.assert_allclose(got, normalized(X, (0, 1, 2)), rtol=1e-3, atol=1e-4)
        mean, variance = session.run([layer.moving_mean, layer.moving_variance])
        np.testing.assert_allclose(mean, 0.1 * X.mean((0, 1, 2)), rtol=1e-4)
        # The fused operation gives the unbiased variance.
        spread = X.var((0, 1, 2)) * (24 / 23 if fused else 1)
        np.testing.assert_allclose(variance, 0.9 + 0.1 * spread, rtol=1e-4)
        if decided == "when run":
            got, _ = session.run([y, updates], {training: False})
            wanted = (X - mean) / np.sqrt(variance + 1e-3)
            np.testing.assert_allclose(got, wanted, rtol=1e-3, atol=1e-4)
            np.testing.assert_array_equal(session.run(layer.moving_mean), mean)


@pytest.mark.parametrize("axis", [1, 2, [1, 3], -1])
def test_axes(axis) -> None:
    y = tf.layers.batch_normalization(tf.constant(X), axis=axis, training=True)
    kept = {a % 4 for a in (axis if isinstance(axis, list) else [axis])}
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        wanted = normalized(X, tuple({0, 1, 2, 3} - kept))
        np.testing.assert_allclose(session.run(y), wanted, rtol=1e-3, atol=1e-4)


def test_without_scale_and_center() -> None:
    y = tf.layers.batch_normalization(tf.constant(X), scale=False, center=False, training=True)
    assert tf.trainable_variables() == []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_allclose(session.run(y), normalized(X, (0, 1, 2)), rtol=1e-3, atol=1e-4)


def test_half_precision_keeps_its_statistics_in_single() -> None:
    tf.layers.batch_normalization(tf.constant(X.astype(np.float16)), training=True)
    assert {v.dtype.base_dtype for v in tf.global_variables()} == {tf.float32}


def test_renormalization() -> None:
    x = X.reshape(-1, 5)
    layer = tf.layers.BatchNormalization(
        renorm=True, renorm_clipping={"rmax": 1.5, "rmin": 0.5, "dmax": 0.25}, momentum=0.5
    )
    y = layer.apply(tf.constant(x), training=True)
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        got = session.run([y, updates])[0]
        stddev = np.sqrt(x.var(0) + 1e-3)
        r, d = np.clip(stddev, 0.5, 1.5), np.clip(x.mean(0), -0.25, 0.25)
        wanted = (x - x.mean(0)) / stddev * r + d
        np.testing.assert_allclose(got, wanted, rtol=1e-3, atol=1e-4)
        mean = session.run(layer.moving_mean)
        np.testing.assert_allclose(mean, 0.5 * x.mean(0), rtol=1e-4)
        np.testing.assert_allclose(session.run(layer.moving_stddev), (1 + stddev) / 2, rtol=1e-4)


def test_virtual_batches() -> None:
    x = X.reshape(-1, 5)
    y = tf.layers.batch_normalization(tf.constant(x), virtual_batch_size=6, training=True)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        parts = normalized(x.reshape(6, 4, 5), (0,))
        np.testing.assert_allclose(session.run(y), parts.reshape(-1, 5), rtol=1e-3, atol=1e-4)


def test_errors() -> None:
    x = tf.constant(X)
    with pytest.raises(ValueError, match="Invalid axis: 4"):
        tf.layers.batch_normalization(x, axis=4)
    with pytest.raises(ValueError, match="Duplicate axis"):
        tf.layers.batch_normalization(x, axis=[1, 1])
    with pytest.raises(ValueError, match="contains keys not in"):
        tf.layers.batch_normalization(x, renorm=True, renorm_clipping={"r": 1})
    with pytest.raises(ValueError, match="undefined `axis` dimension"):
        tf.layers.batch_normalization(tf.placeholder(tf.float32, [2, None]))
