"""tf.contrib.metrics: tf.metrics with predictions first, under the name streaming_*."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, add_to_collections, control_dependencies, name_scope
from weft.ops.array import array
from weft.ops.math import math
from weft.ops.nn import activations as nn_impl
from weft.ops.scores import metrics
from weft.ops.scores.confusion_matrix import confusion_matrix as confusion_matrix
from weft.ops.scores.metrics_base import metric_variable
from weft.ops.state import variable_scope as vs
from weft.ops.state.updates import assign_add

Metric = tuple[Any, Any]


def _streaming(metric: Callable[..., Metric], name: str | None = None) -> Callable[..., Metric]:
    """`metric`, called with predictions before labels; `name` where it is not the metric's."""
    parameters = list(inspect.signature(metric).parameters.values())
    if [p.name for p in parameters[:2]] == ["labels", "predictions"]:
        parameters[:2] = [parameters[1], parameters[0]]
    signature = inspect.Signature(parameters)

    def streaming(*args: Any, **kwargs: Any) -> Metric:
        return metric(**signature.bind(*args, **kwargs).arguments)

    streaming.__name__ = streaming.__qualname__ = f"streaming_{name or metric.__name__}"
    streaming.__doc__ = f"tf.metrics.{metric.__name__} with predictions first."
    streaming.__signature__ = signature  # type: ignore[attr-defined]
    return streaming


streaming_accuracy = _streaming(metrics.accuracy)
streaming_auc = _streaming(metrics.auc)
streaming_false_negatives = _streaming(metrics.false_negatives)
streaming_false_negatives_at_thresholds = _streaming(metrics.false_negatives_at_thresholds)
streaming_false_positives = _streaming(metrics.false_positives)
streaming_false_positives_at_thresholds = _streaming(metrics.false_positives_at_thresholds)
streaming_mean = _streaming(metrics.mean)
streaming_mean_absolute_error = _streaming(metrics.mean_absolute_error)
streaming_mean_cosine_distance = _streaming(metrics.mean_cosine_distance)
streaming_mean_iou = _streaming(metrics.mean_iou)
streaming_mean_relative_error = _streaming(metrics.mean_relative_error)
streaming_mean_squared_error = _streaming(metrics.mean_squared_error)
streaming_mean_tensor = _streaming(metrics.mean_tensor)
streaming_percentage_less = _streaming(metrics.percentage_below, "percentage_less")
streaming_precision = _streaming(metrics.precision)
streaming_precision_at_thresholds = _streaming(metrics.precision_at_thresholds)
streaming_recall = _streaming(metrics.recall)
streaming_recall_at_thresholds = _streaming(metrics.recall_at_thresholds)
streaming_root_mean_squared_error = _streaming(metrics.root_mean_squared_error)
streaming_sensitivity_at_specificity = _streaming(metrics.sensitivity_at_specificity)
streaming_specificity_at_sensitivity = _streaming(metrics.specificity_at_sensitivity)
streaming_sparse_average_precision_at_k = _streaming(
    metrics.average_precision_at_k, "sparse_average_precision_at_k"
)
streaming_sparse_precision_at_k = _streaming(metrics.precision_at_k, "sparse_precision_at_k")
streaming_sparse_recall_at_k = _streaming(metrics.recall_at_k, "sparse_recall_at_k")
streaming_true_negatives = _streaming(metrics.true_negatives)
streaming_true_negatives_at_thresholds = _streaming(metrics.true_negatives_at_thresholds)
streaming_true_positives = _streaming(metrics.true_positives)
streaming_true_positives_at_thresholds = _streaming(metrics.true_positives_at_thresholds)


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
        inside = [(i + 1) * 1.0 / (num_thresholds - 1) for i in range(num_thresholds - 2)]
        thresholds = [0.0 - 1e-7, *inside, 1.0 + 1e-7]
        values, updates = zip(
            *(
                metric(labels, predictions, thresholds, weights)
                for metric in (
                    metrics.true_positives_at_thresholds,
                    metrics.false_positives_at_thresholds,
                    metrics.false_negatives_at_thresholds,
                )
            ),
            strict=True,
        )

        def best(counts: Any, name: str) -> Tensor:
            tp, fp, fn = counts
            precision = tp / (1e-7 + tp + fp)
            recall = tp / (1e-7 + tp + fn)
            scores = 2.0 * precision * recall / (precision + recall + 1e-7)
            return math.reduce_max(scores, name=name)

        return _published(
            best(values, "value"),
            best(updates, "update"),
            metrics_collections,
            updates_collections,
        )


