"""Recurrent layers as parts of models: names, shapes, configurations, states as inputs, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.keras.recurrent.cases import MASK, values
from weft.lib.platform import tf_logging

KINDS = ("SimpleRNN", "GRU", "LSTM")
X = values([3, 4, 2], 1)


def run(fetches: Any, feeds: Any = None) -> Any:
    return tf.keras.backend.get_session().run(fetches, feeds)


@pytest.mark.parametrize("kind", KINDS)
def test_weights_are_named_after_the_layer(kind: str) -> None:
    layer = getattr(tf.keras.layers, kind)(5, name="r")
    layer(tf.zeros([3, 4, 2]))
    columns = {"SimpleRNN": 5, "GRU": 15, "LSTM": 20}[kind]
    assert [w.name for w in layer.weights] == ["r/kernel:0", "r/recurrent_kernel:0", "r/bias:0"]
    assert [w.shape.as_list() for w in layer.weights] == [[2, columns], [5, columns], [columns]]


def test_both_ways_have_a_scope_each() -> None:
    layer = tf.keras.layers.Bidirectional(tf.keras.layers.GRU(2, name="g"), name="b")
    layer(tf.zeros([3, 4, 2]))
    names = [w.name for w in layer.weights]
    ways = [f"b/{way}_g/" for way in ("forward", "backward")]
    assert names == [w + n for w in ways for n in ("kernel:0", "recurrent_kernel:0", "bias:0")]


def test_forget_gates_start_open() -> None:
    layer = tf.keras.layers.LSTM(2)
    layer.build((None, None, 3))
    np.testing.assert_array_equal(layer.get_weights()[2], [0, 0, 1, 1, 0, 0, 0, 0])
    cudnn = tf.keras.layers.CuDNNLSTM(1)
    cudnn.build((None, None, 3))
    np.testing.assert_array_equal(cudnn.get_weights()[2], [0, 0, 0, 0, 0, 1, 0, 0])


@pytest.mark.parametrize("kind", KINDS)
def test_a_configuration_makes_the_layer_again(kind: str) -> None:
    given = {"units": 3, "dropout": 2.0, "kernel_regularizer": "l2", "return_state": True}
    layer = getattr(tf.keras.layers, kind)(**given, go_backwards=True, activity_regularizer="l1")
    config = layer.get_config()
    again = type(layer).from_config(config)
    assert again.get_config() == config
    assert "cell" not in config and config["dropout"] == 1.0 and config["go_backwards"]
    assert config["kernel_regularizer"]["class_name"] == "L1L2"
    assert config["recurrent_initializer"]["class_name"] == "Orthogonal"


def test_cells_and_directions_are_in_configurations() -> None:
    cells = [tf.keras.layers.LSTMCell(2), tf.keras.layers.GRUCell(3, reset_after=True)]
    layer = tf.keras.layers.RNN(cells, return_sequences=True, zero_output_for_mask=True)
    both = tf.keras.layers.Bidirectional(layer, merge_mode="sum")
    again = tf.keras.layers.deserialize(tf.keras.layers.serialize(both))
    assert again.get_config() == both.get_config()
    assert [cell.units for cell in again.forward_layer.cell.cells] == [2, 3]
    assert again.backward_layer.go_backwards and again.merge_mode == "sum"


def test_implementation_zero_becomes_one() -> None:
    config = tf.keras.layers.LSTM(2, implementation=2).get_config() | {"implementation": 0}
    assert tf.keras.layers.LSTM.from_config(config).implementation == 1


def test_simple_layers_of_old_files_had_an_implementation(monkeypatch: pytest.MonkeyPatch) -> None:
    warnings: list[str] = []
    monkeypatch.setattr(tf_logging, "warning", lambda message, *_: warnings.append(message))
    config = tf.keras.layers.SimpleRNN(2).get_config()
    old = config | {"implementation": 0}
    assert tf.keras.layers.SimpleRNN.from_config(old).get_config() == config
    assert "implementation" in old and not warnings


# ---- states -------------------------------------------------------------------------------------


def test_states_may_be_inputs_of_the_model() -> None:
    keras = tf.keras
    x, h, c = keras.Input((4, 2)), keras.Input((3,)), keras.Input((3,))
    layer = keras.layers.LSTM(3)
    model = keras.Model([x, h, c], layer(x, initial_state=[h, c]))
    assert model.layers[-1] is layer
    states = [values([3, 3], 2), values([3, 3], 3)]
    given = layer(tf.constant(X), initial_state=[tf.constant(s) for s in states])
    np.testing.assert_allclose(model.predict([X, *states]), run(given), rtol=1e-5)


def test_an_encoder_hands_its_state_to_a_decoder() -> None:
    keras = tf.keras
    x = keras.Input((4, 2))
    _, h, c = keras.layers.LSTM(3, return_state=True)(x)
    decoded = keras.layers.LSTM(3, return_sequences=True)(x, initial_state=[h, c])
    model = keras.Model(x, decoded)
    again = keras.Model.from_config(model.get_config())
    again.set_weights(model.get_weights())
    np.testing.assert_allclose(again.predict(X), model.predict(X), rtol=1e-5)


def test_a_stateful_model_goes_on_where_it_was() -> None:
    layer = tf.keras.layers.GRU(3, stateful=True, batch_input_shape=(3, 4, 2))
    model = tf.keras.Sequential([layer])
    first = model.predict(X)
    assert not np.allclose(model.predict(X), first)
    model.reset_states()
    np.testing.assert_allclose(model.predict(X), first, rtol=1e-5, atol=1e-7)
    layer.reset_states(states=[values([3, 3], 5)])
    np.testing.assert_array_equal(run(layer.states[0]), values([3, 3], 5))
    with pytest.raises(ValueError, match="expected shape=\\(3, 3\\), found shape=\\(2, 3\\)"):
        layer.reset_states(states=[np.zeros([2, 3])])
    with pytest.raises(ValueError, match="expects 1 states, but it received 2 state values"):
        layer.reset_states(states=[np.zeros([3, 3])] * 2)
    assert len(model.weights) == 3


def test_states_of_a_batch_of_unknown_size() -> None:
    layer = tf.keras.layers.LSTM(3, stateful=True)
    with pytest.raises(ValueError, match="it needs to know its batch size"):
        layer(tf.placeholder(tf.float32, [None, 4, 2]))
    with pytest.raises(AttributeError, match="Layer must be stateful"):
        tf.keras.layers.LSTM(3).reset_states()


# ---- masks --------------------------------------------------------------------------------------


def test_masks_come_from_layers_below_and_go_on() -> None:
    keras = tf.keras
    x = keras.Input((4, 2))
    masked = keras.layers.Masking(0.0)(x)
    layer = keras.layers.LSTM(3, return_sequences=True)
    model = keras.Model(x, layer(masked))
    batch = np.where(MASK[..., None], X, 0).astype(np.float32)
    wanted = layer(tf.constant(batch), mask=tf.constant(MASK))
    np.testing.assert_allclose(model.predict(batch), run(wanted), rtol=1e-5)
    assert layer.output_mask is masked._keras_mask
    both = keras.layers.Bidirectional(keras.layers.GRU(2, return_state=True))
    assert [t._keras_mask for t in both(masked)] == [None] * 3


# ---- dropout ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_noise_is_the_same_at_all_steps(kind: str) -> None:
    tf.set_random_seed(1)
    options = {"kernel_initializer": "ones", "recurrent_initializer": "zeros"}
    layer = getattr(tf.keras.layers, kind)(
        1, dropout=0.5, activation="linear", return_sequences=True, use_bias=False, **options
    )
    x = tf.ones([64, 3, 1])
    trained, tested = run([layer(x, training=True), layer(x, training=False)])
    if kind == "SimpleRNN":
        # A dropped input gives nothing; the others are scaled up.
        np.testing.assert_array_equal(trained, np.repeat(trained[:, :1], 3, axis=1))
        assert set(np.unique(trained)) == {0.0, 2.0}
    assert 16 < (trained[:, 0, 0] == 0).sum() < 48 or kind != "SimpleRNN"
    assert np.ptp(tested, axis=0).max() == 0 and np.ptp(trained, axis=0).max() > 0


# ---- cells of other kinds -----------------------------------------------------------------------


def test_cells_of_tf_nn_are_cells() -> None:
    cells = [tf.nn.rnn_cell.BasicLSTMCell(3), tf.nn.rnn_cell.GRUCell(2)]
    layer = tf.keras.layers.RNN(cells, return_sequences=True)
    x = tf.placeholder(tf.float32, [3, 4, 2])
    outputs = layer(x)
    assert len(layer.trainable_weights) == 6
    stacked = tf.nn.rnn_cell.MultiRNNCell(cells)
    wanted, _ = tf.nn.dynamic_rnn(stacked, x, dtype=tf.float32)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        made = session.run([outputs, wanted], {x: X})
    np.testing.assert_allclose(*made, rtol=1e-5)


def test_a_cell_with_several_inputs_and_outputs() -> None:
    class Pair(tf.keras.layers.AbstractRNNCell):
        """Sums up both of its inputs."""

        state_size = (2, tf.TensorShape([2, 2]))
        output_size = (2, tf.TensorShape([2, 2]))

        def call(self, inputs: Any, states: Any) -> Any:
            new = (inputs[0] + states[0], inputs[1] + states[1])
            return new, new

    a, b = values([3, 4, 2], 6), values([3, 4, 2, 2], 7)
    layer = tf.keras.layers.RNN(Pair(), return_sequences=True)
    outputs = run(layer((tf.constant(a), tf.constant(b))))
    np.testing.assert_allclose(outputs[0], np.cumsum(a, 1), rtol=1e-5)
    np.testing.assert_allclose(outputs[1], np.cumsum(b, 1), rtol=1e-5)


def test_peepholes_let_gates_see_the_memory() -> None:
    cell = tf.keras.experimental.PeepholeLSTMCell(2)
    layer = tf.keras.layers.RNN(cell)
    outputs = layer(tf.constant(X))
    weights = [values(w.shape.as_list(), i) for i, w in enumerate(layer.weights)]
    layer.set_weights(weights)
    kernel, recurrent, bias, see_i, see_f, see_o = weights

    def gate(z: np.ndarray) -> np.ndarray:
        return np.clip(0.2 * z + 0.5, 0, 1)

    h = c = np.zeros([3, 2], np.float32)
    for now in X.swapaxes(0, 1):
        i, f, j, o = np.split(now @ kernel + h @ recurrent + bias, 4, axis=1)
        c = gate(f + see_f * c) * c + gate(i + see_i * c) * np.tanh(j)
        h = gate(o + see_o * c) * np.tanh(c)
    np.testing.assert_allclose(run(outputs), h, rtol=1e-4)


# ---- errors -------------------------------------------------------------------------------------


def test_what_is_no_cell() -> None:
    with pytest.raises(ValueError, match="`cell` should have a `call` method"):
        tf.keras.layers.RNN(3)
    with pytest.raises(ValueError, match="an attribute `state_size`"):
        tf.keras.layers.RNN(tf.keras.layers.Dense(3))
    with pytest.raises(ValueError, match="All cells must have a `state_size` attribute"):
        tf.keras.layers.StackedRNNCells([tf.keras.layers.Dense(3)])


def test_states_that_do_not_fit() -> None:
    x = tf.zeros([3, 4, 2])
    with pytest.raises(ValueError, match="An `initial_state` was passed that is not compatible"):
        tf.keras.layers.LSTM(3)(x, initial_state=[tf.zeros([3, 3])])
    with pytest.raises(ValueError, match="mix of Keras tensors and non-Keras tensors"):
        tf.keras.layers.LSTM(3)(x, initial_state=[tf.zeros([3, 3]), tf.keras.Input((3,))])
    both = tf.keras.layers.Bidirectional(tf.keras.layers.GRU(3))
    with pytest.raises(ValueError, match="the states of the underlying RNNs"):
        both(x, initial_state=[tf.zeros([3, 3])])


def test_what_cannot_be_unrolled() -> None:
    with pytest.raises(ValueError, match="Cannot unroll a RNN if the time dimension is undefined"):
        tf.keras.layers.LSTM(3, unroll=True)(tf.placeholder(tf.float32, [3, None, 2]))
    with pytest.raises(TypeError, match="Unrolling isn't possible with convolutional RNNs"):
        tf.keras.layers.ConvLSTM2D(2, 3, unroll=True)


def test_directions_that_are_the_same() -> None:
    gru = tf.keras.layers.GRU(3)
    with pytest.raises(ValueError, match="should have different `go_backwards` value"):
        tf.keras.layers.Bidirectional(gru, backward_layer=tf.keras.layers.GRU(3))
    other = tf.keras.layers.GRU(3, go_backwards=True, return_sequences=True)
    with pytest.raises(ValueError, match="attribute return_sequences, got False and True"):
        tf.keras.layers.Bidirectional(gru, backward_layer=other)
    with pytest.raises(ValueError, match="Invalid merge mode"):
        tf.keras.layers.Bidirectional(gru, merge_mode="max")
