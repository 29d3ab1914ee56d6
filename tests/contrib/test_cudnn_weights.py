"""tf.contrib.cudnn_rnn: one vector of weights, and the same weights as those of cells."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.lib.contrib.cudnn_rnn import opaque

cudnn = tf.contrib.cudnn_rnn
UNITS, DEPTH, LAYERS = 3, 4, 2
X = np.random.RandomState(0).randn(5, 2, DEPTH).astype(np.float32)
GATES = {"LSTM": 4, "GRU": 3, "RNNTanh": 1, "RNNRelu": 1}
CELLS: dict[str, Any] = {
    "LSTM": cudnn.CudnnCompatibleLSTMCell,
    "GRU": cudnn.CudnnCompatibleGRUCell,
    "RNNTanh": tf.nn.rnn_cell.BasicRNNCell,
    "RNNRelu": lambda units: tf.nn.rnn_cell.BasicRNNCell(units, tf.nn.relu),
}
DIRECTIONS = ("unidirectional", "bidirectional")


def parts(kind: str, ways: int, random: Any) -> tuple[list[Any], list[Any]]:
    """Matrices and biases of all gates, in the order of NVIDIA's library."""
    weights = []
    for layer in range(LAYERS):
        depth = DEPTH if layer == 0 else ways * UNITS
        for _ in range(ways):
            weights += [random.randn(UNITS, depth) for _ in range(GATES[kind])]
            weights += [random.randn(UNITS, UNITS) for _ in range(GATES[kind])]
    return weights, [random.randn(UNITS) for _ in weights]


def vector(kind: str, ways: int = 1) -> np.ndarray:
    weights, biases = parts(kind, ways, np.random.RandomState(1))
    return np.concatenate([each.ravel() for each in (*weights, *biases)]).astype(np.float32)


def converter(kind: str, direction: str = "unidirectional") -> Any:
    made = getattr(cudnn, f"CudnnParamsFormatConverter{kind.replace('RNN', '')}")
    return made(LAYERS, UNITS, DEPTH, direction=direction)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_an_lstm_joins_its_gates(direction: str) -> None:
    ways = 1 + DIRECTIONS.index(direction)
    weights, biases = parts("LSTM", ways, np.random.RandomState(1))
    kernels, sums = converter("LSTM", direction).opaque_to_tf_canonical(
        tf.constant(vector("LSTM", ways))
    )
    assert len(kernels) == len(sums) == LAYERS * ways
    with tf.Session() as sess:
        found, added = sess.run([kernels, sums])
    for place in range(LAYERS * ways):
        w, b = weights[8 * place :][:8], biases[8 * place :][:8]
        order = (0, 2, 1, 3)
        rows = [np.concatenate([w[i], w[4 + i]], 1) for i in order]
        np.testing.assert_allclose(found[place], np.concatenate(rows).T, rtol=1e-6)
        both = np.concatenate([b[i] + b[4 + i] for i in order])
        np.testing.assert_allclose(added[place], both, rtol=1e-5, atol=1e-6)


