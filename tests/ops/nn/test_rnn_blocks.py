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


PARTS = {"x": (2, 3), "cs_prev": (2, 4), "h_prev": (2, 4), "w": (7, 16), "b": (16,)}
WORDS = {
    ("cs_prev", (1, 4)): "cs_prev.dims(0) != batch_size: 1 vs. 2",
    ("h_prev", (1, 4)): "h_prev.dims(0) != batch_size: 1 vs. 2",
    ("h_prev", (2, 5)): "h_prev.dims(1) != cell_size: 5 vs. 4",
    ("w", (6, 16)): "w.dim_size(0) != input_size + cell_size: 6 vs. 7",
    ("w", (7, 15)): "w.dim_size(1) != cell_size * 4: 15 vs. 16",
    ("b", (15,)): "b.dim_size(0) != cell_size * 4: 15 vs. 16",
}


def _refusal(sess, op, shapes, **more):
    """What `op` says of ones of `shapes`, which only the step knows, twice."""
    values = {name: np.ones(shape, np.float32) for name, shape in shapes.items()}
    fed = {name: tf.placeholder(tf.float32) for name in shapes}
    found = op(**fed, **more)
    with pytest.raises(tf.errors.InvalidArgumentError) as first:
        sess.run(found, {fed[name]: value for name, value in values.items()})
    with pytest.raises(tf.errors.InvalidArgumentError) as second:
        sess.run(found, {fed[name]: value for name, value in values.items()})
    assert first.value.message == second.value.message
    return first.value.message


@pytest.mark.parametrize(("part", "shape"), WORDS)
def test_parts_of_an_lstm_go_together(sess, part, shape):
    given = {**PARTS, **dict.fromkeys(("wci", "wcf", "wco"), (4,)), part: shape}
    gates = dict.fromkeys("i cs f o ci co cs_grad h_grad".split(), (2, 4))
    words = WORDS[part, shape]
    assert words in _refusal(sess, tf.raw_ops.LSTMBlockCell, given)
    back = tf.raw_ops.LSTMBlockCellGrad
    assert words in _refusal(sess, back, {**given, **gates}, use_peephole=False)
    frames = {**given, "x": (2, 2, 3)}
    last = tf.constant(2, tf.int64)
    assert words in _refusal(sess, tf.raw_ops.BlockLSTM, frames, seq_len_max=last)


def test_states_of_an_lstm_have_its_size(sess):
    given = {**PARTS, **dict.fromkeys(("wci", "wcf", "wco"), (4,))}
    gates = {**dict.fromkeys("i cs f o ci co cs_grad h_grad".split(), (2, 4)), "co": (2, 3)}
    back = tf.raw_ops.LSTMBlockCellGrad
    words = _refusal(sess, back, {**given, **gates}, use_peephole=False)
    assert "co.dim_size(1) != cell_size: 3 vs. 4" in words


def test_shapes_of_lstms_come_from_where_tensorflow_takes_them(sess):
    def of(*dims):
        return tf.placeholder(tf.float32, dims)

    some = tf.placeholder(tf.float32)
    weights = {"wci": some, "wcf": some, "wco": some}
    cell = tf.raw_ops.LSTMBlockCell(
        x=some, cs_prev=of(2, 4), h_prev=some, w=some, b=some, **weights
    )
    assert cell.h.shape.as_list() == [None, 4]
    block = tf.raw_ops.BlockLSTM(
        seq_len_max=tf.constant(1, tf.int64), x=of(5, 2, 3), cs_prev=some, h_prev=some, w=some,
        b=of(16), **weights,
    )  # fmt: skip
    assert block.h.shape.as_list() == [5, 2, 4]
