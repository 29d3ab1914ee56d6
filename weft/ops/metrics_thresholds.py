"""Metrics of predictions between 0 and 1 that count as true above a threshold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.core import dtypes
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import control_dependencies
from weft.graph.tensor import Tensor
from weft.ops import array, check
from weft.ops import math as math_ops
from weft.ops.metrics_base import Metric, aligned, metric_variable, published
from weft.ops.select import where
from weft.ops.updates import assign_add
from weft.ops.variable_scope import variable_scope
from weft.ops.weights import broadcast_weights

# Short name -> variable, whether the label is true, whether the prediction is.
_COUNTS = {
    "tp": ("true_positives", True, True),
    "fn": ("false_negatives", True, False),
    "tn": ("true_negatives", False, False),
    "fp": ("false_positives", False, True),
}
_EPSILON = 1e-7
Counts = dict[str, Any]


def _count(
    labels: Any, predictions: Any, thresholds: Any, weights: Any, includes: tuple[str, ...]
) -> tuple[Counts, Counts]:
    """The variables that count, one number for each threshold, and their updates."""
    predictions, labels, weights = aligned(
        math_ops.cast(_between_0_and_1(predictions), dtypes.float32),
        math_ops.cast(labels, dtypes.bool),
        weights,
    )
    steps = len(thresholds)
    row = array.reshape(predictions, [1, -1])
    limits = array.expand_dims(constant(thresholds, dtypes.float32), [1])
    predicted = math_ops.greater(array.tile(row, [steps, 1]), limits)
    labelled = array.tile(array.reshape(labels, [1, -1]), [steps, 1])
    if weights is not None:
        weights = broadcast_weights(math_ops.cast(weights, dtypes.float32), predictions)
        weights = array.tile(array.reshape(weights, [1, -1]), [steps, 1])
    values, updates = {}, {}
    for key in includes:
        name, label, prediction = _COUNTS[key]
        values[key] = metric_variable([steps], dtypes.float32, name=name)
        found = math_ops.logical_and(
            labelled if label else math_ops.logical_not(labelled),
            predicted if prediction else math_ops.logical_not(predicted),
        )
        found = math_ops.cast(found, dtypes.float32)
        if weights is not None:
            found = found * weights
        updates[key] = assign_add(values[key], math_ops.reduce_sum(found, 1))
    return values, updates


def _between_0_and_1(predictions: Any) -> Tensor:
    predictions = convert_to_tensor(predictions)
    message = "predictions must be in [0, 1]"
    low, high = (math_ops.cast(limit, predictions.dtype) for limit in (0.0, 1.0))
    checks = [
        check.assert_greater_equal(predictions, low, message=message),
        check.assert_less_equal(predictions, high, message=message),
    ]
    with control_dependencies(checks):
        return array.identity(predictions)


def _single(
    key: str,
    labels: Any,
    predictions: Any,
    thresholds: Any,
    weights: Any,
    metrics_collections: Any,
    updates_collections: Any,
    name: str | None,
) -> Metric:
    with variable_scope(name, _COUNTS[key][0], (predictions, labels, weights)):
        values, updates = _count(labels, predictions, thresholds, weights, (key,))
        value = array.identity(values[key])
        return published(value, updates[key], metrics_collections, updates_collections)


def true_positives_at_thresholds(
    labels: Any,
    predictions: Any,
    thresholds: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """How often a prediction was rightly above each threshold."""
    return _single("tp", labels, predictions, thresholds, weights,
                   metrics_collections, updates_collections, name)  # fmt: skip


def true_negatives_at_thresholds(
    labels: Any,
    predictions: Any,
    thresholds: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """How often a prediction was rightly not above each threshold."""
    return _single("tn", labels, predictions, thresholds, weights,
                   metrics_collections, updates_collections, name)  # fmt: skip


def false_positives_at_thresholds(
    labels: Any,
    predictions: Any,
    thresholds: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """How often a prediction was wrongly above each threshold."""
    return _single("fp", labels, predictions, thresholds, weights,
                   metrics_collections, updates_collections, name)  # fmt: skip


def false_negatives_at_thresholds(
    labels: Any,
    predictions: Any,
    thresholds: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """How often a prediction was wrongly not above each threshold."""
    return _single("fn", labels, predictions, thresholds, weights,
                   metrics_collections, updates_collections, name)  # fmt: skip


def _part_at_thresholds(
    what: str,
    others: str,
    labels: Any,
    predictions: Any,
    thresholds: Any,
    weights: Any,
    metrics_collections: Any,
    updates_collections: Any,
    name: str | None,
) -> Metric:
    with variable_scope(name, f"{what}_at_thresholds", (predictions, labels, weights)):
        values, updates = _count(labels, predictions, thresholds, weights, ("tp", others))

        def part(counts: Counts, suffix: str) -> Tensor:
            total = _EPSILON + counts["tp"] + counts[others]
            return math_ops.div(counts["tp"], total, name=f"{what}_{suffix}")

        return published(
            part(values, "value"), part(updates, "update_op"),
            metrics_collections, updates_collections,
        )  # fmt: skip


def precision_at_thresholds(
    labels: Any,
    predictions: Any,
    thresholds: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Which part of the predictions above each threshold were right."""
    return _part_at_thresholds("precision", "fp", labels, predictions, thresholds, weights,
                               metrics_collections, updates_collections, name)  # fmt: skip


