"""Metrics of yes and no: true and false positives and negatives, precision, recall."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.graph.graph import control_dependencies
from weft.graph.tensor import Tensor
from weft.ops import array, check
from weft.ops import math as math_ops
from weft.ops.metrics_base import Metric, aligned, metric_variable, published
from weft.ops.select import where
from weft.ops.updates import assign_add
from weft.ops.variable_scope import variable_scope


def _count(
    default: str,
    label: bool,
    prediction: bool,
    labels: Any,
    predictions: Any,
    weights: Any,
    metrics_collections: Any,
    updates_collections: Any,
    name: str | None,
) -> Metric:
    """How often (with what weight) these were the label and the prediction."""
    with variable_scope(name, default, (predictions, labels, weights)):
        predictions, labels, weights = _as_bools(predictions, labels, weights)
        found = math_ops.logical_and(
            math_ops.equal(labels, label), math_ops.equal(predictions, prediction)
        )
        count = metric_variable([], dtypes.float32, name="count")
        values = math_ops.cast(found, dtypes.float32)
        if weights is not None:
            fits = check.assert_rank_in(weights, (0, array.rank(values)))
            with control_dependencies((fits,)):
                values = math_ops.multiply(values, math_ops.cast(weights, dtypes.float32))
        update = assign_add(count, math_ops.reduce_sum(values))
        return published(array.identity(count), update, metrics_collections, updates_collections)


def _as_bools(predictions: Any, labels: Any, weights: Any) -> tuple[Tensor, Any, Any]:
    return aligned(
        math_ops.cast(predictions, dtypes.bool), math_ops.cast(labels, dtypes.bool), weights
    )


def true_positives(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """How often a prediction was rightly true."""
    return _count("true_positives", True, True, labels, predictions, weights,
                  metrics_collections, updates_collections, name)  # fmt: skip


def true_negatives(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """How often a prediction was rightly false."""
    return _count("true_negatives", False, False, labels, predictions, weights,
                  metrics_collections, updates_collections, name)  # fmt: skip


def false_positives(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """How often a prediction was wrongly true."""
    return _count("false_positives", False, True, labels, predictions, weights,
                  metrics_collections, updates_collections, name)  # fmt: skip


def false_negatives(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """How often a prediction was wrongly false."""
    return _count("false_negatives", True, False, labels, predictions, weights,
                  metrics_collections, updates_collections, name)  # fmt: skip


def _part(positives: Tensor, others: Tensor, name: str) -> Tensor:
    total = positives + others
    return where(
        math_ops.greater(total, 0), math_ops.div(positives, total), array.zeros_like(total), name
    )


def precision(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Which part of the true predictions were right; 0 if there were none."""
    with variable_scope(name, "precision", (predictions, labels, weights)):
        predictions, labels, weights = _as_bools(predictions, labels, weights)
        right, new_right = true_positives(labels, predictions, weights)
        wrong, new_wrong = false_positives(labels, predictions, weights)
        return published(
            _part(right, wrong, "value"), _part(new_right, new_wrong, "update_op"),
            metrics_collections, updates_collections,
        )  # fmt: skip


def recall(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Which part of the true labels were found; 0 if there were none."""
    with variable_scope(name, "recall", (predictions, labels, weights)):
        predictions, labels, weights = _as_bools(predictions, labels, weights)
        found, new_found = true_positives(labels, predictions, weights)
        missed, new_missed = false_negatives(labels, predictions, weights)
        return published(
            _part(found, missed, "value"), _part(new_found, new_missed, "update_op"),
            metrics_collections, updates_collections,
        )  # fmt: skip
