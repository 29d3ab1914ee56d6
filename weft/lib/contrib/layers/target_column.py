"""Targets of models of 2016: how logits become a loss, predictions and metrics."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from weft.core import dtypes
from weft.graph.graph import control_dependencies
from weft.graph.tensor import Tensor
from weft.lib.contrib import losses, metrics
from weft.ops.array import array
from weft.ops.control.control import Assert
from weft.ops.math import math
from weft.ops.nn import cross_entropy
from weft.ops.nn.activations import softmax

LossFn = Callable[[Tensor, Any], Tensor]
MetricFn = Callable[..., Any]


class ProblemType:
    """What a model is for."""

    UNSPECIFIED = 0
    CLASSIFICATION = 1
    LINEAR_REGRESSION = 2
    LOGISTIC_REGRESSION = 3


class TargetColumn:
    """The labels of a model, and what examples count."""

    problem_type = ProblemType.UNSPECIFIED

    def __init__(
        self,
        loss_fn: LossFn,
        num_label_columns: int,
        label_name: str | None = None,
        weight_column_name: str | None = None,
    ) -> None:
        self._loss_fn = loss_fn
        self.num_label_columns = num_label_columns
        self.label_name, self.weight_column_name = label_name, weight_column_name

    def get_weight_tensor(self, features: Any) -> Tensor | None:
        if not self.weight_column_name:
            return None
        weights = math.cast(features[self.weight_column_name], dtypes.float32)
        return array.reshape(weights, (-1,))

    def training_loss(
        self, logits: Any, target: Any, features: Any, name: str = "training_loss"
    ) -> Tensor:
        """The mean of the weighted losses of examples."""
        each, _ = self._losses(logits, target, features)
        return math.reduce_mean(each, name=name)

    def loss(self, logits: Any, target: Any, features: Any) -> Tensor:
        """The weighted mean of the losses of examples."""
        each, weights = self._losses(logits, target, features)
        if weights is None:
            return math.reduce_mean(each, name="loss")
        return math.div(math.reduce_sum(each), math.reduce_sum(weights), name="loss")

    def _losses(self, logits: Any, target: Any, features: Any) -> tuple[Tensor, Tensor | None]:
        if isinstance(target, dict):
            target = target[self.label_name]
        each, weights = self._loss_fn(logits, target), self.get_weight_tensor(features)
        if weights is None:
            return each, None
        return math.multiply(array.reshape(each, (-1,)), weights), weights

    def logits_to_predictions(self, logits: Any, proba: bool = False) -> Tensor:
        raise NotImplementedError

    def get_eval_ops(
        self, features: Any, logits: Any, labels: Any, metrics: Any = None
    ) -> dict[str, Any]:
        """The loss over all batches, and the program's metrics of predictions."""
        result = self._of_loss(features, logits, labels)
        if metrics:
            predictions = self.logits_to_predictions(logits)
            result |= self._measured(features, predictions, labels, metrics)
        return result

    def _of_loss(self, features: Any, logits: Any, labels: Any) -> dict[str, Any]:
        return {"loss": metrics.streaming_mean(self.loss(logits, labels, features))}

    def _measured(
        self, features: Any, predictions: Tensor, labels: Any, chosen: dict[str, MetricFn]
    ) -> dict[str, Any]:
        weights = self.get_weight_tensor(features)
        given = {} if weights is None else {"weights": weights}
        labels = math.cast(labels, predictions.dtype)
        return {name: metric(predictions, labels, **given) for name, metric in chosen.items()}


class RegressionTarget(TargetColumn):
    """Numbers."""

    problem_type = ProblemType.LINEAR_REGRESSION

    def logits_to_predictions(self, logits: Any, proba: bool = False) -> Tensor:
        return array.squeeze(logits, axis=[1]) if self.num_label_columns == 1 else logits


class MultiClassTarget(TargetColumn):
    """Classes; of two, the second has the only logit."""

    problem_type = ProblemType.CLASSIFICATION

    def logits_to_predictions(self, logits: Any, proba: bool = False) -> Tensor:
        if self.num_label_columns == 1:
            logits = array.concat([array.zeros_like(logits), logits], 1)
        return softmax(logits) if proba else math.argmax(logits, 1)

    def get_eval_ops(
        self, features: Any, logits: Any, labels: Any, metrics: Any = None
    ) -> dict[str, Any]:
        """The loss, metrics of two classes, and the program's, of classes or of probabilities."""
        result = self._of_loss(features, logits, labels)
        if self.num_label_columns == 1:
            scores, numbers = math.sigmoid(logits), math.cast(labels, dtypes.float32)
            of_two = get_default_binary_metrics_for_eval(thresholds=[0.5])
            result |= {name: metric(scores, numbers) for name, metric in of_two.items()}
        chosen = _by_kind(_ACCURACY if metrics is None else metrics)
        for kind, named in chosen.items():
            if named:
                predictions = self.logits_to_predictions(logits, proba=kind == "probabilities")
                result |= self._measured(features, predictions, labels, named)
        return result


