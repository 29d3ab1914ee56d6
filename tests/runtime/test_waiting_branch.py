"""Conditionals that may wait in a branch: one node, of which only the taken branch starts."""

import threading
import time

import numpy as np
import pytest

import weft as tf
from tests.runtime.test_waiting_loop import in_thread, queue_of, queue_waits, repeat
from weft.runtime.loop_run import WaitingLoop
from weft.runtime.waiting_branch import WaitingBranch


@pytest.fixture
def loops(monkeypatch):
    """The waiting loops that were made, in order."""
    made = []
    original = WaitingLoop.__init__
    monkeypatch.setattr(
        WaitingLoop, "__init__", lambda self, loop: (original(self, loop), made.append(self))[0]
    )
    return made


def plan_of(sess):
    return list(sess._runner._plans.values())[-1]


def waits(plan):
    """Whether units run in order up to one that waits, and branches have their structure."""
    return not plan.in_order and not plan.by_tokens


def wait_for_waiting(sess, count=1):
    end = time.monotonic() + 20
    while queue_waits(sess) < count:
        assert time.monotonic() < end
        time.sleep(0.001)


@pytest.fixture
def switch(sess):
    """Two queues, which of them is taken from, and what was taken."""
    first, second = queue_of(sess, np.arange(10)), queue_of(sess, np.arange(100, 110))
    p = tf.placeholder(tf.bool, [])
    return first, second, p, tf.cond(p, first.dequeue, second.dequeue)


@pytest.mark.on_host
def test_one_side_is_taken_from(sess, switch):
    first, second, p, x = switch
    got = [sess.run(x, {p: k % 3 == 0}) for k in range(12)]
    assert got == [0, 100, 101, 1, 102, 103, 2, 104, 105, 3, 106, 107]
    plan = plan_of(sess)
    assert waits(plan) and plan.prepared.line is not None
    assert [int(n) for n in sess.run([first.size(), second.size()])] == [6, 2]


def test_it_goes_on_when_the_element_comes(sess, switch):
    first, second, p, x = switch
    for _ in range(2):
        sess.run(first.dequeue_many(first.size()))
        left = int(sess.run(second.size()))
        join = in_thread(sess.run, x * 2.0, {p: True})
        wait_for_waiting(sess)
        sess.run(first.enqueue(7.0))
        assert join() == 14
        assert sess.run(second.size()) == left


def test_the_other_side_that_is_empty_is_not_waited_for(sess, switch):
    _, second, p, x = switch
    sess.run(second.dequeue_many(10))
    sess.run(second.close())
    assert [sess.run(x, {p: True}) for _ in range(10)] == list(range(10))
    with pytest.raises(tf.errors.OutOfRangeError) as caught:
        sess.run(x, {p: False})
    assert caught.value.op.type == "QueueDequeueV2" and "cond" in caught.value.op.name


def test_closing_the_queue_ends_it_with_the_name_of_the_node(sess, switch):
    first, _, p, x = switch
    for _ in range(10):
        sess.run(x, {p: True})
    join = in_thread(sess.run, x, {p: True})
    wait_for_waiting(sess)
    sess.run(first.close())
    with pytest.raises(tf.errors.OutOfRangeError) as caught:
        join()
    assert caught.value.op is x.op.inputs[1].op or caught.value.op.type == "QueueDequeueV2"
    assert queue_waits(sess) == 0


@pytest.mark.parametrize("warm", [0, 5])
def test_it_can_run_out_of_time(sess, switch, warm):
    first, _, p, x = switch
    for _ in range(warm):
        sess.run(x, {p: True})
    sess.run(first.dequeue_many(first.size()))
    with pytest.raises(tf.errors.DeadlineExceededError):
        sess.run(x, {p: True}, options=tf.RunOptions(timeout_in_ms=100))
    assert queue_waits(sess) == 0
    sess.run(first.enqueue(3.0))
    assert sess.run(x, {p: True}) == 3


