"""The metrics of heads, each as (value, update operation), and as objects that hold both."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.graph.graph import name_scope
from weft.ops.array.shape import squeeze
from weft.ops.math.casts import cast
from weft.ops.math.elementwise import greater, greater_equal, maximum
from weft.ops.scores import metrics_mean, metrics_thresholds
from weft.ops.scores.weights import broadcast_weights

Ops = tuple[Any, Any]


class Metric:
    """A metric that is named first and gets its operations later, as heads hand them out."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.updates: list[Any] = []
        self.variables: list[Any] = []
        self._value: Any = None

    def update_state(self, ops: Ops) -> Any:
        """Takes the operations of the metric; the one that updates it."""
        self._value, update = ops
        self.updates = [update]
        return update

    def result(self) -> Any:
        """The value, once updates ran."""
        return self._value


def add_all(metrics: dict[str, Metric], ops: dict[str, Ops]) -> dict[str, Metric]:
    """Gives metrics their operations; those that have no name yet are added."""
    for key, each in ops.items():
        metrics.setdefault(key, Metric(key)).update_state(each)
    return metrics


def _float(values: Any, weights: Any, name: str) -> tuple[Any, Any]:
    values = cast(values, dtypes.float32, name=name)
    return values, None if weights is None else broadcast_weights(weights, values)


def mean(values: Any, weights: Any = None, name: str | None = None) -> Ops:
    return metrics_mean.mean(values, weights, name=name)


def labels_mean(labels: Any, weights: Any = None, name: str | None = None) -> Ops:
    with name_scope(name, "labels_mean", (labels, weights)) as scope:
        return metrics_mean.mean(*_float(labels, weights, "labels"), name=scope)


def predictions_mean(predictions: Any, weights: Any = None, name: str | None = None) -> Ops:
    with name_scope(name, "predictions_mean", (predictions, weights)) as scope:
        return metrics_mean.mean(*_float(predictions, weights, "predictions"), name=scope)


def accuracy(labels: Any, predictions: Any, weights: Any, name: str) -> Ops:
    return metrics_mean.accuracy(labels, predictions, weights, name=name)


def accuracy_baseline(labels_mean: Ops) -> Ops:
    """The accuracy of always predicting the more frequent class."""
    with name_scope(None, "accuracy_baseline", labels_mean):
        named = zip(labels_mean, ("value", "update_op"), strict=True)
        value, update = (maximum(share, 1.0 - share, name=name) for share, name in named)
        return value, update


def auc(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    curve: str = "ROC",
    name: str | None = None,
    careful: bool = False,
) -> Ops:
    """The area under a curve; `careful` interpolates between points of the PR curve."""
    with name_scope(name, "auc", (predictions, labels, weights)) as scope:
        predictions, weights = _float(predictions, weights, "predictions")
        return metrics_thresholds.auc(
            labels,
            predictions,
            weights,
            curve=curve,
            name=scope,
            summation_method="careful_interpolation" if careful else "trapezoidal",
        )


def at_threshold(
    kind: str,
    labels: Any,
    predictions: Any,
    weights: Any,
    threshold: float,
    name: str,
    careful: bool = False,
) -> Ops:
    """Accuracy, precision or recall, where all above `threshold` count as positive."""
    with name_scope(name, f"{kind}_at_{threshold}", (predictions, labels, weights)) as scope:
        if kind == "accuracy":
            above = greater if careful else greater_equal
            positive = cast(above(predictions, threshold), dtypes.float32)
            return metrics_mean.accuracy(labels, positive, weights, name=scope)
        measure = getattr(metrics_thresholds, f"{kind}_at_thresholds")
        value, update = measure(labels, predictions, (threshold,), weights, name=scope)
        return squeeze(value), squeeze(update)
