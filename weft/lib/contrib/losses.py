"""tf.contrib.losses: tf.losses with predictions first, and weights that broadcast from the left."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.lib.contrib import metric_learning as metric_learning
from weft.lib.contrib.framework.arg_scope import add_arg_scope
from weft.ops.array import array, slicing
from weft.ops.array import one_hot_search as select
from weft.ops.math import math
from weft.ops.nn import activations, cross_entropy
from weft.ops.scores import losses as ops

get_losses = ops.get_losses
get_regularization_losses = ops.get_regularization_losses
get_total_loss = ops.get_total_loss
add_loss = add_arg_scope(ops.add_loss)


def compute_weighted_loss(losses: Any, weights: Any = 1.0, scope: str | None = None) -> Tensor:
    """The mean of the losses whose weight is not zero, times their weights."""
    with name_scope(scope, "weighted_loss", [losses, weights]):
        losses = convert_to_tensor(losses)
        given, losses = losses.dtype, math.cast(losses, dtypes.float32)
        weights = math.cast(convert_to_tensor(weights), dtypes.float32)
        for what, tensor in (("losses", losses), ("weights", weights)):
            if tensor.dims is None:
                raise ValueError(f"{what}.get_shape().ndims cannot be None")
        if len(weights.dims) > 1 and weights.dims[-1] in (1, None):
            weights = array.squeeze(weights, [-1])
        total = _weighted_sum(losses, weights)
        count = math.reduce_sum(_present(losses, weights))
        mean = math.div_no_nan(math.reduce_sum(total), count, name="value")
        mean = math.cast(mean, given)
        add_loss(mean)
        return mean


def _weighted_sum(losses: Tensor, weights: Tensor) -> Tensor:
    """The sum of the losses times their weights; axes that the weights lack are summed first."""
    further = list(range(len(weights.shape), len(losses.shape)))
    return math.reduce_sum(math.multiply(math.reduce_sum(losses, axis=further), weights))


def _present(losses: Tensor, weights: Tensor) -> Tensor:
    """How many losses of each example have a weight that is not zero."""
    rank = len(weights.shape)
    if rank == 0:
        first = slicing.slice(array.shape(losses), [0], [1])
        examples = array.reshape(first, [])
        each = math.div(_float(array.size(losses)), _float(examples))
        each = select.where(math.equal(weights, 0), 0.0, each)
        return math.multiply(array.ones(array.reshape(examples, [1])), each)
    counted = math.reduce_sum(_float(math.not_equal(weights, 0)), axis=list(range(1, rank)))
    further = slicing.slice(array.shape(losses), [rank], [-1])
    return math.multiply(counted, _float(math.reduce_prod(further)))


def _float(value: Any) -> Tensor:
    return math.cast(value, dtypes.float32)


def _compared(first: Any, second: Any) -> tuple[Tensor, Tensor]:
    """Two tensors of one shape, as 32-bit floats."""
    first, second = convert_to_tensor(first), convert_to_tensor(second)
    first.shape.assert_is_compatible_with(second.shape)
    return _float(first), _float(second)


@add_arg_scope
def absolute_difference(
    predictions: Any, labels: Any = None, weights: Any = 1.0, scope: str | None = None
) -> Tensor:
    """The distance of each prediction from its label."""
    with name_scope(scope, "absolute_difference", [predictions, labels, weights]) as opened:
        predictions, labels = _compared(predictions, labels)
        apart = math.abs(math.subtract(predictions, labels))
        return compute_weighted_loss(apart, weights, opened)


@add_arg_scope
def mean_squared_error(
    predictions: Any, labels: Any = None, weights: Any = 1.0, scope: str | None = None
) -> Tensor:
    """The square of the distance of each prediction from its label."""
    with name_scope(scope, "mean_squared_error", [predictions, labels, weights]) as opened:
        predictions, labels = _compared(predictions, labels)
        apart = math.squared_difference(predictions, labels)
        return compute_weighted_loss(apart, weights, opened)


@add_arg_scope
def mean_pairwise_squared_error(
    predictions: Any, labels: Any = None, weights: Any = 1.0, scope: str | None = None
) -> Tensor:
    """How much differences between predictions differ from those between labels."""
    with name_scope(scope, "mean_pairwise_squared_error", [predictions, labels, weights]):
        predictions, labels = _compared(predictions, labels)
        weights = _float(convert_to_tensor(weights))
        if weights.dims is None:
            raise ValueError("weights.get_shape().ndims cannot be None")
        apart = math.subtract(predictions, labels)
        axes = list(range(1, apart.shape.ndims))
        squares = math.reduce_sum(math.square(apart), axis=axes)
        count = _present(apart, weights)
        squares = 2.0 * math.div_no_nan(squares, count, name="value")
        total = math.square(math.reduce_sum(apart, axis=axes))
        total = 2.0 * math.div_no_nan(total, math.square(count), name="value")
        loss = _weighted_sum(squares - total, weights)
        some = math.greater(math.reduce_sum(count), 0)
        mean = select.where(some, loss, array.zeros_like(loss), name="value")
        add_loss(mean)
        return mean


@add_arg_scope
def log_loss(
    predictions: Any,
    labels: Any = None,
    weights: Any = 1.0,
    epsilon: float = 1e-7,
    scope: str | None = None,
) -> Tensor:
    """Minus the logarithm of the probability given to the label."""
    with name_scope(scope, "log_loss", [predictions, labels, weights]) as opened:
        predictions, labels = _compared(predictions, labels)
        hit = math.negative(math.multiply(labels, math.log(predictions + epsilon)))
        missed = math.multiply(1 - labels, math.log(1 - predictions + epsilon))
        return compute_weighted_loss(hit - missed, weights, opened)


@add_arg_scope
def hinge_loss(logits: Any, labels: Any = None, scope: str | None = None) -> Tensor:
    """How far each logit is from the right side of the margin, for every example."""
    with name_scope(scope, "hinge_loss", [logits, labels]):
        logits, labels = convert_to_tensor(logits), convert_to_tensor(labels)
        logits.shape.assert_is_compatible_with(labels.shape)
        labels = _float(labels)
        ones = array.ones_like(labels)
        signs = math.subtract(2 * labels, ones)
        return activations.relu(math.subtract(ones, math.multiply(signs, logits)))


@add_arg_scope
def cosine_distance(
    predictions: Any,
    labels: Any = None,
    axis: int | None = None,
    weights: Any = 1.0,
    scope: str | None = None,
    dim: int | None = None,
) -> Tensor:
    """One minus the product of unit vectors."""
    axis = dim if axis is None else axis
    if axis is None:
        raise ValueError("You must specify 'axis'.")
    with name_scope(scope, "cosine_distance_loss", [predictions, labels, weights]) as opened:
        predictions, labels = _compared(predictions, labels)
        apart = 1 - math.reduce_sum(math.multiply(predictions, labels), axis=[axis])
        return compute_weighted_loss(apart, weights, opened)


@add_arg_scope
def sigmoid_cross_entropy(
    logits: Any,
    multi_class_labels: Any,
    weights: Any = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
) -> Tensor:
    """Cross entropy of independent classes."""
    values = [logits, multi_class_labels, weights]
    with name_scope(scope, "sigmoid_cross_entropy_loss", values) as opened:
        logits, labels = convert_to_tensor(logits), convert_to_tensor(multi_class_labels)
        logits.shape.assert_is_compatible_with(labels.shape)
        labels = math.cast(labels, logits.dtype)
        if label_smoothing > 0:
            labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
        each = cross_entropy.sigmoid_cross_entropy_with_logits(
            labels=labels, logits=logits, name="xentropy"
        )
        return compute_weighted_loss(each, weights, opened)


@add_arg_scope
def softmax_cross_entropy(
    logits: Any,
    onehot_labels: Any,
    weights: Any = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
) -> Tensor:
    """Cross entropy of exclusive classes."""
    values = [logits, onehot_labels, weights]
    with name_scope(scope, "softmax_cross_entropy_loss", values) as opened:
        logits, labels = convert_to_tensor(logits), convert_to_tensor(onehot_labels)
        logits.shape.assert_is_compatible_with(labels.shape)
        labels = math.cast(labels, logits.dtype)
        if label_smoothing > 0:
            classes = math.cast(array.shape(labels)[1], logits.dtype)
            apart = label_smoothing / classes
            labels = labels * (1.0 - label_smoothing) + apart
        each = cross_entropy.softmax_cross_entropy_with_logits(
            labels=labels, logits=logits, name="xentropy"
        )
        return compute_weighted_loss(each, weights, opened)


@add_arg_scope
def sparse_softmax_cross_entropy(
    logits: Any, labels: Any, weights: Any = 1.0, scope: str | None = None
) -> Tensor:
    """Cross entropy of exclusive classes that labels give by number."""
    values = [logits, labels, weights]
    with name_scope(scope, "sparse_softmax_cross_entropy_loss", values) as opened:
        labels = convert_to_tensor(labels)
        labels = array.reshape(labels, [array.shape(labels)[0]])
        each = cross_entropy.sparse_softmax_cross_entropy_with_logits(
            labels=labels, logits=logits, name="xentropy"
        )
        return compute_weighted_loss(each, weights, opened)
