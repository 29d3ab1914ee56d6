from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import weft as tf


def test_the_function_says_its_gradient(sess) -> None:
    @tf.custom_gradient
    def clipped(x):
        return tf.identity(x, name="inner"), lambda dy: tf.clip_by_value(dy, -1.0, 1.0)

    x = tf.constant([1.0, 2.0])
    y = clipped(x)
    assert y.op.type == "IdentityN"
    assert clipped.__name__ == "clipped"
    np.testing.assert_array_equal(sess.run(tf.gradients(5 * y, x)[0]), [1.0, 1.0])
    np.testing.assert_array_equal(sess.run(y), [1.0, 2.0])


def test_several_inputs_and_a_structure_of_results(sess) -> None:
    @tf.custom_gradient
    def f(a, b):
        return {"sum": a + b, "rest": (a * b,)}, lambda d_rest, d_sum: (d_sum, 10.0 * d_rest)

    a, b = tf.constant(2.0), tf.constant(3.0)
    out = f(a, b)
    assert sess.run(out) == {"sum": 5.0, "rest": (6.0,)}
    total = out["sum"] + 2 * out["rest"][0]
    assert sess.run(tf.gradients(total, [a, b])) == [1.0, 20.0]


def test_second_derivatives(sess) -> None:
    @tf.custom_gradient
    def square(x):
        return x * x, lambda dy: dy * x * x * x

    x = tf.constant(2.0)
    first = tf.gradients(square(x), x)[0]
    second = tf.gradients(first, x)[0]
    assert sess.run([first, second]) == [8.0, 12.0]


def test_variables(sess) -> None:
    seen = []

    @tf.custom_gradient
    def f(x):
        w = tf.get_variable("w", initializer=3.0, use_resource=True)
        tf.get_variable("step", initializer=0.0, use_resource=True, trainable=False)

        def grad(dy, variables=None):
            seen.extend(variables)
            return dy * 7.0, [dy * 11.0]

        return x * w, grad

    x = tf.constant(2.0)
    y = f(x)
    w = tf.trainable_variables()[0]
    dx, dw = tf.gradients(y, [x, w])
    sess.run(tf.global_variables_initializer())
    assert sess.run([y, dx, dw]) == [6.0, 7.0, 11.0]
    assert seen == [w]


def test_a_variable_passed_in_is_an_input_only(sess) -> None:
    w = tf.get_variable("w", initializer=3.0, use_resource=True)
    f = tf.custom_gradient(lambda v: (v * 2.0, lambda dy: dy * 5.0))
    grad = tf.gradients(f(w), w)[0]
    sess.run(tf.global_variables_initializer())
    assert sess.run(grad) == 5.0


def test_mistakes() -> None:
    w = tf.get_variable("w", initializer=3.0, use_resource=True)
    with pytest.raises(TypeError, match="must accept a keyword argument 'variables'"):
        tf.custom_gradient(lambda x: (x * w, lambda dy: dy))(tf.constant(1.0))
    with pytest.raises(ValueError, match="no keyword arguments"):
        tf.custom_gradient(lambda x: (x, lambda dy: dy))(x=tf.constant(1.0))
    with pytest.raises(TypeError, match="`ResourceVariable`s"):

        @tf.custom_gradient
        def makes_a_reference_variable(x):
            v = tf.get_variable("v", initializer=1.0, use_resource=False)
            return x * v, lambda dy, variables=None: (dy, [dy])

        makes_a_reference_variable(tf.constant(1.0))
    with pytest.raises(TypeError, match="use_resource=True"):

        def grad(dy, variables):
            return dy, []

        tf.custom_gradient(lambda x: (x, grad))(tf.constant(1.0))
    x = tf.constant(1.0)
    y = tf.custom_gradient(lambda x: (x, lambda dy: (dy, dy)))(x)
    with pytest.raises(ValueError, match="expected to return 1 gradients, but returned 2"):
        tf.gradients(y, x)


def test_the_graph_does_not_outlive_its_program() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.constant(1.0)
        tf.gradients(tf.custom_gradient(lambda v: (v, lambda dy: dy))(x), x)
        gone = weakref.ref(graph)
    del graph, x
    gc.collect()
    assert gone() is None


def test_recompute_grad(sess) -> None:
    w = tf.get_variable("w", initializer=0.5, use_resource=True)

    def block(x):
        return tf.tanh(x * w) * x

    x = tf.constant(1.5)
    y = tf.recompute_grad(block)(x)
    found, wanted = tf.gradients(y, [x, w]), tf.gradients(block(x), [x, w])
    sess.run(tf.global_variables_initializer())
    np.testing.assert_allclose(sess.run(found), sess.run(wanted))
    tanhs = [op for op in tf.get_default_graph().get_operations() if op.type == "Tanh"]
    assert len(tanhs) == 3  # forwards, again backwards, and the plain block


def test_grad_pass_through(sess) -> None:
    x = tf.constant(1.6)
    y = tf.grad_pass_through(tf.round)(x)
    assert sess.run([y, tf.gradients(y * 3.0, x)[0]]) == [2.0, 3.0]


def test_registered_gradients(sess) -> None:
    @tf.RegisterGradient("TimesTen")
    def _(op, grad):
        return 10.0 * grad

    x = tf.constant(1.0)
    with tf.get_default_graph().gradient_override_map({"Identity": "TimesTen"}):
        y = tf.identity(x)
    assert sess.run(tf.gradients(y, x)) == [10.0]
    with pytest.raises(KeyError, match="TimesTen"):
        tf.RegisterGradient("TimesTen")(lambda op, grad: grad)
    tf.NotDifferentiable("BlocksGradients")
    with tf.get_default_graph().gradient_override_map({"Identity": "BlocksGradients"}):
        assert tf.gradients(tf.identity(x), x) == [None]
    with pytest.raises(TypeError, match="op_type must be a string"):
        tf.NoGradient(3)


def test_sums_of_gradients_stay_on_their_device() -> None:
    with tf.device("/cpu:1"):
        w = tf.constant(1.0)
    a, b = w * 2.0, w * 3.0
    with tf.device("/cpu:0"):
        y = a + b
    total = tf.gradients(y, w, colocate_gradients_with_ops=True)[0]
    assert total.op.type == "AddN"
    assert total.op.colocation_groups() == a.op.colocation_groups()
