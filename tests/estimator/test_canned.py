"""Canned estimators: what the recorded programs do not show."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.core import flags
from weft.ops.nn.embedding import combined_rows

fc = tf.feature_column


@pytest.mark.parametrize("use_resource", [False, True])
def test_rows_looked_up_twice_have_one_gradient(use_resource: bool) -> None:
    """As columns look them up: with the number of rows known."""
    zeros = tf.zeros_initializer()
    table = tf.get_variable("table", [4, 2], initializer=zeros, use_resource=use_resource)
    ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.constant([1, 1, 3], tf.int64), [2, 2])
    rows = combined_rows(table, ids, None, "mod", None, "sum", None, count=2)
    (gradient,) = tf.gradients(tf.reduce_sum(rows), [table])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        values, indices = sess.run([gradient.values, gradient.indices])
    dense = np.zeros([4, 2])
    np.add.at(dense, indices, values)
    assert dense[:, 0].tolist() == [0, 2, 0, 1] and len(indices) == 2


def test_mistakes() -> None:
    column = fc.numeric_column("x")
    make: list[tuple[Any, str]] = [
        (
            lambda: tf.estimator.DNNLinearCombinedClassifier(),
            "Either linear_feature_columns or dnn_feature_columns must be defined",
        ),
        (
            lambda: tf.estimator.LinearClassifier([column], loss_reduction="none"),
            "Invalid loss_reduction: none",
        ),
        (
            lambda: tf.estimator.LinearRegressor([column], label_dimension=0),
            "Invalid label_dimension 0",
        ),
        (lambda: tf.estimator.MultiClassHead(2), "n_classes must be > 2: 2"),
        (lambda: tf.estimator.BinaryClassHead(thresholds=[1.5]), "thresholds not in"),
        (
            lambda: tf.estimator.MultiHead([tf.estimator.RegressionHead()]),
            "All given heads must have name specified",
        ),
        (
            lambda: tf.estimator.RegressionHead(loss_fn=lambda labels: 0),
            "loss_fn must contain argument: logits",
        ),
    ]
    for each, message in make:
        with pytest.raises(ValueError, match=message):
            each()


@pytest.mark.parametrize(
    ("optimizer", "message"),
    [
        ("Best", "Unsupported optimizer name: Best. Supported names are: \\('Adagrad', "),
        (3, "The given object is not an Optimizer instance. Given: 3"),
    ],
)
def test_optimizers(tmp_path: Path, optimizer: Any, message: str) -> None:
    estimator = tf.estimator.DNNClassifier(
        [2], [fc.numeric_column("x")], str(tmp_path), optimizer=optimizer
    )
    inputs = tf.estimator.inputs.numpy_input_fn(
        {"x": np.ones(4, np.float32)}, np.ones(4, np.int64), shuffle=False
    )
    with pytest.raises(ValueError, match=message):
        estimator.train(inputs, steps=1)


def test_labels_must_fit() -> None:
    head, logits = tf.estimator.BinaryClassHead(), tf.zeros([3, 1])
    with pytest.raises(ValueError, match="You must provide a labels Tensor"):
        head.loss(None, logits)
    with pytest.raises(ValueError, match="Mismatched label shape"):
        head.loss(tf.zeros([3, 2]), logits)
    with pytest.raises(ValueError, match="logits shape must be"):
        head.predictions(tf.zeros([3, 2]))
    loss = head.loss(tf.constant([0, 1, 2]), logits)
    with tf.Session() as sess:
        with pytest.raises(tf.errors.InvalidArgumentError, match="Labels must <= n_classes - 1"):
            sess.run(loss)


def test_how_examples_are_read() -> None:
    columns = [fc.numeric_column("a"), fc.numeric_column("b", shape=(2,))]
    spec = tf.estimator.classifier_parse_example_spec(columns, "label", weight_column="w")
    assert sorted(spec) == ["a", "b", "label", "w"] and spec["label"].dtype == tf.int64
    spec = tf.estimator.regressor_parse_example_spec(columns, "label", label_dimension=3)
    assert spec["label"].shape == (3,) and spec["label"].dtype == tf.float32
    with pytest.raises(ValueError, match="label should not be used as feature"):
        tf.estimator.classifier_parse_example_spec(columns, "a")
    with pytest.raises(ValueError, match="weight_column should not be used as feature"):
        tf.estimator.classifier_parse_example_spec(columns, "label", weight_column="a")


def test_heads_of_contrib(tmp_path: Path) -> None:
    head = tf.contrib.estimator.multi_label_head(3, thresholds=[0.5])
    estimator = tf.estimator.LinearEstimator(
        head, [fc.numeric_column("x", shape=(2,))], str(tmp_path)
    )
    x = np.random.default_rng(0).normal(size=(8, 2)).astype(np.float32)
    inputs = tf.estimator.inputs.numpy_input_fn(
        {"x": x}, np.repeat((x[:, :1] > 0).astype(np.int64), 3, 1), 8, None, shuffle=False
    )
    with flags.XLA.override(False):
        estimator.train(inputs, steps=20)
        results = estimator.evaluate(inputs, steps=1)
    assert results["accuracy/positive_threshold_0.5"] > 0.8 and results["auc"] > 0.9


# ---- k-means -------------------------------------------------------------------------------------

POINTS = np.random.default_rng(3).normal(size=(24, 3)).astype(np.float32)
CENTERS = np.array([[0.5, 0, 0], [0, 0.5, 0], [-0.5, 0, 0.1]], np.float32)


def points(epochs: int | None = None, batch: int = 8) -> Any:
    return tf.estimator.inputs.numpy_input_fn({"p": POINTS}, None, batch, epochs, shuffle=False)


def test_centers_move_as_the_formula_says(tmp_path: Path) -> None:
    estimator = tf.estimator.experimental.KMeans(3, str(tmp_path), initial_clusters=CENTERS)
    estimator.train(points(), steps=7)
    centers, counts = CENTERS.astype(np.float64), np.ones(3)
    for step in range(7):
        batch = POINTS[np.arange(step * 8, step * 8 + 8) % 24]
        nearest = np.square(batch[:, None] - centers).sum(-1).argmin(1)
        new = np.bincount(nearest, minlength=3)
        total = np.zeros((3, 3))
        np.add.at(total, nearest, batch)
        centers += (total - new[:, None] * centers) / (counts + new)[:, None]
        counts += new
    np.testing.assert_allclose(estimator.cluster_centers(), centers, rtol=1e-4, atol=1e-5)
    assert estimator.get_variable_names() == ["Variable", "clusters", "global_step", "initialized"]
    found = np.array(list(estimator.transform(points(1))))
    distances = np.sqrt(np.square(POINTS[:, None] - centers).sum(-1))
    np.testing.assert_allclose(found, distances, rtol=1e-3, atol=1e-3)
    assert list(estimator.predict_cluster_index(points(1))) == distances.argmin(1).tolist()
    nearest = np.square(distances[:8].min(1)).sum()
    assert estimator.score(points(1)) == pytest.approx(nearest, rel=1e-3)


@pytest.mark.parametrize(
    "how",
    [
        {},  # drawn at random, from several batches if one has too few
        {"initial_clusters": "kmeans_plus_plus", "use_mini_batch": False},
        {"distance_metric": "cosine", "mini_batch_steps_per_iteration": 2},
        {"relative_tolerance": 1e9},
    ],
)
def test_ways_to_find_centers(tmp_path: Path, how: Any) -> None:
    estimator = tf.estimator.experimental.KMeans(5, str(tmp_path), seed=1, **how)
    estimator.train(points(batch=4 if not how else 8), steps=6)
    assert estimator.cluster_centers().shape == (5, 3)
    stopped = estimator.get_variable_value("global_step")
    assert stopped == (2 if "relative_tolerance" in how else 6)
    with pytest.raises(ValueError, match="Unsupported distance metric 'far'"):
        tf.estimator.experimental.KMeans(2, distance_metric="far")
