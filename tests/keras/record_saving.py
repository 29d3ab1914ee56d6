"""Records models that TensorFlow 2.15's Keras wrote in graph mode, and what they compute.

    python -m tests.keras.record_saving        (with TensorFlow 2.15)

With a path, writes nothing but reads the model there, and prints what it predicts: how the tests
that are marked slow let TensorFlow read our files.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np

RECORDED = Path(__file__).parent / "recorded" / "saving"


def data() -> tuple[np.ndarray, np.ndarray]:
    """Small images and their classes."""
    random = np.random.RandomState(0)
    return random.rand(12, 6, 6, 2).astype("float32"), np.eye(3, dtype="float32")[np.arange(12) % 3]


def build(keras: Any) -> Any:
    """A model of layers of several kinds, with two branches."""
    layers = keras.layers
    inputs = keras.Input((6, 6, 2), name="images")
    x = layers.Conv2D(4, 3, padding="same", activation="relu", name="conv")(inputs)
    x = layers.BatchNormalization(name="norm")(x)
    x = layers.MaxPooling2D(name="pool")(x)
    rows = layers.Reshape((9, 4), name="rows")(x)
    state = layers.LSTM(3, name="lstm")(rows)
    flat = layers.Flatten(name="flat")(x)
    both = layers.Concatenate(name="both")([state, flat])
    inner = keras.Sequential([layers.Dense(5, activation="tanh", input_shape=(39,))], name="inner")
    outputs = layers.Dense(3, activation="softmax", name="classes")(inner(both))
    model = keras.Model(inputs, outputs, name="recorded")
    model.compile(keras.optimizers.Adam(0.01), "categorical_crossentropy", metrics=["accuracy"])
    return model


def trained(keras: Any) -> Any:
    x, y = data()
    model = build(keras)
    model.fit(x, y, batch_size=6, epochs=2, verbose=0, shuffle=False)
    return model


def record(keras: Any) -> None:
    shutil.rmtree(RECORDED, ignore_errors=True)
    os.makedirs(RECORDED)
    x, y = data()
    model = trained(keras)
    values = {"predictions": model.predict(x), "evaluation": model.evaluate(x, y, verbose=0)}
    model.save(RECORDED / "model.h5", save_format="h5")
    model.save_weights(RECORDED / "weights.h5")
    model.save_weights(str(RECORDED / "objects"), save_format="tf")
    os.remove(RECORDED / "checkpoint")
    weights = model.get_weights()
    values |= {f"weight{i}": w for i, w in enumerate(weights)}
    # One more step tells whether the optimizer's state was read.
    model.train_on_batch(x, y)
    values["after a step"] = model.predict(x)
    np.savez_compressed(RECORDED / "values.npz", **values)


def read(keras: Any, path: str) -> None:
    """Prints predictions of a model of ours, before and after one more step."""
    x, y = data()
    if path.endswith(".h5"):
        model = keras.models.load_model(path)
    else:
        model = build(keras)
        model._make_train_function()
        model.load_weights(path)
    before = model.predict(x)
    model.train_on_batch(x, y)
    print(json.dumps([before.tolist(), model.predict(x).tolist()]))


def main() -> None:
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    tf.logging.set_verbosity(tf.logging.ERROR)
    if len(sys.argv) > 1:
        read(tf.keras, sys.argv[1])
    else:
        tf.set_random_seed(1)
        record(tf.keras)


if __name__ == "__main__":
    main()
