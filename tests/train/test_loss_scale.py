"""Loss scales: fixed and dynamic, under tf.train.experimental and tf.contrib."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from weft.lib.train.optimizers.loss_scale import DynamicLossScale, FixedLossScale, as_loss_scale
from weft.lib.train.optimizers.loss_scale_optimizer import MixedPrecisionLossScaleOptimizer


def test_fixed_scale_changes_nothing_but_the_gradient_on_the_way() -> None:
    v = tf.Variable([1.0, 2.0])
    seen = []

    @tf.custom_gradient
    def watch(x):
        def grad(dy):
            seen.append(dy)
            return dy

        return tf.identity(x), grad

    optimizer = MixedPrecisionLossScaleOptimizer(tf.train.GradientDescentOptimizer(0.5), 128)
    train = optimizer.minimize(tf.reduce_sum(watch(v) * 3.0))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(session.run(seen[0]), [384, 384])
        session.run(train)
        np.testing.assert_array_equal(session.run(v), [-0.5, 0.5])


def test_dynamic_scale_leaves_bad_steps_out() -> None:
    v = tf.Variable(1.0)
    factor = tf.placeholder(tf.float32, [])
    scale = DynamicLossScale(initial_loss_scale=8, increment_period=2, multiplier=2)
    optimizer = MixedPrecisionLossScaleOptimizer(tf.train.GradientDescentOptimizer(1.0), scale)
    train = optimizer.minimize(v * factor)
    found = []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for value in (1.0, np.inf, 1.0, 1.0, 1.0, np.nan):
            session.run(train, {factor: value})
            found.append(tuple(session.run([v, scale()])))
    assert found == [(0, 8), (0, 4), (-1, 4), (-2, 8), (-3, 8), (-3, 4)]


def test_managers() -> None:
    precision = tf.contrib.mixed_precision
    v = tf.Variable(1.0)
    factor = tf.placeholder(tf.float32, [])
    manager = precision.ExponentialUpdateLossScaleManager(
        16, incr_every_n_steps=2, decr_every_n_nan_or_inf=2, decr_ratio=0.5
    )
    optimizer = precision.LossScaleOptimizer(tf.train.GradientDescentOptimizer(1.0), manager)
    train = optimizer.minimize(v * factor)
    found = []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for value in (1.0, 1.0, np.inf, np.inf, 1.0):
            session.run(train, {factor: value})
            found.append(tuple(session.run([v, manager.get_loss_scale()])))
    assert found == [(0, 16), (-1, 32), (-1, 32), (-1, 16), (-2, 16)]


def test_what_a_loss_scale_may_be() -> None:
    assert as_loss_scale(None) is None
    assert as_loss_scale(4).get_config() == {"loss_scale_value": 4.0}
    assert isinstance(as_loss_scale("dynamic"), DynamicLossScale)
    assert repr(FixedLossScale.from_config({"loss_scale_value": 2})) == "FixedLossScale(2.0)"
    with pytest.raises(ValueError, match="Could not interpret loss scale identifier"):
        as_loss_scale("static")
    with pytest.raises(ValueError, match="at least 1"):
        FixedLossScale(0.5)


def test_mixed_precision_wraps_the_optimizer() -> None:
    v = tf.Variable(1.0)
    factor = tf.placeholder(tf.float32, [])
    enable = tf.train.experimental.enable_mixed_precision_graph_rewrite
    wrapped = enable(tf.train.GradientDescentOptimizer(1.0))
    train = wrapped.minimize(v * factor)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for value in (2.0, np.inf):
            session.run(train, {factor: value})
        assert session.run([v, wrapped._loss_scale()]) == [-1.0, 2.0**14]
    assert isinstance(enable(tf.train.AdamOptimizer(), 8.0)._loss_scale, FixedLossScale)
    with pytest.raises(ValueError, match="must not already be an instance of"):
        enable(wrapped)
    with pytest.raises(ValueError, match="must be an instance of a"):
        enable(1)
    tf.train.experimental.disable_mixed_precision_graph_rewrite()
