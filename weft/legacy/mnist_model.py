"""The two-layer network of TensorFlow's tutorials (`tensorflow.examples.tutorials.mnist.mnist`)."""

from __future__ import annotations

import math

import weft as tf

NUM_CLASSES = 10
IMAGE_SIZE = 28
IMAGE_PIXELS = IMAGE_SIZE * IMAGE_SIZE


def _layer(inputs: tf.Tensor, outputs: int) -> tf.Tensor:
    size = int(inputs.shape[1])
    spread = 1.0 / math.sqrt(size)
    weights = tf.Variable(tf.truncated_normal([size, outputs], stddev=spread), name="weights")
    biases = tf.Variable(tf.zeros([outputs]), name="biases")
    return tf.matmul(inputs, weights) + biases


def inference(images: tf.Tensor, hidden1_units: int, hidden2_units: int) -> tf.Tensor:
    """Logits for a batch of flat images."""
    layers = {"hidden1": hidden1_units, "hidden2": hidden2_units, "softmax_linear": NUM_CLASSES}
    values = images
    for name, units in layers.items():
        with tf.name_scope(name):
            sums = _layer(values, units)
            values = tf.nn.relu(sums) if name.startswith("hidden") else sums
    return values


def loss(logits: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    """The mean cross entropy against integer labels."""
    each = tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=tf.cast(labels, tf.int64), logits=logits, name="xentropy"
    )
    return tf.reduce_mean(each, name="xentropy_mean")


def training(loss: tf.Tensor, learning_rate: float) -> tf.Operation:
    """One step of gradient descent, counted in `global_step`."""
    tf.summary.scalar("loss", loss)  # type: ignore[attr-defined]
    global_step = tf.Variable(0, name="global_step", trainable=False)
    optimizer = tf.train.GradientDescentOptimizer(learning_rate)
    return optimizer.minimize(loss, global_step=global_step)


def evaluation(logits: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    """How many of the batch were classified rightly."""
    return tf.reduce_sum(tf.cast(tf.nn.in_top_k(logits, labels, 1), tf.int32))
