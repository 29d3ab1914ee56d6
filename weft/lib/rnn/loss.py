"""The loss of a sequence of predictions."""

from __future__ import annotations

from collections.abc import Callable

from weft.graph.graph import Tensor, name_scope
from weft.ops.array import shape as array_shape
from weft.ops.math import casts, reduce
from weft.ops.math.math import div_no_nan
from weft.ops.nn import cross_entropy


def sequence_loss(
    logits: Tensor,
    targets: Tensor,
    weights: Tensor,
    average_across_timesteps: bool = True,
    average_across_batch: bool = True,
    sum_over_timesteps: bool = False,
    sum_over_batch: bool = False,
    softmax_loss_function: Callable[..., Tensor] | None = None,
    name: str | None = None,
) -> Tensor:
    """Weighted cross entropy of [batch, time, class] logits and [batch, time] targets.

    Averages divide by the sum of the weights, sums by the number of weights that are not zero.
    """
    if logits.shape.ndims != 3:
        raise ValueError("Logits must be a [batch_size x sequence_length x logits] tensor")
    if targets.shape.ndims != 2:
        raise ValueError("Targets must be a [batch_size x sequence_length] tensor")
    if weights.shape.ndims != 2:
        raise ValueError("Weights must be a [batch_size x sequence_length] tensor")
    if average_across_timesteps and sum_over_timesteps:
        raise ValueError(
            "average_across_timesteps and sum_over_timesteps cannot be set to True at same time."
        )
    if average_across_batch and sum_over_batch:
        raise ValueError(
            "average_across_batch and sum_over_batch cannot be set to True at same time."
        )
    with name_scope(name, "sequence_loss", [logits, targets, weights]):
        classes = array_shape.shape(logits)[2]
        flat = array_shape.reshape(logits, [-1, classes])
        labels = array_shape.reshape(targets, [-1])
        entropy = softmax_loss_function or cross_entropy.sparse_softmax_cross_entropy_with_logits
        losses = entropy(labels=labels, logits=flat) * array_shape.reshape(weights, [-1])

        def averaged(axis: list[int] | None) -> Tensor:
            return div_no_nan(
                reduce.reduce_sum(losses, axis=axis), reduce.reduce_sum(weights, axis=axis)
            )

        def summed(axis: list[int] | None) -> Tensor:
            total = reduce.reduce_sum(losses, axis=axis)
            count = casts.cast(reduce.count_nonzero(weights, axis=axis), total.dtype)
            return div_no_nan(total, count)

        if average_across_timesteps and average_across_batch:
            return averaged(None)
        if sum_over_timesteps and sum_over_batch:
            return summed(None)
        losses = array_shape.reshape(losses, array_shape.shape(logits)[0:2])
        if average_across_timesteps or average_across_batch:
            return averaged([0] if average_across_batch else [1])
        if sum_over_timesteps or sum_over_batch:
            return summed([0] if sum_over_batch else [1])
        return losses
