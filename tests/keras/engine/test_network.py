"""Models as graphs of layers, as stacks, and as subclasses."""

from __future__ import annotations

import json

import numpy as np
import pytest

import weft as tf
from weft.lib.keras.engine import network_shapes
from weft.lib.keras.models import clone_and_build_model, in_place_subclassed_model_state_restoration

keras = tf.keras

layers = keras.layers


def small() -> tf.keras.Model:
    x = keras.Input((3,))
    return keras.Model(x, layers.Dense(2)(layers.Dense(4, activation="relu")(x)))


def test_inputs_and_outputs_are_checked() -> None:
    x = keras.Input((3,))
    y = layers.Dense(2)(x)
    with pytest.raises(ValueError, match=r"must come from `tf\.keras\.Input`"):
        keras.Model(tf.ones([2, 3]), y)
    with pytest.raises(ValueError, match="is redundant"):
        keras.Model([x, x], y)
    with pytest.raises(ValueError, match="Graph disconnected"):
        keras.Model(keras.Input((3,)), y)
    with pytest.raises(TypeError, match="Functional models may only specify"):
        keras.Model(x, y, dtype="float32")
    twice = layers.Dense(2, name="d")(layers.Dense(3, name="d")(x))
    with pytest.raises(ValueError, match='The name "d" is used 2 times'):
        keras.Model(x, twice)
    with pytest.raises(ValueError, match="No such layer"):
        keras.Model(x, y).get_layer("nothing")
    with pytest.raises(ValueError, match="Please provide to Input either a `shape`"):
        keras.Input()


def test_names_of_inputs() -> None:
    assert keras.Input((2,)).op.name == "input_1"
    assert keras.Input((2,)).op.name == "input_2"
    assert keras.Input(batch_shape=(4, 2), name="mine").shape.as_list() == [4, 2]
    constant = tf.ones([5, 2])
    wrapped = keras.Input(tensor=constant)
    assert wrapped is constant
    model = keras.Model(wrapped, layers.Lambda(lambda t: t * 2.0)(wrapped))
    np.testing.assert_array_equal(model.predict(None, steps=1), np.full((5, 2), 2.0))


def test_structures_of_inputs_and_outputs() -> None:
    inputs = {"a": keras.Input((2,), name="a"), "b": keras.Input((2,), name="b")}
    total = layers.add([inputs["a"], inputs["b"]])
    model = keras.Model(inputs, {"sum": total, "twice": layers.Lambda(lambda t: 2.0 * t)(total)})
    called = model({"a": tf.ones([1, 2]), "b": tf.ones([1, 2])})
    assert sorted(called) == ["sum", "twice"]
    np.testing.assert_array_equal(keras.backend.get_value(called["twice"]), [[4, 4]])


def test_shapes_without_operations() -> None:
    model = small()
    count = len(tf.get_default_graph().get_operations())
    assert model.compute_output_shape((7, 3)).as_list() == [7, 2]
    assert len(tf.get_default_graph().get_operations()) == count
    converted = network_shapes.as_tuples([(1, None), [2, 3]])
    assert converted == [(1, None), (2, 3)]


def test_a_model_in_a_model_shares_its_weights() -> None:
    inner = small()
    x = keras.Input((3,))
    outer = keras.Model(x, layers.Lambda(lambda t: t + 1.0)(inner(x)))
    data = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_allclose(outer.predict(data), inner.predict(data) + 1, rtol=1e-6)
    assert outer.weights == inner.weights
    assert inner(x).op.name.startswith("model_1/") or inner(x).op.name.startswith("model")


def test_json_and_yaml_round_trips() -> None:
    model = small()
    config = json.loads(model.to_json())
    assert (config["class_name"], config["keras_version"]) == ("Model", "2.2.4-tf")
    made = keras.models.model_from_json(model.to_json())
    made.set_weights(model.get_weights())
    data = np.ones((2, 3), np.float32)
    np.testing.assert_array_equal(made.predict(data), model.predict(data))


def test_operations_between_layers_are_layers_in_the_configuration() -> None:
    x = keras.Input((3,))
    y = layers.Dense(2)(tf.square(x) + 1.0)
    model = keras.Model(x, y)
    assert [type(layer).__name__ for layer in model.layers] == [
        "InputLayer", "TensorFlowOpLayer", "TensorFlowOpLayer", "Dense",
    ]  # fmt: skip
    made = keras.Model.from_config(model.get_config())
    made.set_weights(model.get_weights())
    data = np.ones((2, 3), np.float32)
    np.testing.assert_array_equal(made.predict(data), model.predict(data))


def test_sequential_grows_and_shrinks() -> None:
    model = keras.Sequential([layers.Dense(4, input_shape=(3,)), layers.Dense(2)])
    assert model.output_shape == (None, 2) and len(model.weights) == 4
    model.pop()
    assert model.output_shape == (None, 4)
    model.pop()
    assert not model.built
    with pytest.raises(TypeError, match="no layers in the model"):
        model.pop()
    with pytest.raises(TypeError, match="must be an instance of class Layer"):
        model.add(3)
    with pytest.raises(ValueError, match="must provide an `input_shape`"):
        keras.Sequential([layers.Dense(2)]).build()


