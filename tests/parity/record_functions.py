"""Builds graphs that are full of functions with TensorFlow and keeps them with their results.

.venv-tf/bin/python -m tests.parity.record_functions

`tf.function`, AutoGraph, control flow of the second version and its gradients, and `Defun`: what
TensorFlow writes into a GraphDef's library. `tests/parity/test_functions.py` runs them in weft.
"""

from __future__ import annotations

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

from collections.abc import Callable

import numpy as np
import tensorflow as tf2
import tensorflow.compat.v1 as tf
from tensorflow.python.framework import function

from tests.parity import graphdefs
from tests.parity.programs import Step
from tests.parity.store import DATA

tf.disable_eager_execution()
tf.enable_resource_variables()
tf.enable_control_flow_v2()
tf.logging.set_verbosity(tf.logging.ERROR)

ROW = np.array([1.0, 2.0, -3.0], np.float32)
# A result, and what is fed; its derivatives are by what is fed.
Forward = tuple[tf.Tensor, dict[tf.Tensor, np.ndarray]]


def autograph() -> list[Step]:
    """A loop around a branch, written in Python."""
    x, n = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.int32, [])

    @tf2.function
    def wander(a, n):
        for _ in tf2.range(n):
            a = a - 1.0 if tf2.reduce_sum(a) > 5.0 else a * 2.0 + 1.0
        return a

    y = wander(x, n)
    return [Step([y], {x: ROW, n: count}) for count in (0, 1, 7)]


def updates() -> list[Step]:
    """Variables that a function reads and writes in order."""
    x, v = tf.placeholder(tf.float32, [None]), tf2.Variable(3.0)

    @tf2.function
    def update(a):
        v.assign_add(tf2.reduce_sum(a))
        before = v * 10.0
        if v > 4.0:
            v.assign(0.5)
        return before, v + 1.0

    outs = update(x)
    return [Step([v.initializer], {}), *[Step(list(outs), {x: ROW + 1.0}) for _ in range(3)]]


def conditional_gradient() -> list[Step]:
    x, take = tf.placeholder(tf.float32, [3]), tf.placeholder(tf.bool, [])
    y = tf.cond(take, lambda: tf.exp(x) * tf.sin(x), lambda: x * x)
    slopes = [*tf.gradients(y, x), *tf.gradients(tf.gradients(y, x), x)]
    return [Step([y, *slopes], {x: ROW, take: choice}) for choice in (True, False)]


def loop_gradient() -> list[Step]:
    """Intermediate values go to the backward loop in lists of tensors."""
    x, w = tf.placeholder(tf.float32, [3]), tf.placeholder(tf.float32, [])
    _, y = tf.while_loop(
        lambda i, a: i < 4, lambda i, a: (i + 1, tf.sin(a) * w + a), [tf.constant(0), x]
    )
    return [Step([y, *tf.gradients(y, [x, w])], {x: ROW, w: 0.5})]


def _slopes(y, x) -> list:
    """First and second order."""
    first = tf.gradients(y, x)
    return [*first, *tf.gradients(first, x)]


def loop_twice() -> list[Step]:
    """The gradient of a loop is a loop, and has one."""
    x, n = tf.placeholder(tf.float32, [3]), tf.placeholder(tf.int32, [])
    _, y = tf.while_loop(
        lambda i, a: i < n, lambda i, a: (i + 1, tf.sin(a) * a + 0.5), [tf.constant(0), x]
    )
    return [Step([y, *_slopes(y, x)], {x: ROW, n: count}) for count in (0, 1, 4)]


def nested_loops() -> list[Step]:
    """A branch in a loop in a loop, with a limit on the inner one."""
    x = tf.placeholder(tf.float32, [3])

    def inner(j, a):
        return j + 1, tf.cond(tf.reduce_sum(a) > 1.0, lambda: tf.sin(a), lambda: a * a + 0.5)

    def outer(i, a):
        _, b = tf.while_loop(
            lambda j, _: j < 10, inner, [tf.constant(0), a], maximum_iterations=i + 1
        )
        return i + 1, b * a

    _, y = tf.while_loop(lambda i, _: i < 3, outer, [tf.constant(0), x])
    return [Step([y, *_slopes(y, x)], {x: value}) for value in (ROW, 0.1 * ROW)]


def arrays() -> list[Step]:
    """Lists of tensors that a loop reads and writes, and their gradients of both orders."""
    x = tf.placeholder(tf.float32, [4, 3])
    given = tf.TensorArray(tf.float32, 4).unstack(x)

    def turn(i, state, out):
        state = tf.sin(state) + given.read(i) * state
        return i + 1, state, out.write(i, state * state)

    out = tf.TensorArray(tf.float32, 4, element_shape=[3])
    _, last, out = tf.while_loop(lambda i, *_: i < 4, turn, [0, tf.ones([3]), out])
    stacked = out.stack()
    y = tf.reduce_sum(stacked) + tf.reduce_sum(last)
    fetches = [y, *_slopes(y, x), stacked, out.gather([2, 0])]
    return [Step(fetches, {x: np.stack([ROW, -ROW, ROW / 2, ROW + 1])})]


def growing() -> list[Step]:
    """A loop variable whose shape changes: what it was is kept in a list of its own."""
    x, n = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.int32, [])
    _, y = tf.while_loop(
        lambda i, a: i < n, lambda i, a: (i + 1, tf.concat([a * a, a[:1]], 0)),
        [tf.constant(0), x], shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])],
    )  # fmt: skip
    return [Step([y, *_slopes(y, x)], {x: 0.5 * ROW, n: count}) for count in (0, 3)]


