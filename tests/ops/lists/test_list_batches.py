"""Tensors whose elements are lists: in tables, filled, pushed to, joined and saved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.graph.op_def import raw

KEYS = [0, 1, 2]


def empty(dims: Any = (2,), dtype: Any = tf.float32) -> tf.Tensor:
    return raw.EmptyTensorList(tf.constant(dims), -1, element_dtype=dtype)


def stacked(one: tf.Tensor) -> tf.Tensor:
    return raw.TensorListStack(one, [2], element_dtype=tf.float32)


def table_of_lists() -> tf.lookup.experimental.DenseHashTable:
    return tf.lookup.experimental.DenseHashTable(
        tf.int64, tf.variant, default_value=empty(), empty_key=-1, deleted_key=-2
    )


def test_a_table_holds_lists(sess: tf.Session) -> None:
    table, keys = table_of_lists(), tf.constant(KEYS, tf.int64)
    rows = np.arange(6, dtype=np.float32).reshape(3, 2)
    push = table.insert(keys, raw.TensorListPushBackBatch(table.lookup(keys), rows))
    one = table.lookup(tf.constant(1, tf.int64))
    more = raw.TensorListFromTensor(tf.ones([2, 2]), tf.constant([2]))
    join = table.insert(
        tf.constant(1, tf.int64), raw.TensorListConcatLists(one, more, element_dtype=tf.float32)
    )
    clear = table.insert(keys[:2], tf.fill([2], empty()))
    lists = table.lookup(keys)
    values = [stacked(lists[i]) for i in KEYS]
    sess.run(push)
    sess.run(join)
    sess.run(push)
    assert sess.run(tf.size(lists)) == 3 and sess.run(table.size()) == 3
    expected = [rows[[0, 0]], [*rows[[1]], [1, 1], [1, 1], *rows[[1]]], rows[[2, 2]]]
    for found, wanted in zip(sess.run(values), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(sess.run(stacked(one)), expected[1])
    sess.run(clear)
    assert [len(found) for found in sess.run(values)] == [0, 0, 2]
    sess.run(table.remove(keys))
    assert [len(found) for found in sess.run(values)] == [0, 0, 0]


def test_lists_are_joined_each_with_its_own(sess: tf.Session) -> None:
    row = raw.TensorListPushBack(empty(), [1.0, 2.0])
    lists = tf.fill([2], row)
    joined = raw.TensorListConcatLists(lists, lists, element_dtype=tf.float32)
    assert joined.shape == [2]
    np.testing.assert_array_equal(sess.run(stacked(joined[1])), [[1, 2], [1, 2]])
    with pytest.raises(ValueError, match="must be equal rank"):
        raw.TensorListConcatLists(lists, row, element_dtype=tf.float32)


@pytest.mark.parametrize(
    "other, message",
    [
        (lambda: tf.fill([3], empty()), r"tensor shapes: \[2\] vs. \[3\]"),
        (lambda: tf.fill([2], empty((3,))), r"not identical at index 0.  Saw \[2\] vs. \[3\]"),
        (lambda: tf.fill([2], empty(dtype=tf.int32)), r"input_b\[0\].dtype != element_dtype"),
    ],
)
def test_lists_that_cannot_be_joined(other: Any, message: str, sess: tf.Session) -> None:
    hidden = tf.placeholder_with_default(other(), None)
    joined = raw.TensorListConcatLists(tf.fill([2], empty()), hidden, element_dtype=tf.float32)
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        sess.run(joined.op)


def test_pushing_a_batch_wants_a_vector_of_lists(sess: tf.Session) -> None:
    with pytest.raises(ValueError, match="rank 1 but is rank 0"):
        raw.TensorListPushBackBatch(empty(), [[1.0, 2.0]])


def test_lists_are_saved_and_restored(tmp_path: Path, sess: tf.Session) -> None:
    prefix = str(tmp_path / "lists")
    partly = raw.TensorListReserve([2], 3, element_dtype=tf.float32)
    partly = raw.TensorListSetItem(partly, 1, [7.0, 8.0])
    limited = raw.EmptyTensorList(tf.constant(-1), 5, element_dtype=tf.string)
    pair = tf.stack([raw.TensorListPushBack(empty(), [1.0, 2.0]), partly])
    sess.run(raw.SaveV2(prefix, ["pair", "limited"], ["", ""], [pair, limited]))
    found, other = raw.RestoreV2(
        prefix, ["pair", "limited"], ["", ""], dtypes=[tf.variant, tf.variant]
    )
    np.testing.assert_array_equal(sess.run(stacked(found[0])), [[1, 2]])
    np.testing.assert_array_equal(sess.run(stacked(found[1])), [[0, 0], [7, 8], [0, 0]])
    for i in range(6):
        other = raw.TensorListPushBack(other, f"{i}")
    with pytest.raises(tf.errors.InvalidArgumentError, match="max_num_elements: 5"):
        sess.run(raw.TensorListLength(other))


def test_a_checkpoint_holds_a_table_of_lists(tmp_path: Path, sess: tf.Session) -> None:
    table, keys = table_of_lists(), tf.constant(KEYS, tf.int64)
    rows = np.arange(6, dtype=np.float32).reshape(3, 2)
    sess.run(table.insert(keys, raw.TensorListPushBackBatch(table.lookup(keys), rows)))
    path = tf.train.Checkpoint(table=table).save(str(tmp_path / "table"), session=sess)
    other = table_of_lists()
    tf.train.Checkpoint(table=other).restore(path).initialize_or_restore(sess)
    lists = other.lookup(keys)
    assert sess.run(other.size()) == 3
    for i in KEYS:
        np.testing.assert_array_equal(sess.run(stacked(lists[i])), rows[[i]])
