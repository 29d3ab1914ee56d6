"""tf.contrib.framework: shapes that are checked, Python functions of structures, zeros."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf

FRAMEWORK = tf.contrib.framework


def test_a_shape_that_is_known_is_compared_at_once() -> None:
    pair = tf.constant([1, 2], name="pair")
    assert FRAMEWORK.with_shape([2], pair) is pair
    assert FRAMEWORK.with_same_shape(tf.zeros([2]), pair) is pair
    with pytest.raises(ValueError, match=r"Invalid shape for tensor pair:0, expected \[3\], got"):
        FRAMEWORK.with_shape([3], pair)
    assert FRAMEWORK.with_shape([], tf.constant([7])).shape.as_list() == []


@pytest.mark.parametrize(
    ("shape", "message"),
    [([[2]], "Invalid rank 2 for shape"), ([0.5], "Invalid dtype float64 for shape")],
)
def test_no_shape_at_all(shape: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        FRAMEWORK.with_shape(shape, tf.constant([1, 2]))


def test_a_shape_that_is_not_known_is_compared_when_it_is() -> None:
    rows = tf.placeholder(tf.float32, [None, 2])
    checked = FRAMEWORK.with_shape([3, 2], rows)
    assert checked.shape.as_list() == [3, 2]
    with tf.Session() as session:
        assert session.run(checked, {rows: np.ones([3, 2])}).shape == (3, 2)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Wrong shape for Placeholder:0"):
            session.run(checked, {rows: np.ones([4, 2])})


def test_sums_placeholders_and_ranks() -> None:
    a, b = tf.constant([1.0, 2.0]), tf.constant([[3.0]])
    total = FRAMEWORK.reduce_sum_n([a, b])
    fed = tf.placeholder(tf.float32)
    assert FRAMEWORK.get_placeholders(tf.get_default_graph()) == [fed]
    predictions, labels = FRAMEWORK.remove_squeezable_dimensions(tf.ones([3, 1]), tf.ones([3]))
    assert predictions.shape.as_list() == labels.shape.as_list() == [3]
    with tf.Session() as session:
        assert session.run(total) == 6
    with pytest.raises(ValueError, match="Expected scalar shape for"):
        FRAMEWORK.assert_scalar_int(tf.constant([1]))
    with pytest.raises(ValueError, match="Expected integer type for"):
        FRAMEWORK.assert_scalar_int(tf.constant(1.0))


def test_a_python_function_of_structures() -> None:
    def mixed(pair: Any, scale: Any) -> Any:
        return {"sum": (pair[0] + pair[1]) * scale, "first": pair[0]}

    types = {"sum": tf.float32, "first": tf.float32}
    shapes = {"sum": [2], "first": [2]}
    pair = (tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0]))
    made = FRAMEWORK.py_func(mixed, [pair], {"scale": tf.constant(2.0)}, types, shapes)
    assert made["sum"].shape.as_list() == [2]
    with tf.Session() as session:
        found = session.run(made)
    np.testing.assert_array_equal(found["sum"], [8, 12])
    np.testing.assert_array_equal(found["first"], [1, 2])
    with pytest.raises(TypeError, match="args must be list and not"):
        FRAMEWORK.py_func(mixed, pair[0], {}, types)


@pytest.mark.parametrize("use_resource", [False, True])
def test_zeros_for_a_variable_that_has_no_value(use_resource: bool) -> None:
    variable = tf.Variable(tf.ones([2]), use_resource=use_resource)
    zeros = FRAMEWORK.zero_initializer(variable)
    with tf.Session() as session:
        session.run(zeros.op)
        assert session.run(variable).tolist() == [0, 0]
        with pytest.raises(tf.errors.InvalidArgumentError, match="input is already initialized"):
            session.run(zeros.op)


def test_rows_of_a_checkpoint_for_another_vocabulary(tmp_path: Any) -> None:
    old, new = tmp_path / "old.txt", tmp_path / "new.txt"
    old.write_text("a\nb\nc\n")
    new.write_text("c\nx\na\n")
    bias = tf.Variable(np.float32([[1], [2], [3]]), name="bias")
    with tf.Session() as session:
        session.run(bias.initializer)
        path = tf.train.Saver([bias]).save(session, str(tmp_path / "model"))
        load = FRAMEWORK.load_linear_multiclass_bias_initializer(
            path, "bias", 3, str(old), str(new), num_class_oov_buckets=1
        )
        slot = FRAMEWORK.load_variable_slot_initializer(
            path, "bias", None, 3, 1, str(old), str(new), initializer=tf.zeros_initializer()
        )
        loaded = session.run([load([4, 1], tf.float32), slot([3, 1], tf.float32)])
    assert [rows.ravel().tolist() for rows in loaded] == [[3, 0, 1, 0], [3, 0, 1]]