def recall_at_thresholds(
    labels: Any,
    predictions: Any,
    thresholds: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Which part of the true labels were found with each threshold."""
    return _part_at_thresholds("recall", "fn", labels, predictions, thresholds, weights,
                               metrics_collections, updates_collections, name)  # fmt: skip


# ---- areas under curves --------------------------------------------------------------------------


def _even_thresholds(count: int) -> list[float]:
    return [(i + 1) * 1.0 / (count - 1) for i in range(count - 2)]


def auc(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    curve: str = "ROC",
    name: str | None = None,
    summation_method: str = "trapezoidal",
    thresholds: Any = None,
) -> Metric:
    """The area under the ROC or PR curve, by a sum over thresholds."""
    with variable_scope(name, "auc", (labels, predictions, weights)):
        if curve not in ("ROC", "PR"):
            raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
        if summation_method not in (*_HEIGHTS, "careful_interpolation"):
            raise ValueError(f"Invalid summation_method: {summation_method}")
        inner = _even_thresholds(num_thresholds) if thresholds is None else sorted(thresholds)
        # A little outside, so that 0 is above the first and 1 not above the last.
        limits = [0.0 - _EPSILON, *inner, 1.0 + _EPSILON]
        values, updates = _count(labels, predictions, limits, weights, tuple(_COUNTS))
        area = _area_function(curve, summation_method)
        return published(
            area(values, "value"), area(updates, "update_op"),
            metrics_collections, updates_collections,
        )  # fmt: skip


_HEIGHTS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "trapezoidal": lambda left, right: (left + right) / 2.0,
    "minoring": math_ops.minimum,
    "majoring": math_ops.maximum,
}


def _area_function(curve: str, method: str) -> Callable[[Counts, str], Tensor]:
    if curve == "PR" and method == "careful_interpolation":
        return _interpolated_pr_area
    height = _HEIGHTS.get(method, _HEIGHTS["trapezoidal"])
    epsilon = 1.0e-6

    def area(counts: Counts, name: str) -> Tensor:
        tp, fn, tn, fp = (counts[key] for key in ("tp", "fn", "tn", "fp"))
        recall = math_ops.div(tp + epsilon, tp + fn + epsilon)
        if curve == "ROC":
            x, y = math_ops.div(fp, fp + tn + epsilon), recall
        else:
            x, y = recall, math_ops.div(tp + epsilon, tp + fp + epsilon)
        return math_ops.reduce_sum(
            math_ops.multiply(x[:-1] - x[1:], height(y[:-1], y[1:])), name=name
        )

    return area


def _interpolated_pr_area(counts: Counts, name: str) -> Tensor:
    """Between thresholds, true positives grow in proportion to all positives (Davis, Goadrich)."""
    tp, fp, fn = (array.identity(counts[key]) for key in ("tp", "fp", "fn"))
    gained = tp[:-1] - tp[1:]
    positives = tp + fp
    step = math_ops.maximum(positives[:-1] - positives[1:], 0)
    slope = math_ops.div_no_nan(gained, step, name="prec_slope")
    intercept = tp[1:] - math_ops.multiply(slope, positives[1:])
    ratio = where(
        math_ops.logical_and(positives[:-1] > 0, positives[1:] > 0),
        math_ops.div_no_nan(
            positives[:-1], math_ops.maximum(positives[1:], 0), name="recall_relative_ratio"
        ),
        array.ones_like(positives[1:]),
    )
    increments = math_ops.div_no_nan(
        slope * (gained + intercept * math_ops.log(ratio)),
        math_ops.maximum(tp[1:] + fn[1:], 0),
        name="pr_auc_increment",
    )
    return math_ops.reduce_sum(increments, name="interpolate_pr_auc")


# ---- one rate where another has a given value ----------------------------------------------------


def specificity_at_sensitivity(
    labels: Any,
    predictions: Any,
    sensitivity: float,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The true negative rate at the threshold where the true positive rate is nearest to this."""
    if not 0 <= sensitivity <= 1:
        raise ValueError("`sensitivity` must be in the range [0, 1].")

    def specificity(counts: Counts, suffix: str) -> Tensor:
        rates = math_ops.div(counts["tp"], counts["tp"] + counts["fn"] + _EPSILON)
        distance = math_ops.abs(rates - sensitivity)
        nearest = math_ops.equal(distance, math_ops.reduce_min(distance))
        # Of several, the last.
        order = math_ops.cumsum(math_ops.cast(nearest, dtypes.int64))
        at = math_ops.cast(math_ops.argmax(order, 0), dtypes.int32)
        return _rate(counts["tn"], counts["fp"], at, suffix)

    with variable_scope(name, "specificity_at_sensitivity", (predictions, labels, weights)):
        limits = [0.0 - _EPSILON, *_even_thresholds(num_thresholds), 1.0 - _EPSILON]
        return _at_rate(specificity, labels, predictions, limits, weights,
                        metrics_collections, updates_collections)  # fmt: skip


def sensitivity_at_specificity(
    labels: Any,
    predictions: Any,
    specificity: float,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The true positive rate at the threshold where the true negative rate is nearest to this."""
    if not 0 <= specificity <= 1:
        raise ValueError("`specificity` must be in the range [0, 1].")

    def sensitivity(counts: Counts, suffix: str) -> Tensor:
        rates = math_ops.div(counts["tn"], counts["tn"] + counts["fp"] + _EPSILON)
        at = math_ops.cast(math_ops.argmin(math_ops.abs(rates - specificity), axis=0), dtypes.int32)
        return _rate(counts["tp"], counts["fn"], at, suffix)

    with variable_scope(name, "sensitivity_at_specificity", (predictions, labels, weights)):
        limits = [0.0 - _EPSILON, *_even_thresholds(num_thresholds), 1.0 + _EPSILON]
        return _at_rate(sensitivity, labels, predictions, limits, weights,
                        metrics_collections, updates_collections)  # fmt: skip


def _rate(right: Any, wrong: Any, at: Tensor, name: str) -> Tensor:
    right, wrong = array.identity(right)[at], array.identity(wrong)[at]
    return math_ops.div(right, right + wrong + _EPSILON, name)


def _at_rate(
    rate: Callable[[Counts, str], Tensor],
    labels: Any,
    predictions: Any,
    limits: list[float],
    weights: Any,
    metrics_collections: Any,
    updates_collections: Any,
) -> Metric:
    values, updates = _count(labels, predictions, limits, weights, tuple(_COUNTS))
    return published(
        rate(values, "value"), rate(updates, "update_op"), metrics_collections, updates_collections
    )
