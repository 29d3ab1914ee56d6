"""Losses of tf.contrib.learn's heads: what is trained on, and the weighted average to report."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import control_dependencies, name_scope
from weft.graph.tensor import Tensor
from weft.ops.array import array
from weft.ops.control.check import Assert
from weft.ops.math import math
from weft.ops.nn.cross_entropy import (
    log_poisson_loss,
    sigmoid_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits,
)
from weft.ops.scores import losses
from weft.ops.scores.weights import broadcast_weights

Losses = tuple[Tensor, Tensor]
LossFn = Callable[..., Losses]


def _averaged(each: Tensor, weights: Any) -> Losses:
    """The mean of weighted losses, and their sum over the sum of the weights."""
    with name_scope("loss", values=(each, weights)) as scope:
        if weights is None:
            mean = math.reduce_mean(each, name=scope)
            return mean, mean
        weights = broadcast_weights(weights, each)
        with name_scope(None, "weighted_loss", (each, weights)) as name:
            weighted = math.multiply(each, weights, name=name)
        total = math.cast(math.reduce_sum(weights), dtypes.float32)
        average = math.div(math.reduce_sum(weighted), total, name="weighted_average_loss")
        return math.reduce_mean(weighted, name=scope), average


def _loss(scope: str) -> Callable[[Callable[..., Tensor]], LossFn]:
    """A loss function of labels, logits and weights, made of one for each example."""

    def decorate(of_each: Callable[..., Tensor]) -> LossFn:
        def loss(labels: Any, logits: Any, weights: Any = None) -> Losses:
            with name_scope(None, scope, (logits, labels)) as name:
                return _averaged(of_each(labels, convert_to_tensor(logits), name), weights)

        return loss

    return decorate


def _column(values: Any) -> Tensor:
    tensor = convert_to_tensor(values)
    return array.expand_dims(tensor, 1) if len(tensor.shape) == 1 else tensor


def _columns(labels: Any, logits: Tensor) -> tuple[Tensor, Tensor]:
    labels, logits = _column(labels), _column(logits)
    logits.shape.assert_is_compatible_with(labels.shape)
    return labels, logits


@_loss("mean_squared_loss")
def mean_squared(labels: Any, logits: Tensor, name: str) -> Tensor:
    """The squared difference."""
    labels, logits = _columns(labels, logits)
    return math.squared_difference(logits, math.cast(labels, dtypes.float32), name=name)


@_loss("_poisson_loss")
def poisson(labels: Any, logits: Tensor, name: str) -> Tensor:
    """The log likelihood of counts whose mean is the exponential of the logits, negated."""
    labels, logits = _columns(labels, logits)
    return log_poisson_loss(labels, logits, compute_full_loss=True, name=name)


@_loss("log_loss_with_two_classes")
def two_classes(labels: Any, logits: Tensor, name: str) -> Tensor:
    """The cross entropy of one logit."""
    labels = _column(math.cast(labels, dtypes.float32))
    return sigmoid_cross_entropy_with_logits(labels=labels, logits=logits, name=name)


@_loss("softmax_cross_entropy_loss")
def many_classes(labels: Any, logits: Tensor, name: str) -> Tensor:
    """The cross entropy of a logit for each class."""
    labels = convert_to_tensor(labels)
    if not labels.dtype.is_integer:
        raise ValueError(f"Labels dtype should be integer Instead got {labels.dtype}.")
    is_column = len(labels.shape) == 2
    flat = array.squeeze(labels, [1]) if is_column else labels
    each = sparse_softmax_cross_entropy_with_logits(labels=flat, logits=logits, name=name)
    return array.expand_dims(each, 1) if is_column else each


@_loss("sigmoid_cross_entropy_loss")
def many_labels(labels: Any, logits: Tensor, name: str) -> Tensor:
    """The cross entropy of classes that do not exclude each other."""
    labels = math.cast(labels, dtypes.float32)
    return sigmoid_cross_entropy_with_logits(labels=labels, logits=logits, name=name)


@_loss("hinge_loss")
def hinge(labels: Any, logits: Tensor, name: str) -> Tensor:
    """How far a logit is from being 1 on the right side."""
    labels = convert_to_tensor(labels)
    message = "labels shape should be either [batch_size, 1] or [batch_size]"
    with control_dependencies([Assert(math.less_equal(array.rank(labels), 2), (message,))]):
        labels = array.reshape(labels, (-1, 1))
    return losses.hinge_loss(labels, logits, scope=name, reduction=losses.Reduction.NONE)


def custom(loss_fn: Callable[..., Any]) -> LossFn:
    """A function of the user's, which makes one loss."""

    def loss(labels: Any, logits: Any, weights: Any = None) -> Losses:
        made = loss_fn(labels, logits) if weights is None else loss_fn(labels, logits, weights)
        return made, made

    return loss
