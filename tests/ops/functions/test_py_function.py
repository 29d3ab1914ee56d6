"""tf.py_function: Python on tensors that know their values, and back."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import weft as tf


@pytest.fixture
def sess():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def test_python_looks_at_values(sess):
    seen = []

    def f(x, words):
        assert tf.executing_eagerly()
        seen.append((x.numpy(), words.numpy().tolist(), int(x[0]), float(x[1]), len(x)))
        return next(v for v in x if v > 1)

    x = tf.placeholder(tf.float32, [None])
    y = tf.py_function(f, [x, tf.constant(["a", "b"])], tf.float32)
    assert sess.run(y, {x: [1.0, 2.5]}) == 2.5
    (value, words, first, second, length) = seen[0]
    assert isinstance(value, np.ndarray) and value.flags.writeable
    assert (words, first, second, length) == ([b"a", b"b"], 1, 2.5, 2)
    assert not tf.executing_eagerly()


def test_scalars_and_how_they_look(sess):
    shown = []
    y = tf.py_function(lambda x: shown.extend([str(x), x.numpy()]) or x, [1.5], tf.float32)
    assert sess.run(y) == 1.5
    assert shown[0] == "tf.Tensor(1.5, shape=(), dtype=float32)"
    assert isinstance(shown[1], np.float32)


def test_the_gradient_goes_the_way_that_was_taken(sess):
    def f(x, m):
        return x**2 if abs(x) <= m else m**2 * (1 - 2 * tf.log(m) + tf.log(x**2))

    x, m = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    y = tf.py_function(f, [x, m], tf.float32)
    step = [y, *tf.gradients(y * 10.0, [x, m])]
    np.testing.assert_allclose(sess.run(step, {x: 1.0, m: 2.0}), [1, 20, 0])
    value, dx, dm = sess.run(step, {x: 4.0, m: 2.0})
    np.testing.assert_allclose(value, 4 * (1 - 2 * np.log(2) + np.log(16)), rtol=1e-6)
    np.testing.assert_allclose([dx, dm], [20, 40 * (-2 * np.log(2) + np.log(16))], rtol=1e-5)


def test_the_function_is_called_once_for_value_and_gradient(sess):
    calls = []
    x = tf.constant([1.0, 2.0])
    y = tf.py_function(
        lambda x: calls.append(1) or (x * x, tf.gather(x, [0])), [x], [tf.float32] * 2
    )
    loss = tf.reduce_sum(y[0]) + 5.0 * tf.reduce_sum(y[1])
    _, gradient = sess.run([loss, tf.gradients(loss, x)[0]])
    assert gradient.tolist() == [7.0, 4.0]
    assert len(calls) == 1


def test_gradient_in_a_loop(sess):
    """Each iteration goes back over its own call."""
    x = tf.placeholder(tf.float32, [])

    def body(i, v):
        v = tf.py_function(lambda v: v * v if v < 3 else 3.0 * v, [v], tf.float32)
        v.set_shape([])
        return i + 1, v

    _, y = tf.while_loop(lambda i, v: i < 4, body, [0, x])
    gradient = tf.gradients(y, x)[0]
    # 1.5, 2.25, 5.0625, 15.1875, 45.5625
    np.testing.assert_allclose(
        sess.run([y, gradient], {x: 1.5}), [45.5625, 2 * 1.5 * 2 * 2.25 * 9], rtol=1e-6
    )


def test_integers_have_no_gradient(sess):
    x, n = tf.constant(3.0), tf.constant(2)
    y = tf.py_function(lambda x, n: x ** float(n), [x, n], tf.float32)
    dx, dn = tf.gradients(y, [x, n])
    assert dn is None
    assert sess.run(dx) == 6.0


def test_control_flow_and_state_inside(sess):
    def f(x):
        total = tf.Variable(1.0, use_resource=True)
        halves = tf.while_loop(lambda v: v > 1.0, lambda v: v / 2.0, [x])
        total.assign_add(tf.cond(x > 5.0, lambda: halves, lambda: -halves))
        return total.read_value() + tf.reduce_sum(tf.map_fn(lambda v: v * v, tf.range(3.0)))

    y = tf.py_function(f, [tf.constant(12.0)], tf.float32)
    assert sess.run(y) == 1 + 0.75 + 5
    assert sess.run(y) == 1 + 0.75 + 5  # what it made is gone


def test_convolutions_and_random_numbers(sess):
    x = np.arange(9, dtype=np.float32).reshape(1, 3, 3, 1)
    y = tf.py_function(
        lambda x: tf.nn.conv2d(x, np.ones((2, 2, 1, 1), "f"), 1, "VALID"), [x], tf.float32
    )
    assert sess.run(y).ravel().tolist() == [8, 12, 20, 24]
    r = tf.py_function(lambda: tf.random_uniform([2], seed=1), [], tf.float32)
    assert not (sess.run(r) == sess.run(r)).any()


def test_what_cannot_be_returned(sess):
    variable = tf.py_function(lambda: tf.Variable(0.0, use_resource=True), [], tf.float32)
    with pytest.raises(tf.errors.UnknownError, match="Attempting to return a variable"):
        sess.run(variable)
    with pytest.raises(tf.errors.InvalidArgumentError, match="returns 0 values, but expects"):
        sess.run(tf.py_function(lambda: None, [], tf.float32))
    with pytest.raises(ValueError, match="to be callable"):
        tf.py_function(3, [], tf.float32)


def test_errors_and_what_cannot_be_used(sess):
    def fails(x):
        raise StopIteration("no more")

    with pytest.raises(tf.errors.OutOfRangeError, match=r"no more[^!]*in fails"):
        sess.run(tf.py_function(fails, [1.0], tf.float32))
    with pytest.raises(tf.errors.UnimplementedError, match="cannot be used in a"):
        sess.run(tf.py_function(lambda: tf.raw_ops.Switch(data=1.0, pred=True)[0], [], tf.float32))
    outside = tf.constant(1.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="from the same graph"):
        sess.run(tf.py_function(lambda x: x + outside, [1.0], tf.float32))


def test_nothing_comes_out(sess):
    ran = []
    assert sess.run(tf.py_function(lambda: ran.append(1), [], [])) is None
    assert ran == [1]


def test_the_function_goes_with_its_graph():
    class Function:
        def __call__(self, x):
            return x

    function = Function()
    with tf.Graph().as_default():
        tf.py_function(function, [1.0], tf.float32)
    alive = weakref.ref(function)
    del function
    gc.collect()
    assert alive() is None
