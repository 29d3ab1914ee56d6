"""Metrics of tf.contrib.learn's heads, by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.core import dtypes
from weft.graph.tensor import Tensor
from weft.lib.contrib.learn.keys import MetricKey
from weft.lib.platform import tf_logging as logging
from weft.ops.array import array
from weft.ops.math import math
from weft.ops.scores import metrics
from weft.ops.scores.weights import broadcast_weights

Metrics = dict[str, Any]


def _floats(weights: Any) -> Any:
    return None if weights is None else math.cast(weights, dtypes.float32)


def _of_class(values: Tensor, weights: Any, class_id: int | None) -> tuple[Tensor, Any]:
    """The values of one class, or of all, with weights of the same shape."""
    weights = _floats(weights)
    if weights is not None:
        weights = broadcast_weights(weights, values)
    if class_id is None:
        return values, weights
    return values[:, class_id], None if weights is None else weights[:, class_id]


def _mean(values: Any, weights: Any, class_id: int | None = None) -> Any:
    return metrics.mean(*_of_class(math.cast(values, dtypes.float32), weights, class_id))


def _is_class(values: Any, weights: Any, class_id: int) -> Any:
    values = math.cast(values, dtypes.int32)
    found = math.cast(math.equal(values, class_id), dtypes.float32)
    return metrics.mean(found, weights)


def _area(
    scores: Any, labels: Any, weights: Any, class_id: int | None = None, curve: str = "ROC"
) -> Any:
    scores = math.cast(scores, dtypes.float32)
    if labels.dtype.base_dtype != dtypes.bool:
        logging.warning("Casting %s labels to bool.", labels.dtype)
        labels = math.cast(labels, dtypes.bool)
    labels = labels if class_id is None else labels[:, class_id]
    scores, weights = _of_class(scores, weights, class_id)
    return metrics.auc(labels, scores, weights, curve=curve)


def of_two_classes(
    logistic: Tensor, classes: Tensor, labels: Any, weights: Any, thresholds: Sequence[float]
) -> Metrics:
    """Accuracy, areas, means, and rates at thresholds of one probability."""
    found: Metrics = {
        MetricKey.ACCURACY: metrics.accuracy(labels, classes, weights),
        MetricKey.PREDICTION_MEAN: _mean(logistic, weights),
        MetricKey.LABEL_MEAN: _mean(labels, weights),
        MetricKey.ACCURACY_BASELINE: _mean(labels, weights),
        MetricKey.AUC: _area(logistic, labels, weights),
        MetricKey.AUC_PR: _area(logistic, labels, weights, curve="PR"),
    }
    for threshold in thresholds:
        above = math.cast(math.greater_equal(logistic, threshold), dtypes.float32)
        found[MetricKey.ACCURACY_MEAN % threshold] = metrics.accuracy(labels, above, weights)
        for key, metric in (
            (MetricKey.PRECISION_MEAN, metrics.precision_at_thresholds),
            (MetricKey.RECALL_MEAN, metrics.recall_at_thresholds),
        ):
            pair = metric(labels, logistic, (threshold,), _floats(weights))
            found[key % threshold] = tuple(array.squeeze(each) for each in pair)
    return found


def of_classes(
    predictions: dict[str, Any], label_ids: Any, weights: Any, class_ids: Sequence[int]
) -> Metrics:
    """Means of some of the classes of which there is one for each example."""
    found: Metrics = {}
    for each in class_ids:
        found |= {
            MetricKey.CLASS_PREDICTION_MEAN % each: _is_class(
                predictions["classes"], weights, each
            ),
            MetricKey.CLASS_LABEL_MEAN % each: _is_class(label_ids, weights, each),
            MetricKey.CLASS_PROBABILITY_MEAN % each: _mean(
                predictions["probabilities"], weights, each
            ),
            MetricKey.CLASS_LOGITS_MEAN % each: _mean(predictions["logits"], weights, each),
        }
    return found


def of_labels(
    predictions: dict[str, Any], labels: Any, weights: Any, class_ids: Sequence[int]
) -> Metrics:
    """Accuracy and areas of classes that do not exclude each other, and means of some of them."""
    probabilities = predictions["probabilities"]
    found: Metrics = {
        MetricKey.ACCURACY: metrics.accuracy(labels, predictions["classes"], weights),
        MetricKey.AUC: _area(probabilities, labels, weights),
        MetricKey.AUC_PR: _area(probabilities, labels, weights, curve="PR"),
    }
    for each in class_ids:
        found |= {
            MetricKey.CLASS_PREDICTION_MEAN % each: _mean(predictions["classes"], weights, each),
            MetricKey.CLASS_LABEL_MEAN % each: _mean(labels, weights, each),
            MetricKey.CLASS_PROBABILITY_MEAN % each: _mean(probabilities, weights, each),
            MetricKey.CLASS_LOGITS_MEAN % each: _mean(predictions["logits"], weights, each),
            MetricKey.CLASS_AUC % each: _area(probabilities, labels, weights, each),
            MetricKey.CLASS_AUC_PR % each: _area(probabilities, labels, weights, each, "PR"),
        }
    return found


def of_probabilities(predictions: Any, labels: Any, thresholds: Sequence[float]) -> Metrics:
    """Means, the area, and rates at thresholds of a model's own probabilities."""
    found: Metrics = {
        MetricKey.PREDICTION_MEAN: metrics.mean(predictions),
        MetricKey.LABEL_MEAN: metrics.mean(labels),
        MetricKey.ACCURACY_BASELINE: metrics.mean(labels),
        MetricKey.AUC: metrics.auc(labels, predictions),
    }
    for threshold in thresholds:
        above = math.cast(math.greater_equal(predictions, threshold), dtypes.float32)
        found[MetricKey.ACCURACY_MEAN % threshold] = metrics.accuracy(labels, above)
        found[MetricKey.PRECISION_MEAN % threshold] = metrics.precision(labels, above)
        found[MetricKey.RECALL_MEAN % threshold] = metrics.recall(labels, above)
    return found
