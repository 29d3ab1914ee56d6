"""Programs with Estimators that run on TensorFlow as on weft, each giving what is compared.

`record.py` runs them on TensorFlow and keeps the first checkpoint of each; the tests put that
checkpoint where weft's Estimator looks for it, so that both begin with the same variables.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

STEPS = 12
ROWS = 24


def data() -> dict[str, np.ndarray]:
    """Features that never change."""
    rng = np.random.default_rng(7)
    return {
        "a": rng.normal(size=(ROWS, 3)).astype(np.float32),
        "b": rng.uniform(size=(ROWS, 1)).astype(np.float32),
        "word": np.array([b"red", b"green", b"blue", b"black"], dtype=object)[
            rng.integers(0, 4, ROWS)
        ],
        "weight": rng.uniform(0.5, 2.0, size=(ROWS, 1)).astype(np.float32),
    }


def labels(kind: str) -> Any:
    rng = np.random.default_rng(8)
    return {
        "binary": rng.integers(0, 2, (ROWS, 1)),
        "classes": rng.integers(0, 3, (ROWS, 1)),
        "names": np.array([b"x", b"y", b"z"], dtype=object)[rng.integers(0, 3, (ROWS, 1))],
        "value": rng.normal(size=(ROWS, 1)).astype(np.float32),
        "two": rng.normal(size=(ROWS, 2)).astype(np.float32),
        "count": rng.integers(0, 5, (ROWS, 1)).astype(np.float32),
        "both": {
            "r": rng.normal(size=(ROWS, 1)).astype(np.float32),
            "s": rng.integers(0, 2, (ROWS, 1)),
        },
        "many": rng.integers(0, 2, (ROWS, 3)),
    }[kind]


def _columns(tf: Any) -> tuple[list[Any], list[Any]]:
    """(for linear models, for networks)"""
    fc = tf.feature_column
    words = fc.categorical_column_with_vocabulary_list("word", ["red", "green", "blue"])
    numbers = [fc.numeric_column("a", shape=(3,)), fc.numeric_column("b")]
    bucketized = fc.bucketized_column(fc.numeric_column("b"), [0.25, 0.5, 0.75])
    crossed = fc.crossed_column(["word", bucketized], 20)
    return (
        [*numbers, words, bucketized, crossed],
        [*numbers, fc.embedding_column(words, 2), fc.indicator_column(words)],
    )


Make = Callable[[Any, Any], Any]


def _dnn_classifier(tf: Any, config: Any) -> Any:
    return tf.estimator.DNNClassifier([5, 4], _columns(tf)[1], n_classes=3, config=config)


def _dnn_batch_norm(tf: Any, config: Any) -> Any:
    return tf.estimator.DNNClassifier(
        [5], _columns(tf)[1], config=config, batch_norm=True, weight_column="weight",
        optimizer=tf.train.GradientDescentOptimizer(0.1), activation_fn=tf.nn.tanh,
    )  # fmt: skip


def _dnn_regressor(tf: Any, config: Any) -> Any:
    return tf.estimator.DNNRegressor(
        [6], _columns(tf)[1], label_dimension=2, config=config, optimizer="Adam"
    )


def _linear_classifier(tf: Any, config: Any) -> Any:
    return tf.estimator.LinearClassifier(
        _columns(tf)[0], config=config, weight_column="weight", n_classes=2
    )


def _linear_names(tf: Any, config: Any) -> Any:
    return tf.estimator.LinearClassifier(
        _columns(tf)[0], config=config, n_classes=3, label_vocabulary=["x", "y", "z"],
        loss_reduction=tf.losses.Reduction.MEAN, sparse_combiner="mean",
    )  # fmt: skip


def _linear_regressor(tf: Any, config: Any) -> Any:
    return tf.estimator.LinearRegressor(_columns(tf)[0], config=config, optimizer="SGD")


def _combined(tf: Any, config: Any) -> Any:
    wide, deep = _columns(tf)
    return tf.estimator.DNNLinearCombinedClassifier(
        linear_feature_columns=wide, dnn_feature_columns=deep, dnn_hidden_units=[4], config=config
    )


def _combined_regressor(tf: Any, config: Any) -> Any:
    wide, deep = _columns(tf)
    return tf.estimator.DNNLinearCombinedRegressor(
        linear_feature_columns=wide, dnn_feature_columns=deep, dnn_hidden_units=[4], config=config
    )


def _baseline(tf: Any, config: Any) -> Any:
    return tf.estimator.BaselineClassifier(n_classes=3, config=config)


def _baseline_regressor(tf: Any, config: Any) -> Any:
    return tf.estimator.BaselineRegressor(config=config)


def _custom_fn(tf: Any, features: Any, labels: Any, mode: Any, params: Any) -> Any:
    keys = tf.estimator.ModeKeys
    net = tf.layers.dense(features["a"], params["units"], tf.nn.relu, name="hidden")
    logits = tf.layers.dense(net, 3, name="out")
    predictions = {"class": tf.argmax(logits, 1), "p": tf.nn.softmax(logits)}
    if mode == keys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    optimizer = tf.train.MomentumOptimizer(params["rate"], 0.9)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    accuracy = tf.metrics.accuracy(labels[:, 0], predictions["class"])
    return tf.estimator.EstimatorSpec(
        mode, predictions, loss, train_op, eval_metric_ops={"accuracy": accuracy}
    )


def _custom(tf: Any, config: Any) -> Any:
    def model_fn(features: Any, labels: Any, mode: Any, params: Any) -> Any:
        return _custom_fn(tf, features, labels, mode, params)

    return tf.estimator.Estimator(model_fn, config=config, params={"units": 4, "rate": 0.1})


def _with_head(tf: Any, config: Any, make_head: Any) -> Any:
    def model_fn(features: Any, labels: Any, mode: Any) -> Any:
        head = make_head(tf.estimator)
        logits = tf.layers.dense(features["a"], head.logits_dimension, name="logits")
        penalty = [0.01 * tf.reduce_sum(tf.square(logits))]

        def train(loss: Any) -> Any:
            optimizer = tf.train.GradientDescentOptimizer(0.1)
            return optimizer.minimize(loss, tf.train.get_global_step())

        return head.create_estimator_spec(
            features, mode, logits, labels, train_op_fn=train, regularization_losses=penalty
        )

    return tf.estimator.Estimator(model_fn, config=config)


def _head(make_head: Any) -> Make:
    return lambda tf, config: _with_head(tf, config, make_head)


_binary_head = _head(
    lambda e: e.BinaryClassHead(weight_column="weight", thresholds=[0.3, 0.6], name="bin")
)
_multi_class_head = _head(
    lambda e: e.MultiClassHead(3, label_vocabulary=["x", "y", "z"], loss_reduction="sum")
)
_multi_label_head = _head(
    lambda e: e.MultiLabelHead(
        3, weight_column="weight", thresholds=[0.4], classes_for_class_based_metrics=[0, 2]
    )
)
_poisson_head = _head(lambda e: e.PoissonRegressionHead())
_logistic_head = _head(lambda e: e.LogisticRegressionHead(weight_column="weight"))
_two_heads = _head(
    lambda e: e.MultiHead([e.RegressionHead(name="r"), e.BinaryClassHead(name="s")], [2.0, 0.5])
)


def _kmeans_whole(tf: Any, config: Any) -> Any:
    """Not by mini-batches: there TensorFlow reads counts while it adds to them."""
    columns = [tf.feature_column.numeric_column("a", shape=(3,))]
    centers = np.array([[0.5, 0, 0], [0, 0.5, 0], [-0.5, 0, 0.1]], np.float32)
    return tf.estimator.experimental.KMeans(
        3, initial_clusters=centers, use_mini_batch=False, config=config, feature_columns=columns
    )


# Name -> (what makes the Estimator, which labels it takes).
ESTIMATORS: dict[str, tuple[Make, str | None]] = {
    "dnn_classifier": (_dnn_classifier, "classes"),
    "dnn_batch_norm": (_dnn_batch_norm, "binary"),
    "dnn_regressor": (_dnn_regressor, "two"),
    "linear_classifier": (_linear_classifier, "binary"),
    "linear_names": (_linear_names, "names"),
    "linear_regressor": (_linear_regressor, "value"),
    "combined": (_combined, "binary"),
    "combined_regressor": (_combined_regressor, "value"),
    "baseline": (_baseline, "classes"),
    "baseline_regressor": (_baseline_regressor, "value"),
    "custom": (_custom, "classes"),
    "binary_head": (_binary_head, "binary"),
    "multi_class_head": (_multi_class_head, "names"),
    "multi_label_head": (_multi_label_head, "many"),
    "poisson_head": (_poisson_head, "count"),
    "logistic_head": (_logistic_head, "binary"),
    "two_heads": (_two_heads, "both"),
    "kmeans_whole": (_kmeans_whole, None),
}


def input_fn(tf: Any, kind: str | None, epochs: int | None) -> Any:
    return tf.estimator.inputs.numpy_input_fn(
        data(), None if kind is None else labels(kind), 8, num_epochs=epochs, shuffle=False
    )


def run(tf: Any, name: str, folder: str) -> dict[str, Any]:
    """Trains, evaluates and predicts: everything that is compared."""
    make, kind = ESTIMATORS[name]
    config = tf.estimator.RunConfig(
        model_dir=folder, tf_random_seed=3, save_checkpoints_steps=STEPS, log_step_count_steps=5,
        save_summary_steps=5,
    )  # fmt: skip
    estimator = make(tf, config)
    estimator.train(input_fn(tf, kind, None), max_steps=STEPS)
    variables = {
        each: estimator.get_variable_value(each) for each in estimator.get_variable_names()
    }
    metrics = estimator.evaluate(input_fn(tf, kind, 1), name="once")
    predictions = itertools.islice(estimator.predict(input_fn(tf, None, 1)), 3)
    return {
        "variables": {each: plain(value) for each, value in variables.items()},
        "metrics": {each: plain(value) for each, value in metrics.items()},
        "predictions": [
            {str(each): plain(value) for each, value in row.items()} for row in predictions
        ],
        "tags": scalar_tags(tf, folder),
        "eval_tags": scalar_tags(tf, folder + "/eval_once"),
    }


def scalar_tags(tf: Any, folder: str) -> list[str]:
    """The names of all values in the event files of a folder."""
    found = set()
    for path in tf.gfile.Glob(folder + "/events.out.tfevents.*"):
        for event in tf.train.summary_iterator(path):
            found |= {value.tag for value in event.summary.value}
    return sorted(tag for tag in found if tag != "global_step/sec")


def plain(value: Any) -> Any:
    """A value as JSON can hold it."""
    value = np.asarray(value)
    if value.dtype == object or value.dtype.kind in "SU":
        as_text = [each.decode() if isinstance(each, bytes) else str(each) for each in value.flat]
        return np.array(as_text, dtype=object).reshape(value.shape).tolist()
    return value.tolist()
