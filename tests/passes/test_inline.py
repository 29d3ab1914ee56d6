"""Calls are replaced by what they call, in the order and under the conditions they had."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from weft.ops.functions.defun import Declare, Defun
from weft.ops.functions.function_calls import For, If, While, partitioned_call
from weft.passes.inline import inline
from weft.passes.prune import prune


@Defun(tf.float32, func_name="Double")
def double(x):
    return x * 2.0


@Defun(tf.float32)
def negate(x):
    return -x


def evaluate(fetches, feeds=None, runs=3):
    """Runs cold and compiled: all runs must agree."""
    with tf.Session() as session:
        results = [session.run(fetches, feeds) for _ in range(runs)]
    np.testing.assert_equal(results, [results[0]] * runs)
    return results[0]


def inlined(*fetches):
    graph = prune([], list(fetches), [])
    inline(graph)
    return {node.name: node.type for node in graph.nodes}


def test_nodes_are_named_after_the_call() -> None:
    nodes = inlined(double(double(1.0, name="inner"), name="outer"))
    assert {name for name, kind in nodes.items() if kind == "Mul"} == {"inner/mul", "outer/mul"}
    assert "Double" not in nodes.values()


def test_argument_and_constant_as_results() -> None:
    @Defun(tf.float32)
    def both(x):
        return x, tf.constant(7.0)

    with tf.control_dependencies([tf.no_op()]):
        kept = both(3.0)
    assert evaluate([*both(2.0), *kept]) == [2.0, 7.0, 3.0, 7.0]


def test_recursion_is_refused() -> None:
    again = Declare("Forever", [("x", tf.float32)], [("y", tf.float32)])

    @Defun(tf.float32, func_name="Forever")
    def forever(x):
        return again(x)

    with pytest.raises(tf.errors.UnimplementedError, match="Forever -> Forever"):
        evaluate(forever(1.0))


def test_effects_run_although_nothing_fetches_them() -> None:
    variable = tf.get_variable("v", initializer=1.0, use_resource=True)

    @Defun(tf.float32)
    def add(x):
        variable.assign_add(x)
        return x

    result = add(5.0)
    with tf.Session() as session:
        session.run(variable.initializer)
        session.run(result)
        assert session.run(variable) == 6.0
        session.run(result.op)
        assert session.run(variable) == 11.0


def test_body_waits_for_the_calls_dependencies_and_others_for_the_body() -> None:
    variable = tf.get_variable("v", initializer=1.0, use_resource=True)

    @Defun()
    def double_it():
        variable.assign(variable.read_value() * 2.0)

    with tf.control_dependencies([variable.assign(10.0)]):
        call = double_it()
    with tf.control_dependencies([call]):
        after = variable.read_value()
    with tf.Session() as session:
        session.run(variable.initializer)
        assert [session.run(after) for _ in range(3)] == [20.0] * 3


@pytest.mark.parametrize("old_style", [True, False])
def test_only_the_branch_taken_has_effects(old_style: bool) -> None:
    variable = tf.get_variable("v", initializer=0.0, use_resource=True)
    x, choice = tf.placeholder(tf.float32, []), tf.placeholder(tf.bool, [])

    def make(amount):
        @Defun(tf.float32)
        def add(x):
            with tf.control_dependencies([tf.raw_ops.AssignAddVariableOp(
                resource=variable.handle, value=tf.constant(amount)
            )]):  # fmt: skip
                return x + amount

        return add

    one, ten = make(1.0), make(10.0)
    if old_style:
        result = tf.cond(choice, lambda: one(x), lambda: ten(x))
    else:
        # Functions of a conditional get what they capture as arguments.
        handle = variable.handle
        (result,) = tf.raw_ops.If(
            cond=choice, input=[x, handle], Tout=[tf.float32], then_branch=one, else_branch=ten
        )
    with tf.Session() as session:
        session.run(variable.initializer)
        assert session.run(result, {x: 1.0, choice: True}) == 2.0
        assert session.run(result, {x: 1.0, choice: False}) == 11.0
        assert session.run(variable) == 11.0


@pytest.mark.parametrize(
    ("value", "wanted"), [(True, 6.0), (0, -3.0), (2.5, 6.0), (b"", -3.0), (b"x", 6.0), ([], -3.0)]
)
def test_condition_of_any_type(value, wanted: float) -> None:
    assert evaluate(If(tf.constant(value), [3.0], double, negate)) == [wanted]


def test_loop_with_captures_and_invariants() -> None:
    scale = tf.placeholder(tf.float32, [])

    @Defun(tf.int32, tf.float32)
    def more(i, x):
        return i < 5

    @Defun(tf.int32, tf.float32)
    def turn(i, x):
        return i + 1, x * scale

    i, x = While([0, 1.0], more, turn)
    assert evaluate([i, x], {scale: 2.0}) == [5, 32.0]


def test_loop_that_never_turns_and_loop_of_strings() -> None:
    @Defun(tf.int32, tf.string)
    def more(i, s):
        return i < 2

    @Defun(tf.int32, tf.string)
    def turn(i, s):
        return i + 1, tf.strings.join([s, s]) if hasattr(tf.strings, "join") else s

    assert evaluate(While([7, "a"], more, turn)) == [7, b"a"]


def test_loop_functions_that_do_not_fit() -> None:
    @Defun(tf.float32)
    def two(x):
        return x > 0.0, x

    with pytest.raises(tf.errors.InvalidArgumentError, match=r"single scalar.*got 2 tensors"):
        evaluate(While([1.0], two, double))

    @Defun(tf.float32)
    def more(x):
        return x > 0.0

    @Defun(tf.float32)
    def twice(x):
        return x, x

    with pytest.raises(tf.errors.InvalidArgumentError, match=r"returned 2 arguments\. Expected: 1"):
        evaluate(While([1.0], more, twice))


@pytest.mark.parametrize("by_while", [False, True])
def test_for(by_while: bool) -> None:
    @Defun(tf.int32, tf.float32)
    def add(i, x):
        return x + tf.cast(i, tf.float32)

    up = For(1, 21, 1, [0.0], add, rewrite_with_while=by_while)
    down = For(100, 0, -1, [0.0], add, rewrite_with_while=by_while)
    assert evaluate([up, down]) == [[210.0], [5050.0]]
    if not by_while:
        with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid start/limit/delta"):
            evaluate(For(0, 10, -1, [0.0], add))


def test_case_takes_the_last_branch_by_default() -> None:
    index = tf.placeholder(tf.int32, [])

    @Defun(tf.float32)
    def square(x):
        return x * x

    branches = [double, negate, square]
    result = tf.raw_ops.Case(branch_index=index, input=[3.0], Tout=[tf.float32], branches=branches)
    found = [evaluate(result, {index: i})[0] for i in (0, 1, 2, -1, 9)]
    assert found == [6.0, -3.0, 9.0, 9.0, 9.0]


def test_switches_inside_of_functions_of_loops() -> None:
    @Defun(tf.int32, tf.float32)
    def more(i, x):
        return i < 4

    @Defun(tf.int32, tf.float32)
    def turn(i, x):
        return i + 1, tf.cond(x > 5.0, lambda: x - 1.0, lambda: double(x))

    x = tf.placeholder(tf.float32, [])
    assert evaluate(While([0, x], more, turn), {x: 2.0}) == [4, 6.0]


def test_partitioned_calls() -> None:
    variable = tf.get_variable("v", initializer=1.0, use_resource=True)

    @Defun(tf.float32)
    def add(x):
        variable.assign_add(x)

    pure = partitioned_call([4.0], double)
    acting = partitioned_call([5.0, *add.captured_inputs], add)
    assert (pure[0].op.type, acting.type) == ("PartitionedCall", "StatefulPartitionedCall")
    with tf.Session() as session:
        session.run(variable.initializer)
        assert session.run(pure) == (8.0,)
        session.run(acting)
        assert session.run(variable) == 6.0
    with pytest.raises(tf.errors.NotFoundError, match="NO_SUCH"):
        evaluate(partitioned_call([4.0], double, executor_type="NO_SUCH"))


def test_random_numbers_differ_from_call_to_call() -> None:
    @Defun()
    def draw():
        return tf.random_uniform([8])

    with tf.Session() as session:
        first, second = session.run([draw(), draw()])
    assert not np.array_equal(first, second)


@pytest.mark.parametrize("waits", [False, True])
def test_effects_inside_of_a_branch_of_a_function(waits: bool) -> None:
    """An assertion that a branch skips must not hold the results back; nor a queue's presence."""
    queue = tf.FIFOQueue(10, [tf.float32], [[]])

    @Defun(tf.float32)
    def checked(x):
        check = tf.Assert(x < 10.0, [x])
        with tf.control_dependencies([check]):
            y = tf.identity(x)
        return y + tf.cast(queue.size(), tf.float32) if waits else y

    x = tf.placeholder(tf.float32, [])
    result = checked(x)
    if waits:
        result += queue.dequeue() * 0.0
    with tf.Session() as session:
        for _ in range(2):
            session.run(queue.enqueue(1.0))
            assert session.run(result, {x: 3.0}) >= 3.0
        session.run(queue.enqueue(1.0))
        with pytest.raises(tf.errors.InvalidArgumentError, match="assertion failed"):
            session.run(result, {x: 30.0})
