"""Structures, options, errors of datasets; and what takes a whole dataset at once."""

from __future__ import annotations

import collections
import os
from typing import Any

import numpy as np
import pytest

import weft as tf

range_ = tf.data.Dataset.range


def elements(dataset: Any, session: Any) -> list[Any]:
    iterator = tf.data.make_initializable_iterator(dataset)
    element = iterator.get_next()
    session.run(iterator.initializer)
    found = []
    while True:
        try:
            found.append(session.run(element))
        except tf.errors.OutOfRangeError:
            return found


Pair = collections.namedtuple("Pair", "first second")


def test_named_tuples_come_back_as_such(sess: Any) -> None:
    dataset = tf.data.Dataset.from_tensors(Pair(1, {"x": 2.0})).map(lambda pair: pair)
    assert isinstance(dataset.output_types, Pair)
    assert elements(dataset, sess) == [Pair(1, {"x": 2.0})]


def test_a_dataset_shows_its_structure() -> None:
    dataset = range_(3).batch(2).map(lambda x: (x, tf.cast(x, tf.float32)))
    assert repr(dataset) == (
        "<DatasetV1Adapter shapes: ((?,), (?,)), types: (tf.int64, tf.float32)>"
    )
    spec = tf.data.experimental.get_structure(dataset)
    assert spec == (tf.TensorSpec([None], tf.int64), tf.TensorSpec([None], tf.float32))
    assert dataset.output_classes == (tf.Tensor, tf.Tensor)


def test_batches_that_are_all_full_have_a_known_size() -> None:
    assert range_(9).batch(4, drop_remainder=True).output_shapes.as_list() == [4]
    assert range_(9).batch(4).output_shapes.as_list() == [None]


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: range_(), ValueError, "Invalid arguments to RangeDataset"),
        (lambda: range_(3).flat_map(lambda x: x), TypeError, "must return a `Dataset` object"),
        (lambda: range_(3).filter(lambda x: x), ValueError, "scalar boolean tensor"),
        (lambda: tf.data.Dataset.zip([range_(2)]), TypeError, "please use a tuple instead"),
        (lambda: range_(2).concatenate(tf.data.Dataset.from_tensors(1.0)), TypeError, "types"),
        (lambda: range_(2).apply(lambda d: 3), TypeError, "must return a Dataset"),
        (lambda: range_(2).unbatch(), ValueError, "rank >= 1"),
        (lambda: range_(2).padded_batch(2, [3]), ValueError, "not compatible"),
        (lambda: range_(2).repeat([1, 2]), ValueError, "rank 0"),
        (
            lambda: range_(2).apply(
                tf.data.experimental.group_by_window(
                    lambda n: tf.cast(n, tf.int32), lambda _, window: window.batch(2), 2
                )
            ),
            ValueError,
            "requested dtype int64 for Tensor with dtype int32",
        ),
        (lambda: iter(range_(2)), RuntimeError, "eager execution"),
        (lambda: tf.data.Dataset.from_generator(3, tf.int32), TypeError, "must be callable"),
    ],
)
def test_mistakes_are_found_when_the_graph_is_made(make: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        make()


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: range_(3).batch(tf.constant(0, tf.int64)), "Batch size must be greater than zero"),
        (lambda: range_(3).shuffle(0), "buffer_size must be greater than zero"),
        (lambda: range_(3).shard(2, 2), "Index must be between 0 and 1"),
        (lambda: range_(0, 9, 0), "step must be a non-zero integer"),
        (lambda: range_(4).map(tf.range).skip(1).batch(2), "Cannot batch tensors with diff"),
        (lambda: tf.data.TextLineDataset("x", compression_type="ZIP"), "compression_type"),
    ],
)
def test_mistakes_are_found_in_the_step(make: Any, text: str, sess: Any) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        elements(make(), sess)


