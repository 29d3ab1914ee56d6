"""tf.estimator.MultiClassHead: a logit for each of several classes, of which one is right."""

from __future__ import annotations

from typing import Any

from weft.graph.convert import convert_to_tensor
from weft.graph.graph import control_dependencies, name_scope
from weft.graph.tensor import Tensor
from weft.lib.estimator.heads import measures
from weft.lib.estimator.heads.base import (
    CLASSIFY_SERVING_KEY,
    DEFAULT_SERVING_KEY,
    SUM_OVER_BATCH_SIZE,
    StandardHead,
)
from weft.lib.estimator.heads.binary import check_vocabulary
from weft.lib.estimator.heads.classes import (
    class_predictions,
    classification_output,
    integer_labels,
    selected,
)
from weft.lib.estimator.heads.keys import MetricKeys, PredictionKeys
from weft.lib.estimator.heads.measures import Ops
from weft.lib.estimator.heads.shapes import check_labels, check_logits, check_range
from weft.lib.saved_model.export_outputs import ExportOutput
from weft.ops.array.shape import expand_dims
from weft.ops.control.check import assert_greater
from weft.ops.control.control import no_op
from weft.ops.scores.losses import Reduction, sparse_softmax_cross_entropy


class MultiClassHead(StandardHead):
    """Labels are numbers or names of classes; the loss is the softmax cross entropy."""

    def __init__(
        self,
        n_classes: int,
        weight_column: Any = None,
        label_vocabulary: Any = None,
        loss_reduction: str = SUM_OVER_BATCH_SIZE,
        loss_fn: Any = None,
        name: str | None = None,
    ) -> None:
        if n_classes is None:
            raise ValueError("n_classes cannot be None")
        check_vocabulary(label_vocabulary)
        self._check_length(label_vocabulary, n_classes)
        if n_classes <= 2:
            raise ValueError(f"n_classes must be > 2: {n_classes}.")
        self._n_classes, self._label_vocabulary = n_classes, label_vocabulary
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        self._check_in_graph()

    def _check_in_graph(self) -> None:
        """TensorFlow's nodes for the same check; seeds count them."""
        given = convert_to_tensor(self._n_classes)
        with control_dependencies(
            [assert_greater(given, 2, message="n_classes must be greater than 2")]
        ):
            no_op()

    def _check_length(self, vocabulary: Any, n_classes: int) -> None:
        if vocabulary is not None and len(vocabulary) != n_classes:
            raise ValueError(
                '"label_vocabulary" does not have "n_classes" items. len(label_vocabulary)='
                f"{len(vocabulary)}, n_classes={n_classes}, label_vocabulary={vocabulary}"
            )

    @property
    def logits_dimension(self) -> int:
        return self._n_classes

    def _labels(self, logits: Tensor, labels: Any) -> Tensor:
        labels = integer_labels(check_labels(labels, logits, 1), self._label_vocabulary)
        return check_range(labels, self._n_classes)

    def _default_loss(self, labels: Tensor, logits: Tensor) -> Tensor:
        loss = sparse_softmax_cross_entropy(labels, logits, reduction=Reduction.NONE)
        return expand_dims(loss, axis=-1)

    def predictions(self, logits: Any, keys: Any = None) -> dict[Any, Tensor]:
        logits = check_logits(logits, self.logits_dimension)
        with name_scope(None, "predictions", (logits,)):
            found = {PredictionKeys.LOGITS: logits}
            found |= class_predictions(logits, self._n_classes, self._label_vocabulary)
            return selected(found, keys)

    def _answers(self, predictions: dict[str, Tensor]) -> dict[str, ExportOutput]:
        probabilities = predictions[PredictionKeys.PROBABILITIES]
        classes = classification_output(probabilities, self._n_classes, self._label_vocabulary)
        return {DEFAULT_SERVING_KEY: classes, CLASSIFY_SERVING_KEY: classes}

    def _metric_names(self) -> list[str]:
        return [MetricKeys.ACCURACY]

    def _metric_ops(
        self, labels: Tensor, predictions: dict[str, Tensor], loss: Tensor, weights: Any
    ) -> dict[str, Ops]:
        classes, key = predictions[PredictionKeys.CLASS_IDS], MetricKeys.ACCURACY
        return {key: measures.accuracy(labels, classes, weights, key)}
