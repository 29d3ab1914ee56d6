"""Estimators whose weights begin with random numbers of a seed.

`run(tf, name, folder)` trains one for three steps, evaluates it and lets it predict;
record_seeded.py keeps what TensorFlow 1.15 does.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from typing import Any

import numpy as np

ESTIMATORS: dict[str, tuple[Callable[[Any, Any], Any], str]] = {}
STEPS = 3


def estimator(name: str, labels: str, make: Callable[[Any, Any], Any]) -> None:
    ESTIMATORS[name] = make, labels


def data() -> dict[str, np.ndarray]:
    generator = np.random.RandomState(0)
    return {
        "x": generator.rand(40).astype(np.float32),
        "v": generator.rand(40, 3).astype(np.float32),
        "word": np.array(["a", "b", "c", "d"] * 10),
        "number": (np.arange(40) % 5).astype(np.int64),
    }


def labels(kind: str) -> np.ndarray:
    generator = np.random.RandomState(1)
    if kind == "numbers":
        return generator.rand(40, 1).astype(np.float32)
    return generator.randint(0, {"two": 2, "three": 3}[kind], [40, 1])


def columns(tf: Any) -> dict[str, Any]:
    feature = tf.feature_column
    words = feature.categorical_column_with_vocabulary_list("word", ["a", "b", "c"])
    x = feature.numeric_column("x")
    return {
        "x": x,
        "v": feature.numeric_column("v", [3]),
        "words": words,
        "buckets": feature.bucketized_column(x, [0.3, 0.6]),
        "each": feature.indicator_column(words),
        "embedded": feature.embedding_column(
            feature.categorical_column_with_identity("number", 5), 2
        ),
        "weighted": feature.embedding_column(
            feature.weighted_categorical_column(words, "x"), 2, combiner="sqrtn"
        ),
    }


def _columns(tf: Any, names: str) -> list[Any]:
    known = columns(tf)
    return [known[name] for name in names.split()]


estimator("linear_classifier", "two", lambda tf, config: tf.estimator.LinearClassifier(
    _columns(tf, "x words buckets"), config=config))  # fmt: skip
estimator("linear_regressor", "numbers", lambda tf, config: tf.estimator.LinearRegressor(
    _columns(tf, "x words"), config=config))  # fmt: skip
estimator("dnn_classifier", "two", lambda tf, config: tf.estimator.DNNClassifier(
    [4, 3], _columns(tf, "x each embedded"), config=config))  # fmt: skip
estimator("dnn_dropout", "three", lambda tf, config: tf.estimator.DNNClassifier(
    [4], _columns(tf, "v"), n_classes=3, dropout=0.3, optimizer="Adam", config=config))  # fmt: skip
estimator("dnn_batch_norm", "two", lambda tf, config: tf.estimator.DNNClassifier(
    [4, 3], _columns(tf, "x"), batch_norm=True, config=config))  # fmt: skip
estimator("dnn_regressor", "numbers", lambda tf, config: tf.estimator.DNNRegressor(
    [4], _columns(tf, "x embedded"), activation_fn=tf.nn.tanh, config=config))  # fmt: skip
estimator("combined", "two", lambda tf, config: tf.estimator.DNNLinearCombinedClassifier(
    linear_feature_columns=_columns(tf, "words buckets"),
    dnn_feature_columns=_columns(tf, "x embedded"), dnn_hidden_units=[4, 3],
    config=config))  # fmt: skip
estimator("combined_regressor", "numbers", lambda tf, config: (
    tf.estimator.DNNLinearCombinedRegressor(
        linear_feature_columns=_columns(tf, "words"), dnn_feature_columns=_columns(tf, "x"),
        dnn_hidden_units=[4], dnn_dropout=0.2, config=config)))  # fmt: skip
estimator("baseline", "three", lambda tf, config: tf.estimator.BaselineClassifier(
    n_classes=3, config=config))  # fmt: skip
estimator("dnn_weighted", "two", lambda tf, config: tf.estimator.DNNClassifier(
    [4], _columns(tf, "weighted"), config=config))  # fmt: skip


def _model(tf: Any, features: Any, wanted: Any, mode: str) -> Any:
    net = tf.layers.dense(features["v"], 4, activation=tf.nn.relu)
    net = tf.layers.dense(tf.layers.dropout(net, 0.5, training=mode == "train"), 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"found": net})
    loss = tf.losses.mean_squared_error(wanted, net)
    if mode == tf.estimator.ModeKeys.EVAL:
        metrics = {"error": tf.metrics.mean_absolute_error(wanted, net)}
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    step = tf.train.get_global_step()
    train = tf.train.AdagradOptimizer(0.1).minimize(loss, global_step=step)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)


def _custom(tf: Any, config: Any) -> Any:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        return _model(tf, features, labels, mode)

    return tf.estimator.Estimator(model_fn, config=config)


estimator("custom", "numbers", _custom)


def from_data_set(tf: Any, kind: str) -> Any:
    """Batches of a data set that is shuffled and repeated: the seed decides on its order, too."""
    dataset = tf.data.Dataset.from_tensor_slices((data(), labels(kind)))
    return dataset.shuffle(40).repeat().batch(10)


def run(tf: Any, name: str, folder: str) -> dict[str, Any]:
    make, kind = ESTIMATORS[name]
    config = tf.estimator.RunConfig(
        model_dir=folder, tf_random_seed=1, save_summary_steps=1, log_step_count_steps=1
    )
    found = make(tf, config)

    def once(wanted: Any) -> Any:
        return tf.estimator.inputs.numpy_input_fn(
            data(), wanted, batch_size=10, num_epochs=1, shuffle=False
        )

    with said() as lines:
        found.train(lambda: from_data_set(tf, kind), steps=STEPS)
        metrics = found.evaluate(once(labels(kind)), steps=2)
    predicted = [each for _, each in zip(range(2), found.predict(once(None)))]  # noqa: B905
    return {
        "lines": [_undated(line) for line in lines],
        "metrics": {key: float(value) for key, value in metrics.items()},
        "predicted": [{key: plain(value) for key, value in each.items()} for each in predicted],
        "variables": {key: _sum(found, key) for key in found.get_variable_names()},
    }


def _sum(found: Any, name: str) -> float:
    return float(np.sum(found.get_variable_value(name)))


def plain(value: Any) -> Any:
    value = np.asarray(value).tolist()
    if isinstance(value, list):
        return [each.decode() if isinstance(each, bytes) else each for each in value]
    return value


class said(logging.Handler):
    """What is logged inside of it."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())

    def __enter__(self) -> list[str]:
        for name in ("tensorflow", "weft"):
            logging.getLogger(name).addHandler(self)
        return self.lines

    def __exit__(self, *error: Any) -> None:
        for name in ("tensorflow", "weft"):
            logging.getLogger(name).removeHandler(self)


def _undated(line: str) -> str:
    line = line.split("\n")[0]
    line = re.sub(r"\d{4}-\d\d-\d\d[T-]\d\d:\d\d:\d\dZ?|\([\d.]+ sec\)|/[\w./-]*/", "", line)
    line = re.sub(r"global_step/sec: [\d.]+", "global_step/sec", line)
    return re.sub(r"(\d\.\d{2})\d+", r"\1", line)
