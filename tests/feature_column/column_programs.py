"""Models of feature columns that run in weft and in TensorFlow alike."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

DATA = Path(__file__).parent.parent / "parity" / "data" / "feature_columns.npz"

WORDS = [["rock", "pop"], ["jazz", ""], ["", ""], ["rock", "rock"]]
NUMBERS = [[3, 1], [-1, 4], [0, -1], [7, 7]]
AGES = [[17.0], [25.0], [44.5], [90.0]]
PAIRS = [[0.5, -1.5], [2.0, 3.0], [-4.0, 0.25], [1.0, 10.0]]

Model = tuple[dict[str, Any], list[Any]]


def raw(tf: Any) -> dict[str, Any]:
    """Features of four examples: dense, sparse, and with steps."""
    return {
        "words": tf.constant(WORDS),
        "numbers": tf.constant(NUMBERS, tf.int64),
        "age": tf.constant(AGES),
        "pair": tf.constant(PAIRS),
        "vector": tf.constant([1, 2, 3, 4]),
        "tags": tf.SparseTensor(
            [[0, 0], [0, 2], [1, 0], [3, 1], [3, 2]], ["a", "b", "zz", "c", "a"], [4, 3]
        ),
        "tag_weights": tf.SparseTensor(
            [[0, 0], [0, 2], [1, 0], [3, 1], [3, 2]], [1.0, 0.5, -2.0, 3.0, 0.25], [4, 3]
        ),
    }


def numeric(tf: Any) -> list[Any]:
    fc = tf.feature_column
    return [
        fc.numeric_column("age", normalizer_fn=lambda x: (x - 40.0) / 20.0),
        fc.numeric_column("pair", shape=[2]),
        fc.numeric_column("vector", dtype=tf.int32),
    ]


def bucketized(tf: Any) -> list[Any]:
    fc = tf.feature_column
    return [
        fc.bucketized_column(fc.numeric_column("age"), [18, 25, 65]),
        fc.bucketized_column(fc.numeric_column("pair", shape=2), [-1.5, 0.25, 3.0]),
    ]


def hashed(tf: Any) -> list[Any]:
    fc = tf.feature_column
    return [
        fc.categorical_column_with_hash_bucket("words", 7),
        fc.categorical_column_with_hash_bucket("numbers", 5, dtype=tf.int64),
        fc.categorical_column_with_hash_bucket("tags", 11),
    ]


def vocabularies(tf: Any) -> list[Any]:
    fc = tf.feature_column
    return [
        fc.categorical_column_with_vocabulary_list("words", ["pop", "rock"], num_oov_buckets=3),
        fc.categorical_column_with_vocabulary_list("tags", ["a", "b", "c"]),
        fc.categorical_column_with_vocabulary_list("numbers", [0, 4, 7], default_value=1),
    ]


def identity(tf: Any) -> list[Any]:
    fc = tf.feature_column
    return [
        fc.categorical_column_with_identity("numbers", 8),
        fc.categorical_column_with_identity("vector", 4, default_value=0),
    ]


def crossed(tf: Any) -> list[Any]:
    fc = tf.feature_column
    ages = fc.bucketized_column(fc.numeric_column("age"), [18, 25, 65])
    listed = fc.categorical_column_with_vocabulary_list("words", ["pop", "rock", "jazz"])
    return [
        fc.crossed_column([ages, "tags"], 13),
        fc.crossed_column(["words", "tags"], 17, hash_key=42),
        fc.crossed_column([fc.crossed_column([ages, listed], 10), "tags"], 19),
    ]


def weighted(tf: Any) -> list[Any]:
    fc = tf.feature_column
    tags = fc.categorical_column_with_vocabulary_list("tags", ["a", "b", "c"])
    return [fc.weighted_categorical_column(tags, "tag_weights")]


def _indicators(make: Callable[[Any], list[Any]]) -> Callable[[Any], list[Any]]:
    return lambda tf: [tf.feature_column.indicator_column(column) for column in make(tf)]


def _embeddings(make: Callable[[Any], list[Any]], **more: Any) -> Callable[[Any], list[Any]]:
    return lambda tf: [tf.feature_column.embedding_column(column, 3, **more) for column in make(tf)]


def shared(tf: Any) -> list[Any]:
    fc = tf.feature_column
    words = fc.categorical_column_with_vocabulary_list("words", ["rock", "a", "b"])
    tags = fc.categorical_column_with_vocabulary_list("tags", ["rock", "a", "b"])
    return fc.shared_embedding_columns([words, tags], 2, combiner="sqrtn")


INPUT_LAYERS: dict[str, Callable[[Any], list[Any]]] = {
    "numeric": numeric,
    "bucketized": bucketized,
    "indicator_hashed": _indicators(hashed),
    "indicator_vocabulary": _indicators(vocabularies),
    "indicator_crossed": _indicators(crossed),
    "indicator_weighted": _indicators(weighted),
    "embedding_hashed": _embeddings(hashed),
    "embedding_vocabulary": _embeddings(vocabularies, combiner="sqrtn"),
    "embedding_identity": _embeddings(identity, combiner="sum", max_norm=1.0),
    "embedding_crossed": _embeddings(crossed, trainable=False),
    "embedding_weighted": _embeddings(weighted),
    "shared": shared,
}
LINEAR_MODELS: dict[str, Callable[[Any], list[Any]]] = {
    "numeric": numeric,
    "bucketized": bucketized,
    "hashed": hashed,
    "vocabularies": vocabularies,
    "identity": identity,
    "crossed": crossed,
    "weighted": weighted,
    "embedding": _embeddings(hashed),
}


def settings(name: str) -> dict[str, Any]:
    """The arguments of the linear model called `name`."""
    return {"hashed": {"units": 2}, "weighted": {"sparse_combiner": "mean"}}.get(name, {})


def train(tf: Any) -> dict[str, np.ndarray]:
    """The variables of a linear model and an embedding after a few steps of different batches."""
    fc = tf.feature_column
    batches = [[["a"], ["b"], ["a"]], [[""], ["c"], ["c"]], [["b"], ["zz"], ["a"]]]
    with tf.Graph().as_default():
        words = tf.placeholder(tf.string, [None, 1])
        column = fc.categorical_column_with_vocabulary_list("w", ["a", "b", "c"])
        half = tf.constant_initializer(0.5)
        wide = fc.linear_model({"w": words}, [column])
        deep = fc.input_layer({"w": words}, [fc.embedding_column(column, 2, initializer=half)])
        loss = tf.reduce_sum(tf.square(wide + tf.reduce_sum(deep, 1, keepdims=True) - 2.0))
        step = tf.train.AdagradOptimizer(0.3).minimize(loss)
        with tf.Session() as session:
            session.run([tf.global_variables_initializer(), tf.tables_initializer()])
            for batch in batches * 3:
                session.run(step, {words: batch})
            return {v.op.name: session.run(v) for v in tf.trainable_variables()}


def run(tf: Any, kind: str, name: str) -> dict[str, np.ndarray]:
    """The output of a model, the gradients of its variables, and what those are called."""
    if kind == "train":
        return train(tf)
    with tf.Graph().as_default():
        if kind == "input_layer":
            output = tf.feature_column.input_layer(raw(tf), INPUT_LAYERS[name](tf))
        else:
            columns = LINEAR_MODELS[name](tf)
            output = tf.feature_column.linear_model(raw(tf), columns, **settings(name))
        variables = tf.global_variables()
        trained = tf.trainable_variables()
        gradients = tf.gradients(output * output, trained) if trained else []
        dense = {
            f"gradient/{variable.op.name}": tf.convert_to_tensor(gradient)
            for variable, gradient in zip(trained, gradients, strict=True)
        }
        with tf.Session() as session:
            session.run([tf.global_variables_initializer(), tf.tables_initializer()])
            for number, variable in enumerate(variables):
                variable.load(_values(variable.shape.as_list(), number), session)
            found = session.run({"output": output, **dense})
        shapes = [f"{v.name} {v.shape.as_list()} {v.dtype.base_dtype.name}" for v in variables]
        model = [v.name for v in tf.get_collection(tf.GraphKeys.MODEL_VARIABLES)]
        names = {"variables": shapes, "model": model, "made": [output.name, str(output.shape[1])]}
        return found | {key: np.array(value, "U") for key, value in names.items()}


def _values(shape: list[int], number: int) -> np.ndarray:
    count = int(np.prod(shape))
    return (np.sin(np.arange(count) + number) + 0.1).astype(np.float32).reshape(shape)


def programs() -> list[tuple[str, str]]:
    layers = [("input_layer", name) for name in INPUT_LAYERS]
    models = [("linear_model", name) for name in LINEAR_MODELS]
    return [*layers, *models, ("train", "wide_and_deep")]
