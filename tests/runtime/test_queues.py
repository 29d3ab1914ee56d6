"""Queues: the objects alone, then under sessions, with all that can go wrong while waiting."""

from __future__ import annotations

import threading
import time
from collections import Counter

import numpy as np
import pytest

import weft as tf
from weft.core import dtypes
from weft.core.deferred import Deferred
from weft.ops.queues.queue_kinds import HeapQueue, PaddingQueue, ShufflingQueue
from weft.ops.queues.queue_objects import Queue

INT = [dtypes.int32]
SCALAR = [()]


def i32(value):
    return np.array(value, np.int32)


def fifo(capacity=10, shapes=SCALAR):
    return Queue("q", INT, shapes, capacity)


def outcome(deferred):
    """(outputs, error) of a deferred that must be done."""
    found = []
    deferred.deliver_to(lambda outputs, error: found.append((outputs, error)))
    assert found, "still waiting"
    outputs, error = found[0]
    return (deferred.then(outputs) if error is None else None), error


def is_waiting(deferred):
    found = []
    deferred.deliver_to(lambda *result: found.append(result))
    return not found


def in_thread(function, *args):
    thread = threading.Thread(target=function, args=args, daemon=True)
    thread.start()
    return thread


# ---- promises ------------------------------------------------------------------------------------


def test_a_deferred_delivers_once_to_a_late_sink():
    deferred = Deferred()
    assert deferred.complete((1,))
    assert not deferred.fail(ValueError())
    found = []
    deferred.deliver_to(lambda *result: found.append(result))
    assert found == [((1,), None)]


def test_completing_and_attaching_at_the_same_moment_delivers_once():
    for _ in range(300):
        deferred, found = Deferred(), []
        start = threading.Barrier(2)

        def complete(deferred=deferred, start=start):
            start.wait()
            deferred.complete(())

        thread = in_thread(complete)
        start.wait()
        deferred.deliver_to(lambda *result, found=found: found.append(result))
        thread.join()
        assert len(found) == 1


def test_cancelling_twice_calls_back_once():
    calls = []
    deferred = Deferred(on_cancel=lambda: calls.append(1))
    deferred.cancel()
    deferred.cancel()
    assert calls == [1]


def test_waiting_follows_a_chain():
    inner = Deferred()
    outer = Deferred(then=lambda outputs: inner)
    inner.complete(("inner",))
    outer.complete(("outer",))
    assert outer.wait() == ("inner",)


# ---- order, capacity, closing --------------------------------------------------------------------


def test_first_in_first_out():
    q = fifo()
    for n in range(5):
        assert q.enqueue([i32(n)]) == ()
    assert [int(q.dequeue()[0]) for _ in range(5)] == list(range(5))


def test_rows_go_in_and_batches_come_out():
    q = Queue("q", [dtypes.float32, dtypes.string], [(2,), ()], 10)
    values, names = (
        np.arange(6, dtype=np.float32).reshape(3, 2),
        np.array([b"a", b"b", b"c"], object),
    )
    q.enqueue_many([values, names])
    batch = q.dequeue_many(2)
    np.testing.assert_array_equal(batch[0], values[:2])
    assert batch[1].tolist() == [b"a", b"b"] and batch[1].dtype == object
    value, name = q.dequeue()
    np.testing.assert_array_equal(value, values[2])
    assert name.shape == () and name[()] == b"c"


@pytest.mark.parametrize("name", ["float16", "bfloat16", "int64", "uint64", "bool", "complex64"])
def test_every_type_comes_back_as_it_was(name):
    dtype = dtypes.as_dtype(name)
    value = np.array([0, 1, 3]).astype(dtype.np_storage)
    q = Queue("q", [dtype], SCALAR, 10)
    q.enqueue_many([value])
    q.enqueue([value[1]])
    batch = q.dequeue_many(3)[0]
    assert batch.dtype == value.dtype and (batch == value).all()
    single = q.dequeue()[0]
    assert single.dtype == value.dtype and single == value[1]


def test_what_was_enqueued_does_not_change_with_its_source():
    q = Queue("q", INT, [(2,)], 10)
    source = i32([[1, 2], [3, 4]])
    q.enqueue([source[0]])
    q.enqueue_many([source])
    source[:] = 0
    assert q.dequeue_many(3)[0].tolist() == [[1, 2], [1, 2], [3, 4]]


