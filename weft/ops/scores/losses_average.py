"""Losses averaged over examples, as one of several replicas would: here there is one."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor
from weft.graph.op_def import raw
from weft.ops.array import array
from weft.ops.kit.replicas import current_mode
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
        losses = math.cast(_weighted(math.cast(losses, dtypes.float32), sample_weight), kind)
    if global_batch_size is None:
        global_batch_size = math.cast(array.shape(losses)[0] * _replicas(), kind)
    return math.reduce_sum(losses) / global_batch_size


def _weighted(losses: Tensor, sample_weight: Any) -> Tensor:
    weights = math.cast(sample_weight, dtypes.float32)
    dims, given = losses.dims, weights.dims
    if dims is not None and given:
        if len(given) == len(dims) + 1:
            weights = array.squeeze(weights, [-1])
        elif len(given) == len(dims) - 1:
            weights = array.expand_dims(weights, [-1])
    return raw.Mul(losses, broadcast_weights(weights, losses))


def _replicas() -> int:
    """How many replicas work on one batch."""
    mode = current_mode()
    return 1 if mode is None else mode.strategy.num_replicas_in_sync


def scale_regularization_loss(regularization_loss: Any) -> Tensor:
    """The share that each replica has in the sum of regularization losses."""
    return math.reduce_sum(regularization_loss) / _replicas()
