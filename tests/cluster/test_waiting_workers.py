"""Steps that wait on a worker: for queues, for tensors of others. No thread waits with them."""

import threading
import time

import numpy as np
import pytest

import weft as tf
from tests.runtime.test_waiting_loop import in_thread
from weft.core import errors

pytestmark = pytest.mark.timeout(60)
STEPS = 12


@pytest.fixture
def cluster(servers):
    return servers(ps=1, worker=2)


@pytest.fixture
def sess(cluster):
    with tf.Graph().as_default(), tf.Session(cluster["ps"][0].target) as session:
        yield session


@pytest.fixture
def relay(sess):
    """A queue on one worker; what is taken from it goes by the other to the master's task."""
    with tf.device("/job:worker/task:0"):
        queue = tf.FIFOQueue(100, tf.float32, shapes=[()], name="q")
        taken = queue.dequeue(name="taken")
    with tf.device("/job:worker/task:1"):
        more = taken + 1.0
    with tf.device("/job:ps/task:0"):
        return queue, more * 2.0


def eventually(is_so):
    end = time.monotonic() + 20
    while not is_so() and time.monotonic() < end:
        time.sleep(0.002)
    return is_so()


def step_count(worker):
    return len(worker.worker.steps)


def busy(prefix, pools):
    """How many threads of these names there are beyond those that are idle."""
    threads = [t for t in threading.enumerate() if t.name == prefix]
    return len(threads) - sum(len(pool._idle) for pool in pools)


def test_no_thread_of_a_worker_waits(cluster, sess, relay):
    queue, result = relay
    everyone = [*cluster["ps"], *cluster["worker"]]
    pools = [each.worker.pool for each in everyone]
    sess.run(queue.enqueue(1.0))
    assert sess.run(result) == 4
    assert eventually(lambda: busy("weft-worker", pools) == 0)
    joins = [in_thread(sess.run, result) for _ in range(STEPS)]
    for each in cluster["worker"]:
        assert eventually(lambda each=each: step_count(each) == STEPS)
    assert eventually(lambda: busy("weft-worker", pools) == 0)
    sess.run(queue.enqueue_many([np.arange(STEPS, dtype=np.float32)]))
    assert sorted(join() for join in joins) == [2.0 * (i + 1) for i in range(STEPS)]
    for each in everyone:
        assert eventually(lambda each=each: step_count(each) == 0)


def test_closing_the_session_ends_them(cluster, sess, relay):
    _, result = relay
    joins = [in_thread(sess.run, result) for _ in range(STEPS)]
    for each in cluster["worker"]:
        assert eventually(lambda each=each: step_count(each) == STEPS)
    sess.close()
    for join in joins:
        with pytest.raises(errors.CancelledError):
            join()
    for each in cluster["worker"]:
        assert eventually(lambda each=each: step_count(each) == 0)


def test_a_lock_is_let_go_when_a_waiting_step_ends(sess):
    """What a step does at its end, it does though other threads went on with it."""
    with tf.device("/job:worker/task:0"):
        queue = tf.FIFOQueue(100, tf.float32, shapes=[()], name="q")
        section = tf.CriticalSection(name="section")
        locked = section.execute(lambda: queue.dequeue() + 1.0)
    joins = [in_thread(sess.run, locked) for _ in range(3)]
    sess.run(queue.enqueue_many([np.arange(3, dtype=np.float32)]))
    assert sorted(join() for join in joins) == [1, 2, 3]
    with pytest.raises(errors.DeadlineExceededError):
        sess.run(locked, options=tf.RunOptions(timeout_in_ms=200))
    sess.run(queue.enqueue(7.0))
    assert sess.run(locked) == 8


def test_a_compiled_loop_on_a_worker_ends(cluster, sess):
    end = tf.placeholder(tf.float32, [])
    with tf.device("/job:worker/task:1"):
        x = tf.while_loop(lambda x: x > end, lambda x: x * 0.5 + 0.25 * end, [1.0])
    with tf.device("/job:worker/task:0"):
        y = x + 1.0
    for _ in range(5):
        assert sess.run(y, {end: 1e-3}) <= 1.001
    with pytest.raises(errors.DeadlineExceededError):
        sess.run(y, {end: -1.0}, options=tf.RunOptions(timeout_in_ms=300))
    for each in cluster["worker"]:
        assert eventually(lambda each=each: step_count(each) == 0)
    pools = [each.worker.pool for tasks in cluster.values() for each in tasks]
    assert eventually(lambda: busy("weft-worker", pools) == 0)
    assert sess.run(y, {end: 1e-3}) <= 1.001


def test_partial_runs_that_wait(cluster, sess):
    with tf.device("/job:worker/task:0"):
        x = tf.placeholder(tf.float32, [])
        queue = tf.FIFOQueue(10, tf.float32, shapes=[()])
        y = x + queue.dequeue()
    pools = [each.worker.pool for tasks in cluster.values() for each in tasks]
    handle = sess.partial_run_setup([y], [x])
    join = in_thread(sess.partial_run, handle, y, {x: 1.0})
    assert eventually(lambda: step_count(cluster["worker"][0]) == 1)
    assert eventually(lambda: busy("weft-worker", pools) == 0)
    sess.run(queue.enqueue(5.0))
    assert join() == 6
