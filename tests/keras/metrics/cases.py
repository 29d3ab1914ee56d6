"""Programs of tf.keras.metrics whose values are recorded: updates, results, resets."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.keras.played import Program

_rng = np.random.RandomState(5)
SIGNS = np.sign(_rng.uniform(-1, 1, (3, 4, 3))).astype("float32")
BITS = (SIGNS + 1) / 2
WANTED = _rng.uniform(0, 1, (3, 4, 3)).astype("float32")
FOUND = _rng.uniform(0.05, 0.95, (3, 4, 3)).astype("float32")
CLASSES = _rng.randint(0, 3, (3, 4)).astype("int32")
ONE_HOT = np.eye(3, dtype="float32")[CLASSES]
WEIGHTS = _rng.uniform(0, 2, (3, 4)).astype("float32")

# Class -> labels, predictions, arguments.
TRIED: dict[str, list[tuple[np.ndarray, np.ndarray, dict[str, Any]]]] = {
    "Accuracy": [(CLASSES, np.round(FOUND[..., 0] * 2), {})],
    "BinaryAccuracy": [
        (BITS[..., :1], FOUND[..., :1], {}),
        (BITS[..., :1], FOUND[..., :1], {"threshold": 0.7}),
    ],
    "CategoricalAccuracy": [(ONE_HOT, FOUND, {})],
    "SparseCategoricalAccuracy": [(CLASSES, FOUND, {}), (CLASSES[..., None], FOUND, {})],
    "TopKCategoricalAccuracy": [(ONE_HOT, FOUND, {"k": 2})],
    "SparseTopKCategoricalAccuracy": [(CLASSES, FOUND, {"k": 2})],
    "CosineSimilarity": [(WANTED, FOUND, {})],
    "MeanAbsoluteError": [(WANTED, FOUND, {})],
    "MeanAbsolutePercentageError": [(WANTED, FOUND, {})],
    "MeanSquaredError": [(WANTED, FOUND, {})],
    "MeanSquaredLogarithmicError": [(WANTED, FOUND, {})],
    "Hinge": [(SIGNS, FOUND, {})],
    "SquaredHinge": [(BITS, FOUND, {})],
    "CategoricalHinge": [(ONE_HOT, FOUND, {})],
    "RootMeanSquaredError": [(WANTED[..., 0], FOUND[..., 0], {})],
    "LogCoshError": [(WANTED, FOUND, {})],
    "Poisson": [(WANTED, FOUND, {})],
    "KLDivergence": [(WANTED, FOUND, {})],
    "BinaryCrossentropy": [(BITS, FOUND, {}), (BITS, FOUND, {"label_smoothing": 0.2})],
    "CategoricalCrossentropy": [(ONE_HOT, FOUND, {"from_logits": True})],
    "SparseCategoricalCrossentropy": [(CLASSES, FOUND, {})],
    "TruePositives": [(BITS[..., 0], FOUND[..., 0], {}), (BITS, FOUND, {"thresholds": [0.2, 0.7]})],
    "TrueNegatives": [(BITS[..., 0], FOUND[..., 0], {})],
    "FalsePositives": [(BITS[..., 0], FOUND[..., 0], {})],
    "FalseNegatives": [(BITS[..., 0], FOUND[..., 0], {"thresholds": 0.3})],
    "Precision": [
        (BITS[..., 0], FOUND[..., 0], {}),
        (BITS, FOUND, {"thresholds": [0.1, 0.6]}),
        (BITS, FOUND, {"top_k": 2}),
        (BITS, FOUND, {"top_k": 2, "class_id": 1}),
    ],
    "Recall": [
        (BITS[..., 0], FOUND[..., 0], {}),
        (BITS, FOUND, {"class_id": 2}),
        (BITS, FOUND, {"top_k": 1}),
    ],
    "AUC": [
        (BITS[..., 0], FOUND[..., 0], {}),
        (BITS[..., 0], FOUND[..., 0], {"curve": "PR"}),
        (BITS[..., 1], FOUND[..., 1], {"curve": "PR", "summation_method": "majoring"}),
        (BITS[..., 1], FOUND[..., 1], {"summation_method": "minoring", "num_thresholds": 7}),
        (BITS[..., 1], FOUND[..., 1], {"thresholds": [0.3, 0.9, 0.5]}),
    ],
    "MeanIoU": [(CLASSES, np.argmax(FOUND, -1), {"num_classes": 3})],
    "MeanRelativeError": [
        (WANTED[..., 0], FOUND[..., 0], {"normalizer": np.array([1, 3, 2, 3], "float32")})
    ],
}
CASES: dict[str, Program] = {}


def _updated(name: str, given: tuple[np.ndarray, np.ndarray, dict[str, Any]]) -> Program:
    def program(tf: Any, keras: Any) -> list[Any]:
        k = keras.backend
        metric = getattr(keras.metrics, name)(**given[2])
        found: list[Any] = []
        for weighted in (False, True):
            metric.reset_states()
            y_true = k.placeholder(given[0].shape[1:], dtype=given[0].dtype.name)
            y_pred = k.placeholder(given[1].shape[1:], dtype=given[1].dtype.name)
            weight = k.placeholder((4,)) if weighted else None
            update, result = metric.update_state(y_true, y_pred, weight), metric.result()
            session = k.get_session()
            for batch in range(3):
                feeds = {y_true: given[0][batch], y_pred: given[1][batch]}
                session.run(update, feeds | ({weight: WEIGHTS[batch]} if weighted else {}))
                found.append(session.run(result))
        found += [value.astype("float32") for value in k.batch_get_value(metric.variables)]
        again = type(metric).from_config(metric.get_config())
        assert again.get_config().keys() == metric.get_config().keys()
        return found

    return program


for _name, _tries in TRIED.items():
    for _number, _given in enumerate(_tries):
        CASES[f"{_name}_{_number}"] = _updated(_name, _given)


def _values(tf: Any, keras: Any) -> list[Any]:
    k = keras.backend
    metrics = [keras.metrics.Mean(), keras.metrics.Sum(), keras.metrics.MeanTensor()]
    assert [v.name for v in metrics[0].variables] == ["total:0", "count:0"]
    assert [m.name for m in metrics] == ["mean", "sum", "mean_tensor"]
    found: list[Any] = []
    for metric in metrics:
        results = [
            metric(tf.constant([1.0, 3.0, 8.0])),
            metric([1.0, 2.0, 3.0], sample_weight=[0.0, 1.0, 2.0]),
            metric([5.0, 6.0, 9.0], sample_weight=0.5),
        ]
        session = k.get_session()
        found += [session.run(result) for result in results]
        found += k.batch_get_value(metric.variables)
        metric.reset_states()
        found.append(session.run(results[0]))
    return found


def _functions(tf: Any, keras: Any) -> list[Any]:
    y_true, y_pred, classes = tf.constant(ONE_HOT[0]), tf.constant(FOUND[0]), CLASSES[0]
    m = keras.metrics
    return [
        m.binary_accuracy(y_true, y_pred),
        m.binary_accuracy(y_true, y_pred, threshold=0.3),
        m.categorical_accuracy(y_true, y_pred),
        m.sparse_categorical_accuracy(tf.constant(classes), y_pred),
        m.sparse_categorical_accuracy(tf.constant(classes[:, None].astype("float32")), y_pred),
        m.top_k_categorical_accuracy(y_true, y_pred, k=2),
        m.sparse_top_k_categorical_accuracy(tf.constant(classes), y_pred, k=2),
        m.get("mse")(y_true, y_pred),
    ]


def _own(tf: Any, keras: Any) -> list[Any]:
    """A metric of a user's, whose updates return nothing and depend on their order."""

    class Twice(keras.metrics.Metric):
        def __init__(self, name: str = "twice", **kwargs: Any) -> None:
            super().__init__(name=name, **kwargs)
            self.total = self.add_weight(name="total", initializer="zeros")
            self.double = self.add_weight(name="double", initializer="zeros")

        def update_state(self, values: Any, sample_weight: Any = None) -> None:
            self.total.assign_add(tf.reduce_sum(values))
            self.double.assign(self.total * 2)

        def result(self) -> Any:
            return self.double

    k = keras.backend
    metric = Twice()
    x = k.placeholder((3,))
    update, result = metric.update_state(x), metric.result()
    found = []
    for row in WANTED[:, 0]:
        k.get_session().run(update, {x: row})
        found.append(k.get_session().run(result))
    metric.reset_states()
    return [*found, *k.batch_get_value(metric.variables)]


CASES |= {"values": _values, "functions": _functions, "own": _own}
