"""Metrics that have no other form: counts, agreement, the best of thresholds, ranks."""

from __future__ import annotations

from functools import partial
from typing import Any

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, control_dependencies, name_scope
from weft.ops.array import array
from weft.ops.array.diag import diag_part
from weft.ops.kit.eager import executing_eagerly
from weft.ops.math import math
from weft.ops.nn import activations as nn_impl
from weft.ops.scores import metrics
from weft.ops.scores.confusion_matrix import confusion_matrix
from weft.ops.scores.metrics_at_k import average_precision_at_top_k
from weft.ops.scores.metrics_base import Metric, aligned, metric_variable, publish, published
from weft.ops.scores.metrics_thresholds import Counts, count_at_thresholds, even_thresholds
from weft.ops.scores.weights import broadcast_weights, ratio
from weft.ops.state import variable_scope as vs
from weft.ops.state.updates import assign_add


def streaming_recall_at_k(
    predictions: Any,
    labels: Any,
    k: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """How often the label is among the `k` highest predictions."""
    found = math.cast(nn_impl.in_top_k(predictions, labels, k), dtypes.float32)
    return metrics.mean(
        found, weights, metrics_collections, updates_collections, name or f"recall_at_{k}"
    )


def accuracy(predictions: Any, labels: Any, weights: Any = None, name: str | None = None) -> Tensor:
    """The part of the predictions that are right, now and not over time."""
    predictions, labels = convert_to_tensor(predictions), convert_to_tensor(labels)
    if predictions.dtype not in (dtypes.bool, dtypes.string) and not predictions.dtype.is_integer:
        raise ValueError(
            f"Predictions should be a boolean, integer, or string, got {predictions.dtype}"
        )
    if labels.dtype != predictions.dtype:
        raise ValueError(
            f"Dtypes of predictions and labels should match. Given: predictions "
            f"({predictions.dtype}) and labels ({labels.dtype})"
        )
    predictions.shape.assert_is_compatible_with(labels.shape)
    with name_scope(name, "accuracy", values=[predictions, labels]):
        right = math.cast(math.equal(predictions, labels), dtypes.float32)
        if weights is None:
            return math.reduce_mean(right)
        weights = math.cast(weights, dtypes.float32) * array.ones_like(right)
        return math.reduce_sum(right * weights) / math.reduce_sum(weights)


def f1_score(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The best harmonic mean of precision and recall over thresholds between 0 and 1."""
    with vs.variable_scope(name, "f1", (labels, predictions, weights)):
        limits = [0.0 - 1e-7, *even_thresholds(num_thresholds), 1.0 + 1e-7]
        keys = ("tp", "fp", "fn")
        counts = count_at_thresholds(labels, predictions, limits, weights, keys)

        def best(counts: Counts, suffix: str) -> Tensor:
            tp, fp, fn = (counts[key] for key in keys)
            precision = math.div(tp, 1e-7 + tp + fp, name=f"precision_{suffix}")
            recall = math.div(tp, 1e-7 + tp + fn, name=f"recall_{suffix}")
            return math.reduce_max(2.0 * precision * recall / (precision + recall + 1e-7))

        values, updates = counts
        metric = best(values, "value"), best(updates, "update")
        return publish(metric, metrics_collections, updates_collections)


# ---- counts and agreement ----


def _only_in_graphs(function: str) -> None:
    if executing_eagerly():
        raise RuntimeError(
            f"tf.contrib.metrics.{function} is not supported when eager execution is enabled."
        )


@published
def count(values: Any, weights: Any = None, name: str | None = None) -> Metric:
    """How many values there were, or the sum of their weights."""
    _only_in_graphs("count")
    with vs.variable_scope(name, "count", (values, weights)):
        total = metric_variable([], dtypes.float32, name="count")
        if weights is None:
            values = convert_to_tensor(values)
            amount = math.cast(array.size(values), dtypes.float32)
        else:
            values, _, weights = aligned(math.cast(values, dtypes.float32), None, weights)
            weights = broadcast_weights(math.cast(weights, dtypes.float32), values)
            amount = math.reduce_sum(weights)
        with control_dependencies([values]):
            update = assign_add(total, amount)
        return array.identity(total), update


@published
def cohen_kappa(
    labels: Any,
    predictions_idx: Any,
    num_classes: int,
    weights: Any = None,
    name: str | None = None,
) -> Metric:
    """How much more often two raters agree than by chance: 1 if always, 0 if not more."""
    _only_in_graphs("cohen_kappa")
    if num_classes < 2:
        raise ValueError(f"`num_classes` must be >= 2.Found: {num_classes}")
    with vs.variable_scope(name, "cohen_kappa", (labels, predictions_idx, weights)):
        if labels.shape.with_rank_at_most(2).ndims == 2:
            labels = array.squeeze(labels, [-1])
        predictions, labels, weights = aligned(predictions_idx, labels, weights)
        whole = weights is None or weights.dtype.is_integer
        dtype = dtypes.int64 if whole else dtypes.float32
        sums = [metric_variable([num_classes], dtype, name=n) for n in ("po", "pe_row", "pe_col")]
        table = confusion_matrix(
            labels, predictions, num_classes, dtype, "counts_in_table", weights
        )
        parts = diag_part(table), math.reduce_sum(table, axis=0), math.reduce_sum(table, axis=1)
        updates = [assign_add(kept, part) for kept, part in zip(sums, parts, strict=True)]
        return _kappa(sums, "value"), _kappa(updates, "update_op")


def _kappa(sums: list[Any], name: str) -> Tensor:
    agreed, rows, columns = sums
    double = partial(math.cast, dtype=dtypes.float64)
    total = double(math.reduce_sum(rows))
    by_chance = math.reduce_sum(math.div_no_nan(double(rows * columns), total))
    found = double(math.reduce_sum(agreed))
    return ratio(found - by_chance, total - by_chance, name)


# ---- predictions that are ranked already ----


def streaming_sparse_precision_at_top_k(
    top_k_predictions: Any,
    labels: Any,
    class_id: int | None = None,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """`tf.metrics.precision_at_top_k` with the predicted classes first."""
    return metrics.precision_at_top_k(
        labels, top_k_predictions, None, class_id, weights, metrics_collections,
        updates_collections, name,
    )  # fmt: skip


def sparse_recall_at_top_k(
    labels: Any,
    top_k_predictions: Any,
    class_id: int | None = None,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """`tf.metrics.recall_at_top_k`, where the number of classes is not part of the names."""
    return metrics.recall_at_top_k(
        labels, top_k_predictions, None, class_id, weights, metrics_collections,
        updates_collections, name,
    )  # fmt: skip


def streaming_sparse_average_precision_at_top_k(
    top_k_predictions: Any,
    labels: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The mean over the examples of the average precision of classes that are in order."""
    return average_precision_at_top_k(
        labels, top_k_predictions, weights, metrics_collections, updates_collections, name
    )
