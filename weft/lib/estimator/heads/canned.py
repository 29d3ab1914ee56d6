"""The heads of the canned estimators: those of TensorFlow 1, which sum the losses of a batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.graph.graph import GraphKeys, get_collection
from weft.lib.estimator.heads.base import Head, Losses, StandardHead
from weft.lib.estimator.heads.binary import BinaryClassHead
from weft.lib.estimator.heads.keys import MetricKeys
from weft.lib.estimator.heads.multi_class import MultiClassHead
from weft.lib.estimator.heads.multi_label import MultiLabelHead
from weft.lib.estimator.heads.regression import RegressionHead
from weft.lib.estimator.heads.shapes import check_logits
from weft.lib.estimator.spec import EstimatorSpec
from weft.ops.array.fill import ones_like
from weft.ops.math.reduce import reduce_sum
from weft.ops.scores.losses import Reduction


class _CannedHead(StandardHead):
    """A head of a canned Estimator; it differs from the heads of `tf.estimator`.

    Updates that layers left in the graph's collection run with every step, and where losses are
    summed, their mean is written as a summary.
    """

    _careful = False

    def _check_reduction(self, reduction: str) -> None:
        if reduction not in Reduction.all() or reduction == Reduction.NONE:
            raise ValueError(f"Invalid loss_reduction: {reduction}")

    def create_loss(self, features: Any, mode: Any, logits: Any, labels: Any) -> Losses:
        """The loss of a batch, and of its examples, with weights and labels."""
        return self._losses(features, check_logits(logits, self.logits_dimension), labels)

    def create_estimator_spec(  # type: ignore[override]
        self,
        features: Any,
        mode: Any,
        logits: Any,
        labels: Any = None,
        optimizer: Any = None,
        train_op_fn: Callable[[Any], Any] | None = None,
        regularization_losses: Any = None,
    ) -> EstimatorSpec:
        return super().create_estimator_spec(
            features,
            mode,
            logits,
            labels,
            optimizer,
            None,
            train_op_fn,
            get_collection(GraphKeys.UPDATE_OPS),
            regularization_losses,
        )

    def _summaries(self, loss: Any, losses: Losses, regularization: Any) -> dict[str, Any]:
        found = super()._summaries(loss, losses, regularization)
        if self._loss_reduction == Reduction.SUM:
            total = reduce_sum(losses.weights * ones_like(losses.unreduced_loss))
            found[MetricKeys.LOSS_MEAN] = losses.training_loss / total
        return found


class CannedBinaryHead(_CannedHead, BinaryClassHead):
    """The head for two classes of an Estimator that weft brings."""

    pass


class CannedMultiClassHead(_CannedHead, MultiClassHead):
    """The head for several classes, of which one holds, of an Estimator that weft brings."""

    def _check_length(self, vocabulary: Any, n_classes: int) -> None:
        """Any vocabulary will do: labels are checked when they come."""


class CannedMultiLabelHead(_CannedHead, MultiLabelHead):
    """The head for several classes, of which any may hold, of an Estimator that weft brings."""

    pass


class CannedRegressionHead(_CannedHead, RegressionHead):
    """The head for numbers of an Estimator that weft brings."""

    pass


def classification_head(
    n_classes: int, weight_column: Any, label_vocabulary: Any, loss_reduction: str
) -> Head:
    """The head of a classifier with so many classes."""
    options: Any = {
        "weight_column": weight_column,
        "label_vocabulary": label_vocabulary,
        "loss_reduction": loss_reduction,
    }
    if n_classes == 2:
        return CannedBinaryHead(**options)
    return CannedMultiClassHead(n_classes, **options)


def regression_head(label_dimension: int, weight_column: Any, loss_reduction: str) -> Head:
    """The head of a regressor."""
    return CannedRegressionHead(label_dimension, weight_column, loss_reduction)
