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


def looping(tf: Any) -> Any:
    """Loops and branches that are differentiated where they were loaded."""

    class Looping(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = tf.Variable(0.5, name="w")

        @tf.function(input_signature=[tf.TensorSpec([3], tf.float32), tf.TensorSpec([], tf.int32)])
        def waves(self, x: Any, n: Any) -> Any:
            w = self.w.read_value()  # TensorFlow knows too little of handles it has loaded
            for i in tf.range(n):
                if i % 2 < 1:
                    x = tf.sin(x) * w + x
                else:
                    x = x * x * w
            return x

        @tf.function(input_signature=[tf.TensorSpec([4, 3], tf.float32)])
        def rows(self, x: Any) -> Any:
            out = tf.TensorArray(tf.float32, 4, element_shape=[3])
            state, w = tf.ones([3]), self.w.read_value()
            for i in tf.range(4):
                state = tf.sin(state) * w + x[i] * state
                out = out.write(i, state * state)
            return out.stack()

    return Looping()


def derivatives(tf: Any, model: Any) -> list[Any]:
    """Of the first and second order, by an argument and by a variable."""
    found = []
    numbers = np.linspace(-1.0, 1.0, 12, dtype=np.float32)
    calls = [
        (lambda x: model.waves(x, tf.constant(3)), numbers[:3]),
        (model.rows, numbers.reshape(4, 3)),
    ]
    for call, value in calls:
        x = tf.constant(value)
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = call(x)
            first = inner.gradient(y, [x, model.w])
        found += [y, *first, *outer.gradient(first, [x, model.w])]
    return found


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
