"""A program with types, as a user writes it: type checkers have nothing to say about it."""

from __future__ import annotations

import numpy as np

import weft as tf


def network(images: tf.Tensor, classes: int, training: bool = False) -> tf.Tensor:
    hidden = tf.layers.conv2d(images, 32, 3, activation=tf.nn.relu, name="conv")
    hidden = tf.layers.max_pooling2d(hidden, 2, 2)
    hidden = tf.layers.dense(tf.layers.flatten(hidden), units=64, activation=tf.nn.relu)
    hidden = tf.layers.dropout(hidden, rate=0.4, training=training)
    return tf.layers.dense(hidden, classes)


def loss_of(logits: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    weights = tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables()])
    return tf.reduce_mean(losses) + 1e-4 * tf.square(weights)


def train(steps: int) -> float:
    images = tf.placeholder(tf.float32, [None, 8, 8, 1], name="images")
    labels = tf.placeholder(tf.int64, [None])
    loss: tf.Tensor = loss_of(network(images, 10, training=True), labels)
    step = tf.train.get_or_create_global_step()
    rate = tf.train.exponential_decay(0.1, step, 100, 0.9)
    minimize = tf.train.AdamOptimizer(learning_rate=rate).minimize(loss, global_step=step)
    saver = tf.train.Saver(max_to_keep=2)
    value = 0.0
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(steps):
            batch = {images: np.zeros([4, 8, 8, 1]), labels: np.zeros([4])}
            value, _ = session.run([loss, minimize], feed_dict=batch)
        saver.save(session, "./model", global_step=steps)
    return float(value)


def count_rows(path: str) -> tf.Tensor:
    dataset = tf.data.TextLineDataset(path).map(lambda line: tf.size(line)).batch(2)
    lengths: tf.Tensor = dataset.make_one_shot_iterator().get_next()
    best = tf.argmax(lengths, axis=0)
    return tf.cast(tf.maximum(best, 1), tf.float32) / 2.0
