"""Loops that may wait: as one function while nothing does, iteration by iteration otherwise."""

import threading
import time

import numpy as np
import pytest

import weft as tf
from weft.ops.control.critical_section import CriticalSection
from weft.runtime.loop_run import WaitingLoop


@pytest.fixture
def loops(monkeypatch):
    """The waiting loops that were made, in order."""
    made = []
    original = WaitingLoop.__init__

    def init(self, loop):
        original(self, loop)
        made.append(self)

    monkeypatch.setattr(WaitingLoop, "__init__", init)
    return made


def in_thread(call, *args):
    """Starts a thread; `join` of what it gives returns the result, or raises."""
    results = []

    def run():
        try:
            results.append(call(*args))
        except Exception as error:
            results.append(error)

    thread = threading.Thread(target=run)
    thread.start()

    def join():
        thread.join(20)
        assert not thread.is_alive()
        if isinstance(results[0], Exception):
            raise results[0]
        return results[0]

    return join


def repeat(n, body, start, **more):
    return tf.while_loop(lambda i, *_: i < n, body, [0, *start], **more)[1:]


def queue_of(sess, values, capacity=1000):
    queue = tf.FIFOQueue(capacity, tf.float32, shapes=[np.shape(values)[1:]])
    sess.run(queue.enqueue_many([np.asarray(values, np.float32)]))
    return queue


def queue_waits(sess):
    found = [item for store in sess._runner.stores.values() for item in store]
    return sum(r.waiting() for _, kind, _, r in found if kind == "queue")


@pytest.mark.on_host
def test_it_becomes_one_function(sess, loops):
    queue = queue_of(sess, np.arange(60))
    (total,) = repeat(20, lambda i, t: (i + 1, t + queue.dequeue()), [0.0])
    assert [sess.run(total) for _ in range(3)] == [190, 590, 990]
    assert len(loops) == 1 and loops[0].line is not None


@pytest.mark.on_host
def test_it_goes_on_as_a_function_after_it_waited(sess, loops):
    queue = queue_of(sess, np.ones(10))
    (total,) = repeat(30, lambda i, t: (i + 1, t * 0.5 + queue.dequeue()), [0.0])
    join = in_thread(sess.run, total)
    while not queue_waits(sess):
        time.sleep(0.001)
    sess.run(queue.enqueue_many([np.ones(25, np.float32)]))
    assert join() == pytest.approx(2.0, rel=1e-6)
    assert sess.run(queue.size()) == 5
    straight = []
    line = loops[0].line
    loops[0].line = lambda *args: straight.append(args[2][0]) or line(*args)
    join = in_thread(sess.run, total)
    while not queue_waits(sess):
        time.sleep(0.001)
    sess.run(queue.enqueue_many([np.ones(40, np.float32)]))
    assert join() == pytest.approx(2.0, rel=1e-6)
    assert straight[0] == 0 and len(straight) == 2 and 5 < straight[1] <= 15


def test_what_is_independent_goes_on_while_something_waits(sess):
    """The other side gives only after it has seen what later iterations give."""
    queue, seen = tf.FIFOQueue(10, tf.int32, shapes=[()]), tf.FIFOQueue(10, tf.int32, shapes=[()])

    def body(i, total, told):
        with tf.control_dependencies([seen.enqueue(i)]):
            told = tf.identity(told)
        return i + 1, total + queue.dequeue(), told

    total, told = repeat(8, body, [0, 0])
    for _ in range(3):
        join = in_thread(sess.run, [total, told])
        for i in range(8):
            assert sess.run(seen.dequeue()) == i
        sess.run(queue.enqueue_many([np.arange(8)]))
        assert join()[0] == 28


def test_no_more_iterations_overlap_than_allowed(sess):
    queue, seen = tf.FIFOQueue(10, tf.int32, shapes=[()]), tf.FIFOQueue(10, tf.int32, shapes=[()])

    def body(i, total, told):
        with tf.control_dependencies([seen.enqueue(i)]):
            told = tf.identity(told)
        return i + 1, total + queue.dequeue(), told

    total, told = repeat(8, body, [0, 0], parallel_iterations=2)
    join = in_thread(sess.run, [total, told])
    assert [int(sess.run(seen.dequeue())) for _ in range(2)] == [0, 1]
    time.sleep(0.05)
    assert sess.run(seen.size()) == 0
    sess.run(queue.enqueue_many([np.arange(8)]))
    assert join()[0] == 28


