"""contrib.opt, by formulas in NumPy (TensorFlow 2 has none of these to compare with)."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf

opt = tf.contrib.opt
START = np.linspace(-1, 1, 10).reshape(5, 2).astype(np.float32)
ROWS = np.array([3, 0, 3])
GRADIENT = np.array([[0.1, -0.2], [0.3, 0.4], [0.5, -0.1]], np.float32)


def ten_steps(optimizer, use_resource, sparse=True):
    """The variable and its slots after ten steps with the same gradient."""
    v = tf.get_variable("v", initializer=START, use_resource=use_resource)
    dense = np.zeros_like(START)
    np.add.at(dense, ROWS, GRADIENT)
    grad = tf.IndexedSlices(GRADIENT, ROWS, [5, 2]) if sparse else tf.constant(dense)
    train = optimizer.apply_gradients([(grad, v)])
    slots = [optimizer.get_slot(v, name) for name in optimizer.get_slot_names()]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(10):
            session.run(train)
        return dense, session.run([v, *slots])


def adam(gradient, lazy=False, nesterov=False, decay=0.0, rate=0.1):
    v, m, s = START.astype(np.float64), np.zeros_like(START), np.zeros_like(START)
    used = np.abs(gradient).sum(1, keepdims=True) > 0 if lazy else True
    for t in range(1, 11):
        v = v - decay * v
        m = np.where(used, 0.9 * m + 0.1 * gradient, m)
        s = np.where(used, 0.999 * s + 0.001 * gradient**2, s)
        direction = 0.1 * gradient + 0.9 * m if nesterov else m
        step = rate * np.sqrt(1 - 0.999**t) / (1 - 0.9**t) * direction / (np.sqrt(s) + 1e-8)
        v = v - np.where(used, step, 0)
    return v, m, s


@pytest.mark.parametrize("use_resource", [True, False])
def test_lazy_adam_leaves_other_rows_alone(use_resource) -> None:
    dense, found = ten_steps(opt.LazyAdamOptimizer(0.1), use_resource)
    for got, wanted in zip(found, adam(dense, lazy=True), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-6)
    np.testing.assert_array_equal(found[0][[1, 2, 4]], START[[1, 2, 4]])


@pytest.mark.parametrize("use_resource", [True, False])
def test_dense_relatives_of_adam(use_resource) -> None:
    dense, found = ten_steps(opt.NadamOptimizer(0.1), use_resource, sparse=False)
    for got, wanted in zip(found, adam(dense, nesterov=True), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("use_resource", [True, False])
def test_weights_shrink_apart_from_the_gradient(use_resource) -> None:
    dense, found = ten_steps(opt.AdamWOptimizer(0.05, 0.1), use_resource, sparse=False)
    for got, wanted in zip(found, adam(dense, decay=0.05), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-6)


def test_weight_decay_of_chosen_variables() -> None:
    a, b = tf.Variable(1.0), tf.Variable(1.0)
    made = opt.extend_with_decoupled_weight_decay(tf.train.GradientDescentOptimizer)
    optimizer = made(weight_decay=0.5, learning_rate=1.0)
    train = optimizer.minimize(0.0 * (a + b), decay_var_list=[a])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        assert session.run([a, b]) == [0.5, 1.0]


@pytest.mark.parametrize("use_resource", [True, False])
def test_ada_max(use_resource) -> None:
    dense, found = ten_steps(opt.AdaMaxOptimizer(0.1), use_resource, sparse=False)
    v, m, s = START.astype(np.float64), np.zeros_like(START), np.zeros_like(START)
    for t in range(1, 11):
        m, s = 0.9 * m + 0.1 * dense, np.maximum(0.999 * s, np.abs(dense))
        v = v - 0.1 / (1 - 0.9**t) * m / (s + 1e-8)
    np.testing.assert_allclose(found[0], v, rtol=1e-4, atol=1e-6)


def test_moving_averages_are_saved_as_the_variables(tmp_path) -> None:
    v = tf.get_variable("v", initializer=1.0)
    optimizer = opt.MovingAverageOptimizer(tf.train.GradientDescentOptimizer(1.0), 0.5)
    train = optimizer.minimize(v)
    saver = optimizer.swapping_saver()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        path = saver.save(session, str(tmp_path / "model"))
        assert session.run(v) == 0.0
    reader = tf.train.load_checkpoint(path)
    assert reader.get_tensor("v") == 0.5
    assert reader.get_tensor("v/ExponentialMovingAverage") == 0.0


def test_scipy() -> None:
    v = tf.get_variable("v", initializer=np.array([7.0, 3.0], np.float32))
    loss = tf.reduce_sum(tf.square(v - [1.0, -2.0]))
    bounded = opt.ScipyOptimizerInterface(loss, var_to_bounds={v: ([-10, 0], [10, 10])})
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        bounded.minimize(session)
        np.testing.assert_allclose(session.run(v), [1, 0], atol=1e-4)
    with pytest.raises(ValueError, match="Bounds must be set using the var_to_bounds"):
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            opt.ScipyOptimizerInterface(loss, bounds=[]).minimize(session)


def test_how_much_signs_count():
    """The formulas of TensorFlow's documentation, between and after the periods."""
    cosine = opt.get_cosine_decay_fn(1000, num_periods=5, zero_after=2)
    restart = opt.get_restart_decay_fn(1000, num_periods=5, zero_after=2)
    with tf.Graph().as_default(), tf.Session() as sess:
        for step in (0, 50, 230, 350, 400, 450):
            part = 5 * step / 1000
            over = part >= 2
            waves = [0.5 + 0.5 * np.cos(2 * np.pi * part), 0.5 + 0.5 * np.cos(np.pi * (part % 1))]
            found = sess.run([cosine(step), restart(step)])
            np.testing.assert_allclose(found, np.where(over, 0, waves), atol=1e-5)
        assert sess.run(opt.get_restart_decay_fn(1000)(2000)) == 1.0  # begins anew at the end
