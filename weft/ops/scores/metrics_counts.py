"""Metrics of yes and no: true and false positives and negatives, precision, recall."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.core import dtypes
from weft.graph.graph import control_dependencies
from weft.graph.tensor import Tensor
from weft.ops.array import array
from weft.ops.array.one_hot_search import where
from weft.ops.control import check
from weft.ops.kit.replicas import across_replicas
from weft.ops.math import math as math_ops
from weft.ops.scores.metrics_base import Metric, aligned, metric_variable, published
from weft.ops.state.updates import assign_add
from weft.ops.state.variable_scope import variable_scope


def _count(function: str, label: bool, prediction: bool, doc: str) -> Callable[..., Metric]:
    """How often (with what weight) these were the label and the prediction."""

    def count(
        labels: Any, predictions: Any, weights: Any = None, name: str | None = None
    ) -> Metric:
        with variable_scope(name, function, (predictions, labels, weights)):
            predictions, labels, weights = _as_bools(predictions, labels, weights)
            found = math_ops.logical_and(
                math_ops.equal(labels, label), math_ops.equal(predictions, prediction)
            )
            check.assert_type(found, dtypes.bool)
            total = metric_variable([], dtypes.float32, name="count")
            values = math_ops.cast(found, dtypes.float32)
            if weights is not None:
                fits = check.assert_rank_in(weights, (0, array.rank(values)))
                with control_dependencies((fits,)):
                    values = math_ops.multiply(values, math_ops.cast(weights, dtypes.float32))
            value = across_replicas(array.identity, total)
            return value, assign_add(total, math_ops.reduce_sum(values))

    return published(count, function, doc)


def _as_bools(predictions: Any, labels: Any, weights: Any) -> tuple[Tensor, Any, Any]:
    return aligned(
        math_ops.cast(predictions, dtypes.bool), math_ops.cast(labels, dtypes.bool), weights
    )


true_positives = _count("true_positives", True, True, "How often a prediction was rightly true.")
true_negatives = _count("true_negatives", False, False, "How often a prediction was rightly false.")
false_positives = _count("false_positives", False, True, "How often a prediction was wrongly true.")
false_negatives = _count(
    "false_negatives", True, False, "How often a prediction was wrongly false."
)


def part_metric(
    function: str, counted: Callable[..., Metric], others: Callable[..., Metric], doc: str
) -> Callable[..., Metric]:
    """The metric that is what is `counted` over this and `others`."""

    def ratio(found: Tensor, rest: Tensor, name: str) -> Tensor:
        some = math_ops.greater(found + rest, 0)
        return where(some, math_ops.div(found, found + rest), 0, name)

    def part(labels: Any, predictions: Any, weights: Any = None, name: str | None = None) -> Metric:
        with variable_scope(name, function, (predictions, labels, weights)):
            predictions, labels, weights = _as_bools(predictions, labels, weights)
            found, new_found = counted(labels, predictions, weights)
            rest, new_rest = others(labels, predictions, weights)
            value = across_replicas(lambda a, b: ratio(a, b, "value"), found, rest)
            return value, ratio(new_found, new_rest, "update_op")

    return published(part, function, doc)


precision = part_metric(
    "precision",
    true_positives,
    false_positives,
    "Which part of the true predictions were right; 0 if there were none.",
)
recall = part_metric(
    "recall",
    true_positives,
    false_negatives,
    "Which part of the true labels were found; 0 if there were none.",
)
