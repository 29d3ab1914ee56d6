"""tf.contrib.linear_optimizer and tf.contrib.kernel_methods."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.lib.contrib.kernel_methods import mappers

LINEAR, KERNEL = tf.contrib.linear_optimizer, tf.contrib.kernel_methods


@pytest.fixture(autouse=True)
def _close_writers() -> Iterator[None]:
    yield
    tf.summary.FileWriterCache.clear()


def _model(loss: str, labels: list[float], **options: Any) -> tuple[Any, dict[str, Any], Any]:
    """A model of one dense feature and of two sparse ones, the second of which is always there."""
    count = len(labels)
    examples = {
        "sparse_features": [LINEAR.SparseFeatureColumn([*range(count)], [0] * count, None)],
        "dense_features": [tf.constant([[float(2 * y - 1)] for y in labels])],
        "example_labels": labels,
        "example_weights": [1.0] * count,
        "example_ids": [str(i) for i in range(count)],
    }
    variables = {
        "sparse_features_weights": [tf.Variable(tf.zeros([2]), name="sparse")],
        "dense_features_weights": [tf.Variable(tf.zeros([1]), name="dense")],
    }
    settings = {
        "symmetric_l2_regularization": 1.0, "symmetric_l1_regularization": 0.0, "loss_type": loss,
    }  # fmt: skip
    return LINEAR.SdcaModel(examples, variables, settings | options), examples, variables


# With weights of zero: the loss of a probability of a half, half a square, a margin, and e^0 - 0.
@pytest.mark.parametrize(
    ("loss", "prediction", "value"),
    [
        ("logistic_loss", 0.5, math.log(2)),
        ("squared_loss", 0.0, 0.25),
        ("hinge_loss", 0.0, 1.0),
        ("smooth_hinge_loss", 0.0, 1.0),
        ("poisson_loss", 1.0, 1.0),
    ],
)
def test_losses_fall_in_training(loss: str, prediction: float, value: float) -> None:
    model, examples, _ = _model(loss, [1.0, 0.0])
    predictions, total = model.predictions(examples), model.regularized_loss(examples)
    train = model.minimize()
    update = model.update_weights(train)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_allclose(session.run(predictions), [prediction] * 2, rtol=1e-6)
        assert session.run(model.unregularized_loss(examples)) == pytest.approx(value)
        for _ in range(10):
            session.run(update)
        assert session.run(total) < value
        found = session.run(predictions)
        assert found[0] > found[1]
        assert session.run(model.approximate_duality_gap()) < 0.05
    assert any("_unshrinked/SDCAOptimizer" in v.name for v in tf.global_variables())


def test_what_a_model_refuses() -> None:
    with pytest.raises(ValueError, match="Unsupported loss_type: "):
        _model("absolute_loss", [1.0])
    with pytest.raises(ValueError, match="symmetric_l1_regularization should be non-negative"):
        _model("squared_loss", [1.0], symmetric_l1_regularization=-1.0)
    with pytest.raises(ValueError, match="must all be specified"):
        LINEAR.SdcaModel({}, {}, {})


def test_the_optimizer_of_a_classifier() -> None:
    def rows() -> Any:
        features = {"x": tf.constant([[1.0], [-1.0]]), "id": tf.constant(["1", "2"])}
        return features, tf.constant([[1], [0]])

    column = tf.contrib.layers.real_valued_column("x")
    optimizer = LINEAR.SDCAOptimizer("id", symmetric_l2_regularization=0.5)
    assert (optimizer.get_name(), optimizer.adaptive) == ("SDCAOptimizer", True)
    classifier = tf.contrib.learn.LinearClassifier([column], optimizer=optimizer)
    classifier.fit(input_fn=rows, steps=5)
    assert list(classifier.predict_classes(input_fn=rows)) == [1, 0]


def test_products_of_mapped_rows_are_the_kernel() -> None:
    mapper = KERNEL.RandomFourierFeatureMapper(3, 20000, stddev=2.0, seed=7)
    one, other = np.array([[1.0, 0.5, -0.2]]), np.array([[0.3, -0.4, 1.0]])
    mapped = [mapper.map(tf.constant(x, tf.float32)) for x in (one, other)]
    with tf.Session() as session:
        first, second = session.run(mapped)
    expected = math.exp(-np.sum((one - other) ** 2) / (2 * 2.0**2))
    assert np.dot(first[0], second[0]) == pytest.approx(expected, abs=0.03)
    with pytest.raises(mappers.InvalidShapeError, match="expected 3 input features, got 2"):
        mapper.map(tf.zeros([1, 2]))


@pytest.mark.parametrize(
    ("logits", "labels", "weights", "expected"),
    [
        ([[1.2, -1.4, -1.0]], [0], 1.0, 0.0),
        ([[1.2, 0.4, -1.0], [0.0, 2.0, 1.5]], [0, 2], 1.0, (0.2 + 1.5) / 2),
        ([[1.2, 0.4], [0.0, 2.0]], [[1], [0]], [[1.0], [2.0]], (1.8 + 2 * 3.0) / 2),
    ],
)
def test_the_hinge_of_several_classes(
    logits: Any, labels: Any, weights: Any, expected: Any
) -> None:
    loss = KERNEL.sparse_multiclass_hinge_loss(tf.constant(labels), tf.constant(logits), weights)
    with tf.Session() as session:
        assert session.run(loss) == pytest.approx(expected, rel=1e-5)
    assert tf.losses.get_losses() == [loss]
    with pytest.raises(ValueError, match="Invalid dtype for labels"):
        KERNEL.sparse_multiclass_hinge_loss(tf.constant([0.0]), tf.constant([[1.0, 2.0]]))


def test_a_classifier_of_a_ring() -> None:
    angles = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    points = np.stack([np.cos(angles), np.sin(angles)], -1) * np.repeat([[0.3], [2.0]], 12, 0)

    def rows() -> Any:
        return {"x": tf.constant(points, tf.float32)}, tf.constant([[0]] * 12 + [[1]] * 12)

    column = tf.contrib.layers.real_valued_column("x", dimension=2)
    maps = {column: [KERNEL.RandomFourierFeatureMapper(2, 50, 1.0)]}
    optimizer = tf.train.FtrlOptimizer(learning_rate=5.0)
    classifier = KERNEL.KernelLinearClassifier(kernel_mappers=maps, optimizer=optimizer)
    classifier.fit(input_fn=rows, steps=30)
    assert list(classifier.predict_classes(rows)) == [0] * 12 + [1] * 12
    with pytest.raises(ValueError, match="at least one of feature_columns, kernel_mappers"):
        KERNEL.KernelLinearClassifier()