class BinarySvmTarget(MultiClassTarget):
    """Two classes with a margin between them, which have no probabilities."""

    def logits_to_predictions(self, logits: Any, proba: bool = False) -> Tensor:
        if proba:
            raise ValueError("logits to probabilities is not supported for _BinarySvmTargetColumn")
        return super().logits_to_predictions(logits)


def _by_kind(chosen: dict[Any, MetricFn]) -> dict[str, dict[str, MetricFn]]:
    """Metrics of classes and of probabilities, as (name, kind) or plain names say."""
    found: dict[str, dict[str, MetricFn]] = {"classes": {}, "probabilities": {}}
    for name, metric in chosen.items():
        pair = (name, "classes") if isinstance(name, str) else name
        if not isinstance(pair, tuple):
            raise ValueError(f"Ignoring metric {name}. Its name is not in the correct form.")
        if len(pair) != 2:
            raise ValueError(
                f"Ignoring metric {name}. It returned a tuple with len {len(pair)}, expected 2."
            )
        if pair[1] not in found:
            raise ValueError(
                f"Ignoring metric {name}. The 2nd element of its name should be either 'classes' "
                "or 'probabilities'."
            )
        found[pair[1]][pair[0]] = metric
    return found


# ---- losses of examples ----


def _as_column(target: Any) -> Any:
    return array.expand_dims(target, axis=1) if target.shape.ndims == 1 else target


def _squared(logits: Tensor, target: Any) -> Tensor:
    target = _as_column(target)
    logits.shape.assert_is_compatible_with(target.shape)
    return math.squared_difference(logits, math.cast(target, dtypes.float32))


def _of_two_classes(logits: Tensor, target: Any) -> Tensor:
    labels = math.cast(_as_column(target), dtypes.float32)
    return cross_entropy.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)


def _of_classes(logits: Tensor, target: Any) -> Tensor:
    if not target.dtype.is_integer:
        raise ValueError(f"Target's dtype should be integer Instead got {target.dtype}.")
    if target.shape.ndims == 2:
        target = array.squeeze(target, axis=[1])
    return cross_entropy.sparse_softmax_cross_entropy_with_logits(labels=target, logits=logits)


def _with_margin(logits: Tensor, target: Any) -> Tensor:
    fits = math.less_equal(array.rank(target), 2)
    wrong = "target's shape should be either [batch_size, 1] or [batch_size]"
    with control_dependencies([Assert(fits, [wrong])]):
        target = array.reshape(target, [array.shape(target)[0], 1])
    return losses.hinge_loss(logits, target)


# ---- the targets ----


def regression_target(
    label_name: str | None = None, weight_column_name: str | None = None, label_dimension: int = 1
) -> RegressionTarget:
    """Numbers, with the squared error."""
    return RegressionTarget(_squared, label_dimension, label_name, weight_column_name)


def multi_class_target(
    n_classes: int, label_name: str | None = None, weight_column_name: str | None = None
) -> MultiClassTarget:
    """Classes, with the cross entropy."""
    if n_classes < 2:
        raise ValueError("n_classes must be > 1 for classification.")
    loss_fn, width = (_of_two_classes, 1) if n_classes == 2 else (_of_classes, n_classes)
    return MultiClassTarget(loss_fn, width, label_name, weight_column_name)


def binary_svm_target(
    label_name: str | None = None, weight_column_name: str | None = None
) -> BinarySvmTarget:
    """Two classes, with the hinge loss."""
    return BinarySvmTarget(_with_margin, 1, label_name, weight_column_name)


# ---- metrics ----


_ACCURACY = {("accuracy", "classes"): metrics.streaming_accuracy}


def get_default_binary_metrics_for_eval(thresholds: Any) -> dict[str, MetricFn]:
    """Metrics of two classes, of scores and labels, by name."""
    found: dict[str, MetricFn] = {
        "labels/prediction_mean": lambda scores, labels, weights=None: metrics.streaming_mean(
            scores, weights=weights
        ),
        "labels/actual_target_mean": _mean_of_labels,
        "accuracy/baseline_target_mean": _mean_of_labels,
        "auc": metrics.streaming_auc,
    }
    at = {
        "precision": metrics.streaming_precision_at_thresholds,
        "recall": metrics.streaming_recall_at_thresholds,
    }
    for threshold in thresholds:
        found[f"accuracy/threshold_{threshold:f}_mean"] = functools.partial(_accuracy, threshold)
        for name, metric in at.items():
            full = f"{name}/positive_threshold_{threshold:f}_mean"
            found[full] = functools.partial(_at, metric, threshold)
    return found


def _mean_of_labels(scores: Any, labels: Any, weights: Any = None) -> Any:
    return metrics.streaming_mean(labels, weights=weights)


def _accuracy(threshold: float, scores: Any, labels: Any, weights: Any = None) -> Any:
    guesses = math.cast(math.greater_equal(scores, threshold), dtypes.float32)
    return metrics.streaming_accuracy(guesses, labels, weights=weights)


def _at(metric: MetricFn, threshold: float, scores: Any, labels: Any, weights: Any = None) -> Any:
    value, update = metric(scores, labels, thresholds=[threshold], weights=weights)
    return array.squeeze(value), update
