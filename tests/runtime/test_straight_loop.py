"""Small loops that stay on the host: one generated function, what does not change computed once."""

import numpy as np
import pytest

import weft as tf
from weft.ops import gather


def stay_on_host(v):
    """`v`, by way of a shape that depends on it, which no program can have."""
    return tf.reduce_sum(tf.boolean_mask(tf.stack([v, v]), [True, False]))


def loop(n, values, step):
    body = lambda i, v: (i + 1, step(values, stay_on_host(v)))  # noqa: E731
    return tf.while_loop(lambda i, v: i < n, body, [0, 1.0])[1]


@pytest.fixture
def fed(sess):
    """Runs a loop whose body is `step(values, v)` for `n` iterations, some times."""
    n, values = tf.placeholder(tf.int32, []), tf.placeholder(tf.float32, [None])

    def run(step, iterations, value=(1.0, 2.0, 3.0), times=3):
        result = loop(n, values, step)
        feeds = {n: iterations, values: np.array(value, np.float32)}
        return [float(sess.run(result, feeds)) for _ in range(times)]

    return run


def test_what_does_not_change_is_computed_once(fed, monkeypatch):
    calls = []
    original = gather.take_rows
    monkeypatch.setattr(
        gather,
        "take_rows",
        lambda xp, p, i, a: (calls.append(np.ndim(i)), original(xp, p, i, a))[1],
    )
    # The index of `fixed` is a matrix, that of boolean_mask a vector.
    fixed = lambda values, v: v * 0.5 + tf.reduce_sum(tf.gather(values, [[0, 2]]))  # noqa: E731
    assert fed(fixed, 50, times=1) == [pytest.approx(8.0, rel=1e-6)]
    assert calls.count(1) == 50
    assert calls.count(2) <= 6  # a few iterations node by node, then once


def test_a_loop_that_never_runs_does_not_fail(fed):
    step = lambda values, v: v + tf.reduce_sum(tf.gather(values, [7]))  # noqa: E731
    fed(lambda values, v: v + 1.0, 20)
    assert fed(step, 0) == [1.0] * 3
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"indices\[0\] = 7 is not in \[0, 3\)"
    ):
        fed(step, 20)


def test_variables_that_pass_unchanged_count_as_fixed(sess):
    n = tf.placeholder(tf.int32, [])
    step = lambda i, a, v: (i + 1, a, stay_on_host(v) + tf.sqrt(a))  # noqa: E731
    result = tf.while_loop(lambda i, a, v: i < n, step, [0, 4.0, 0.0])[1:]
    for iterations in (10, 10, 3, 0):
        assert list(sess.run(result, {n: iterations})) == [4.0, 2.0 * iterations]


def test_numbers_wrap_and_overflow_quietly(sess):
    step = lambda i, k, v: (i + 1, k * 3, stay_on_host(v) * 1e30)  # noqa: E731
    _, k, v = tf.while_loop(lambda i, k, v: i < 50, step, [0, tf.constant(1, tf.int32), 1.0])
    for _ in range(3):
        got_k, got_v = sess.run([k, v])
        assert got_k == np.array(3**50 % 2**32, np.uint32).astype(np.int32)
        assert got_v == np.inf


def test_an_error_names_node_and_iteration(sess):
    values = tf.placeholder(tf.float32, [None])

    def step(i, v):
        return i + 1, stay_on_host(v) + tf.gather(values, i, name="picky")

    result = tf.while_loop(lambda i, v: i < 30, step, [0, 0.0])[1]
    for _ in range(2):
        with pytest.raises(tf.errors.InvalidArgumentError) as info:
            sess.run(result, {values: np.zeros(20, np.float32)})
        assert "picky" in str(info.value) and "iteration 20" in str(info.value)


def test_a_variable_in_the_condition_is_read_every_time(sess):
    """Although nothing else in the condition changes."""
    a = tf.Variable(0, use_resource=False)
    sess.run(a.initializer)

    def body(i):
        with tf.control_dependencies([tf.assign_add(a, 1)]):
            return i + 1

    loop = tf.while_loop(lambda i: tf.less(a, 10), body, [0], parallel_iterations=1)
    assert sess.run(loop) == 10
