"""Losses averaged over examples, as one of several replicas would: here there is one."""

from __future__ import annotations

from typing import Any

from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor
from weft.ops.array import array
from weft.ops.math import math
from weft.ops.scores.weights import broadcast_weights


def compute_average_loss(
    per_example_loss: Any, sample_weight: Any = None, global_batch_size: Any = None
) -> Tensor:
    """The sum of the losses, with weights, over the size of the batch."""
    losses = convert_to_tensor(per_example_loss)
    if losses.shape.ndims == 0:
        raise ValueError(
            "Invalid value passed for `per_example_loss`. Expected a tensor with at least rank 1,"
            f" got: {losses}"
        )
    kind = losses.dtype
    if sample_weight is not None:
        weights = math.cast(convert_to_tensor(sample_weight), kind)
        losses = losses * broadcast_weights(weights, losses)
    if global_batch_size is None:
        global_batch_size = math.cast(array.shape(losses)[0], kind)
    return math.reduce_sum(losses) / math.cast(global_batch_size, kind)


def scale_regularization_loss(regularization_loss: Any) -> Tensor:
    """The sum of regularization losses; several replicas would share it."""
    return math.reduce_sum(regularization_loss)
