"""tf.contrib.optimizer_v2: the same steps as `tf.train`, under another interface."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from weft.contrib import optimizer_v2

import weft as tf

KINDS = {
    "AdadeltaOptimizer": {"learning_rate": 1.0},
    "AdagradOptimizer": {"learning_rate": 0.5},
    "AdamOptimizer": {"learning_rate": 0.1},
    "GradientDescentOptimizer": {"learning_rate": 0.1},
    "MomentumOptimizer": {"learning_rate": 0.1, "momentum": 0.9, "use_nesterov": True},
    "RMSPropOptimizer": {"learning_rate": 0.1, "centered": True},
}


def steps(optimizer: Any) -> Any:
    with tf.Graph().as_default():
        weights = tf.get_variable("w", initializer=[1.0, 2.0])
        table = tf.get_variable("t", initializer=[[1.0], [2.0], [3.0]])
        loss = tf.reduce_sum(weights**2) + tf.reduce_sum(tf.gather(table, [0, 2, 0]) ** 2)
        step = optimizer().minimize(loss, tf.train.get_or_create_global_step())
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for _ in range(3):
                session.run(step)
            return session.run([weights, table, tf.train.get_global_step()])


@pytest.mark.parametrize("kind", KINDS)
def test_steps(kind: str) -> None:
    ours, theirs = getattr(optimizer_v2, kind), getattr(tf.train, kind)
    if kind != "RMSPropOptimizer":
        for found, expected in zip(
            steps(lambda: ours(**KINDS[kind])), steps(lambda: theirs(**KINDS[kind])), strict=True
        ):
            np.testing.assert_array_equal(found, expected)
    made = ours(**KINDS[kind])
    assert isinstance(made, optimizer_v2.OptimizerV2) and isinstance(made, theirs)
    assert inspect.signature(ours).parameters.keys() == inspect.signature(theirs).parameters.keys()


def test_the_mean_of_squares_starts_at_epsilon() -> None:
    w = tf.get_variable("w", initializer=[1.0, 2.0])
    train = optimizer_v2.RMSPropOptimizer(0.1).minimize(tf.reduce_sum(tf.square(w)))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(train)
        np.testing.assert_allclose(session.run(w), [0.3691806, 1.308718], rtol=1e-5)


def test_settings_that_are_functions() -> None:
    rate = optimizer_v2.GradientDescentOptimizer(lambda: 0.1)
    for found, expected in zip(
        steps(lambda: rate), steps(lambda: tf.train.GradientDescentOptimizer(0.1)), strict=True
    ):
        np.testing.assert_array_equal(found, expected)


def test_gradients_that_stop() -> None:
    x = tf.get_variable("x", initializer=2.0)
    y = x * x
    optimizer = optimizer_v2.GradientDescentOptimizer(1.0)
    pairs = optimizer.compute_gradients(x * y, [x], stop_gradients=[y])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(pairs[0][0]) == 4.0
    with pytest.raises(ValueError, match="for any variable, check your graph"):
        optimizer.minimize(tf.constant(1.0), var_list=[x])