def test_two_queues_that_one_producer_fills_in_turn(sess):
    """It gives the second only when there is room in the first: both must be taken from."""
    a, b = tf.FIFOQueue(1, tf.float32, shapes=[()]), tf.FIFOQueue(1, tf.float32, shapes=[()])
    (total,) = repeat(6, lambda i, t: (i + 1, t + a.dequeue() * b.dequeue()), [0.0])
    for first, second in ((a, b), (b, a)):
        join = in_thread(sess.run, total)
        give = first.enqueue(2.0)
        for _ in range(6):
            sess.run(give)
        give = second.enqueue(3.0)
        for _ in range(6):
            sess.run(give)
        assert join() == 36


@pytest.mark.parametrize("filled", [0, 12])
def test_the_end_of_a_queue_names_node_and_iteration(sess, filled):
    queue = queue_of(sess, np.ones(50))
    (total,) = repeat(25, lambda i, t: (i + 1, t + queue.dequeue(name="take")), [0.0])
    sess.run([total])
    sess.run(total)
    if filled:
        sess.run(queue.enqueue_many([np.ones(filled, np.float32)]))
    join = in_thread(sess.run, total)
    while not queue_waits(sess):
        time.sleep(0.001)
    sess.run(queue.close())
    with pytest.raises(tf.errors.OutOfRangeError, match=f"iteration {filled} of loop") as caught:
        join()
    assert caught.value.op.name.endswith("take")
    assert queue_waits(sess) == 0


def test_an_error_of_a_kernel_names_node_and_iteration(sess):
    queue = tf.FIFOQueue(100, tf.int32, shapes=[()])
    values = tf.placeholder(tf.float32, [None])
    take = lambda t: t + tf.gather(values, queue.dequeue(), name="picky")  # noqa: E731
    (total,) = repeat(20, lambda i, t: (i + 1, take(t)), [0.0])
    for _ in range(3):
        sess.run(queue.enqueue_many([np.arange(20)]))
        with pytest.raises(tf.errors.InvalidArgumentError, match="iteration 17 of loop") as caught:
            sess.run(total, {values: np.zeros(17)})
        assert caught.value.op.name.endswith("picky")
        sess.run(queue.dequeue_many(queue.size()))


def test_elements_that_grow_are_left_to_the_region(sess, loops):
    queue, x = tf.FIFOQueue(1000, tf.float32), tf.placeholder(tf.float32)
    give = queue.enqueue(x)
    (total,) = repeat(8, lambda i, t: (i + 1, t + tf.reduce_sum(tf.tanh(queue.dequeue()))), [0.0])
    for size in (1, 1, 1, 3, 200_000, 1):
        for _ in range(8):
            sess.run(give, {x: np.ones(size)})
        assert sess.run(total) == pytest.approx(8 * size * np.tanh(1), rel=1e-4)
    assert loops[0].line is not None


def test_elements_that_keep_growing(sess, loops):
    """After some attempts the function is made for any size, and kept."""
    queue, x = tf.FIFOQueue(1000, tf.float32), tf.placeholder(tf.float32)
    give = queue.enqueue(x)
    (total,) = repeat(8, lambda i, t: (i + 1, t + tf.reduce_sum(queue.dequeue())), [0.0])
    for size in range(1, 14):
        for _ in range(8):
            sess.run(give, {x: np.ones(size)})
        assert sess.run(total) == 8 * size
    line = loops[0].line
    assert line is not None
    for _ in range(8):
        sess.run(give, {x: np.ones(1000)})
    assert sess.run(total) == 8000
    assert loops[0].line is line


def test_a_region_that_is_called_has_the_constants_it_needs(sess):
    """Constants that come after something are nodes; with a time limit, loops are interpreted."""
    queue = queue_of(sess, np.ones(100))

    def body(i, t):
        with tf.control_dependencies([queue.enqueue(t)]):
            scale, x = tf.constant(2.0), queue.dequeue() * 0.0 + 2.0
        halves = tf.while_loop(lambda j, _: j < 3, lambda j, h: (j + 1, h * 0.5), [0, x])[1]
        return i + 1, halves * scale

    (total,) = repeat(8, body, [0.0], parallel_iterations=1)
    for _ in range(2):
        assert sess.run(total) == 0.5
    for _ in range(2):
        assert sess.run(total, options=tf.RunOptions(timeout_in_ms=20_000)) == 0.5


