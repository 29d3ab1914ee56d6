"""Policies, variables that are read in another type, and loss scales."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from weft.lib.keras import backend as K
from weft.lib.keras import optimizers
from weft.lib.keras.engine import layer_dtype
from weft.lib.keras.engine.base_layer import Layer
from weft.lib.keras.engine.call_context import call_context
from weft.lib.keras.mixed_precision import policy
from weft.lib.keras.mixed_precision.autocast_variable import AutoCastVariable
from weft.lib.keras.mixed_precision.loss_scale_optimizer import LossScaleOptimizer
from weft.lib.keras.mixed_precision.policy import Policy


class Product(Layer):
    def build(self, input_shape):
        self.w = self.add_weight("w", shape=(3, 2), initializer="ones")

    def call(self, inputs):
        self.seen = self.w.dtype
        return tf.matmul(inputs, self.w)


@pytest.mark.parametrize(
    ("name", "compute", "variables"),
    [
        ("float16", "float16", "float16"),
        ("mixed_float16", "float16", "float32"),
        ("mixed_bfloat16", "bfloat16", "float32"),
        ("float16_with_float32_vars", "float16", "float32"),
        ("infer", None, None),
        ("infer_float32_vars", None, "float32"),
    ],
)
def test_names_of_policies(name, compute, variables) -> None:
    made = Policy(name)
    assert (made.compute_dtype, made.variable_dtype) == (compute, variables)
    assert made.should_cast_variables == (compute != variables)
    assert (made.loss_scale is not None) == (name == "mixed_float16")


def test_policies_that_are_none() -> None:
    with pytest.raises(ValueError, match="Cannot convert value abc to a mixed precision Policy"):
        Policy("abc")
    with pytest.raises(TypeError, match="'name' must be a string, not a DType"):
        Policy(tf.float16)
    with pytest.raises(ValueError, match="can only be set to a non-infer policy"):
        policy.set_policy("mixed_float16")
    assert policy.global_policy().name == "infer"
    with policy.policy_scope("infer_with_float32_vars"):
        assert policy.global_policy().name == "infer_with_float32_vars"
    assert policy.global_policy().name == "infer"


def test_a_layer_computes_in_half_and_keeps_full() -> None:
    layer = Product(dtype=Policy("mixed_float16"))
    y = layer(tf.ones((4, 3), tf.float16))
    assert y.dtype == layer.seen == tf.float16
    assert layer.w.dtype == layer.w.true_dtype == tf.float32
    assert "AutoCastVariable 'product/w:0' shape=(3, 2) dtype=float32" in repr(layer.w)
    assert K.get_value(y).tolist() == [[3.0, 3.0]] * 4
    (grad,) = tf.gradients(y, layer.trainable_weights)
    assert grad.dtype == tf.float32


def test_assignments_are_in_the_true_type() -> None:
    layer = Product(dtype=Policy("mixed_float16"))
    layer(tf.ones((4, 3), tf.float16))
    with call_context().enter(layer, [], None):
        assert layer.w.dtype == tf.float16
        assert tf.convert_to_tensor(layer.w).dtype == tf.float16
        assert layer.w.sparse_read([0]).dtype == tf.float16
        grown = layer.w.assign_add(tf.ones((3, 2)))
    assert K.get_value(tf.convert_to_tensor(grown)).tolist() == [[2.0, 2.0]] * 3
    with pytest.raises(ValueError, match="must be a floating point variable"):
        AutoCastVariable(K.variable(1, dtype="int32"))


def test_gradients_of_a_scaled_loss() -> None:
    v = K.variable([1.0, 2.0])
    optimizer = LossScaleOptimizer(optimizers.SGD(0.25), 8)
    (update,) = optimizer.get_updates(K.sum(K.square(v)), [v])
    K.get_session().run(update)
    assert K.get_value(v).tolist() == [0.5, 1.0]
    assert K.get_value(optimizer.iterations) == 1
    optimizer.lr = 0.5
    assert K.get_value(optimizer.learning_rate) == 0.5


def test_steps_with_infinite_gradients_are_left_out() -> None:
    v = K.variable([1.0, 2.0])
    factor = K.placeholder(())
    optimizer = LossScaleOptimizer(optimizers.SGD(0.25), "dynamic")
    (update,) = optimizer.get_updates(K.sum(v * factor), [v])
    session = K.get_session()
    session.run(update, {factor: np.inf})
    assert K.get_value(v).tolist() == [1.0, 2.0]
    assert session.run(optimizer.loss_scale()) == 2.0**14
    session.run(update, {factor: 2.0})
    assert K.get_value(v).tolist() == [0.5, 1.5]
    assert len(optimizer.weights) == 1


def test_what_cannot_be_wrapped() -> None:
    with pytest.raises(ValueError, match='"opt" must be an instance of OptimizerV2'):
        LossScaleOptimizer(tf.train.AdamOptimizer(), 2)
    with pytest.raises(ValueError, match="does not support wrapping optimizers with a clipnorm"):
        LossScaleOptimizer(optimizers.SGD(clipnorm=1.0), 2)


def test_the_other_way_to_turn_it_on_wraps_optimizers_of_keras() -> None:
    enable = tf.train.experimental.enable_mixed_precision_graph_rewrite
    try:
        wrapped = enable(optimizers.SGD(), loss_scale=4)
        assert isinstance(wrapped, LossScaleOptimizer)
        with pytest.raises(ValueError, match="must not already be an instance of a LossScaleOpt"):
            enable(wrapped)
        with pytest.raises(ValueError, match="graph rewrite has already been enabled"):
            policy.set_policy("infer_with_float32_vars")
    finally:
        tf.train.experimental.disable_mixed_precision_graph_rewrite()


def test_a_policy_with_a_loss_scale_wants_an_optimizer_of_keras(caplog) -> None:
    K.clear_session()
    previous = layer_dtype.v2_dtype_behavior_enabled()
    layer_dtype.enable_v2_dtype_behavior()
    try:
        with policy.policy_scope(Policy("float32", loss_scale=10.0)):
            model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(1,))])
        with pytest.raises(ValueError, match='"optimizer" must be an instance of tf'):
            model.compile(tf.train.GradientDescentOptimizer(1.0), "mse")
        with pytest.raises(ValueError, match="can only pass a single optimizer"):
            model.compile(["sgd", "sgd"], "mse")
        model.compile("sgd", "mse")
        assert isinstance(model.optimizer, LossScaleOptimizer)
        model.compile(LossScaleOptimizer(optimizers.SGD(0.1), 2.0), "mse")
        assert "is not the same as the dtype policy's loss scale" in caplog.text
    finally:
        if not previous:
            layer_dtype.disable_v2_dtype_behavior()


def test_gradients_of_what_is_read_in_another_type() -> None:
    layer = Product(dtype=Policy("infer_float32_vars"))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(layer(tf.ones([1, 3], tf.float16)))
    assert isinstance(layer.w, AutoCastVariable)
    np.testing.assert_array_equal(K.get_value(tape.gradient(loss, layer.w)), np.ones((3, 2)))


def test_a_loss_scale_in_a_checkpoint(tmp_path) -> None:
    optimizer = LossScaleOptimizer(optimizers.SGD(0.25), "dynamic")
    checkpoint = tf.train.Checkpoint(optimizer=optimizer)
    with K.get_session().as_default() as session:
        session.run(tf.global_variables_initializer())
        path = checkpoint.save(str(tmp_path / "saved"))
    assert any("loss_scale" in name for name, _ in tf.train.list_variables(path))
