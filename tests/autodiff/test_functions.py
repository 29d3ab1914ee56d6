"""Gradients of calls, conditionals and loops over functions, against plain graphs."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from weft.ops.functions.defun import Defun
from weft.ops.functions.function_calls import If, While, partitioned_call

f32 = tf.float32


def evaluate(fetches, feeds=None, runs=3):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        results = [session.run(fetches, feeds) for _ in range(runs)]
    first = tf.nest.flatten(results[0])
    for other in results[1:]:
        for a, b in zip(first, tf.nest.flatten(other), strict=True):
            np.testing.assert_allclose(b, a, rtol=1e-5)
    return results[0]


@Defun(f32, f32)
def curve(x, y):
    return tf.sin(x) * y, x * x


@pytest.mark.parametrize("by_attribute", [False, True])
def test_call(by_attribute: bool) -> None:
    x, y = tf.constant(0.7), tf.constant(2.0)
    a, b = partitioned_call([x, y], curve) if by_attribute else curve(x, y)
    plain = tf.sin(x) * y * x * x
    found = evaluate([tf.gradients(a * b, [x, y]), tf.gradients(plain, [x, y])])
    np.testing.assert_allclose(found[0], found[1], rtol=1e-5)


def test_call_twice_differentiated() -> None:
    x = tf.constant(0.7)
    a, _ = curve(x, 1.0)
    (first,) = tf.gradients(a, x)
    (second,) = tf.gradients(first, x)
    np.testing.assert_allclose(evaluate([first, second]), [np.cos(0.7), -np.sin(0.7)], rtol=1e-5)


def test_unused_and_integer_arguments() -> None:
    @Defun(tf.int32, f32, f32)
    def pick(i, x, unused):
        return x[i]

    x, y = tf.constant([1.0, 2.0, 3.0]), tf.constant(5.0)
    dx, dy = evaluate(tf.gradients(pick(1, x, y), [x, y]))
    assert dx.tolist() == [0.0, 1.0, 0.0] and dy == 0.0


def test_gradient_functions_of_ones_own() -> None:
    @Defun(f32, f32)
    def hundred(x, dy):
        return dy * 100.0

    @Defun(f32, grad_func=hundred)
    def by_function(x):
        return x * x

    @Defun(f32, python_grad_func=lambda op, dy: op.inputs[0] * dy * 7.0)
    def by_python(x):
        return x * x

    x = tf.constant(3.0)
    total = by_function(x) + by_python(x)
    assert evaluate(tf.gradients(total, x)) == [121.0]


def test_variables_read_in_a_function() -> None:
    variable = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=True)

    @Defun(f32)
    def use(x):
        return tf.reduce_sum(variable.read_value() * x)

    assert evaluate(tf.gradients(use(3.0), variable))[0].tolist() == [3.0, 3.0]


@Defun(f32, f32)
def wave(x, y):
    return tf.exp(x) * tf.sin(y) * x


@Defun(f32, f32)
def square(x, y):
    return x * x * y


@pytest.mark.parametrize("choice", [True, False])
def test_if_twice_differentiated(choice: bool) -> None:
    take = tf.placeholder(tf.bool, [])
    x, y = tf.placeholder(f32, []), tf.placeholder(f32, [])
    (out,) = If(take, [x, y], wave, square)
    plain = tf.exp(x) * tf.sin(y) * x if choice else x * x * y
    found = []
    for z in (out, plain):
        first = tf.gradients(z, [x, y])
        found.append([z, *first, *tf.gradients(first[0], [x, y])])
    values = evaluate(found, {take: choice, x: 0.4, y: 1.3})
    np.testing.assert_allclose(values[0], values[1], rtol=1e-5)


def test_if_does_not_draw_again() -> None:
    """The gradient belongs to the very numbers that the branch drew."""

    @Defun(f32)
    def noisy(x):
        return x * tf.random_uniform([16])

    @Defun(f32)
    def plain(x):
        return x * tf.ones([16])

    x = tf.ones([16])
    (out,) = If(tf.placeholder_with_default(True, []), [x], noisy, plain)
    with tf.Session() as session:
        value, slope = session.run([out, *tf.gradients(out, x)])
    np.testing.assert_array_equal(value, slope)


@pytest.mark.parametrize("turns", [0, 1, 5])
def test_while(turns: int) -> None:
    @Defun(tf.int32, f32, f32)
    def more(i, x, w):
        return i < turns

    @Defun(tf.int32, f32, f32)
    def turn(i, x, w):
        return i + 1, tf.sin(x) * w + x, w

    x, w = tf.placeholder(f32, [2]), tf.placeholder(f32, [])
    _, out, _ = While([0, x, w], more, turn)
    plain = x
    for _ in range(turns):
        plain = tf.sin(plain) * w + plain
    slopes = [tf.gradients(out, [x, w])]
    slopes.append(tf.gradients(plain, [x, w], unconnected_gradients=tf.UnconnectedGradients.ZERO))
    ours, theirs = evaluate([[out, *slopes[0]], [plain, *slopes[1]]], {x: [0.2, 0.3], w: 0.5})
    for mine, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-5)


def test_while_over_a_variable() -> None:
    variable = tf.get_variable("v", initializer=0.5, use_resource=True)

    @Defun(tf.int32, f32)
    def more(i, x):
        return i < 3

    @Defun(tf.int32, f32)
    def turn(i, x):
        return i + 1, x * variable.read_value()

    _, out = While([0, 8.0], more, turn)
    assert evaluate([out, *tf.gradients(out, variable)]) == [1.0, 3 * 8.0 * 0.25]


def test_call_and_if_inside_of_while() -> None:
    @Defun(f32)
    def halve(x):
        return x * x / 2.0

    @Defun(f32)
    def grow(x):
        return x * 3.0

    @Defun(tf.int32, f32)
    def more(i, x):
        return i < 3

    @Defun(tf.int32, f32)
    def turn(i, x):
        return i + 1, If(x > 2.0, [x], halve, grow)[0]

    x = tf.placeholder(f32, [])
    _, out = While([0, x], more, turn)
    # 1 -> 3 -> 4.5 -> 10.125; slopes 3, 3, 4.5
    assert evaluate([out, *tf.gradients(out, x)], {x: 1.0}) == [10.125, 40.5]


def test_gradients_travel() -> None:
    """A graph with gradients of loops and conditionals is a GraphDef like any other."""

    @Defun(tf.int32, f32)
    def more(i, x):
        return i < 3

    @Defun(tf.int32, f32)
    def turn(i, x):
        return i + 1, If(x > 2.0, [x, 1.0], wave, square)[0]

    x = tf.placeholder(f32, [], name="x")
    _, out = While([0, x], more, turn)
    slope = tf.identity(tf.gradients(out, x)[0], name="slope")
    wanted = evaluate(slope, {x: 1.5})
    with tf.Graph().as_default():
        tf.import_graph_def(slope.graph.as_graph_def(), name="")
        assert evaluate("slope:0", {"x:0": 1.5}) == wanted


def test_case() -> None:
    index, x = tf.placeholder(tf.int32, []), tf.placeholder(f32, [])
    bodies = (lambda x: x * x, lambda x: tf.sin(x), lambda x: tf.exp(x) * x)
    functions = [Defun(f32)(body) for body in bodies]
    (y,) = tf.raw_ops.Case(branch_index=index, input=[x], Tout=[f32], branches=functions)
    found = [evaluate(tf.gradients(y, x), {index: i, x: 0.5})[0] for i in range(3)]
    np.testing.assert_allclose(found, [1.0, np.cos(0.5), 1.5 * np.exp(0.5)], rtol=1e-5)


def test_rows_of_variables_gathered_in_a_function() -> None:
    table = tf.get_variable("t", [4, 2], initializer=tf.ones_initializer(), use_resource=True)
    old = tf.get_variable("o", [4, 2], initializer=tf.ones_initializer(), use_resource=False)

    @Defun(tf.int32)
    def look(i):
        return tf.nn.embedding_lookup(table, i) * tf.gather(old, i)

    for slope in evaluate(tf.gradients(look([1, 3, 3]), [table, old])):
        assert slope[:, 0].tolist() == [0.0, 1.0, 0.0, 2.0]


def test_functions_inside_of_old_control_flow() -> None:
    @Defun(f32)
    def square(x):
        return x * x

    def turn(i, y):
        (z,) = If(y > 2.0, [y], square, square)
        return i + 1, tf.reshape(square(z), [])

    x = tf.placeholder(f32, [])
    branch = tf.cond(x > 1.0, lambda: square(x), lambda: square(square(x)))
    _, loop = tf.while_loop(lambda i, y: i < 2, turn, [0, x])
    slopes = tf.gradients(branch, x) + tf.gradients(loop, x)
    found = evaluate([branch, loop, *slopes], {x: 1.5})
    np.testing.assert_allclose(found, [1.5**2, 1.5**16, 3.0, 16 * 1.5**15], rtol=1e-5)
