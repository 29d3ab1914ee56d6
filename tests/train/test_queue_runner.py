"""tf.train.QueueRunner: threads that fill queues."""

from __future__ import annotations

import time

import pytest

import weft as tf


def counting_queue(limit, capacity=10, threads=1):
    """A queue, and a runner that puts 1 to `limit` into it."""
    counter = tf.Variable(tf.constant(0, tf.int64), trainable=False)
    number = counter.count_up_to(limit)
    queue = tf.FIFOQueue(capacity, tf.int64, shapes=[()])
    return queue, tf.train.QueueRunner(queue, [queue.enqueue(number)] * threads)


def drain(sess, queue):
    found, take = [], queue.dequeue()
    try:
        while True:
            found.append(int(sess.run(take)))
    except tf.errors.OutOfRangeError:
        return found


def test_a_runner_fills_and_closes_its_queue(sess):
    queue, runner = counting_queue(20, threads=3)
    sess.run(tf.global_variables_initializer())
    threads = runner.create_threads(sess, start=True)
    assert sorted(drain(sess, queue)) == list(range(20))
    for thread in threads:
        thread.join(10)
    assert sess.run(queue.is_closed()) and not runner.exceptions_raised


def test_a_coordinator_frees_threads_that_wait(sess):
    queue, runner = counting_queue(1000, capacity=2)
    sess.run(tf.global_variables_initializer())
    coord = tf.train.Coordinator()
    threads = runner.create_threads(sess, coord, start=True)
    assert len(threads) == 2  # one more that waits for the coordinator
    while sess.run(queue.size()) < 2:
        time.sleep(0.001)
    coord.request_stop()
    coord.join(threads, stop_grace_period_secs=10)
    assert not any(thread.is_alive() for thread in threads)


def test_errors_reach_the_coordinator(sess):
    x = tf.get_variable("x", [])  # never initialized
    queue = tf.FIFOQueue(5, tf.float32)
    runner = tf.train.QueueRunner(queue, [queue.enqueue(x)])
    coord = tf.train.Coordinator()
    threads = runner.create_threads(sess, coord, start=True)
    with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value x"):
        coord.join(threads, stop_grace_period_secs=10)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_without_a_coordinator_errors_are_kept(sess):
    x = tf.get_variable("x", [])
    queue = tf.FIFOQueue(5, tf.float32)
    runner = tf.train.QueueRunner(queue, [queue.enqueue(x)])
    for thread in runner.create_threads(sess, start=True):
        thread.join(10)
    assert isinstance(runner.exceptions_raised[0], tf.errors.FailedPreconditionError)


def test_other_errors_can_mean_the_end(sess):
    queue = tf.FIFOQueue(5, tf.float32, shapes=[()])
    failing = tf.check_numerics(tf.placeholder_with_default(float("nan"), []), "bad")
    runner = tf.train.QueueRunner(
        queue,
        [queue.enqueue(failing)],
        queue_closed_exception_types=(tf.errors.InvalidArgumentError,),
    )
    for thread in runner.create_threads(sess, start=True):
        thread.join(10)
    assert sess.run(queue.is_closed()) and not runner.exceptions_raised


def test_threads_are_made_once_per_session(sess):
    _, runner = counting_queue(1000, capacity=1)
    sess.run(tf.global_variables_initializer())
    coord = tf.train.Coordinator()
    threads = runner.create_threads(sess, coord, start=True)
    assert runner.create_threads(sess, coord) == []
    coord.request_stop()
    coord.join(threads, stop_grace_period_secs=10)


def test_runners_of_the_graph_are_started_together(sess):
    queues = []
    for _ in range(2):
        queue, runner = counting_queue(5)
        tf.train.add_queue_runner(runner)
        queues.append(queue)
    sess.run(tf.global_variables_initializer())
    coord = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(sess, coord)
    assert [drain(sess, queue) for queue in queues] == [list(range(5))] * 2
    coord.request_stop()
    coord.join(threads, stop_grace_period_secs=10)


def test_a_session_is_needed():
    with pytest.raises(ValueError, match="No default session"):
        tf.train.start_queue_runners()
    with pytest.raises(TypeError, match=r"must be a `tf.Session`"):
        tf.train.start_queue_runners(sess="sess")


def test_arguments_are_checked():
    queue = tf.FIFOQueue(5, tf.float32)
    with pytest.raises(ValueError, match="Must provide queue and enqueue_ops"):
        tf.train.QueueRunner(queue=queue)
    with pytest.raises(TypeError, match=r"must be a tuple of tf\.error types"):
        tf.train.QueueRunner(queue, [queue.enqueue(1.0)], queue_closed_exception_types=())


def test_a_runner_travels_as_a_message():
    queue, runner = counting_queue(5)
    message = runner.to_proto()
    assert message.queue_name == queue.name
    assert message.queue_closed_exception_types == [tf.errors.OUT_OF_RANGE]
    back = tf.train.QueueRunner.from_proto(message)
    assert back.name == runner.name and back.enqueue_ops == runner.enqueue_ops
    assert back.close_op is runner.close_op and back.cancel_op is runner.cancel_op
    assert back.queue_closed_exception_types == (tf.errors.OutOfRangeError,)
    assert runner.to_proto(export_scope="elsewhere") is None


def test_runners_survive_a_meta_graph(sess):
    with tf.name_scope("input"):
        _, runner = counting_queue(5)
    tf.train.add_queue_runner(runner)
    meta = tf.train.export_meta_graph()
    with tf.Graph().as_default():
        tf.train.import_meta_graph(meta)
        (again,) = tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)
        assert again.name == runner.name