def branch_twice() -> list[Step]:
    """Branches in branches, with a loop in one."""
    x, take = tf.placeholder(tf.float32, [3]), tf.placeholder(tf.bool, [])

    def wave():
        return tf.while_loop(lambda i, _: i < 2, lambda i, a: (i + 1, tf.sin(a) * a), [0, x])[1]

    y = tf.cond(take, wave, lambda: tf.cond(x[0] > 0.0, lambda: x**3, lambda: tf.exp(x)))
    values = [(ROW, True), (ROW, False), (-ROW, False)]
    return [Step([y, *_slopes(y, x)], {x: value, take: choice}) for value, choice in values]


def rows() -> list[Step]:
    """TensorArrays are lists of tensors here."""
    x = tf.placeholder(tf.float32, [None, 3])
    mapped = tf.map_fn(lambda row: tf.reduce_sum(row) * row, x)
    scanned = tf.scan(lambda a, row: a * 0.5 + row, x)
    slope = tf.gradients(mapped, x)[0]
    return [Step([mapped, scanned, slope], {x: np.stack([ROW, ROW + 1.0, -ROW])})]


def choice() -> list[Step]:
    x, index = tf.placeholder(tf.float32, [3]), tf.placeholder(tf.int32, [])
    y = tf2.switch_case(index, [lambda: x + 1.0, lambda: x * 2.0, lambda: tf.sin(x)])
    return [Step([y, *tf.gradients(y, x)], {x: ROW, index: i}) for i in (0, 1, 2, 7)]


def defined() -> list[Step]:
    """`Defun` with nesting, captures, and gradients of both kinds."""
    x = tf.placeholder(tf.float32, [3])
    outside = tf.constant(2.5) * 2.0

    @function.Defun(tf.float32, tf.float32)
    def odd_slope(a, dy):
        return dy * 100.0 + a

    @function.Defun(tf.float32, grad_func=odd_slope)
    def square(a):
        return a * a

    @function.Defun(tf.float32)
    def nested(a):
        return square(a) * outside + tf.tanh(a), tf.reduce_sum(a)

    y, total = nested(x)
    return [Step([y, total, *tf.gradients(y, x), *tf.gradients(square(x), x)], {x: ROW})]


def backward_call() -> list[Step]:
    """The gradient of a `tf.function` is another function that takes what the first one kept."""
    x, v = tf.placeholder(tf.float32, [3]), tf2.Variable([0.5, 1.5, 2.5])

    @tf2.function
    def inner(a):
        return tf2.tanh(a * v)

    @tf2.function
    def outer(a):
        return tf2.reduce_sum(inner(a) * inner(a + 1.0))

    y = outer(x)
    return [Step([v.initializer], {}), Step([y, *tf.gradients(y, [x, v.handle])], {x: ROW})]


PROGRAMS: list[Callable[[], list[Step]]] = [
    autograph, updates, conditional_gradient, loop_gradient, rows, choice, defined, backward_call,
    loop_twice, nested_loops, arrays, growing, branch_twice,
]  # fmt: skip


def recorded(program: Callable[[], list[Step]]) -> graphdefs.Case:
    with tf.Graph().as_default() as graph:
        steps = program()
        with tf.Session(graph=graph) as session:
            named = [graphdefs.run_step(session, step) for step in steps]
        return graphdefs.Case(program.__name__, graph.as_graph_def().SerializeToString(), named)


def captures() -> Forward:
    """Indices that are kept, what the loop captures, and a result that nobody uses."""
    x, w = tf.placeholder(tf.float32, [3]), tf.placeholder(tf.float32, [])

    def turn(i, a, k, unused):
        a = tf.sin(a) * tf.gather(x, k % 3) + w * w
        return i + 1, a, k + i, unused * tf.reduce_sum(a)

    start = [tf.constant(0), x * 0.5, tf.constant(1), tf.constant(1.0)]
    y = tf.while_loop(lambda i, *_: i < 4, turn, start)[1]
    return y, {x: ROW, w: np.float32(0.7)}


def loop_of_branches() -> Forward:
    """A loop in a branch in a loop."""
    x, w = tf.placeholder(tf.float32, [3]), tf.placeholder(tf.float32, [])

    def swing(j, b):
        return j + 1, tf.sin(b) * w + b

    def wave(a):
        return tf.while_loop(lambda j, _: j < 2, swing, [0, a])[1]

    def turn(i, a):
        return i + 1, tf.cond(tf.reduce_sum(a) > 0.5, lambda: wave(a), lambda: a * a * w + 0.4)

    y = tf.while_loop(lambda i, _: i < 3, turn, [tf.constant(0), x * 0.2])[1]
    return y, {x: ROW, w: np.float32(0.7)}


def derived(program: Callable[[], Forward]) -> graphdefs.Case:
    """A graph without gradients, and what TensorFlow's first to third derivatives of it are."""
    with tf.Graph().as_default() as graph:
        y, feeds = program()
        forward = graph.as_graph_def().SerializeToString()
        fetches, ys = [y], [y]
        for _ in range(3):
            ys = tf.gradients(ys, list(feeds))
            fetches += ys
        with tf.Session(graph=graph) as session:
            step = graphdefs.run_step(session, Step(fetches, feeds))
        return graphdefs.Case(program.__name__, forward, [step])


if __name__ == "__main__":
    graphdefs.save(DATA / "functions", [recorded(program) for program in PROGRAMS])
    graphdefs.save(DATA / "derivatives", [derived(each) for each in (captures, loop_of_branches)])