def test_a_full_queue_makes_wait():
    q = fifo(capacity=2)
    q.enqueue_many([i32([1, 2])])
    third = q.enqueue([i32(3)])
    assert is_waiting(third) and q.size() == 2
    assert q.dequeue()[0] == 1
    assert outcome(third) == ((), None)
    assert q.dequeue_many(2)[0].tolist() == [2, 3] and not q.waiting()


def test_many_elements_pass_through_a_small_queue():
    q = fifo(capacity=2)
    put = q.enqueue_many([i32(range(7))])
    assert is_waiting(put)
    assert q.dequeue_many(7)[0].tolist() == list(range(7))
    assert outcome(put) == ((), None)


def test_those_who_wait_are_served_in_order():
    q = fifo()
    first, second = q.dequeue_many(2), q.dequeue()
    q.enqueue([i32(1)])
    assert is_waiting(first) and is_waiting(second)
    q.enqueue_many([i32([2, 3])])
    assert outcome(first)[0][0].tolist() == [1, 2]
    assert outcome(second)[0][0] == 3


def test_closing_lets_out_what_is_there():
    q = fifo()
    q.enqueue_many([i32([1, 2])])
    q.close()
    with pytest.raises(tf.errors.CancelledError, match="FIFOQueue 'q' is closed"):
        q.enqueue([i32(3)])
    assert q.dequeue()[0] == 1
    with pytest.raises(
        tf.errors.OutOfRangeError,
        match=r"'q' is closed and has insufficient elements \(requested 2, current size 1\)",
    ):
        q.dequeue_many(2)
    assert q.dequeue_many(2, allow_small=True)[0].tolist() == [2]
    with pytest.raises(tf.errors.OutOfRangeError, match=r"requested 1, current size 0"):
        q.dequeue()
    with pytest.raises(tf.errors.CancelledError, match="Queue 'q' is already closed"):
        q.close()
    assert q.close(cancel_pending=True) == ()


def test_closing_waits_for_what_came_before_it():
    q = fifo(capacity=1)
    q.enqueue([i32(1)])
    second, close, third = q.enqueue([i32(2)]), q.close(), q.enqueue([i32(3)])
    assert is_waiting(close) and not q.closed
    assert q.dequeue()[0] == 1
    assert outcome(second) == ((), None) and outcome(close) == ((), None)
    assert isinstance(outcome(third)[1], tf.errors.CancelledError)
    assert q.closed and q.dequeue()[0] == 2 and not q.waiting()


def test_closing_with_cancel_ends_every_wait():
    q = fifo(capacity=1)
    q.enqueue([i32(1)])
    puts = [q.enqueue([i32(2)]), q.enqueue_many([i32([3, 4])])]
    q.close(cancel_pending=True)
    for put in puts:
        error = outcome(put)[1]
        assert isinstance(error, tf.errors.CancelledError)
        assert error.message == "Enqueue operation was cancelled"
    assert q.size() == 1 and not q.waiting()

    empty = fifo()
    takes = [empty.dequeue() for _ in range(3)] + [empty.dequeue_many(2, allow_small=True)]
    empty.close(cancel_pending=True)
    for take in takes:
        assert isinstance(outcome(take)[1], tf.errors.OutOfRangeError)
    assert not empty.waiting()


def test_a_batch_that_stays_incomplete_at_the_end_is_put_back():
    q = fifo()
    q.enqueue_many([i32([1, 2])])
    batch, rest = q.dequeue_many(3), q.dequeue_many(3, allow_small=True)
    assert q.size() == 0  # the batch has begun to collect
    q.close()
    assert isinstance(outcome(batch)[1], tf.errors.OutOfRangeError)
    assert outcome(rest)[0][0].tolist() == [1, 2]


def test_empty_batches_need_no_elements():
    q = Queue("q", [dtypes.float32], [(3,)], 10)
    assert q.enqueue_many([np.zeros((0, 3), np.float32)]) == ()
    assert q.dequeue_many(0)[0].shape == (0, 3)


# ---- withdrawing ---------------------------------------------------------------------------------


