"""tf.estimator.BoostedTrees*: the numbers are those of TensorFlow's own estimators, 1.15, on this
data with these settings (five examples, three features cut at the same boundaries)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf

X = np.array(
    [
        [12.5, 1.0, -2.001, -2.0001, -1.999],
        [2.0, -3.0, 0.5, 0.0, 0.4995],
        [3.0, 20.0, 50.0, -100.0, 102.75],
    ],
    np.float32,
)
FEATURES = {f"f_{i}": X[i] for i in range(3)}
CLASSES = [[0.0], [1.0], [1.0], [0.0], [0.0]]
NUMBERS = [[1.5], [0.3], [0.2], [2.0], [5.0]]
FLOATS = [tf.feature_column.numeric_column(f"f_{i}") for i in range(3)]
COLUMNS = [tf.feature_column.bucketized_column(f, [-2.0, 0.5, 12.0]) for f in FLOATS]


@pytest.fixture(autouse=True)
def closes_writers() -> Iterator[None]:
    yield
    tf.summary.FileWriterCache.clear()


def given(labels: Any) -> Any:
    return lambda: (dict(FEATURES), labels)


def to_predict() -> Any:
    return tf.estimator.inputs.numpy_input_fn(FEATURES, None, 1, 1, shuffle=False)


def predicted(estimator: Any) -> np.ndarray:
    return np.array([p["predictions"][0] for p in estimator.predict(to_predict())])


def test_regressor(tmp_path: Path) -> None:
    estimator = tf.estimator.BoostedTreesRegressor(
        COLUMNS, n_batches_per_layer=1, n_trees=1, max_depth=5, model_dir=str(tmp_path)
    )
    estimator.train(given(NUMBERS), steps=100)
    assert estimator.get_variable_value("global_step") == 5  # a layer a step, and it is done
    expected = [0.571619, 0.262821, 0.124549, 0.956801, 1.769801]
    np.testing.assert_allclose(predicted(estimator), expected, rtol=1e-5)


def test_regressor_with_two_trees(tmp_path: Path) -> None:
    estimator = tf.estimator.BoostedTreesRegressor(
        COLUMNS, n_batches_per_layer=1, n_trees=2, max_depth=5, model_dir=str(tmp_path)
    )
    estimator.train(given(NUMBERS), steps=100)
    found = estimator.evaluate(given(NUMBERS), steps=1)
    assert found["global_step"] == 10
    np.testing.assert_allclose(found["average_loss"], 1.008551, rtol=1e-5)


def test_centered_and_explained(tmp_path: Path) -> None:
    estimator = tf.estimator.BoostedTreesRegressor(
        COLUMNS, 1, n_trees=1, max_depth=5, center_bias=True, model_dir=str(tmp_path)
    )
    estimator.train(given(NUMBERS), steps=100)
    assert estimator.get_variable_value("global_step") == 7  # two of them for the bias
    explained = list(estimator.experimental_predict_with_explanations(to_predict()))
    np.testing.assert_allclose([each["bias"] for each in explained], [1.8] * 5, rtol=1e-5)
    assert list(explained[0]["dfc"]) == ["f_1_bucketized", "f_0_bucketized", "f_2_bucketized"]
    np.testing.assert_allclose(
        [explained[i]["dfc"]["f_0_bucketized"] for i in range(5)],
        [-0.07049942, -0.53763032, -0.51756942, 0.15634954, 0.96934974],
        rtol=1e-4,
    )
    expected = [1.634501, 1.325703, 1.187431, 2.019683, 2.832683]
    sums = [each["bias"] + sum(each["dfc"].values()) for each in explained]
    np.testing.assert_allclose(sums, expected, rtol=1e-5)
    np.testing.assert_allclose(predicted(estimator), expected, rtol=1e-5)
    importances = estimator.experimental_feature_importances(normalize=True)
    np.testing.assert_allclose(sum(importances.values()), 1.0)


@pytest.mark.parametrize("columns, epsilon", [(COLUMNS, 0.01), (FLOATS, 0.33)])
def test_classifier(tmp_path: Path, columns: Any, epsilon: float) -> None:
    estimator = tf.estimator.BoostedTreesClassifier(
        columns, 1, n_trees=1, max_depth=5, quantile_sketch_epsilon=epsilon, model_dir=str(tmp_path)
    )
    estimator.train(given(CLASSES), steps=100)
    found = estimator.evaluate(given(CLASSES), steps=1)
    assert (found["accuracy"], found["global_step"]) == (1.0, 5)
    classes = [int(p["class_ids"][0]) for p in estimator.predict(to_predict())]
    assert classes == [0, 1, 1, 0, 0]


def test_training_in_memory_and_importances(tmp_path: Path) -> None:
    estimator = tf.contrib.estimator.boosted_trees_classifier_train_in_memory(
        given(CLASSES), COLUMNS, model_dir=str(tmp_path), n_trees=2, max_depth=5
    )
    found = estimator.experimental_feature_importances(normalize=False)
    assert list(found) == ["f_0_bucketized", "f_2_bucketized", "f_1_bucketized"]
    np.testing.assert_allclose(list(found.values()), [0.833933, 0.606342, 0.0], rtol=1e-5)


def test_indicator_columns_and_several_batches_a_layer(tmp_path: Path) -> None:
    words = tf.feature_column.categorical_column_with_vocabulary_list("w", ["a", "b"])
    column = tf.feature_column.indicator_column(words)
    estimator = tf.estimator.BoostedTreesClassifier(
        [column], n_batches_per_layer=2, n_trees=1, max_depth=1, model_dir=str(tmp_path)
    )
    data = {"w": np.array([["a"], ["b"], ["a"], ["b"]])}
    labels = np.array([0, 1, 0, 1])
    estimator.train(tf.estimator.inputs.numpy_input_fn(data, labels, 2, 3, shuffle=False))
    assert estimator.get_variable_value("global_step") == 2
    found = estimator.evaluate(tf.estimator.inputs.numpy_input_fn(data, labels, shuffle=False))
    assert found["accuracy"] == 1.0


def test_what_does_not_fit_is_refused() -> None:
    words = tf.feature_column.categorical_column_with_hash_bucket("w", 5)
    with pytest.raises(ValueError, match="must be wrapped by IndicatorColumn"):
        tf.estimator.BoostedTreesClassifier([words], 1)
    with pytest.raises(ValueError, match="unless pruning mode is chosen"):
        tf.estimator.BoostedTreesClassifier(COLUMNS, 1, tree_complexity=0.1)
    with pytest.raises(ValueError, match="only 1 dimension"):
        tf.estimator.BoostedTreesRegressor(COLUMNS, 1, label_dimension=2)
    estimator = tf.estimator.BoostedTreesRegressor(COLUMNS, 1)
    with pytest.raises(ValueError, match="center_bias must be enabled"):
        next(estimator.experimental_predict_with_explanations(to_predict()))
