"""Layers as records: what `get_config` gives makes the same layer again, through JSON too."""

from __future__ import annotations

import json

import numpy as np
import pytest

import weft as tf
from tests.keras.layers.observe import placeholders, values_for
from tests.keras.layers.samples import SAMPLES

deserialize, serialize = tf.keras.layers.deserialize, tf.keras.layers.serialize


@pytest.mark.parametrize("sample", SAMPLES, ids=[sample.name for sample in SAMPLES])
def test_round_trip(sample) -> None:
    """The second layer has the same settings, weights of the same shapes, and the same outputs."""
    first = sample.make(tf.keras.layers)
    inputs = placeholders(tf, sample)
    outputs = [first(inputs if len(inputs) > 1 else inputs[0])]
    second = deserialize(json.loads(json.dumps(serialize(first))))
    assert type(second) is type(first)
    outputs.append(second(inputs if len(inputs) > 1 else inputs[0]))
    configs = [layer.get_config() for layer in (first, second)]
    for config in configs:
        # Code is not written in the same way twice.
        config.pop("function", None)
    assert json.dumps(configs[0]) == json.dumps(configs[1])
    shapes = [[w.shape.as_list() for w in layer.weights] for layer in (first, second)]
    assert shapes[0] == shapes[1]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for layer in (first, second):
            for weight, value in zip(layer.weights, values_for(sample, first.weights), strict=True):
                weight.load(value, session)
        got = session.run(outputs, dict(zip(inputs, sample.inputs, strict=True)))
    np.testing.assert_allclose(*got, rtol=1e-5, atol=1e-6)


def test_a_layer_of_ones_own() -> None:
    class Twice(tf.keras.layers.Layer):
        def call(self, inputs):
            return inputs * 2

    record = serialize(Twice(name="twice"))
    with pytest.raises(ValueError, match="Unknown layer: Twice"):
        deserialize(record)
    assert deserialize(record, custom_objects={"Twice": Twice}).name == "twice"
    with tf.keras.utils.custom_object_scope({"Twice": Twice}):
        assert isinstance(deserialize(record), Twice)
    wrapped = serialize(tf.keras.layers.TimeDistributed(Twice()))
    assert isinstance(deserialize(wrapped, {"Twice": Twice}).layer, Twice)


def test_names_of_other_versions() -> None:
    record = {"class_name": "BatchNormalizationV1", "config": {"momentum": 0.5}}
    assert deserialize(record).momentum == 0.5
    assert record["class_name"] == "BatchNormalizationV1"


def test_lambda_with_a_closure_and_arrays() -> None:
    by = 3.0
    layer = tf.keras.layers.Lambda(
        lambda x, plus: x * by + plus,
        output_shape=lambda shape: shape,
        mask=lambda inputs, mask: mask,
        arguments={"plus": np.array([1.0, 2.0], np.float32)},
    )
    config = layer.get_config()
    config["arguments"] = {"plus": {"type": "ndarray", "value": [1.0, 2.0]}}
    again = tf.keras.layers.Lambda.from_config(json.loads(json.dumps(config)))
    y = again(tf.constant([[1.0, 1.0]]))
    assert again.compute_output_shape((5, 2)).as_list() == [5, 2]
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(y), [[4.0, 5.0]])


def test_shapes_given_to_the_first_layer() -> None:
    layer = tf.keras.layers.Dense(3, input_dim=4)
    assert layer.get_config()["batch_input_shape"] == (None, 4)
    assert tf.keras.layers.Embedding(5, 2, input_length=7).get_config()["batch_input_shape"] == (
        None,
        7,
    )
    flat = tf.keras.layers.Flatten(batch_input_shape=(2, 3, 4))
    assert tf.keras.layers.Flatten.from_config(flat.get_config())._batch_input_shape == (2, 3, 4)


@pytest.mark.parametrize(
    ("layer", "keys"),
    [
        (lambda: tf.keras.layers.MaxPooling1D(), "strides pool_size padding data_format"),
        (lambda: tf.keras.layers.AveragePooling2D(), "pool_size padding strides data_format"),
        (
            lambda: tf.keras.layers.SimpleRNN(2),
            "bias_regularizer activity_regularizer kernel_constraint",
        ),
        (
            lambda: tf.keras.layers.ConvLSTM2D(2, 3),
            "bias_regularizer activity_regularizer kernel_constraint",
        ),
        (
            lambda: tf.keras.layers.CuDNNLSTM(2),
            "bias_initializer unit_forget_bias kernel_regularizer",
        ),
    ],
)
def test_keys_are_in_the_order_of_files(layer, keys: str) -> None:
    assert keys in " ".join(layer().get_config())
