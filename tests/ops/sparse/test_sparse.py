"""tf.sparse: what is built of several operations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf

SPARSE = tf.SparseTensorValue([[0, 1], [2, 0]], np.array([1.0, 2.0], np.float32), [3, 2])
DENSE = np.array([[0, 1], [0, 0], [2, 0]], np.float32)


def dense(sparse: tf.SparseTensor) -> np.ndarray:
    with tf.Session() as sess:
        return sess.run(tf.sparse_tensor_to_dense(sparse))


def test_there_and_back() -> None:
    assert np.array_equal(dense(SPARSE), DENSE)
    assert np.array_equal(dense(tf.sparse.from_dense(DENSE)), DENSE)
    assert np.array_equal(dense(tf.sparse.eye(2, 3)), np.eye(2, 3))


def test_shapes_and_parts() -> None:
    sparse = tf.SparseTensor.from_value(SPARSE)
    assert np.array_equal(dense(tf.sparse_transpose(sparse)), DENSE.T)
    assert np.array_equal(dense(tf.sparse_reshape(sparse, [2, -1])), DENSE.reshape(2, 3))
    assert np.array_equal(dense(tf.sparse_concat(1, [sparse, sparse])), np.hstack([DENSE, DENSE]))
    assert np.array_equal(dense(tf.sparse_slice(sparse, [1, 0], [2, 1])), DENSE[1:3, 0:1])
    first, second = tf.sparse_split(sp_input=sparse, num_split=2, axis=0)
    assert np.array_equal(dense(first), DENSE[:2]) and np.array_equal(dense(second), DENSE[2:])
    assert dense(tf.sparse_retain(sparse, [False, True])).sum() == 2
    assert dense(tf.sparse_reset_shape(sparse, [4, 4])).shape == (4, 4)
    assert dense(tf.sparse.expand_dims(sparse, 0)).shape == (1, 3, 2)
    with pytest.raises(ValueError, match="Cannot reshape a tensor with 6 elements"):
        tf.sparse_reshape(sparse, [5])


@pytest.mark.parametrize(
    ("start", "size", "text"),
    [([0], [2, 2], "start to be a vector of length 2"), ([0, 0], [2], "size to be a vector")],
)
def test_a_slice_has_the_rank_of_its_tensor(start: list[int], size: list[int], text: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        dense(tf.sparse_slice(tf.SparseTensor.from_value(SPARSE), start, size))


def results_of_parts(indices: list[list[int]], values: list[float]) -> list[Any]:
    """What asks for the parts of one tensor, of fed parts."""
    fed = [tf.placeholder_with_default(x, None) for x in (np.int64(indices), np.float32(values))]
    sparse = tf.SparseTensor(*fed, tf.placeholder_with_default(np.int64([3, 2]), None))
    return [
        tf.sparse_reorder(sparse),
        tf.sparse_slice(sparse, [0, 0], [2, 2]),
        tf.sparse_concat(0, [sparse, sparse]),
        tf.sparse_split(sp_input=sparse, num_split=2, axis=0)[0],
        tf.sparse_reduce_sum(sparse, 1),
        tf.sparse_reduce_max_sparse(sparse, 0),
    ]


@pytest.mark.parametrize(
    ("indices", "values", "text"),
    [
        ([[0, 1], [2, 0]], [1.0, 2.0, 3.0], r"must match\. \(indices = 2, values = 3\)"),
        ([[0], [2]], [1.0, 2.0], "Order length must be SparseTensor rank"),
    ],
)
def test_parts_that_do_not_belong_together(
    indices: list[list[int]], values: list[float], text: str
) -> None:
    with tf.Session() as sess:
        for result in results_of_parts(indices, values):
            with pytest.raises(tf.errors.InvalidArgumentError, match=text):
                sess.run(result)


def test_what_is_joined_is_in_order() -> None:
    given = tf.SparseTensor([[2, 0], [0, 1]], [2.0, 1.0], [3, 2])
    with tf.Session() as sess:
        found = sess.run(tf.sparse_concat(0, [given, given]))
    assert found.indices.tolist() == [[0, 1], [2, 0], [3, 1], [5, 0]]
    assert found.values.tolist() == [1.0, 2.0, 1.0, 2.0]


def test_a_permutation_that_is_too_short() -> None:
    with pytest.raises(ValueError, match="Dimensions 1 and 2 are not compatible"):
        tf.sparse_transpose(tf.SparseTensor.from_value(SPARSE), [0])


def test_arithmetic() -> None:
    sparse = tf.SparseTensor.from_value(SPARSE)
    assert np.array_equal(dense(sparse * [[2.0, 3.0]]), DENSE * [[2, 3]])
    assert np.array_equal(dense(sparse / 2.0), DENSE / 2)
    with tf.Session() as sess:
        assert sess.run(tf.sparse_reduce_sum(sparse)) == 3
        assert sess.run(tf.sparse_reduce_max(sparse, 0)).tolist() == [2, 1]
        product = sess.run(tf.sparse_tensor_dense_matmul(sparse, DENSE.T.copy()))
    assert np.array_equal(product, DENSE @ DENSE.T)


def test_a_placeholder_is_fed() -> None:
    sparse = tf.sparse_placeholder(tf.float32, shape=[3, None], name="sp")
    assert sparse.values.name == "sp/values:0" and sparse.indices.shape.as_list() == [None, 2]
    with tf.Session() as sess:
        found = sess.run(tf.sparse_tensor_to_dense(sparse), {sparse: SPARSE})
    assert np.array_equal(found, DENSE)


def test_ids_and_indicators() -> None:
    ids = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], tf.constant([2, 0, 1], tf.int64), [2, 2])
    with tf.Session() as sess:
        found = sess.run(tf.sparse_to_indicator(ids, 3))
    assert found.tolist() == [[False, False, True], [True, True, False]]


@pytest.mark.parametrize("values", [[1.5, 2.5], [b"a", b"bc"]])
def test_serialized_rows_are_read_back(values: list) -> None:
    sparse = tf.SparseTensor([[0, 1], [2, 0]], tf.constant(values), [3, 2])
    rows = tf.serialize_many_sparse(sparse)
    again = tf.deserialize_many_sparse(rows, sparse.dtype, rank=1)
    one = tf.raw_ops.DeserializeSparse(tf.serialize_sparse(sparse), dtype=sparse.dtype)
    with tf.Session() as sess:
        found, expected, (indices, _, _) = sess.run([again, sparse, one])
    assert found.indices.tolist() == indices.tolist() == expected.indices.tolist()
    assert found.values.tolist() == values and found.dense_shape.tolist() == [3, 2]


@pytest.mark.parametrize("row", [2**63 - 1, 2, -1])
def test_crosses_of_rows_that_are_not_there(row: int) -> None:
    """NumPy, asked how often each row is there, would write beyond its memory for the first."""
    indices, values = np.array([[row, 0]], np.int64), np.array([b"a"], object)
    made = tf.raw_ops.SparseCross(
        indices=[indices] * 2,
        values=[values] * 2,
        shapes=[np.array([2, 2], np.int64)] * 2,
        dense_inputs=[],
        hashed_output=False,
        num_buckets=0,
        hash_key=1,
        dense_types=[],
        out_type="string",
        internal_type="string",
    )
    with tf.Session() as session:
        for _ in range(2):
            with pytest.raises(
                tf.errors.InvalidArgumentError, match=rf"Row {row} is not in \[0, 2"
            ):
                session.run(made)


def test_a_shape_without_elements_is_refused_for_a_tensor_that_has_some():
    with pytest.raises(ValueError, match=r"12 elements to shape \[0, None\] \(0 elements\)"):
        tf.sparse.reshape(tf.SparseTensor([[0, 1]], [1.0], [3, 4]), [0, -1])
    empty = tf.SparseTensor(tf.zeros([0, 2], tf.int64), tf.zeros([0]), [0, 4])
    assert tf.sparse.reshape(empty, [0, -1]).shape.as_list() == [0, 0]


@pytest.mark.parametrize(
    ("checked", "indices", "message"),
    [
        (True, [[1, 0], [0, 1]], r"out of order. Many sparse ops require sorted indices"),
        (False, [[0, 0], [5, 0]], r"Indices are not valid \(out of bounds\).  Shape: \[2,2\]"),
    ],
)
def test_coordinates_that_cannot_be_made_dense(sess, checked, indices, message):
    sparse = tf.SparseTensor(indices, [1.0, 2.0], [2, 2])
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        sess.run(tf.sparse.to_dense(sparse, validate_indices=checked))
