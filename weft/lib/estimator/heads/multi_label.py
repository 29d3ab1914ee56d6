"""tf.estimator.MultiLabelHead: any number of classes may be right at once."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.graph.graph import control_dependencies, name_scope
from weft.graph.slices import SparseTensor
from weft.graph.tensor import Tensor
from weft.lib.estimator.heads import measures
from weft.lib.estimator.heads.base import (
    CLASSIFY_SERVING_KEY,
    DEFAULT_SERVING_KEY,
    SUM_OVER_BATCH_SIZE,
    StandardHead,
)
from weft.lib.estimator.heads.binary import AT_THRESHOLD
from weft.lib.estimator.heads.classes import class_ids_of, classification_output, selected
from weft.lib.estimator.heads.keys import MetricKeys, PredictionKeys
from weft.lib.estimator.heads.measures import Ops
from weft.lib.estimator.heads.shapes import check_labels, check_logits, check_range
from weft.lib.saved_model.export_outputs import ExportOutput
from weft.ops.math.casts import cast
from weft.ops.math.math import sigmoid
from weft.ops.math.reduce import reduce_mean
from weft.ops.scores.losses import Reduction, sigmoid_cross_entropy
from weft.ops.sparse.convert import sparse_to_indicator


class MultiLabelHead(StandardHead):
    """Labels are 0 or 1 for each class, or a SparseTensor of numbers or names of classes."""

    def __init__(
        self,
        n_classes: int,
        weight_column: Any = None,
        thresholds: Any = None,
        label_vocabulary: Any = None,
        loss_reduction: str = SUM_OVER_BATCH_SIZE,
        loss_fn: Any = None,
        classes_for_class_based_metrics: Any = None,
        name: str | None = None,
    ) -> None:
        if n_classes is None or n_classes < 2:
            raise ValueError(
                f"n_classes must be > 1 for multi-label classification. Given: {n_classes}"
            )
        self._thresholds = tuple(thresholds) if thresholds else ()
        for threshold in self._thresholds:
            if threshold <= 0.0 or threshold >= 1.0:
                raise ValueError(f"thresholds must be in (0, 1) range. Given: {threshold}")
        _check_vocabulary(label_vocabulary, n_classes)
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        self._n_classes, self._label_vocabulary = n_classes, label_vocabulary
        self._classes = self._class_numbers(classes_for_class_based_metrics or ())

    def _class_numbers(self, classes: Any) -> tuple[int, ...]:
        classes, vocabulary = tuple(classes), self._label_vocabulary
        if classes and isinstance(classes[0], str):
            if not vocabulary:
                raise ValueError(
                    "label_vocabulary must be provided when classes_for_class_based_metrics are "
                    "sting."
                )
            return tuple(vocabulary.index(each) for each in classes)
        for each in classes:
            if each < 0 or each >= self._n_classes:
                raise ValueError(
                    "All classes_for_class_based_metrics must be in range [0, "
                    f"{self._n_classes - 1}]. Given: {each}"
                )
        return classes

    @property
    def logits_dimension(self) -> int:
        return self._n_classes

    def _labels(self, logits: Tensor, labels: Any) -> Tensor:
        if isinstance(labels, SparseTensor):
            labels = self._indicators(labels)
        elif labels is not None:
            message = "labels must be an integer indicator Tensor with values in [0, 1]"
            labels = check_range(labels, 2, message)
        return check_labels(labels, logits, self._n_classes)

    def _indicators(self, labels: SparseTensor) -> Tensor:
        """0 or 1 for each class, from the classes that are there."""
        ids, count = labels.values, self._n_classes
        if labels.dtype == dtypes.string:
            ids = class_ids_of(ids, self._label_vocabulary)
        elif not ids.dtype.is_integer:
            raise ValueError(f"Labels dtype should be integer. Instead got {ids.dtype}.")
        else:
            message = f"labels must be an integer SparseTensor with values in [0, {count})"
            ids = check_range(ids, count, message)
        with control_dependencies([ids]):
            sparse = SparseTensor(labels.indices, ids, labels.dense_shape)
            return cast(sparse_to_indicator(sparse, count), dtypes.int64)

    def _default_loss(self, labels: Tensor, logits: Tensor) -> Tensor:
        loss = sigmoid_cross_entropy(labels, logits, reduction=Reduction.NONE)
        return reduce_mean(loss, axis=-1, keepdims=True)

    def predictions(self, logits: Any, keys: Any = None) -> dict[Any, Tensor]:
        checked, key = check_logits(logits, self.logits_dimension), PredictionKeys.PROBABILITIES
        found = {PredictionKeys.LOGITS: checked}
        with name_scope(None, "predictions", (checked,)):
            found[key] = sigmoid(checked, name=key)
        return selected(found, keys)

    def _answers(self, predictions: dict[str, Tensor]) -> dict[str, ExportOutput]:
        probabilities = predictions[PredictionKeys.PROBABILITIES]
        classes = classification_output(probabilities, self._n_classes, self._label_vocabulary)
        return {DEFAULT_SERVING_KEY: classes, CLASSIFY_SERVING_KEY: classes}

    # ---- metrics ----

    def _class_keys(self, number: int) -> tuple[str, str, str]:
        """How the mean probability of a class is called, and its areas under curves."""
        keys, vocabulary = MetricKeys, self._label_vocabulary
        if vocabulary is None:
            found = (keys.PROBABILITY_MEAN_AT_CLASS, keys.AUC_AT_CLASS, keys.AUC_PR_AT_CLASS)
        else:
            found = (keys.PROBABILITY_MEAN_AT_NAME, keys.AUC_AT_NAME, keys.AUC_PR_AT_NAME)
        which = number if vocabulary is None else vocabulary[number]
        return found[0] % which, found[1] % which, found[2] % which

    def _metric_names(self) -> list[str]:
        named = [MetricKeys.AUC, MetricKeys.AUC_PR]
        named += [key % each for each in self._thresholds for key in AT_THRESHOLD.values()]
        return named + [key for number in self._classes for key in self._class_keys(number)]

    def _metric_ops(
        self, labels: Tensor, predictions: dict[str, Tensor], loss: Tensor, weights: Any
    ) -> dict[str, Ops]:
        careful, values = self._careful, predictions[PredictionKeys.PROBABILITIES]

        def auc(number: Any, curve: str, name: str) -> Ops:
            chosen = (labels, values) if number is None else _columns(labels, values, number)
            return measures.auc(*chosen, weights, curve, name, careful)

        ops = {
            MetricKeys.AUC: auc(None, "ROC", MetricKeys.AUC),
            MetricKeys.AUC_PR: auc(None, "PR", MetricKeys.AUC_PR),
        }
        for threshold in self._thresholds:
            for kind, key in AT_THRESHOLD.items():
                name = key % threshold
                ops[name] = measures.at_threshold(
                    kind, labels, values, weights, threshold, name, careful
                )
        for number in self._classes:
            mean, roc, pr = self._class_keys(number)
            _, column = _columns(labels, values, number)
            ops[mean] = measures.predictions_mean(column, weights, mean)
            ops[roc], ops[pr] = auc(number, "ROC", roc), auc(number, "PR", pr)
        return ops


def _columns(labels: Tensor, values: Tensor, number: int) -> tuple[Tensor, Tensor]:
    """The columns of labels and values of one class."""
    return labels[..., number : number + 1], values[..., number : number + 1]


def _check_vocabulary(vocabulary: Any, n_classes: int) -> None:
    if vocabulary is None:
        return
    if not isinstance(vocabulary, (list, tuple)):
        raise ValueError(
            f"label_vocabulary must be a list or tuple. Given type: {type(vocabulary)}"
        )
    if len(vocabulary) != n_classes:
        raise ValueError(
            f"Length of label_vocabulary must be n_classes ({n_classes}). Given: {len(vocabulary)}"
        )
