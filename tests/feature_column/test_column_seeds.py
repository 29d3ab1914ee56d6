"""What comes after a layer of columns has the seed that it has in TensorFlow 1.15."""

from __future__ import annotations

from typing import Any

import pytest

import weft as tf

# `seed2` of a variable that is made after `input_layer` or `linear_model` of a column.
INPUT = {
    "x": 23, "v": 25, "buckets": 31, "each": 48, "each_of_many": 34, "embedded": 106,
    "embedded_sum": 106, "crossed": 68, "weighted": 137,
}  # fmt: skip
LINEAR = {
    "x": 36, "v": 38, "buckets": 125, "words": 107, "numbers": 110, "many": 93, "weights": 131,
    "crosses": 127,
}  # fmt: skip


def features() -> dict[str, Any]:
    rows = [[0, 0], [1, 0], [1, 1]]

    def sparse(values: list[Any]) -> Any:
        shape = tf.constant([2, 2], tf.int64)
        return tf.SparseTensor(tf.constant(rows, tf.int64), tf.constant(values), shape)

    return {
        "x": tf.constant([[1.0], [2.0]]),
        "v": tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
        "word": tf.constant([["a"], ["z"]]),
        "number": tf.constant([[1], [4]], tf.int64),
        "many": sparse(["a", "b", "c"]),
        "weight": sparse([1.0, 2.0, 3.0]),
    }


def columns() -> dict[str, Any]:
    make = tf.feature_column
    x = make.numeric_column("x")
    words = make.categorical_column_with_vocabulary_list("word", ["a", "b", "c"])
    numbers = make.categorical_column_with_identity("number", 5, default_value=0)
    many = make.categorical_column_with_hash_bucket("many", 7)
    buckets = make.bucketized_column(x, [0.3, 1.6])
    weights = make.weighted_categorical_column(many, "weight")
    crosses = make.crossed_column(["word", buckets], 11)
    return {
        "x": x,
        "v": make.numeric_column("v", [3], normalizer_fn=lambda t: t / 2.0),
        "words": words,
        "numbers": numbers,
        "many": many,
        "buckets": buckets,
        "weights": weights,
        "crosses": crosses,
        "each": make.indicator_column(words),
        "each_of_many": make.indicator_column(many),
        "embedded": make.embedding_column(numbers, 2),
        "embedded_sum": make.embedding_column(many, 3, combiner="sum", max_norm=1.0),
        "crossed": make.indicator_column(crosses),
        "weighted": make.embedding_column(weights, 2),
    }


def seed_after(layer: Any, name: str) -> int:
    """As a program has it that makes its features, a layer of them, and then a variable."""
    tf.set_random_seed(7)
    layer(features(), [columns()[name]])
    made = tf.get_variable("after", [2], initializer=tf.random_uniform_initializer())
    drawn = [op for op in made.graph.get_operations() if op.type == "RandomUniform"]
    seed: int = drawn[-1].get_attr("seed2")
    return seed


@pytest.mark.parametrize("name", INPUT)
def test_input_layers(name: str) -> None:
    assert seed_after(tf.feature_column.input_layer, name) == INPUT[name]


@pytest.mark.parametrize("name", LINEAR)
def test_linear_models(name: str) -> None:
    assert seed_after(tf.feature_column.linear_model, name) == LINEAR[name]


def test_weights_are_resources() -> None:
    tf.feature_column.linear_model(features(), [columns()["x"]])
    kinds = {op.type for op in tf.get_default_graph().get_operations()}
    assert "VarHandleOp" in kinds
    assert "VariableV2" not in kinds
