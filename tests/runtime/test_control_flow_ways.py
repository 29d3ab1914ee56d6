"""Loops and conditionals give the same values however they run: by nodes, by bodies, whole."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import weft as tf
from weft.core import flags

WAYS = ("nodes", "bodies", "loops", "whole")


# Pieces of a matrix of three rows by a counter; some are as large as it says.
CUTS = {
    "row": lambda m, i: m[i % 3],
    "backwards": lambda m, i: m[i % 3, ::-1],
    "some of a row": lambda m, i: m[i % 3, 1:],
    "some of a column": lambda m, i: m[1:, i % 2],
    "until": lambda m, i: m[: i + 1],
    "from": lambda m, i: m[i % 3 :],
    "two": lambda m, i: m[i % 2 : i % 2 + 2],
    "slice": lambda m, i: tf.slice(m, [i % 3, 0], [1, -1]),
    "rest": lambda m, i: tf.slice(m, [i % 3, 0], [-1, 1]),
}
LEAVES = ("mul", "sin", "add_x")


@st.composite
def programs(draw, depth=2):
    """A program as nested tuples; `build` turns it into nodes."""
    kinds = [*LEAVES]
    if depth:
        kinds += ["loop", "data_loop", "cond", "array", "loop", "cut", "grow"]
    kind = draw(st.sampled_from(kinds))
    if kind in LEAVES:
        return (kind,)
    if kind == "cut":
        return kind, draw(st.integers(1, 4)), draw(st.sampled_from(sorted(CUTS)))
    steps = draw(st.integers(0, 4))
    inner = draw(st.lists(programs(depth=depth - 1), min_size=1, max_size=2))
    other = draw(st.lists(programs(depth=depth - 1), min_size=1, max_size=1))
    return kind, steps, inner, other


def chain(parts, value, x):
    for part in parts:
        value = build(part, value, x)
    return value


def build(program, value, x):
    kind = program[0]
    if kind == "mul":
        return value * 0.9 + 0.1
    if kind == "sin":
        return tf.sin(value) * x
    if kind == "add_x":
        return value + x
    if kind == "cut":
        return cut_by_counter(value, *program[1:])
    _, steps, inner, other = program
    if kind == "grow":
        return grow(value, steps, lambda v: chain(inner, v, x))
    if kind == "loop":
        return tf.while_loop(
            lambda i, v: i < steps, lambda i, v: (i + 1, chain(inner, v, x)), [0, value]
        )[1]
    if kind == "data_loop":
        return tf.while_loop(
            lambda i, v: tf.logical_and(i < steps, tf.reduce_sum(v) < 5.0),
            lambda i, v: (i + 1, chain(inner, v, x) + 0.5),
            [0, value],
        )[1]
    if kind == "cond":
        return tf.cond(
            tf.reduce_sum(value) > 1.0,
            lambda: chain(inner, value, x),
            lambda: chain(other, value, x),
        )
    array = tf.TensorArray(tf.float32, size=steps + 1)
    array = array.write(0, value)
    _, array = tf.while_loop(
        lambda i, a: i < steps + 1, lambda i, a: (i + 1, a.write(i, chain(inner, value, x))),
        [1, array],
    )  # fmt: skip
    return tf.reduce_sum(array.stack(), axis=0)


def cut_by_counter(value, steps, name):
    """Adds up pieces of a matrix, cut where the counter of a loop says."""

    def body(i, v):
        piece = CUTS[name](tf.stack([v, v * 0.5, v + 1.0]), i)
        return i + 1, v * 0.5 + tf.reduce_sum(piece) * 0.1

    return tf.while_loop(lambda i, v: i < steps, body, [0, value])[1]


def grow(value, steps, change):
    """A loop whose variable has another row after each iteration."""

    def body(i, rows):
        return i + 1, tf.concat([rows, change(rows[-1])[None]], 0)

    shapes = [tf.TensorShape([]), tf.TensorShape([None, value.shape[0]])]
    rows = tf.while_loop(lambda i, rows: i < steps, body, [0, value[None]], shapes)[1]
    return tf.reduce_mean(rows, axis=0)


def run_all_ways(parts, fed, dims):
    results = {}
    for way in WAYS:
        with flags.CONTROL_FLOW.override(way), tf.Graph().as_default():
            x = tf.placeholder(tf.float32, dims, name="x")
            y = chain(parts, x * 1.0, x)
            gradient = tf.gradients(y, x)[0]
            with tf.Session() as sess:
                # Interpreted first, compiled from the second run on.
                results[way] = [sess.run([y, gradient], {x: fed}) for _ in range(3)]
    return results


def check(parts, fed, dims):
    results = run_all_ways(parts, np.array(fed, np.float32), dims)
    for way in WAYS:
        for run in results[way]:
            for got, wanted in zip(run, results["nodes"][0], strict=True):
                np.testing.assert_allclose(got, wanted, rtol=2e-4, atol=1e-5, err_msg=way)


fed_values = st.tuples(st.floats(-1, 1, width=32), st.floats(-1, 1, width=32))
fed_dims = st.sampled_from([[2], [None]])
quiet = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]


@settings(max_examples=8, deadline=None, derandomize=True, suppress_health_check=quiet)
@given(st.lists(programs(), min_size=1, max_size=2), fed_values, fed_dims)
def test_random_programs(parts, fed, dims):
    check(parts, fed, dims)


@pytest.mark.parametrize("name", CUTS)
def test_cuts_by_counters(name):
    check(
        [("loop", 2, [("cut", 3, name)], []), ("grow", 2, [("cut", 2, name)], [])],
        (0.3, -0.2),
        [None],
    )


@pytest.mark.slow
@pytest.mark.timeout(1800)
@settings(max_examples=60, deadline=None, suppress_health_check=quiet)
@given(st.lists(programs(), min_size=1, max_size=3), fed_values, fed_dims)
def test_many_random_programs(parts, fed, dims):
    check(parts, fed, dims)


@pytest.mark.parametrize("way", WAYS)
class TestEachWay:
    @pytest.fixture(autouse=True)
    def this_way(self, way):
        with flags.CONTROL_FLOW.override(way):
            yield

    def test_untaken_branches_have_no_effect(self, sess):
        v = tf.Variable(0.0)
        p = tf.placeholder(tf.bool, [])
        y = tf.cond(p, lambda: tf.assign_add(v, 1.0), lambda: tf.assign_add(v, 10.0))
        sess.run(v.initializer)
        for fed, wanted in ((True, 1), (False, 11), (True, 12), (True, 13)):
            assert sess.run(y, {p: fed}) == wanted
            assert sess.run(v) == wanted

    def test_loops_that_run_zero_times(self, sess):
        n = tf.placeholder(tf.int32, [])
        x = tf.placeholder(tf.float32, [])
        y = tf.while_loop(lambda i, v: i < n, lambda i, v: (i + 1, v * x), [0, 2.0])[1]
        g = tf.gradients(y, x)[0]
        for steps, value, slope in ((0, 2, 0), (1, 6, 2), (3, 54, 54), (0, 2, 0)):
            assert sess.run([y, g], {n: steps, x: 3.0}) == [value, slope]

    def test_an_error_names_node_and_iteration(self, sess):
        def fail_at_three(i):
            if i == 3:
                raise ValueError("three is too many")
            return i

        def body(i):
            return tf.py_func(fail_at_three, [i], tf.int32, name="picky") + 1

        y = tf.while_loop(lambda i: i < 10, body, [0], shape_invariants=[tf.TensorShape(None)])
        for _ in range(2):
            with pytest.raises(tf.errors.InvalidArgumentError) as info:
                sess.run(y)
            assert "picky" in str(info.value) and "three is too many" in str(info.value)
            assert "iteration 3" in str(info.value)

    def test_variables_change_inside_loops(self, sess):
        v = tf.get_variable("v", [], initializer=tf.zeros_initializer(), use_resource=True)

        def body(i):
            with tf.control_dependencies([v.assign_add(2.0)]):
                return i + 1

        loop = tf.while_loop(lambda i: i < 5, body, [0])
        with tf.control_dependencies([loop]):
            after = v.read_value()
        sess.run(v.initializer)
        assert [sess.run(after) for _ in range(3)] == [10, 20, 30]

    def test_shapes_that_grow(self, sess):
        y = tf.while_loop(
            lambda i, v: i < 3,
            lambda i, v: (i + 1, tf.concat([v, v], 0)),
            [0, tf.constant([1.0])],
            shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])],
        )[1]
        for _ in range(3):
            np.testing.assert_array_equal(sess.run(y), np.ones(8))

    def test_nested_loops_with_gradients(self, sess):
        x = tf.placeholder(tf.float32, [])

        def inner(j, w):
            return j + 1, w * x

        def outer(i, v):
            return i + 1, tf.while_loop(lambda j, w: j < 2, inner, [0, v])[1]

        y = tf.while_loop(lambda i, v: i < 3, outer, [0, x])[1]
        g = tf.gradients(y, x)[0]
        for _ in range(3):
            np.testing.assert_allclose(sess.run([y, g], {x: 1.1}), [1.1**7, 7 * 1.1**6], rtol=1e-5)

    def test_what_an_assignment_gives_is_a_value_in_the_next_iteration(self, sess):
        v, total = tf.Variable([1.0, 2.0]), tf.Variable(0.0)

        def inner(j, w):
            with tf.control_dependencies([w, total.assign_add(tf.reduce_sum(w))]):
                return j + 1, v.assign_add([1.0, 1.0])

        def outer(i, _):
            return i + 1, tf.reduce_sum(tf.while_loop(lambda j, _: j < 2, inner, [0, v])[1])

        y = tf.while_loop(lambda i, _: i < 2, outer, [0, 0.0], parallel_iterations=1)
        for _ in range(3):
            sess.run(tf.global_variables_initializer())
            assert sess.run(y) == (2, 11.0)
            assert sess.run(v).tolist() == [5.0, 6.0] and sess.run(total) == 24.0

    def test_map_and_scan(self, sess):
        x = tf.placeholder(tf.float32, [None, 2])
        y = tf.map_fn(lambda row: row * tf.reduce_sum(row), x)
        z = tf.scan(lambda a, row: a * 0.5 + row, x)
        g = tf.gradients([y, z], x)[0]
        value = np.arange(6, dtype=np.float32).reshape(3, 2)
        for _ in range(3):
            got_y, got_z, got_g = sess.run([y, z, g], {x: value})
            np.testing.assert_allclose(got_y, value * value.sum(1, keepdims=True))
            np.testing.assert_allclose(got_z, [[0, 1], [2, 3.5], [5, 6.75]])
            assert got_g.shape == (3, 2)

    def test_an_endless_loop_can_time_out(self, sess):
        y = tf.while_loop(lambda i: i >= 0, lambda i: i * 0, [1])
        for _ in range(2):
            with pytest.raises(tf.errors.DeadlineExceededError):
                sess.run(y, options=tf.RunOptions(timeout_in_ms=300))