def test_a_withdrawn_request_leaves_nothing_behind():
    q = fifo(capacity=1)
    take = q.dequeue()
    take.cancel()
    assert outcome(take)[1].message == "Dequeue operation was cancelled"
    q.enqueue([i32(1)])
    put = q.enqueue([i32(2)])
    put.cancel()
    assert outcome(put)[1].message == "Enqueue operation was cancelled"
    assert not q.waiting() and q.size() == 1 and q.dequeue()[0] == 1


def test_who_waits_behind_a_withdrawn_request_goes_on():
    q = fifo()
    big, small = q.dequeue_many(3), q.dequeue()
    q.enqueue_many([i32([1, 2])])
    assert is_waiting(small)
    big.cancel()
    assert outcome(small)[0][0] == 1
    assert q.size() == 1


@pytest.mark.parametrize("make", [fifo, lambda: ShufflingQueue("q", INT, SCALAR, 10)])
def test_elements_that_nobody_saw_are_put_back(make):
    q = make()
    take = q.dequeue()
    q.enqueue([i32(7)])
    assert q.size() == 0
    take.cancel()  # the element is on its way, but its step gave up
    assert q.size() == 1 and q.dequeue()[0] == 7


# ---- other kinds ---------------------------------------------------------------------------------


def test_priorities_come_first_and_equals_in_order():
    q = HeapQueue("q", [dtypes.int64, dtypes.string], [(), ()], 10)
    names = np.array([b"c", b"a1", b"b", b"a2"], object)
    q.enqueue_many([np.array([3, -1, 2, -1]), names])
    keys, values = q.dequeue_many(4)
    assert keys.tolist() == [-1, -1, 2, 3]
    assert values.tolist() == [b"a1", b"a2", b"b", b"c"]


def test_a_batch_put_back_keeps_priorities():
    q = HeapQueue("q", [dtypes.int64], [()], 10)
    q.enqueue_many([np.array([2, 1])])
    batch = q.dequeue_many(3)
    q.close()
    assert isinstance(outcome(batch)[1], tf.errors.OutOfRangeError)
    assert q.dequeue_many(2)[0].tolist() == [1, 2]


def test_a_priority_is_one_int64():
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be type int64"):
        HeapQueue("q", INT, SCALAR, 10)
    q = HeapQueue("q", [dtypes.int64], None, 10)
    with pytest.raises(tf.errors.InvalidArgumentError, match="to be a scalar"):
        q.enqueue([np.array([1, 2])])


def test_padding_grows_to_the_largest_of_a_batch():
    q = PaddingQueue("q", [dtypes.int32, dtypes.string], [(None, 2), (None,)], 10)
    for n in (1, 3):
        q.enqueue([np.full((n, 2), n, np.int32), np.array([b"x"] * n, object)])
    numbers, names = q.dequeue_many(2)
    assert numbers[:, :, 0].tolist() == [[1, 0, 0], [3, 3, 3]]
    assert names.tolist() == [[b"x", b"", b""], [b"x", b"x", b"x"]]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Expected \[\?,2\], got \[1,3\]"):
        q.enqueue([np.zeros((1, 3), np.int32), np.array([b"x"], object)])


def test_shuffling_draws_what_tensorflow_draws():
    q = ShufflingQueue("q", INT, SCALAR, 100, 0, 87654321, 7)
    q.enqueue_many([i32(range(20))])
    # Recorded from TensorFlow: RandomShuffleQueue(seed=7), one batch of 20.
    expected = [7, 4, 19, 15, 0, 8, 10, 11, 14, 6, 16, 1, 12, 3, 17, 5, 2, 18, 13, 9]
    assert q.dequeue_many(20)[0].tolist() == expected


def test_shuffling_keeps_elements_back_until_the_end():
    q = ShufflingQueue("q", INT, SCALAR, 10, 3)
    q.enqueue_many([i32(range(5))])
    seen = q.dequeue_many(2)[0].tolist()
    waits = q.dequeue()
    assert is_waiting(waits) and q.size() == 3
    q.close()
    seen += [int(outcome(waits)[0][0]), *q.dequeue_many(2)[0].tolist()]
    assert sorted(seen) == list(range(5))


