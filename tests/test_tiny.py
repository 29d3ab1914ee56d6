"""A smoke test of a few seconds: the samples of a first lecture on TensorFlow (`make tiny`)."""

from __future__ import annotations

import numpy as np

import weft as tf


def test_an_addition() -> None:
    a = tf.add(3, 5)
    assert str(a) == 'Tensor("Add:0", shape=(), dtype=int32)'
    with tf.Session() as sess:
        assert sess.run(a) == 8


def test_what_is_not_fetched_is_not_computed() -> None:
    computed = []

    def note(value: np.ndarray) -> np.ndarray:
        computed.append(value)
        return value

    x, y = 2, 3
    add_op = tf.add(x, y)
    mul_op = tf.multiply(x, y)
    useless = tf.py_func(note, [tf.multiply(x, add_op)], tf.int32)
    pow_op = tf.pow(add_op, mul_op)
    with tf.Session() as sess:
        assert sess.run(pow_op) == 15625
        assert computed == []
        assert sess.run([pow_op, useless]) == [15625, 10]
        assert computed == [10]


def test_placeholders() -> None:
    a = tf.placeholder(tf.float32)
    b = tf.placeholder(tf.float32)
    total = a + b
    with tf.Session() as sess:
        assert sess.run(total, {a: 3, b: 4.5}) == 7.5
        assert str(sess.run(total, {a: [1, 3], b: [2, 4]})) == "[3. 7.]"


def test_variables() -> None:
    v = tf.get_variable("v", shape=(), initializer=tf.zeros_initializer())
    assignment = v.assign_add(1)
    w = v + 1
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert [sess.run(assignment) for _ in range(3)] == [1, 2, 3]
        assert sess.run(w) == 4


def test_a_gradient_and_a_step() -> None:
    x = tf.Variable(5.0)
    loss = tf.square(x - 2.0)
    (gradient,) = tf.gradients(loss, [x])
    step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert sess.run(gradient) == 6.0
        for _ in range(60):
            sess.run(step)
        np.testing.assert_allclose(sess.run(x), 2.0, atol=1e-4)