def _published(value: Any, update: Any, for_value: Any, for_update: Any) -> Metric:
    if for_value:
        add_to_collections(for_value, value)
    if for_update:
        add_to_collections(for_update, update)
    return value, update


# ---- covariance and correlation ----


def streaming_covariance(
    predictions: Any,
    labels: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The unbiased covariance of all predictions and labels so far."""
    with vs.variable_scope(name, "covariance", (predictions, labels, weights)):
        x = math.cast(convert_to_tensor(predictions), dtypes.float32)
        y = math.cast(convert_to_tensor(labels), dtypes.float32)
        x.shape.assert_is_compatible_with(y.shape)
        w = (
            array.ones_like(x)
            if weights is None
            else math.cast(weights, x.dtype) * array.ones_like(x)
        )
        count, mean_x, mean_y, moment = (
            metric_variable([], dtypes.float32, name=kept)
            for kept in ("count", "mean_prediction", "mean_label", "comoment")
        )
        # What the batch alone would give, put together with what there was before it.
        batch = math.reduce_sum(w)
        total = count + batch
        batch_x = math.div_no_nan(math.reduce_sum(x * w), batch)
        batch_y = math.div_no_nan(math.reduce_sum(y * w), batch)
        share = math.div_no_nan(batch, total)
        before_x, before_y = array.identity(mean_x), array.identity(mean_y)
        delta_x, delta_y = (batch_x - before_x) * share, (batch_y - before_y) * share
        own = math.reduce_sum((x - batch_x) * (y - batch_y) * w)
        between = (batch_x - before_x) * (batch_y - before_y) * (total - batch) * share
        grown = own + between
        # Nothing may change before everything has been computed from what there was.
        with control_dependencies([delta_x, delta_y, grown]):
            changes = [(count, batch), (mean_x, delta_x), (mean_y, delta_y), (moment, grown)]
            updated = [assign_add(kept, change) for kept, change in changes]
        value = _unbiased(moment, count, "covariance")
        with control_dependencies(updated):
            update = _unbiased(moment.read_value(), count.read_value(), "update_op")
        return _published(value, update, metrics_collections, updates_collections)


def _unbiased(moment: Any, count: Any, name: str) -> Tensor:
    from weft.ops.array.one_hot_search import where

    fewer = math.less_equal(count, 1.0)
    return where(fewer, float("nan"), math.truediv(moment, count - 1), name=name)


def streaming_pearson_correlation(
    predictions: Any,
    labels: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The correlation of all predictions and labels so far."""
    with vs.variable_scope(name, "pearson_r", (predictions, labels, weights)):
        pairs = [(predictions, labels), (predictions, predictions), (labels, labels)]
        names = ["covariance", "variance_predictions", "variance_labels"]
        made = [
            streaming_covariance(a, b, weights, name=kept)
            for (a, b), kept in zip(pairs, names, strict=True)
        ]

        def correlation(which: int, name: str) -> Tensor:
            both, first, second = (pair[which] for pair in made)
            return math.truediv(both, math.sqrt(first) * math.sqrt(second), name=name)

        return _published(
            correlation(0, "pearson_r"),
            correlation(1, "update_op"),
            metrics_collections,
            updates_collections,
        )


# ---- several at once ----


def aggregate_metrics(*value_update_tuples: Metric) -> tuple[list[Any], list[Any]]:
    """Values and updates of several metrics, as two lists."""
    if not value_update_tuples:
        raise ValueError("Expected at least one value_tensor/update_op pair")
    values, updates = zip(*value_update_tuples, strict=True)
    return list(values), list(updates)


def aggregate_metric_map(
    names_to_tuples: dict[str, Metric],
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Values and updates of several metrics, as two dictionaries by name."""
    values = {name: pair[0] for name, pair in names_to_tuples.items()}
    return values, {name: pair[1] for name, pair in names_to_tuples.items()}
