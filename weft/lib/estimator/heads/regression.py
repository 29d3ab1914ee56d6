"""tf.estimator.RegressionHead and its relatives: logits, or a function of them, are the answer."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.graph.graph import name_scope
from weft.graph.tensor import Tensor
from weft.lib.estimator.heads import measures
from weft.lib.estimator.heads.base import (
    DEFAULT_SERVING_KEY,
    REGRESS_SERVING_KEY,
    SUM_OVER_BATCH_SIZE,
    StandardHead,
)
from weft.lib.estimator.heads.classes import selected
from weft.lib.estimator.heads.keys import MetricKeys, PredictionKeys
from weft.lib.estimator.heads.measures import Ops
from weft.lib.estimator.heads.shapes import check_labels, check_logits, check_range
from weft.lib.saved_model.export_outputs import ExportOutput, RegressionOutput
from weft.ops.math.casts import cast
from weft.ops.math.math import sigmoid
from weft.ops.math.unary import exp
from weft.ops.nn.cross_entropy import log_poisson_loss, sigmoid_cross_entropy_with_logits
from weft.ops.scores.losses import Reduction, mean_squared_error


class RegressionHead(StandardHead):
    """The loss is the squared error, unless a program brings its own."""

    _per_logit_weights = True

    def __init__(
        self,
        label_dimension: int = 1,
        weight_column: Any = None,
        loss_reduction: str = SUM_OVER_BATCH_SIZE,
        loss_fn: Any = None,
        inverse_link_fn: Any = None,
        name: str | None = None,
    ) -> None:
        if label_dimension < 1:
            raise ValueError(f"Invalid label_dimension {label_dimension}.")
        self._loss_dimension = label_dimension
        self._inverse_link_fn = inverse_link_fn
        super().__init__(weight_column, loss_reduction, loss_fn, name)

    @property
    def logits_dimension(self) -> int:
        return self._loss_dimension

    def _labels(self, logits: Tensor, labels: Any) -> Tensor:
        return cast(check_labels(labels, logits, self.logits_dimension), dtypes.float32)

    def _default_loss(self, labels: Tensor, logits: Tensor) -> Tensor:
        return mean_squared_error(labels, logits, reduction=Reduction.NONE)

    def predictions(self, logits: Any, keys: Any = None) -> dict[Any, Tensor]:
        logits = check_logits(logits, self.logits_dimension)
        with name_scope(None, "predictions", (logits,)):
            if not self._inverse_link_fn:
                return selected({PredictionKeys.PREDICTIONS: logits}, keys)
            value = self._inverse_link_fn(logits)
        found = {PredictionKeys.PREDICTIONS: value, PredictionKeys.LOGITS: logits}
        return selected(found, keys)

    def _answers(self, predictions: dict[str, Tensor]) -> dict[str, ExportOutput]:
        value = RegressionOutput(predictions[PredictionKeys.PREDICTIONS])
        return {DEFAULT_SERVING_KEY: value, REGRESS_SERVING_KEY: value}

    def _metric_names(self) -> list[str]:
        return [MetricKeys.PREDICTION_MEAN, MetricKeys.LABEL_MEAN]

    def _metric_ops(
        self, labels: Tensor, predictions: dict[str, Tensor], loss: Tensor, weights: Any
    ) -> dict[str, Ops]:
        value, key = predictions[PredictionKeys.PREDICTIONS], MetricKeys.PREDICTION_MEAN
        return {
            key: measures.predictions_mean(value, weights, key),
            MetricKeys.LABEL_MEAN: measures.mean(labels, weights),
        }


def poisson_loss(full: bool) -> Any:
    """The loss of counts, given the logarithm of what is expected."""

    def loss_fn(labels: Any, logits: Any) -> Tensor:
        return log_poisson_loss(targets=labels, log_input=logits, compute_full_loss=full)

    return loss_fn


def logistic_loss(labels: Any, logits: Any) -> Tensor:
    """The sigmoid cross entropy of labels anywhere between 0 and 1."""
    labels = check_range(labels, n_classes=2, message="Labels must be in range [0, 1]")
    return sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)


class PoissonRegressionHead(RegressionHead):
    """Predicts counts: the exponential of the logits."""

    def __init__(
        self,
        label_dimension: int = 1,
        weight_column: Any = None,
        loss_reduction: str = SUM_OVER_BATCH_SIZE,
        compute_full_loss: bool = True,
        name: str | None = None,
    ) -> None:
        loss_fn = poisson_loss(compute_full_loss)
        super().__init__(label_dimension, weight_column, loss_reduction, loss_fn, exp, name)


class LogisticRegressionHead(RegressionHead):
    """Predicts probabilities: the sigmoid of the logits."""

    def __init__(
        self,
        weight_column: Any = None,
        loss_reduction: str = SUM_OVER_BATCH_SIZE,
        name: str | None = None,
    ) -> None:
        super().__init__(1, weight_column, loss_reduction, logistic_loss, sigmoid, name)