@pytest.mark.parametrize(
    ("components", "message"),
    [
        ([i32([1])], r"Shape mismatch in tuple component 0. Expected \[\], got \[1\]"),
        ([i32(1), i32(2)], "Wrong number of components in tuple. Expected 1, got 2"),
    ],
)
def test_wrong_elements_are_refused(components, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        fifo().enqueue(components)


def test_batches_need_shapes():
    with pytest.raises(tf.errors.InvalidArgumentError, match="require the components to have"):
        fifo(shapes=None).dequeue_many(1)


# ---- many threads --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        lambda: fifo(capacity=50),
        lambda: ShufflingQueue("q", INT, SCALAR, 50, 10),
        lambda: PaddingQueue("q", INT, SCALAR, 50),
    ],
)
def test_nothing_is_lost_and_nothing_comes_twice(make):
    q = make()
    producers, each = 8, 12_500
    seen = [[] for _ in range(8)]

    def wait(result):
        return result.wait() if isinstance(result, Deferred) else result

    def produce(start):
        for n in range(start, start + each, 25):
            wait(q.enqueue_many([np.arange(n, n + 25, dtype=np.int32)]))

    def consume(found):
        try:
            while True:
                found.extend(wait(q.dequeue_many(20, allow_small=True))[0].tolist())
        except tf.errors.OutOfRangeError:
            pass

    consumers = [in_thread(consume, found) for found in seen]
    for thread in [in_thread(produce, i * each) for i in range(producers)]:
        thread.join(60)
    q.close()
    for thread in consumers:
        thread.join(60)
    counts = Counter(n for found in seen for n in found)
    assert len(counts) == producers * each and set(counts.values()) == {1}
    assert not q.waiting() and q.size() == 0


def test_withdrawing_under_load_loses_nothing():
    q = fifo(capacity=5)
    total, seen = 1000, []

    def produce():
        for n in range(total):
            put = q.enqueue([i32(n)])
            if isinstance(put, Deferred):
                put.wait()

    producer = in_thread(produce)
    while len(seen) < total:
        take = q.dequeue_many(3)
        if isinstance(take, Deferred):
            take.cancel()
            if len(seen) + q.size() == total and q.size() < 3:
                seen += q.dequeue_many(q.size())[0].tolist()
        else:
            seen += take[0].tolist()
    producer.join(60)
    assert seen == list(range(total)) and not q.waiting()


# ---- under sessions ------------------------------------------------------------------------------


def queue_object(sess, queue):
    """The object behind a queue of the graph."""
    sess.run(queue.size())
    found = [q for _, kind, _, q in sess._runner.store if kind == "queue"]
    return next(q for q in found if queue.name in q.name)


def test_a_step_waits_for_another_step(sess):
    q = tf.FIFOQueue(10, tf.int32)
    number = tf.placeholder(tf.int32, [])
    enqueue, dequeue = q.enqueue(number), q.dequeue() * 2
    results = []
    thread = in_thread(lambda: results.append(sess.run(dequeue)))
    while not queue_object(sess, q).waiting():
        time.sleep(0.001)
    sess.run(enqueue, {number: 21})
    thread.join(10)
    assert results == [42]


def test_one_step_may_fill_what_it_empties(sess):
    q = tf.FIFOQueue(1, tf.float32, shapes=[[2]])
    x = tf.placeholder(tf.float32, [2])
    # Computation on both sides: what comes after the wait must not hold up what comes before it.
    taken = tf.sqrt(q.dequeue()) + 1.0
    put = q.enqueue(tf.square(x) * 4.0)
    for _ in range(4):  # interpreted, then compiled
        result, _ = sess.run([taken, put], {x: [1.0, 2.0]})
        np.testing.assert_allclose(result, [3.0, 5.0])


def test_a_loop_may_wait(sess):
    q = tf.FIFOQueue(10, tf.int32, shapes=[()])
    total = tf.while_loop(
        lambda i, total: i < 3, lambda i, total: (i + 1, total + q.dequeue()), [0, 0]
    )[1]
    results = []
    thread = in_thread(lambda: results.append(sess.run(total)))
    sess.run(q.enqueue_many([[1, 2, 3, 4]]))
    thread.join(10)
    assert results == [6] and sess.run(q.size()) == 1


