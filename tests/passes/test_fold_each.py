"""Graphs of which only some control flow can be folded, and the pieces that the rest runs in."""

import threading

import numpy as np
import pytest

import weft as tf
from weft.graph.op_def import raw

pytestmark = pytest.mark.on_host


def _plan(sess):
    """The plan that was made last."""
    return list(sess._runner._plans.values())[-1]


def _waits(plan) -> bool:
    """Whether units run in order up to one that waits, and branches have their structure."""
    return not plan.in_order and not plan.by_tokens


def _types(plan):
    return [node.type for node in plan.graph.nodes]


@pytest.fixture
def queue(sess):
    made = tf.FIFOQueue(100, tf.float32, shapes=[[2]])
    sess.run(made.enqueue_many(np.arange(40, dtype=np.float32).reshape(20, 2)))
    return made


def _doubled(x, times):
    return tf.while_loop(lambda i, _: i < times, lambda i, a: (i + 1, a * 2.0), [0, x])[1]


def test_loops_and_branches_that_a_queue_feeds_are_folded(sess, queue):
    w = tf.Variable(3.0)
    sess.run(w.initializer)
    x = queue.dequeue()
    y = tf.cond(x[0] >= 0.0, lambda: _doubled(x, 3) * w, lambda: x)
    slope = tf.gradients(y, w)[0]
    for i in range(4):
        got = sess.run([y, slope])
        np.testing.assert_allclose(got[0], np.array([2 * i, 2 * i + 1]) * 24)
        np.testing.assert_allclose(got[1], (4 * i + 1) * 8)
    assert _waits(_plan(sess))
    assert {"_If"} <= {*_types(_plan(sess))} and "Switch" not in _types(_plan(sess))


def _over(queue, count, gives):
    """A loop over elements of a queue, with a branch and a loop in it."""

    def body(i, total):
        x = queue.dequeue()
        kept = tf.cond(x[0] > 4.0, lambda: x, lambda: x * 0.0)
        with tf.control_dependencies([queue.enqueue(x)] if gives else []):
            return i + 1, total + _doubled(kept, 2)

    return tf.while_loop(lambda i, _: i < count, body, [0, tf.zeros([2])])[1]


def _taking_in_a_branch(queue, count):
    """A loop that takes two elements in every second iteration, with a loop in it."""

    def both():
        return queue.dequeue(), queue.dequeue()

    def body(i, total):
        x, y = tf.cond(tf.equal(i % 2, 0), both, lambda: (tf.ones([2]), tf.ones([2])))
        x = tf.maximum(x, y)
        kept = tf.cond(x[0] > 4.0, lambda: x, lambda: x * 0.0)
        return i + 1, total + _doubled(kept, 2)

    return tf.while_loop(lambda i, _: i < count, body, [0, tf.zeros([2])])[1]


def test_a_loop_that_gives_and_takes_is_one_node(sess, queue):
    y = _over(queue, 5, gives=True)
    np.testing.assert_allclose(sess.run(y), [4 * 14, 4 * 16])
    assert _waits(_plan(sess))
    assert "_While" in _types(_plan(sess)) and "Merge" not in _types(_plan(sess))
    np.testing.assert_allclose(sess.run(y), 4 * np.arange(10, 20).reshape(5, 2).sum(0))
    assert sess.run(queue.size()) == 20


def test_a_loop_that_waits_in_a_branch_is_one_node(sess, queue):
    def body(i, total):
        x = tf.cond(tf.equal(i % 2, 0), queue.dequeue, lambda: tf.ones([2]))
        return i + 1, total + x

    y = tf.while_loop(lambda i, _: i < 10, body, [0, tf.zeros([2])])[1]
    np.testing.assert_allclose(sess.run(y), [5 + 20, 5 + 25])
    assert _waits(_plan(sess)) and "Merge" not in _types(_plan(sess))
    assert sess.run(queue.size()) == 15


def test_a_loop_whose_branch_must_not_be_one_node_stays_and_what_is_inside_is_folded(sess, queue):
    y = _taking_in_a_branch(queue, 4)
    np.testing.assert_allclose(sess.run(y), [4 * 6, 4 * 7])
    types = _types(_plan(sess))
    assert _plan(sess).by_tokens
    assert {"_While", "_If", "Merge"} <= {*types}
    units = _plan(sess).layout.units
    assert max(len(unit.nodes) for unit in units if unit.is_region) > 2
    np.testing.assert_allclose(sess.run(y), [4 * (10 + 14), 4 * (11 + 15)])
    assert sess.run(queue.size()) == 12


