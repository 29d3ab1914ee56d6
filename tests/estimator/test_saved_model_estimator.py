"""tf.contrib.estimator.SavedModelEstimator: an exported model goes on where it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf

SavedModelEstimator = tf.contrib.estimator.SavedModelEstimator
X = np.linspace(-1, 1, 8, dtype=np.float32)[:, None]
LABELS = (X > 0).astype(np.int64)


def rows(labels: bool = True) -> Any:
    def input_fn() -> Any:
        features = {"x": X}
        return tf.data.Dataset.from_tensors((features, LABELS) if labels else features)

    return input_fn


def logistic(features: Any, labels: Any, mode: str) -> Any:
    """A neuron with a metric, trained by an optimizer that has slots."""
    logits = tf.layers.dense(features["x"], 1, kernel_initializer=tf.ones_initializer())
    predictions = {"logits": logits, "classes": tf.to_int64(logits > 0)}
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions)
    return tf.estimator.EstimatorSpec(
        mode,
        predictions,
        loss := tf.losses.sigmoid_cross_entropy(labels, logits),
        tf.train.AdagradOptimizer(0.1).minimize(loss, tf.train.get_global_step()),
        {"accuracy": tf.metrics.accuracy(labels, predictions["classes"])},
    )


def exported(folder: Path, all_modes: bool = True) -> tuple[Any, bytes]:
    """(an Estimator, its SavedModel)"""
    model = tf.estimator.Estimator(logistic, str(folder / "model"))
    model.train(lambda: rows()().repeat(), steps=5)

    def places() -> tuple[Any, Any]:
        return {"x": tf.placeholder(tf.float32, [None, 1])}, tf.placeholder(tf.int64, [None, 1])

    def supervised() -> Any:
        features, labels = places()
        return tf.contrib.estimator.SupervisedInputReceiver(
            features, labels, {**features, "label": labels}
        )

    def served() -> Any:
        features, _ = places()
        return tf.estimator.export.ServingInputReceiver(features, features)

    if not all_modes:
        return model, model.export_saved_model(str(folder / "out"), served)
    receivers = {
        tf.estimator.ModeKeys.TRAIN: supervised,
        tf.estimator.ModeKeys.EVAL: supervised,
        tf.estimator.ModeKeys.PREDICT: served,
    }
    return model, tf.contrib.estimator.export_all_saved_models(
        model, str(folder / "out"), receivers
    )


def test_it_evaluates_and_predicts_as_the_model_that_was_exported(tmp_path: Path) -> None:
    model, path = exported(tmp_path)
    again = SavedModelEstimator(path, str(tmp_path / "again"))
    expected, found = model.evaluate(rows()), again.evaluate(rows())
    assert found["global_step"] == 5
    assert found["metrics/accuracy"] == expected["accuracy"]
    np.testing.assert_allclose(found["loss"], expected["loss"], rtol=1e-6)
    predicted = [each["logits"] for each in model.predict(rows(labels=False))]
    answered = [each["logits"] for each in again.predict(rows(labels=False))]
    np.testing.assert_allclose(answered, predicted, rtol=1e-6)


def test_training_goes_on_with_the_step_and_the_slots(tmp_path: Path) -> None:
    model, path = exported(tmp_path)
    again = SavedModelEstimator(path, str(tmp_path / "again"))
    for each in (model, again):
        each.train(lambda: rows()().repeat(), steps=3)
    assert again.get_variable_value("global_step") == 8
    for name in model.get_variable_names():
        mine, theirs = again.get_variable_value(name), model.get_variable_value(name)
        np.testing.assert_allclose(mine, theirs, rtol=1e-5, err_msg=name)
    expected, found = model.evaluate(rows()), again.evaluate(rows())
    np.testing.assert_allclose(found["loss"], expected["loss"], rtol=1e-5)


def test_modes_that_were_not_exported(tmp_path: Path) -> None:
    _, path = exported(tmp_path, all_modes=False)
    again = SavedModelEstimator(path, str(tmp_path / "again"))
    assert len(list(again.predict(rows(labels=False)))) == len(X)
    with pytest.raises(RuntimeError, match="train mode is not available in the SavedModel"):
        again.train(rows(), steps=1)


def test_inputs_must_fit(tmp_path: Path) -> None:
    _, path = exported(tmp_path)
    again = SavedModelEstimator(path, str(tmp_path / "again"))

    def given(features: Any) -> Any:
        return lambda: tf.data.Dataset.from_tensors((features, LABELS))

    with pytest.raises(ValueError, match='Key "x" not found in features or labels'):
        again.evaluate(given({"y": X}))
    message = "failed for input x:\n\tExpected dtype: .*float32.*, Got: .*int32.*\n\tExpected shape"
    with pytest.raises(ValueError, match=message):
        again.evaluate(given({"x": X.astype(np.int32)[:, 0]}))


def test_a_step_of_the_input_is_an_error(tmp_path: Path) -> None:
    _, path = exported(tmp_path)
    again = SavedModelEstimator(path, str(tmp_path / "again"))

    def input_fn() -> Any:
        tf.train.create_global_step()
        return rows()()

    with pytest.raises(RuntimeError, match="Graph must not contain a global step tensor"):
        again.evaluate(input_fn)
