"""The hinge loss of several classes."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import control_dependencies, name_scope
from weft.graph.keys import GraphKeys
from weft.graph.tensor import Tensor
from weft.ops.array import array
from weft.ops.array.one_hot_search import one_hot
from weft.ops.control.check import assert_less
from weft.ops.math import casts, reduce
from weft.ops.nn.activations import relu
from weft.ops.scores.losses import Reduction, compute_weighted_loss

_ONE_OR_TWO = "rank 1 ([batch_size]) or 2 ([batch_size, 1]). Given rank is"


def sparse_multiclass_hinge_loss(
    labels: Tensor,
    logits: Tensor,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """By how much another class comes nearer than 1 to the logit of the right one, or exceeds it.

    `labels` are numbers of classes.
    """
    with name_scope(scope, "sparse_multiclass_hinge_loss", (logits, labels)) as scope:
        ranks = logits.get_shape().ndims, labels.get_shape().ndims
        if ranks[0] != 2:
            wanted = "rank 2 ([batch_size, num_classes]). Given rank is"
            raise ValueError(f"logits should have {wanted} {ranks[0]}")
        if labels.dtype not in (dtypes.int32, dtypes.int64):
            said = f"Invalid dtype for labels: {labels.dtype}."
            raise ValueError(f"{said} Acceptable dtypes: int32 and int64")
        if ranks[1] not in (1, 2):
            raise ValueError(f"labels should have {_ONE_OR_TWO} {ranks[1]}")
        count = array.shape(logits)[1]
        with control_dependencies([assert_less(labels, casts.cast(count, labels.dtype))]):
            labels = array.reshape(labels, [-1])
        weights = _weights(weights, labels)
        margins = _margins(casts.cast(logits, dtypes.float32), labels, count)
        loss = reduce.reduce_max(relu(margins), axis=1)
        return compute_weighted_loss(loss, weights, scope, loss_collection, reduction)


def _weights(given: Any, labels: Tensor) -> Tensor:
    weights = convert_to_tensor(given)
    match weights.get_shape().ndims:
        case 0:
            return weights
        case 1 | 2:
            flat = array.reshape(weights, [-1])
            flat.shape.assert_is_compatible_with(labels.shape)
            return flat
        case rank:
            raise ValueError(f"non-scalar weights should have {_ONE_OR_TWO} {rank}")


def _margins(logits: Tensor, labels: Tensor, count: Tensor) -> Tensor:
    """How far each class is above the right one, and one more where it is another."""
    is_right = one_hot(labels, count)
    right = reduce.reduce_sum(is_right * logits, 1, keepdims=True)
    return logits - right + (1.0 - is_right)
