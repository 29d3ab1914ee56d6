"""Recurrent layers in use, each as a function of `tf` and `keras`: played here and by TensorFlow.

A case gives the layer, its outputs, and one dictionary of feeds for every batch. Weights are set
to fixed values; what is compared are outputs, gradients, and states from batch to batch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

BATCH, STEPS, DEPTH, UNITS = 3, 4, 2, 3
Case = Callable[[Any, Any], tuple[Any, Any, list[dict[Any, Any]]]]


def values(shape: Any, seed: int = 0, scale: float = 0.8) -> np.ndarray:
    """Numbers that are the same everywhere."""
    return (np.random.RandomState(seed).uniform(-scale, scale, shape)).astype(np.float32)


MASK = np.array([[1, 1, 0, 1], [1, 0, 0, 0], [0, 1, 1, 0]], dtype=bool)


def _sequence(kind: str, called: dict[str, Any] | None = None, **options: Any) -> Case:
    """A layer of `kind` on a batch of sequences; `called` says how it is called."""

    def build(tf: Any, keras: Any) -> Any:
        shape = [BATCH, STEPS, DEPTH]
        if options.get("time_major"):
            shape = [STEPS, BATCH, DEPTH]
        x = tf.placeholder(tf.float32, shape)
        layer = getattr(keras.layers, kind)(UNITS, **options)
        arguments = {key: make(tf) for key, make in (called or {}).items()}
        seeds = (1, 2) if layer.stateful else (1,)
        return layer, layer(x, **arguments), [{x: values(shape, seed)} for seed in seeds]

    return build


def _masked(tf: Any) -> Any:
    return tf.constant(MASK)


def _first_states(count: int) -> Callable[[Any], Any]:
    return lambda tf: [tf.constant(values([BATCH, UNITS], 10 + i)) for i in range(count)]


def _stacked(tf: Any, keras: Any) -> Any:
    x = tf.placeholder(tf.float32, [BATCH, STEPS, DEPTH])
    cells = [keras.layers.LSTMCell(UNITS), keras.layers.GRUCell(2), keras.layers.SimpleRNNCell(4)]
    layer = keras.layers.RNN(cells, return_sequences=True, return_state=True)
    outputs = layer(x)
    return layer, tf.nest.flatten(outputs), [{x: values([BATCH, STEPS, DEPTH], 3)}]


def _with_constants(tf: Any, keras: Any) -> Any:
    class Cell(keras.layers.Layer):
        """A cell that a constant adds to."""

        state_size = UNITS

        def build(self, input_shape: Any) -> None:
            rows = {"kernel": DEPTH, "constant_kernel": 1}
            self.weight = {
                name: self.add_weight(shape=(rows[name], UNITS), name=name) for name in rows
            }
            self.built = True

        def call(self, inputs: Any, states: Any, constants: Any) -> Any:
            (constant,) = constants
            output = tf.matmul(inputs, self.weight["kernel"]) + 0.5 * states[0]
            output += tf.matmul(constant, self.weight["constant_kernel"])
            return output, [output]

    x = tf.placeholder(tf.float32, [BATCH, STEPS, DEPTH])
    layer = keras.layers.RNN(Cell(), return_sequences=True)
    outputs = layer(
        x,
        initial_state=tf.constant(values([BATCH, UNITS], 5)),
        constants=tf.constant(values([BATCH, 1], 6)),
    )
    return layer, outputs, [{x: values([BATCH, STEPS, DEPTH], 7)}]


def _images(called: dict[str, Any] | None = None, **options: Any) -> Case:
    def build(tf: Any, keras: Any) -> Any:
        shape = [2, 3, 4, 3, 2]
        x = tf.placeholder(tf.float32, shape)
        layer = keras.layers.ConvLSTM2D(2, (3, 2), **options)
        arguments = {key: make(tf) for key, make in (called or {}).items()}
        seeds = (8, 9) if layer.stateful else (8,)
        return layer, layer(x, **arguments), [{x: values(shape, seed)} for seed in seeds]

    return build


def _both_ways(
    kind: str = "LSTM", merge_mode: Any = "concat", called: Any = None, **options: Any
) -> Case:
    def build(tf: Any, keras: Any) -> Any:
        x = tf.placeholder(tf.float32, [BATCH, STEPS, DEPTH])
        inner = getattr(keras.layers, kind)(UNITS, **options)
        layer = keras.layers.Bidirectional(inner, merge_mode=merge_mode)
        arguments = {key: make(tf) for key, make in (called or {}).items()}
        return layer, layer(x, **arguments), [{x: values([BATCH, STEPS, DEPTH], 11)}]

    return build


def _two_kinds(tf: Any, keras: Any) -> Any:
    x = tf.placeholder(tf.float32, [BATCH, STEPS, DEPTH])
    layer = keras.layers.Bidirectional(
        keras.layers.LSTM(UNITS, return_sequences=True),
        backward_layer=keras.layers.GRU(UNITS, return_sequences=True, go_backwards=True),
    )
    return layer, layer(x), [{x: values([BATCH, STEPS, DEPTH], 12)}]


STATES = {"SimpleRNN": 1, "GRU": 1, "LSTM": 2}
CASES: dict[str, Case] = {
    "stacked": _stacked,
    "constants": _with_constants,
    "two_kinds_both_ways": _two_kinds,
    "gru_reset_after": _sequence("GRU", reset_after=True, return_sequences=True),
    "gru_reset_after_2": _sequence("GRU", reset_after=True, implementation=2),
    "gru_reset_after_no_bias": _sequence("GRU", reset_after=True, use_bias=False),
    "images_same": _images(
        padding="same", dilation_rate=2, activation="relu", return_sequences=True, return_state=True
    ),
    "images_strides": _images(
        {"initial_state": lambda tf: [tf.constant(values([2, 1, 2, 2], 20 + i)) for i in (0, 1)]},
        strides=(2, 1),
        use_bias=False,
        go_backwards=True,
    ),
    "images_stateful": _images(
        {"mask": lambda tf: tf.constant([[True, False, True], [True, True, False]])},
        stateful=True,
        return_sequences=True,
    ),
}
for kind, count in STATES.items():
    masked, started = {"mask": _masked}, {"initial_state": _first_states(count)}
    CASES |= {
        f"{kind}": _sequence(kind),
        f"{kind}_relu": _sequence(kind, activation="relu", use_bias=False),
        f"{kind}_backwards": _sequence(kind, go_backwards=True, return_sequences=True),
        f"{kind}_unrolled": _sequence(kind, unroll=True, return_sequences=True, return_state=True),
        f"{kind}_time_major": _sequence(kind, time_major=True, return_sequences=True),
        f"{kind}_masked": _sequence(kind, masked, return_sequences=True, return_state=True),
        f"{kind}_masked_last": _sequence(kind, masked),
        f"{kind}_masked_backwards": _sequence(
            kind, masked, go_backwards=True, return_sequences=True
        ),
        f"{kind}_masked_unrolled": _sequence(
            kind, masked, unroll=True, return_sequences=True, return_state=True
        ),
        f"{kind}_masked_zero": _sequence(
            kind, masked, zero_output_for_mask=True, return_sequences=True
        ),
        f"{kind}_started": _sequence(kind, started, return_sequences=True, return_state=True),
        f"{kind}_stateful": _sequence(kind, stateful=True, return_sequences=True),
        f"{kind}_both_ways": _both_ways(kind, return_sequences=True),
        f"{kind}_both_ways_masked": _both_ways(kind, called=masked, return_sequences=True),
        f"{kind}_both_ways_state": _both_ways(
            kind, called={"initial_state": _first_states(2 * count)}, return_state=True
        ),
    }
for kind in ("GRU", "LSTM"):
    CASES |= {
        f"{kind}_implementation_2": _sequence(kind, implementation=2, return_sequences=True),
        f"{kind}_sigmoid": _sequence(kind, recurrent_activation="sigmoid"),
    }
for mode in ("sum", "ave", "mul", None):
    CASES[f"both_ways_{mode}"] = _both_ways("LSTM", mode, return_sequences=True)
    CASES[f"both_ways_last_{mode}"] = _both_ways("GRU", mode)


def play(tf: Any, keras: Any, case: Case) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Outputs, gradients and states of a case by name, and what shapes are known."""
    with tf.Graph().as_default(), tf.Session() as session:
        keras.backend.set_session(session)
        layer, outputs, batches = case(tf, keras)
        outputs = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
        session.run(tf.global_variables_initializer())
        weights = layer.trainable_weights
        shapes = [weight.shape.as_list() for weight in weights]
        layer.set_weights([values(shape, 30 + i) for i, shape in enumerate(shapes)])
        loss = sum(tf.reduce_sum(each * each + each) for each in outputs)
        gradients = tf.gradients(loss, weights + list(batches[0]))
        found: dict[str, np.ndarray] = {}
        for at, feeds in enumerate(batches):
            made = session.run([outputs, gradients, layer.updates], feeds)
            for name, arrays in zip(("output", "gradient"), made[:2], strict=True):
                found |= {f"{name} {i} of batch {at}": array for i, array in enumerate(arrays)}
        if layer.stateful:
            layer.reset_states()
            found["output after reset"] = session.run(outputs[0], batches[0])
        return found, {"weights": shapes, "outputs": [each.shape.as_list() for each in outputs]}
