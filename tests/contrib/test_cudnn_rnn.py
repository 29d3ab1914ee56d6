"""tf.contrib.cudnn_rnn: layers compute what the compatible cells do, and share checkpoints."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import weft as tf

cudnn = tf.contrib.cudnn_rnn
X = np.random.RandomState(0).randn(5, 3, 4).astype(np.float32)


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_a_checkpoint_is_read_by_compatible_cells(tmp_path: Path, kind: str) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        layer = getattr(cudnn, f"Cudnn{kind}")(2, 6, name="layer")
        outputs, states = layer(X, training=False)
        session.run(tf.global_variables_initializer())
        expected, ends = session.run([outputs, states])
        path = tf.train.Saver().save(session, str(tmp_path / "rnn"))
    with tf.Graph().as_default(), tf.Session() as session:
        make = getattr(cudnn, f"CudnnCompatible{kind}Cell")
        with tf.variable_scope("layer"):
            cell = tf.nn.rnn_cell.MultiRNNCell([make(6) for _ in range(2)])
            found, state = tf.nn.dynamic_rnn(cell, X, dtype=tf.float32, time_major=True)
        tf.train.Saver().restore(session, path)
        value, last = session.run([found, state])
    np.testing.assert_allclose(value, expected, rtol=1e-5, atol=1e-6)
    assert expected.shape == (5, 3, 6) and ends[0].shape == (2, 3, 6)
    h = last[1].h if kind == "LSTM" else last[1]
    np.testing.assert_allclose(ends[0][1], h, rtol=1e-5, atol=1e-6)


def test_a_layer_that_is_built_first_has_its_parts_in_the_scope_around_it() -> None:
    layers = [cudnn.CudnnLSTM(1, 6) for _ in range(2)]
    for layer in layers:
        layer.build([None, None, 4])
    outputs, _ = layers[0](X, training=False)
    names = [layer.trainable_variables[1].op.name for layer in layers]
    own = "rnn/multi_rnn_cell/cell_0/cudnn_compatible_lstm_cell/bias"
    assert names[0] == own and names[1] != own and names[1].endswith(own)
    cell = tf.nn.rnn_cell.MultiRNNCell([cudnn.CudnnCompatibleLSTMCell(6)])
    with tf.variable_scope(tf.get_variable_scope(), reuse=True):
        same, _ = tf.nn.dynamic_rnn(cell, X, dtype=tf.float32, time_major=True)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_allclose(*session.run([outputs, same]), rtol=1e-5, atol=1e-6)


def test_both_directions_and_lengths() -> None:
    layer = cudnn.CudnnLSTM(1, 6, direction="bidirectional", name="both")
    outputs, (h, c) = layer(X, sequence_lengths=[5, 3, 1])
    assert next(v.name for v in layer.trainable_variables) == (
        "both/stack_bidirectional_rnn/cell_0/bidirectional_rnn/fw/cudnn_compatible_lstm_cell"
        "/kernel:0"
    )
    shorter, (other, _) = layer(X[:3, 1:2])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        value, h_value, c_value = session.run([outputs, h, c])
        short, short_h = session.run([shorter, other])
    assert value.shape == (5, 3, 12) and h_value.shape == c_value.shape == (2, 3, 6)
    assert not value[3:, 1].any()
    np.testing.assert_allclose(value[:3, 1], short[:, 0], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(h_value[:, 1], short_h[:, 0], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(h_value[1, 0], value[0, 0, 6:], rtol=1e-6)


@pytest.mark.parametrize("kind", ["CudnnRNNTanh", "CudnnGRU"])
def test_training_and_dropout(kind: str) -> None:
    layer = getattr(cudnn, kind)(2, 6, dropout=0.5, seed=1)
    loss = tf.reduce_sum(tf.square(layer(X)[0]))
    still = layer(X, training=False)[0]
    grads = tf.gradients(loss, layer.trainable_variables)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(loss) != session.run(loss)
        np.testing.assert_allclose(session.run(still), session.run(still), rtol=1e-4, atol=1e-6)
        assert all(np.isfinite(each).all() for each in session.run(grads))


def test_batch_major_and_initial_state() -> None:
    layer = cudnn.CudnnLSTM(1, 6)
    state = tf.ones([1, 3, 6])
    outputs, ends = layer(X, initial_state=(state, state))
    turned = tf.transpose(state, [1, 0, 2])
    batch = np.transpose(X, [1, 0, 2])
    others, _ = layer(batch, initial_state=(turned, turned), time_major=False)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        a, b, end = session.run([outputs, others, ends])
    np.testing.assert_allclose(np.transpose(a, [1, 0, 2]), b, rtol=1e-6)
    np.testing.assert_allclose(a[-1], end[0][0])
    with pytest.raises(TypeError, match="expecting tuple"):
        layer(X, initial_state=[state, state])