@pytest.mark.parametrize("in_a_loop", [False, True])
def test_closing_the_session_ends_it(in_a_loop):
    queue, p = tf.FIFOQueue(10, tf.float32, shapes=[()]), tf.placeholder(tf.bool, [])
    x = tf.cond(p, queue.dequeue, lambda: 0.0)
    if in_a_loop:
        (x,) = repeat(9, lambda i, t: (i + 1, t + tf.cond(p, queue.dequeue, lambda: 0.0)), [0.0])
    sess = tf.Session()
    assert [sess.run(x, {p: False}) for _ in range(5)] == [0.0] * 5
    join = in_thread(sess.run, x, {p: True})
    wait_for_waiting(sess)
    sess.close()
    with pytest.raises(tf.errors.CancelledError):
        join()


def test_closing_the_session_ends_a_loop_in_a_branch_that_never_waits():
    queue, p = tf.FIFOQueue(10, tf.int32, shapes=[()]), tf.placeholder(tf.bool, [])

    def body(i):
        with tf.control_dependencies([queue.enqueue(i)]):
            return tf.identity(queue.dequeue())

    x = tf.cond(p, lambda: tf.while_loop(lambda i: i >= 0, body, [0]), lambda: 1)
    sess = tf.Session()
    assert sess.run(x, {p: False}) == 1
    join = in_thread(sess.run, x, {p: True})
    time.sleep(0.1)
    sess.close()
    with pytest.raises(tf.errors.CancelledError):
        join()


def test_an_error_elsewhere_withdraws_what_a_branch_waits_for(sess, switch):
    first, _, p, x = switch
    sess.run(first.dequeue_many(10))
    y = tf.placeholder(tf.float32, [])
    fails = tf.check_numerics(y, "not finite")
    for _ in range(2):
        with pytest.raises(tf.errors.InvalidArgumentError, match="not finite"):
            sess.run([x, fails], {p: True, y: np.inf})
        assert queue_waits(sess) == 0


@pytest.mark.on_host
def test_no_thread_waits(sess, switch):
    first, _, p, x = switch
    sess.run(first.dequeue_many(10))
    nested = tf.cond(p, lambda: tf.cond(p, first.dequeue, lambda: 0.0), lambda: 0.0)
    before = threading.active_count()
    joins = [in_thread(sess.run, fetch, {p: True}) for fetch in (x, nested, x, nested)]
    while queue_waits(sess) < 4:
        time.sleep(0.001)
    assert threading.active_count() == before + 4
    sess.run(first.enqueue_many([np.ones(4, np.float32)]))
    assert [join() for join in joins] == [1, 1, 1, 1]


def test_what_else_is_in_the_branch_goes_on_while_it_waits(sess):
    """The element comes only after the other operation of the branch was seen."""
    queue, seen = tf.FIFOQueue(10, tf.float32, shapes=[()]), tf.FIFOQueue(10, tf.float32)
    p = tf.placeholder(tf.bool, [])

    def both():
        x = queue.dequeue()
        with tf.control_dependencies([seen.enqueue(5.0)]):
            return x + tf.identity(1.0)

    x = tf.cond(p, both, lambda: 0.0)
    for _ in range(6):
        join = in_thread(sess.run, x, {p: True})
        assert sess.run(seen.dequeue()) == 5
        sess.run(queue.enqueue(2.0))
        assert join() == 3
    assert waits(plan_of(sess))


