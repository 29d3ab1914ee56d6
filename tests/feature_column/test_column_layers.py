"""Layers of columns: the variables of input_layer and linear_model, as a layer's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.lib.contrib.feature_column import concatenate_context_input, sequence_input_layer
from weft.lib.feature_column.input_layer import InputLayer
from weft.lib.feature_column.layers import DenseFeatures, LinearModel, SequenceFeatures

fc = tf.feature_column
FEATURES = {"i": [[0, 2], [1, -1]], "x": [[1.0], [2.0]]}


def columns() -> list[Any]:
    ids = fc.categorical_column_with_identity("i", 3)
    return [fc.embedding_column(ids, 2), fc.numeric_column("x")]


def filled(*fetches: Any) -> list[Any]:
    """The fetches with every variable counting up from 1."""
    with tf.Session() as session:
        for variable in tf.global_variables():
            shape = variable.shape.as_list()
            variable.load(np.arange(1.0, 1 + np.prod(shape)).reshape(shape), session)
        return session.run(list(fetches))


def test_a_layer_computes_what_input_layer_computes_under_the_same_names() -> None:
    layer = DenseFeatures(columns(), name="input_layer")
    features = {key: tf.constant(value) for key, value in FEATURES.items()}
    first, again = layer(features), layer(features)
    names = [v.op.name for v in tf.global_variables()]
    assert names == ["input_layer/i_embedding/embedding_weights"]
    assert [v.op.name for v in layer.trainable_variables] == names
    by_layer, by_layer_again = filled(first, again)
    tf.reset_default_graph()
    plain = fc.input_layer(FEATURES, columns())
    assert [v.op.name for v in tf.global_variables()] == names
    np.testing.assert_array_equal(filled(plain)[0], by_layer)
    np.testing.assert_array_equal(by_layer_again, by_layer)


def test_a_linear_layer_computes_what_linear_model_computes_under_the_same_names() -> None:
    ids = fc.categorical_column_with_identity("i", 3)
    wide = [ids, fc.numeric_column("x")]
    layer = LinearModel(wide, units=2, name="linear_model")
    output = layer({key: tf.constant(value) for key, value in FEATURES.items()})
    names = sorted(v.op.name for v in layer.variables)
    assert layer.bias.op.name == "linear_model/bias_weights"
    (by_layer,) = filled(output)
    tf.reset_default_graph()
    plain = fc.linear_model(FEATURES, wide, units=2)
    assert sorted(v.op.name for v in tf.global_variables()) == names
    np.testing.assert_array_equal(filled(plain)[0], by_layer)


def test_layers_are_numbered_and_can_be_made_again_from_their_configuration() -> None:
    layers = [DenseFeatures(columns()) for _ in range(2)]
    assert [layer.name for layer in layers] == ["dense_features", "dense_features_1"]
    again = DenseFeatures.from_config(layers[0].get_config())
    assert [c.name for c in again._feature_columns] == ["i_embedding", "x"]
    assert again.compute_output_shape((7, 1)) == (7, 3)


def test_the_layer_of_tensorflow_2_has_variables_of_its_own() -> None:
    layers = tf.compat.v2.keras.layers
    assert layers.Dense is tf.keras.layers.Dense
    assert layers.DenseFeatures is not tf.keras.layers.DenseFeatures
    made = [layers.DenseFeatures(columns()) for _ in range(2)]
    with tf.variable_scope("scope", partitioner=tf.fixed_size_partitioner(2)):
        outputs = [layer(FEATURES) for layer in made]
    assert [v.name for layer in made for v in layer.trainable_variables] == [
        "scope/dense_features/i_embedding/embedding_weights:0",
        "scope/dense_features_1/i_embedding/embedding_weights:0",
    ]
    one, two = filled(*outputs)
    np.testing.assert_array_equal(one, two)
    again = layers.DenseFeatures.from_config(made[0].get_config())
    assert type(again) is layers.DenseFeatures


def test_an_input_layer_shares_its_variables_between_calls() -> None:
    layer = InputLayer(columns(), name="layer", create_scope_now=False)
    outputs = [layer(FEATURES), layer(FEATURES)]
    assert [v.op.name for v in layer.variables] == ["layer/i_embedding/embedding_weights"]
    one, two = filled(*outputs)
    np.testing.assert_array_equal(one, two)


def sequences() -> tuple[dict[str, Any], list[Any]]:
    steps = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.constant([2, 0, 1], tf.int64), [3, 2])
    pace = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [0.5, 1.5, 2.5], [3, 2])
    ids = fc.sequence_categorical_column_with_identity("i", 3)
    made = [fc.embedding_column(ids, 2), fc.sequence_numeric_column("pace")]
    return {"i": steps, "pace": pace}, made


@pytest.mark.parametrize("as_layer", [True, False])
def test_steps(as_layer: bool) -> None:
    features, made = sequences()
    if as_layer:
        output, lengths = SequenceFeatures(made)(features)
    else:
        output, lengths = sequence_input_layer(features, made)
    together = concatenate_context_input(tf.constant([[9.0], [8.0], [7.0]]), output)
    output, lengths, together = filled(output, lengths, together)
    assert lengths.tolist() == [2, 1, 0]
    assert output.tolist() == [
        [[5, 6, 0.5], [1, 2, 1.5]],
        [[3, 4, 2.5], [0, 0, 0]],
        [[0, 0, 0], [0, 0, 0]],
    ]
    assert together[:, :, 3].tolist() == [[9, 9], [8, 8], [7, 7]]


def test_what_layers_refuse() -> None:
    words = [fc.categorical_column_with_hash_bucket(key, 4) for key in "ab"]
    with pytest.raises(ValueError, match="must be a FeatureColumn"):
        DenseFeatures(fc.shared_embedding_columns(words, 2))
    with pytest.raises(ValueError, match="embedding_column or indicator_column"):
        DenseFeatures(words)
    with pytest.raises(ValueError, match="We expected a dictionary here"):
        DenseFeatures(columns())([1.0])
