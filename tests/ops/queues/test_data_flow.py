"""Barriers, staging areas, critical sections and accumulators."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

import weft as tf
from weft.core import dtypes
from weft.core.deferred import Deferred
from weft.ops.control.mutex import Mutex
from weft.ops.queues.accumulator_objects import Accumulator, SparseAccumulator
from weft.ops.queues.barrier import Barrier, BarrierObject
from weft.ops.queues.staging import MapStagingArea, StagingArea
from weft.ops.queues.staging_objects import StagingList, StagingMap


def in_thread(function):
    thread = threading.Thread(target=function, daemon=True)
    thread.start()
    return thread


# ---- barriers ------------------------------------------------------------------------------------


def names(*keys):
    return np.array(keys, object)


def test_a_barrier_gives_out_complete_elements_by_the_age_of_their_key():
    barrier = BarrierObject("b", [dtypes.int32, dtypes.string], [(), ()])
    barrier.insert_many(names(b"k1", b"k2"), 0, np.array([1, 2], np.int32))
    barrier.insert_many(names(b"k3"), 0, np.array([3], np.int32))
    barrier.insert_many(names(b"k3", b"k2"), 1, names(b"c", b"b"))
    indices, keys, numbers, letters = barrier.take_many(2, False)
    assert indices.tolist() == [-(2**63), -(2**63) + 1]
    assert keys.tolist() == [b"k2", b"k3"]
    assert numbers.tolist() == [2, 3] and letters.tolist() == [b"b", b"c"]
    assert list(barrier.incomplete) == [b"k1"]


def test_a_component_comes_once():
    barrier = BarrierObject("b", [dtypes.int32, dtypes.int32], [(), ()])
    barrier.insert_many(names(b"k"), 0, np.array([1], np.int32))
    with pytest.raises(tf.errors.InvalidArgumentError, match="already has a value for component 0"):
        barrier.insert_many(names(b"k"), 0, np.array([2], np.int32))


def test_a_closed_barrier_takes_no_new_keys_but_completes_old_ones():
    barrier = BarrierObject("b", [dtypes.int32, dtypes.int32], [(), ()])
    barrier.insert_many(names(b"k"), 0, np.array([1], np.int32))
    barrier.close(cancel_pending=False)
    with pytest.raises(tf.errors.CancelledError, match="brand new key: new"):
        barrier.insert_many(names(b"new"), 0, np.array([1], np.int32))
    waits = barrier.take_many(1, False)
    assert isinstance(waits, Deferred)
    barrier.insert_many(names(b"k"), 1, np.array([2], np.int32))
    assert waits.wait()[1].tolist() == [b"k"]
    with pytest.raises(tf.errors.OutOfRangeError, match="insufficient elements"):
        barrier.take_many(1, False)
    with pytest.raises(tf.errors.CancelledError, match="already closed"):
        barrier.close(cancel_pending=False)


def test_closing_a_barrier_wakes_those_who_wait():
    barrier = BarrierObject("b", [dtypes.int32], [()])
    waits = barrier.take_many(2, False)
    barrier.close(cancel_pending=False)
    with pytest.raises(tf.errors.OutOfRangeError):
        waits.wait()
    assert not barrier.ready.waiting()


def test_a_barrier_in_a_graph(sess):
    barrier = Barrier((tf.float32, tf.int64), shapes=((), (2,)))
    sess.run(barrier.insert_many(0, ["a", "b"], [1.0, 2.0]))
    sess.run(barrier.insert_many(1, ["b"], np.array([[3, 4]])))
    assert sess.run([barrier.ready_size(), barrier.incomplete_size()]) == [1, 1]
    taken = barrier.take_many(1)
    assert [t.shape.as_list() for t in taken[2]] == [[1], [1, 2]]
    _, keys, values = sess.run(taken)
    assert keys.tolist() == [b"b"] and values[1].tolist() == [[3, 4]]


# ---- staging areas -------------------------------------------------------------------------------


def i32(*values):
    return [np.array(v, np.int32) for v in values]


def test_a_staging_area_keeps_order_and_capacity():
    area = StagingList(capacity=2, memory_limit=0)
    assert area.put(i32(1)) == () and area.put(i32(2)) == ()
    third = area.put(i32(3))
    assert isinstance(third, Deferred) and area.waiting() == 1
    assert area.peek(1, 1)[0] == 2
    assert [int(area.get(1)[0]) for _ in range(3)] == [1, 2, 3]
    assert third.wait() == () and not area.waiting()


def test_a_staging_area_limits_bytes():
    area = StagingList(capacity=0, memory_limit=8)
    area.put(i32(1))
    area.put(i32(2))
    waits = area.put(i32(3))
    assert isinstance(waits, Deferred)
    waits.cancel()
    assert not area.waiting() and area.bytes == 8
    with pytest.raises(tf.errors.ResourceExhaustedError, match="memory limit of '8'"):
        area.put(i32(1, 2, 3))
    area.clear()
    assert not area.bytes and not area.items


def test_a_staging_map_takes_and_gives_parts():
    area = StagingMap(0, 0, ordered=True)
    assert area.put(5, [0], i32(1), 2) == () and area.incomplete
    waits = area.pop(5, [0, 1])
    area.put(5, [1], i32(2), 2)
    assert [int(v) for v in waits.wait()] == [1, 2] and not area.items
    for key in (3, 1, 2):
        area.put(key, [0, 1], i32(key, -key), 2)
    key, value = area.pop_any([1])
    assert (int(key), int(value)) == (1, -1)
    assert area.pop(1, [0])[0] == 1 and sorted(area.items) == [2, 3]
    with pytest.raises(tf.errors.InvalidArgumentError, match="not strictly ordered"):
        area.peek(2, [1, 0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="out of bounds '2'"):
        area.peek(2, [2])


def test_staging_overlaps_steps(sess):
    x = tf.placeholder(tf.float32, [2])
    area = StagingArea([tf.float32], shapes=[[2]])
    put = area.put([tf.square(x)])
    (staged,) = area.get()
    result = tf.reduce_sum(staged)
    sess.run(put, {x: [1.0, 2.0]})
    for _ in range(4):
        total, _ = sess.run([result, put], {x: [1.0, 2.0]})
        assert total == 5.0
    assert sess.run(area.size()) == 1


def test_named_components_of_a_map(sess):
    area = MapStagingArea([tf.float32, tf.int32], names=["x", "n"])
    key = tf.placeholder(tf.int64, [])
    put = area.put(key, {"n": tf.constant(3), "x": tf.constant(1.5)})
    sess.run(put, {key: 9})
    found, values = sess.run(area.get())
    assert found == 9 and values == {"x": 1.5, "n": 3}
    with pytest.raises(ValueError, match="do not match names"):
        area.put(key, {"y": tf.constant(1.0)})


# ---- critical sections ---------------------------------------------------------------------------


def test_a_mutex_goes_from_one_to_the_next():
    mutex = Mutex()
    first = mutex.acquire()
    (lock,) = first.wait()
    second, third = mutex.acquire(), mutex.acquire()
    assert mutex.waiting() == 2
    second.cancel()
    lock.release()
    (got,) = third.wait()
    assert mutex.holder is got
    lock.release()  # no longer its to release
    assert mutex.holder is got
    third.at_end()
    assert mutex.holder is None and not mutex.waiting()


def test_a_lock_on_its_way_to_a_step_that_gave_up_is_free_again():
    mutex = Mutex()
    (lock,) = mutex.acquire().wait()
    waits = mutex.acquire()
    lock.release()
    waits.cancel()
    assert mutex.holder is None


def test_critical_sections_do_not_mix(sess):
    section = tf.CriticalSection()
    counter = tf.get_variable("counter", [], use_resource=True, initializer=tf.zeros_initializer())

    def add():
        before = counter.read_value()
        with tf.control_dependencies([before]):
            return counter.assign(before + 1.0).read_value()

    once = [section.execute(add) for _ in range(5)]
    sess.run(tf.global_variables_initializer())
    for _ in range(3):
        sess.run(counter.initializer)
        assert sorted(sess.run(once)) == [1, 2, 3, 4, 5]
    threads = [in_thread(lambda: [sess.run(once) for _ in range(4)]) for _ in range(3)]
    for thread in threads:
        thread.join(30)
    assert sess.run(counter) == 5 + 5 * 4 * 3


def test_a_failed_section_frees_the_lock(sess):
    section = tf.CriticalSection(shared_name="section")
    x = tf.placeholder(tf.float32, [])
    result = section.execute(lambda: tf.check_numerics(x, "not finite"))
    for _ in range(2):
        with pytest.raises(tf.errors.InvalidArgumentError, match="not finite"):
            sess.run(result, {x: np.nan})
    assert sess.run(result, {x: 2.0}) == 2.0


def test_a_section_within_itself_is_refused():
    section = tf.CriticalSection(shared_name="section")
    with pytest.raises(ValueError, match="would cause deadlocks"):
        section.execute(lambda: section.execute(lambda: tf.constant(1)))


def test_sections_may_not_share_resources_by_accident():
    variable = tf.get_variable("v", [], use_resource=True)
    first, second = tf.CriticalSection(shared_name="1"), tf.CriticalSection(shared_name="2")
    first.execute(lambda: variable.assign(1.0))
    with pytest.raises(ValueError, match="exclusive resource access"):
        second.execute(lambda: variable.assign(2.0))


# ---- accumulators --------------------------------------------------------------------------------


def test_an_accumulator_averages_what_is_not_stale():
    accumulator = Accumulator("a", dtypes.float32, (None,), "MEAN")
    waits = accumulator.take(2)
    assert isinstance(waits, Deferred)
    accumulator.apply(0, np.array([1.0, 2.0], np.float32))
    accumulator.apply(3, np.array([3.0, 4.0], np.float32))
    assert waits.wait()[0].tolist() == [2.0, 3.0]
    assert accumulator.global_step == 1 and accumulator.count == 0
    accumulator.apply(0, np.array([1.0, 2.0], np.float32))  # computed before the last was taken
    assert accumulator.count == 0
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"expected \[\?\], got \[\]"):
        accumulator.apply(1, np.float32(1))


@pytest.mark.parametrize(
    ("dtype", "reduction", "expected"),
    [("float16", "MEAN", 1.5), ("int32", "MEAN", 1), ("int32", "SUM", 3), ("bfloat16", "SUM", 3)],
)
def test_results_keep_their_type(dtype, reduction, expected):
    kind = dtypes.as_dtype(dtype)
    accumulator = Accumulator("a", kind, (), reduction)
    for value in (1, 2):
        accumulator.apply(0, np.array(value).astype(kind.np_storage))
    (result,) = accumulator.take(2)
    assert result.dtype == kind.np_storage and result == expected


def test_integers_are_averaged_toward_zero():
    accumulator = Accumulator("a", dtypes.int32, (), "MEAN")
    for value in (-1, -2):
        accumulator.apply(0, np.array(value, np.int32))
    assert accumulator.take(2)[0] == -1


def test_a_sparse_accumulator_averages_row_by_row():
    accumulator = SparseAccumulator("a", dtypes.float32, (4, 2), "MEAN")
    for indices, value in [([0, 2], 2.0), ([2, 3], 4.0)]:
        rows = np.full((2, 2), value, np.float32)
        accumulator.apply(0, np.array(indices), rows, np.array([4, 2]))
    indices, values, shape = accumulator.take(2)
    assert indices.tolist() == [0, 2, 3] and shape.tolist() == [4, 2]
    assert values[:, 0].tolist() == [2.0, 3.0, 4.0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="index is 4 exceeded 4"):
        accumulator.apply(1, np.array([4]), np.zeros((1, 2), np.float32), None)


@pytest.mark.parametrize(
    ("kind", "gradient"),
    [
        (Accumulator, (np.array([1.0, 2.0], np.float32),)),
        (SparseAccumulator, (np.array([1]), np.ones((1, 2), np.float32), None)),
    ],
)
def test_late_gradients_count_when_the_step_is_set_back(kind, gradient):
    accumulator = kind("a", dtypes.float32, None, "MEAN")
    accumulator.set_global_step(57)
    accumulator.apply(57, *gradient)
    accumulator.take(1)
    accumulator.apply(50, *gradient)  # a worker that is there before the chief
    accumulator.apply(49, *gradient)
    accumulator.apply(50, *gradient)
    assert accumulator.count == 0
    waits = accumulator.take(1)
    accumulator.set_global_step(50)
    waits.wait()
    assert accumulator.count == 0  # as many are kept as a take asks for
    accumulator.apply(50, *gradient)
    accumulator.apply(51, *gradient)
    accumulator.take(1)
    accumulator.set_global_step(50)
    assert accumulator.count == 0  # those of an update that was made do not come back


def test_accumulators_in_a_graph(sess):
    accumulator = tf.ConditionalAccumulator(tf.float32, shape=[2])
    apply = [accumulator.apply_grad([float(i), 1.0]) for i in range(3)]
    take = accumulator.take_grad(3)
    results = []
    thread = in_thread(lambda: results.append(sess.run(take)))
    for each in apply:
        time.sleep(0.001)
        sess.run(each)
    thread.join(10)
    assert results[0].tolist() == [1.0, 1.0]
    assert sess.run(accumulator.num_accumulated()) == 0


def test_sparse_accumulators_in_a_graph(sess):
    accumulator = tf.SparseConditionalAccumulator(tf.float32, shape=[3, 1])
    slices = tf.IndexedSlices(tf.constant([[2.0]]), tf.constant([1]), tf.constant([3, 1]))
    sess.run(accumulator.apply_indexed_slices_grad(slices))
    taken = sess.run(accumulator.take_indexed_slices_grad(1))
    assert taken.indices.tolist() == [1] and taken.values.tolist() == [[2.0]]
