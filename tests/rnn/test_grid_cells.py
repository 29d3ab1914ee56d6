"""Cells that run along frequencies, against the same steps written with NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf

rnn = tf.contrib.rnn
X = np.random.RandomState(0).randn(3, 4).astype(np.float32)
UNITS = 2


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def run(cell: Any, state: Any) -> tuple[Any, Any, dict[str, Any]]:
    """One step from a state of 0.3, and the variables, which are random."""
    with tf.variable_scope("root", initializer=tf.random_normal_initializer(seed=1)):
        outputs = cell(tf.constant(X), state)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        names = [v.op.name.split("/", 2)[2] for v in tf.global_variables()]
        values = session.run(tf.global_variables())
        return (*session.run(outputs), dict(zip(names, values, strict=True)))


def test_an_lstm_shifted_along_the_frequencies() -> None:
    cell = rnn.TimeFreqLSTMCell(UNITS, use_peepholes=True, cell_clip=0.7, feature_size=2)
    output, state, v = run(cell, tf.fill([3, 12], 0.3))
    assert sorted(v) == ["B", "W_0", "W_F_diag", "W_I_diag", "W_O_diag"]
    m, outputs, states = np.zeros((3, 2)), [], []
    c0 = before = np.full((3, 2), 0.3)
    for at in range(3):
        inputs = np.concatenate([X[:, at : at + 2], before, m], 1)
        i, j, f, o = np.split(inputs @ v["W_0"] + v["B"], 4, 1)
        c = sigmoid(f + 1 + v["W_F_diag"] * c0) * c0 + sigmoid(i + v["W_I_diag"] * c0) * np.tanh(j)
        c = np.clip(c, -0.7, 0.7)
        m = sigmoid(o + v["W_O_diag"] * c) * np.tanh(c)
        outputs.append(m)
        states += [c, m]
    np.testing.assert_allclose(output, np.concatenate(outputs, 1), rtol=1e-5)
    np.testing.assert_allclose(state, np.concatenate(states, 1), rtol=1e-5)


def by_hand(v: dict[str, Any], windows: list[Any]) -> tuple[list[Any], list[Any]]:
    """What a grid gives, with peepholes and weights of its own for each direction."""
    zero = np.zeros((3, 2))
    cf, mf, outputs, states = zero, zero, [], []
    for window in windows:
        ct = mt = np.full((3, 2), 0.3)
        inputs, found = np.concatenate([window, mt, mf], 1), []
        for kind, old in (("freq", cf), ("time", ct)):
            i, j, f, o = np.split(inputs @ v[f"W_{kind[0]}_0_0"] + v[f"B_{kind[0]}_0"], 4, 1)
            w = {g: [v[f"W_{g}_diag_{kind}{o}_0"] for o in "ft"] for g in "FIO"}
            let_in = sigmoid(i + w["I"][0] * cf + w["I"][1] * ct)
            kept = sigmoid(f + 1 + w["F"][0] * cf + w["F"][1] * ct)
            found.append((kept * old + let_in * np.tanh(j), o, w["O"]))
        (cf, of, wf), (ct, ot, wt) = found
        mf = sigmoid(of + wf[0] * cf + wf[1] * ct) * np.tanh(cf)
        mt = sigmoid(ot + wt[0] * cf + wt[1] * ct) * np.tanh(ct)
        outputs += [mt, mf]
        states += [ct, mt]
    return outputs, states


def test_a_grid() -> None:
    cell = rnn.GridLSTMCell(
        UNITS, use_peepholes=True, feature_size=2, frequency_skip=1, num_frequency_blocks=[3]
    )
    assert cell.state_tuple_type._fields[:3] == ("state_f00_b00_c", "state_f00_b00_m",
                                                 "state_f01_b00_c")  # fmt: skip
    assert cell.output_size == 12 and tuple(cell.state_size) == (2,) * 6
    output, state, v = run(cell, cell.state_tuple_type(*[tf.fill([3, 2], 0.3)] * 6))
    outputs, states = by_hand(v, [X[:, i : i + 2] for i in range(3)])
    np.testing.assert_allclose(output, np.concatenate(outputs, 1), rtol=1e-5)
    for found, expected in zip(state, states, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_a_grid_in_both_directions() -> None:
    cell = rnn.BidirectionalGridLSTMCell(
        UNITS, use_peepholes=True, feature_size=2, frequency_skip=2, num_frequency_blocks=[2],
        backward_slice_offset=1,
    )  # fmt: skip
    output, _, v = run(cell, cell.state_tuple_type(*[tf.fill([3, 2], 0.3)] * 8))
    shifted = np.pad(X, [[0, 0], [0, 1]])[:, 1:]
    expected = []
    for direction, windows in (
        ("fwd/", [X[:, :2], X[:, 2:4]]),
        ("bwd/", [shifted[:, 2:4], shifted[:, :2]]),
    ):
        own = {name[4:]: value for name, value in v.items() if name.startswith(direction)}
        expected += by_hand(own, windows)[0]
    np.testing.assert_allclose(output, np.concatenate(expected, 1), rtol=1e-5)


def test_blocks_must_fit_the_input() -> None:
    with pytest.raises(ValueError, match="Must specify num_frequency_blocks"):
        rnn.GridLSTMCell(UNITS)
    cell = rnn.GridLSTMCell(
        UNITS, feature_size=2, frequency_skip=1, num_frequency_blocks=[2], state_is_tuple=False
    )
    with pytest.raises(ValueError, match="requires 2 but gets 3"):
        cell(tf.constant(X), tf.zeros([3, 8]))
