"""Programs of tf.keras.losses whose values are recorded."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.keras.played import Program

_rng = np.random.RandomState(11)
WANTED = _rng.uniform(0, 1, (4, 3)).astype("float32")
FOUND = _rng.uniform(0.05, 0.95, (4, 3)).astype("float32")
LOGITS = _rng.uniform(-3, 3, (4, 3)).astype("float32")
SIGNS = np.array([[1, -1, 1], [-1, -1, 1], [1, 1, 1], [-1, 1, -1]], "float32")
BITS = (SIGNS + 1) / 2
ONE_HOT = np.eye(3, dtype="float32")[[2, 0, 1, 1]]
CLASSES = np.array([2, 0, 1, 1], "int32")
SEQUENCES = _rng.uniform(0.1, 0.9, (2, 4, 3)).astype("float32")
SEQUENCE_CLASSES = np.array([[0, 1, 2, 2], [1, 1, 0, 2]], "int32")

# Class -> labels, predictions and arguments to try it with.
TRIED: dict[str, list[tuple[np.ndarray, np.ndarray, dict[str, Any]]]] = {
    "MeanSquaredError": [(WANTED, FOUND, {})],
    "MeanAbsoluteError": [(WANTED, FOUND, {})],
    "MeanAbsolutePercentageError": [(WANTED, FOUND, {})],
    "MeanSquaredLogarithmicError": [(WANTED, FOUND, {})],
    "LogCosh": [(WANTED, LOGITS, {})],
    "Hinge": [(SIGNS, LOGITS, {}), (BITS, LOGITS, {})],
    "SquaredHinge": [(SIGNS, LOGITS, {}), (BITS, LOGITS, {})],
    "CategoricalHinge": [(ONE_HOT, LOGITS, {})],
    "Poisson": [(WANTED, FOUND, {})],
    "KLDivergence": [(WANTED, FOUND, {})],
    "BinaryCrossentropy": [
        (BITS, FOUND, {}),
        (BITS, LOGITS, {"from_logits": True}),
        (BITS, FOUND, {"label_smoothing": 0.1}),
    ],
    "CategoricalCrossentropy": [
        (ONE_HOT, FOUND, {}),
        (ONE_HOT, LOGITS, {"from_logits": True}),
        (ONE_HOT, FOUND, {"label_smoothing": 0.1}),
    ],
    "SparseCategoricalCrossentropy": [
        (CLASSES, FOUND, {}),
        (CLASSES[:, None], LOGITS, {"from_logits": True}),
    ],
}
FUNCTIONS = (
    "KLD MAE MAPE MSE MSLE categorical_hinge hinge kld kullback_leibler_divergence logcosh mae "
    "mape mean_absolute_error mean_absolute_percentage_error mean_squared_error "
    "mean_squared_logarithmic_error mse msle poisson squared_hinge"
).split()
CASES: dict[str, Program] = {}


def _reduced(name: str, given: tuple[np.ndarray, np.ndarray, dict[str, Any]]) -> Program:
    def program(tf: Any, keras: Any) -> Any:
        make = getattr(keras.losses, name)
        y_true, y_pred, options = tf.constant(given[0]), tf.constant(given[1]), given[2]
        each = np.array([0.5, 2.0, 0.0, 1.0], "float32")
        plain = make(**options)
        results = [plain(y_true, y_pred), plain(y_true, y_pred, sample_weight=2.5)]
        results.append(plain(y_true, y_pred, sample_weight=each))
        results.append(plain(y_true, y_pred, sample_weight=each[:, None]))
        for reduction in ("sum", "none", "sum_over_batch_size"):
            made = make(reduction=reduction, **options)
            results += [made(y_true, y_pred), made(y_true, y_pred, sample_weight=each)]
        again = keras.losses.deserialize(keras.losses.serialize(plain))
        return [*results, again(y_true, y_pred)]

    return program


def _called(name: str) -> Program:
    def program(tf: Any, keras: Any) -> Any:
        function = keras.losses.get(name)
        assert keras.losses.serialize(function) == function.__name__
        return function(tf.constant(WANTED), tf.constant(FOUND))

    return program


for _name, _tries in TRIED.items():
    for _number, _given in enumerate(_tries):
        CASES[f"{_name}_{_number}"] = _reduced(_name, _given)
for _name in FUNCTIONS:
    CASES[_name] = _called(_name)


def _huber(tf: Any, keras: Any) -> Any:
    # Without a reduction, 1.15 gives one number for each element.
    huber = keras.losses.Huber(delta=0.7)
    y_true, y_pred = tf.constant(WANTED), tf.constant(LOGITS)
    return huber(y_true, y_pred), huber(y_true, y_pred, sample_weight=3.0)


def _sequences(tf: Any, keras: Any) -> Any:
    y_pred = tf.constant(SEQUENCES)
    weights = tf.constant(np.array([[1, 0, 2, 1], [0, 1, 1, 3]], "float32"))
    sparse = keras.losses.SparseCategoricalCrossentropy()
    squares = keras.losses.MeanSquaredError()
    each = keras.losses.MeanAbsoluteError(reduction="none")
    return [
        sparse(tf.constant(SEQUENCE_CLASSES), y_pred, sample_weight=weights),
        squares(tf.zeros((2, 4, 3)), y_pred, sample_weight=weights),
        each(tf.zeros((2, 4, 3)), y_pred, sample_weight=weights),
        keras.losses.categorical_crossentropy(tf.one_hot(SEQUENCE_CLASSES, 3), y_pred),
    ]


def _gradients(tf: Any, keras: Any) -> Any:
    x = tf.constant(LOGITS)
    losses = [
        keras.losses.BinaryCrossentropy()(BITS, tf.nn.sigmoid(x)),
        keras.losses.CategoricalCrossentropy()(ONE_HOT, tf.nn.softmax(x)),
        keras.losses.SparseCategoricalCrossentropy()(CLASSES, tf.nn.softmax(x)),
        keras.losses.Hinge()(BITS, x),
        keras.losses.KLDivergence()(WANTED, tf.nn.softmax(x)),
    ]
    return [tf.gradients(loss, x)[0] for loss in losses]


CASES |= {"Huber": _huber, "sequences": _sequences, "gradients": _gradients}