class TestWaitingLoop:
    """A loop that takes from queues is one node, which may have to wait."""

    def test_it_goes_on_where_it_waited(self, sess, queue):
        y = _over(queue, 25, gives=False)
        got = []
        thread = threading.Thread(target=lambda: got.append(sess.run(y)))
        thread.start()
        more = tf.placeholder(tf.float32, [None, 2])
        give = queue.enqueue_many(more)
        for i in range(5):
            sess.run(give, {more: np.array([[40 + 2 * i, 41 + 2 * i]])})
        thread.join(20)
        every = np.arange(50, dtype=np.float32).reshape(25, 2)
        np.testing.assert_allclose(got[0], 4 * every[every[:, 0] > 4].sum(0))
        plan = next(p for p in sess._runner._plans.values() if "_While" in _types(p))
        assert _waits(plan) and "Switch" not in _types(plan)
        assert sess.run(queue.size()) == 0

    def test_the_end_of_the_queue_names_node_and_iteration(self, sess, queue):
        y = _over(queue, 25, gives=False)
        sess.run(queue.close())
        with pytest.raises(tf.errors.OutOfRangeError, match="iteration 20 of loop") as caught:
            sess.run(y)
        assert caught.value.op.type == "QueueDequeueV2"

    def test_it_can_run_out_of_time(self, sess, queue):
        y = _over(queue, 25, gives=False)
        with pytest.raises(tf.errors.DeadlineExceededError):
            sess.run(y, options=tf.RunOptions(timeout_in_ms=200))
        assert queue_waits(sess) == 0

    def test_loops_in_loops(self, sess, queue):
        def outer(i, total):
            def inner(j, sum_):
                return j + 1, sum_ + queue.dequeue()

            row = tf.while_loop(lambda j, _: j < i + 1, inner, [0, tf.zeros([2])])[1]
            return i + 1, total * 2.0 + row

        y = tf.while_loop(lambda i, _: i < 4, outer, [0, tf.zeros([2])])[1]
        every = np.arange(40, dtype=np.float32).reshape(20, 2)
        rows = [every[:1], every[1:3], every[3:6], every[6:10]]
        expected = sum(row.sum(0) * 2 ** (3 - k) for k, row in enumerate(rows))
        np.testing.assert_allclose(sess.run(y), expected)
        assert _types(_plan(sess)).count("_While") == 1


def queue_waits(sess):
    """How many requests wait in the queues of a session."""
    return sum(r.waiting() for _, kind, _, r in sess._runner.store if kind == "queue")


def test_what_feeds_the_queue_is_not_kept_waiting_by_what_takes_from_it(sess):
    """One loop has both at its ends: folded, it would wait for itself."""
    queue = tf.FIFOQueue(10, tf.float32, shapes=[()])
    taken = queue.dequeue()
    _, given, both = tf.while_loop(
        lambda i, *_: i < 3,
        lambda i, a, b: (i + 1, a * 2.0, b + taken),
        [0, tf.constant(1.0), tf.constant(0.0)],
    )
    give = queue.enqueue(given)
    options = tf.RunOptions(timeout_in_ms=20_000)
    assert sess.run([both, give], options=options)[0] == 24.0
    assert sess.run([both, give], options=options)[0] == 24.0


def test_what_an_iteration_gives_another_takes(sess):
    queue = tf.FIFOQueue(10, tf.int32, shapes=[()])

    def body(i, total):
        with tf.control_dependencies([queue.enqueue(i)]):
            pair = tf.cond(i < 2, lambda: tf.constant([0, 0]), lambda: queue.dequeue_many(2))
        return i + 1, total + tf.reduce_sum(pair)

    _, y = tf.while_loop(lambda i, _: i < 6, body, [0, 0])
    # Four times two of what six iterations give: those behind must run while the first ones wait.
    late = threading.Thread(target=sess.run, args=(queue.enqueue_many([[10, 20]]),))
    late.start()
    assert sess.run(y) == 15 + 30
    late.join(10)


def test_branches_of_the_rest_are_pieces_that_die_together(sess, queue):
    p, q = tf.placeholder(tf.bool, []), tf.placeholder(tf.bool, [])
    x, other = queue.dequeue(), tf.FIFOQueue(10, tf.float32, shapes=[()])
    sess.run(other.enqueue_many([np.ones(3, np.float32)]))
    late = other.dequeue()

    def some(scale):
        with tf.control_dependencies([queue.enqueue(x + scale)]):
            return tf.reduce_sum(tf.sqrt(x + scale) * scale) * late

    y = tf.cond(p, lambda: tf.cond(q, lambda: some(1.0), lambda: some(2.0)), lambda: some(3.0))
    for i, (first, second) in enumerate([(True, True), (True, False), (False, True)]):
        scale = float(i + 1)
        got = sess.run(y, {p: first, q: second})
        expected = np.sum(np.sqrt(np.array([2 * i, 2 * i + 1]) + scale) * scale)
        np.testing.assert_allclose(got, expected, rtol=1e-6)
    assert _plan(sess).by_tokens
    assert sess.run(queue.size()) == 20


def test_variables_of_a_loop_that_do_not_go_on_together(sess):
    """One of two loop variables skips its last iteration: each merge is alive by itself."""

    def constant(value):
        return raw.Enter(tf.constant(value), frame_name="odd", is_constant=True)

    def variable(value):
        return raw.Merge([raw.Enter(tf.constant(value), frame_name="odd")] * 2)[0]

    i, x = variable(0), variable(1.0)
    go_on = raw.LoopCond(tf.less(i, constant(4)))
    leave, inside = raw.Switch(i, go_on)
    x_leaves, x_inside = raw.Switch(x, go_on)
    earlier = tf.less(inside, constant(3))
    doubled = x_inside * constant(2.0)
    _, again = raw.Switch(doubled, earlier)
    i.op._update_input(1, raw.NextIteration(inside + constant(1)))
    x.op._update_input(1, raw.NextIteration(again))
    count = raw.Exit(leave)
    assert [int(sess.run(count)) for _ in range(3)] == [4, 4, 4]
    last = raw.Exit(x_leaves)
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(last)  # the iteration that would leave by it never had a value for it


def test_a_gradient_that_waits_for_what_is_done_with_the_results_of_its_loop() -> None:
    """The gradient's counter enters the loop after its exit: it cannot be one node."""
    start = tf.placeholder(tf.float32, [])
    seen = tf.get_variable("seen", initializer=0.0)
    _, end = tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * x), [0, start])
    with tf.control_dependencies([tf.assign(seen, end)]):
        (gradient,) = tf.gradients(end, start)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            assert session.run(gradient, {start: 2.0}) == 8 * 2.0**7
            assert session.run(seen) == 2.0**8
            session.run(seen.initializer)
