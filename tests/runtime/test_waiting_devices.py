"""Steps over several devices that wait: for queues, and for each other."""

import os
import signal
import threading
import time

import numpy as np
import pytest

import weft as tf
from tests.runtime.test_waiting_loop import in_thread, queue_waits
from weft.ops.functions.defun import Defun

pytestmark = pytest.mark.timeout(60)


@pytest.fixture
def sess():
    config = tf.ConfigProto(device_count={"CPU": 3}, allow_soft_placement=True)
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        yield session


@pytest.fixture
def relay(sess):
    """A queue on one device, what is taken from it on the next, and that again on a third."""
    with tf.device("/cpu:1"):
        queue = tf.FIFOQueue(100, tf.float32, shapes=[()], name="q")
        taken = queue.dequeue(name="taken")
    with tf.device("/cpu:2"):
        more = tf.py_func(lambda x: x + np.float32(1), [taken], tf.float32, name="more")
    with tf.device("/cpu:0"):
        return queue, more * 2.0


def wait_until(count, sess):
    while queue_waits(sess) < count:
        time.sleep(0.001)


def crew_threads():
    return [t for t in threading.enumerate() if t.name == "weft-device"]


def all_idle(sess, before):
    """Whether every thread of the session that is left has nothing to do."""
    mine = [t for t in crew_threads() if t not in before]
    return len(sess._runner.pool._idle) == len(mine)


def test_no_thread_waits(sess, relay):
    queue, result = relay
    before = crew_threads()
    sess.run(queue.enqueue(1.0))
    assert sess.run(result) == 4
    joins = [in_thread(sess.run, result) for _ in range(12)]
    wait_until(12, sess)
    end = time.monotonic() + 10
    while not all_idle(sess, before) and time.monotonic() < end:
        time.sleep(0.001)
    assert all_idle(sess, before)
    sess.run(queue.enqueue_many([np.arange(12, dtype=np.float32)]))
    assert sorted(join() for join in joins) == [2.0 * (i + 1) for i in range(12)]


def test_a_new_step_needs_no_new_thread(sess, relay):
    """Those of steps that wait are free for others."""
    queue, result = relay
    joins = [in_thread(sess.run, result) for _ in range(4)]
    wait_until(4, sess)
    time.sleep(0.05)
    threads = len(crew_threads())
    for i in range(1, 9):
        joins.append(in_thread(sess.run, result))
        wait_until(4 + i, sess)
        time.sleep(0.02)
    assert len(crew_threads()) == threads
    sess.run(queue.close(cancel_pending_enqueues=True))
    for join in joins:
        with pytest.raises(tf.errors.OutOfRangeError, match="closed and has insufficient"):
            join()


def test_a_deadline_names_what_was_awaited(sess, relay):
    queue, result = relay
    for _ in range(3):
        with pytest.raises(tf.errors.DeadlineExceededError, match="taken"):
            sess.run(result, options=tf.RunOptions(timeout_in_ms=100))
    assert queue_waits(sess) == 0
    sess.run(queue.enqueue(1.0))
    assert sess.run(result, options=tf.RunOptions(timeout_in_ms=20000)) == 4


def test_the_end_of_the_session_ends_them(sess, relay):
    joins = [in_thread(sess.run, relay[1]) for _ in range(4)]
    wait_until(4, sess)
    sess.close()
    for join in joins:
        with pytest.raises(tf.errors.CancelledError):
            join()


def test_an_error_on_one_device_withdraws_what_another_waits_for(sess, relay):
    queue, result = relay
    go = tf.placeholder(tf.float32, [])

    def fails(x):
        wait_until(1, sess)
        raise ValueError("no")

    with tf.device("/cpu:2"):
        bad = tf.py_func(fails, [go], tf.float32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="ValueError: no"):
        sess.run([result, bad], {go: 1.0})
    assert queue_waits(sess) == 0
    sess.run(queue.enqueue(3.0))
    assert sess.run(result) == 8


def test_a_lock_is_held_until_the_step_is_over_on_all_devices(sess):
    """Two steps that take the same lock on one device and then wait on another take caller."""
    with tf.device("/cpu:1"):
        mutex = tf.raw_ops.MutexV2(shared_name="m")
        lock = tf.raw_ops.MutexLock(mutex=mutex)
    with tf.device("/cpu:2"):
        queue = tf.FIFOQueue(10, tf.float32, shapes=[()])
        with tf.control_dependencies([lock.op]):
            taken = queue.dequeue()
    joins = [in_thread(sess.run, taken + 1.0) for _ in range(2)]
    wait_until(1, sess)
    time.sleep(0.1)
    assert queue_waits(sess) == 1
    for i in range(2):
        wait_until(1, sess)
        sess.run(queue.enqueue(float(i)))
    assert sorted(join() for join in joins) == [1, 2]


