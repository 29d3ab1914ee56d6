"""An object that TensorFlow and weft both save; `tf` is either of them. And what to ask of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

STORED = Path(__file__).parent / "stored_objects"
WORDS = "emerson\nlake\npalmer\n"
ROWS = np.array([[1.0, 2.0], [-1.0, 0.5]], np.float32)


def toy(tf: Any, words: str) -> Any:
    """Nested modules, a list, a dict, a constant, a table that is filled from a file."""

    class Toy(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="w")
            self.parts = [tf.Module(), tf.Module()]
            self.parts[0].b = tf.Variable(2.0, name="b", trainable=False)
            self.counts = {"calls": tf.Variable(5, name="calls")}
            self.shift = tf.constant([10.0, 20.0])
            whole, number = tf.lookup.TextFileIndex.WHOLE_LINE, tf.lookup.TextFileIndex.LINE_NUMBER
            source = tf.lookup.TextFileInitializer(words, tf.string, whole, tf.int64, number)
            self.table = tf.lookup.StaticHashTable(source, -1)

        @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="x")])
        def linear(self, x: Any) -> Any:
            return tf.matmul(x, self.w) + self.parts[0].b + self.shift

        @tf.function
        def scaled(self, x: Any, scale: float = 2.0, *, negate: bool = False) -> Any:
            y = -x * scale if negate else x * scale
            if tf.reduce_sum(y) > 0:
                y = y + 1.0
            for _ in tf.range(2):
                y = y + tf.cast(self.counts["calls"].assign_add(1), tf.float32)
            return {"y": y, "all": (y, [tf.reduce_sum(y)])}

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="words")])
        def numbers(self, words: Any) -> Any:
            return self.table.lookup(words)

    made = Toy()
    made.scaled(tf.constant([1.0, 2.0]))
    made.scaled(tf.constant(3.0), 4.0, negate=True)
    return made


def signatures(model: Any) -> dict[str, Any]:
    return {"serving_default": model.linear, "numbers": model.numbers}


def results(tf: Any, model: Any) -> list[Any]:
    """Of a model that was loaded: tensors, in an order in which they may be computed."""
    served = model.signatures
    return [
        model.linear(ROWS),
        served["serving_default"](x=tf.constant(ROWS))["output_0"],
        served["numbers"](tf.constant(["lake", "moon"]))["output_0"],
        model.numbers(tf.constant(["palmer"])),
        model.scaled(tf.constant([1.0, -2.0]))["y"],
    ]


def keras_model(tf: Any) -> Any:
    layers = tf.keras.layers
    inputs = tf.keras.Input((2,), name="features")
    hidden = layers.Dropout(0.5)(layers.Dense(3, activation="relu")(inputs))
    return tf.keras.Model(inputs, layers.Dense(1, name="score")(hidden))


def trained(tf: Any) -> Any:
    """A module with an optimizer, whose state its function uses."""

    class Trained(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.v = tf.Variable([1.0, 2.0], name="v")
            self.optimizer = tf.keras.optimizers.Adam(0.1)

        @tf.function(input_signature=[tf.TensorSpec([2], tf.float32)])
        def step(self, x: Any) -> Any:
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum((self.v * x) ** 2)
            gradients = tape.gradient(loss, [self.v])
            self.optimizer.apply_gradients(zip(gradients, [self.v], strict=True))
            return loss

    return Trained()
