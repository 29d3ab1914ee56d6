"""Training through `dynamic_decode`: its loop, its conditionals and their gradients fold whole."""

import numpy as np
import pytest

import weft as tf
from weft.core import flags
from weft.runtime.plan import Plan


def losses(way):
    """Four steps of training a decoder on fixed data from fixed weights."""
    rows, steps, words, units = 4, 5, 20, 8
    with flags.CONTROL_FLOW.override(way), tf.Graph().as_default():
        tf.set_random_seed(3)
        ids = tf.placeholder(tf.int32, [rows, steps])
        lengths = tf.placeholder(tf.int32, [rows])
        table = tf.get_variable("table", [words, units])
        cell = tf.nn.rnn_cell.GRUCell(units)
        helper = tf.contrib.seq2seq.TrainingHelper(tf.nn.embedding_lookup(table, ids), lengths)
        start = cell.zero_state(rows, tf.float32)
        layer = tf.layers.Dense(words)
        decoder = tf.contrib.seq2seq.BasicDecoder(cell, helper, start, output_layer=layer)
        outputs, _, _ = tf.contrib.seq2seq.dynamic_decode(decoder)
        loss = tf.contrib.seq2seq.sequence_loss(
            outputs.rnn_output, ids, tf.sequence_mask(lengths, steps, tf.float32)
        )
        train = tf.train.AdamOptimizer(0.05).minimize(loss)
        fed = {ids: np.arange(rows * steps).reshape(rows, steps) % words, lengths: [5, 3, 5, 1]}
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            found = [sess.run([loss, train], fed)[0] for _ in range(4)]
            plans = list(sess._runner._plans.values())
        return found, plans


@pytest.mark.on_host
def test_the_same_losses_however_it_runs():
    wanted, _ = losses("nodes")
    assert wanted[-1] < wanted[0]
    for way in ("bodies", "loops", "whole"):
        found, plans = losses(way)
        assert found == pytest.approx(wanted, rel=1e-4)
        assert all(isinstance(plan, Plan) for plan in plans)
