"""Networks over time: loops, unrolled, both ways, and what they do with lengths."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf

rnn_cell = tf.nn.rnn_cell
X = np.random.RandomState(0).randn(3, 5, 4).astype(np.float32)
LENGTHS = [5, 2, 0]


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        yield


def run(fetches):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches)


def cell():
    return rnn_cell.BasicLSTMCell(3)


def constants():
    return tf.variable_scope("same", initializer=tf.constant_initializer(0.3))


@pytest.mark.parametrize("lengths", [None, LENGTHS])
def test_dynamic_and_static_agree(lengths) -> None:
    with constants():
        outputs, state = tf.nn.dynamic_rnn(cell(), X, lengths, dtype=tf.float32, scope="a")
        steps, last = tf.nn.static_rnn(
            cell(), tf.unstack(tf.constant(X), axis=1), dtype=tf.float32, scope="b",
            sequence_length=lengths,
        )  # fmt: skip
    kernels = [tf.trainable_variables(scope)[0] for scope in ("same/a", "same/b")]
    losses = [tf.reduce_sum(outputs**2), tf.reduce_sum(tf.stack(steps, 1) ** 2)]
    gradients = [tf.gradients(*pair)[0] for pair in zip(losses, kernels, strict=True)]
    a, b, (s, t), (g, h) = run((outputs, tf.stack(steps, 1), (state, last), gradients))
    np.testing.assert_allclose(a, b, rtol=1e-5)
    np.testing.assert_allclose(s.c, t.c, rtol=1e-5)
    np.testing.assert_allclose(g, h, rtol=1e-4)
    if lengths:
        assert a[0].all()
        assert not a[1, 2:].any()
        assert not a[2].any()
        np.testing.assert_allclose(s.h[1], a[1, 1])
    assert [v.op.name for v in tf.trainable_variables("same/a")] == [
        "same/a/basic_lstm_cell/kernel",
        "same/a/basic_lstm_cell/bias",
    ]


def test_time_major_and_given_state() -> None:
    with constants():
        start = rnn_cell.LSTMStateTuple(tf.ones([3, 3]), tf.ones([3, 3]))
        a, _ = tf.nn.dynamic_rnn(cell(), X, initial_state=start, scope="a")
        b, _ = tf.nn.dynamic_rnn(
            cell(), X.transpose(1, 0, 2), initial_state=start, time_major=True, scope="b"
        )
    assert b.shape.as_list() == [5, 3, 3]
    a, b = run((a, b))
    np.testing.assert_allclose(a, b.transpose(1, 0, 2), rtol=1e-6)


def test_unknown_sizes() -> None:
    x = tf.placeholder(tf.float32, [None, None, 4])
    outputs, _state = tf.nn.dynamic_rnn(cell(), x, dtype=tf.float32)
    assert outputs.shape.as_list() == [None, None, 3]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for batch, time in ((1, 2), (3, 5)):
            got = session.run(outputs, {x: X[:batch, :time]})
            assert got.shape == (batch, time, 3)


def test_complaints() -> None:
    with pytest.raises(ValueError, match="you must give a dtype"):
        tf.nn.dynamic_rnn(cell(), X)
    with pytest.raises(ValueError, match="sequence_length must be a vector"):
        tf.nn.dynamic_rnn(cell(), X, [[1]], dtype=tf.float32)
    with pytest.raises(ValueError, match="depth of inputs"):
        tf.nn.dynamic_rnn(cell(), tf.placeholder(tf.float32, [1, 2, None]), dtype=tf.float32)
    with pytest.raises(TypeError, match="inputs must be a sequence"):
        tf.nn.static_rnn(cell(), tf.constant(X), dtype=tf.float32)
    lengths = tf.placeholder(tf.int32, [None])
    outputs, _ = tf.nn.dynamic_rnn(cell(), X, lengths, dtype=tf.float32)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError, match="Expected shape for Tensor"):
            session.run(outputs, {lengths: [1, 2]})


@pytest.mark.parametrize("lengths", [None, [5, 2, 3]])
def test_both_ways(lengths) -> None:
    with constants():
        (fw, bw), states = tf.nn.bidirectional_dynamic_rnn(
            cell(), cell(), X, lengths, dtype=tf.float32, scope="a"
        )
        steps, _state_fw, state_bw = tf.nn.static_bidirectional_rnn(
            cell(), cell(), tf.unstack(tf.constant(X), axis=1), dtype=tf.float32,
            sequence_length=lengths, scope="b",
        )  # fmt: skip
    names = [v.op.name for v in tf.trainable_variables("same/a")]
    assert names[0] == "same/a/fw/basic_lstm_cell/kernel"
    assert names[2] == "same/a/bw/basic_lstm_cell/kernel"
    fw, bw, both, (s, t) = run((fw, bw, tf.stack(steps, 1), (states[1], state_bw)))
    np.testing.assert_allclose(np.concatenate([fw, bw], 2), both, rtol=1e-5)
    np.testing.assert_allclose(s.h, t.h, rtol=1e-5)
    np.testing.assert_allclose(s.h, bw[:, 0], rtol=1e-6)


def test_raw_rnn_computes_what_dynamic_rnn_does() -> None:
    raw_cell = cell()
    arrays = tf.TensorArray(tf.float32, 5).unstack(X.transpose(1, 0, 2))
    lengths = tf.constant([5, 2, 3])

    def loop_fn(time, output, state, _):
        emit = output
        state = raw_cell.zero_state(3, tf.float32) if output is None else state
        done = time >= lengths
        following = tf.cond(
            tf.reduce_all(done), lambda: tf.zeros([3, 4]), lambda: arrays.read(time)
        )
        return done, following, state, emit, None

    with constants():
        emitted, state, loop_state = tf.nn.raw_rnn(raw_cell, loop_fn, scope="a")
        outputs, final = tf.nn.dynamic_rnn(cell(), X, lengths, dtype=tf.float32, scope="b")
    assert loop_state is None
    a, b, s, t = run((emitted.stack(), outputs, state, final))
    np.testing.assert_allclose(a.transpose(1, 0, 2), b, rtol=1e-5)
    np.testing.assert_allclose(s.c, t.c, rtol=1e-5)


def test_nested_inputs() -> None:
    class Adder(rnn_cell.RNNCell):
        state_size = output_size = 4

        def call(self, inputs, state):
            total = inputs[0] + inputs[1] + state
            return total, total

    outputs, _ = tf.nn.dynamic_rnn(Adder(), (X, X), dtype=tf.float32)
    np.testing.assert_allclose(run(outputs), 2 * X.cumsum(1), rtol=1e-5)


def test_saved_states() -> None:
    class Saver:
        saved: dict = {}  # noqa: RUF012

        def state(self, name):
            return tf.ones([3, 3])

        def save_state(self, name, value):
            self.saved[name] = value
            return tf.identity(value)

    saver = Saver()
    with constants():
        _outputs, state = tf.nn.static_state_saving_rnn(
            cell(), tf.unstack(tf.constant(X), axis=1), saver, ("c", "h")
        )
    c, saved = run((state.c, saver.saved["c"]))
    np.testing.assert_array_equal(c, saved)
    with pytest.raises(ValueError, match="state_name should be the same type"):
        tf.nn.static_state_saving_rnn(cell(), [tf.ones([3, 3])], saver, "c")


def test_fused_lstm_agrees() -> None:
    rnn = tf.contrib.rnn
    x = X.transpose(1, 0, 2)
    with constants():
        block = rnn.LSTMBlockFusedCell(3)
        a, (c, h) = block(x, dtype=tf.float32, sequence_length=[5, 2, 3])
        b, _ = rnn.TimeReversedFusedRNN(rnn.LSTMBlockFusedCell(3))(x, dtype=tf.float32)
        outputs, final = tf.nn.dynamic_rnn(cell(), x, [5, 2, 3], dtype=tf.float32, time_major=True)
        turned, _ = tf.nn.dynamic_rnn(cell(), x[::-1], dtype=tf.float32, time_major=True, scope="t")
    a, c, h, b, outputs, final, turned = run((a, c, h, b, outputs, final, turned))
    np.testing.assert_allclose(a, outputs, rtol=1e-5)
    np.testing.assert_allclose(c, final.c, rtol=1e-5)
    np.testing.assert_allclose(h, final.h, rtol=1e-5)
    np.testing.assert_allclose(b, turned[::-1], rtol=1e-5)


def test_stacks_of_both_ways() -> None:
    gru = rnn_cell.GRUCell
    outputs, fw, bw = tf.contrib.rnn.stack_bidirectional_dynamic_rnn(
        [gru(3), gru(2)], [gru(3), gru(2)], X, dtype=tf.float32
    )
    assert run(outputs).shape == (3, 5, 4)
    assert (len(fw), len(bw)) == (2, 2)
    names = [v.op.name for v in tf.trainable_variables()]
    assert names[0] == "stack_bidirectional_rnn/cell_0/bidirectional_rnn/fw/gru_cell/gates/kernel"


def test_lengths_of_another_batch() -> None:
    cell = tf.nn.rnn_cell.GRUCell(3)
    wrong = r"Dimension 0 in both shapes must be equal, but are 2 and 3\. Shapes are \[2\] and"
    with pytest.raises(ValueError, match=wrong):
        tf.nn.dynamic_rnn(cell, tf.zeros([3, 5, 4]), sequence_length=[1, 2], dtype=tf.float32)
