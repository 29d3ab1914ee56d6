"""Cells of tf.contrib.rnn against their formulas, and the names of their variables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf

UNITS = 4
X, H, C = (
    np.random.RandomState(seed).uniform(-1, 1, (3, UNITS)).astype(np.float32) for seed in range(3)
)


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def played(cell: Any, state: Any, inputs: Any = X) -> tuple[Any, dict[str, np.ndarray]]:
    """(output, new state) with random variables, and these by the ends of their names."""
    with tf.variable_scope("s", initializer=tf.random_uniform_initializer(-1, 1, seed=1)):
        made = cell(tf.nest.map_structure(tf.constant, inputs), state)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        variables = {v.op.name.split("/", 1)[1]: v for v in tf.trainable_variables()}
        return session.run([made, variables])


def close(made: Any, wanted: Any) -> None:
    for a, b in zip(tf.nest.flatten(made), tf.nest.flatten(wanted), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)


def test_update_gates() -> None:
    made, v = played(tf.contrib.rnn.UGRNNCell(UNITS), tf.constant(H))
    g, c = np.split(np.hstack([X, H]) @ v["ugrnn_cell/kernel"] + v["ugrnn_cell/bias"], 2, axis=1)
    g = sigmoid(g + 1)
    new = g * H + (1 - g) * np.tanh(c)
    close(made, (new, new))


def test_intersections() -> None:
    cell = tf.contrib.rnn.IntersectionRNNCell(UNITS, num_in_proj=UNITS)
    wide = np.hstack([X, X])
    made, v = played(cell, tf.constant(H), wide)
    scope = "intersection_rnn_cell/"
    x = wide @ v[scope + "in_projection/kernel"] + v[scope + "in_projection/bias"]
    z = np.hstack([x, H]) @ v[scope + "kernel"] + v[scope + "bias"]
    keep_h, h, keep_y, y = np.split(z, 4, axis=1)
    keep_h, keep_y = sigmoid(keep_h + 1), sigmoid(keep_y + 1)
    output = keep_y * x + (1 - keep_y) * np.maximum(y, 0)
    close(made, (output, keep_h * H + (1 - keep_h) * np.tanh(h)))
    with pytest.raises(ValueError, match="Must have input size == output size"):
        played(tf.contrib.rnn.IntersectionRNNCell(UNITS), tf.constant(H), wide)


def test_simple_recurrent_units() -> None:
    made, v = played(tf.contrib.rnn.SRUCell(UNITS), tf.constant(H))
    new, f, r, passed = np.split(X @ v["sru_cell/kernel"], 4, axis=1)
    f_bias, r_bias = np.split(v["sru_cell/bias"], 2)
    f, r = sigmoid(f + f_bias), sigmoid(r + r_bias)
    c = f * H + (1 - f) * new
    close(made, (r * np.tanh(c) + (1 - r) * passed, c))


def _independent(v: Any, scope: str, kernel: str, x: Any, state: Any) -> Any:
    return x @ v[scope + kernel] + state * v[scope + "kernel_u"] + v[scope + "bias"]


def test_independent_units() -> None:
    made, v = played(tf.contrib.rnn.IndRNNCell(UNITS), tf.constant(H))
    output = np.tanh(_independent(v, "ind_rnn_cell/", "kernel_w", X, H))
    close(made, (output, output))
    made, v = played(tf.contrib.rnn.IndyGRUCell(UNITS), tf.constant(H))
    gates = _independent(v, "indy_gru_cell/gates/", "kernel_w", X, np.hstack([H, H]))
    r, u = np.split(sigmoid(gates), 2, axis=1)
    c = np.tanh(_independent(v, "indy_gru_cell/candidate/", "kernel", X, r * H))
    new = u * H + (1 - u) * c
    close(made, (new, new))
    state = tf.contrib.rnn.LSTMStateTuple(tf.constant(C), tf.constant(H))
    made, v = played(tf.contrib.rnn.IndyLSTMCell(UNITS), state)
    gates = _independent(v, "indy_lstm_cell/", "kernel_w", X, np.hstack([H] * 4))
    i, j, f, o = np.split(gates, 4, axis=1)
    new_c = sigmoid(f + 1) * C + sigmoid(i) * np.tanh(j)
    close(made, (sigmoid(o) * np.tanh(new_c), (new_c, sigmoid(o) * np.tanh(new_c))))


@pytest.mark.parametrize("joined", [False, True])
def test_coupled_gates(joined: bool) -> None:
    cell = tf.contrib.rnn.CoupledInputForgetGateLSTMCell(
        UNITS, use_peepholes=True, num_proj=2, num_unit_shards=2, state_is_tuple=not joined
    )
    m = H[:, :2]
    state: Any = (tf.constant(C), tf.constant(m))
    made, v = played(cell, tf.concat(state, 1) if joined else state)
    v = {name.split("/", 1)[1]: value for name, value in v.items()}
    kernel = np.vstack([v["W_0"], v["W_1"]])
    j, f, o = np.split(np.hstack([X, m]) @ kernel + v["B"], 3, axis=1)
    f = sigmoid(f + 1 + v["W_F_diag"] * C)
    c = f * C + (1 - f) * np.tanh(j)
    m = (sigmoid(o + v["W_O_diag"] * c) * np.tanh(c)) @ v["W_P_0"]
    close(made, (m, np.hstack([c, m]) if joined else (c, m)))


def test_groups() -> None:
    state = tf.contrib.rnn.LSTMStateTuple(tf.constant(C), tf.constant(H))
    made, v = played(tf.contrib.rnn.GLSTMCell(UNITS, number_of_groups=2), state)
    parts = []
    for k in (0, 1):
        seen = np.hstack([np.split(X, 2, axis=1)[k], np.split(H, 2, axis=1)[k]])
        parts.append(np.split(seen @ v[f"glstm_cell/group{k}/kernel"], 4, axis=1))
    i, j, f, o = (np.hstack(gate) for gate in zip(*parts, strict=True))
    c = sigmoid(f + 1) * C + sigmoid(i) * np.tanh(j)
    h = sigmoid(o) * np.tanh(c)
    close(made, (h, (c, h)))
    with pytest.raises(ValueError, match="num_proj must be divisible by number_of_groups"):
        tf.contrib.rnn.GLSTMCell(UNITS, num_proj=3, number_of_groups=2)


def test_units_that_are_open_for_a_part_of_their_period() -> None:
    state = tf.contrib.rnn.LSTMStateTuple(tf.constant(C), tf.constant(H))
    cell = tf.contrib.rnn.PhasedLSTMCell(UNITS, period_init_max=20.0, ratio_on=0.5)
    time = np.array([[1.0], [7.5], [30.0]])
    made, v = played(cell, state, (time, X))
    v = {name.split("/", 1)[1]: value for name, value in v.items()}
    seen = np.hstack([X, H])
    both = sigmoid(seen @ v["mask_gates/kernel"] + v["mask_gates/bias"])
    i, f = np.split(both, 2, axis=1)
    c = C * f + i * np.tanh(seen @ v["new_input/kernel"] + v["new_input/bias"])
    h = np.tanh(c) * sigmoid(seen @ v["output_gate/kernel"] + v["output_gate/bias"])
    assert (v["period"] >= 1).all() and (v["phase"] <= v["period"]).all()
    at = np.mod(time - v["phase"], v["period"]) / v["period"]
    k = np.where(at < 0.5, 2 - 2 * at / 0.5, 0.001 * at)
    k = np.where(at < 0.25, 2 * at / 0.5, k)
    c, h = k * c + (1 - k) * C, k * h + (1 - k) * H
    close(made, (h, (c, h)))


def test_cells_around_cells() -> None:
    inner = tf.contrib.rnn.GRUCell(UNITS)
    made, v = played(tf.contrib.rnn.HighwayWrapper(inner), tf.constant(H))
    gate = sigmoid(X @ v["carry_w"] + v["carry_b"])
    close(made[0], gate * X + (1 - gate) * made[1])
    np.testing.assert_array_equal(v["carry_b"], np.ones(UNITS))
    compiled = tf.contrib.rnn.CompiledWrapper(tf.contrib.rnn.GRUCell(UNITS, name="c"))
    made, _ = played(compiled, tf.constant(H))
    np.testing.assert_array_equal(*made)


# The names that TensorFlow 1.15's cells give to the output and the states of a second step.
NAMES: dict[str, tuple[Any, list[str]]] = {
    "UGRNNCell": ((5,), ["ugrnn_cell/ugrnn_cell_1/add_1"] * 2),
    "IntersectionRNNCell": (
        (5, 5),
        [f"intersection_rnn_cell/intersection_rnn_cell_1/add_{i}" for i in (3, 2)],
    ),
    "LayerNormBasicLSTMCell": (
        (5,),
        [f"layer_norm_basic_lstm_cell/{n}" for n in ("mul_5", "state_3/batchnorm/add_1", "mul_5")],
    ),
    "IndyLSTMCell": ((5,), [f"indy_lstm_cell/{n}" for n in ("Mul_7", "Add_5", "Mul_7")]),
    "LSTMBlockCell": ((5,), ["lstm_cell/LSTMBlockCell_1"] * 3),
    "GRUBlockCellV2": ((5,), ["gru_cell/GRUBlockCell_1"] * 2),
}


@pytest.mark.parametrize("kind", NAMES)
def test_names_of_operations(kind: str) -> None:
    args, wanted = NAMES[kind]
    cell = getattr(tf.contrib.rnn, kind)(*args)
    state = cell.zero_state(3, tf.float32)
    for _ in range(2):
        output, state = cell(tf.constant(X), state)
    assert [t.op.name for t in tf.nest.flatten([output, state])] == wanted


def test_names_of_operations_with_time() -> None:
    cell = tf.contrib.rnn.PhasedLSTMCell(UNITS)
    output, state = cell((tf.ones([3, 1]), tf.constant(X)), cell.zero_state(3, tf.float32))
    names = [t.op.name for t in (output, *state)]
    assert names == [f"phased_lstm_cell/add_{i}" for i in (3, 2, 3)]
    grid = tf.contrib.rnn.TimeFreqLSTMCell(3, feature_size=4, frequency_skip=2)
    output, state = grid(tf.ones([3, 8]), tf.ones([3, 18]))
    assert [output.op.name, state.op.name] == [f"time_freq_lstm_cell/concat_{i}" for i in (7, 6)]


def test_cells_are_built_without_being_called() -> None:
    rnn = tf.contrib.rnn
    for kind in (rnn.GRUCell, rnn.IndRNNCell, rnn.IndyGRUCell, rnn.IndyLSTMCell):
        cell = kind(3)
        cell.build(tf.TensorShape([None, 4]))
        assert {w.dtype.base_dtype for w in cell.weights} == {
            tf.float32
        } and cell.dtype == "float32"
