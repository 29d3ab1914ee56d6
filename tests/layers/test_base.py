"""Names, sharing and bookkeeping of layers."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import weft as tf


class Scale(tf.layers.Layer):
    """Multiplies by one variable."""

    def build(self, input_shape):
        self.factor = self.add_weight("factor", shape=[], initializer=tf.ones_initializer())
        super().build(input_shape)

    def call(self, inputs):
        return inputs * self.factor


def names(variables):
    return [variable.op.name for variable in variables]


def test_layers_of_one_class_get_different_scopes() -> None:
    x = tf.ones([2, 3])
    first, second = Scale(), Scale()
    first(x), second(x)
    assert names(tf.global_variables()) == ["scale/factor", "scale_1/factor"]
    assert (first.name, second.name) == ("scale_1", "scale_2")
    assert (first.scope_name, second.scope_name) == ("scale", "scale_1")


def test_a_layer_shares_its_variables_between_calls() -> None:
    layer = Scale(name="mine")
    a, b = layer(tf.ones([2])), layer(tf.ones([3]))
    assert names(tf.global_variables()) == ["mine/factor"]
    assert a.op.name == "mine/mul"
    assert b.op.name == "mine_1/mul" or b.op.name == "mine/mul_1"
    assert layer.trainable_weights == tf.trainable_variables()


def test_layers_live_in_the_scope_of_their_first_call() -> None:
    layer = Scale()
    with tf.variable_scope("outer"):
        layer(tf.ones([2]))
    layer(tf.ones([2]))
    assert names(layer.variables) == ["outer/scale/factor"]


def test_reuse_by_name() -> None:
    tf.layers.dense(tf.ones([2, 3]), 4, name="d")
    tf.layers.dense(tf.ones([2, 3]), 4, name="d", reuse=True)
    assert names(tf.global_variables()) == ["d/kernel", "d/bias"]
    with pytest.raises(ValueError, match="already exists"):
        tf.layers.dense(tf.ones([2, 3]), 4, name="d")


def test_dtype_comes_from_the_first_input() -> None:
    layer = Scale()
    assert layer.dtype is None
    layer(tf.ones([2], tf.float64))
    assert layer.dtype == "float64"
    assert layer.factor.dtype.base_dtype == tf.float64


def test_regularization_is_collected_once() -> None:
    layer = tf.layers.Dense(2, kernel_regularizer=tf.nn.l2_loss)
    layer(tf.ones([1, 3]))
    layer(tf.ones([1, 3]))
    losses = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    assert [loss.op.name for loss in losses] == ["dense/kernel/Regularizer/L2Loss"]
    assert len(layer.losses) == 1


def test_activity_losses_depend_on_the_inputs() -> None:
    x = tf.ones([4, 3])
    layer = tf.layers.Dense(2, activity_regularizer=tf.reduce_sum)
    layer(x)
    assert len(layer.get_losses_for(x)) == 1
    assert layer.get_losses_for(None) == []


def test_updates_reach_the_collection() -> None:
    class Counting(tf.layers.Layer):
        def build(self, _):
            self.count = self.add_weight(
                "count", shape=[], initializer=tf.zeros_initializer(), trainable=False
            )

        def call(self, inputs):
            self.add_update(tf.assign_add(self.count, tf.reduce_sum(inputs)))
            self.add_update(tf.assign_add(self.count, 1.0))
            return inputs

    x = tf.ones([2])
    layer = Counting()
    layer(x)
    assert len(tf.get_collection(tf.GraphKeys.UPDATE_OPS)) == 2
    assert [len(layer.get_updates_for(i)) for i in (x, None)] == [1, 1]
    assert names(layer.non_trainable_variables) == ["counting/count"]
    layer.trainable = False
    assert layer.updates == []


def test_untrainable_layers() -> None:
    layer = tf.layers.Dense(2, trainable=False)
    layer(tf.ones([1, 3]))
    assert tf.trainable_variables() == []
    assert layer.trainable_weights == []
    assert len(layer.weights) == 2


def test_weights_are_read_and_set_in_a_session() -> None:
    layer = tf.layers.Dense(2)
    y = layer(tf.ones([1, 3]))
    with tf.Session():
        tf.global_variables_initializer().run()
        layer.set_weights([np.ones((3, 2)), np.array([1, 2])])
        np.testing.assert_allclose(y.eval(), [[4, 5]])
        assert layer.count_params() == 8
        with pytest.raises(ValueError, match="expecting 2 weights"):
            layer.set_weights([np.ones((3, 2))])


def test_inputs_are_checked() -> None:
    layer = tf.layers.Dense(2)
    with pytest.raises(ValueError, match="expected min_ndim=2, found ndim=1"):
        layer(tf.ones([3]))
    layer(tf.ones([1, 3]))
    with pytest.raises(ValueError, match="expected axis -1 of input shape to have value 3"):
        layer(tf.ones([1, 4]))


def test_copies_share_variables() -> None:
    layer = tf.layers.Dense(2)
    layer(tf.ones([1, 3]))
    assert copy.deepcopy(layer).kernel is layer.kernel
    fresh = copy.deepcopy(tf.layers.Dense(2))
    fresh(tf.ones([1, 3]))
    assert names(fresh.variables) == ["dense_1/kernel", "dense_1/bias"]


def test_config_round_trip() -> None:
    layer = tf.layers.Dense(3, activation=tf.nn.relu, kernel_initializer=tf.ones_initializer())
    made = tf.layers.Dense.from_config(layer.get_config())
    assert made.units == 3
    assert made.activation.__name__ == layer.activation.__name__ == "relu"
    assert type(made.kernel_initializer) is type(layer.kernel_initializer)


def test_lesser_members() -> None:
    class Outer(tf.layers.Layer):
        def __init__(self):
            super().__init__(name="outer")
            self.parts = [tf.layers.Dense(2), tf.layers.Dropout()]

        @tf.layers.Layer.with_name_scope
        def twice(self, x):
            return tf.multiply(x, 2.0)

    layer = Outer()
    assert layer.submodules == tuple(layer.parts)
    assert layer.twice(tf.constant(1.0)).op.name == "outer/Mul"
    assert layer.metrics == [] and not layer.dynamic and layer.input_spec is None
    spec = tf.layers.Dense(3).compute_output_signature(tf.TensorSpec([4, 2], tf.float32))
    assert spec == tf.TensorSpec([4, 3], tf.float32)