def test_an_untaken_branch_does_not_wait(sess):
    q = tf.FIFOQueue(10, tf.int32, shapes=[()])
    take = tf.placeholder(tf.bool, [])
    value = tf.cond(take, q.dequeue, lambda: tf.constant(-1))
    assert sess.run(value, {take: False}) == -1
    sess.run(q.enqueue(5))
    assert sess.run(value, {take: True}) == 5


def test_a_time_limit_ends_the_wait(sess):
    q = tf.FIFOQueue(10, tf.int32)
    with pytest.raises(tf.errors.DeadlineExceededError, match="Timed out waiting"):
        sess.run(q.dequeue(), options=tf.RunOptions(timeout_in_ms=30))
    assert not queue_object(sess, q).waiting()
    assert not len(sess._runner.running)


def test_a_session_may_set_the_limit():
    q = tf.FIFOQueue(10, tf.int32)
    dequeue = q.dequeue()
    with tf.Session(config=tf.ConfigProto(operation_timeout_in_ms=30)) as sess:
        with pytest.raises(tf.errors.DeadlineExceededError):
            sess.run(dequeue)


def test_a_limit_ends_a_loop_that_does_not(sess):
    forever = tf.while_loop(lambda i: i >= 0, lambda i: i * 1, [0])
    enqueue = tf.FIFOQueue(1, tf.int32).enqueue(forever)
    with pytest.raises(tf.errors.DeadlineExceededError):
        sess.run(enqueue, options=tf.RunOptions(timeout_in_ms=50))


def test_closing_a_session_ends_its_waits():
    q = tf.FIFOQueue(1, tf.int32)
    dequeue, enqueue = q.dequeue(), q.enqueue_many([[1, 2, 3]])
    other = tf.FIFOQueue(1, tf.int32, name="other").dequeue()
    for waits, message in [(other, "Dequeue"), (enqueue, "Enqueue")]:
        sess, errors = tf.Session(), []

        def run(sess=sess, waits=waits, errors=errors):
            try:
                sess.run(waits)
            except tf.errors.CancelledError as error:
                errors.append(error.message)

        thread = in_thread(run)
        while not len(sess._runner.running):
            time.sleep(0.001)
        sess.close()
        thread.join(10)
        assert len(errors) == 1 and errors[0].startswith(f"{message} operation was cancelled")
    with tf.Session() as sess:
        sess.run(q.enqueue(4))
        assert sess.run(dequeue) == 4


def test_an_error_elsewhere_in_the_step_withdraws_the_wait(sess):
    q = tf.FIFOQueue(1, tf.int32)
    x = tf.placeholder(tf.float32, [])
    fails = tf.check_numerics(x, "not finite")
    with pytest.raises(tf.errors.InvalidArgumentError, match="not finite"):
        sess.run([q.dequeue(), fails], {x: np.inf})
    assert not queue_object(sess, q).waiting() and not len(sess._runner.running)


def test_an_error_names_the_operation(sess):
    q = tf.FIFOQueue(1, tf.int32, shared_name="mine")
    sess.run(q.close())
    with pytest.raises(tf.errors.OutOfRangeError, match="FIFOQueue 'mine' is closed") as caught:
        sess.run(q.dequeue(name="take"))
    assert caught.value.op.name == "take"


def test_a_shared_name_means_one_queue(sess):
    a = tf.FIFOQueue(5, tf.int32, shapes=[()], shared_name="shared", name="a")
    b = tf.FIFOQueue(5, tf.int32, shapes=[()], shared_name="shared", name="b")
    sess.run(a.enqueue(3))
    assert sess.run(b.dequeue()) == 3
    for wrong, what in [
        (tf.FIFOQueue(6, tf.int32, shapes=[()], shared_name="shared"), "capacity"),
        (tf.FIFOQueue(5, tf.int64, shapes=[()], shared_name="shared"), "component types"),
        (tf.FIFOQueue(5, tf.int32, shared_name="shared"), "component shapes"),
        (tf.PaddingFIFOQueue(5, tf.int32, shapes=[()], shared_name="shared"), "found"),
    ]:
        with pytest.raises(tf.errors.InvalidArgumentError, match=what):
            sess.run(wrong.size())
    with tf.Session() as other:
        assert other.run(b.size()) == 0  # another process's queue, as it were


