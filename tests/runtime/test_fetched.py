"""Large results change hands: they are the caller's to write to, and nobody else's."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.runtime import fetched
from weft.runtime.xla import region

SIDE = 300  # 360,000 bytes: more than what is always copied
MARK = 77


@pytest.fixture(params=["compiled", "as it comes"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Every program is compiled at its first step, or when that pays."""
    if request.param == "compiled":
        monkeypatch.setattr(region, "HEAVY", -1.0)
    return request.param


@pytest.fixture
def owners(monkeypatch: pytest.MonkeyPatch) -> list[weakref.ref[Any]]:
    """The arrays of programs whose memory was handed over."""
    seen: list[weakref.ref[Any]] = []
    owner = fetched._Owner

    def noted(array: Any, view: np.ndarray) -> Any:
        seen.append(weakref.ref(array))
        return owner(array, view)

    monkeypatch.setattr(fetched, "_Owner", noted)
    monkeypatch.setattr(region, "HEAVY", -1.0)  # compile at once
    return seen


def _matrix() -> np.ndarray:
    return np.arange(SIDE * SIDE, dtype=np.float32).reshape(SIDE, SIDE)


def test_a_large_result_is_handed_over(owners):
    x = tf.placeholder(tf.float32, [None, SIDE])
    y = x + 1
    with tf.Session() as sess:
        sess.run(y, {x: _matrix()})
        made = sess.run(y, {x: _matrix()})
        assert owners
        assert made.flags.writeable and made.flags.aligned and type(made) is np.ndarray
        np.testing.assert_array_equal(made, _matrix() + 1)
        made[:] = MARK
        np.testing.assert_array_equal(sess.run(y, {x: _matrix()}), _matrix() + 1)
        assert (made == MARK).all()


def test_memory_of_a_result_lives_as_long_as_a_view_of_it(owners):
    x = tf.placeholder(tf.float32, [SIDE, SIDE])
    with tf.Session() as sess:
        y = x * 2
        sess.run(y, {x: _matrix()})
        owners.clear()
        row = sess.run(y, {x: _matrix()})[3]
        gc.collect()
        np.testing.assert_array_equal(row, _matrix()[3] * 2)
        (array,) = owners
        assert array() is not None
        del row
        gc.collect()
        assert array() is None


def test_small_results_and_those_numpy_has_no_type_for_are_copied(owners):
    x = tf.placeholder(tf.float32, [SIDE, SIDE])
    with tf.Session() as sess:
        made = sess.run([tf.reduce_sum(x, 0), tf.cast(x, tf.bfloat16), x[0] > 5], {x: _matrix()})
    assert not owners
    assert all(each.flags.writeable for each in made)
    assert made[1].dtype == tf.bfloat16.as_numpy_dtype


# ---- whatever else could hold the memory --------------------------------------------------------

Found = Callable[[], np.ndarray]


def of_a_feed(sess: Any) -> tuple[np.ndarray, Found]:
    x, value = tf.placeholder(tf.float32, [SIDE, SIDE]), _matrix()
    return sess.run(tf.identity(x), {x: value}), lambda: value


def of_a_feed_reshaped(sess: Any) -> tuple[np.ndarray, Found]:
    x, value = tf.placeholder(tf.float32, [SIDE, SIDE]), _matrix()
    return sess.run(tf.reshape(x, [-1]), {x: value}), lambda: value


def of_a_constant(sess: Any) -> tuple[np.ndarray, Found]:
    x = tf.identity(tf.constant(_matrix()))
    return sess.run(x), lambda: sess.run(x)


def of_something_folded(sess: Any) -> tuple[np.ndarray, Found]:
    x = tf.range(SIDE * SIDE) * 2
    return sess.run(x), lambda: sess.run(x)


def of_another_fetch(sess: Any) -> tuple[np.ndarray, Found]:
    x = tf.placeholder(tf.float32, [SIDE, SIDE])
    y = x * 3
    one, other = sess.run([y, tf.identity(y)], {x: _matrix()})
    return one, lambda: other


def of_a_reshaped_fetch(sess: Any) -> tuple[np.ndarray, Found]:
    x = tf.placeholder(tf.float32, [SIDE, SIDE])
    y = x * 3
    one, other = sess.run([y, tf.reshape(y, [-1])], {x: _matrix()})
    return other, lambda: one


def _of_a_variable(sess: Any, use_resource: bool, fetch: Callable[[Any], Any]) -> Any:
    v = tf.get_variable("v", initializer=_matrix(), use_resource=use_resource)
    sess.run(v.initializer)
    return sess.run(fetch(v)), lambda: sess.run(v)


def of_an_assignment(sess: Any) -> tuple[np.ndarray, Found]:
    return _of_a_variable(sess, False, lambda v: v.assign_add(tf.ones_like(v)))


