"""`tf.enable_v2_behavior()` and its parts: what TensorFlow 1.15 has of TensorFlow 2's behavior."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import weft as tf
from weft.graph import stacks
from weft.legacy.internals import tf2


@pytest.fixture
def v2() -> Iterator[None]:
    waiting, stacks.graphs.items = stacks.graphs.items, []
    try:
        tf.enable_v2_behavior()
        yield
    finally:
        tf.disable_v2_behavior()
        stacks.graphs.items = waiting


def test_all_is_on(v2: None) -> None:
    assert tf.executing_eagerly() and tf.resource_variables_enabled()
    assert tf.control_flow_v2_enabled() and tf2.enabled()


def test_all_is_off_again() -> None:
    tf.disable_v2_behavior()
    assert not tf.executing_eagerly() and not tf.resource_variables_enabled()
    assert not tf.control_flow_v2_enabled() and not tf2.enabled()
    assert tf.constant(1) != tf.constant(1)
    assert isinstance(tf.TensorShape([2])[0], tf.Dimension)


def test_tensors_are_compared_by_value(v2: None) -> None:
    x = tf.constant([1, 2])
    assert (x == tf.constant([1, 3])).numpy().tolist() == [True, False]
    assert (x != [1, 3]).numpy().tolist() == [False, True]
    assert tf.function(lambda x: x == 2)(x).numpy().tolist() == [False, True]
    with pytest.raises(tf.errors.InvalidArgumentError):
        _ = x == tf.constant([1, 2, 3])


def test_numbers_beside_tensors(v2: None) -> None:
    x = tf.constant(3, tf.int16)
    assert [(x + 1).numpy(), (1 - x).numpy(), tf.equal(x, 0).numpy()] == [4, -2, False]


def test_variables_are_compared_by_value(v2: None) -> None:
    v = tf.Variable([1.0, 2.0])
    assert (v == [1.0, 0.0]).numpy().tolist() == [True, False]
    assert (v != 2.0).numpy().tolist() == [True, False]


def test_tensors_of_a_graph_are_compared_by_identity(v2: None) -> None:
    with tf.Graph().as_default():
        x, v = tf.constant(1), tf.Variable(1)
        assert x == x and x != tf.constant(1)
        assert v == v and v != tf.Variable(1)


def test_equality_without_eager_execution_is_identity() -> None:
    tf.enable_tensor_equality()
    try:
        assert tf.constant(1) != tf.constant(1)
    finally:
        tf.disable_tensor_equality()


def test_a_tensor_is_a_key_by_identity(v2: None) -> None:
    x, y = tf.constant(1), tf.constant(1)
    assert {x: "x", y: "y"}[x] == "x" and len({x, y}) == 2


def test_sizes_are_numbers() -> None:
    shape = tf.TensorShape([None, 3])
    assert str(shape) == "(?, 3)" and isinstance(next(iter(shape)), tf.Dimension)
    tf.enable_v2_tensorshape()
    try:
        assert list(shape) == [None, 3] and shape[1] == 3 and shape[0] is None
        assert str(shape) == "(None, 3)" and repr(shape.dims[1]) == "Dimension(3)"
        assert tf.TensorShape(None)[0] is None and shape[1:] == tf.TensorShape([3])
    finally:
        tf.disable_v2_tensorshape()
