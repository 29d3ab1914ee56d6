"""Metrics of predictions between 0 and 1 that count as true above a threshold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from weft.core import dtypes
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import control_dependencies
from weft.graph.tensor import Tensor
from weft.ops.array import array
from weft.ops.array.one_hot_search import where
from weft.ops.control import check
from weft.ops.kit.replicas import across_replicas
from weft.ops.math import math as math_ops
from weft.ops.scores.metrics_base import Metric, aligned, metric_variable, published
from weft.ops.scores.weights import broadcast_weights, ratio
from weft.ops.state.updates import assign_add
from weft.ops.state.variable_scope import variable_scope

# Short name -> variable, whether the label is true, whether the prediction is.
_COUNTS = {
    "tp": ("true_positives", True, True),
    "fn": ("false_negatives", True, False),
    "tn": ("true_negatives", False, False),
    "fp": ("false_positives", False, True),
}
_EPSILON = 1e-7
Counts = dict[str, Any]


def count_at_thresholds(
    labels: Any,
    predictions: Any,
    thresholds: Any,
    weights: Any = None,
    includes: Sequence[str] | None = None,
    in_bounds: bool = True,
) -> tuple[Counts, Counts]:
    """The variables that count, one number for each threshold, and their updates.

    With `in_bounds`, a prediction that is not between 0 and 1 is an error.
    """
    for wrong in set(includes or ()) - set(_COUNTS):
        raise ValueError(f"Invalid key: {wrong}.")
    included = list(_COUNTS if includes is None else includes)
    # As in TensorFlow, what needs no squeezing and no cast does not wait for the checks.
    with control_dependencies(_checks(predictions) if in_bounds else []):
        predictions, labels, weights = aligned(
            math_ops.cast(predictions, dtypes.float32),
            math_ops.cast(labels, dtypes.bool),
            weights,
        )
    steps = len(thresholds)
    column, row = array.reshape(predictions, [-1, 1]), array.reshape(labels, [1, -1])
    count: Any = column.shape.as_list()[0]
    count = array.shape(column)[0] if count is None else count
    limits = array.expand_dims(constant(thresholds, dtypes.float32), [1])
    limits = array.tile(limits, array.stack([1, count]))
    spread = array.tile(array.transpose(column), [steps, 1])
    predicted = _with_opposite(math_ops.greater(spread, limits), included, ("fn", "tn"))
    labelled = _with_opposite(array.tile(row, [steps, 1]), included, ("tn", "fp"))
    if weights is not None:
        weights = broadcast_weights(math_ops.cast(weights, dtypes.float32), predictions)
        weights = array.tile(array.reshape(weights, [1, -1]), [steps, 1])
    values, updates = {}, {}
    for key in included:
        name, label, prediction = _COUNTS[key]
        values[key] = metric_variable([steps], dtypes.float32, name=name)
        found = math_ops.logical_and(labelled[label], predicted[prediction])
        found = math_ops.cast(found, dtypes.float32)
        if weights is not None:
            found = found * weights
        updates[key] = assign_add(values[key], math_ops.reduce_sum(found, 1))
    return values, updates


def _with_opposite(
    holds: Tensor, included: Sequence[str], needing: Sequence[str]
) -> dict[bool, Tensor]:
    """By truth: `holds`, and where it does not, if there is a count that needs it."""
    if not set(included) & set(needing):
        return {True: holds}
    return {True: holds, False: math_ops.logical_not(holds)}


def _checks(predictions: Any) -> list[Any]:
    """Assertions that predictions are between 0 and 1."""
    bounds = ((0.0, check.assert_greater_equal), (1.0, check.assert_less_equal))
    return [
        test(
            predictions,
            math_ops.cast(limit, convert_to_tensor(predictions).dtype),
            message="predictions must be in [0, 1]",
        )
        for limit, test in bounds
    ]


def _at_thresholds(key: str, doc: str) -> Callable[..., Metric]:
    """The metric that is one of the counts, of each threshold."""
    counted = _COUNTS[key][0]

    def count(
        labels: Any,
        predictions: Any,
        thresholds: Any,
        weights: Any = None,
        name: str | None = None,
    ) -> Metric:
        with variable_scope(name, counted, (predictions, labels, weights)):
            values, updates = count_at_thresholds(labels, predictions, thresholds, weights, (key,))
            return across_replicas(array.identity, values[key]), updates[key]

    return published(count, f"{counted}_at_thresholds", doc)


true_positives_at_thresholds = _at_thresholds(
    "tp", "How often a prediction was rightly above each threshold."
)
true_negatives_at_thresholds = _at_thresholds(
    "tn", "How often a prediction was rightly not above each threshold."
)
false_positives_at_thresholds = _at_thresholds(
    "fp", "How often a prediction was wrongly above each threshold."
)
false_negatives_at_thresholds = _at_thresholds(
    "fn", "How often a prediction was wrongly not above each threshold."
)


def part_at_thresholds(
    what: str,
    counted: str,
    others: str,
    doc: str,
    short: str | None = None,
    in_bounds: bool = True,
) -> Callable[..., Metric]:
    """The metric that is the count `counted` over this and `others`, of each threshold."""
    function = f"{what}_at_thresholds"

    def ratio(counts: Counts, suffix: str) -> Tensor:
        total = _EPSILON + counts[counted] + counts[others]
        return math_ops.div(counts[counted], total, name=f"{short or what}_{suffix}")

    def part(
        labels: Any,
        predictions: Any,
        thresholds: Any,
        weights: Any = None,
        name: str | None = None,
    ) -> Metric:
        with variable_scope(name, function, (predictions, labels, weights)):
            keys = (counted, others)
            counts = count_at_thresholds(labels, predictions, thresholds, weights, keys, in_bounds)
            return value_and_update(ratio, counts)

    return published(part, function, doc)


def value_and_update(
    function: Callable[[Counts, str], Tensor], counts: tuple[Counts, Counts]
) -> Metric:
    """The metric that `function` makes of counts, and of counts after their update."""
    values, updates = counts
    value = across_replicas(
        lambda *counted: function(dict(zip(values, counted, strict=True)), "value"),
        *values.values(),
    )
    return value, function(updates, "update_op")


precision_at_thresholds = part_at_thresholds(
    "precision", "tp", "fp", "Which part of the predictions above each threshold were right."
)
recall_at_thresholds = part_at_thresholds(
    "recall", "tp", "fn", "Which part of the true labels were found with each threshold."
)


# ---- areas under curves --------------------------------------------------------------------------


def even_thresholds(count: int) -> list[float]:
    """The thresholds between 0 and 1 that cut it into `count - 1` equal parts."""
    return [(i + 1) * 1.0 / (count - 1) for i in range(count - 2)]


@partial(published, before="curve")
def auc(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    num_thresholds: int = 200,
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
        inner = even_thresholds(num_thresholds) if thresholds is None else sorted(thresholds)
        # A little outside, so that 0 is above the first and 1 not above the last.
        limits = [0.0 - _EPSILON, *inner, 1.0 + _EPSILON]
        counts = count_at_thresholds(labels, predictions, limits, weights, tuple(_COUNTS))
        return value_and_update(_area_function(curve, summation_method), counts)


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
        last = int(tp.shape[0]) - 1
        widths = x[:last] - x[1:]
        return math_ops.reduce_sum(math_ops.multiply(widths, height(y[:last], y[1:])), name=name)

    return area


def _interpolated_pr_area(counts: Counts, name: str) -> Tensor:
    """Between thresholds, true positives grow in proportion to all positives (Davis, Goadrich)."""
    tp, fp, fn = (array.identity(counts[key]) for key in ("tp", "fp", "fn"))
    last = int(tp.shape[0]) - 1
    gained = tp[:last] - tp[1:]
    positives = tp + fp
    slope = ratio(gained, positives[:last] - positives[1:], "prec_slope")
    intercept = tp[1:] - math_ops.multiply(slope, positives[1:])
    some = math_ops.logical_and(positives[:last] > 0, positives[1:] > 0)
    growth = ratio(positives[:last], positives[1:], "recall_relative_ratio")
    growth = where(some, growth, array.ones_like(positives[1:]))
    gains = slope * (gained + intercept * math_ops.log(growth))
    increments = ratio(gains, tp[1:] + fn[1:], "pr_auc_increment")
    return math_ops.reduce_sum(increments, name="interpolate_pr_auc")


# ---- one rate where another has a given value ----------------------------------------------------


@published
def specificity_at_sensitivity(
    labels: Any,
    predictions: Any,
    sensitivity: float,
    weights: Any = None,
    num_thresholds: int = 200,
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
        return rate_at(counts["tn"], counts["fp"], at, suffix)

    with variable_scope(name, "specificity_at_sensitivity", (predictions, labels, weights)):
        limits = [0.0 - _EPSILON, *even_thresholds(num_thresholds), 1.0 - _EPSILON]
        counts = count_at_thresholds(labels, predictions, limits, weights, tuple(_COUNTS))
        return value_and_update(specificity, counts)


@published
def sensitivity_at_specificity(
    labels: Any,
    predictions: Any,
    specificity: float,
    weights: Any = None,
    num_thresholds: int = 200,
    name: str | None = None,
) -> Metric:
    """The true positive rate at the threshold where the true negative rate is nearest to this."""
    if not 0 <= specificity <= 1:
        raise ValueError("`specificity` must be in the range [0, 1].")

    def sensitivity(counts: Counts, suffix: str) -> Tensor:
        rates = math_ops.div(counts["tn"], counts["tn"] + counts["fp"] + _EPSILON)
        at = math_ops.cast(math_ops.argmin(math_ops.abs(rates - specificity), axis=0), dtypes.int32)
        return rate_at(counts["tp"], counts["fn"], at, suffix)

    with variable_scope(name, "sensitivity_at_specificity", (predictions, labels, weights)):
        limits = [0.0 - _EPSILON, *even_thresholds(num_thresholds), 1.0 + _EPSILON]
        counts = count_at_thresholds(labels, predictions, limits, weights, tuple(_COUNTS))
        return value_and_update(sensitivity, counts)


def rate_at(right: Any, wrong: Any, at: Tensor, name: str) -> Tensor:
    """The part of `right` in both counts, at one of the thresholds."""
    right, wrong = array.identity(right)[at], array.identity(wrong)[at]
    return math_ops.div(right, right + wrong + _EPSILON, name)
