"""LinearSDCA trains linear estimators: to the best weights that regularization allows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf

column = tf.feature_column
LinearSDCA = tf.estimator.experimental.LinearSDCA


def inputs(features: Any, labels: Any) -> Callable[[], Any]:
    def input_fn() -> Any:
        ids = tf.constant([str(i) for i in range(len(labels))])
        given = {"id": ids, **{name: make() for name, make in features.items()}}
        return given, tf.constant(labels)

    return input_fn


def test_a_regression_finds_the_ridge_solution(tmp_path: Path) -> None:
    x = np.array([[0.5, 1.0], [1.0, -1.0], [2.0, 0.25], [-1.0, 1.5]], np.float32)
    y = np.array([[1.0], [0.0], [3.0], [-1.0]], np.float32)
    w = np.array([[1.0], [2.0], [1.0], [1.0]], np.float32)
    features = {"x": lambda: tf.constant(x), "w": lambda: tf.constant(w)}
    optimizer = LinearSDCA("id", symmetric_l2_regularization=2.0)
    model = tf.estimator.LinearRegressor(
        [column.numeric_column("x", shape=2)], tmp_path, optimizer=optimizer, weight_column="w"
    )
    model.train(inputs(features, y), steps=60)
    a = np.concatenate([x, np.ones((4, 1))], 1)
    best = np.linalg.solve(a.T @ (w * a) + 2 * np.eye(3), a.T @ (w * y)).ravel()
    names = ["linear/linear_model/x/weights", "linear/linear_model/bias_weights"]
    found = np.concatenate([model.get_variable_value(name).ravel() for name in names])
    np.testing.assert_allclose(found, best, atol=1e-4)
    assert model.get_variable_value("global_step") == 60


def test_a_classifier_of_ids_with_weights(tmp_path: Path) -> None:
    def words() -> Any:
        where = [[0, 0], [0, 1], [1, 0], [2, 0], [2, 1], [3, 0]]
        return tf.SparseTensor(where, ["a", "a", "b", "a", "c", "zebra"], [4, 2])

    def sizes() -> Any:
        where = [[0, 0], [0, 1], [1, 0], [2, 0], [2, 1], [3, 0]]
        return tf.SparseTensor(where, [0.5, 0.5, 1.0, 2.0, 1.0, 9.0], [4, 2])

    ids = column.categorical_column_with_vocabulary_list("words", ["a", "b", "c"])
    optimizer = LinearSDCA("id", symmetric_l1_regularization=0.1, symmetric_l2_regularization=0.5)
    model = tf.estimator.LinearClassifier(
        [column.weighted_categorical_column(ids, "sizes")], tmp_path, optimizer=optimizer
    )
    fn = inputs({"words": words, "sizes": sizes}, [[1], [0], [1], [0]])
    model.train(fn, steps=40)
    assert model.evaluate(fn, steps=1)["accuracy"] == 1.0
    name = "linear/linear_model/words_weighted_by_sizes/weights"
    weights = model.get_variable_value(name).ravel()
    assert weights[0] > 0.3 > -0.3 > weights[1]
    unshrunk = [n for n in model.get_variable_names() if n.endswith("_unshrunk")]
    value = model.get_variable_value(next(n for n in unshrunk if "sizes" in n)).ravel()
    np.testing.assert_allclose(weights, np.sign(value) * np.maximum(abs(value) - 0.2, 0), rtol=1e-5)


def test_what_it_cannot_train() -> None:
    columns, optimizer = [column.numeric_column("x")], LinearSDCA("id")
    with pytest.raises(ValueError, match="multi-class"):
        tf.estimator.LinearClassifier(columns, n_classes=3, optimizer=optimizer)
    with pytest.raises(ValueError, match="one-dimensional"):
        tf.estimator.LinearRegressor(columns, label_dimension=2, optimizer=optimizer)
    with pytest.raises(ValueError, match='must be "sum"'):
        tf.estimator.LinearRegressor(columns, sparse_combiner="mean", optimizer=optimizer)
