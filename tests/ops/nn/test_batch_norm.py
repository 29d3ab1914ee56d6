"""Batch normalization: the retired op, and gradients of gradients by differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf

RANDOM = np.random.default_rng(3)


def normal(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(np.float32)


def reference(t: Any, m: Any, v: Any, beta: Any, gamma: Any) -> Any:
    return tf.nn.batch_normalization(t, m, v, beta, gamma, 0.01)


@pytest.mark.parametrize("scaled", [True, False])
def test_global_normalization_and_its_gradient(scaled: bool) -> None:
    inputs = [normal(2, 3, 2, 3), normal(3), abs(normal(3)) + 0.5, normal(3), normal(3)]
    tensors = [tf.constant(value) for value in inputs]
    g = normal(2, 3, 2, 3)
    result = tf.raw_ops.BatchNormWithGlobalNormalization(
        t=tensors[0],
        m=tensors[1],
        v=tensors[2],
        beta=tensors[3],
        gamma=tensors[4],
        variance_epsilon=0.01,
        scale_after_normalization=scaled,
    )
    expected = reference(*tensors[:4], tensors[4] if scaled else None)
    count = 5 if scaled else 4
    with tf.Session() as session:
        ours, theirs = session.run([result, expected])
        ours_grads, theirs_grads = session.run(
            [tf.gradients(result, tensors, g), tf.gradients(expected, tensors[:count], g)]
        )
    np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)
    for mine, other in zip(ours_grads, theirs_grads, strict=False):
        np.testing.assert_allclose(mine, other, rtol=1e-3, atol=1e-4)
    if not scaled:
        assert not ours_grads[4].any()


@pytest.mark.parametrize("data_format", ["NHWC", "NCHW"])
@pytest.mark.parametrize("training", [True, False])
def test_second_gradients(training: bool, data_format: str) -> None:
    """What the gradient op's gradient says, against what composing elementary ops gives."""
    shape = [3, 2, 3, 2] if data_format == "NHWC" else [3, 2, 2, 3]
    values = normal(*shape), normal(2), normal(2)
    x, scale, offset = (tf.constant(value) for value in values)
    mean, variance = (None, None) if training else (tf.constant(normal(2)), tf.constant([0.5, 2.0]))
    y, *_ = tf.nn.fused_batch_norm(
        x, scale, offset, mean, variance, 0.01, data_format=data_format, is_training=training
    )
    z = composed(x, scale, offset, mean, variance, data_format)
    weights, again = normal(*shape), normal(*shape)

    def second(result: Any) -> list[Any]:
        first = tf.gradients(result, [x, scale], weights * tf.tanh(result))
        return tf.gradients(first[0] * again, [x, scale]) + tf.gradients(first[1], [x, scale])

    with tf.Session() as session:
        mine, other = session.run([[y, *second(y)], [z, *second(z)]])
    for a, b in zip(mine, other, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-3, atol=2e-3)


def composed(x: Any, scale: Any, offset: Any, mean: Any, variance: Any, data_format: str) -> Any:
    axes = [0, 1, 2] if data_format == "NHWC" else [0, 2, 3]
    along = (lambda v: v) if data_format == "NHWC" else (lambda v: tf.reshape(v, [1, 2, 1, 1]))
    if mean is None:
        mean = tf.reduce_mean(x, axes, keepdims=True)
        variance = tf.reduce_mean((x - mean) ** 2, axes, keepdims=True)
    else:
        mean, variance = along(mean), along(variance)
    return (x - mean) / tf.sqrt(variance + 0.01) * along(scale) + along(offset)


def test_training_on_nothing() -> None:
    y, mean, variance = tf.nn.fused_batch_norm(
        np.zeros((0, 2, 2, 3), np.float32), [1.0] * 3, [0.0] * 3
    )
    with tf.Session() as session:
        y, mean, variance = session.run([y, mean, variance])
    assert y.shape == (0, 2, 2, 3) and np.isnan(mean).all() and np.isnan(variance).all()


def test_compiled_statistics_of_values_far_from_zero() -> None:
    """Compiled, mean and variance come from one walk over the values; nothing must cancel."""
    values = (1000 + 0.1 * normal(8, 6, 6, 2)).astype(np.float32)
    x = tf.placeholder(tf.float32, [8, 6, 6, 2])
    outputs = tf.nn.fused_batch_norm(x, tf.ones([2]), tf.zeros([2]), epsilon=1e-5)
    with tf.Session() as session:
        interpreted, compiled = (session.run(outputs, {x: values}) for _ in range(2))
    expected = values.astype(np.float64).var((0, 1, 2), ddof=1)
    for _, mean, variance in (interpreted, compiled):
        np.testing.assert_allclose(mean, values.astype(np.float64).mean((0, 1, 2)), rtol=1e-6)
        np.testing.assert_allclose(variance, expected, rtol=1e-3)


@pytest.mark.parametrize(("is_training", "expected"), [(True, 0), (False, 3)])
def test_outputs_of_the_gradient_that_nobody_uses(is_training: bool, expected: int) -> None:
    x, vector = tf.placeholder(tf.float32, [2, 2, 2, 3]), tf.ones([3])
    arguments = [x, x, vector, vector, vector, vector]
    made = tf.raw_ops.FusedBatchNormGradV3(
        **dict(zip(
            "y_backprop x scale reserve_space_1 reserve_space_2 reserve_space_3".split(),
            arguments, strict=True,
        )),
        is_training=is_training,
    )  # fmt: skip
    assert [each.shape.as_list() for each in made[3:]] == [[expected]] * 2
