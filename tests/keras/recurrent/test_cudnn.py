"""The layers of cuDNN compute what LSTM and GRU with sigmoid gates do, from other weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.keras.recurrent.cases import values

UNITS, X = 3, values([2, 5, 4], 1)


def _gates(kernel: np.ndarray, count: int, change: Any) -> np.ndarray:
    return np.concatenate([change(each) for each in np.split(kernel, count, axis=1)], axis=1)


def _as_other_layers_have_it(kind: str, weights: list[np.ndarray]) -> list[np.ndarray]:
    """The same weights for LSTM or GRU: cuDNN's matrices stand on their sides."""
    count = {"LSTM": 4, "GRU": 3}[kind]
    kernel, recurrent, bias = weights
    kernel = _gates(kernel, count, lambda k: k.reshape(k.shape[::-1]).T)
    recurrent = _gates(recurrent, count, lambda k: k.T)
    both = bias.reshape(2, -1)
    return [kernel, recurrent, both.sum(0) if kind == "LSTM" else both]


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
@pytest.mark.parametrize("form", [{}, {"go_backwards": True, "return_sequences": True}])
def test_as_the_layer_of_other_devices(kind: str, form: dict[str, Any]) -> None:
    keras = tf.keras
    cudnn = getattr(keras.layers, "CuDNN" + kind)(UNITS, return_state=True, **form)
    more = {"reset_after": True} if kind == "GRU" else {}
    other = getattr(keras.layers, kind)(
        UNITS, recurrent_activation="sigmoid", return_state=True, **form, **more
    )
    x = tf.constant(X)
    made, wanted = cudnn(x), other(x)
    weights = [values(w.shape.as_list(), i) for i, w in enumerate(cudnn.weights)]
    cudnn.set_weights(weights)
    other.set_weights(_as_other_layers_have_it(kind, weights))
    gradients = [tf.gradients(outputs[0] ** 2, x)[0] for outputs in (made, wanted)]
    found = keras.backend.get_session().run([[made, gradients[0]], [wanted, gradients[1]]])
    tf.nest.map_structure(lambda a, b: np.testing.assert_allclose(a, b, rtol=2e-5), *found)


def test_states_masks_and_configurations() -> None:
    keras = tf.keras
    layer = keras.layers.CuDNNGRU(UNITS, stateful=True, kernel_regularizer="l1")
    outputs = layer(tf.constant(X))
    assert [w.shape.as_list() for w in layer.weights] == [[4, 9], [3, 9], [18]]
    session = keras.backend.get_session()
    first, _ = session.run([outputs, layer.updates])
    np.testing.assert_array_equal(session.run(layer.states[0]), first)
    layer.reset_states()
    np.testing.assert_allclose(session.run(outputs), first, rtol=1e-6)
    config = layer.get_config()
    assert "unroll" not in config and "cell" not in config
    assert keras.layers.CuDNNGRU.from_config(config).get_config() == config
    with pytest.raises(ValueError, match=r"Masking is not supported for CuDNN RNNs\."):
        keras.layers.CuDNNLSTM(2)(tf.constant(X), mask=tf.ones([2, 5], tf.bool))
    both = keras.layers.Bidirectional(keras.layers.CuDNNLSTM(2))
    assert both(tf.constant(X)).shape.as_list() == [2, 4]