def test_options_merge_unless_they_contradict() -> None:
    one, two, three = tf.data.Options(), tf.data.Options(), tf.data.Options()
    one.experimental_deterministic = True
    two.experimental_threading.private_threadpool_size = 3
    three.experimental_deterministic = False
    dataset = range_(3).with_options(one).map(lambda x: x).with_options(two)
    assert dataset.options().experimental_deterministic is True
    assert dataset.options().experimental_threading.private_threadpool_size == 3
    with pytest.raises(ValueError, match="Cannot merge incompatible values"):
        dataset.with_options(three)
    with pytest.raises(TypeError, match="must be of type"):
        one.experimental_deterministic = 3
    with pytest.raises(AttributeError, match="Cannot set the property"):
        one.experimental_determinstic = True


def test_reduce_goes_through_the_states(sess: Any) -> None:
    total, count = range_(10).reduce(
        (np.int64(0), np.int64(0)), lambda state, x: (state[0] + x, state[1] + 1)
    )
    assert sess.run([total, count]) == [45, 10]
    rows = range_(4).reduce(tf.zeros([0], tf.int64), lambda s, x: tf.concat([s, [x]], 0))
    assert rows.shape.as_list() == [None]
    assert sess.run(rows).tolist() == [0, 1, 2, 3]


def test_a_single_element_must_be_single(sess: Any) -> None:
    single = tf.data.experimental.get_single_element
    assert sess.run(single(range_(7).batch(9))).tolist() == list(range(7))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Dataset was empty"):
        sess.run(single(range_(0)))
    with pytest.raises(tf.errors.InvalidArgumentError, match="more than one element"):
        sess.run(single(range_(2)))


@pytest.mark.parametrize(
    ("dataset", "wanted"),
    [
        (lambda: range_(7).shuffle(3).repeat(2).batch(4), 4),
        (lambda: range_(7).repeat(), tf.data.experimental.INFINITE_CARDINALITY),
        (lambda: range_(7).filter(lambda x: x > 3), tf.data.experimental.UNKNOWN_CARDINALITY),
        (lambda: tf.data.Dataset.zip((range_(7).skip(2), range_(9).take(8))), 5),
        (lambda: range_(7).shard(3, 0).concatenate(range_(2)), 5),
        (lambda: range_(7).window(2, shift=3, drop_remainder=True), 2),
        (lambda: range_(7).take(-1), -1),
        (lambda: range_(7).skip(-1), 0),
        (lambda: range_(7).repeat().skip(-1), -1),
        (lambda: range_(7).skip(2).apply(tf.data.experimental.ignore_errors()), 5),
    ],
)
def test_how_many_elements_there_are(dataset: Any, wanted: int, sess: Any) -> None:
    assert sess.run(tf.data.experimental.cardinality(dataset())) == wanted


def test_a_dataset_goes_to_a_record_file_and_back(sess: Any, tmp_path: Any) -> None:
    name = str(tmp_path / "records")
    words = tf.data.Dataset.from_tensor_slices(["a", "bb", ""])
    sess.run(tf.data.experimental.TFRecordWriter(name, "GZIP").write(words))
    assert elements(tf.data.TFRecordDataset(name, "GZIP"), sess) == [b"a", b"bb", b""]


def test_records_of_an_unknown_compression_are_read_as_they_are(
    sess: Any, tmp_path: Any, caplog: Any
) -> None:
    path = str(tmp_path / "records")
    with tf.io.TFRecordWriter(path) as writer:
        writer.write(b"one")
    assert elements(tf.data.TFRecordDataset(path, compression_type="ZIP"), sess) == [b"one"]
    assert "Unsupported compression_type: ZIP" in caplog.text