def test_older_nodes_share_the_queue(sess):
    handle = tf.raw_ops.FIFOQueue(component_types=[tf.int32], shapes=[()], shared_name="old")
    assert handle.dtype == tf.string._as_ref and handle.shape.as_list() == [2]
    sess.run(tf.raw_ops.QueueEnqueue(handle=handle, components=[5]))
    assert sess.run(tf.raw_ops.QueueSize(handle=handle)) == 1
    taken = tf.raw_ops.QueueDequeueMany(handle=handle, n=1, component_types=[tf.int32])
    assert sess.run(taken)[0].tolist() == [5]
    new = tf.FIFOQueue(-1, tf.int32, shapes=[()], shared_name="old")
    assert sess.run(new.size()) == 0


def test_a_choice_among_queues(sess):
    queues = [tf.FIFOQueue(5, tf.int32, shapes=[()]) for _ in range(3)]
    index = tf.placeholder(tf.int32, [])
    chosen = tf.QueueBase.from_list(index, queues)
    enqueue, sizes = chosen.enqueue(1), [q.size() for q in queues]
    sess.run(enqueue, {index: 2})
    assert sess.run(sizes) == [0, 0, 1]


def test_wrong_types_are_told_as_tensorflow_does(sess):
    q = tf.FIFOQueue(5, tf.float32)
    with pytest.raises(
        tf.errors.InvalidArgumentError,
        match="Signature mismatch, have: resource, int32-> expected: resource, float->",
    ):
        sess.run(tf.raw_ops.QueueEnqueueV2(handle=q.queue_ref, components=[3]))


def test_traces_show_waiting_nodes(sess):
    q = tf.FIFOQueue(5, tf.int32, shapes=[()])
    sess.run(q.enqueue(1))
    metadata = tf.RunMetadata()
    result = q.dequeue(name="take") + 1
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    assert sess.run(result, options=options, run_metadata=metadata) == 2
    nodes = [n.node_name for d in metadata.step_stats.dev_stats for n in d.node_stats]
    assert any("take" in node for node in nodes)


def test_part_of_a_step_may_wait(sess):
    q = tf.FIFOQueue(5, tf.int32, shapes=[()])
    x = tf.placeholder(tf.int32, [])
    y = q.dequeue() + x
    enqueue = q.enqueue(4)
    handle = sess.partial_run_setup([y], [x])
    thread = in_thread(lambda: (time.sleep(0.02), sess.run(enqueue)))
    assert sess.partial_run(handle, y, {x: 1}) == 5
    thread.join(10)


def test_many_steps_lose_nothing(sess):
    q = tf.FIFOQueue(64, tf.int32, shapes=[()])
    block = tf.placeholder(tf.int32, [None])
    enqueue = sess.make_callable(q.enqueue_many(block), [block])
    dequeue = sess.make_callable(q.dequeue_up_to(50))
    each, seen = 12_500, [[] for _ in range(8)]

    def produce(start):
        for n in range(start, start + each, 50):
            enqueue(np.arange(n, n + 50, dtype=np.int32))

    def consume(found):
        try:
            while True:
                found.extend(dequeue().tolist())
        except tf.errors.OutOfRangeError:
            pass

    consumers = [in_thread(consume, found) for found in seen]
    for thread in [in_thread(produce, i * each) for i in range(8)]:
        thread.join(60)
    sess.run(q.close())
    for thread in consumers:
        thread.join(60)
    counts = Counter(n for found in seen for n in found)
    assert len(counts) == 8 * each and set(counts.values()) == {1}
    assert not queue_object(sess, q).waiting()


def single_then_blocks(enqueue, enqueue_many, start, singles, blocks):
    """One producer: some elements one by one, the others in blocks of 100."""
    for n in range(start, start + singles):
        enqueue(np.int32(n))
    for n in range(start + singles, start + singles + 100 * blocks, 100):
        enqueue_many(np.arange(n, n + 100, dtype=np.int32))


