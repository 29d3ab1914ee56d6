"""Metrics of forests by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import weft.ops.scores.losses as losses
import weft.ops.scores.metrics as metrics
from weft.core import dtypes
from weft.graph.op_def import raw
from weft.ops.array import array
from weft.ops.array.one_hot_search import one_hot
from weft.ops.math import math
from weft.ops.nn.activations import in_top_k

INFERENCE_PROB_NAME, INFERENCE_PRED_NAME = "probabilities", "classes"
FEATURE_IMPORTANCE_NAME = "global_feature_importance"
_THRESHOLDS = np.arange(0, 1, 0.01, dtype=np.float32)


def _one_hot(targets: Any, probabilities: Any) -> Any:
    classes = math.cast(array.squeeze(targets, [1]), dtypes.int32)
    return one_hot(classes, array.shape(probabilities)[1])


def _of_second_class(probabilities: Any) -> Any:
    return probabilities[:, 1:2]


def _r2(scores: Any, targets: Any, weights: Any = None) -> Any:
    targets = math.cast(targets, dtypes.float32)
    total = math.reduce_sum(raw.SquaredDifference(targets, math.reduce_mean(targets, 0)), 0)
    left = math.reduce_sum(raw.SquaredDifference(targets, scores), 0)
    return metrics.mean(1 - math.reduce_sum(left / total), weights=weights)


def _top_5(probabilities: Any, targets: Any) -> Any:
    targets = math.cast(array.reshape(targets, [-1]), dtypes.int32)
    return metrics.mean(math.cast(in_top_k(probabilities, targets, 5), dtypes.float32))


def _labelled(metric: Callable[..., Any], shown: Callable[[Any], Any] = lambda x: x,
              **options: Any) -> Callable[..., Any]:  # fmt: skip
    def measure(predictions: Any, targets: Any, weights: Any = None) -> Any:
        return metric(labels=targets, predictions=shown(predictions), weights=weights, **options)

    return measure


def _mean_loss(loss: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def measure(probabilities: Any, targets: Any, weights: Any = None) -> Any:
        return metrics.mean(loss(probabilities, targets), weights=weights)

    return measure


# Name -> (the metric, the prediction that it looks at)
_METRICS: dict[str, tuple[Any, str]] = {
    "accuracy": (_labelled(metrics.accuracy), "classes"),
    "auc": (_labelled(metrics.auc, _of_second_class), "probabilities"),
    "classification_log_loss": (
        _mean_loss(lambda p, t: losses.log_loss(_one_hot(t, p), p)), "probabilities",
    ),
    "precision": (_labelled(metrics.precision), "classes"),
    "precision_at_thresholds": (
        _labelled(metrics.precision_at_thresholds, _of_second_class, thresholds=_THRESHOLDS),
        "probabilities",
    ),
    "predictions": (lambda predictions, targets, **kwargs: predictions, "classes"),
    "r2": (_r2, "scores"),
    "recall": (_labelled(metrics.recall), "classes"),
    "recall_at_thresholds": (
        _labelled(metrics.recall_at_thresholds, _of_second_class, thresholds=_THRESHOLDS),
        "probabilities",
    ),
    "sigmoid_entropy": (
        _mean_loss(lambda p, t: losses.sigmoid_cross_entropy(_one_hot(t, p), p)), "probabilities",
    ),
    "softmax_entropy": (
        _mean_loss(lambda p, t: losses.sparse_softmax_cross_entropy(math.cast(t, dtypes.int32), p)),
        "probabilities",
    ),
    "top_5": (_top_5, "probabilities"),
}  # fmt: skip


def get_metric(metric_name: str) -> Any:
    """The function that computes a metric."""
    return _METRICS[metric_name][0]


def get_prediction_key(metric_name: str) -> str:
    """The key of the prediction that a metric looks at."""
    return _METRICS[metric_name][1]
