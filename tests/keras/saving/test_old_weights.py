"""Weights of other versions and forms of layers; models as text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from weft.lib.keras import backend as K
from weft.lib.keras.engine.sequential import Sequential
from weft.lib.keras.layers.convolutional import Conv1D, Conv2D
from weft.lib.keras.layers.core import Dense
from weft.lib.keras.layers.cudnn_recurrent import CuDNNGRU, CuDNNLSTM
from weft.lib.keras.layers.recurrent_v1 import GRU, LSTM
from weft.lib.keras.layers.wrappers import TimeDistributed
from weft.lib.keras.saving.model_config import model_from_json, model_from_yaml
from weft.lib.keras.saving.old_weights import preprocess_weights_for_loading

X = np.random.RandomState(0).rand(2, 4, 3).astype("float32")
PLAIN: dict[str, Any] = {"recurrent_activation": "sigmoid"}
FORMS = {
    "lstm": (lambda: LSTM(5, **PLAIN), lambda: CuDNNLSTM(5)),
    "gru": (lambda: GRU(5, reset_after=True, **PLAIN), lambda: CuDNNGRU(5)),
}


def model_of(layer: Any) -> Any:
    model = Sequential([layer])
    model.build((None, 4, 3))
    chance = np.random.RandomState(0)
    model.set_weights([chance.rand(*w.shape) - 0.5 for w in model.get_weights()])
    return model


@pytest.mark.parametrize("kind", sorted(FORMS))
@pytest.mark.parametrize("swap", [False, True])
def test_weights_of_cudnn_and_of_plain_layers(kind: str, swap: bool, tmp_path: Path) -> None:
    pytest.importorskip("h5py")
    made = FORMS[kind][::-1] if swap else FORMS[kind]
    source, target = (model_of(make()) for make in made)
    source.save_weights(tmp_path / "w.h5")
    target.load_weights(tmp_path / "w.h5")
    np.testing.assert_allclose(target.predict(X), source.predict(X), atol=1e-5)


def test_forms_that_do_not_compute_the_same() -> None:
    weights = model_of(GRU(5, **PLAIN)).get_weights()
    with pytest.raises(ValueError, match=r"GRU\(reset_after=False\) is not compatible with CuDNN"):
        preprocess_weights_for_loading(CuDNNGRU(5), weights)
    weights[2] = np.zeros(7)
    for layer in (GRU(5), LSTM(5)):
        with pytest.raises(ValueError, match="Invalid bias shape"):
            preprocess_weights_for_loading(layer, weights)


def test_gates_of_keras_1() -> None:
    parts = [np.full((2, 2), i) for i in range(12)]
    for i in (2, 5, 8, 11):
        parts[i] = np.full(2, i)
    kernel, recurrent, bias = preprocess_weights_for_loading(LSTM(2), parts, "1")
    assert kernel[0].tolist() == [0, 0, 6, 6, 3, 3, 9, 9]
    assert recurrent[0].tolist() == [1, 1, 7, 7, 4, 4, 10, 10]
    assert bias.tolist() == [2, 2, 8, 8, 5, 5, 11, 11]
    kernel, _, bias = preprocess_weights_for_loading(GRU(2), parts[:9], "1")
    assert kernel[0].tolist() == [0, 0, 3, 3, 6, 6]


def test_convolutions_of_keras_1_and_theano() -> None:
    model = Sequential([Conv1D(5, 3, input_shape=(8, 2))])
    old = np.arange(30).reshape(3, 1, 2, 5)
    (kernel, _) = preprocess_weights_for_loading(model.layers[0], [old, np.zeros(5)], "1")
    np.testing.assert_array_equal(kernel, old[:, 0])
    model = Sequential([Conv2D(2, (3, 4), input_shape=(8, 8, 1))])
    plain = np.arange(24).reshape(3, 4, 1, 2)
    (kernel, _) = preprocess_weights_for_loading(
        model.layers[0], [plain, np.zeros(2)], "2.0", "theano"
    )
    np.testing.assert_array_equal(kernel, plain[::-1, ::-1])


def test_inside_of_other_layers() -> None:
    inner = Sequential([Conv2D(2, 3, input_shape=(4, 4, 1)), Dense(3)])
    outer = Sequential([TimeDistributed(inner, input_shape=(2, 4, 4, 1))])
    chance = np.random.RandomState(0)
    weights = [chance.rand(*w.shape) for w in outer.get_weights()]
    found = preprocess_weights_for_loading(outer.layers[0], weights, "2.0", "theano")
    np.testing.assert_array_equal(found[0], weights[0][::-1, ::-1])
    np.testing.assert_array_equal(found[2], weights[2])


def test_models_as_text() -> None:
    pytest.importorskip("yaml")
    model = Sequential([Dense(4, activation="relu", input_shape=(3,)), Dense(2)], name="text")
    for again in (model_from_json(model.to_json()), model_from_yaml(model.to_yaml())):
        assert again.get_config() == model.get_config()
        assert again.name == "text"
    K.clear_session()