def test_effects_of_the_side_not_taken_never_happen(sess):
    queue = queue_of(sess, np.arange(40))
    v = tf.get_variable("v", [], initializer=tf.zeros_initializer())
    sess.run(v.initializer)

    def counted():
        with tf.control_dependencies([tf.assign_add(v, 1.0)]):
            return queue.dequeue()

    p = tf.placeholder(tf.bool, [])
    x = tf.cond(p, counted, lambda: tf.constant(-1.0))
    for k in range(10):
        assert sess.run(x, {p: k % 2 == 0}) == (k // 2 if k % 2 == 0 else -1)
    assert sess.run(v) == 5 and sess.run(queue.size()) == 35


def test_a_conditional_of_operations_only(sess):
    queue = tf.FIFOQueue(2, tf.float32, shapes=[()])
    p, x = tf.placeholder(tf.bool, []), tf.placeholder(tf.float32, [])
    give = tf.cond(p, lambda: queue.enqueue(x), tf.no_op)
    for k in range(5):
        sess.run(give, {p: k % 3 == 0, x: k})
    join = in_thread(sess.run, give, {p: True, x: 9})
    wait_for_waiting(sess)
    assert [sess.run(queue.dequeue()) for _ in range(3)] == [0, 3, 9]
    join()


def test_control_dependencies_in_and_out(sess):
    queue, order = queue_of(sess, np.arange(20)), []
    note = lambda k: tf.py_func(lambda: order.append(k), [], [])  # noqa: E731
    p = tf.placeholder(tf.bool, [])
    with tf.control_dependencies([note("before")]):
        x = tf.cond(p, lambda: queue.dequeue() * 2.0, lambda: 1.0)
    with tf.control_dependencies([x]), tf.control_dependencies([note("after")]):
        y = tf.identity(x)
    for _ in range(3):
        sess.run(queue.dequeue_many(queue.size()))
        order.clear()
        join = in_thread(sess.run, y, {p: True})
        wait_for_waiting(sess)
        assert order == ["before"]
        sess.run(queue.enqueue(4.0))
        assert join() == 8 and order == ["before", "after"]


def test_an_error_of_a_kernel_in_a_branch_names_its_node(sess):
    queue = tf.FIFOQueue(100, tf.int32, shapes=[()])
    p, values = tf.placeholder(tf.bool, []), tf.placeholder(tf.float32, [None])
    x = tf.cond(p, lambda: tf.gather(values, queue.dequeue(), name="picky"), lambda: 0.0)
    for _ in range(5):
        sess.run(queue.enqueue_many([[2, 5]]))
        assert sess.run(x, {p: True, values: [1, 2, 3]}) == 3
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            sess.run(x, {p: True, values: [1, 2, 3]})
        assert caught.value.op.name.endswith("picky")


@pytest.mark.on_host
def test_in_a_loop_it_is_a_part_of_the_function(sess, loops):
    first, second = queue_of(sess, np.arange(100)), queue_of(sess, np.arange(1000, 1100))

    def body(i, total):
        return i + 1, total + tf.cond(tf.equal(i % 2, 0), first.dequeue, second.dequeue)

    (total,) = repeat(20, body, [0.0])
    for k in range(3):
        rows = range(10 * k, 10 * k + 10)
        assert sess.run(total) == sum(rows) + sum(1000 + r for r in rows)
    (loop,) = loops
    assert loop.line is not None
    sess.run([first.dequeue_many(first.size()), second.dequeue_many(second.size())])
    join = in_thread(sess.run, total)
    wait_for_waiting(sess)
    sess.run(second.enqueue_many([np.ones(12, np.float32)]))
    sess.run(first.enqueue_many([np.ones(12, np.float32)]))
    assert join() == 20
    assert [int(n) for n in sess.run([first.size(), second.size()])] == [2, 2]


@pytest.mark.parametrize("filled", [0, 12])
def test_the_end_of_a_queue_names_node_and_iteration(sess, filled):
    queue = queue_of(sess, np.ones(50))
    take = lambda: queue.dequeue(name="take")  # noqa: E731
    (total,) = repeat(25, lambda i, t: (i + 1, t + tf.cond(i >= 0, take, lambda: 0.0)), [0.0])
    sess.run(total)
    sess.run(total)
    if filled:
        sess.run(queue.enqueue_many([np.ones(filled, np.float32)]))
    join = in_thread(sess.run, total)
    wait_for_waiting(sess, 10)  # all iterations that may overlap
    sess.run(queue.close())
    with pytest.raises(tf.errors.OutOfRangeError, match=f"iteration {filled} of loop") as caught:
        join()
    assert caught.value.op.name.endswith("take")
    assert queue_waits(sess) == 0


def test_elements_that_grow(sess):
    queue, x, p = tf.FIFOQueue(50, tf.float32), tf.placeholder(tf.float32), tf.placeholder(tf.bool)
    give = queue.enqueue(x)
    y = tf.cond(p, lambda: tf.reduce_sum(tf.tanh(queue.dequeue())), lambda: 0.0)
    (total,) = repeat(8, lambda i, t: (i + 1, t + tf.cond(p, lambda: y, lambda: 0.0)), [0.0])
    (inside,) = repeat(
        8,
        lambda i, t: (i + 1, t + tf.cond(p, lambda: tf.reduce_sum(queue.dequeue()), lambda: 0.0)),
        [0.0],
    )
    for size in (1, 1, 1, 1, 3, 100_000, 1):
        for _ in range(10):
            sess.run(give, {x: np.ones(size)})
        assert sess.run(y, {p: True}) == pytest.approx(size * np.tanh(1), rel=1e-4)
        assert sess.run(total, {p: True}) == pytest.approx(8 * size * np.tanh(1), rel=1e-4)
        assert sess.run(inside, {p: True}) == pytest.approx(8 * size, rel=1e-4)


class TestWhatStays:
    """Where one node would start or end too late, the executor runs the nodes."""

    def test_what_is_needed_by_something_else_in_the_branch(self, sess):
        """The other queue is filled only after the element of the first was taken."""
        first = tf.FIFOQueue(1, tf.float32, shapes=[()])
        second = tf.FIFOQueue(1, tf.float32, shapes=[()])
        p, x = tf.placeholder(tf.bool, []), second.dequeue()
        y = tf.cond(p, lambda: first.dequeue() + x, lambda: x)
        give = first.enqueue(1.0)
        for _ in range(5):
            join = in_thread(sess.run, y, {p: True})
            sess.run(give)
            sess.run(give)  # there is room when one is taken
            sess.run(second.enqueue(2.0))
            assert join() == 3
            sess.run(first.dequeue())

    def test_what_waits_for_one_result_only(self, sess):
        first = tf.FIFOQueue(9, tf.float32, shapes=[()])
        second = tf.FIFOQueue(9, tf.float32, shapes=[()])
        seen, p = tf.FIFOQueue(9, tf.float32, shapes=[()]), tf.placeholder(tf.bool, [])
        a, b = tf.cond(p, lambda: (first.dequeue(), second.dequeue()), lambda: (0.0, 0.0))
        tell = seen.enqueue(a)
        for _ in range(5):
            join = in_thread(sess.run, [b, tell], {p: True})
            sess.run(first.enqueue(1.0))
            assert sess.run(seen.dequeue()) == 1
            sess.run(second.enqueue(2.0))
            assert join()[0] == 2

    def test_iterations_that_go_on_while_others_wait(self, sess):
        """The other side gives only after it has seen what later iterations give."""
        queue = tf.FIFOQueue(10, tf.int32, shapes=[()])
        seen = tf.FIFOQueue(10, tf.int32, shapes=[()])

        def branch(i, total):
            told = seen.enqueue(i)
            taken = total + queue.dequeue()
            with tf.control_dependencies([told]):
                return tf.identity(taken)

        def body(i, total):
            return i + 1, tf.cond(i >= 0, lambda: branch(i, total), lambda: total)

        (total,) = repeat(8, body, [0])
        for _ in range(3):
            join = in_thread(sess.run, total)
            for i in range(8):
                assert sess.run(seen.dequeue()) == i
            sess.run(queue.enqueue_many([np.arange(8)]))
            assert join() == 28

    @pytest.mark.on_host
    def test_state_that_two_queues_change_in_turn(self, sess):
        """A later iteration may take from the other queue before the state is there."""
        first, second = queue_of(sess, np.arange(20)), queue_of(sess, np.arange(100, 120))

        def body(i, t):
            even = tf.equal(i % 2, 0)
            return i + 1, tf.cond(even, lambda: t + first.dequeue(), lambda: t + second.dequeue())

        (total,) = repeat(6, body, [0.0])
        assert [sess.run(total) for _ in range(2)] == [306, 324]
        assert plan_of(sess).by_tokens

    @pytest.mark.on_host
    def test_state_that_one_queue_changes_can_wait_for_itself(self, sess):
        queue = queue_of(sess, np.arange(20))
        take = lambda t: t * 2.0 + queue.dequeue()  # noqa: E731
        half = lambda i, t: tf.cond(tf.equal(i % 2, 0), lambda: take(t), lambda: t)  # noqa: E731
        (total,) = repeat(6, lambda i, t: (i + 1, half(i, t)), [0.0])
        assert [sess.run(total) for _ in range(3)] == [4, 25, 46]
        assert waits(plan_of(sess))


def test_gradients_through_what_was_taken(sess):
    first, second = queue_of(sess, np.arange(1, 30)), queue_of(sess, -np.arange(1, 30))
    w = tf.get_variable("w", [], initializer=tf.ones_initializer())
    sess.run(w.initializer)
    p = tf.placeholder(tf.bool, [])
    y = tf.cond(p, lambda: first.dequeue() * w, lambda: second.dequeue() * w * w)
    slope = tf.gradients(y * y, w)[0]
    for k in range(1, 6):
        assert sess.run([y, slope], {p: True}) == [k, 2 * k * k]
        assert sess.run([y, slope], {p: False}) == [-k, 4 * k * k]


def test_locks_taken_in_a_branch_are_given_back(sess):
    from weft.ops.control.critical_section import CriticalSection

    section, p = CriticalSection(name="one_at_a_time"), tf.placeholder(tf.bool, [])
    v = tf.get_variable("v", [], initializer=tf.zeros_initializer(), use_resource=True)
    sess.run(v.initializer)
    add = lambda: tf.identity(v.assign(v + 1.0))  # noqa: E731
    y = tf.cond(p, lambda: section.execute(add), lambda: 0.0)
    joins = [in_thread(lambda: [sess.run(y, {p: True}) for _ in range(5)]) for _ in range(3)]
    assert max(max(join()) for join in joins) == 15
    assert sess.run(v) == 15


def test_a_partial_run(sess, switch):
    _, _, p, x = switch
    handle = sess.partial_run_setup([x], [p])
    assert sess.partial_run(handle, x, {p: False}) == 100


@pytest.mark.on_host
def test_the_runner_of_a_plain_conditional_is_not_one_that_waits(sess, monkeypatch):
    made = []
    original = WaitingBranch.__init__
    monkeypatch.setattr(
        WaitingBranch, "__init__", lambda self, c: (original(self, c), made.append(c))[0]
    )
    queue, p = queue_of(sess, np.arange(5)), tf.placeholder(tf.bool, [])
    x = queue.dequeue()
    y = tf.cond(p, lambda: tf.py_func(lambda v: v + 1, [x], tf.float32), lambda: x)
    assert sess.run(y, {p: True}) == 1 and not made
    assert sess.run(tf.cond(p, queue.dequeue, lambda: 0.0), {p: True}) == 1 and len(made) == 1


def test_the_next_iteration_begins_before_the_last_has_what_it_waits_for():
    """Queues that hold one element each are filled one after the other."""
    with tf.Graph().as_default(), tf.Session() as sess:
        even, odd = (tf.FIFOQueue(1, tf.float32, [[]]) for _ in range(2))
        x = tf.placeholder(tf.float32, [])
        fills = [(even.enqueue(x), 1.0), (odd.enqueue(x), 10.0)]

        def body(i, total):
            is_even = tf.equal(i % 2, 0)
            return i + 1, tf.cond(
                is_even, lambda: total + even.dequeue(), lambda: total + odd.dequeue()
            )

        _, total = tf.while_loop(lambda i, _: i < 6, body, [0, 0.0])

        def fill():
            for enqueue, unit in fills:
                for k in range(3):
                    sess.run(enqueue, {x: unit * (k + 1)})

        filler = threading.Thread(target=fill, daemon=True)
        filler.start()
        assert sess.run(total, options=tf.RunOptions(timeout_in_ms=20_000)) == 66
        filler.join()
