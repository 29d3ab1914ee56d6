"""Metrics with predictions first, under the name streaming_*: those of tf.metrics, and rates."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, control_dependencies
from weft.ops.array import array
from weft.ops.math import math
from weft.ops.scores import metrics
from weft.ops.scores.metrics_base import Metric, metric_variable, publish
from weft.ops.scores.metrics_counts import part_metric
from weft.ops.scores.metrics_thresholds import count_at_thresholds, part_at_thresholds
from weft.ops.state import variable_scope as vs
from weft.ops.state.updates import assign_add


def _streaming(metric: Callable[..., Metric], name: str | None = None) -> Callable[..., Metric]:
    """`metric`, called with predictions before labels; `name` where it is not the metric's."""
    parameters = list(inspect.signature(metric).parameters.values())
    if [p.name for p in parameters[:2]] == ["labels", "predictions"]:
        parameters[:2] = [parameters[1], parameters[0]]
    signature = inspect.Signature(parameters)

    def streaming(*args: Any, **kwargs: Any) -> Metric:
        return metric(**signature.bind(*args, **kwargs).arguments)

    streaming.__name__ = streaming.__qualname__ = f"streaming_{name or metric.__name__}"
    known = hasattr(metrics, metric.__name__)
    plain = f"tf.metrics.{metric.__name__} with predictions first."
    streaming.__doc__ = plain if known else metric.__doc__
    streaming.__signature__ = signature  # type: ignore[attr-defined]
    return streaming


streaming_accuracy = _streaming(metrics.accuracy)
streaming_auc = _streaming(metrics.auc)
streaming_false_negatives = _streaming(metrics.false_negatives)
streaming_false_positives = _streaming(metrics.false_positives)
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
streaming_false_negative_rate = _streaming(
    part_metric(
        "false_negative_rate",
        metrics.false_negatives,
        metrics.true_positives,
        "Which part of the true labels were missed; 0 if there were none.",
    )
)
streaming_false_negative_rate_at_thresholds = _streaming(
    part_at_thresholds(
        "false_negative_rate", "fn", "tp", "The part of true labels that were missed.", "fnr", False
    )
)
streaming_false_positive_rate = _streaming(
    part_metric(
        "false_positive_rate",
        metrics.false_positives,
        metrics.true_negatives,
        "Which part of the false labels were predicted as true; 0 if there were none.",
    )
)
streaming_false_positive_rate_at_thresholds = _streaming(
    part_at_thresholds(
        "false_positive_rate", "fp", "tn", "The part of false labels that were taken.", "fpr", False
    )
)
streaming_true_negatives = _streaming(metrics.true_negatives)
streaming_true_positives = _streaming(metrics.true_positives)


def _counted_at_thresholds(key: str, what: str) -> Callable[..., Metric]:
    """The metric of one count, whose variable is in no scope of its own."""

    def streaming(predictions: Any, labels: Any, thresholds: Any, weights: Any = None) -> Metric:
        values, updates = count_at_thresholds(
            labels, predictions, thresholds, weights, (key,), in_bounds=False
        )
        return values[key], updates[key]

    streaming.__name__ = streaming.__qualname__ = f"streaming_{what}_at_thresholds"
    streaming.__doc__ = f"How many {what.replace('_', ' ')} there were with each threshold."
    return streaming


streaming_false_negatives_at_thresholds = _counted_at_thresholds("fn", "false_negatives")
streaming_false_positives_at_thresholds = _counted_at_thresholds("fp", "false_positives")
streaming_true_negatives_at_thresholds = _counted_at_thresholds("tn", "true_negatives")
streaming_true_positives_at_thresholds = _counted_at_thresholds("tp", "true_positives")


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
        return publish((value, update), metrics_collections, updates_collections)


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

        metric = correlation(0, "pearson_r"), correlation(1, "update_op")
        return publish(metric, metrics_collections, updates_collections)


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
