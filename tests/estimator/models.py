"""Small models and inputs that tests share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import weft as tf
from weft.lib.estimator.spec import EstimatorSpec

X = np.linspace(-1, 1, 20, dtype=np.float32).reshape(10, 2)
Y = (X @ np.array([[1.0], [-2.0]], np.float32) + 0.5)[:, 0]


def inputs(epochs: int | None = None, batch: int = 5) -> Any:
    return tf.estimator.inputs.numpy_input_fn({"x": X}, Y, batch, epochs, shuffle=False)


def questions(epochs: int = 1, batch: int = 4) -> Any:
    return tf.estimator.inputs.numpy_input_fn({"x": X}, None, batch, epochs, shuffle=False)


def linear_fn(features: Any, labels: Any, mode: str, params: Any) -> EstimatorSpec:
    """A linear model; training it long enough finds 1, -2 and 0.5."""
    outputs = tf.layers.dense(
        features["x"], 1, name="line", kernel_initializer=tf.zeros_initializer()
    )[:, 0]
    if mode == tf.estimator.ModeKeys.PREDICT:
        return EstimatorSpec(mode, predictions={"y": outputs, "twice": outputs * 2})
    loss = tf.losses.mean_squared_error(labels, outputs)
    optimizer = tf.train.GradientDescentOptimizer(params.get("rate", 0.1))
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    metrics = {"mae": tf.metrics.mean_absolute_error(labels, outputs)}
    return EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)


def linear(folder: Path, **config: Any) -> tf.estimator.Estimator:
    run = tf.estimator.RunConfig(model_dir=str(folder), tf_random_seed=1, **config)
    return tf.estimator.Estimator(linear_fn, config=run, params={})


def receiver() -> Any:
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    return tf.estimator.export.ServingInputReceiver({"x": x}, {"x": x})
