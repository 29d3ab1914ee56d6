"""Programs whose variables both TensorFlow and weft save; `tf` is the one or the other."""

from __future__ import annotations

from typing import Any

from tests.parity.checkpoints import ROWS


def partitioned(tf: Any) -> None:
    cut = tf.fixed_size_partitioner(3, axis=0)
    tf.get_variable("rows", initializer=tf.constant(ROWS), partitioner=cut)
    with tf.variable_scope("r", use_resource=True):
        tf.get_variable("rows", initializer=tf.constant(2 * ROWS), partitioner=cut)
    tf.get_variable("whole", initializer=tf.constant(ROWS))


def model(tf: Any) -> Any:
    x = tf.constant([[1.0, 2.0], [3.0, -1.0]])
    w = tf.get_variable("w", initializer=tf.constant([[0.5], [0.25]]))
    b = tf.get_variable("b", initializer=tf.constant([0.125]), use_resource=True)
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - 1.0))
    step = tf.train.get_or_create_global_step()
    return tf.train.AdamOptimizer(0.1).minimize(loss, global_step=step)


def on_two_devices(tf: Any) -> None:
    with tf.device("/cpu:0"):
        tf.get_variable("a", initializer=tf.constant([1.0, 2.0]))
        tf.get_variable("c", initializer=tf.constant([3.0]))
    with tf.device("/cpu:1"):
        tf.get_variable("b", initializer=tf.constant([4, 5, 6]))