def of_an_assignment_to_a_resource(sess: Any) -> tuple[np.ndarray, Found]:
    return _of_a_variable(sess, True, lambda v: v.assign_add(tf.ones_like(v), read_value=True))


def of_a_value_that_is_assigned(sess: Any) -> tuple[np.ndarray, Found]:
    v = tf.get_variable("v", initializer=_matrix(), use_resource=True)
    sess.run(v.initializer)
    made = v * 2
    with tf.control_dependencies([v.assign(made)]):
        fetch = tf.identity(made)
    return sess.run([fetch, made])[1], lambda: sess.run(v)


def of_a_variable(sess: Any) -> tuple[np.ndarray, Found]:
    return _of_a_variable(sess, False, lambda v: v)


def of_a_resource_variable(sess: Any) -> tuple[np.ndarray, Found]:
    return _of_a_variable(sess, True, lambda v: v.read_value())


def of_a_sparse_update(sess: Any) -> tuple[np.ndarray, Found]:
    return _of_a_variable(sess, False, lambda v: tf.scatter_add(v, [1, 2], tf.ones([2, SIDE])))


def of_a_queue(sess: Any) -> tuple[np.ndarray, Found]:
    x = tf.placeholder(tf.float32, [SIDE, SIDE])
    queue = tf.FIFOQueue(9, [tf.float32], shapes=[[SIDE, SIDE]])
    made = x * 5
    put, got = queue.enqueue(made), queue.dequeue()
    with tf.control_dependencies([queue.enqueue(got)]):
        peek = tf.identity(got)
    fetched_too, _ = sess.run([made, put], {x: _matrix()})
    return fetched_too, lambda: sess.run(peek)


def of_what_a_queue_gave(sess: Any) -> tuple[np.ndarray, Found]:
    x, value = tf.placeholder(tf.float32, [SIDE, SIDE]), _matrix()
    queue = tf.FIFOQueue(1, [tf.float32], shapes=[[SIDE, SIDE]])
    sess.run(queue.enqueue(x), {x: value})
    return sess.run(queue.dequeue()), lambda: value


def of_a_kept_tensor(sess: Any) -> tuple[np.ndarray, Found]:
    x = tf.placeholder(tf.float32, [SIDE, SIDE])
    made = x * 5
    fetched_too, handle = sess.run([made, tf.get_session_handle(made)], {x: _matrix()})
    return fetched_too, lambda: handle.eval()


def of_a_function_in_python(sess: Any) -> tuple[np.ndarray, Found]:
    x, kept = tf.placeholder(tf.float32, [SIDE, SIDE]), []
    made = x * 5
    seen = tf.py_func(lambda value: kept.append(value) or np.int32(0), [made], tf.int32)
    fetched_too, _ = sess.run([made, seen], {x: _matrix()})
    return fetched_too, lambda: kept[0]


def of_an_array_python_made(sess: Any) -> tuple[np.ndarray, Found]:
    kept = _matrix()
    return sess.run(tf.py_func(lambda: kept, [], tf.float32)), lambda: kept


def of_what_python_read(sess: Any) -> tuple[np.ndarray, Found]:
    kept = _matrix()
    made = tf.py_func(lambda: kept, [], tf.float32)
    made.set_shape([SIDE, SIDE])
    return sess.run(tf.identity(tf.reshape(made, [-1]))), lambda: kept


def of_a_branch(sess: Any) -> tuple[np.ndarray, Found]:
    x, value = tf.placeholder(tf.float32, [SIDE, SIDE]), _matrix()
    made = tf.cond(x[0, 0] < 1, lambda: tf.identity(x), lambda: x * 2)
    return sess.run(made, {x: value}), lambda: value


def of_a_loop(sess: Any) -> tuple[np.ndarray, Found]:
    x, value = tf.placeholder(tf.float32, [SIDE, SIDE]), _matrix()
    _, made = tf.while_loop(lambda i, _: i < 0, lambda i, x: (i + 1, x * 2), [0, x])
    return sess.run(made, {x: value}), lambda: value


def of_an_invariant(sess: Any) -> tuple[np.ndarray, Found]:
    v = tf.get_variable("v", initializer=_matrix(), use_resource=True)
    sess.run(v.initializer)
    _, made = tf.while_loop(lambda i, _: i < 3, lambda i, x: (i + 1, x), [0, v])
    return sess.run(made), lambda: sess.run(v)


def of_a_tensor_array(sess: Any) -> tuple[np.ndarray, Found]:
    x = tf.placeholder(tf.float32, [SIDE, SIDE])
    array = tf.TensorArray(tf.float32, 1, clear_after_read=False).write(0, x * 2)
    one, other = sess.run([array.read(0), array.stack()], {x: _matrix()})
    return one, lambda: other