def take_all(dequeue, found):
    try:
        while True:
            found.append(np.ravel(dequeue()))
    except tf.errors.OutOfRangeError:
        pass


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_million_elements_none_lost_none_twice_in_order(sess):
    """Eight producers and eight consumers, all with steps of one session.

    Of the 125,000 elements of a producer 12,500 go in one by one, so 100,000 in all; the rest in
    blocks of 100. Half of the consumers take single elements, half up to 100. What one producer
    puts in, each consumer must see in its order.
    """
    q = tf.FIFOQueue(1000, tf.int32, shapes=[()])
    one, block = tf.placeholder(tf.int32, []), tf.placeholder(tf.int32, [None])
    enqueue = sess.make_callable(q.enqueue(one), [one])
    enqueue_many = sess.make_callable(q.enqueue_many(block), [block])
    dequeues = sess.make_callable(q.dequeue()), sess.make_callable(q.dequeue_up_to(100))
    each, seen = 125_000, [[] for _ in range(8)]
    consumers = [in_thread(take_all, dequeues[i % 2], found) for i, found in enumerate(seen)]
    producers = [
        in_thread(single_then_blocks, enqueue, enqueue_many, i * each, each // 10, each // 1000 * 9)
        for i in range(8)
    ]
    for thread in producers:
        thread.join(250)
    sess.run(q.close())
    for thread in consumers:
        thread.join(30)
    taken = [np.concatenate(found) for found in seen if found]
    everything = np.sort(np.concatenate(taken))
    np.testing.assert_array_equal(everything, np.arange(8 * each))
    for found in taken:
        for producer in range(8):
            own = found[found // each == producer]
            assert (np.diff(own) > 0).all()
    assert not queue_object(sess, q).waiting()


@pytest.mark.parametrize("cancel", [False, True])
def test_closing_wakes_every_waiter(sess, cancel):
    empty, full = (tf.FIFOQueue(1, tf.int32, shapes=[()], name=n) for n in ("empty", "full"))
    sess.run(full.enqueue(0))
    outcomes = []

    def wait(op):
        try:
            sess.run(op)
            outcomes.append("done")
        except tf.errors.OpError as error:
            outcomes.append(type(error).__name__)

    dequeue, enqueue = empty.dequeue(), full.enqueue(1)
    threads = [in_thread(wait, op) for op in [dequeue] * 8 + [enqueue] * 8]
    while sum(queue_object(sess, q).waiting() for q in (empty, full)) < 16:
        time.sleep(0.001)
    sess.run(empty.close())
    threads.append(in_thread(sess.run, full.close(cancel_pending_enqueues=cancel)))
    take = full.dequeue()
    if not cancel:  # who waits to put something in still may; closing comes after them
        assert [sess.run(take) for _ in range(9)] == [0] + [1] * 8
    for thread in threads:
        thread.join(10)
    assert not any(thread.is_alive() for thread in threads)
    expected = "CancelledError" if cancel else "done"
    assert sorted(outcomes) == sorted(["OutOfRangeError"] * 8 + [expected] * 8)


def test_names_make_dictionaries(sess):
    q = tf.FIFOQueue(5, [tf.int32, tf.string], shapes=[(), ()], names=["n", "s"])
    sess.run(q.enqueue({"n": 1, "s": "one"}))
    assert sess.run(q.dequeue()) == {"n": 1, "s": b"one"}
    with pytest.raises(ValueError, match="must enqueue a dictionary"):
        q.enqueue([1, "one"])
    with pytest.raises(ValueError, match="do not match names"):
        q.enqueue({"n": 1})


def test_static_shapes_of_what_comes_out():
    q = tf.FIFOQueue(5, [tf.int32, tf.float32], shapes=[(), (2, 3)])
    assert [t.shape.as_list() for t in q.dequeue()] == [[], [2, 3]]
    assert [t.shape.as_list() for t in q.dequeue_many(4)] == [[4], [4, 2, 3]]
    assert [t.shape.as_list() for t in q.dequeue_up_to(4)] == [[None], [None, 2, 3]]
    with pytest.raises(ValueError, match="incompatible"):
        q.enqueue([1, tf.zeros([3])])
    with pytest.raises(ValueError, match="must be >= 0"):
        q.dequeue_many(-1)
