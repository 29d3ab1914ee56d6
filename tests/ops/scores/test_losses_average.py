"""Losses averaged over examples."""

from __future__ import annotations

import pytest

import weft as tf


def test_averages() -> None:
    losses = [2.0, 4.0, 9.0]
    asked = [
        tf.nn.compute_average_loss(losses),
        tf.nn.compute_average_loss(losses, sample_weight=[1.0, 0.5, 0.0]),
        tf.nn.compute_average_loss(losses, global_batch_size=6),
        tf.nn.scale_regularization_loss([1.0, 2.0]),
    ]
    with tf.Session() as session:
        assert session.run(asked) == pytest.approx([5.0, 4.0 / 3, 2.5, 3.0])
    with pytest.raises(ValueError, match="at least rank 1"):
        tf.nn.compute_average_loss(3.0)


def test_replicas_share_a_batch() -> None:
    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    with strategy.scope():
        results = strategy.experimental_run_v2(
            lambda: (
                tf.nn.compute_average_loss([2.0, 4.0]),
                tf.nn.compute_average_loss([2.0, 4.0], global_batch_size=8),
                tf.nn.scale_regularization_loss(3.0),
            )
        )
    asked = [list(strategy.experimental_local_results(each)) for each in results]
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
        assert session.run(asked) == [[1.5, 1.5], [0.75, 0.75], [1.5, 1.5]]