def of_a_data_set(sess: Any) -> tuple[np.ndarray, Found]:
    data = tf.data.Dataset.from_tensors(_matrix()).cache().repeat()
    made = tf.data.make_one_shot_iterator(data).get_next()
    return sess.run(made), lambda: sess.run(made)


def of_a_lookup(sess: Any) -> tuple[np.ndarray, Found]:
    v = tf.get_variable("v", initializer=_matrix())
    sess.run(v.initializer)
    return sess.run(tf.gather(v, tf.range(SIDE))), lambda: sess.run(v)


def of_a_sliced_variable(sess: Any) -> tuple[np.ndarray, Found]:
    v = tf.get_variable("v", initializer=_matrix())
    sess.run(v.initializer)
    return sess.run(v[:]), lambda: sess.run(v)


CASES = [
    value for name, value in list(globals().items()) if name.startswith("of_") and callable(value)
]


@pytest.mark.parametrize("case", CASES)
def test_writing_to_a_result_changes_nothing_else(case, way):
    with tf.Session() as sess:
        for _ in range(2):  # the second time with what the first left behind
            with tf.variable_scope("", reuse=tf.AUTO_REUSE):
                made, found = case(sess)
            before = found().copy()
            assert made.flags.writeable
            made[...] = -MARK
            np.testing.assert_array_equal(found(), before)
            assert (made == -MARK).all()


def test_arrays_of_numpy_that_nobody_holds_are_not_copied():
    kept, made = [], []

    def make(keeps: bool) -> np.ndarray:
        value = _matrix()
        made.append(value.ctypes.data)
        if keeps:
            kept.append(value[1:])  # a part is enough
        return value

    keeps = tf.placeholder(tf.bool, [])
    with tf.Session() as sess:
        fetch = tf.py_func(make, [keeps], tf.float32)
        free, held = sess.run(fetch, {keeps: False}), sess.run(fetch, {keeps: True})
    assert free.ctypes.data == made[0] and free.flags.writeable
    assert held.ctypes.data != made[1] and held.flags.writeable
    held[:] = MARK
    np.testing.assert_array_equal(kept[0], _matrix()[1:])


def test_batches_of_a_data_set_are_not_copied(monkeypatch):
    copied = []
    monkeypatch.setattr(fetched, "to_user", lambda value: copied.append(value) or value)
    data = tf.data.Dataset.from_tensor_slices(_matrix()).batch(200).repeat()
    batch = tf.data.make_one_shot_iterator(data).get_next()
    with tf.Session() as sess:
        first, last = sess.run(batch), sess.run(batch)
        first[:] = MARK
        np.testing.assert_array_equal(last, _matrix()[200:])
        np.testing.assert_array_equal(sess.run(batch), _matrix()[:200])
    assert not copied


def test_what_somebody_else_holds_is_copied(owners):
    x = tf.placeholder(tf.float32, [SIDE, SIDE])
    with tf.Session() as sess:
        y = x + 1
        for _ in range(2):
            sess.run(y, {x: _matrix()})
        (plan,) = sess._runner._plans.values()
        results = list(plan.run([_matrix()]))
        kept = results[0]
        owners.clear()
        made = fetched.taken(results, 0, True)
        assert not owners
        assert type(kept) is not np.ndarray
        made[:] = MARK
        np.testing.assert_array_equal(np.asarray(kept), _matrix() + 1)


def test_a_step_that_is_traced_gives_arrays_of_ones_own(owners):
    x = tf.placeholder(tf.float32, [SIDE, SIDE])
    y = x + 1
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    with tf.Session() as sess:
        for _ in range(2):
            made = sess.run(y, {x: _matrix()}, options, tf.RunMetadata())
            made[:] = MARK
            np.testing.assert_array_equal(sess.run(y, {x: _matrix()}), _matrix() + 1)


def test_threads_that_run_one_step_each_have_their_own():
    x = tf.placeholder(tf.float32, [SIDE, SIDE])
    v = tf.get_variable("v", initializer=np.zeros([SIDE, SIDE], np.float32))
    made, wrong = v + x, []

    def work(sess: Any, mark: int) -> None:
        mine = []
        for _ in range(30):
            mine.append(sess.run(made, {x: np.full([SIDE, SIDE], mark, np.float32)}))
            if not (mine[-1] == mark).all():
                wrong.append(mark)
            mine[-1] += 100
        wrong.extend(mark for each in mine if not (each == mark + 100).all())

    with tf.Session() as sess:
        sess.run(v.initializer)
        threads = [threading.Thread(target=work, args=(sess, mark)) for mark in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert not wrong and not any(thread.is_alive() for thread in threads)
        assert not sess.run(v).any()
