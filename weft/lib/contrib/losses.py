"""tf.contrib.losses: tf.losses with predictions first, and weights that broadcast from the left."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.lib.contrib import metric_learning as metric_learning
from weft.lib.contrib.framework.arg_scope import add_arg_scope
from weft.ops.array import array
from weft.ops.array import one_hot_search as select
from weft.ops.math import math
from weft.ops.scores import losses as ops

get_losses = ops.get_losses
get_regularization_losses = ops.get_regularization_losses
get_total_loss = ops.get_total_loss
add_loss = add_arg_scope(ops.add_loss)


def _from_the_left(weights: Any, rank: int | None) -> Tensor:
    """Weights of fewer axes than the losses get axes of size 1 at the end."""
    weights = convert_to_tensor(weights)
    dims = weights.dims
    if dims is None:
        raise ValueError("weights.get_shape().ndims cannot be None")
    if len(dims) > 1 and dims[-1] == 1:
        weights, dims = array.squeeze(weights, [-1]), dims[:-1]
    if not dims or rank is None or len(dims) >= rank:
        return weights
    for _ in range(rank - len(dims)):
        weights = array.expand_dims(weights, -1)
    return weights


def compute_weighted_loss(losses: Any, weights: Any = 1.0, scope: str | None = None) -> Tensor:
    """The mean of the losses whose weight is not zero, times their weights."""
    losses = convert_to_tensor(losses)
    weights = _from_the_left(weights, losses.shape.ndims)
    loss = ops.compute_weighted_loss(losses, weights, scope, loss_collection=None)
    add_loss(loss)
    return loss


def _weighted(
    loss: Callable[..., Tensor],
    name: str,
    labels: Any,
    predictions: Any,
    weights: Any,
    scope: str | None,
    **settings: Any,
) -> Tensor:
    """The tf.losses function `loss`, its result weighted from the left."""
    with name_scope(scope, name, [predictions, labels, weights]) as opened:
        each = loss(
            labels,
            predictions,
            scope=opened,
            loss_collection=None,
            reduction=ops.Reduction.NONE,
            **settings,
        )
        return compute_weighted_loss(each, weights, opened)


@add_arg_scope
def absolute_difference(
    predictions: Any, labels: Any = None, weights: Any = 1.0, scope: str | None = None
) -> Tensor:
    """The distance of each prediction from its label."""
    return _weighted(
        ops.absolute_difference, "absolute_difference", labels, predictions, weights, scope
    )


@add_arg_scope
def mean_squared_error(
    predictions: Any, labels: Any = None, weights: Any = 1.0, scope: str | None = None
) -> Tensor:
    """The square of the distance of each prediction from its label."""
    return _weighted(
        ops.mean_squared_error, "mean_squared_error", labels, predictions, weights, scope
    )


@add_arg_scope
def mean_pairwise_squared_error(
    predictions: Any, labels: Any = None, weights: Any = 1.0, scope: str | None = None
) -> Tensor:
    """How much differences between predictions differ from those between labels."""
    with name_scope(scope, "mean_pairwise_squared_error", [predictions, labels, weights]):
        predictions, labels = (math.cast(x, dtypes.float32) for x in (predictions, labels))
        predictions.shape.assert_is_compatible_with(labels.shape)
        weights = math.cast(_from_the_left(weights, None), dtypes.float32)
        apart = math.subtract(predictions, labels)
        axes = list(range(1, apart.shape.ndims))
        wide = _from_the_left(weights, apart.shape.ndims) * array.ones_like(apart)
        present = math.cast(math.not_equal(wide, 0), dtypes.float32)
        count = math.reduce_sum(present, axis=axes)
        squares = math.div_no_nan(math.reduce_sum(math.square(apart), axis=axes), count)
        total = math.square(math.reduce_sum(apart, axis=axes))
        each = 2.0 * squares - 2.0 * math.div_no_nan(total, math.square(count))
        loss = math.reduce_sum(each * _per_example(weights))
        some = math.reduce_sum(count) > 0
        mean = select.where(some, loss, array.zeros_like(loss), name="value")
        add_loss(mean)
        return mean


def _per_example(weights: Tensor) -> Tensor:
    """One weight for each example: the whole where it is a number or a vector."""
    return weights if len(weights.dims or ()) < 2 else array.reshape(weights, [-1])


@add_arg_scope
def log_loss(
    predictions: Any,
    labels: Any = None,
    weights: Any = 1.0,
    epsilon: float = 1e-7,
    scope: str | None = None,
) -> Tensor:
    """Minus the logarithm of the probability given to the label."""
    return _weighted(ops.log_loss, "log_loss", labels, predictions, weights, scope, epsilon=epsilon)


@add_arg_scope
def hinge_loss(logits: Any, labels: Any = None, scope: str | None = None) -> Tensor:
    """How far each logit is from the right side of the margin, for every example."""
    return ops.hinge_loss(
        labels, logits, scope=scope, loss_collection=None, reduction=ops.Reduction.NONE
    )


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
    return _weighted(
        ops.cosine_distance,
        "cosine_distance_loss",
        labels,
        predictions,
        weights,
        scope,
        axis=axis,
    )


@add_arg_scope
def sigmoid_cross_entropy(
    logits: Any,
    multi_class_labels: Any,
    weights: Any = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
) -> Tensor:
    """Cross entropy of independent classes."""
    return _weighted(
        ops.sigmoid_cross_entropy,
        "sigmoid_cross_entropy_loss",
        multi_class_labels,
        logits,
        weights,
        scope,
        label_smoothing=label_smoothing,
    )


@add_arg_scope
def softmax_cross_entropy(
    logits: Any,
    onehot_labels: Any,
    weights: Any = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
) -> Tensor:
    """Cross entropy of exclusive classes."""
    return _weighted(
        ops.softmax_cross_entropy,
        "softmax_cross_entropy_loss",
        onehot_labels,
        logits,
        weights,
        scope,
        label_smoothing=label_smoothing,
    )


@add_arg_scope
def sparse_softmax_cross_entropy(
    logits: Any, labels: Any, weights: Any = 1.0, scope: str | None = None
) -> Tensor:
    """Cross entropy of exclusive classes that labels give by number."""
    return _weighted(
        ops.sparse_softmax_cross_entropy,
        "sparse_softmax_cross_entropy_loss",
        labels,
        logits,
        weights,
        scope,
    )