def test_a_gru_keeps_the_new_value_apart() -> None:
    weights, biases = parts("GRU", 1, np.random.RandomState(1))
    kernels, sums = converter("GRU").opaque_to_tf_canonical(tf.constant(vector("GRU")))
    with tf.Session() as sess:
        found, added = sess.run([kernels, sums])
    assert len(found) == 3 * LAYERS
    (r, u, n, hr, hu, hn), own = weights[:6], biases[:6]
    gates = np.concatenate([np.concatenate([r, hr], 1), np.concatenate([u, hu], 1)]).T
    for mine, expected in zip(found, (gates, n.T, hn.T), strict=False):
        np.testing.assert_allclose(mine, expected, rtol=1e-6)
    joined = np.concatenate([own[0] + own[3], own[1] + own[4]])
    for mine, expected in zip(added, (joined, own[2], own[5]), strict=False):
        np.testing.assert_allclose(mine, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("kind", GATES)
def test_there_and_back(kind: str, direction: str) -> None:
    """Biases come back as halves of their sums; then nothing changes any more."""
    both = converter(kind, direction)
    given = tf.constant(vector(kind, 1 + DIRECTIONS.index(direction)))
    kernels, biases = both.opaque_to_tf_canonical(given)
    back = both.tf_canonical_to_opaque([*kernels, *biases])
    again = both.opaque_to_tf_canonical(back)
    with tf.Session() as sess:
        first, second = sess.run([[*kernels, *biases], [*again[0], *again[1]]])
        assert sess.run(back).shape == sess.run(given).shape
    for mine, theirs in zip(first, second, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6)


def run_vector(kind: str, params: Any) -> Any:
    model = getattr(opaque, f"Cudnn{kind}")(LAYERS, UNITS, DEPTH)
    state = tf.zeros([LAYERS, 2, UNITS])
    states = (state, state) if kind == "LSTM" else (state,)
    return model(X, *states, params, is_training=False)[0]


def run_cells(kind: str) -> Any:
    cell = tf.nn.rnn_cell.MultiRNNCell([CELLS[kind](UNITS) for _ in range(LAYERS)])
    return tf.nn.dynamic_rnn(cell, X, dtype=tf.float32, time_major=True)[0]


def saveable(kind: str, params: Any, **more: Any) -> Any:
    made = getattr(cudnn, f"Cudnn{kind}Saveable")(params, LAYERS, UNITS, DEPTH, **more)
    tf.add_to_collection(tf.GraphKeys.SAVEABLE_OBJECTS, made)
    return made


@pytest.mark.parametrize("kind", GATES)
def test_checkpoints_go_from_the_vector_to_cells_and_back(tmp_path: Path, kind: str) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        params = tf.get_variable("vector", initializer=vector(kind), validate_shape=False)
        saveable(kind, params, scope="net")
        outputs = run_vector(kind, params)
        sess.run(tf.global_variables_initializer())
        expected = sess.run(outputs)
        path = tf.train.Saver().save(sess, str(tmp_path / "vector"))
    with tf.Graph().as_default(), tf.Session() as sess:
        with tf.variable_scope("net"):
            outputs = run_cells(kind)
        tf.train.Saver().restore(sess, path)
        np.testing.assert_allclose(sess.run(outputs), expected, rtol=1e-4, atol=1e-5)
        path = tf.train.Saver().save(sess, str(tmp_path / "cells"))
    with tf.Graph().as_default(), tf.Session() as sess:
        params = tf.get_variable(
            "vector", initializer=np.zeros_like(vector(kind)), validate_shape=False
        )
        made = saveable(kind, params, scope="net")
        outputs = run_vector(kind, params)
        tf.train.Saver([made]).restore(sess, path)
        np.testing.assert_allclose(sess.run(outputs), expected, rtol=1e-4, atol=1e-5)


def test_the_names_of_what_is_saved() -> None:
    params = tf.get_variable("vector", initializer=vector("GRU", 2))
    with tf.variable_scope("around") as scope:
        made = saveable("GRU", params, direction="bidirectional", scope=scope, name="mine")
    names = [spec.name for spec in made.specs]
    start = "around/stack_bidirectional_rnn/cell_{}/bidirectional_rnn/{}/cudnn_compatible_gru_cell/"
    ends = ("gates", "candidate/input_projection", "candidate/hidden_projection")
    places = [start.format(layer, side) for layer in range(2) for side in ("fw", "bw")]
    expected = [place + end for place in places for end in ends]
    assert names == [f"{n}/kernel" for n in expected] + [f"{n}/bias" for n in expected]
    assert made.name == "mine" and isinstance(made.format_converter, type(converter("GRU")))


def test_a_layer_reads_what_a_vector_saved(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        params = tf.get_variable("vector", initializer=vector("LSTM"), validate_shape=False)
        saveable("LSTM", params, scope="layer")
        outputs = run_vector("LSTM", params)
        sess.run(tf.global_variables_initializer())
        expected = sess.run(outputs)
        path = tf.train.Saver().save(sess, str(tmp_path / "vector"))
    with tf.Graph().as_default(), tf.Session() as sess:
        layer = cudnn.CudnnLSTM(LAYERS, UNITS, name="layer")
        outputs, _ = layer(X, training=False)
        tf.train.Saver().restore(sess, path)
        np.testing.assert_allclose(sess.run(outputs), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_sizes_and_parts(direction: str) -> None:
    ways = 1 + DIRECTIONS.index(direction)
    model = opaque.CudnnGRU(LAYERS, UNITS, DEPTH, direction=direction)
    given = vector("GRU", ways)
    weights, biases = model.params_to_canonical(tf.constant(given))
    with tf.Session() as sess:
        assert sess.run(model.params_size()) == len(given)
        np.testing.assert_array_equal(sess.run(model.canonical_to_params(weights, biases)), given)
    layer = cudnn.CudnnGRU(LAYERS, UNITS, direction=direction)
    with pytest.raises(RuntimeError, match="invoked before input shape is known"):
        assert layer.canonical_weight_shapes
    layer.build([None, None, DEPTH])
    expected, vectors = parts("GRU", ways, np.random.RandomState(1))
    assert layer.canonical_weight_shapes == [each.shape for each in expected]
    assert layer.canonical_bias_shapes == [list(each.shape) for each in vectors]


def test_lengths_and_batch_major() -> None:
    params = tf.constant(vector("LSTM"))
    state = tf.zeros([LAYERS, 2, UNITS])
    outputs, h, c = opaque.cudnn_lstm(X, state, state, params, False, sequence_lengths=[5, 3])
    flipped = tf.transpose(state, [1, 0, 2])
    turned, _, _ = opaque.cudnn_lstm(
        np.swapaxes(X, 0, 1), flipped, flipped, params, False, time_major=False
    )
    whole, _, _ = opaque.cudnn_lstm(X, state, state, params, False)
    with tf.Session() as sess:
        some, all_, other = sess.run([outputs, whole, turned])
    np.testing.assert_allclose(some[:, 0], all_[:, 0], rtol=1e-5)
    assert not some[3:, 1].any()
    np.testing.assert_allclose(np.swapaxes(other, 0, 1), all_, rtol=1e-5)
    assert h.shape == c.shape == (LAYERS, 2, UNITS)


WRONG = {
    "direction": (lambda: opaque.CudnnGRU(1, 2, 3, direction="up"), "Invalid direction: up"),
    "mode": (
        lambda: opaque.cudnn_rnn_opaque_params_size("crnn", 1, 2, 3),
        r"Invalid rnn_mode: crnn, expect one of \(lstm, gru, rnn_tanh, rnn_relu\)",
    ),
    "input": (
        lambda: cudnn.CudnnLSTM(1, 2, input_mode="none"),
        r"Invalid input_mode: none, expect one of \(linear_input, skip_input, auto_select\)",
    ),
    "direction of a layer": (
        lambda: cudnn.CudnnLSTM(1, 2, direction="up"),
        "Invalid direction: up, expecting unidirectional or bidirectional",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_errors(case: str) -> None:
    call, message = WRONG[case]
    with pytest.raises(ValueError, match=message):
        call()


def test_parameters() -> None:
    relu = list(inspect.signature(opaque.cudnn_rnn_relu).parameters)
    assert relu[4:] == [
        "input_mode", "direction", "dropout", "seed", "sequence_lengths", "time_major", "name",
    ]  # fmt: skip
    assert list(inspect.signature(opaque.CudnnLSTM).parameters)[-1] == "num_proj"