def test_critical_sections_of_one_step_take_turns(sess):
    """What is done under one lock must not wait for the next lock, on the other device either."""
    with tf.device("/cpu:1"):
        section = tf.CriticalSection()
    with tf.device("/cpu:2"):
        v = tf.get_variable("v", [], initializer=tf.zeros_initializer(), use_resource=True)
    sess.run(v.initializer)

    def add():
        with tf.device("/cpu:2"):
            before = v.read_value()
            with tf.control_dependencies([before]):
                return v.assign(before + 1.0).read_value()

    results = [section.execute(add) for _ in range(5)]
    options = tf.RunOptions(timeout_in_ms=30000)
    for i in range(4):
        got = sess.run(results, options=None if i % 2 else options)
        assert sorted(got) == [5 * i + k for k in range(1, 6)]


def test_a_traced_step_waits_too(sess, relay):
    queue, result = relay
    metadata = tf.RunMetadata()
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    join = in_thread(sess.run, result, None, options, metadata)
    wait_until(1, sess)
    sess.run(queue.enqueue(5.0))
    assert join() == 12
    names = {node.node_name for dev in metadata.step_stats.dev_stats for node in dev.node_stats}
    assert {"taken", "more"} <= names


def taken_from(handle):
    return tf.raw_ops.QueueDequeueV2(handle=handle, component_types=[tf.float32])[0]


def counted(queue, body_waits):
    """How many elements of a queue are below 4, by a functional loop that takes in its condition.

    If `body_waits`, each iteration has a loop without structure inside, which takes as well.
    """

    @Defun(tf.float32, tf.resource)
    def condition(total, handle):
        return tf.less(taken_from(handle), 4.0)

    @Defun(tf.float32, tf.resource)
    def body(total, handle):
        if not body_waits:
            return total + 1.0, handle
        inner = tf.while_loop(
            lambda i: tf.less(taken_from(handle), 4.0), lambda i: i + 10.0, [tf.constant(0.0)]
        )
        return total + 1.0 + inner, handle

    given = [tf.constant(0.0), queue.queue_ref]
    return tf.raw_ops.While(given, condition, body)[0]


@pytest.mark.parametrize(
    ("body_waits", "elements", "wanted"),
    [(False, [1, 2, 3, 4], 3), (True, [1, 2, 3, 4, 1, 5, 6], 22), (True, [9], 0)],
)
def test_a_condition_of_a_functional_loop_waits_without_a_thread(body_waits, elements, wanted):
    with tf.Graph().as_default(), tf.Session() as sess:
        queue = tf.FIFOQueue(50, tf.float32, shapes=[()])
        result = counted(queue, body_waits)
        x = tf.placeholder(tf.float32, [])
        put = queue.enqueue(x)
        for _ in range(6):
            before = threading.active_count()
            joins = [in_thread(sess.run, result)]
            for element in elements:
                wait_until(1, sess)
                assert threading.active_count() == before + 1
                sess.run(put, {x: element})
            assert [join() for join in joins] == [wanted]
            for element in elements:
                sess.run(put, {x: element})
            assert sess.run(result) == wanted


@pytest.mark.parametrize("body_waits", [False, True])
def test_such_a_loop_says_where_it_failed(body_waits):
    with tf.Graph().as_default(), tf.Session() as sess:
        queue = tf.FIFOQueue(50, tf.float32, shapes=[()])
        result = counted(queue, body_waits)
        sess.run(queue.enqueue_many([[1.0, 2.0]]))
        sess.run(queue.close())
        with pytest.raises(tf.errors.OutOfRangeError) as caught:
            sess.run(result)
        assert caught.value.message.count("of loop 'While'") == 1
        assert "(iteration " in caught.value.message


@pytest.mark.parametrize("waits_on", ["another device", "all devices"])
def test_an_interrupted_step_leaves_nothing_waiting(sess, relay, waits_on):
    queue, result = relay
    with tf.device("/cpu:0"):
        mine = tf.FIFOQueue(100, tf.float32, shapes=[()])
        both = mine.dequeue() + result
    fetch, count = (result, 1) if waits_on == "another device" else (both, 2)

    def interrupt():
        wait_until(count, sess)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    # A process that was started in the background ignores the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            sess.run(fetch)
        thread.join()
    finally:
        signal.signal(signal.SIGINT, before)
    end = time.monotonic() + 10
    while queue_waits(sess) and time.monotonic() < end:
        time.sleep(0.001)
    assert queue_waits(sess) == 0 and len(sess._runner.running) == 0
    sess.run([queue.enqueue(1.0), mine.enqueue(5.0)])
    assert sess.run(both) == 9


def test_an_accumulator_that_only_a_branch_has(sess):
    taken = tf.placeholder(tf.bool, [])
    with tf.device("/cpu:1"):
        x = 2.0 + tf.cast(taken, tf.float32)

    def accumulated():
        with tf.device("/cpu:0"):
            sums = tf.ConditionalAccumulator(tf.float32, shape=[])
            with tf.control_dependencies([sums.apply_grad(x)]):
                return sums.take_grad(1)

    result = tf.cond(taken, accumulated, lambda: x * 5.0)
    assert sess.run(result, {taken: True}) == 3
    assert sess.run(result, {taken: False}) == 10
