"""The LSTM that several benchmarks use, as each implementation offers it."""

from __future__ import annotations

from typing import Any

import numpy as np

UNITS, STEPS, BATCH = 256, 32, 32


def lstm_cell(tf: Any, impl: str, units: int = UNITS) -> Any:
    """`tf.nn.rnn_cell.BasicLSTMCell`, which TensorFlow 2.21 does not have any more."""
    return tf.nn.rnn_cell.BasicLSTMCell(units) if impl == "weft" else _BasicLSTMCell(tf, units)


class _BasicLSTMCell:
    """The same nodes as those of TensorFlow 1.15's cell, for TensorFlow 2.21's `dynamic_rnn`."""

    def __init__(self, tf: Any, units: int) -> None:
        self.tf, self.units, self.output_size = tf, units, units
        self.state_size = (units, units)

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        return tuple(self.tf.zeros([batch_size, self.units], dtype) for _ in range(2))

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        tf, (c, h) = self.tf, state
        depth = inputs.shape.as_list()[1]
        with tf.variable_scope("basic_lstm_cell", reuse=tf.AUTO_REUSE):
            kernel = tf.get_variable("kernel", [depth + self.units, 4 * self.units])
            bias = tf.get_variable("bias", [4 * self.units], initializer=tf.zeros_initializer())
        gates = tf.nn.bias_add(tf.matmul(tf.concat([inputs, h], 1), kernel), bias)
        i, j, f, o = tf.split(gates, 4, axis=1)
        c = c * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
        h = tf.tanh(c) * tf.sigmoid(o)
        return h, (c, h)


def training_step(tf: Any, impl: str, with_lengths: bool) -> tuple[Any, Any, dict[Any, Any]]:
    """(loss, train, feeds) of an LSTM that learns to give the mean of its inputs."""
    random = np.random.default_rng(0)
    inputs = tf.placeholder(tf.float32, [BATCH, STEPS, UNITS])
    wanted = tf.placeholder(tf.float32, [BATCH, UNITS])
    values = random.standard_normal((BATCH, STEPS, UNITS)).astype(np.float32)
    feeds = {inputs: values, wanted: values.mean(1)}
    lengths = None
    if with_lengths:
        lengths = tf.placeholder(tf.int32, [BATCH])
        feeds[lengths] = random.integers(1, STEPS + 1, BATCH).astype(np.int32)
        feeds[lengths][0] = STEPS
    cell = lstm_cell(tf, impl)
    outputs, state = tf.nn.dynamic_rnn(cell, inputs, sequence_length=lengths, dtype=tf.float32)
    loss = tf.reduce_mean(tf.square(state[1] - wanted)) + 0.01 * tf.reduce_mean(tf.square(outputs))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    return loss, train, feeds


def run(tf: Any, impl: str, name: str, with_lengths: bool) -> None:
    """Times the training step and prints the result."""
    from common import median_call, report

    loss, train, feeds = training_step(tf, impl, with_lengths)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        before = session.run(loss, feeds)
        seconds = median_call(lambda: session.run(train, feeds), samples=11, first=10)
        after = session.run(loss, feeds)
    assert after < before, "it does not learn"
    report(name, impl, seconds, loss_before=float(before), loss_after=float(after))
