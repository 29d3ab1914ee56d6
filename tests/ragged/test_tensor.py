"""tf.RaggedTensor: what it refuses, what is known before it runs, and sessions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.ragged.programs import deep, digits, pairs
from weft.client.eager import EagerExecution

Ragged = tf.RaggedTensor


def run(fetches: Any, feeds: Any = None) -> Any:
    with tf.Session() as session:
        return session.run(fetches, feeds)


def test_static_shapes() -> None:
    assert digits(tf).shape.as_list() == [5, None]
    assert deep(tf).shape.as_list() == [3, None, None]
    assert pairs(tf).shape.as_list() == [2, None, 2]
    assert (deep(tf).ragged_rank, pairs(tf).ragged_rank) == (2, 1)
    assert tf.ragged.placeholder(tf.float32, 1, [4]).shape.as_list() == [None, None, 4]
    assert tf.concat([digits(tf), digits(tf)], 1).shape.as_list() == [5, None]
    assert Ragged.from_value_rowids([1, 2], [0, 1], 7).shape.as_list() == [7, None]


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Ragged.from_row_splits([1, 2], [0, 3]), "from_row_splits do not form a valid"),
        (lambda: Ragged.from_row_splits([1, 2], [1, 2]), "from_row_splits do not form a valid"),
        (lambda: Ragged.from_row_splits([1, 2], [0, 2, 1, 2]), "do not form a valid RaggedTensor"),
        (lambda: Ragged.from_row_lengths([1, 2], [3, -1]), "from_row_lengths do not form a valid"),
        (lambda: Ragged.from_row_starts([1, 2], [0, 3]), "from_row_starts do not form a valid"),
        (lambda: Ragged.from_row_limits([1, 2], [0, 1]), "from_row_limits do not form a valid"),
        (lambda: Ragged.from_value_rowids([1, 2], [1, 0], 2), "from_value_rowids do not form"),
    ],
)
def test_rows_that_do_not_fit(build: Any, message: str) -> None:
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError), match=message):
        run(build())


def test_rows_are_checked_when_they_are_fed() -> None:
    splits = tf.placeholder(tf.int64, [None])
    ragged = Ragged.from_row_splits([1, 2, 3], splits)
    assert run(ragged, {splits: [0, 1, 3]}).to_list() == [[1], [2, 3]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="do not form a valid RaggedTensor"):
        run(ragged, {splits: [0, 4]})


@pytest.mark.parametrize(
    ("build", "kind", "message"),
    [
        (lambda: Ragged([1], [0, 1]), ValueError, "constructor is private"),
        (lambda: Ragged.from_row_splits([1], []), ValueError, "may not be empty"),
        (lambda: Ragged.from_row_splits([1], [0, 1], validate=1), TypeError, "must have type bool"),
        (lambda: Ragged.from_row_splits([1], [0.0, 1.0]), ValueError, "int32 or int64"),
        (lambda: Ragged.from_nested_row_splits([1], tf.constant([[0, 1]])), TypeError, "a list of"),
        (lambda: Ragged.from_value_rowids([1], [3], 2), ValueError, "Expected nrows >= value_row"),
        (lambda: Ragged.from_tensor([[1]], [1], 0), ValueError, "lengths or padding, but not both"),
        (lambda: Ragged.from_tensor([[1]], ragged_rank=0), ValueError, "greater than 0; got 0"),
        (lambda: Ragged.from_sparse(3), TypeError, "Expected SparseTensor, got int"),
        (lambda: tf.ragged.constant([[1, [2]]]), ValueError, "same nesting depth"),
        (lambda: tf.ragged.constant([[1], [[]]]), ValueError, "empty list nesting is greater"),
        (lambda: tf.ragged.constant([1], ragged_rank=-1), ValueError, "must be nonnegative"),
        (lambda: digits(tf)[:, 1], ValueError, "Cannot index into an inner ragged dimension"),
        (lambda: bool(digits(tf)), TypeError, "may not be used as a boolean"),
        (lambda: digits(tf).to_list(), ValueError, "only supported in eager mode"),
        (lambda: tf.gather(digits(tf), [0], axis=1), ValueError, "axis != 0 is not supported"),
        (lambda: tf.reduce_sum(digits(tf), 1, keepdims=True), ValueError, "keepdims=True is not"),
        (lambda: tf.convert_to_tensor(digits(tf)), TypeError, "Failed to convert object of type"),
        (lambda: tf.matmul(digits(tf), [[1]]), TypeError, "Failed to convert object of type"),
        (lambda: digits(tf) + digits(tf).with_row_splits_dtype(tf.int32), ValueError, "mismatched"),
    ],
)
def test_refused(build: Any, kind: type, message: str) -> None:
    with pytest.raises(kind, match=message):
        build()


def test_rows_of_other_lengths_do_not_broadcast() -> None:
    for other in (tf.ones([5, 2], tf.int32), digits(tf)[::-1], tf.ones([3, 1], tf.int32)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="Unable to broadcast"):
            run(digits(tf) + other)


def test_sparse_with_gaps_is_not_ragged() -> None:
    sparse = tf.SparseTensor([[0, 1]], [1.0], [1, 2])
    with pytest.raises(tf.errors.InvalidArgumentError, match="not right-ragged"):
        run(Ragged.from_sparse(sparse))


def test_fed_and_fetched() -> None:
    ragged = tf.ragged.placeholder(tf.float32, 2)
    value = tf.ragged.constant_value([[[1.0], []], [[2.0, 3.0]]], np.float32)
    with tf.Session() as session:
        found = session.run({"twice": ragged * 2.0, "rows": ragged.nrows()}, {ragged: value})
        assert found["twice"].to_list() == [[[2.0], []], [[4.0, 6.0]]]
        assert found["rows"] == 2
        assert isinstance(found["twice"], tf.ragged.RaggedTensorValue)
        assert (digits(tf) + 1).eval(session=session).to_list()[0] == [4, 2, 5, 2]
    assert (value.shape, value.ragged_rank, value.dtype) == ((2, None, None), 2, np.float32)
    assert str(value) == "<tf.RaggedTensorValue [[[1.0], []], [[2.0, 3.0]]]>"


def test_values_where_tensors_are_wanted() -> None:
    value = tf.ragged.constant_value([[1, 2], [3]], np.int32)
    assert run(tf.add(value, 1)).to_list() == [[2, 3], [4]]
    assert run(tf.concat([value, digits(tf)], 0)).to_list()[:3] == [[1, 2], [3], [3, 1, 4, 1]]


def test_specs() -> None:
    spec = tf.RaggedTensorSpec([None, None, 2], tf.int32, ragged_rank=1)
    assert spec.is_compatible_with(pairs(tf))
    assert not spec.is_compatible_with(deep(tf))
    assert spec.value_type is Ragged
    assert tf.RaggedTensorSpec.from_value(pairs(tf)) == tf.RaggedTensorSpec(
        [2, None, 2], tf.int32, 1
    )
    with pytest.raises(ValueError, match="ragged_rank must be less than rank"):
        tf.RaggedTensorSpec([None], ragged_rank=1)
    assert tf.nest.flatten(pairs(tf), expand_composites=True)[0].shape.as_list() == [3, 2]


def test_variants() -> None:
    one, rows = deep(tf)._to_variant(), deep(tf)._to_variant(batched_input=True)
    back = Ragged._from_variant(one, tf.float32, 2)
    again = Ragged._from_variant(rows, tf.float32, 2, input_ragged_rank=1)
    found = run([deep(tf), back, again])
    assert found[0].to_list() == found[1].to_list() == found[2].to_list()
    spec = tf.RaggedTensorSpec.from_value(deep(tf))
    again = spec._from_tensor_list(spec._to_batched_tensor_list(deep(tf)))
    assert again.shape.as_list() == [3, None, None]
    assert run(again).to_list() == found[0].to_list()
    assert (spec._unbatch()._batch(3), spec._unbatch()._shape.as_list()) == (spec, [None, None])


def test_loops_carry_them() -> None:
    """Every step makes rows longer, so the shapes change with it."""

    def body(i: Any, x: Any) -> Any:
        return i + 1, tf.concat([x, x[:, :1] + i], axis=1)

    _, x = tf.while_loop(
        lambda i, x: i < 3, body, [0, digits(tf)],
        shape_invariants=[tf.TensorShape([]), tf.RaggedTensorSpec([None, None], tf.int32)],
    )  # fmt: skip
    assert run(x).to_list()[2:] == [[5, 9, 2, 5, 6, 7], [6, 6, 7, 8], []]


def test_compiled_and_with_new_lengths() -> None:
    """The mean of embeddings of bags of words, and its gradient, step after step."""
    bags = tf.ragged.placeholder(tf.int64, 1)
    table = tf.get_variable("table", initializer=np.arange(8, dtype=np.float32).reshape(4, 2))
    rows = tf.ragged.map_flat_values(tf.nn.embedding_lookup, table, bags)
    means = tf.reduce_mean(rows, axis=1)
    slope = tf.convert_to_tensor(tf.gradients(means, table)[0])
    with tf.Session() as session:
        session.run(table.initializer)
        for lists in ([[0, 1], [2]], [[1], [3]], [[0, 1], [2]], [[0, 1, 2], [3, 3]]):
            value = tf.ragged.constant_value(lists, np.int64)
            found, grad = session.run([means, slope], {bags: value})
            wanted = [np.mean([[2 * i, 2 * i + 1] for i in bag], axis=0) for bag in lists]
            np.testing.assert_allclose(found, wanted)
            shares = [sum(bag.count(i) / len(bag) for bag in lists) for i in range(4)]
            np.testing.assert_allclose(grad[:, 0], shares, rtol=1e-6)


def test_map_fn() -> None:
    rows, row = tf.RaggedTensorSpec([None, None], tf.int32), tf.RaggedTensorSpec([None], tf.int32)

    def repeated(x: Any) -> Any:
        return tf.map_fn(lambda _: x, x, fn_output_signature=row)

    x = tf.ragged.constant([[1, 2], [3]])
    y = tf.map_fn(lambda r: r * r, deep(tf))
    slope = tf.gradients(y.flat_values, y.flat_values)[0]
    found = run([
        tf.map_fn(repeated, x, fn_output_signature=rows), tf.map_fn(lambda r: r + 1, x),
        tf.map_fn(tf.reduce_sum, x, dtype=tf.int32), y, slope,
        tf.map_fn(lambda t: t[0][:1] + t[1], (x, tf.constant([10, 20])), dtype=row),
        tf.map_fn(tf.range, tf.constant([2, 0, 1]), dtype=row),
    ])  # fmt: skip
    lists = [v.to_list() if hasattr(v, "to_list") else v.tolist() for v in found]
    assert lists[:3] == [[[[1, 2], [1, 2]], [[3]]], [[2, 3], [4]], [3, 3]]
    assert lists[3] == [[[1.0, 4.0], [9.0]], [], [[16.0], [], [25.0, 36.0, 49.0]]]
    assert lists[5:] == [[[11], [23]], [[0, 1], [], [0]]]
    with pytest.raises(ValueError, match="where its type is a row"):
        tf.map_fn(tf.reduce_sum, x)
    with pytest.raises(ValueError, match="declared ragged rank"):
        tf.map_fn(lambda r: r, x, dtype=rows)


def test_the_shape_of_a_loop_variable_may_be_given_as_a_tensor_shape(sess):
    x = tf.ragged.constant([[1, 2], [3], [4, 5, 6]])
    invariants = [tf.TensorShape([]), tf.TensorShape([None, None])]
    _, grown = tf.while_loop(
        lambda i, _: i < 2, lambda i, r: (i + 1, tf.concat([r, r], 0)), [0, x], invariants
    )
    assert sess.run(grown).to_list() == [[1, 2], [3], [4, 5, 6]] * 4
    with pytest.raises(ValueError, match="shape_invariants"):
        tf.while_loop(lambda i, _: i < 2, lambda i, r: (i + 1, tf.concat([r, r], 0)), [0, x])


def test_slope_of_padded_rows() -> None:
    """Each value has that of its place, and the default that of all the places it fills."""
    values, default = tf.constant([1.0, 2.0, 3.0]), tf.constant(5.0)
    rows = tf.RaggedTensor.from_row_splits(values, [0, 2, 2, 3])
    dense = rows.to_tensor(default)
    assert dense.shape.as_list() == [3, 2]
    slopes = tf.gradients(dense, [values, default], [[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]])
    with tf.Session() as session:
        found, of_values, of_default = session.run([dense, *slopes])
    assert found.tolist() == [[1, 2], [5, 5], [3, 5]]
    assert of_values.tolist() == [1, 2, 5] and of_default == 13


def test_gathering_one_row() -> None:
    words = tf.ragged.constant([["a", "b"], ["c", "d", "e"], []])
    assert run(tf.gather(words, 1)).tolist() == [b"c", b"d", b"e"]
    nested = tf.ragged.constant([[[1], [2, 3]], [[4]]])
    assert run(tf.gather(nested, 0)).to_list() == [[1], [2, 3]]


def test_constant_rows_have_a_static_width() -> None:
    nested = tf.ragged.constant([[[1, 2], [3]], [], [[4]]])
    assert nested.to_tensor().shape.as_list() == [3, 2, 2]
    words = tf.ragged.constant([["a"], []])
    assert words.to_tensor("-").shape.as_list() == [2, 1]
    splits = tf.placeholder_with_default(tf.constant([0, 2, 3], tf.int64), [3])
    rows = tf.RaggedTensor.from_row_splits([1, 2, 3], splits)
    assert rows.to_tensor().shape.as_list() == [2, None]


def test_values_are_known_in_eager_execution() -> None:
    with EagerExecution().as_default():
        rows = tf.ragged.constant([[1], [2, 3], []])
        assert (rows + 1).to_list() == [[2], [3, 4], []]
        assert str(rows) == repr(rows) == "<tf.RaggedTensor [[1], [2, 3], []]>"
        assert [row.numpy().tolist() for row in rows] == [[1], [2, 3], []]
        nested = tf.ragged.constant([[[b"a"], []], []])
        assert [row.to_list() for row in nested] == [[[b"a"], []], []]
        assert rows[-2].numpy().tolist() == [2, 3]
        with pytest.raises(IndexError, match="Row key 3 out of bounds"):
            rows[3]
        with pytest.raises(tf.errors.InvalidArgumentError):
            rows[-4]
