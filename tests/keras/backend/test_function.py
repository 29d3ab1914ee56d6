"""K.function: what it feeds, fetches and updates."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from weft.lib.keras import backend as K


def test_outputs_keep_their_structure() -> None:
    x, y = K.placeholder((2,)), K.placeholder((2,))
    f = K.function({"a": x, "b": y}, {"sum": x + y, "both": [x, y]})
    found = f({"a": np.array([1, 2]), "b": np.array([3, 4])})
    assert found["sum"].tolist() == [4.0, 6.0]
    assert [each.tolist() for each in found["both"]] == [[1.0, 2.0], [3.0, 4.0]]


def test_tensors_can_be_given_as_inputs() -> None:
    x = K.placeholder((2,))
    f = K.function([x], [x * 2])
    dataset = tf.data.Dataset.from_tensor_slices(np.arange(4.0).reshape(2, 2))
    given = tf.data.make_one_shot_iterator(dataset).get_next()
    assert [f([given])[0].tolist() for _ in range(2)] == [[0.0, 2.0], [4.0, 6.0]]
    with pytest.raises(tf.errors.OutOfRangeError):
        f([given])


def test_inputs_of_none_are_not_fed() -> None:
    x = tf.placeholder_with_default([1.0], [1])
    f = K.function([x], [x + 1])
    assert f([None])[0].tolist() == [2.0]
    assert f([])[0].tolist() == [2.0]
    assert f([np.array([4.0])])[0].tolist() == [5.0]


def test_updates_come_after_the_first_output() -> None:
    v = K.variable(1.0)
    f = K.function([], [v * 2], updates=[(v, v + 1), K.update_add(K.variable(0.0), 1.0)])
    assert [f([])[0] for _ in range(3)] == [2.0, 4.0, 6.0]
    with pytest.raises(TypeError, match="should be a list or tuple"):
        K.function([], [v], updates=K.update_add(v, 1.0))


def test_fetches_can_be_added_with_callbacks() -> None:
    x = K.placeholder(())
    f = K.function([x], [x], fetches=[x * 3])
    seen = []
    f.fetch_callbacks[f.fetches[0]] = seen.append
    f([2.0])
    more = tf.identity(x * 5)
    f.fetches.append(more)
    f.fetch_callbacks[more] = seen.append
    f([2.0])
    assert seen == [6.0, 6.0, 10.0]


def test_further_feeds_and_unknown_arguments() -> None:
    x, y = K.placeholder(()), K.placeholder(())
    f = K.function([x], [x + y], feed_dict={y: 10.0})
    assert f([1.0]) == [11.0]
    f.feed_dict[y] = 20.0
    assert f([1.0]) == [21.0]
    with pytest.raises(ValueError, match='Invalid argument "nothing" passed'):
        K.function([x], [x], nothing=1)


def test_sparse_inputs_and_outputs() -> None:
    x = K.placeholder((2, 2), sparse=True)
    f = K.function([x], [x, tf.sparse.to_dense(x)])
    given = tf.SparseTensorValue(np.array([[0, 1]]), np.array([5.0]), np.array([2, 2]))
    sparse, dense = f([given])
    assert isinstance(sparse, tf.SparseTensorValue)
    assert sparse.values.tolist() == [5.0]
    assert dense.tolist() == [[0.0, 5.0], [0.0, 0.0]]


def test_a_new_session_is_noticed() -> None:
    v = K.variable(1.0)
    f = K.function([], [v])
    assert f([]) == [1.0]
    with tf.Session() as session:
        session.run(v.assign(4.0))
        assert f([]) == [4.0]
    assert f([]) == [1.0]
