"""Derivatives of higher order of loops, conditionals and calls over functions.

Each program is there twice, over functions and unrolled: its first argument says which.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import weft as tf
from weft.ops.functions.defun import Defun
from weft.ops.functions.function_calls import If, While, partitioned_call
from weft.runtime import control_flow as structured

f32, i32 = tf.float32, tf.int32


def loop(plain: bool, turns: int, start: list[Any], turn: Callable[..., Any]) -> list[Any]:
    """`turn(i, *values)`, so many times."""
    if plain:
        for i in range(turns):
            start = list(turn(tf.constant(i), *start))
        return start
    types = [i32, *(tf.convert_to_tensor(value).dtype for value in start)]

    @Defun(*types)
    def more(i, *values):
        return i < turns

    @Defun(*types)
    def body(i, *values):
        return [i + 1, *turn(i, *values)]

    return While([0, *start], more, body)[1:]


def choose(plain: bool, choice: bool, x: list[Any], one: Any, two: Any) -> Any:
    if plain:
        return (one if choice else two)(*x)
    take = tf.placeholder_with_default(choice, [])
    types = [f32] * len(x)
    return If(take, x, Defun(*types)(one), Defun(*types)(two))[0]


def simple(plain, x, w):
    return loop(plain, 4, [x, w], lambda i, a, w: (tf.sin(a) * w + a * a * 0.1, w))[0]


def no_turns(plain, x, w):
    return loop(plain, 0, [x * x, w], lambda i, a, w: (tf.sin(a) * w, w))[0] * w


def captured(plain, x, w):
    """What the body takes from outside stays the same in all turns."""
    outside = w * w + x
    return loop(plain, 3, [x], lambda i, a: [tf.tanh(a) * outside + w])[0]


def two_results(plain, x, w):
    """One of them is not used, and feeds the other all the same."""
    return loop(plain, 3, [x, w], lambda i, a, b: (a * b, tf.sin(b) + 0.1 * tf.reduce_sum(a)))[0]


def whole_numbers(plain, x, w):
    """Indices that change from turn to turn are kept for the gradient, and have none themselves."""

    def turn(i, a, k):
        return a * tf.gather(x, k % 2) + tf.cast(k, f32) * w, k + i

    return loop(plain, 4, [x, tf.constant(1)], turn)[0]


def nested(plain, x, w):
    def inner(j, a):
        return [tf.sin(a) * w + 0.3 * a * a]

    def outer(i, a):
        return [loop(plain, 2, [a], inner)[0] * a + 0.1]

    return loop(plain, 2, [x], outer)[0]


def branch_in_loop(plain, x, w):
    def turn(i, a):
        if plain:
            return [tf.where(tf.reduce_sum(a) > 0.8, tf.sin(a) * a, a * a * 3.0)]
        wave, cube = Defun(f32)(lambda a: tf.sin(a) * a), Defun(f32)(lambda a: a * a * 3.0)
        return [If(tf.reduce_sum(a) > 0.8, [a], wave, cube)[0]]

    return loop(plain, 4, [x * 2.0 + w], turn)[0]


def loop_in_branch(plain, x, w):
    def one(a):
        return loop(plain, 3, [a], lambda i, a: [tf.sin(a) * a + 0.5])[0]

    def two(a):
        return a * a * a

    return choose(plain, True, [x * w], one, two) + choose(plain, False, [x * w], one, two)


def branch(plain, x, w):
    return choose(plain, True, [x * w], lambda a: tf.exp(a) * a, lambda a: a * a * a)


def call(plain, x, w):
    def curve(a, b):
        return tf.sin(a) * b * b

    return curve(x, w) if plain else Defun(f32, f32)(curve)(x, w)


def call_by_attribute(plain, x, w):
    def curve(a, b):
        return tf.sin(a) * b * b

    return curve(x, w) if plain else partitioned_call([x, w], Defun(f32, f32)(curve))[0]


def call_around_and_inside(plain, x, w):
    """A function that runs a loop whose body calls a function."""

    def step(a):
        return tf.tanh(a) * a

    def run(a, w):
        own = step if plain else Defun(f32)(step)
        return loop(plain, 3, [a, w], lambda i, a, w: (tf.reshape(own(a), [2]) + w, w))[0]

    return run(x, w) if plain else tf.reshape(Defun(f32, f32)(run)(x, w), [2])


def list_as_variable(plain, x, w):
    """A list that the loop fills, stacked after it."""

    def turn(i, a, rows):
        a = tf.sin(a) * w + a
        if plain:
            return a, [*rows, a * a]
        return a, tf.raw_ops.TensorListPushBack(input_handle=rows, tensor=a * a)

    empty: Any = []
    if not plain:
        empty = tf.raw_ops.EmptyTensorList(
            element_shape=[2], max_num_elements=-1, element_dtype=f32
        )
    last, rows = loop(plain, 3, [x, empty], turn)
    if plain:
        stacked = tf.stack(rows)
    else:
        stacked = tf.raw_ops.TensorListStack(
            input_handle=rows, element_shape=[2], element_dtype=f32, num_elements=3
        )
    return tf.reduce_sum(stacked * stacked, 0) * last


def array_as_variable(plain, x, w):
    """A list of a fixed length, read and written by index."""
    raw = tf.raw_ops

    def turn(i, a, rows):
        if plain:
            value = tf.sin(rows[-1]) * a + w
            return value * a, [*rows, value]
        before = raw.TensorListGetItem(
            input_handle=rows, index=i, element_shape=[2], element_dtype=f32
        )
        value = tf.sin(before) * a + w
        return value * a, raw.TensorListSetItem(input_handle=rows, index=i + 1, item=value)

    rows: Any = [x]
    if not plain:
        rows = raw.TensorListReserve(element_shape=[2], num_elements=4, element_dtype=f32)
        rows = raw.TensorListSetItem(input_handle=rows, index=0, item=x)
    last, rows = loop(plain, 3, [x, rows], turn)
    if not plain:
        rows = raw.TensorListStack(input_handle=rows, element_shape=[2], element_dtype=f32)
    return tf.reduce_sum(tf.stack(rows) if plain else rows, 0) * last


PROGRAMS = [
    simple, no_turns, captured, two_results, whole_numbers, nested, branch_in_loop, loop_in_branch,
    branch, call, call_by_attribute, call_around_and_inside, list_as_variable, array_as_variable,
]  # fmt: skip
# The others have lists that are as long as values say; their loops run as plans of their own.
WHOLE = set(PROGRAMS) - {array_as_variable}


def outputs(program: Any, plain: bool, orders: int) -> tuple[list[Any], dict[Any, Any]]:
    """The value and its derivatives by x and w, each of the sum of those before; and feeds."""
    x, w = tf.placeholder(f32, [2]), tf.placeholder(f32, [])
    found = [[program(plain, x, w)]]
    for _ in range(orders):
        zero = tf.UnconnectedGradients.ZERO
        found.append(tf.gradients(found[-1], [x, w], unconnected_gradients=zero))
    return tf.nest.flatten(found), {x: [0.4, 0.3], w: 0.7}


def check(found: list[Any], wanted: list[Any]) -> None:
    for mine, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-4, atol=1e-5)


def unrolled(program: Any, orders: int) -> list[Any]:
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(*outputs(program, True, orders))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_second_order(program, monkeypatch) -> None:
    wanted = unrolled(program, 2)
    with tf.Graph().as_default(), tf.Session() as session:
        fetches, feeds = outputs(program, False, 2)
        for _ in range(2):
            check(session.run(fetches, feeds), wanted)
        if program in WHOLE:
            # From now on all loops are parts of compiled programs.
            monkeypatch.setattr(structured._While, "__call__", None)
        check(session.run(fetches, feeds), wanted)


def test_third_order() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        fetches, feeds = outputs(simple, False, 3)
        check(session.run(fetches, feeds), unrolled(simple, 3))


def of_functions() -> Any:
    """Random programs, as nested tuples: steps, loops with a number of turns, choices."""
    steps = st.sampled_from([("sin",), ("square",), ("times_w",)])

    def larger(inner: Any) -> Any:
        parts = st.lists(inner, min_size=1, max_size=2)
        loops = st.tuples(st.just("loop"), st.integers(0, 2), parts)
        return loops | st.tuples(st.just("choose"), st.booleans(), parts, parts)

    return st.recursive(steps, larger, max_leaves=4)


def built(plain: bool, program: Any, x: Any, w: Any) -> Any:
    kind, *rest = program
    if kind == "sin":
        return tf.sin(x) + 0.5 * x
    if kind == "square":
        return 0.3 * x * x + 0.4
    if kind == "times_w":
        return x * w

    def chain(parts: Any) -> Any:
        def run(a: Any, w: Any) -> Any:
            for part in parts:
                a = built(plain, part, a, w)
            return a

        return run

    if kind == "loop":
        turns, parts = rest
        return loop(plain, turns, [x], lambda i, a: [chain(parts)(a, w)])[0]
    choice, one, two = rest
    return choose(plain, choice, [x, w], chain(one), chain(two))


@settings(max_examples=8, deadline=None, derandomize=True)
@given(of_functions(), of_functions())
def test_random_programs(first: Any, second: Any) -> None:
    def program(plain: bool, x: Any, w: Any) -> Any:
        return built(plain, second, built(plain, first, x, w), w)

    with tf.Graph().as_default(), tf.Session() as session:
        fetches, feeds = outputs(program, False, 2)
        check(session.run(fetches, feeds), unrolled(program, 2))
