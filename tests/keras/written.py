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


def _results(tf: Any, metrics: list[Any], *batches: Any) -> list[Any]:
    """What metrics say after each of `batches`, which are arguments as metrics take them."""
    results = [[metric(*arguments) for arguments in batches] for metric in metrics]
    session = tf.keras.backend.get_session()
    session.run([v.initializer for metric in metrics for v in metric.variables])
    return [session.run(result) for each in results for result in each]


@program
def counting_metrics(tf: Any) -> Any:
    """Predictions that are no probabilities count, too: they are seldom checked."""
    made = tf.keras.metrics
    metrics = [
        made.AUC(num_thresholds=5),
        made.AUC(curve="PR", thresholds=[0.2, 0.6]),
        made.AUC(curve="PR", summation_method="majoring", num_thresholds=4),
        made.Precision(),
        made.Precision(top_k=2),
        made.Recall(thresholds=[0.3, 0.8]),
        made.SensitivityAtSpecificity(0.4, num_thresholds=3),
        made.SpecificityAtSensitivity(0.4, num_thresholds=4),
        made.TruePositives(),
        made.FalseNegatives([0.1, 0.4]),
    ]
    right = tf.constant([[0.0, 1, 1], [1, 0, 1]])
    said = tf.constant([[0.1, 0.9, 0.3], [0.2, 0.8, 0.5]])
    weighted = (right, said, [1.0, 2.0])
    return _results(tf, metrics, (right, said), weighted, (right, said * 3 - 1))


@program
def metrics_of_unknown_rank(tf: Any) -> Any:
    right = tf.placeholder_with_default([[0.0, 1, 1], [1, 0, 1]], None)
    said = tf.placeholder_with_default([[0.1, 0.9, 0.3], [0.2, 0.8, 0.5]], None)
    weights = tf.placeholder_with_default([1.0, 2.0], None)
    made = tf.keras.metrics
    return _results(tf, [made.Precision(), made.MeanAbsoluteError()], (right, said, weights))


@program
def regions(tf: Any) -> Any:
    right, said = tf.constant([[0, 1], [2, 1]]), tf.constant([[0, 2], [2, 1]])
    metric = tf.keras.metrics.MeanIoU(3)
    flat = (tf.reshape(right, [-1]), tf.reshape(said, [-1]))
    return _results(tf, [metric], (right, said, tf.constant([[1, 2], [3, 4]])), flat)


@program
def metrics_of_ones_own(tf: Any) -> Any:
    """Updates are calls of functions: Python's control flow may depend on tensors."""

    class Balance(tf.keras.metrics.Metric):
        def __init__(self, name: str = "balance", **kwargs: Any) -> None:
            super().__init__(name=name, **kwargs)
            self.count = self.add_weight("count", initializer="zeros")

        def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
            if tf.reduce_sum(y_pred) > 0.0:
                self.count.assign_add(1.0)
            else:
                self.count.assign_add(-2.0)

        def result(self) -> Any:
            return tf.identity(self.count)

    class Product(tf.keras.metrics.Mean):
        def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
            return super().update_state(y_true * y_pred, sample_weight)

    ones = tf.ones([3])
    return _results(tf, [Balance(), Product()], (ones, ones), (ones, -ones), (ones, ones * 2))


@program
def pictures(tf: Any) -> Any:
    """Arrays become pictures from their lowest to their highest value."""
    image = tf.keras.preprocessing.image
    x = np.arange(3.0, 27.0).reshape(2, 4, 3)
    found = [image.img_to_array(image.array_to_img(y)) for y in (x, -x, x * 0 + 7)]
    return [found, image.apply_brightness_shift(x, 0.5)]


@program
def order_of_backend_nodes(tf: Any) -> Any:
    K = tf.keras.backend
    x, y = K.ones((2, 3, 4)), K.ones((5, 4, 6))
    K.dot(x, y)
    K.batch_dot(x[0], x[0], axes=1)
    K.batch_normalization(K.ones((2, 3, 4, 5)), K.zeros((5,)), K.ones((5,)), None, None)
    return [op.name for op in tf.get_default_graph().get_operations()]


@program
def states_in_both_directions(tf: Any) -> Any:
    """They are kept in training alone."""
    layers = tf.keras.layers
    both = layers.Bidirectional(layers.GRU(2, stateful=True), batch_input_shape=(2, 5, 2))
    model = tf.keras.Sequential([both])
    model.compile("sgd", "mse")
    x = ROWS.reshape([-1, 5, 2])[:2]
    found = [model.predict(x), model.predict(x), model.train_on_batch(x, np.ones((2, 4)))]
    model.reset_states()
    return [*found, model.predict(x), int(both.stateful), int(model.stateful)]


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
