"""tf.sparse.add."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf


def sparse(indices, values):
    return tf.SparseTensor(indices, tf.constant(values, tf.float32), [2, 3])


def evaluate(fetches):
    with tf.Session() as session:
        return session.run(fetches)


def test_sparse_and_sparse() -> None:
    a, b = sparse([[0, 1], [1, 2]], [1.0, 2.0]), sparse([[0, 1], [1, 0]], [-1.0, 5.0])
    total, dropped = evaluate([tf.sparse.add(a, b), tf.sparse_add(a, b, threshold=0.5)])
    assert total.indices.tolist() == [[0, 1], [1, 0], [1, 2]]
    assert total.values.tolist() == [0.0, 5.0, 2.0]
    assert dropped.indices.tolist() == [[1, 0], [1, 2]]
    assert tf.sparse.add(a, b).shape.as_list() == [2, 3]


def test_sparse_and_dense_both_ways() -> None:
    a, dense = sparse([[0, 1], [1, 2]], [1.0, 2.0]), np.ones([2, 3], np.float32)
    wanted = [[1.0, 2.0, 1.0], [1.0, 1.0, 3.0]]
    for total in evaluate([tf.sparse.add(a, dense), tf.sparse.add(dense, a)]):
        assert total.tolist() == wanted
    with pytest.raises(TypeError, match="At least one input should be SparseTensor"):
        tf.sparse.add(dense, dense)


def test_gradient() -> None:
    values = tf.constant([1.0, 2.0])
    a = tf.SparseTensor([[0, 1], [1, 2]], values, [2, 3])
    total = tf.sparse.add(a, sparse([[0, 1], [1, 0]], [-1.0, 5.0]), threshold=0.5)
    assert evaluate(tf.gradients(total.values * 3.0, values))[0].tolist() == [0.0, 3.0]