def test_closing_the_session_ends_a_loop_that_never_waits():
    queue = tf.FIFOQueue(10, tf.int32, shapes=[()])

    def body(i):
        with tf.control_dependencies([queue.enqueue(i)]):
            return tf.identity(queue.dequeue())

    endless = tf.while_loop(lambda i: i >= 0, body, [0])
    sess = tf.Session()
    join = in_thread(sess.run, endless)
    time.sleep(0.2)
    sess.close()
    with pytest.raises(tf.errors.CancelledError):
        join()


def test_a_limit_ends_a_loop_that_never_waits(sess):
    queue = tf.FIFOQueue(10, tf.int32, shapes=[()])

    def body(i):
        with tf.control_dependencies([queue.enqueue(i)]):
            return tf.identity(queue.dequeue())

    endless = tf.while_loop(lambda i: i >= 0, body, [0])
    for _ in range(2):
        with pytest.raises(tf.errors.DeadlineExceededError):
            sess.run(endless, options=tf.RunOptions(timeout_in_ms=100))


def test_an_error_elsewhere_withdraws_all_that_iterations_wait_for(sess):
    queue = queue_of(sess, np.ones(5))
    x = tf.placeholder(tf.float32, [])
    (total,) = repeat(10, lambda i, t: (i + 1, t + queue.dequeue()), [0.0])
    fails = tf.check_numerics(x, "not finite")
    assert sess.run(queue.size()) == 5
    for _ in range(2):
        with pytest.raises(tf.errors.InvalidArgumentError, match="not finite"):
            sess.run([total, fails], {x: np.inf})
        assert queue_waits(sess) == 0


def test_loops_in_loops_wait(sess):
    queue = queue_of(sess, np.arange(30))

    def outer(i, t):
        inner = tf.while_loop(lambda j, _: j < 4, lambda j, s: (j + 1, s + queue.dequeue()), [0, t])
        return i + 1, inner[1]

    (total,) = repeat(10, outer, [0.0])
    for _ in range(3):
        join = in_thread(sess.run, total)
        while not queue_waits(sess):
            time.sleep(0.001)
        sess.run(queue.enqueue_many([np.arange(30, 40, dtype=np.float32)]))
        assert join() == sum(range(40))
        sess.run(queue.enqueue_many([np.arange(30, dtype=np.float32)]))


def test_variables_of_every_kind(sess):
    """One made by the body, one constant, one that passes, two that change places."""
    queue = queue_of(sess, np.arange(1, 200))

    def body(i, made, constant, same, left, right):
        x = queue.dequeue()
        return i + 1, made + x * same, tf.constant(7.0), same, right, left

    fetches = repeat(9, body, [0.0, 1.0, 2.0, 3.0, 4.0])
    first = 1
    for _ in range(4):
        made, constant, same, left, right = sess.run(fetches)
        assert made == 2.0 * sum(range(first, first + 9))
        assert (constant, same, left, right) == (7.0, 2.0, 4.0, 3.0)
        first += 9
    never = repeat(0, body, [0.0, 1.0, 2.0, 3.0, 4.0])
    assert [float(v) for v in sess.run(never)] == [0.0, 1.0, 2.0, 3.0, 4.0]


def test_locks_taken_in_a_loop_are_given_back(sess):
    section = CriticalSection(name="one_at_a_time")
    v = tf.get_variable("v", [], initializer=tf.zeros_initializer(), use_resource=True)
    sess.run(v.initializer)

    def add():
        return tf.identity(v.assign(v + 1.0))

    (last,) = repeat(10, lambda i, t: (i + 1, section.execute(add)), [0.0])
    joins = [in_thread(sess.run, last) for _ in range(3)]
    # Which iteration comes last is nobody's promise.
    assert all(0 < join() <= 30 for join in joins)
    assert sess.run(v) == 30
