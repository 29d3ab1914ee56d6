"""Normalised, minimal and Turing cells of tf.contrib.rnn: formulas, and 1.15's numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.lib.contrib import rnn
from weft.lib.rnn.cells import RNNCell


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def softmax(x: Any) -> Any:
    return np.exp(x) / np.exp(x).sum(-1, keepdims=True)


def one_step(cell: Any) -> Any:
    """The new state after a step whose weights are all 0.5."""
    with tf.variable_scope("root", initializer=tf.constant_initializer(0.5)):
        x, c, h = (tf.constant(values) for values in ([[1.0, 1.0]], [[0.0, 0.1]], [[0.2, 0.3]]))
        _, state = cell(x, rnn.LSTMStateTuple(c, h))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(state)


# (normalised, with peepholes) -> memory and output.
WEIGHT_NORMALISED = {
    (False, False): ([0.65937078, 0.74983585], [0.44923624, 0.49362513]),
    (False, True): ([0.65937084, 0.7574988], [0.4792085, 0.53470564]),
    (True, False): ([0.50125383, 0.58805949], [0.32770363, 0.37397948]),
    (True, True): ([0.50125383, 0.59587258], [0.35041603, 0.40873795]),
}


@pytest.mark.parametrize(("norm", "peepholes"), WEIGHT_NORMALISED)
def test_weights_of_learned_lengths(norm: bool, peepholes: bool) -> None:
    made = one_step(rnn.WeightNormLSTMCell(2, norm=norm, use_peepholes=peepholes))
    np.testing.assert_allclose(np.vstack(made), WEIGHT_NORMALISED[norm, peepholes], rtol=1e-5)


def test_names_of_normalised_weights() -> None:
    cell = rnn.WeightNormLSTMCell(3, use_peepholes=True, num_proj=2, cell_clip=0.1, proj_clip=0.05)
    state = one_step(rnn.WeightNormLSTMCell(2, cell_clip=0.1))
    assert np.abs(state.c).max() <= 0.1
    tf.reset_default_graph()
    output, state = cell(tf.ones([4, 5]), cell.zero_state(4, tf.float32))
    assert output.shape.as_list() == [4, 2] and state.c.shape.as_list() == [4, 3]
    scope = "wn_lstm_cell/wn_lstm_cell/"
    assert {v.op.name.removeprefix(scope): v.shape.as_list() for v in tf.trainable_variables()} == {
        "kernel": [7, 12], "norm_0": [12], "norm_1": [12], "bias": [12],
        "w_f_diag": [3], "w_i_diag": [3], "w_o_diag": [3],
        "projection/kernel": [3, 2], "projection/norm_0": [2],
    }  # fmt: skip


def normal(x: Any) -> Any:
    return (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-12)


def test_normalised_layers() -> None:
    random = np.random.RandomState(1)
    x, c, m = (random.randn(2, n).astype(np.float32) for n in (3, 4, 2))
    cell = rnn.LayerNormLSTMCell(
        4, use_peepholes=True, num_proj=2, layer_norm=True, norm_gain=0.5, norm_shift=0.1
    )
    made = cell(tf.constant(x), rnn.LSTMStateTuple(tf.constant(c), tf.constant(m)))
    names = [v.op.name.removeprefix("layer_norm_lstm_cell/") for v in tf.global_variables()]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        (output, state), values = session.run([made, tf.global_variables()])
    v = dict(zip(names, values, strict=True))
    gates = ["input", "transform", "forget", "output"]
    norms = [f"{gate}/{part}" for gate in gates for part in ("gamma", "beta")]
    peepholes = ["w_f_diag", "w_i_diag", "w_o_diag"]
    state_norm = ["state/gamma", "state/beta"]
    assert names == ["kernel", "bias", *norms, *peepholes, *state_norm, "projection/kernel"]
    parts = np.split(np.hstack([x, m]) @ v["kernel"], 4, 1)
    i, j, f, o = (0.5 * normal(part) + 0.1 for part in parts)
    f, i = f + 1 + v["w_f_diag"] * c, i + v["w_i_diag"] * c
    new_c = 0.5 * normal(sigmoid(f) * c + sigmoid(i) * np.tanh(j)) + 0.1
    new_m = sigmoid(o + v["w_o_diag"] * new_c) * np.tanh(new_c) @ v["projection/kernel"]
    np.testing.assert_allclose(state.c, new_c, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(output, new_m, rtol=1e-4, atol=1e-5)


# The class -> its output for inputs of 2 and of 3 numbers, weights of 0.5 and a state of 0.1.
MIXING = {
    rnn.CFNCell: ([0.17188203] * 2, [0.15535763] * 2),
    rnn.MinimalRNNCell: ([0.18899589] * 2, [0.19554167] * 2),
}


WEIGHTS = {
    rnn.CFNCell: ["kernel", "recurrent_kernel", "bias"],
    rnn.MinimalRNNCell: ["kernel", "bias"],
}


@pytest.mark.parametrize("kind", MIXING)
def test_cells_that_mix_inputs_in(kind: Any) -> None:
    for depth, wanted in zip((2, 3), MIXING[kind], strict=True):
        tf.reset_default_graph()
        cell = kind(2, kernel_initializer=tf.constant_initializer(0.5))
        output, state = cell(tf.ones([1, depth]), tf.fill([1, 2], 0.1))
        assert output is state and cell.state_size == cell.output_size == 2
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            np.testing.assert_allclose(session.run(output)[0], wanted, rtol=1e-5)
    assert [v.op.name.split("/")[1] for v in cell.trainable_weights] == WEIGHTS[kind]


def turing_machine(reads: int, writes: int) -> Any:
    return rnn.NTMCell(tf.nn.rnn_cell.LSTMCell(4), 5, 4, reads, writes)


def test_numbers_of_a_turing_machine() -> None:
    """They depend on seeds, which are numbers of operations: those of the state and the heads."""
    tf.set_random_seed(1234)
    with tf.variable_scope("root"):
        inputs = tf.random_uniform((4, 4), 0.0, 1.0, seed=1235)
        cell = turing_machine(1, 1)
        output, state = cell(inputs, cell.zero_state(4, tf.float32))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        made, weights, memory = session.run([output, state.w_list, state.M])
    close = {"rtol": 1e-5, "atol": 1e-6}
    np.testing.assert_allclose(
        made[0], [-0.04973561, -0.00020032, -0.09586009, -0.05049511], **close
    )
    read, written = [0.15837428, 0.21354634, 0.22115856, 0.21117255, 0.19574821], [
        0.21703579, 0.19425659, 0.22143759, 0.18024713, 0.18702294,
    ]  # fmt: skip
    np.testing.assert_allclose([weights[0][0], weights[1][0]], [read, written], **close)
    np.testing.assert_allclose(
        memory[0][0], [-0.00553495, -0.01089884, 0.00683121, -0.00273276], **close
    )


class Passing(RNNCell):
    """A controller that gives its first inputs back."""

    state_size = output_size = 3

    def call(self, inputs: Any, state: Any) -> Any:
        return inputs[:, :3], state


def test_steps_of_a_turing_machine() -> None:
    """Heads by the paper's equations, over two steps: the second sees what the first left."""
    reads, writes, places, width = 2, 1, 5, 4
    x = np.random.RandomState(0).randn(2, 2, 3).astype(np.float32)
    cell = rnn.NTMCell(Passing(), places, width, reads, writes, output_dim=2)
    state = cell.zero_state(2, tf.float32)
    outputs = []
    for step in x:
        output, state = cell(tf.constant(step), state)
        outputs.append(output)
    assert state.time == 2 and cell.output_size == 2
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        values = session.run(
            {v.op.name.removeprefix("ntm_cell/"): v for v in tf.global_variables()}
        )
        made, last = session.run([outputs, state.M])
    v = values
    heads = reads + writes
    w = [np.tile(softmax(v[f"initial_address_weights_{i}"]), (2, 1)) for i in range(heads)]
    memory = np.tile(v["memory"], (2, 1, 1))
    for step, output in zip(x, made, strict=True):
        steering = step @ v["parameters_kernel"] + v["parameters_bias"]
        per_head = width + 2 + 4
        w = [
            _addressed(steering[:, per_head * i : per_head * (i + 1)], memory, w[i], width)
            for i in range(heads)
        ]
        read = [np.einsum("bn,bnd->bd", one, memory) for one in w[:reads]]
        erase, add = np.split(steering[:, per_head * heads :], 2, 1)
        memory = memory * (1 - np.einsum("bn,bd->bnd", w[2], sigmoid(erase)))
        memory += np.einsum("bn,bd->bnd", w[2], np.tanh(add))
        wanted = np.hstack([step, *read]) @ v["output_kernel"] + v["output_bias"]
        np.testing.assert_allclose(output, wanted, rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(last, memory, rtol=1e-3, atol=1e-6)


def _addressed(head: Any, memory: Any, old: Any, width: int) -> Any:
    key, strength = np.tanh(head[:, :width]), np.logaddexp(0, head[:, width : width + 1])
    lengths = np.linalg.norm(memory, axis=2) * np.linalg.norm(key, axis=1, keepdims=True)
    alike = np.einsum("bnd,bd->bn", memory, key) / (lengths + 1e-8)
    gate = sigmoid(head[:, width + 1 : width + 2])
    where = gate * softmax(strength * alike) + (1 - gate) * old
    shift = softmax(head[:, width + 2 : width + 5])
    moved = sum(shift[:, [i]] * np.roll(where, by, 1) for i, by in enumerate((0, 1, -1)))
    sharp = moved ** (np.logaddexp(0, head[:, -1:]) + 1)
    return sharp / sharp.sum(1, keepdims=True)


def test_turing_machines_of_any_batch() -> None:
    cell = turing_machine(1, 1)
    inputs = tf.placeholder(tf.float32, [None, 4])
    output, _ = cell(inputs, cell.zero_state(tf.shape(inputs)[0], tf.float32))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(output, {inputs: np.ones([3, 4])}).shape == (3, 4)


def test_seeds_after_states_and_splits_count_their_constants() -> None:
    tf.nn.rnn_cell.LSTMCell(2).zero_state(3, tf.float32)
    assert len(tf.get_default_graph().get_operations()) == 16
    tf.split(tf.zeros([2, 4]), 2, 1)
    assert [op.name for op in tf.get_default_graph().get_operations()][16:] == [
        "zeros", "Const", "split/split_dim", "split",
    ]  # fmt: skip


def test_seeds_of_periods() -> None:
    """The period of a phased LSTM is drawn after its output is there."""
    tf.set_random_seed(87654321)
    with tf.variable_scope("root", initializer=tf.constant_initializer(0.5)):
        t, x, c, h = (
            tf.zeros([3, n], t)
            for n, t in ((1, tf.float64), (4, tf.float32)) + ((2, tf.float32),) * 2
        )
        cell = tf.contrib.rnn.PhasedLSTMCell(2)
        _, state = cell((t, x), rnn.LSTMStateTuple(c, h))
    rows = np.array([[1.0], [2.0], [3.0]])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        made = session.run(state.c, {t: rows, x: np.tile(rows, 4)})
    wanted = [[0.00072015, 0.00036633], [0.00083481, 0.00047266], [0.00085111, 0.00053054]]
    np.testing.assert_allclose(made, wanted, atol=1e-6)
