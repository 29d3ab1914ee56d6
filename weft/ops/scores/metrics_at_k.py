"""Metrics of the k classes with the highest scores, against one or more labels per example.

Labels are dense, or a SparseTensor when examples have different numbers of them. Both they and the
predictions count as sets: what is in a row twice counts once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from weft.core import dtypes
from weft.graph import shape_fn as s
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import control_dependencies, name_scope
from weft.graph.op_def import raw
from weft.graph.slices import SparseTensor, SparseTensorValue
from weft.graph.tensor import Tensor
from weft.ops.array import array
from weft.ops.control.cond import cond
from weft.ops.kit.replicas import across_replicas
from weft.ops.math import math as math_ops
from weft.ops.nn.activations import top_k
from weft.ops.scores.metrics_base import Metric, metric_variable, published
from weft.ops.scores.weights import assert_broadcastable, broadcast_weights
from weft.ops.state.updates import assign_add

_ABSENT = int(np.iinfo(np.int64).min)


class _Sets(NamedTuple):
    """Rows of class numbers, and which of them are there: the others fill up the row."""

    ids: Tensor
    present: Tensor


def _label_sets(labels: Any, predictions: Tensor) -> _Sets:
    """Labels with the rank of the predictions."""
    if isinstance(labels, SparseTensorValue):
        labels = SparseTensor.from_value(labels)
    if isinstance(labels, SparseTensor):
        values = math_ops.cast(labels.values, dtypes.int64)
        dense = raw.SparseToDense(
            labels.indices, labels.dense_shape, values, np.int64(_ABSENT), validate_indices=False
        )
        labels = _with_last_dimension(dense, predictions)
        return _Sets(labels, _distinct(labels, math_ops.not_equal(labels, np.int64(_ABSENT))))
    labels = math_ops.cast(convert_to_tensor(labels), dtypes.int64)
    labels = _with_last_dimension(labels, predictions)
    return _Sets(labels, _distinct(labels, array.ones_like(labels, dtypes.bool)))


def _with_last_dimension(labels: Tensor, predictions: Tensor) -> Tensor:
    if labels.dims is not None and predictions.dims is not None:
        missing = len(predictions.dims) - len(labels.dims)
        if missing not in (0, 1):
            raise ValueError(
                f"Unexpected labels shape {labels.shape} for predictions shape {predictions.shape}."
            )
        return array.expand_dims(labels, -1) if missing else labels
    missing_now = math_ops.equal(array.rank(predictions), array.rank(labels) + 1)
    return cond(missing_now, lambda: array.expand_dims(labels, -1), lambda: labels)


def _distinct(ids: Tensor, present: Tensor) -> Tensor:
    """Whether each entry is present and the first of its kind in the row."""
    same = math_ops.equal(array.expand_dims(ids, -1), array.expand_dims(ids, -2))
    both = math_ops.logical_and(same, array.expand_dims(present, -2))
    # Row i, column j: entry j, at or before i, equals entry i. The first of a kind finds itself.
    found = raw.MatrixBandPart(math_ops.cast(both, dtypes.int32), np.int64(-1), np.int64(0))
    first = math_ops.equal(math_ops.reduce_sum(found, axis=-1), 1)
    return math_ops.logical_and(present, first)


def _of_class(sets: _Sets, class_id: int | None) -> _Sets:
    if class_id is None:
        return sets
    chosen = math_ops.equal(sets.ids, math_ops.cast(class_id, dtypes.int64))
    return _Sets(sets.ids, math_ops.logical_and(sets.present, chosen))


def _is_in(sets: _Sets, others: _Sets) -> Tensor:
    """Whether each entry is present and also among the others of its row."""
    same = math_ops.equal(array.expand_dims(sets.ids, -1), array.expand_dims(others.ids, -2))
    found = math_ops.logical_and(same, array.expand_dims(others.present, -2))
    return math_ops.logical_and(sets.present, math_ops.reduce_any(found, axis=-1))


def _not_in(sets: _Sets, others: _Sets) -> Tensor:
    return math_ops.logical_and(sets.present, math_ops.logical_not(_is_in(sets, others)))


def _per_row(found: Tensor, weights: Any) -> Tensor:
    count = math_ops.reduce_sum(math_ops.cast(found, dtypes.float64), axis=-1)
    if weights is None:
        return count
    with control_dependencies((assert_broadcastable(weights, count),)):
        return math_ops.multiply(count, math_ops.cast(weights, dtypes.float64))


def _streaming_count(what: str, per_row: Tensor) -> Metric:
    return _running_sum(what, per_row, lambda: math_ops.reduce_sum(per_row))


def _running_sum(what: str, per_row: Tensor, amount: Callable[[], Tensor]) -> Metric:
    """The sum of all amounts so far, in the scope `what`, and its update."""
    with name_scope(None, what, (per_row,)) as scope:
        return _growing(metric_variable([], dtypes.float64, name=scope), amount)


def _growing(total: Any, amount: Callable[[], Tensor]) -> Metric:
    return total, assign_add(total, amount(), name="update")


def _at_k_name(name: str, k: int | None, class_id: int | None = None) -> str:
    full = f"{name}_at_{'k' if k is None else k}"
    return full if class_id is None else f"{full}_class{class_id}"


def _at_top_k(what: str, doc: str) -> Callable[..., Metric]:
    """Hits over hits and misses; for precision a miss is a prediction, for recall a label."""

    def part(
        labels: Any,
        predictions_idx: Any,
        k: int | None = None,
        class_id: int | None = None,
        weights: Any = None,
        name: str | None = None,
    ) -> Metric:
        values = (predictions_idx, labels, weights)
        with name_scope(name, _at_k_name(what, k, class_id), values) as scope:
            ids = math_ops.cast(predictions_idx, dtypes.int64)
            s.with_rank_at_least(ids.dims, 2)
            all_labels = _label_sets(labels, ids)
            distinct = _Sets(ids, _distinct(ids, array.ones_like(ids, dtypes.bool)))
            predicted = _of_class(distinct, class_id)
            labelled = _of_class(all_labels, class_id)
            hits = _per_row(_is_in(predicted, labelled), weights)
            if what == "precision":
                misses, missed = _per_row(_not_in(predicted, labelled), weights), "false_positive"
            else:
                misses, missed = _per_row(_not_in(labelled, predicted), weights), "false_negative"
            hit, new_hit = _streaming_count(_at_k_name("true_positive", k, class_id), hits)
            miss, new_miss = _streaming_count(_at_k_name(missed, k, class_id), misses)
            value = across_replicas(
                lambda a, b: math_ops.div(a, math_ops.add(a, b), name=scope), hit, miss
            )
            return value, math_ops.div(new_hit, math_ops.add(new_hit, new_miss), name="update")

    return published(part, f"{what}_at_top_k", doc)


precision_at_top_k = _at_top_k(
    "precision",
    "Which part of the predicted classes are labels; of one class, if `class_id` says which.",
)
recall_at_top_k = _at_top_k(
    "recall",
    "Which part of the labels are predicted classes; of one class, if `class_id` says which.",
)


def _at_k(what: str, at_top_k: Callable[..., Metric]) -> Callable[..., Metric]:
    def part(
        labels: Any,
        predictions: Any,
        k: int,
        class_id: int | None = None,
        weights: Any = None,
        name: str | None = None,
    ) -> Metric:
        values = (predictions, labels, weights)
        with name_scope(name, _at_k_name(what, k, class_id), values) as scope:
            best = top_k(predictions, k)[1]
            return at_top_k(labels, best, k, class_id, weights, name=scope)

    doc = f"`{what}_at_top_k` of the k classes with the highest scores."
    return published(part, f"{what}_at_k", doc)


precision_at_k = _at_k("precision", precision_at_top_k)
recall_at_k = _at_k("recall", recall_at_top_k)
sparse_precision_at_k = precision_at_k


@published
def average_precision_at_k(
    labels: Any,
    predictions: Any,
    k: int,
    weights: Any = None,
    name: str | None = None,
) -> Metric:
    """The mean over the examples of the average precision of their k best classes."""
    if k < 1:
        raise ValueError(f"Invalid k={k}.")
    values = (predictions, labels, weights)
    with name_scope(name, _at_k_name("average_precision", k), values) as scope:
        predictions = convert_to_tensor(predictions)
        ids = math_ops.cast(top_k(predictions, k)[1], dtypes.int64)
        classes = math_ops.cast(array.shape(predictions)[-1], dtypes.int64)
        return _mean_precision(_average_precision(labels, ids, classes, k), weights, scope)


@published
def average_precision_at_top_k(
    labels: Any, predictions_idx: Any, weights: Any = None, name: str | None = None
) -> Metric:
    """The mean over the examples of the average precision of classes that are in order."""
    ids = math_ops.cast(predictions_idx, dtypes.int64)
    if ids.dims is None or ids.dims[-1] is None:
        raise ValueError("The number of predicted classes must be known.")
    k = ids.dims[-1]
    with name_scope(name, _at_k_name("average_precision", k), (ids, labels, weights)) as scope:
        return _mean_precision(_average_precision(labels, ids, None, k), weights, scope)


def _mean_precision(precision: Tensor, weights: Any, scope: str) -> Metric:
    if weights is not None:
        weights = broadcast_weights(math_ops.cast(weights, dtypes.float64), precision)
        precision = math_ops.multiply(precision, weights)

    def batch_max() -> Tensor:
        if weights is not None:
            return math_ops.reduce_sum(weights, name="batch_max")
        return math_ops.cast(array.size(precision, name="batch_max"), dtypes.float64)

    def batch_total() -> Tensor:
        return math_ops.reduce_sum(precision, name="batch_total")

    most, new_most = _running_sum("max", precision, batch_max)
    total, new_total = _running_sum("total", precision, batch_total)
    value = across_replicas(lambda a, b: math_ops.div_no_nan(a, b, name="mean"), total, most)
    return value, math_ops.div_no_nan(new_total, new_most, name=scope)


sparse_average_precision_at_k = average_precision_at_k


def _average_precision(labels: Any, ids: Tensor, classes: Tensor | None, k: int) -> Tensor:
    """The precision at each hit, averaged over the labels that k predictions could hit."""
    sparse = isinstance(labels, (SparseTensor, SparseTensorValue))
    labelled = _label_sets(labels, ids)
    known = array.ones_like(labelled.ids, dtypes.bool)
    if classes is not None:
        known = math_ops.less(labelled.ids, classes)
    labelled = _Sets(labelled.ids, math_ops.logical_and(labelled.present, known))
    predicted = _Sets(ids, array.ones_like(ids, dtypes.bool))
    hits = math_ops.cast(_is_in(predicted, labelled), dtypes.float64)
    precision = math_ops.cumsum(hits, axis=-1) / math_ops.cumsum(array.ones_like(hits), axis=-1)
    total = math_ops.reduce_sum(precision * hits, axis=-1)
    if sparse:
        relevant = labelled.present
    else:  # negative numbers stand for no label; one that is there twice counts twice
        relevant = math_ops.logical_and(known, math_ops.greater_equal(labelled.ids, np.int64(0)))
    count = math_ops.reduce_sum(math_ops.cast(relevant, dtypes.float64), axis=-1)
    return math_ops.div(total, math_ops.minimum(count, np.float64(k)))
