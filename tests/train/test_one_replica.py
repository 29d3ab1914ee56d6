"""Strategies of one replica, by themselves and in an Estimator."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import weft as tf

distribute = tf.contrib.distribute


def test_scope() -> None:
    strategy = distribute.OneDeviceStrategy("/device:CPU:0")
    assert not distribute.has_distribution_strategy()
    with strategy.scope():
        assert distribute.get_strategy() is strategy
        made = tf.constant(1.0)
    assert made.device == "/device:CPU:0" and not distribute.has_strategy()
    assert strategy.num_replicas_in_sync == 1
    found = strategy.experimental_run_v2(lambda x: x + made, (2.0,))
    with tf.Session() as session:
        assert session.run(strategy.reduce("SUM", found)) == 3.0


def test_mirrored() -> None:
    assert distribute.MirroredStrategy(["/device:CPU:0"]).worker_devices == ("/device:CPU:0",)
    with pytest.raises(NotImplementedError, match="one replica"):
        distribute.MirroredStrategy(["/gpu:0", "/gpu:1"])


def test_estimator(tmp_path: Path) -> None:
    devices = []

    def model_fn(features: tf.Tensor, labels: tf.Tensor, mode: str) -> tf.estimator.EstimatorSpec:
        w = tf.get_variable("w", [])
        devices.append((mode, w.device, distribute.has_distribution_strategy()))
        loss = tf.reduce_mean((features["x"] * w - labels) ** 2)
        step = tf.train.get_global_step()
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, step)
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)

    strategy = distribute.OneDeviceStrategy("/device:CPU:0")
    config = tf.estimator.RunConfig(model_dir=str(tmp_path), train_distribute=strategy)
    estimator = tf.estimator.Estimator(model_fn, config=config)
    data = np.ones(4, np.float32)
    estimator.train(tf.estimator.inputs.numpy_input_fn({"x": data}, data * 3, shuffle=False))
    assert devices == [("train", "/device:CPU:0", True)]
    with pytest.raises(ValueError, match="one replica only"):
        tf.estimator.RunConfig(train_distribute=object())
    tf.summary.FileWriterCache.clear()
