"""Metrics of a curve over thresholds: its points, and one rate where the other has a value."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

from weft.core import dtypes
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import Tensor, control_dependencies, name_scope
from weft.ops.array import array
from weft.ops.control import check
from weft.ops.control.cond import cond
from weft.ops.control.control import group
from weft.ops.kit.eager import executing_eagerly
from weft.ops.math import math
from weft.ops.math.sequence import linspace
from weft.ops.scores.metrics_base import Metric, aligned, metric_variable, published
from weft.ops.scores.metrics_thresholds import (
    Counts,
    count_at_thresholds,
    even_thresholds,
    rate_at,
    value_and_update,
)
from weft.ops.state import variable_scope as vs
from weft.ops.state.updates import scatter_add

_EPSILON = 1e-7
_ALL = ("tp", "fn", "tn", "fp")


def _counts(
    labels: Any, predictions: Any, weights: Any, num_thresholds: int
) -> tuple[Counts, Counts]:
    """Counts at even thresholds, with one below 0 and one above 1."""
    limits = [0.0 - _EPSILON, *even_thresholds(num_thresholds), 1.0 + _EPSILON]
    return count_at_thresholds(labels, predictions, limits, weights, _ALL, in_bounds=False)


@partial(published, before="curve")
def streaming_curve_points(
    labels: Any = None,
    predictions: Any = None,
    weights: Any = None,
    num_thresholds: int = 200,
    curve: str = "ROC",
    name: str | None = None,
) -> Any:
    """The points of the ROC or PR curve, one row for each threshold, and an update operation."""
    with vs.variable_scope(name, "curve_points", (labels, predictions, weights)):
        if curve not in ("ROC", "PR"):
            raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
        values, updates = _counts(labels, predictions, weights, num_thresholds)
        tp, fn, tn, fp = (values[key] for key in _ALL)
        epsilon = 1e-6
        recall = math.div(tp + epsilon, tp + fn + epsilon)
        if curve == "ROC":
            columns = [math.div(fp, fp + tn + epsilon), recall]
        else:
            columns = [recall, math.div(tp + epsilon, tp + fp + epsilon)]
        return array.stack(columns, axis=1), group(*updates.values())


@partial(published, before="name")
def recall_at_precision(
    labels: Any,
    predictions: Any,
    precision: float,
    weights: Any = None,
    num_thresholds: int = 200,
    name: str | None = None,
    strict_mode: bool = False,
) -> Metric:
    """The recall at the threshold whose precision is nearest to this, or, if strict, above it."""
    if not 0 <= precision <= 1:
        raise ValueError("`precision` must be in the range [0, 1].")

    def recall(counts: Counts, suffix: str) -> Tensor:
        precisions = math.div(counts["tp"], counts["tp"] + counts["fp"] + _EPSILON)
        above = precisions - precision
        # The reciprocal is largest just above 0, and negative below it.
        nearest = math.div(1.0, above + _EPSILON) if strict_mode else -math.abs(above)
        at = math.argmax(nearest, 0, output_type=dtypes.int32)
        found = partial(rate_at, counts["tp"], counts["fn"], at, suffix)
        return cond(precisions[at] >= precision, found, lambda: 0.0) if strict_mode else found()

    with vs.variable_scope(name, "recall_at_precision", (predictions, labels, weights)):
        return value_and_update(recall, _counts(labels, predictions, weights, num_thresholds))


@published
def precision_at_recall(
    labels: Any,
    predictions: Any,
    target_recall: float,
    weights: Any = None,
    num_thresholds: int = 200,
    name: str | None = None,
) -> Metric:
    """The precision at the highest threshold whose recall is still as large as this."""
    if executing_eagerly():
        raise RuntimeError(
            "tf.metrics.precision_at_recall is not supported when eager execution is enabled."
        )
    if not 0 <= target_recall <= 1:
        raise ValueError("`target_recall` must be in the range [0, 1].")

    def precision(counts: Counts, suffix: str) -> Tensor:
        tp, fp, fn = (array.identity(counts[key]) for key in ("tp", "fp", "fn"))
        enough = math.greater_equal(math.div(tp, tp + fn + _EPSILON), target_recall)
        last = math.reduce_sum(math.cast(enough, dtypes.int64)) - 1
        return math.div(tp[last] + _EPSILON, tp[last] + fp[last] + _EPSILON, suffix)

    with vs.variable_scope(name, "precision_at_recall", (predictions, labels, weights)):
        return value_and_update(precision, _counts(labels, predictions, weights, num_thresholds))


class PrecisionRecallData(NamedTuple):
    """What `precision_recall_at_equal_thresholds` tells: a vector of each, by threshold."""

    tp: Tensor
    fp: Tensor
    tn: Tensor
    fn: Tensor
    precision: Tensor
    recall: Tensor
    thresholds: Tensor


def precision_recall_at_equal_thresholds(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    num_thresholds: int | None = None,
    use_locking: bool | None = None,
    name: str | None = None,
) -> tuple[PrecisionRecallData, Any]:
    """Counts, precision and recall at even thresholds, at the cost of one pass over the data.

    Each prediction is added to the bucket between two thresholds; the counts are sums of buckets.
    """
    count = 201 if num_thresholds is None else num_thresholds
    weights = 1.0 if weights is None else weights
    check.assert_type(labels, dtypes.bool)
    scope = "precision_recall_at_equal_thresholds"
    with vs.variable_scope(name, scope, (labels, predictions, weights)):
        predictions, labels, weights = _between_0_and_1(labels, predictions, weights)
        true = math.cast(labels, dtypes.float64)
        weights = math.cast(weights, dtypes.float64)
        bucket = math.cast(math.floor(array.reshape(predictions, [-1]) * (count - 1)), dtypes.int32)
        with name_scope("variables"):
            kept = [
                metric_variable([count], dtypes.float64, name=f"{key}_buckets")
                for key in ("tp", "fp")
            ]
        with name_scope("update_op"):
            locking = True if use_locking is None else use_locking
            updates = [
                scatter_add(buckets, bucket, array.reshape(part * weights, [-1]), locking)
                for buckets, part in zip(kept, (true, 1.0 - true), strict=True)
            ]
        data = _summed_buckets(kept, count, predictions.dtype)
        return data, group(*updates)


def _between_0_and_1(labels: Any, predictions: Any, weights: Any) -> tuple[Tensor, Any, Any]:
    predictions = convert_to_tensor(predictions)
    message = "predictions must be in [0, 1]"
    low, high = (math.cast(limit, predictions.dtype) for limit in (0.0, 1.0))
    checks = [
        check.assert_greater_equal(predictions, low, message=message),
        check.assert_less_equal(predictions, high, message=message),
    ]
    with control_dependencies(checks):
        return aligned(array.identity(predictions), labels, weights)


def _summed_buckets(kept: list[Any], count: int, dtype: dtypes.DType) -> PrecisionRecallData:
    tp, fp = (
        math.cumsum(buckets, reverse=True, name=name)
        for buckets, name in zip(kept, ("tp", "fp"), strict=True)
    )
    tn, fn = fp[0] - fp, tp[0] - tp
    least = constant(_EPSILON, dtypes.float64)
    precision, recall = (tp / math.maximum(least, tp + rest) for rest in (fp, fn))
    thresholds = linspace(0.0, 1.0, count)
    every = (tp, fp, tn, fn, precision, recall, thresholds)
    return PrecisionRecallData(*(math.cast(each, dtype) for each in every))