def test_rows_of_more_fields_than_there_are_defaults(sess: Any, tmp_path: Any) -> None:
    (tmp_path / "rows.csv").write_text("a,b,c\n1,2,3\n")
    dataset = tf.data.experimental.make_csv_dataset(
        str(tmp_path / "rows.csv"), 1, column_defaults=[tf.int32, tf.float32], num_epochs=1
    )
    assert list(dataset.output_types) == ["a", "b"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Expect 2 fields but have more"):
        elements(dataset, sess)


def test_a_cache_in_a_file_spares_the_second_reading(sess: Any, tmp_path: Any) -> None:
    calls: list[int] = []

    def noted(x: np.int64) -> np.int64:
        calls.append(int(x))
        return x

    name = str(tmp_path / "cache")
    dataset = range_(3).map(lambda x: (tf.py_func(noted, [x], tf.int64), tf.as_string(x)))
    for _ in range(2):
        assert elements(dataset.cache(name), sess) == [(0, b"0"), (1, b"1"), (2, b"2")]
    assert calls == [0, 1, 2]
    assert os.listdir(tmp_path) == ["cache.index"]


def test_files_are_listed_in_a_seeded_order(sess: Any, tmp_path: Any) -> None:
    for i in range(5):
        (tmp_path / f"{i}.txt").write_text("x")
    pattern = str(tmp_path / "*.txt")
    names = elements(tf.data.Dataset.list_files(pattern, shuffle=False), sess)
    assert names == [str(tmp_path / f"{i}.txt").encode() for i in range(5)]
    seeded = [elements(tf.data.Dataset.list_files(pattern, seed=2), sess) for _ in range(2)]
    assert seeded[0] == seeded[1] and sorted(seeded[0]) == names != seeded[0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="No files matched pattern"):
        elements(tf.data.Dataset.list_files(str(tmp_path / "*.csv")), sess)


def test_what_datasets_measure_is_in_a_summary(sess: Any) -> None:
    aggregator = tf.data.experimental.StatsAggregator()
    options = tf.data.Options()
    options.experimental_stats.aggregator = aggregator
    dataset = range_(5).apply(tf.data.experimental.bytes_produced_stats("bytes"))
    elements(dataset.with_options(options), sess)
    found = tf.Summary.FromString(sess.run(aggregator.get_summary()))
    histogram = found.value[0].histo
    assert (found.value[0].tag, histogram.num, histogram.sum) == ("bytes", 5, 40)


def test_contrib_has_what_did_not_come_along(sess: Any) -> None:
    data = tf.contrib.data
    dataset = range_(7).apply(data.sliding_window_batch(3, window_shift=2))
    assert [each.tolist() for each in elements(dataset, sess)] == [[0, 1, 2], [2, 3, 4], [4, 5, 6]]
    assert len(elements(range_(7).apply(data.batch_and_drop_remainder(3)), sess)) == 2
    shaped = range_(4).batch(2).apply(data.assert_element_shape(tf.TensorShape([2])))
    assert shaped.output_shapes.as_list() == [2]
    assert len(elements(shaped, sess)) == 2


def test_arrays_as_elements(sess: Any) -> None:
    def counted(i: Any) -> Any:
        n = tf.cast(i, tf.int32)
        return tf.TensorArray(tf.int32, size=n, element_shape=[]).unstack(tf.range(n))

    dataset = range_(4).map(counted)
    assert isinstance(dataset.element_spec, tf.TensorArraySpec)
    again = dataset.map(lambda array: array.identity())
    for each in (dataset, again):
        iterator = tf.data.make_one_shot_iterator(each)
        array = iterator.get_next()
        stacked = array.stack()
        assert [sess.run(stacked).tolist() for _ in range(4)] == [[], [0], [0, 1], [0, 1, 2]]


def test_nobody_asks_a_selector_once_all_inputs_have_ended(sess: Any) -> None:
    def chosen(i: Any) -> Any:
        return np.int64(0) if i < 3 else 1 / 0

    choices = range_(4).map(lambda i: tf.reshape(tf.py_func(chosen, [i], tf.int64), []))
    dataset = tf.data.experimental.choose_from_datasets([range_(2)], choices).batch(9)
    assert [batch.tolist() for batch in elements(dataset, sess)] == [[0, 1]]
