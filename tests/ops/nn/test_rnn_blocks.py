"""LSTM and GRU steps as single nodes: gradients, and the cells they are the same as."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from tests.ops.samples.rnn_blocks import BATCH, CELL, DEPTH, GRU, SEQUENCE, TIME, UNITS


@pytest.fixture
def sess():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def _error(inputs, value, shape):
    """The largest error of the gradient of `value` with respect to all of `inputs`."""
    shapes = [tensor.shape.as_list() for tensor in inputs]
    return tf.test.compute_gradient_error(inputs, shapes, value, shape, delta=1e-2)


@pytest.mark.parametrize("peephole", [False, True])
def test_gradient_of_an_lstm_step(sess, peephole):
    inputs = [tf.constant(x) for x in CELL]
    found = tf.raw_ops.LSTMBlockCell(
        **dict(zip("x cs_prev h_prev w wci wcf wco b".split(), inputs, strict=True)),
        use_peephole=peephole,
    )
    assert _error(inputs, found.h * 2.0 + found.cs, [BATCH, UNITS]) < 2e-3


@pytest.mark.parametrize("length", [TIME, 3])
def test_gradient_of_a_sequence(sess, length):
    inputs = [tf.constant(x) for x in SEQUENCE]
    names = "x cs_prev h_prev w wci wcf wco b".split()
    found = tf.raw_ops.BlockLSTM(
        seq_len_max=tf.constant(length, tf.int64), use_peephole=True,
        **dict(zip(names, inputs, strict=True)),
    )  # fmt: skip
    assert _error(inputs, found.h * 2.0 + found.cs, [TIME, BATCH, UNITS]) < 3e-3
    for _ in range(2):  # interpreted, then compiled
        h, gradient = sess.run([found.h, tf.gradients(found.h, inputs[0])[0]])
        assert not h[length:].any() and h[:length].all()
        assert not gradient[length:].any() and gradient[:length].any()


def test_a_sequence_is_its_steps(sess):
    x, cs, h, *weights = [tf.constant(part) for part in SEQUENCE]
    keys = dict(zip("w wci wcf wco b".split(), weights, strict=True))
    whole = tf.raw_ops.BlockLSTM(
        seq_len_max=tf.constant(TIME, tf.int64), x=x, cs_prev=cs, h_prev=h, cell_clip=0.2, **keys
    )
    for t in range(TIME):
        step = tf.raw_ops.LSTMBlockCell(x=x[t], cs_prev=cs, h_prev=h, cell_clip=0.2, **keys)
        cs, h = step.cs, step.h
    np.testing.assert_allclose(*sess.run([whole.h[-1], h]), rtol=1e-6)


def test_gradient_of_a_gru_step(sess):
    inputs = [tf.constant(x) for x in GRU]
    found = tf.raw_ops.GRUBlockCell(
        **dict(zip("x h_prev w_ru w_c b_ru b_c".split(), inputs, strict=True))
    )
    assert _error(inputs, found.h, [BATCH, UNITS]) < 2e-3


def test_the_block_cell_is_the_operation(sess):
    cell = tf.contrib.rnn.GRUBlockCell(UNITS)
    x, h = tf.constant(GRU[0]), tf.constant(GRU[1])
    output, _ = cell(x, h)
    w_ru, b_ru, w_c, b_c = cell.variables
    assert [v.op.name for v in cell.variables] == [
        f"gru_cell/{n}" for n in "w_ru b_ru w_c b_c".split()
    ]
    assert w_ru.shape == [DEPTH + UNITS, 2 * UNITS]
    same = tf.raw_ops.GRUBlockCell(x=x, h_prev=h, w_ru=w_ru, w_c=w_c, b_ru=b_ru, b_c=b_c).h
    sess.run(tf.global_variables_initializer())
    np.testing.assert_allclose(*sess.run([output, same]), rtol=1e-6, atol=1e-7)
