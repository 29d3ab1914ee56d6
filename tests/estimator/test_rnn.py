"""tf.contrib.estimator.RNNClassifier and RNNEstimator against the formulas, in NumPy."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.lib.contrib.estimator.rnn import CELLS
from weft.lib.estimator.heads.sequential import SequentialHeadWrapper

estimator = tf.contrib.estimator
columns = tf.contrib.feature_column
TRAIN = tf.estimator.ModeKeys.TRAIN
KERNEL = np.array([[0.1, -0.2], [0.3, 0.4], [-0.5, 0.6]], np.float32)
BIAS = np.array([0.2, -0.3], np.float32)
LOGIT_KERNEL, LOGIT_BIAS = np.array([[-1.0], [1.5]], np.float32), np.array([0.3], np.float32)
STEPS = [[10.0, 5.0, -1.0], [2.0]]
WEIGHTS = {
    "rnn/rnn/basic_rnn_cell/kernel": KERNEL,
    "rnn/rnn/basic_rnn_cell/bias": BIAS,
    "rnn/logits/dense/kernel": LOGIT_KERNEL,
    "rnn/logits/dense/bias": LOGIT_BIAS,
}


def saved(folder: Path, weights: dict[str, np.ndarray] = WEIGHTS) -> str:
    """The folder, with a checkpoint of these variables at step 7."""
    with tf.Graph().as_default(), tf.Session() as sess:
        for name, value in weights.items():
            tf.Variable(value, name=name)
        tf.Variable(7, dtype=tf.int64, name="global_step")
        sess.run(tf.global_variables_initializer())
        tf.train.Saver().save(sess, str(folder / "model.ckpt"), 7)
    return str(folder)


def sparse(rows: Any, dtype: Any = tf.float32) -> tf.SparseTensor:
    indices = [[i, j] for i, row in enumerate(rows) for j in range(len(row))]
    values = tf.constant([value for row in rows for value in row], dtype)
    return tf.SparseTensor(indices, values, [len(rows), max(map(len, rows))])


def data(labels: Any = None, **more: Any) -> Any:
    def input_fn() -> Any:
        features = {"price": sparse(STEPS), **{k: tf.constant(v) for k, v in more.items()}}
        if labels is None:
            return tf.data.Dataset.from_tensors(features)
        return features, tf.constant(labels)

    return input_fn


def outputs(rows: Any = STEPS, kernel: np.ndarray = KERNEL, context: Any = None) -> list[Any]:
    """The states of a plain cell at all steps, example by example."""
    found = []
    for i, row in enumerate(rows):
        state, states = np.zeros(2, np.float32), []
        for value in row:
            read = [value] if context is None else [value, *context[i]]
            state = np.tanh(np.concatenate([read, state]) @ kernel + BIAS)
            states.append(state)
        found.append(np.array(states))
    return found


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def test_a_classifier_reads_the_last_step_of_each_example(tmp_path: Path) -> None:
    price = columns.sequence_numeric_column("price")
    model = estimator.RNNClassifier([price], num_units=[2], model_dir=saved(tmp_path))
    last = np.array([states[-1] for states in outputs()])
    logits = last @ LOGIT_KERNEL + LOGIT_BIAS
    found = list(model.predict(data()))
    np.testing.assert_allclose([each["logits"] for each in found], logits, rtol=1e-5)
    labels = np.array([[0.0], [1.0]])
    losses = -np.log(np.where(labels == 1, sigmoid(logits), 1 - sigmoid(logits)))
    measured = model.evaluate(data([[0], [1]]), steps=1)
    assert measured["global_step"] == 7
    np.testing.assert_allclose(measured["loss"], losses.mean(), rtol=1e-5)


def test_context_columns_are_repeated_at_each_step(tmp_path: Path) -> None:
    kernel = np.concatenate([KERNEL[:1], [[0.7, -0.9]], KERNEL[1:]]).astype(np.float32)
    weights = {**WEIGHTS, "rnn/rnn/basic_rnn_cell/kernel": kernel}
    model = estimator.RNNEstimator(
        estimator.regression_head(),
        [columns.sequence_numeric_column("price")],
        [tf.feature_column.numeric_column("context")],
        num_units=[2],
        model_dir=saved(tmp_path, weights),
    )
    context = [[-0.5], [0.8]]
    last = np.array([states[-1] for states in outputs(kernel=kernel, context=context)])
    found = [each["predictions"] for each in model.predict(data(context=context))]
    np.testing.assert_allclose(found, last @ LOGIT_KERNEL + LOGIT_BIAS, rtol=1e-5)


def test_a_sequential_head_counts_the_steps_that_are_there(tmp_path: Path) -> None:
    head = SequentialHeadWrapper(tf.estimator.BinaryClassHead(), "mask")
    model = estimator.RNNEstimator(
        head,
        [columns.sequence_numeric_column("price")],
        num_units=[2],
        return_sequences=True,
        model_dir=saved(tmp_path),
    )

    def with_labels() -> Any:
        return {"price": sparse(STEPS)}, sparse([[0, 1, 1], [1]], tf.int64)

    logits = np.concatenate(outputs()) @ LOGIT_KERNEL + LOGIT_BIAS
    labels = np.array([[0], [1], [1], [1]])
    losses = -np.log(np.where(labels == 1, sigmoid(logits), 1 - sigmoid(logits)))
    np.testing.assert_allclose(
        model.evaluate(with_labels, steps=1)["loss"], losses.mean(), rtol=1e-5
    )
    first, _ = model.predict(data())
    np.testing.assert_array_equal(first["mask"], [True, True, True])
    np.testing.assert_allclose(first["logits"], logits[:3], rtol=1e-5)


@pytest.mark.parametrize(("cell_type", "sizes"), [("lstm", [2, 3]), ("gru", [2]), (None, [2, 2])])
def test_training_and_the_names_of_variables(tmp_path: Path, cell_type: Any, sizes: Any) -> None:
    price = columns.sequence_numeric_column("price")
    kind = {} if cell_type is None else {"cell_type": cell_type}
    model = estimator.RNNClassifier(
        [price], num_units=sizes, n_classes=3, model_dir=str(tmp_path), **kind
    )
    model.train(data([[0], [2]]), steps=2)
    names = [name for name in model.get_variable_names() if "Adagrad" not in name]
    cell = {"lstm": "basic_lstm_cell", "gru": "gru_cell", None: "basic_rnn_cell"}[cell_type]
    parts = ("candidate/", "gates/") if cell_type == "gru" else ("",)
    layers = [f"multi_rnn_cell/cell_{i}/" for i in range(len(sizes))] if len(sizes) > 1 else [""]
    assert sorted(names) == sorted(
        ["global_step", "rnn/logits/dense/kernel", "rnn/logits/dense/bias"]
        + [
            f"rnn/rnn/{layer}{cell}/{part}{what}"
            for layer in layers
            for part in parts
            for what in ("kernel", "bias")
        ]
    )
    assert model.get_variable_value("global_step") == 2


def test_gradients_are_clipped_unless_an_optimizer_is_given(tmp_path: Path) -> None:
    price = columns.sequence_numeric_column("price")

    def step_of(optimizer: Any, folder: str) -> np.ndarray:
        model = estimator.RNNEstimator(
            estimator.regression_head(), [price], num_units=[2], optimizer=optimizer,
            model_dir=saved(tmp_path / folder),
        )  # fmt: skip
        model.train(data([[1000.0], [-1000.0]]), steps=1)
        steps = [model.get_variable_value(name) - value for name, value in WEIGHTS.items()]
        return np.linalg.norm(np.concatenate([step.ravel() for step in steps]))

    for folder in ("clipped", "plain"):
        (tmp_path / folder).mkdir()
    by_function = step_of(lambda: tf.train.GradientDescentOptimizer(1.0), "clipped")
    np.testing.assert_allclose(by_function, 5.0, rtol=1e-4)
    assert step_of(tf.train.GradientDescentOptimizer(1.0), "plain") > 50


def test_a_function_may_make_the_cell(tmp_path: Path) -> None:
    modes = []

    def cell_fn(mode: Any) -> Any:
        modes.append(mode)
        return tf.nn.rnn_cell.BasicRNNCell(2)

    price = columns.sequence_numeric_column("price")
    model = estimator.RNNClassifier([price], rnn_cell_fn=cell_fn, model_dir=str(tmp_path))
    model.train(data([[0], [1]]), steps=1)
    assert modes == [TRAIN]


WRONG = {
    "both ways to a cell": (
        lambda: estimator.RNNClassifier([], num_units=[2], rnn_cell_fn=lambda mode: None),
        "num_units and cell_type must not be specified when using rnn_cell_fn",
    ),
    "head without a mask": (
        lambda: estimator.RNNEstimator(
            estimator.regression_head(), [], num_units=[2], return_sequences=True
        ),
        "Provided head must be a `_SequentialHead` object",
    ),
    "several heads": (
        lambda: SequentialHeadWrapper(
            tf.estimator.MultiHead([tf.estimator.BinaryClassHead(name="a")])
        ),
        "`MultiHead` is not supported with `SequentialHeadWrapper`.",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_errors(case: str) -> None:
    call, message = WRONG[case]
    with pytest.raises(ValueError, match=message):
        call()


def test_an_unknown_cell(tmp_path: Path) -> None:
    price = columns.sequence_numeric_column("price")
    model = estimator.RNNClassifier([price], num_units=[2], cell_type="tanh")
    with pytest.raises(ValueError, match=f"Supported cell types are .*{next(iter(CELLS))}.*tanh"):
        model.train(data([[0], [1]]), steps=1)


def test_parameters() -> None:
    assert list(inspect.signature(estimator.RNNEstimator).parameters) == [
        "head", "sequence_feature_columns", "context_feature_columns", "num_units", "cell_type",
        "rnn_cell_fn", "return_sequences", "model_dir", "optimizer", "input_layer_partitioner",
        "config",
    ]  # fmt: skip
