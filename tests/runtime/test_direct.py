"""Steps that are one compiled program, from what is fed to what is fetched."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf


@pytest.fixture
def sess() -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def warm(sess: Any, fetches: Any, feeds: Any = None) -> Any:
    """Runs until the step is compiled, and says whether it is one program."""
    for _ in range(4):
        sess.run(fetches, feeds)
    plans = [p for p in sess._runner._plans.values() if getattr(p, "direct", None) is not None]
    return bool(plans)


def product(x: Any) -> Any:
    return tf.reduce_sum(tf.matmul(x, x, transpose_b=True), 1)


def test_each_shape_gets_its_own_answer(sess: Any) -> None:
    x = tf.placeholder(tf.float32, [None, 64])
    y = product(x)
    fed = {n: np.random.default_rng(n).random((n, 64), np.float32) for n in (90, 130, 110)}
    assert warm(sess, y, {x: fed[90]})
    for n in (90, 130, 90, 110, 130, 130, 110, 90):
        want = (fed[n] @ fed[n].T).sum(1)
        np.testing.assert_allclose(sess.run(y, {x: fed[n]}), want, rtol=1e-4)


def test_fetches_and_feeds_in_any_order(sess: Any) -> None:
    x, z = tf.placeholder(tf.float32, [96, 96]), tf.placeholder(tf.float32, [96, 96])
    unused = tf.placeholder(tf.float32, [3])
    a, b = tf.matmul(x, z), tf.matmul(z, x)
    one = np.random.default_rng(1).random((96, 96), np.float32)
    two = np.random.default_rng(2).random((96, 96), np.float32)
    feeds = {unused: [1, 2, 3], z: two, x: one}
    assert warm(sess, [b, {"a": a}, b], feeds)
    first, rest, again = sess.run([b, {"a": a}, b], feeds)
    np.testing.assert_allclose(first, two @ one, rtol=1e-4)
    np.testing.assert_allclose(rest["a"], one @ two, rtol=1e-4)
    np.testing.assert_array_equal(first, again)


def test_variables_that_change_between_steps(sess: Any) -> None:
    v = tf.Variable(np.ones((100, 100), np.float32), validate_shape=False)
    bigger = tf.assign(v, np.full((120, 120), 2, np.float32), validate_shape=False)
    step = tf.assign(v, tf.tanh(tf.matmul(v, v)), validate_shape=False)
    y = product(v)
    sess.run(v.initializer)
    warm(sess, y)
    np.testing.assert_allclose(sess.run(y), np.full(100, 1e4), rtol=1e-5)
    sess.run(bigger.op)
    np.testing.assert_allclose(sess.run(y), np.full(120, 4 * 120 * 120), rtol=1e-5)
    v.load(np.zeros((100, 100), np.float32), sess)
    np.testing.assert_array_equal(sess.run(y), np.zeros(100))
    sess.run(v.initializer)
    for _ in range(4):
        sess.run(step.op)
    np.testing.assert_allclose(sess.run(v), np.full((100, 100), 1), rtol=1e-5)


def test_a_variable_that_is_gone(sess: Any) -> None:
    v = tf.get_variable("v", initializer=np.ones((100, 100), np.float32), use_resource=True)
    y = product(v)
    sess.run(v.initializer)
    assert warm(sess, y)
    sess.run(tf.raw_ops.DestroyResourceOp(resource=v.handle))
    with pytest.raises(tf.errors.FailedPreconditionError, match="v"):
        sess.run(y)
    sess.run(v.initializer)
    np.testing.assert_allclose(sess.run(y), np.full(100, 1e4), rtol=1e-5)


def test_random_numbers_go_on(sess: Any) -> None:
    tf.set_random_seed(3)
    y = tf.random_uniform([200, 200])
    z = tf.matmul(y, y)
    drawn = [sess.run(z) for _ in range(8)]
    assert len({d.tobytes() for d in drawn}) == 8
    with tf.Session(graph=sess.graph) as again:
        for value in drawn:
            np.testing.assert_allclose(again.run(z), value, rtol=1e-5)


def test_what_is_fetched_is_the_callers_own(sess: Any) -> None:
    v = tf.Variable(np.ones((100, 100), np.float32))
    y = tf.matmul(v, v)
    sess.run(v.initializer)
    warm(sess, y)
    mine = sess.run(y)
    mine[:] = 7
    np.testing.assert_array_equal(sess.run(y), np.full((100, 100), 100))


# ---- steps of a few host nodes -------------------------------------------------------------------


def test_tiny_steps_are_one_call_for_each_shape(sess: Any) -> None:
    x = tf.placeholder(tf.float32, [None])
    v = tf.Variable(2.0)
    y = [0.5 * x + v, x - 1.0]
    sess.run(v.initializer)
    assert warm(sess, y, {x: [1.0]})
    for fed in ([1.0], [1.0, 2.0], [3.0], [], [4.0, 5.0], [6.0]):
        first, second = sess.run(y, {x: fed})
        np.testing.assert_array_equal(first, 0.5 * np.array(fed, np.float32) + 2)
        np.testing.assert_array_equal(second, np.array(fed, np.float32) - 1)


def test_tiny_steps_see_variables_as_they_are(sess: Any) -> None:
    x = tf.placeholder(tf.float32, [])
    v = tf.get_variable("v", initializer=2.0, use_resource=True)
    y = x + v
    sess.run(v.initializer)
    assert warm(sess, y, {x: 1.0})
    v.load(5.0, sess)
    assert sess.run(y, {x: 1.0}) == 6
    sess.run(tf.raw_ops.DestroyResourceOp(resource=v.handle))
    with pytest.raises(tf.errors.FailedPreconditionError, match="v"):
        sess.run(y, {x: 1.0})
    sess.run(v.initializer)
    assert sess.run(y, {x: 1.0}) == 3


def test_tiny_steps_that_change_a_variable(sess: Any) -> None:
    x = tf.placeholder(tf.float32, [])
    v = tf.Variable(0.0)
    step = tf.assign_add(v, x)
    sess.run(v.initializer)
    assert [sess.run(step, {x: 1.0}) for _ in range(8)] == list(range(1, 9))


def test_what_a_tiny_step_gives_is_the_callers_own(sess: Any) -> None:
    v = tf.Variable([1.0, 2.0])
    x = tf.placeholder(tf.float32, [2])
    fetches = [tf.identity(v), tf.identity(x)]
    sess.run(v.initializer)
    given = np.array([3, 4], np.float32)
    call = sess.make_callable(fetches, [x])
    for _ in range(6):
        for mine in call(given):
            mine[:] = 7
    np.testing.assert_array_equal(sess.run(v), [1, 2])
    np.testing.assert_array_equal(given, [3, 4])


def test_an_error_of_a_tiny_step_names_its_node(sess: Any) -> None:
    x, z = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.float32, [None])
    y = tf.add(x, z, name="sum_of_both")
    warm(sess, y, {x: [1.0, 2.0], z: [1.0, 2.0]})
    for _ in range(2):
        with pytest.raises(tf.errors.InvalidArgumentError, match="sum_of_both"):
            sess.run(y, {x: [1.0, 2.0], z: [1.0, 2.0, 3.0]})


def test_tiny_steps_are_silent_about_numbers(sess: Any, recwarn: pytest.WarningsRecorder) -> None:
    x = tf.placeholder(tf.float32, [])
    y = tf.log(x) / x
    for _ in range(5):
        assert np.isneginf(sess.run(y, {x: 0.0})) and np.isnan(sess.run(y, {x: -1.0}))
    assert not recwarn.list