def test_a_stack_without_a_shape_is_built_later() -> None:
    model = keras.Sequential([layers.Dense(4), layers.Dense(2)])
    with pytest.raises(ValueError, match="has not yet been built"):
        model.summary()
    model.build((None, 3))
    assert model.weights[0].name == "dense/kernel:0"
    made = keras.Sequential.from_config(model.get_config())
    assert made.built and len(made.weights) == 4
    assert len(keras.models.model_from_json(model.to_json()).weights) == 4


def test_subclasses_have_to_start_with_the_constructor() -> None:
    class Forgetful(keras.Model):
        def __init__(self):
            self.layer = layers.Dense(2)

    with pytest.raises(RuntimeError, match="forgot to call"):
        Forgetful()
    with pytest.raises(NotImplementedError, match="should implement a `call` method"):
        keras.Model()(tf.ones([1, 2]))


def test_a_subclass_is_built_from_a_shape() -> None:
    class Mine(keras.Model):
        def __init__(self):
            super().__init__()
            self.blocks = [layers.Dense(3), layers.Dense(2)]
            self.scale = tf.Variable(2.0, use_resource=True)

        def call(self, inputs):
            for block in self.blocks:
                inputs = block(inputs)
            return inputs * self.scale

    model = Mine()
    model.build((None, 4))
    assert len(model.weights) == 5 and model.weights[-1] is model.scale
    assert model.layers == model.blocks
    with pytest.raises(NotImplementedError):
        model.get_config()


def test_clones_have_weights_of_their_own() -> None:
    model = small()
    clone = keras.models.clone_model(model)
    assert not set(map(id, clone.weights)) & set(map(id, model.weights))
    shared = keras.models.clone_model(model, clone_function=lambda layer: layer)
    assert shared.weights == model.weights
    stack = keras.Sequential([layers.Dense(2, input_shape=(3,))])
    other = keras.models.clone_model(stack, input_tensors=tf.ones([2, 3]))
    assert other.predict(None, steps=1).shape == (2, 2)


def test_a_compiled_copy_trains_alone() -> None:
    model = small()
    model.compile("sgd", "mse", metrics=["mae"])
    clone = clone_and_build_model(model)
    assert clone.metrics_names == model.metrics_names
    before = model.get_weights()[0]
    clone.train_on_batch(np.ones((2, 3)), np.ones((2, 2)))
    np.testing.assert_array_equal(model.get_weights()[0], before)


def test_a_subclass_is_reset_in_place_and_restored() -> None:
    class Mine(keras.Model):
        def __init__(self):
            super().__init__()
            self.layer = layers.Dense(2)

        def call(self, inputs):
            return self.layer(inputs)

    model = Mine()
    model.compile("sgd", "mse")
    model.train_on_batch(np.ones((2, 3)), np.ones((2, 2)))
    layer = model.layer
    with pytest.raises(ValueError, match="cannot be cloned"):
        clone_and_build_model(model)
    clone = clone_and_build_model(model, input_tensors=tf.ones([2, 3]), in_place_reset=True)
    assert clone is model and model.layer is not layer
    in_place_subclassed_model_state_restoration(model)
    assert model.layer is layer
    model.train_on_batch(np.ones((2, 3)), np.ones((2, 2)))


def test_weights_may_be_loaded_before_there_are_variables(tmp_path) -> None:
    class Mine(keras.Model):
        def __init__(self):
            super().__init__()
            self.layer = layers.Dense(2)

        def call(self, inputs):
            return self.layer(inputs)

    data = np.ones((2, 3), np.float32)
    first, second = Mine(), Mine()
    expected = first.predict(data)
    first.save_weights(str(tmp_path / "weights"))
    second.load_weights(str(tmp_path / "weights"))
    np.testing.assert_array_equal(second.predict(data), expected)


def test_losses_and_metrics_of_a_model_are_part_of_its_configuration() -> None:
    x = keras.Input((3,))
    y = layers.Dense(2)(x)
    model = keras.Model(x, y)
    model.add_loss(tf.reduce_mean(y))
    model.add_metric(tf.reduce_sum(y), name="total", aggregation="mean")
    for made in (keras.Model.from_config(model.get_config()), keras.models.clone_model(model)):
        assert len(made.losses) == 1
        made.compile("sgd")
        assert made.metrics_names == ["loss", "total"]


def test_the_inputs_a_tensor_was_computed_from() -> None:
    a, b = keras.Input((2,)), keras.Input((2,))
    dense = layers.Dense(2)
    first, second = dense(a), dense(b)
    both = layers.Add()([first, second, first])
    find = keras.utils.get_source_inputs
    assert find(both) == [a, b]
    assert find(second) == find(second, dense, 1) == [b]
    assert find(second, dense, 0) == [a]
    assert find(a) == [a]
    bare = tf.constant(1.0)
    assert find(bare) is bare


def test_batch_sizes_that_are_left_open_agree() -> None:
    open_size = tf.TensorShape([None, 2]).dims
    inputs = [tf.keras.Input(batch_shape=shape) for shape in (open_size, open_size, (None, 2))]
    model = tf.keras.Model(inputs, tf.keras.layers.Add()(inputs))
    assert len(model.inputs) == 3
    with pytest.raises(ValueError, match=r"incompatible. Found batch sizes: \[3, 4\]"):
        sized = [tf.keras.Input(batch_shape=tf.TensorShape([n, 2]).dims) for n in (3, 4)]
        tf.keras.Model(sized, [tf.identity(x) for x in sized])
