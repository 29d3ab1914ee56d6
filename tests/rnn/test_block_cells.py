"""LSTMs and GRUs whose step, or whose whole sequence, is one operation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.rnn import blocks

NAMES = {"kernel": "w", "bias": "b", "w_i_diag": "wci", "w_f_diag": "wcf", "w_o_diag": "wco"}


def close(a: Any, b: Any) -> None:
    np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def set_weights(session: tf.Session, given: dict[str, np.ndarray]) -> dict[str, tf.Variable]:
    """Loads the recorded weights; the variables by the names they are recorded under."""
    found = {NAMES[v.op.name.rpartition("/")[2]]: v for v in tf.trainable_variables()}
    for name, variable in found.items():
        variable.load(given[name], session)
    return found


@pytest.mark.parametrize("name", ["step", "all"])
def test_what_tensorflow_recorded(name: str) -> None:
    given, wanted = blocks.numbers(), np.load(blocks.RECORDED)
    options = {"forget_bias": blocks.FORGET_BIAS, "cell_clip": blocks.CLIP, "use_peephole": True}
    state = tf.nn.rnn_cell.LSTMStateTuple(tf.constant(given["c"]), tf.constant(given["h"]))
    if name == "step":
        cell = tf.contrib.rnn.LSTMBlockCell(blocks.UNITS, **options)
        output, last = cell(tf.constant(given["x"][0]), state)
    else:
        fused = tf.contrib.rnn.LSTMBlockFusedCell(blocks.UNITS, **options)
        output, last = fused(tf.constant(given["x"]), initial_state=state)
    assert output.op.type == {"step": "LSTMBlockCell", "all": "BlockLSTM"}[name]
    with tf.Session() as session:
        weights = set_weights(session, given)
        grads = tf.gradients(output, [weights["w"], weights["wcf"]])
        h, end, dw, dwcf = session.run([output, last, *grads])
    close(h, wanted[f"{name}/h"])
    close(end.c, wanted[f"{name}/cs"].reshape(-1, blocks.BATCH, blocks.UNITS)[-1])
    # Clipped memory hands its gradient on, which that of `clip_by_value` does not.
    close(dw, wanted[f"{name}/w"])
    close(dwcf, wanted[f"{name}/wcf"])


def test_lengths_of_a_fused_lstm() -> None:
    given = blocks.numbers()
    fused = tf.contrib.rnn.LSTMBlockFusedCell(blocks.UNITS)
    whole, _ = fused(tf.constant(given["x"]), dtype=tf.float32)
    for lengths in ([0, 2], np.array([1, 3])):
        outputs, last = fused(
            tf.constant(given["x"]), sequence_length=lengths,
            initial_state=(tf.zeros([2, 4]), tf.zeros([2, 4])),
        )  # fmt: skip
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            every, some, end = session.run([whole, outputs, last])
        for row, length in enumerate(lengths):
            close(some[:length, row], every[:length, row])
            assert not some[length:, row].any()
            close(end.h[row], every[length - 1, row] if length else np.zeros(4))


def test_a_wrapper_of_the_programs_own() -> None:
    class Sums(tf.contrib.rnn.LSTMBlockWrapper):
        num_units = 3

        def _call_cell(self, inputs: Any, c: Any, h: Any, dtype: Any, lengths: Any) -> Any:
            sums = tf.cumsum(inputs)
            return sums, -sums

    outputs, last = Sums()([tf.ones([2, 3])] * 3, dtype=tf.float32, sequence_length=[1, 2])
    with tf.Session() as session:
        made, end = session.run([outputs, last])
    assert [step[1, 0] for step in made] == [-1, -2, 0]
    assert end.c[:, 0].tolist() == [1, 2] and end.h[:, 0].tolist() == [-1, -2]


def test_fused_errors() -> None:
    fused = tf.contrib.rnn.LSTMBlockFusedCell(4)
    with pytest.raises(ValueError, match="Either initial_state or dtype needs to be specified"):
        fused(tf.zeros([3, 2, 3]))
    with pytest.raises(ValueError, match="to be a tuple with length 2 or None"):
        fused(tf.zeros([3, 2, 3]), initial_state=(tf.zeros([2, 4]),))


def test_gru_blocks() -> None:
    x = tf.constant(blocks.numbers()["x"][0])
    cell = tf.contrib.rnn.GRUBlockCellV2(4)
    new, _ = cell(x, tf.ones([2, 4]))
    assert new.op.type == "GRUBlockCell" and new.op.name == "gru_cell/GRUBlockCell"
    same, _ = tf.nn.rnn_cell.GRUCell(4, reuse=True, name="gru_cell")(x, tf.ones([2, 4]))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        close(*session.run([new, same]))
    with pytest.raises(ValueError, match=r"Shape of h_prev\[1\] incorrect: cell_size 4 vs 5"):
        cell(x, tf.ones([2, 5]))
    with pytest.raises(ValueError, match="Expecting input_size to be set"):
        tf.contrib.rnn.GRUBlockCell(4)(tf.placeholder(tf.float32, [2, None]), tf.ones([2, 4]))
