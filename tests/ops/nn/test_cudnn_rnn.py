"""Recurrent layers in one operation: the equations, both directions, lengths and gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.core import errors

ops = tf.raw_ops
GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}
LAYERS, UNITS, DEPTH, TIME, BATCH = 2, 3, 2, 4, 2


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def step(mode: str, x: Any, h: Any, c: Any, w: Any, u: Any, bw: Any, bu: Any) -> Any:
    """By the equations, gate by gate."""
    a = [x @ w[k].T + bw[k] for k in range(GATES[mode])]
    b = [h @ u[k].T + bu[k] for k in range(GATES[mode])]
    if mode == "gru":
        r, z = sigmoid(a[0] + b[0]), sigmoid(a[1] + b[1])
        return z * h + (1 - z) * np.tanh(a[2] + r * b[2]), c
    if mode == "lstm":
        i, f, o = (sigmoid(a[k] + b[k]) for k in (0, 1, 3))
        c = f * c + i * np.tanh(a[2] + b[2])
        return o * np.tanh(c), c
    both = a[0] + b[0]
    return (np.tanh(both) if mode == "rnn_tanh" else np.maximum(both, 0)), c


def expected(
    mode: str, x: Any, h: Any, c: Any, weights: Any, biases: Any, both_ways: bool, lengths: Any
) -> Any:
    gates, ways = GATES[mode], 2 if both_ways else 1
    ends = []
    for layer in range(LAYERS):
        outputs = np.zeros((TIME, BATCH, ways * UNITS))
        for way in range(ways):
            place = layer * ways + way
            own = slice(place * 2 * gates, (place + 1) * 2 * gates)
            w, b = weights[own], biases[own]
            h_end, c_end = np.zeros((2, BATCH, UNITS))
            for row in range(BATCH):
                at = range(lengths[row])
                hh, cc = h[place, row], c[place, row]
                for t in reversed(at) if way else at:
                    hh, cc = step(
                        mode, x[t, row], hh, cc, w[:gates], w[gates:], b[:gates], b[gates:]
                    )
                    outputs[t, row, way * UNITS : (way + 1) * UNITS] = hh
                h_end[row], c_end[row] = hh, cc
            ends.append((h_end, c_end))
        x = outputs
    return x, np.stack([e[0] for e in ends]), np.stack([e[1] for e in ends])


class Case:
    """Layers with random weights, as arrays and as one vector."""

    def __init__(self, mode: str, direction: str) -> None:
        random = np.random.RandomState(3)
        self.mode, self.both_ways = mode, direction == "bidirectional"
        ways, gates = 2 if self.both_ways else 1, GATES[mode]
        self.attrs: dict[str, Any] = dict(rnn_mode=mode, direction=direction)
        shapes = [
            (UNITS, size)
            for layer in range(LAYERS)
            for _ in range(ways)
            for size in (DEPTH if layer == 0 else ways * UNITS, UNITS)
            for _ in range(gates)
        ]
        self.weights = [random.normal(size=shape) for shape in shapes]
        self.biases = [random.normal(size=UNITS) for _ in shapes]
        self.params = np.concatenate([np.ravel(p) for p in (*self.weights, *self.biases)])
        self.x = random.normal(size=(TIME, BATCH, DEPTH))
        self.h, self.c = random.normal(size=(2, LAYERS * ways, BATCH, UNITS))

    def expected(self, lengths: Any = (TIME,) * BATCH) -> Any:
        return expected(
            self.mode, self.x, self.h, self.c, self.weights, self.biases, self.both_ways, lengths
        )

    def inputs(self) -> dict[str, Any]:
        c = self.c if self.mode == "lstm" else np.zeros(0)
        return dict(input=self.x, input_h=self.h, input_c=c, params=self.params)


@pytest.mark.parametrize(
    ("mode", "direction"),
    [*((mode, "unidirectional") for mode in GATES), ("lstm", "bidirectional")],
)
def test_layers_follow_the_equations(mode: str, direction: str) -> None:
    case = Case(mode, direction)
    found = ops.CudnnRNN(**case.inputs(), **case.attrs)
    width = UNITS * (2 if case.both_ways else 1)
    assert found[0].shape.as_list() == [TIME, BATCH, width]
    with tf.Session() as session:
        out, h, c = session.run(found[:3])
    wanted = case.expected()
    np.testing.assert_allclose(out, wanted[0], rtol=1e-9)
    np.testing.assert_allclose(h, wanted[1], rtol=1e-9)
    if mode == "lstm":
        np.testing.assert_allclose(c, wanted[2], rtol=1e-9)


@pytest.mark.parametrize(("mode", "time_major"), [("gru", True), ("lstm", False)])
def test_sequences_have_lengths(mode: str, time_major: bool) -> None:
    case, lengths = Case(mode, "bidirectional"), np.int32([2, 4])
    given = case.inputs()
    if not time_major:
        names = ("input", "input_h", "input_c") if mode == "lstm" else ("input", "input_h")
        given |= {name: np.swapaxes(given[name], 0, 1) for name in names}
    found = ops.CudnnRNNV3(**given, sequence_lengths=lengths, time_major=time_major, **case.attrs)
    with tf.Session() as session:
        out, h = session.run(found[:2])
    if not time_major:
        out, h = np.swapaxes(out, 0, 1), np.swapaxes(h, 0, 1)
    wanted = case.expected(lengths)
    np.testing.assert_allclose(out, wanted[0], rtol=1e-9)
    np.testing.assert_allclose(h, wanted[1], rtol=1e-9)


@pytest.mark.parametrize(
    ("op", "mode", "direction"),
    [
        ("CudnnRNN", "lstm", "unidirectional"),
        ("CudnnRNNV2", "rnn_tanh", "unidirectional"),
        ("CudnnRNNV3", "gru", "bidirectional"),
    ],
)
def test_gradients_are_those_of_differences(op: str, mode: str, direction: str) -> None:
    case = Case(mode, direction)
    given = {
        name: tf.placeholder_with_default(value, value.shape)
        for name, value in case.inputs().items()
    }
    more = {"sequence_lengths": np.int32([4, 3])} if op == "CudnnRNNV3" else {}
    found = getattr(ops, op)(**given, **more, **case.attrs)
    loss = tf.reduce_sum(found[0] ** 2) + tf.reduce_sum(found[2] + found[1][0, 0, 0])
    grads = tf.gradients(loss, list(given.values()))
    with tf.Session() as session:
        slopes = session.run(grads)
        for (name, tensor), slope in zip(given.items(), slopes, strict=True):
            value = case.inputs()[name]
            if not value.size:
                continue
            at = np.unravel_index(value.size // 2, value.shape)
            values = []
            for move in (1e-5, -1e-5):
                moved = value.copy()
                moved[at] += move
                values.append(session.run(loss, {tensor: moved}))
            assert slope[at] == pytest.approx((values[0] - values[1]) / 2e-5, rel=1e-5), name


def test_gradients_need_training() -> None:
    case = Case("gru", "unidirectional")
    x = tf.constant(case.x)
    found = ops.CudnnRNN(**case.inputs() | {"input": x}, **case.attrs, is_training=False)
    with pytest.raises(ValueError, match="is_training must be set to True"):
        tf.gradients(found[0], x)


@pytest.mark.parametrize("version", ["", "V2"])
def test_the_vector_is_taken_apart_and_made_of_its_parts(version: str) -> None:
    case = Case("gru", "bidirectional")
    sizes: dict[str, Any] = dict(num_layers=LAYERS, num_units=UNITS, input_size=DEPTH)
    count = len(case.weights)
    counts = (
        {"num_params_weights": count, "num_params_biases": count} if version
        else {"num_params": count}
    )  # fmt: skip
    size = ops.CudnnRNNParamsSize(**sizes, T=tf.float64, S=tf.int32, **case.attrs)
    weights, biases = getattr(ops, f"CudnnRNNParamsToCanonical{version}")(
        **sizes, params=case.params, **counts, **case.attrs
    )
    again = getattr(ops, f"CudnnRNNCanonicalToParams{version}")(
        **sizes, weights=weights, biases=biases, **case.attrs
    )
    with tf.Session() as session:
        n, parts, vector = session.run([size, [*weights, *biases], again])
    assert n.tolist() == [case.params.size]
    for part, wanted in zip(parts, (*case.weights, *case.biases), strict=True):
        np.testing.assert_array_equal(part, wanted)
    np.testing.assert_array_equal(vector, case.params)


def test_what_is_not_there_says_so() -> None:
    case = Case("lstm", "unidirectional")
    dropped = ops.CudnnRNN(**case.inputs(), **case.attrs, dropout=0.5)
    skipped = ops.CudnnRNN(**case.inputs(), **case.attrs, input_mode="skip_input")
    wrong = ops.CudnnRNN(**case.inputs() | {"params": case.params[1:]}, **case.attrs)
    with tf.Session() as session:
        with pytest.raises(errors.UnimplementedError, match="Dropout between"):
            session.run(dropped[0])
        with pytest.raises(errors.UnimplementedError, match="without weights"):
            session.run(skipped[0])
        with pytest.raises(errors.InvalidArgumentError, match="parameters of the layers"):
            session.run(wrong[0])
