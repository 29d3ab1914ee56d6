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


def test_the_threshold_is_for_elements_that_both_have() -> None:
    a, b = sparse([[0, 1], [1, 2]], [1.0, 0.01]), sparse([[0, 0], [0, 1]], [0.02, -0.99])
    total = evaluate(tf.sparse.add(a, b, threshold=0.1))
    assert total.indices.tolist() == [[0, 0], [1, 2]]
    np.testing.assert_allclose(total.values, [0.02, 0.01])


def test_as_many_values_as_indices() -> None:
    values = tf.placeholder_with_default([1.0, 2.0, 3.0], None)
    odd = tf.SparseTensor([[0, 1], [1, 2]], values, [2, 3])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"2 and 2 non-empty .* got 3 and 2"):
        evaluate(tf.sparse.add(odd, sparse([[0, 1], [1, 0]], [-1.0, 5.0])))


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


def test_many_elements() -> None:
    """As the sum of the dense tensors, without the sums that vanish where both have an element."""
    rng = np.random.default_rng(5)
    flat = [np.sort(rng.choice(1000 * 400, 20000, replace=False)) for _ in "ab"]
    values = [rng.integers(-2, 3, 20000).astype(np.int16) for _ in flat]
    places = [np.stack([f // 400, f % 400], 1) for f in flat]
    parts = [
        tf.SparseTensor(p, tf.constant(v), [1000, 400]) for p, v in zip(places, values, strict=True)
    ]
    total = evaluate(tf.sparse.add(*parts, threshold=1))
    dense = np.zeros(1000 * 400, np.int16)
    for f, v in zip(flat, values, strict=True):
        dense[f] += v
    alone = np.bincount(np.concatenate(flat), minlength=len(dense)) == 1
    kept = np.flatnonzero(alone | (dense != 0))
    assert total.values.dtype == np.int16
    np.testing.assert_array_equal(total.indices, np.stack([kept // 400, kept % 400], 1))
    np.testing.assert_array_equal(total.values, dense[kept])


def test_integers_are_divided_exactly() -> None:
    a = tf.SparseTensor([[0], [2]], tf.constant([2**53 + 1, -7], tf.int64), [3])
    quotient = tf.raw_ops.SparseDenseCwiseDiv(
        sp_indices=a.indices, sp_values=a.values, sp_shape=a.dense_shape,
        dense=tf.constant([1, 1, 2], tf.int64),
    )  # fmt: skip
    assert evaluate(quotient).tolist() == [2**53 + 1, -3]
