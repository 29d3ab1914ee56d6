"""Losses of examples that have a second derivative."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.graph.tensor import Tensor
from weft.ops.array import array
from weft.ops.array.one_hot_search import one_hot, where
from weft.ops.control.control import no_op
from weft.ops.math import casts, math, reduce
from weft.ops.nn.cross_entropy import sigmoid_cross_entropy_with_logits


def _weighted(loss: Tensor, weights: Any) -> tuple[Tensor, Any]:
    """(losses times weights, an operation that does nothing)"""
    return loss if weights is None else loss * weights, no_op()


def per_example_logistic_loss(labels: Any, weights: Any, predictions: Any) -> Any:
    """The loss of logits of labels 0 and 1."""
    labels = casts.cast(labels, dtypes.float32)
    loss = sigmoid_cross_entropy_with_logits(labels=labels, logits=predictions)
    return _weighted(loss, weights)


def per_example_squared_loss(labels: Any, weights: Any, predictions: Any) -> Any:
    """The squared distance of each prediction, summed over its numbers."""
    difference = predictions - casts.cast(labels, dtypes.float32)
    return _weighted(reduce.reduce_sum(math.square(difference), 1, keepdims=True), weights)


def per_example_quantile_regression_loss(
    labels: Any, weights: Any, predictions: Any, quantile: float
) -> Any:
    """The loss whose minimum is a quantile, squared where it is less than 1."""
    error = casts.cast(labels, dtypes.float32) - predictions

    def smooth(slope: float) -> Tensor:
        side = slope * error
        return where(side < 1.0, math.square(side), side)

    return _weighted(where(error > 0, smooth(quantile), smooth(quantile - 1)), weights)


def per_example_maxent_loss(
    labels: Any, weights: Any, logits: Any, num_classes: int, eps: float = 1e-15
) -> Any:
    """Minus the logarithm of the probability of the right class."""
    labels = casts.cast(labels, dtypes.int64)
    if len(labels.shape) != 2:
        labels = array.expand_dims(labels, 1)
    right = casts.cast(reduce.reduce_sum(one_hot(labels, num_classes), axis=[1]), dtypes.float32)
    powers = math.exp(logits)
    shares = powers / (reduce.reduce_sum(powers, 1, keepdims=True) + eps)
    told = reduce.reduce_sum(right * shares, 1)
    low, high = (array.zeros_like(told) + limit for limit in (eps, 1 - eps))
    told = where(told >= eps, told, low)
    told = where(told <= 1 - eps, told, high)
    return _weighted(array.expand_dims(-math.log(told), 1), weights)
