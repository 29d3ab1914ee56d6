"""The four kinds of iterators, optionals, and what they say when something is wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf

range_ = tf.data.Dataset.range


def test_an_iterator_must_be_initialized_first(sess: Any) -> None:
    iterator = tf.data.make_initializable_iterator(range_(3))
    with pytest.raises(
        tf.errors.FailedPreconditionError, match="the iterator has not been initialized"
    ):
        sess.run(iterator.get_next())


def test_the_end_names_the_node(sess: Any) -> None:
    element = tf.data.make_one_shot_iterator(range_(1)).get_next(name="following")
    assert sess.run(element) == 0
    with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence") as raised:
        sess.run(element)
    assert raised.value.op.name == "following"


def test_a_one_shot_iterator_can_hold_no_state() -> None:
    table = tf.get_variable("table", [3], use_resource=True)
    dataset = range_(3).map(lambda x: tf.gather(table, x))
    with pytest.raises(ValueError, match="does not support datasets that capture stateful objects"):
        dataset.make_one_shot_iterator()


def test_a_one_shot_iterator_has_no_initializer() -> None:
    with pytest.raises(ValueError, match="Iterator does not have an initializer"):
        _ = tf.data.make_one_shot_iterator(range_(3)).initializer


def test_one_iterator_for_several_datasets(sess: Any) -> None:
    iterator = tf.data.Iterator.from_structure(tf.int64, [])
    element = iterator.get_next()
    small = iterator.make_initializer(range_(2))
    large = iterator.make_initializer(range_(10, 13), name="large")
    assert large.name == "large"
    for initializer, wanted in ((small, [0, 1]), (large, [10, 11, 12]), (small, [0, 1])):
        sess.run(initializer)
        assert [sess.run(element) for _ in wanted] == wanted
    with pytest.raises(TypeError, match="Expected output types"):
        iterator.make_initializer(tf.data.Dataset.from_tensors(1.0))
    with pytest.raises(TypeError, match="Expected output shapes compatible with"):
        iterator.make_initializer(range_(4).batch(2))


def test_a_handle_chooses_the_iterator(sess: Any) -> None:
    first = tf.data.make_one_shot_iterator(range_(5))
    second = tf.data.make_initializable_iterator(range_(50, 60))
    sess.run(second.initializer)
    one, two = sess.run([first.string_handle(), second.string_handle()])
    handle = tf.placeholder(tf.string, [])
    element = tf.data.Iterator.from_string_handle(handle, tf.int64, []).get_next()
    taken = [sess.run(element, {handle: each}) for each in (one, two, one, two)]
    assert taken == [0, 50, 1, 51]
    with pytest.raises(tf.errors.InvalidArgumentError, match="string_handle"):
        sess.run(element, {handle: b"nobody"})
    wrong = tf.data.Iterator.from_string_handle(handle, tf.float32, []).get_next()
    with pytest.raises(tf.errors.InvalidArgumentError, match="Data type mismatch at component 0"):
        sess.run(wrong, {handle: one})


def test_a_shared_iterator_is_one(sess: Any) -> None:
    mine = tf.data.make_initializable_iterator(range_(9), shared_name="shared")
    yours = tf.data.Iterator.from_structure(tf.int64, [], shared_name="shared")
    sess.run(mine.initializer)
    assert sess.run(mine.get_next()) == 0
    assert sess.run(yours.get_next()) == 1


def test_optionals_end_without_an_error(sess: Any) -> None:
    for dataset in (range_(2), range_(2).map(lambda x: tf.py_func(lambda v: v, [x], tf.int64))):
        iterator = tf.data.make_initializable_iterator(dataset)
        following = tf.data.experimental.get_next_as_optional(iterator)
        has, value = following.has_value(), following.get_value()
        sess.run(iterator.initializer)
        assert sess.run([has, value]) == [True, 0]
        assert sess.run([has, value]) == [True, 1]
        assert not sess.run(has)


def test_a_step_takes_one_element_for_each_get_next(sess: Any) -> None:
    iterator = tf.data.make_one_shot_iterator(range_(10))
    first = iterator.get_next()
    both = first, first + 0, iterator.get_next()
    a, b, c = sess.run(both)
    assert a == b and {int(a), int(c)} == {0, 1}


def test_each_session_has_its_own_place() -> None:
    iterator = tf.data.make_one_shot_iterator(range_(10))
    element = iterator.get_next()
    with tf.Session() as one, tf.Session() as two:
        assert [one.run(element), one.run(element), two.run(element)] == [0, 1, 0]


def test_functions_read_tables_and_variables_as_they_are_now() -> None:
    table = tf.contrib.lookup.index_table_from_tensor(["a", "b"])
    scale = tf.get_variable("scale", initializer=np.int64(1), use_resource=True)
    words = tf.data.Dataset.from_tensor_slices(["b", "a", "c"])
    iterator = words.map(lambda w: table.lookup(w) * scale).make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        session.run(iterator.initializer)
        assert session.run(element) == 1
        session.run(scale.assign(100))
        assert [session.run(element) for _ in range(2)] == [0, -100]


def test_a_function_can_count_in_a_variable(sess: Any) -> None:
    count = tf.get_variable("count", initializer=np.int64(0), use_resource=True)
    iterator = range_(5).map(lambda x: count.assign_add(x)).make_initializable_iterator()
    sess.run(count.initializer)
    sess.run(iterator.initializer)
    element = iterator.get_next()
    assert [sess.run(element) for _ in range(5)] == [0, 1, 3, 6, 10]
    assert sess.run(count) == 10


def test_where_an_iterator_stands_goes_into_a_checkpoint(tmp_path: Any) -> None:
    dataset = range_(50).shuffle(10, seed=3).map(lambda x: x * 2).repeat(2).batch(4).prefetch(2)
    iterator = tf.data.make_initializable_iterator(dataset)
    element = iterator.get_next()
    saver = tf.train.Saver([tf.data.experimental.make_saveable_from_iterator(iterator)])
    path = str(tmp_path / "place")
    with tf.Session() as session:
        session.run(iterator.initializer)
        for _ in range(7):
            session.run(element)
        saver.save(session, path, write_meta_graph=False)
        wanted = [session.run(element).tolist() for _ in range(18)]
    with tf.Session() as session:
        session.run(iterator.initializer)
        saver.restore(session, path)
        assert [session.run(element).tolist() for _ in range(18)] == wanted
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(element)


def test_what_cannot_be_saved_says_so(sess: Any, tmp_path: Any) -> None:
    dataset = range_(5).map(lambda x: x + tf.random_uniform([], 0, 9, tf.int64))
    iterator = tf.data.make_initializable_iterator(dataset)
    saver = tf.train.Saver([tf.data.experimental.make_saveable_from_iterator(iterator)])
    sess.run(iterator.initializer)
    with pytest.raises(tf.errors.FailedPreconditionError, match="stateful"):
        saver.save(sess, str(tmp_path / "place"), write_meta_graph=False)
