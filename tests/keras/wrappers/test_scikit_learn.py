"""Models as estimators of scikit-learn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from weft.core import flags
from weft.lib.keras.engine.sequential import Sequential
from weft.lib.keras.layers.core import Dense
from weft.lib.keras.wrappers.scikit_learn import KerasClassifier, KerasRegressor

X = np.random.RandomState(0).rand(40, 3)
NAMES = np.where(X[:, 0] > 0.5, "large", "small")


@pytest.fixture(autouse=True)
def without_compiling() -> Iterator[None]:
    with flags.XLA.override(False):
        yield


def classifier(width: int = 4, loss: str = "categorical_crossentropy") -> Any:
    model = Sequential([Dense(width, activation="relu", input_shape=(3,))])
    model.add(Dense(2, activation="softmax"))
    model.compile("sgd", loss, metrics=["accuracy"])
    return model


def regressor() -> Any:
    model = Sequential([Dense(1, input_shape=(3,))])
    model.compile("sgd", "mse")
    return model


@pytest.mark.parametrize("loss", ["categorical_crossentropy", "sparse_categorical_crossentropy"])
def test_classes_have_names(loss: str) -> None:
    wrapped = KerasClassifier(classifier, width=8, loss=loss, epochs=2, batch_size=8, verbose=0)
    history = wrapped.fit(X, NAMES)
    assert len(history.epoch) == 2
    assert wrapped.model.layers[0].units == 8
    assert wrapped.classes_.tolist() == ["large", "small"]
    predicted = wrapped.predict(X)
    assert set(predicted) <= {"large", "small"}
    assert wrapped.predict_proba(X).shape == (40, 2)
    assert wrapped.score(X, NAMES, verbose=0) == pytest.approx(np.mean(predicted == NAMES))


def test_numbers() -> None:
    wrapped = KerasRegressor(regressor, epochs=1, verbose=0)
    wrapped.fit(X, X[:, 0])
    predicted = wrapped.predict(X)
    assert predicted.shape == (40,)
    loss = np.mean((predicted - X[:, 0]) ** 2)
    assert wrapped.score(X, X[:, 0], verbose=0) == pytest.approx(-loss, rel=1e-4)


def test_parameters() -> None:
    wrapped = KerasClassifier(classifier, width=8)
    assert wrapped.get_params() == {"width": 8, "build_fn": classifier}
    assert wrapped.set_params(epochs=3) is wrapped
    assert wrapped.filter_sk_params(Sequential.fit, {"verbose": 0}) == {"epochs": 3, "verbose": 0}
    with pytest.raises(ValueError, match="depth is not a legal parameter"):
        KerasClassifier(classifier, depth=3)

    class Own(KerasRegressor):
        def __call__(self, width: int = 1) -> Any:
            return regressor()

    own = Own(width=2)
    own.fit(X, X[:, 0], verbose=0)
    assert own.model.layers[0].units == 1


def test_accuracy_has_to_be_computed() -> None:
    def without() -> Any:
        model = classifier()
        model.compile("sgd", "categorical_crossentropy")
        return model

    wrapped = KerasClassifier(without, verbose=0)
    wrapped.fit(X, NAMES)
    with pytest.raises(ValueError, match="not configured to compute accuracy"):
        wrapped.score(X, NAMES, verbose=0)
