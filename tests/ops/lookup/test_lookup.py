"""Lookup tables: filled from tensors and files, changed, saved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf

lookup = tf.contrib.lookup


def test_a_static_table() -> None:
    table = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), default_value=-1
    )
    found = table.lookup(tf.constant([["b", "z"]]))
    one = table.lookup(tf.constant("a"))
    assert found.shape.as_list() == [1, 2]
    with tf.Session() as sess:
        with pytest.raises(tf.errors.FailedPreconditionError, match="Table not initialized"):
            sess.run(found)
        sess.run(tf.tables_initializer())
        sess.run(tf.tables_initializer())  # the same again is no error
        assert sess.run(found).tolist() == [[2, -1]] and sess.run(one) == 1
        assert sess.run(table.size()) == 2
        keys, values = sess.run(table.export())
        assert dict(zip(keys, values, strict=True)) == {b"a": 1, b"b": 2}


def test_a_default_value_that_is_no_scalar() -> None:
    content = tf.lookup.KeyValueTensorInitializer(["a"], [1])
    with pytest.raises(ValueError, match=r"Shapes \(1,\) and \(\) are not compatible"):
        tf.lookup.StaticHashTable(content, default_value=[-1])


def test_keys_that_contradict_each_other() -> None:
    table = lookup.HashTable(lookup.KeyValueTensorInitializer(["a", "a"], [1, 2]), -1)
    with tf.Session() as sess:
        with pytest.raises(tf.errors.FailedPreconditionError, match="different value for same key"):
            sess.run(table.init)


@pytest.fixture
def vocabulary(tmp_path: Path) -> str:
    path = tmp_path / "words.txt"
    path.write_text("emerson\nlake\npalmer\n")
    return str(path)


def test_words_to_numbers_and_back(vocabulary: str) -> None:
    to_id = lookup.index_table_from_file(vocabulary, num_oov_buckets=2)
    to_word = lookup.index_to_string_table_from_file(vocabulary, default_value="?")
    ids = to_id.lookup(tf.constant(["palmer", "unknown", "emerson"]))
    words = to_word.lookup(tf.constant([1, 99], tf.int64))
    with tf.Session() as sess:
        sess.run(tf.tables_initializer())
        found = sess.run(ids).tolist()
        assert found[0] == 2 and found[2] == 0 and found[1] in (3, 4)
        assert sess.run(words).tolist() == [b"lake", b"?"]
        assert sess.run(to_id.size()) == 5


def test_files_that_do_not_fit(vocabulary: str) -> None:
    table = lookup.index_table_from_file(vocabulary, vocab_size=4)
    with tf.Session() as sess:
        with pytest.raises(tf.errors.InvalidArgumentError, match="expected 4 but got 3"):
            sess.run(table.initializer)
    with pytest.raises(ValueError, match="vocab_size must be greater than 0"):
        lookup.index_table_from_file(vocabulary, vocab_size=0)


def test_sparse_keys_give_sparse_values() -> None:
    table = tf.lookup.StaticVocabularyTable(
        tf.lookup.KeyValueTensorInitializer(["a"], [0], value_dtype=tf.int64), 1
    )
    keys = tf.SparseTensor([[0, 1], [2, 0]], tf.constant(["a", "q"]), [3, 2])
    with tf.Session() as sess:
        sess.run(table.initializer)
        found = sess.run(table.lookup(keys))
    assert found.values.tolist() == [0, 1] and found.indices.tolist() == [[0, 1], [2, 0]]


@pytest.mark.parametrize("default", [-1, [-1, -1]])
def test_mutable_tables_are_saved(tmp_path: Path, default: object) -> None:
    table = lookup.MutableHashTable(tf.string, tf.int64, default)
    scale = np.ones_like(default)
    insert = table.insert(["a", "b"], [1 * scale, 2 * scale])
    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run(insert)
        path = saver.save(sess, str(tmp_path / "tables"))
        sess.run([table.insert(["c"], [3 * scale]), table.remove(tf.constant(["a"]))])
        assert (
            sess.run(table.lookup(["a", "c"])).tolist() == np.array([default, 3 * scale]).tolist()
        )
    with tf.Session() as sess:
        saver.restore(sess, path)
        assert sess.run(table.size()) == 2
        assert sess.run(table.lookup(["b"])).tolist() == [(2 * scale).tolist()]


def test_a_dense_table_shows_its_buckets() -> None:
    table = tf.lookup.experimental.DenseHashTable(
        tf.int64, tf.int64, -1, empty_key=100, deleted_key=200, initial_num_buckets=4
    )
    with tf.Session() as sess:
        sess.run(table.insert([1, 2], [10, 20]))
        sess.run(table.erase(tf.constant([1], tf.int64)))
        keys, values = sess.run(table.export())
        assert keys.shape == values.shape == (4, 1)
        pairs = zip(keys[:, 0], values[:, 0], strict=True)
        assert sorted(pairs) == [(2, 20), (100, 0), (100, 0), (200, 10)]
        with pytest.raises(tf.errors.InvalidArgumentError, match="empty_key"):
            sess.run(table.insert([100], [1]))


@pytest.mark.parametrize(("default", "empty"), [(0, -1), ([0, 0], -1), (0, [-1, -1])])
def test_dense_tables_are_saved_as_matrices(tmp_path: Path, default: Any, empty: Any) -> None:
    table = lookup.MutableDenseHashTable(
        tf.int64, tf.int64, default, empty, np.add(empty, -1), initial_num_buckets=8, name="t"
    )
    keys = tf.constant(np.multiply.outer([1, 2], np.ones_like(empty)), tf.int64)
    values = np.multiply.outer([3, 4], np.ones_like(default))
    saver = tf.train.Saver()
    exported = table.export()
    with tf.Session() as sess:
        sess.run(table.insert(keys, values))
        path = saver.save(sess, str(tmp_path / "tables"))
        widths = [array.shape[1] for array in sess.run(exported)]
    assert exported[0].shape.as_list() == [None] and widths == [np.size(empty), np.size(default)]
    found = tf.train.load_checkpoint(path).get_variable_to_shape_map()
    assert found == {"t-keys": [8, widths[0]], "t-values": [8, widths[1]]}
    with tf.Session() as sess:
        saver.restore(sess, path)
        assert sess.run(table.lookup(keys)).tolist() == values.tolist()


def test_exported_keys_can_be_inserted_again() -> None:
    given = {"empty_key": -1, "deleted_key": -2, "initial_num_buckets": 8}
    first = lookup.MutableDenseHashTable(tf.int64, tf.int64, [-1, -1], **given)
    second = lookup.MutableDenseHashTable(tf.int64, tf.int64, 0, **given)
    with tf.Session() as sess:
        sess.run(first.insert([5, 6], [[1, 2], [3, 4]]))
        keys = first.export()[0]
        keys = tf.gather(keys, tf.where(tf.not_equal(keys, -1))[:, 0])
        count = tf.expand_dims(tf.range(1, tf.size(keys, out_type=tf.int64) + 1), 1)
        sess.run(second.insert(keys, count))
        assert sorted(sess.run(second.lookup([5, 6, 7]))) == [0, 1, 2]


@pytest.mark.parametrize(
    ("keys", "empty", "message"),
    [
        ([1, 2], [0], r"Input key shape \[2\] must end with the table's key shape \[1\]"),
        ([1, 1], [0, 0], r"Expected key shape \[2,2\] got \[2\]"),
        ([[1, 2], [3, 4]], 0, r"Expected key shape \[2\] got \[2,2\]"),
    ],
)
def test_keys_of_another_shape(keys: Any, empty: Any, message: str) -> None:
    table = lookup.MutableDenseHashTable(tf.int64, tf.int64, 0, empty, np.add(empty, -1))
    given = tf.placeholder_with_default(tf.constant(keys, tf.int64), None)
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match=message):
        sess.run(table.lookup(given))


def test_the_constants_of_tables_are_named_as_in_tensorflow() -> None:
    lookup.MutableDenseHashTable(tf.int64, tf.int64, 0, -1, -2, checkpoint=False)
    lookup.MutableHashTable(tf.int64, tf.int64, 0, checkpoint=False)
    assert [op.name for op in tf.get_default_graph().get_operations()] == [
        *("default_value", "empty_key", "deleted_key", "MutableDenseHashTable"),
        *("Const", "MutableHashTable"),
    ]


def test_older_graphs_hold_references_to_tables() -> None:
    table = tf.raw_ops.HashTable(key_dtype=tf.int64, value_dtype=tf.string)
    fill = tf.raw_ops.InitializeTable(table, tf.constant([3], tf.int64), ["three"])
    found = tf.raw_ops.LookupTableFind(table, tf.constant([3, 4], tf.int64), "")
    with tf.Session() as sess:
        sess.run(fill)
        assert sess.run(found).tolist() == [b"three", b""]


def test_types_of_keys_are_told_as_text_of_types():
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a"], [1]), -1)
    with pytest.raises(TypeError, match="<dtype: 'string'>, got <dtype: 'int32'>"):
        table.lookup(tf.constant(3))
