"""Small loops that stay on the host: one generated function, what does not change computed once."""

import time

import numpy as np
import pytest

import weft as tf
from tests.runtime.test_waiting_loop import in_thread
from weft.core import flags
from weft.ops.array import gather


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


def test_variables_of_a_store_that_was_cleared_are_found_again(sess):
    """Loops that wait and loops that do not know the cells that they use."""
    queue = tf.FIFOQueue(100, tf.float32, shapes=[()])
    v = tf.Variable(1.0, use_resource=False)
    fill = queue.enqueue_many([np.ones(20, np.float32)])

    def run(step):
        return tf.while_loop(lambda i, _: i < 20, lambda i, t: (i + 1, step(t) + v), [0, 0.0])[1]

    loops = [run(stay_on_host), run(lambda t: t + queue.dequeue() - 1.0)]
    for value in (1.0, 2.0, 3.0):
        sess.run(tf.assign(v, value))
        for result in loops:
            sess.run(fill)
            assert sess.run(result) == 20.0 * value
            sess.run(queue.dequeue_many(queue.size()))
        sess._runner.store.clear([""])
        sess.run(v.initializer)


class TestConditionals:
    """Branches are written out where they are small and have run; otherwise they are called."""

    @pytest.fixture
    def queue(self, sess):
        made = tf.FIFOQueue(1000, tf.float32, shapes=[()])
        self.give = lambda values: sess.run(made.enqueue_many([np.asarray(values, np.float32)]))
        return made

    @pytest.mark.parametrize("waits", [True, False])
    def test_both_sides(self, sess, queue, waits):
        step = (lambda t: t + queue.dequeue()) if waits else stay_on_host

        def body(i, t):
            x = step(t)
            return i + 1, tf.cond(x > 3.0, lambda: x - 3.0, lambda: x + 1.0)

        result = tf.while_loop(lambda i, t: i < 12, body, [0, 0.0])[1]
        t = 0.0
        for _ in range(12):
            t = t - 3.0 if t > 3.0 else t + 1.0
        for _ in range(3):
            self.give(np.zeros(12))
            assert sess.run(result) == t

    def test_a_side_that_is_taken_late(self, sess, queue):
        v = tf.Variable(0.0, use_resource=False)
        sess.run(v.initializer)

        def body(i, t):
            x = queue.dequeue()
            count = lambda: tf.identity(tf.assign_add(v, x))  # noqa: E731
            return i + 1, t + tf.cond(x > 5.0, count, lambda: x)

        result = tf.while_loop(lambda i, t: i < 10, body, [0, 0.0], parallel_iterations=1)[1]
        for _ in range(3):
            self.give(np.ones(10))
            assert sess.run(result) == 10
        for k in range(1, 4):
            self.give([1, 1, 1, 1, 1, 1, 1, 1, 10, 1])
            assert sess.run(result) == 9 + 10 * k
            assert sess.run(v) == 10 * k

    def test_a_failing_assertion_names_node_and_iteration(self, sess, queue):
        def body(i, t):
            x = queue.dequeue()
            with tf.control_dependencies([tf.Assert(x < 5.0, ["too large", x], name="small")]):
                return i + 1, t + x

        result = tf.while_loop(lambda i, t: i < 10, body, [0, 0.0], parallel_iterations=1)[1]
        self.give(np.ones(10))
        assert sess.run(result) == 10
        self.give([1, 1, 1, 1, 1, 1, 7])
        with pytest.raises(tf.errors.InvalidArgumentError, match="too large") as caught:
            sess.run(result)
        assert "iteration 6 of loop" in str(caught.value)
        assert caught.value.op.name.startswith("while/small")

    def test_conditionals_in_conditionals(self, sess, queue):
        def body(i, t):
            x = queue.dequeue()
            inner = lambda: tf.cond(x > 2.0, lambda: x * 10.0, lambda: x)  # noqa: E731
            return i + 1, t + tf.cond(x > 1.0, inner, lambda: -x)

        result = tf.while_loop(lambda i, t: i < 9, body, [0, 0.0])[1]
        for _ in range(3):
            self.give([1, 2, 3] * 3)
            assert sess.run(result) == 3 * (-1 + 2 + 30)

    def test_references_are_read_where_values_are_wanted(self, sess, queue):
        v = tf.Variable(1.0, use_resource=False)
        sess.run(v.initializer)

        def body(i, t):
            x = queue.dequeue()
            return i + 1, t + tf.cond(x > 1.0, lambda: tf.assign_add(v, x), lambda: v)

        result = tf.while_loop(lambda i, t: i < 6, body, [0, 0.0], parallel_iterations=1)[1]
        value = 1.0
        for _ in range(3):
            self.give([0, 2, 0, 0, 3, 0])
            want = 0.0
            for x in (0, 2, 0, 0, 3, 0):
                value += x if x > 1 else 0
                want += value
            assert sess.run(result) == want


@pytest.mark.parametrize("control_flow", ["whole", "loops", "bodies", "nodes"])
@pytest.mark.parametrize("devices", [1, 2])
def test_closing_the_session_ends_a_loop_that_would_not(control_flow, devices):
    with flags.CONTROL_FLOW.override(control_flow):
        x = tf.while_loop(lambda i: i >= 0.0, lambda i: i * 0.5 + 1.0, [0.0])
        with tf.device(f"/cpu:{devices - 1}"):
            y = tf.sqrt(x)
        sess = tf.Session(config=tf.ConfigProto(device_count={"CPU": devices}))
        join = in_thread(sess.run, y)
        time.sleep(0.2)
        sess.close()
        with pytest.raises(tf.errors.CancelledError, match="explicit call to `Session::Close"):
            join()
