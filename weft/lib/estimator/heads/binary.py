"""tf.estimator.BinaryClassHead: one logit, two classes."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.graph.graph import name_scope
from weft.graph.tensor import Tensor
from weft.lib.estimator.heads import measures
from weft.lib.estimator.heads.base import (
    CLASSIFY_SERVING_KEY,
    DEFAULT_SERVING_KEY,
    REGRESS_SERVING_KEY,
    SUM_OVER_BATCH_SIZE,
    StandardHead,
)
from weft.lib.estimator.heads.classes import (
    class_ids_of,
    class_predictions,
    classification_output,
    selected,
)
from weft.lib.estimator.heads.keys import MetricKeys, PredictionKeys
from weft.lib.estimator.heads.measures import Ops
from weft.lib.estimator.heads.shapes import check_labels, check_logits, check_range
from weft.lib.saved_model.export_outputs import ExportOutput, RegressionOutput
from weft.ops.array.fill import zeros_like
from weft.ops.array.join import concat
from weft.ops.math.casts import cast
from weft.ops.math.math import sigmoid
from weft.ops.nn.cross_entropy import sigmoid_cross_entropy_with_logits
from weft.ops.scores.metrics_counts import precision, recall

AT_THRESHOLD = {
    "accuracy": MetricKeys.ACCURACY_AT_THRESHOLD,
    "precision": MetricKeys.PRECISION_AT_THRESHOLD,
    "recall": MetricKeys.RECALL_AT_THRESHOLD,
}


def checked_thresholds(thresholds: Any) -> tuple[float, ...]:
    thresholds = tuple(thresholds) if thresholds else ()
    for threshold in thresholds:
        if threshold <= 0.0 or threshold >= 1.0:
            raise ValueError(f"thresholds not in (0, 1): {(thresholds,)}.")
    return thresholds


def check_vocabulary(label_vocabulary: Any) -> None:
    if label_vocabulary is not None and not isinstance(label_vocabulary, (list, tuple)):
        raise ValueError(
            f"label_vocabulary should be a list or a tuple. Given type: {type(label_vocabulary)}"
        )


class BinaryClassHead(StandardHead):
    """Labels are 0 or 1, or one of two names; the loss is the sigmoid cross entropy."""

    def __init__(
        self,
        weight_column: Any = None,
        thresholds: Any = None,
        label_vocabulary: Any = None,
        loss_reduction: str = SUM_OVER_BATCH_SIZE,
        loss_fn: Any = None,
        name: str | None = None,
    ) -> None:
        check_vocabulary(label_vocabulary)
        self._thresholds = checked_thresholds(thresholds)
        self._label_vocabulary = label_vocabulary
        super().__init__(weight_column, loss_reduction, loss_fn, name)

    @property
    def logits_dimension(self) -> int:
        return 1

    def _labels(self, logits: Tensor, labels: Any) -> Tensor:
        labels = check_labels(labels, logits, 1)
        if self._label_vocabulary is not None:
            labels = class_ids_of(labels, self._label_vocabulary)
        return check_range(cast(labels, dtypes.float32, name="ToFloat"), n_classes=2)

    def _default_loss(self, labels: Tensor, logits: Tensor) -> Tensor:
        return sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)

    def predictions(self, logits: Any, keys: Any = None) -> dict[Any, Tensor]:
        logits = check_logits(logits, self.logits_dimension)
        with name_scope(None, "predictions", (logits,)):
            logistic = sigmoid(logits, name=PredictionKeys.LOGISTIC)
            both = concat((zeros_like(logits), logits), axis=-1, name="two_class_logits")
            found = {PredictionKeys.LOGITS: logits, PredictionKeys.LOGISTIC: logistic}
            found |= class_predictions(both, 2, self._label_vocabulary)
            return selected(found, keys)

    def _answers(self, predictions: dict[str, Tensor]) -> dict[str, ExportOutput]:
        probabilities = predictions[PredictionKeys.PROBABILITIES]
        classes = classification_output(probabilities, 2, self._label_vocabulary)
        return {
            DEFAULT_SERVING_KEY: classes,
            CLASSIFY_SERVING_KEY: classes,
            REGRESS_SERVING_KEY: RegressionOutput(predictions[PredictionKeys.LOGISTIC]),
        }

    def _metric_names(self) -> list[str]:
        keys = MetricKeys
        named = [keys.ACCURACY, keys.PRECISION, keys.RECALL, keys.PREDICTION_MEAN]
        named += [keys.LABEL_MEAN, keys.ACCURACY_BASELINE, keys.AUC, keys.AUC_PR]
        return named + [key % each for each in self._thresholds for key in AT_THRESHOLD.values()]

    def _metric_ops(
        self, labels: Tensor, predictions: dict[str, Tensor], loss: Tensor, weights: Any
    ) -> dict[str, Ops]:
        keys, careful = MetricKeys, self._careful
        classes = predictions[PredictionKeys.CLASS_IDS]
        logistic = predictions[PredictionKeys.LOGISTIC]
        mean = measures.labels_mean(labels, weights, keys.LABEL_MEAN)
        ops = {
            keys.ACCURACY: measures.accuracy(labels, classes, weights, keys.ACCURACY),
            keys.PRECISION: precision(labels, classes, weights, name=keys.PRECISION),
            keys.RECALL: recall(labels, classes, weights, name=keys.RECALL),
            keys.PREDICTION_MEAN: measures.predictions_mean(
                logistic, weights, keys.PREDICTION_MEAN
            ),
            keys.LABEL_MEAN: mean,
            keys.ACCURACY_BASELINE: measures.accuracy_baseline(mean),
            keys.AUC: measures.auc(labels, logistic, weights, "ROC", keys.AUC, careful),
            keys.AUC_PR: measures.auc(labels, logistic, weights, "PR", keys.AUC_PR, careful),
        }
        for threshold in self._thresholds:
            for kind, key in AT_THRESHOLD.items():
                name = key % threshold
                ops[name] = measures.at_threshold(
                    kind, labels, logistic, weights, threshold, name, careful
                )
        return ops
