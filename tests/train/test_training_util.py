"""The global step."""

from __future__ import annotations

import pytest

import weft as tf


def test_create_once():
    assert tf.train.get_global_step() is None
    step = tf.train.create_global_step()
    assert step.name == "global_step:0" and step.dtype.base_dtype == tf.int64
    assert tf.train.get_global_step() is step is tf.train.get_or_create_global_step()
    assert not step.trainable and tf.get_collection(tf.GraphKeys.GLOBAL_STEP) == [step]
    with pytest.raises(ValueError, match="already exists"):
        tf.train.create_global_step()


def test_any_integer_scalar_of_that_name_will_do():
    v = tf.Variable(0, name="global_step", trainable=False)
    assert tf.train.get_global_step() is v._ref()


def test_in_another_graph():
    graph = tf.Graph()
    step = tf.train.get_or_create_global_step(graph)
    assert step.graph is graph and tf.train.get_global_step() is None


@pytest.mark.parametrize(
    ("value", "message"),
    [(1.0, "does not have integer type"), ([1], "is not scalar")],
)
def test_wrong_steps(value, message):
    with pytest.raises(TypeError, match=message):
        tf.train.assert_global_step(tf.Variable(value))
    with pytest.raises(TypeError, match="must be a Variable or Tensor"):
        tf.train.assert_global_step(3)
