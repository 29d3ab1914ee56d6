"""Input pipelines from queues."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

import weft as tf


@contextlib.contextmanager
def running(sess):
    """Initializes variables and runs the queue runners of the graph."""
    sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    coord = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(sess, coord)
    try:
        yield
    finally:
        coord.request_stop()
        coord.join(threads, stop_grace_period_secs=10)


def until_the_end(sess, fetches):
    found = []
    with running(sess), contextlib.suppress(tf.errors.OutOfRangeError):
        while True:
            found.append(sess.run(fetches))
    return found


def test_epochs_are_counted(sess):
    seven = tf.train.limit_epochs(tf.constant(7), num_epochs=2)
    sess.run(tf.local_variables_initializer())
    assert [sess.run(seven), sess.run(seven)] == [7, 7]
    with pytest.raises(tf.errors.OutOfRangeError):
        sess.run(seven)
    assert tf.train.limit_epochs("as it is") == "as it is"
    with pytest.raises(ValueError, match="num_epochs must be > 0"):
        tf.train.limit_epochs(tf.constant(7), num_epochs=0)


def test_names_are_matched_once(tmp_path, sess):
    for name in ("b", "a"):
        (tmp_path / name).touch()
    names = tf.train.match_filenames_once(str(tmp_path / "*"))
    sess.run(tf.local_variables_initializer())
    (tmp_path / "c").touch()
    assert sess.run(names).tolist() == [str(tmp_path / n).encode() for n in "ab"]


def test_strings_in_order(sess):
    queue = tf.train.string_input_producer(["a", "b"], num_epochs=2, shuffle=False)
    assert until_the_end(sess, queue.dequeue()) == [b"a", b"b"] * 2
    with pytest.raises(ValueError, match="requires a non-null input tensor"):
        tf.train.string_input_producer([])


def test_epochs_are_shuffled(sess):
    queue = tf.train.range_input_producer(10, num_epochs=3, seed=1)
    found = until_the_end(sess, queue.dequeue())
    epochs = [found[i : i + 10] for i in (0, 10, 20)]
    assert all(sorted(epoch) == list(range(10)) for epoch in epochs)
    assert len({tuple(epoch) for epoch in epochs}) > 1


def test_slices_belong_together(sess):
    letters, numbers = ["a", "b", "c"], [1, 2, 3]
    slices = tf.train.slice_input_producer([letters, numbers], num_epochs=1)
    found = until_the_end(sess, slices)
    assert sorted((letter, int(number)) for letter, number in found) == [
        (b"a", 1),
        (b"b", 2),
        (b"c", 3),
    ]


def numbers(limit):
    """0 to `limit` - 1, one at a time."""
    counter = tf.Variable(tf.constant(0, tf.int64), trainable=False)
    return counter.count_up_to(limit)


@pytest.mark.parametrize("smaller", [False, True])
def test_batches_in_order(sess, smaller):
    batches = tf.train.batch([numbers(10), "x"], 4, allow_smaller_final_batch=smaller)
    found = until_the_end(sess, batches)
    expected = [[0, 1, 2, 3], [4, 5, 6, 7]] + ([[8, 9]] if smaller else [])
    assert [batch.tolist() for batch, _ in found] == expected
    assert found[0][1].tolist() == [b"x"] * 4


def test_dictionaries_stay_dictionaries(sess):
    batch = tf.train.batch({"n": numbers(4), "c": tf.constant([1.0, 2.0])}, 2)
    assert batch["c"].shape.as_list() == [2, 2]
    assert until_the_end(sess, batch)[1]["n"].tolist() == [2, 3]
    single = tf.train.batch({"n": tf.constant(1)}, 2)
    assert list(single) == ["n"]


def test_batches_of_batches(sess):
    queue = tf.train.range_input_producer(12, num_epochs=1, shuffle=False)
    batch = tf.train.batch([queue.dequeue_many(3)], 4, enqueue_many=True)
    found = until_the_end(sess, batch)
    assert np.concatenate(found).tolist() == list(range(12))


def test_elements_of_different_length_are_padded(sess):
    number = tf.cast(numbers(4), tf.int32)
    ragged = tf.fill([number], number)
    batch = tf.train.batch([ragged], 4, dynamic_pad=True)
    assert batch.shape.as_list() == [4, None]
    with running(sess):
        assert sess.run(batch).tolist() == [[0, 0, 0], [1, 0, 0], [2, 2, 0], [3, 3, 3]]


def test_several_sources_share_a_queue(sess):
    batch = tf.train.batch_join([[numbers(6), "a"], [numbers(6), "b"]], 4)
    found = until_the_end(sess, batch)
    pairs = [pair for values, names in found for pair in zip(values, names, strict=True)]
    assert len(pairs) == 12
    for name in (b"a", b"b"):
        assert [n for n, source in pairs if source == name] == list(range(6))
    with pytest.raises(TypeError, match="types to be consistent: int64"):
        tf.train.batch_join([[numbers(2)], [tf.constant(1.0)]], 2)


def test_batches_in_random_order(sess):
    batch = tf.train.shuffle_batch([numbers(40)], 8, capacity=20, min_after_dequeue=10, seed=3)
    found = np.concatenate(until_the_end(sess, batch)).tolist()
    assert sorted(found) == list(range(40)) and found != sorted(found)
    with pytest.raises(ValueError, match="must be bigger than min_after_dequeue"):
        tf.train.shuffle_batch([numbers(4)], 2, capacity=5, min_after_dequeue=5)


def test_several_sources_in_random_order(sess):
    batch = tf.train.shuffle_batch_join(
        [[numbers(20)], [numbers(20)]], 10, capacity=20, min_after_dequeue=5
    )
    assert sorted(np.concatenate(until_the_end(sess, batch))) == sorted(list(range(20)) * 2)


def test_only_what_is_to_be_kept(sess):
    number = numbers(10)
    batch = tf.train.maybe_batch([number], tf.equal(number % 2, 0), 5)
    with running(sess):
        assert sess.run(batch).tolist() == [0, 2, 4, 6, 8]


def test_rows_to_be_kept(sess):
    number = numbers(2)
    rows = tf.stack([number * 2, number * 2 + 1])
    batch = tf.train.maybe_batch([rows], [False, True], 2, enqueue_many=True)
    with running(sess):
        assert sess.run(batch).tolist() == [1, 3]
    with pytest.raises(ValueError, match="cannot be a vector"):
        tf.train.maybe_batch([rows], [False, True], 2)


@pytest.mark.parametrize("many", [False, True])
def test_sparse_tensors_travel_through_queues(sess, many):
    number = tf.cast(numbers(4), tf.int64)
    indices = tf.reshape(number, [1, 1])
    if many:
        indices = tf.pad(indices, [[0, 0], [1, 0]])
    shape = [1, 4] if many else [4]
    sparse = tf.SparseTensor(indices, tf.reshape(number * 10, [1]), shape)
    values = tf.reshape(number, [1]) if many else number
    batch, plain = tf.train.batch([sparse, values], 2, enqueue_many=many)
    found = until_the_end(sess, [batch, plain])
    second = found[1][0]
    assert second.indices.tolist() == [[0, 2], [1, 3]]
    assert second.values.tolist() == [20, 30] and second.dense_shape.tolist() == [2, 4]
    assert found[1][1].tolist() == [2, 3]


def test_a_whole_pipeline(tmp_path, sess):
    for part in range(3):
        with tf.python_io.TFRecordWriter(str(tmp_path / f"{part}.records")) as writer:
            for i in range(20):
                writer.write(str(part * 20 + i))
    names = tf.train.string_input_producer(
        tf.train.match_filenames_once(str(tmp_path / "*.records")), num_epochs=2
    )
    _, record = tf.TFRecordReader().read(names)
    batch = tf.train.shuffle_batch(
        [record], 16, capacity=50, min_after_dequeue=20, num_threads=3,
        allow_smaller_final_batch=True,
    )  # fmt: skip
    found = np.concatenate(until_the_end(sess, batch)).tolist()
    assert sorted(map(int, found)) == sorted(list(range(60)) * 2)


def test_a_batch_of_one_sparse_tensor_has_tensorflows_nodes():
    shape = tf.constant([3], tf.int64)
    tf.train.batch([tf.SparseTensor(tf.constant([[0]], tf.int64), tf.constant([5]), shape)], 2)
    last = tf.get_default_graph().get_operations()[-4:]
    assert [op.name for op in last] == [
        "batch/TakeManySparseFromTensorsMap", "batch/control_dependency",
        "batch/control_dependency_1", "batch/control_dependency_2",
    ]  # fmt: skip
    places = {tuple(op.colocation_groups()) for op in last}
    assert places == {(b"loc:@batch/AddSparseToTensorsMap",)}
