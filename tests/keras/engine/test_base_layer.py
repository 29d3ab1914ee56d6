"""Layers: variables, attributes, masks, the training argument, copies."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.lib.keras.engine import layer_dtype
from weft.lib.keras.engine.base_layer import Layer

keras = tf.keras


class Scale(Layer):
    """Multiplies by one variable."""

    def build(self, input_shape):
        self.factor = self.add_weight("factor", shape=[], initializer="ones")

    def call(self, inputs):
        return inputs * self.factor


def names(variables):
    return [variable.name for variable in variables]


def test_variables_are_named_after_the_layer_and_belong_to_it() -> None:
    first, second = Scale(), Scale()
    a, b = first(tf.ones([2])), second(tf.ones([2]))
    assert (first.name, second.name) == ("scale", "scale_1")
    assert names(first.weights) == ["scale/factor:0"]
    assert (a.name, b.name) == ("scale/mul:0", "scale_1/mul:0")
    assert first(tf.ones([2])).name == "scale_2/mul:0"
    assert first.factor.op.type == "VarHandleOp"


def test_a_layer_of_tf_layers_is_one_of_keras() -> None:
    assert issubclass(tf.layers.Layer, tf.keras.layers.Layer)
    assert issubclass(tf.keras.layers.Layer, tf.Module)
    with pytest.raises(TypeError, match=r"legacy tf\.layers\.Layers"):
        tf.keras.Sequential([tf.layers.Dense(2)])


def test_layers_in_attributes_and_lists_are_inside() -> None:
    class Outer(Layer):
        def __init__(self):
            super().__init__()
            self.one = Scale()
            self.many = [Scale()]
            self.many.append(Scale(name="later"))
            self.named = {"x": Scale(trainable=False)}
            self.own = tf.Variable(1.0, name="own", use_resource=True)

        def call(self, inputs):
            for layer in [self.one, *self.many, *self.named.values()]:
                inputs = layer(inputs)
            return inputs + self.own

    layer = Outer()
    layer(tf.ones([2]))
    assert names(layer.trainable_weights) == [
        "own:0", "outer/scale/factor:0", "outer/scale_1/factor:0", "outer/later/factor:0",
    ]  # fmt: skip
    assert names(layer.non_trainable_weights) == ["outer/scale_2/factor:0"]
    layer.trainable = False
    assert layer.trainable_weights == [] and len(layer.weights) == 5
    assert not layer.one.trainable


def test_a_replaced_attribute_is_forgotten() -> None:
    layer = Layer()
    layer.part = Scale(name="first")
    layer.part = Scale(name="second")
    layer.number = tf.Variable(1.0)
    layer.number = tf.Variable(2.0, name="kept", use_resource=True)
    assert [part.name for part in layer._layers] == ["second"]
    assert names(layer._trainable_weights) == ["kept:0"]
    del layer.part
    assert layer._layers == []
    with pytest.raises(AttributeError, match='Can\'t set the attribute "losses"'):
        layer.losses = 3


def test_layers_appended_to_the_list_are_inside() -> None:
    class Stacked(keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.first = Scale(name="first")
            self._layers.append(Scale(name="second"))

        def call(self, inputs: Any) -> Any:
            for layer in self.layers:
                inputs = layer(inputs)
            return inputs

    model = Stacked()
    model(tf.ones([2]))
    assert [layer.name for layer in model.layers] == ["first", "second"]
    assert len(model.trainable_weights) == 2


def test_weights_are_initialized_when_asked_for() -> None:
    layer = Scale(weights=[np.float32(3.0)])
    y = layer(tf.ones([2]))
    assert layer.get_weights() == [3.0]
    np.testing.assert_array_equal(keras.backend.get_value(y), [3, 3])
    with pytest.raises(ValueError, match="expecting 1 weights"):
        layer.set_weights([])


def test_the_training_argument_is_handed_on() -> None:
    seen = []

    class Inner(Layer):
        def call(self, inputs, training=None):
            seen.append(training)
            return inputs

    class Outer(Layer):
        def __init__(self):
            super().__init__()
            self.inner = Inner()

        def call(self, inputs):
            return self.inner(inputs)

    outer = Outer()
    outer(tf.ones([1]), training=True)
    outer(tf.ones([1]))
    keras.backend.set_learning_phase(1)
    outer(tf.ones([1]))
    assert seen == [True, None, True]


def test_a_condition_on_the_learning_phase_is_part_of_the_graph() -> None:
    class Loud(Layer):
        def call(self, inputs, training=None):
            if training:
                outputs = inputs + 100.0
            else:
                outputs = inputs
            return outputs

    y = Loud()(tf.ones([1]), training=tf.keras.backend.learning_phase())
    with tf.Session() as session:
        assert session.run(y) == [1]
        assert session.run(y, {tf.keras.backend.learning_phase(): True}) == [101]


def test_masks_travel_on_tensors() -> None:
    class Asks(Layer):
        supports_masking = True

        def call(self, inputs, mask=None):
            self.given = mask
            return inputs

    x = tf.keras.Input((3,))
    masked = tf.keras.layers.Masking()(tf.keras.layers.Reshape((3, 1))(x))
    layer = Asks()
    y = layer(masked)
    assert layer.given is masked._keras_mask is y._keras_mask
    assert layer.input_mask is layer.given
    with pytest.raises(TypeError, match="does not support masking"):
        Scale().compute_mask(x, mask=layer.given)


def test_losses_and_updates_depend_on_inputs() -> None:
    class Adds(Layer):
        def build(self, _):
            self.count = self.add_weight("count", [], initializer="zeros", trainable=False)

        def call(self, inputs):
            self.add_loss(tf.reduce_sum(inputs), inputs=True)
            self.add_loss(lambda: tf.constant(2.0))
            self.add_update(tf.assign_add(self.count, tf.reduce_sum(inputs)))
            self.add_update(tf.assign_add(self.count, 1.0))
            return inputs

    a, b = tf.keras.Input((2,)), tf.keras.Input((2,))
    layer = Adds()
    layer(a), layer(b)
    assert [len(layer.get_losses_for(x)) for x in (a, b, None)] == [1, 1, 2]
    assert [len(layer.get_updates_for(x)) for x in (a, b, None)] == [1, 1, 2]
    layer.trainable = False
    assert layer.updates == [] and len(layer.losses) == 4


def test_a_function_may_give_a_number_or_no_loss() -> None:
    layer = Layer()
    for given in (0.5, None):
        layer.add_loss(lambda given=given: given)
    (loss,) = layer.losses
    assert loss.dtype == tf.float32 and layer.get_losses_for(None)
    assert tf.Session().run(loss) == 0.5


@pytest.mark.parametrize("use_resource", [True, False])
def test_losses_of_a_variable(use_resource) -> None:
    class Weighs(Layer):
        def build(self, _):
            self.kernel = self.add_weight("k", [2], use_resource=use_resource)
            self.other = self.add_weight("o", [2])

        def call(self, inputs):
            self.add_loss(tf.reduce_sum(self.kernel), inputs=self.kernel)
            self.add_loss(tf.reduce_sum(inputs), inputs=inputs)
            return inputs * self.kernel

    layer = Weighs()
    x = tf.keras.Input((2,))
    layer(x)
    of_kernel, of_inputs = layer.losses
    assert layer.get_losses_for(layer.kernel) == [of_kernel]
    assert layer.get_losses_for(x) == [of_inputs]
    assert layer.get_losses_for(layer.other) == layer.get_losses_for(None) == []
    if use_resource:
        assert layer.get_losses_for(layer.kernel.handle) == [of_kernel]


def test_shapes_and_tensors_of_calls() -> None:
    layer = tf.keras.layers.Dense(3)
    with pytest.raises(AttributeError, match="never been called"):
        _ = layer.input_shape
    a, b = tf.keras.Input((4,)), tf.keras.Input((4,))
    first, second = layer(a), layer(b)
    assert layer.get_output_at(1) is second and layer.input is a and layer.output is first
    assert layer.output_shape == (None, 3) and layer.get_input_shape_at(1) == (None, 4)
    with pytest.raises(ValueError, match="only 2 inbound nodes"):
        layer.get_input_at(2)
    conv = tf.keras.layers.Conv2D(1, 3)
    conv(tf.keras.Input((8, 8, 1))), conv(tf.keras.Input((9, 9, 1)))
    with pytest.raises(AttributeError, match='notion of "input shape" is ill-defined'):
        _ = conv.input_shape


def test_arguments_and_configuration() -> None:
    with pytest.raises(TypeError, match="Keyword argument not understood"):
        tf.keras.layers.Dense(2, spam=1)
    layer = Scale(name="mine", input_shape=(3,), batch_size=4, dtype="float64")
    assert layer.get_config() == {
        "name": "mine", "trainable": True, "batch_input_shape": (4, 3), "dtype": "float64",
    }  # fmt: skip

    class Needs(Layer):
        def __init__(self, size, **kwargs):
            super().__init__(**kwargs)

    with pytest.raises(NotImplementedError, match="must override `get_config`"):
        Needs(3).get_config()
    with pytest.raises(TypeError, match="must be an instance of InputSpec"):
        layer.input_spec = (3,)
    with pytest.raises(ValueError, match="not None"):
        type("Nothing", (Layer,), {"call": lambda self, x: None})()(tf.ones([1]))


def test_types_follow_the_first_input() -> None:
    layer = Scale()
    assert layer.dtype is None
    assert layer(tf.ones([2], tf.float64)).dtype == tf.float64
    assert layer.dtype == "float64"


def test_copies_share_variables() -> None:
    layer = Scale()
    layer(tf.ones([2]))
    assert copy.deepcopy(layer).factor is layer.factor


def test_a_layer_that_casts_its_inputs_says_so_once(caplog) -> None:
    previous = layer_dtype.v2_dtype_behavior_enabled()
    layer_dtype.enable_v2_dtype_behavior()
    try:
        layer, chosen = tf.keras.layers.Flatten(), tf.keras.layers.Flatten(dtype="float32")
        keeps = Layer(autocast=False)
    finally:
        if not previous:
            layer_dtype.disable_v2_dtype_behavior()
    doubles = tf.ones([2, 2], tf.float64)
    assert layer(doubles).dtype == layer(doubles).dtype == chosen(doubles).dtype == tf.float32
    assert caplog.text.count("is casting an input tensor from dtype float64") == 1
    assert keeps(doubles).dtype == tf.float64
    layer.call = lambda x: x
    ragged = layer(tf.ragged.constant([[1.0, 2.0], [3.0]], dtype=tf.float64))
    assert ragged.dtype == tf.float32 and ragged.ragged_rank == 1


def test_variables_appended_to_a_list_are_weights() -> None:
    class Sums(Layer):
        def __init__(self) -> None:
            super().__init__()
            self.terms: list = []
            self.more: dict = {}

        def build(self, input_shape):
            for i in range(2):
                self.terms.append(tf.Variable(float(i), name="term"))
            self.more["fixed"] = tf.Variable(3.0, trainable=False)
            self.assigned = tf.Variable(1.0, use_resource=True).assign_add(1.0)

        def call(self, inputs):
            return inputs + self.terms[0] + self.terms[1] + self.more["fixed"]

    model = keras.Sequential([Sums()])
    model.build((None, 2))
    assert len(model.trainable_weights) == 2 and len(model.non_trainable_weights) == 1
    np.testing.assert_array_equal(model.predict(np.zeros((1, 2))), [[4, 4]])


class Inside(Layer):
    """Has layers of `tf.layers` in each place where there can be one."""

    def __init__(self, make: Any) -> None:
        super().__init__()
        self.make = make
        self.alone, self.listed, self.paired, self.later = make(), [[make()]], (make(),), []
        self.named = {"a": make()}

    def build(self, input_shape):
        self.later.append(self.make())

    def call(self, inputs):
        layers = self.alone, self.listed[0][0], self.named["a"], self.later[0], self.paired[0]
        return [layer(inputs) for layer in layers]


def test_layers_of_tf_layers_in_a_layer_make_resource_variables() -> None:
    layer = Inside(lambda: tf.layers.Dense(1, use_bias=False))
    layer(tf.ones([1, 2]))
    types = [variable.op.type for variable in tf.global_variables()]
    assert types == ["VarHandleOp"] * 4 + ["VariableV2"]
    tf.layers.dense(tf.ones([1, 2]), 1, use_bias=False)
    assert tf.global_variables()[-1].op.type == "VariableV2"


def test_a_cell_of_a_layer_is_trained_by_an_optimizer_of_keras() -> None:
    class Last(Layer):
        def build(self, input_shape):
            self.cell = tf.nn.rnn_cell.GRUCell(3)
            super().build(input_shape)

        def call(self, inputs):
            return tf.nn.dynamic_rnn(self.cell, inputs, dtype=tf.float32)[1]

    model = keras.Sequential([Last(input_shape=(4, 2)), keras.layers.Dense(1)])
    model.compile("adam", "mse")
    before = model.get_weights()
    model.fit(np.ones((8, 4, 2), "f"), np.ones((8, 1), "f"), verbose=0)
    assert all(np.any(old != new) for old, new in zip(before, model.get_weights(), strict=True))


def test_layers_in_tuples_are_nobodys_but_variables_in_them_are_the_layers() -> None:
    layer = Layer()
    layer.pair = tf.Variable(1.0, name="a"), keras.layers.Dense(1)
    layer.listed = [(tf.Variable(1.0, name="b"), keras.layers.Dense(1))]
    layer.later = []
    layer.later.append((tf.Variable(1.0, name="c"),))
    for dense in layer.pair[1], layer.listed[0][1]:
        dense(tf.ones([1, 2]))
    assert names(layer.weights) == ["a:0", "b:0"] and layer._layers == []
