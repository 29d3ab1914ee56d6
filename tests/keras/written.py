"""Programs as users write them; what TensorFlow 1.15 makes of each is recorded.

A program gets TensorFlow (or weft) and returns what is to be the same: numbers, texts, shapes.
"""

from __future__ import annotations

import contextlib
import io
import random
from collections.abc import Callable
from typing import Any

import numpy as np

PROGRAMS: dict[str, Callable[[Any], Any]] = {}
ROWS = np.random.RandomState(0).uniform(-1, 1, (20, 4)).astype("float32")
LABELS = np.arange(20) % 3
TARGETS = np.eye(3, dtype="float32")[LABELS]


def program(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    PROGRAMS[function.__name__] = function
    return function


def _classifier(tf: Any, dropout: float = 0.0) -> Any:
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [layers.Dropout(dropout, input_shape=(4,)), layers.Dense(3, activation="softmax")]
    )
    model.compile("sgd", "categorical_crossentropy")
    return model


@program
def validation_is_shuffled(tf: Any) -> Any:
    """Validation takes an order from NumPy's generator, whatever training does."""
    found = []
    for shuffle in (True, False):
        model = _classifier(tf)
        options = {"epochs": 2, "batch_size": 8, "verbose": 0, "shuffle": shuffle}
        history = model.fit(ROWS, TARGETS, validation_split=0.2, **options)
        found.append([history.history["loss"], history.history["val_loss"], np.random.rand()])
    return found


@program
def shuffled_sequences(tf: Any) -> Any:
    class Batches(tf.keras.utils.Sequence):
        def __len__(self) -> int:
            return 4

        def __getitem__(self, index: int) -> Any:
            return ROWS[index * 5 : index * 5 + 5], TARGETS[index * 5 : index * 5 + 5]

    model = _classifier(tf)
    return model.fit_generator(Batches(), epochs=4, verbose=0, shuffle=True).history["loss"]


@program
def clones_on_other_inputs(tf: Any) -> Any:
    keras = tf.keras
    first = keras.Input((4,))
    dense = keras.layers.Dense(3)
    model = keras.Model(first, dense(keras.layers.Dropout(0.3)(first)))
    clone = keras.models.clone_model(model, input_tensors=keras.Input((4,)))
    clone.summary()
    constant = keras.models.clone_model(model, input_tensors=tf.constant(ROWS))
    constant.summary()
    return [clone.predict(ROWS), [layer.name for layer in clone.layers], clone.to_json()]


def observe(tf: Any, name: str) -> dict[str, Any]:
    """What a program returns and prints, and how many nodes it leaves."""
    tf.keras.backend.clear_session()
    tf.set_random_seed(3)
    np.random.seed(3)
    random.seed(3)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        returned = PROGRAMS[name](tf)
    found: dict[str, Any] = {"numbers": [], "texts": [], "printed": printed.getvalue()}
    _gather(returned, found)
    return {**found, "nodes": len(tf.get_default_graph().get_operations())}


def _gather(value: Any, found: dict[str, Any]) -> None:
    if isinstance(value, (list, tuple)):
        for each in value:
            _gather(each, found)
    elif isinstance(value, str):
        found["texts"].append(value)
    else:
        found["numbers"].extend(float(x) for x in np.ravel(value))
