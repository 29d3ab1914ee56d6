"""Names of `tensorflow.python.estimator.canned.head`: heads that sum the losses of a batch."""

from __future__ import annotations

from typing import Any

from weft.lib.contrib import estimator
from weft.lib.estimator.heads.base import Head as _Head
from weft.lib.estimator.heads.base import Losses as LossSpec
from weft.lib.estimator.heads.canned import (
    classification_head as _binary_logistic_or_multi_class_head,
)
from weft.ops.scores.losses import Reduction

_SUM = Reduction.SUM


def _binary_logistic_head_with_sigmoid_cross_entropy_loss(
    weight_column: Any = None,
    thresholds: Any = None,
    label_vocabulary: Any = None,
    loss_reduction: str = _SUM,
    loss_fn: Any = None,
    name: str | None = None,
) -> Any:
    return estimator.binary_classification_head(
        weight_column, thresholds, label_vocabulary, loss_reduction, loss_fn, name
    )


def _multi_class_head_with_softmax_cross_entropy_loss(
    n_classes: int,
    weight_column: Any = None,
    label_vocabulary: Any = None,
    loss_reduction: str = _SUM,
    loss_fn: Any = None,
    name: str | None = None,
) -> Any:
    return estimator.multi_class_head(
        n_classes, weight_column, label_vocabulary, loss_reduction, loss_fn, name
    )


def _regression_head(
    weight_column: Any = None,
    label_dimension: int = 1,
    loss_reduction: str = _SUM,
    loss_fn: Any = None,
    inverse_link_fn: Any = None,
    name: str | None = None,
) -> Any:
    return estimator.regression_head(
        weight_column, label_dimension, loss_reduction, loss_fn, inverse_link_fn, name
    )


# The name it had up to TensorFlow 1.7.
_regression_head_with_mean_squared_error_loss = _regression_head

__all__ = ["LossSpec", "_Head", "_binary_logistic_or_multi_class_head"]
