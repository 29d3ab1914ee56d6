"""Cells against NumPy, and the names of their variables."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf

rnn_cell = tf.nn.rnn_cell


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def step(cell, depth=3, batch=2):
    """Random values for one step: (x, state, output, new state, {name: value of variable})."""
    random = np.random.RandomState(0)
    x = random.randn(batch, depth).astype(np.float32)
    state = tf.nest.map_structure(
        lambda size: tf.constant(random.randn(batch, size).astype(np.float32)), cell.state_size
    )
    with tf.variable_scope("root", initializer=tf.random_uniform_initializer(-1, 1, seed=1)):
        output, new_state = cell(tf.constant(x), state)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        variables = {v.op.name.split("/", 2)[2]: v for v in tf.trainable_variables()}
        return (x, *session.run((state, output, new_state, variables)))


def names():
    return [variable.op.name for variable in tf.trainable_variables()]


def test_basic_rnn_cell() -> None:
    x, h, output, new, v = step(rnn_cell.BasicRNNCell(4))
    assert names() == ["root/basic_rnn_cell/kernel", "root/basic_rnn_cell/bias"]
    expected = np.tanh(np.hstack([x, h]) @ v["kernel"] + v["bias"])
    np.testing.assert_allclose(output, expected, rtol=1e-5)
    np.testing.assert_array_equal(new, output)


def test_gru_cell() -> None:
    x, h, output, _, v = step(rnn_cell.GRUCell(4))
    assert names() == [
        "root/gru_cell/gates/kernel",
        "root/gru_cell/gates/bias",
        "root/gru_cell/candidate/kernel",
        "root/gru_cell/candidate/bias",
    ]
    gates = sigmoid(np.hstack([x, h]) @ v["gates/kernel"] + v["gates/bias"])
    np.testing.assert_array_equal(v["gates/bias"], np.ones(8))
    r, u = np.split(gates, 2, 1)
    c = np.tanh(np.hstack([x, r * h]) @ v["candidate/kernel"] + v["candidate/bias"])
    np.testing.assert_allclose(output, u * h + (1 - u) * c, rtol=1e-5)


def lstm(x, c, h, v, forget_bias=1.0, peep=False, clip=None):
    i, j, f, o = np.split(np.hstack([x, h]) @ v["kernel"] + v["bias"], 4, 1)
    f = f + forget_bias
    if peep:
        i, f = i + v["w_i_diag"] * c, f + v["w_f_diag"] * c
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(j)
    c = c if clip is None else np.clip(c, -clip, clip)
    return c, sigmoid(o + v["w_o_diag"] * c if peep else o) * np.tanh(c)


def test_basic_lstm_cell() -> None:
    x, (c, h), output, new, v = step(rnn_cell.BasicLSTMCell(4, forget_bias=0.5))
    assert names() == ["root/basic_lstm_cell/kernel", "root/basic_lstm_cell/bias"]
    new_c, new_h = lstm(x, c, h, v, 0.5)
    np.testing.assert_allclose(new.c, new_c, rtol=1e-5)
    np.testing.assert_allclose(output, new_h, rtol=1e-5)


def test_lstm_cell_with_everything() -> None:
    cell = rnn_cell.LSTMCell(4, use_peepholes=True, cell_clip=0.3, num_proj=2, proj_clip=0.1)
    x, (c, h), output, new, v = step(cell)
    assert [name.split("/", 2)[2] for name in names()] == [
        "kernel",
        "bias",
        "w_f_diag",
        "w_i_diag",
        "w_o_diag",
        "projection/kernel",
    ]
    new_c, m = lstm(x, c, h, v, peep=True, clip=0.3)
    np.testing.assert_allclose(new.c, new_c, rtol=1e-5)
    expected = np.clip(m @ v["projection/kernel"], -0.1, 0.1)
    np.testing.assert_allclose(output, expected, rtol=1e-5)


@pytest.mark.parametrize("kind", [rnn_cell.LSTMCell, rnn_cell.BasicLSTMCell])
def test_joined_state_means_the_same(kind) -> None:
    x, joined, output, new, v = step(kind(4, state_is_tuple=False))
    c, h = lstm(x, joined[:, :4], joined[:, 4:], v)
    np.testing.assert_allclose(new, np.hstack([c, h]), rtol=1e-5)
    np.testing.assert_allclose(output, h, rtol=1e-5)


def test_block_cells_mean_the_same() -> None:
    x, (c, h), output, new, v = step(tf.contrib.rnn.LSTMBlockCell(4, use_peephole=True))
    new_c, new_h = lstm(x, c, h, v, peep=True)
    np.testing.assert_allclose(new.c, new_c, rtol=1e-5)
    np.testing.assert_allclose(output, new_h, rtol=1e-5)


def test_layer_norm_lstm() -> None:
    x, (c, h), output, new, v = step(tf.contrib.rnn.LayerNormBasicLSTMCell(4))

    def norm(a):
        return (a - a.mean(1, keepdims=True)) / a.std(1, keepdims=True)

    i, j, f, o = (norm(a) for a in np.split(np.hstack([x, h]) @ v["kernel"], 4, 1))
    new_c = norm(c * sigmoid(f + 1) + sigmoid(i) * np.tanh(j))
    np.testing.assert_allclose(new.c, new_c, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(output, np.tanh(new_c) * sigmoid(o), rtol=1e-4, atol=1e-5)
    assert "root/layer_norm_basic_lstm_cell/state/gamma" in names()


def test_zero_states() -> None:
    cell = rnn_cell.MultiRNNCell([rnn_cell.GRUCell(2), rnn_cell.LSTMCell(3)])
    state = cell.zero_state(tf.placeholder(tf.int32, []), tf.float32)
    assert [t.shape.as_list() for t in tf.nest.flatten(state)] == [[None, 2], [None, 3], [None, 3]]
    assert cell.zero_state(4, tf.float32)[1].h.shape.as_list() == [4, 3]
    with pytest.raises(ValueError, match="batch_size and dtype cannot be None"):
        cell.get_initial_state(batch_size=3)


def test_cells_want_floats_and_known_depth() -> None:
    cell = rnn_cell.GRUCell(2)
    with pytest.raises(ValueError, match="only supports floating point"):
        cell(tf.ones([2, 3], tf.int32), tf.zeros([2, 2], tf.int32))
    with pytest.raises(ValueError, match=r"Expected inputs.shape\[-1\] to be known"):
        rnn_cell.LSTMCell(2)(tf.placeholder(tf.float32, [2, None]), None)


def test_a_stack_names_its_cells() -> None:
    cell = rnn_cell.MultiRNNCell([rnn_cell.BasicLSTMCell(2), rnn_cell.GRUCell(2)])
    tf.nn.dynamic_rnn(cell, tf.ones([1, 3, 2]), dtype=tf.float32)
    assert names()[:3] == [
        "rnn/multi_rnn_cell/cell_0/basic_lstm_cell/kernel",
        "rnn/multi_rnn_cell/cell_0/basic_lstm_cell/bias",
        "rnn/multi_rnn_cell/cell_1/gru_cell/gates/kernel",
    ]
    assert cell.trainable_weights == tf.trainable_variables()


def test_residual_and_device() -> None:
    x, _h, output, new, _ = step(rnn_cell.ResidualWrapper(rnn_cell.GRUCell(3)))
    np.testing.assert_allclose(output, x + new, rtol=1e-6)
    cell = rnn_cell.DeviceWrapper(rnn_cell.GRUCell(3), "/cpu:3")
    output, _ = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
    assert output.device.endswith("3")


def test_dropout_spares_the_memory() -> None:
    cell = rnn_cell.DropoutWrapper(
        rnn_cell.LSTMCell(50), 1.0, output_keep_prob=0.5, state_keep_prob=0.5, seed=1
    )
    _, _, output, new, _ = step(cell)
    assert new.c.all()
    assert not new.h.all()
    assert not output.all()


def test_variational_dropout_is_the_same_at_every_step() -> None:
    cell = rnn_cell.DropoutWrapper(
        rnn_cell.GRUCell(20),
        output_keep_prob=0.5,
        variational_recurrent=True,
        dtype=tf.float32,
    )
    outputs, _ = tf.nn.dynamic_rnn(cell, tf.ones([2, 5, 3]), dtype=tf.float32)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        dropped = session.run(outputs) == 0
    assert dropped.any()
    assert (dropped == dropped[:1, :1]).all()


def test_not_a_cell() -> None:
    with pytest.raises(TypeError, match="is not an RNNCell"):
        tf.nn.dynamic_rnn(lambda x, s: (x, s), tf.ones([1, 2, 3]), dtype=tf.float32)
