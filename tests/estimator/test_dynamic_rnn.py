"""tf.contrib.learn.DynamicRnnEstimator, and the targets of tf.contrib.layers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.lib.contrib.layers import target_column
from weft.lib.contrib.learn import dynamic_rnn_estimator, rnn_common

learn = tf.contrib.learn
SINGLE, MULTIPLE = rnn_common.PredictionType.SINGLE_VALUE, rnn_common.PredictionType.MULTIPLE_VALUE
CLASSES, NUMBERS = learn.ProblemType.CLASSIFICATION, learn.ProblemType.LINEAR_REGRESSION


def evaluated(tensors: Any, feeds: Any = None) -> Any:
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        return session.run(tensors, feeds)


def columns() -> list[Any]:
    return [tf.contrib.layers.real_valued_column("steps", dimension=1)]


def input_fn(every_step: bool, classes: bool) -> Any:
    """Three steps, of which the second sequence has two; the label is whether the last is large."""

    def read() -> Any:
        steps = np.array([[[0.1], [0.9], [0.2]], [[0.3], [0.8], [0.0]]], np.float32)
        labels = steps[:, :, 0] if every_step else np.array([0.2, 0.8], np.float32)
        labels = (labels > 0.5).astype(np.int64) if classes else labels
        features = {"steps": tf.constant(steps), "sequence_length": tf.constant([3, 2])}
        return features, tf.constant(labels)

    return read


@pytest.mark.parametrize(
    ("problem_type", "prediction_type", "cell_type"),
    [
        (CLASSES, SINGLE, "lstm"),
        (CLASSES, MULTIPLE, "gru"),
        (NUMBERS, SINGLE, "basic_rnn"),
        (NUMBERS, MULTIPLE, "lstm"),
    ],
)
def test_training(problem_type: int, prediction_type: int, cell_type: str, tmp_path: Path) -> None:
    is_classes = problem_type == CLASSES
    estimator = learn.DynamicRnnEstimator(
        problem_type, prediction_type, columns(), num_classes=2, num_units=[4],
        cell_type=cell_type, predict_probabilities=is_classes, model_dir=str(tmp_path),
    )  # fmt: skip
    data = input_fn(prediction_type == MULTIPLE, is_classes)
    estimator.fit(input_fn=data, steps=20)
    after = estimator.evaluate(input_fn=data, steps=1)
    assert after["loss"] < 0.7 and ("accuracy" in after) == is_classes
    predicted = next(estimator.predict(input_fn=data, as_iterable=True))
    name = "classes" if is_classes else "scores"
    assert predicted[name].shape == ((3,) if prediction_type == MULTIPLE else ())
    assert predicted["rnn_cell_state_0"].shape == (4,)
    assert ("rnn_cell_state_1" in predicted) == (cell_type == "lstm")
    if is_classes:
        assert predicted["probabilities"].shape[-1] == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((CLASSES, 3), "prediction_type must be one of PredictionType.MULTIPLE_VALUE or"),
        ((7, SINGLE), "problem_type must be either ProblemType.LINEAR_REGRESSION or"),
        ((CLASSES, SINGLE), "For CLASSIFICATION problem_type, num_classes must be specified."),
    ],
)
def test_what_is_refused(arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        learn.DynamicRnnEstimator(*arguments, columns())
    with pytest.raises(ValueError, match="predict_probabilities can only be set to True"):
        learn.DynamicRnnEstimator(NUMBERS, SINGLE, columns(), predict_probabilities=True)


def test_states_by_name() -> None:
    cell = rnn_common.construct_rnn_cell([2, 3], "lstm")
    state = cell.zero_state(4, tf.float32)
    named = dynamic_rnn_estimator.state_tuple_to_dict(state)
    assert sorted(named) == [f"rnn_cell_state_{i}" for i in range(4)]
    again = dynamic_rnn_estimator.dict_to_state_tuple(named, cell)
    tf.nest.assert_same_structure(state, again)
    assert dynamic_rnn_estimator.dict_to_state_tuple({}, cell) is None
    with pytest.raises(ValueError, match="RNN state was partially specified"):
        dynamic_rnn_estimator.dict_to_state_tuple({"rnn_cell_state_0": state[0][0]}, cell)


def test_last_steps_and_steps_that_are_there() -> None:
    x = np.arange(12, dtype=np.float32).reshape(2, 3, 2)
    labels = np.arange(6).reshape(2, 3)
    last = rnn_common.select_last_activations(tf.constant(x), tf.constant([3, 1]))
    masked = rnn_common.mask_activations_and_labels(tf.constant(x), tf.constant(labels), [3, 1])
    found, (rows, kept) = evaluated([last, masked])
    np.testing.assert_array_equal(found, [x[0, 2], x[1, 0]])
    np.testing.assert_array_equal(rows, [*x[0], x[1, 0]])
    assert kept.tolist() == [0, 1, 2, 3]


def test_dropout_of_cells() -> None:
    cell = rnn_common.construct_rnn_cell([2, 3], "gru", [0.5, 0.6, 0.7])
    assert [type(each).__name__ for each in cell._cells] == ["DropoutWrapper"] * 2
    with pytest.raises(ValueError, match="must be one greater than the number of cells"):
        rnn_common.construct_rnn_cell([2, 3], "gru", [0.5, 0.6])
    with pytest.raises(ValueError, match="The supported cell types are"):
        rnn_common.construct_rnn_cell(2, int)


def test_targets() -> None:
    """Losses, by hand: with weights, the loss is a weighted mean."""
    features = {"w": tf.constant([1.0, 3.0])}
    numbers = tf.contrib.layers.regression_target(weight_column_name="w")
    classes = tf.contrib.layers.multi_class_target(n_classes=3)
    two = tf.contrib.layers.multi_class_target(n_classes=2)
    svm = tf.contrib.layers.binary_svm_target()
    column = tf.constant([[1.0], [2.0]])
    losses = [
        numbers.loss(column, tf.constant([0.0, 0.0]), features),
        numbers.training_loss(column, tf.constant([0.0, 0.0]), features),
        classes.loss(tf.zeros([2, 3]), tf.constant([[0], [2]]), {}),
        two.loss(tf.zeros([2, 1]), tf.constant([0, 1]), {}),
        svm.loss(column, tf.constant([0, 1]), {}),
    ]
    expected = [(1 + 12) / 4, (1 + 12) / 2, np.log(3), np.log(2), (2 + 0) / 2]
    np.testing.assert_allclose(evaluated(losses), expected, rtol=1e-6)
    guesses = [two.logits_to_predictions(column - 1.5), numbers.logits_to_predictions(column)]
    assert [each.tolist() for each in evaluated(guesses)] == [[0, 1], [1.0, 2.0]]
    with pytest.raises(ValueError, match="not supported for _BinarySvmTargetColumn"):
        svm.logits_to_predictions(column, proba=True)
    with pytest.raises(ValueError, match="n_classes must be > 1"):
        target_column.multi_class_target(1)
    with pytest.raises(ValueError, match="Target's dtype should be integer"):
        classes.loss(tf.zeros([2, 3]), tf.constant([0.0, 2.0]), {})


def test_metrics_of_targets() -> None:
    two = tf.contrib.layers.multi_class_target(n_classes=2)
    logits, labels = tf.constant([[1.0], [-2.0]]), tf.constant([[1], [1]])
    found = two.get_eval_ops({}, logits, labels, {"right": tf.contrib.metrics.streaming_accuracy})
    updates = evaluated({name: update for name, (_, update) in found.items()})
    assert {"loss", "auc", "right", "labels/actual_target_mean"} <= set(updates)
    assert updates["recall/positive_threshold_0.500000_mean"].tolist() == [0.5]
    for name, message in ((("a", "b", "c"), "expected 2"), (("a", "b"), "either 'classes'")):
        with pytest.raises(ValueError, match=message):
            two.get_eval_ops({}, logits, labels, {name: tf.contrib.metrics.streaming_accuracy})
    one = tf.contrib.layers.regression_target()
    assert sorted(one.get_eval_ops({}, logits, tf.constant([1.0, 1.0]))) == ["loss"]
