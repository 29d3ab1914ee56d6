"""What every metric is made of: local variables that a step adds to, a value and an update."""

from __future__ import annotations

from typing import Any

from weft.core.dtypes import DType
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import add_to_collections
from weft.graph.keys import GraphKeys
from weft.graph.tensor import Tensor
from weft.ops import array
from weft.ops import math as math_ops
from weft.ops.cond import cond
from weft.ops.confusion_matrix import remove_squeezable_dimensions
from weft.ops.variables import Variable, VariableAggregation, VariableSynchronization

Metric = tuple[Tensor, Tensor]


def metric_variable(
    shape: Any, dtype: DType, validate_shape: bool = True, name: str | None = None
) -> Any:
    """A local variable of zeros, which is also among the metric variables."""
    return Variable(
        lambda: array.zeros(shape, dtype),
        trainable=False,
        collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES],
        validate_shape=validate_shape,
        synchronization=VariableSynchronization.ON_READ,
        aggregation=VariableAggregation.SUM,
        name=name,
    )


def published(
    value: Tensor, update: Tensor, metrics_collections: Any, updates_collections: Any
) -> Metric:
    """Puts the two tensors of a metric where they were asked for, and returns them."""
    if metrics_collections:
        add_to_collections(metrics_collections, value)
    if updates_collections:
        add_to_collections(updates_collections, update)
    return value, update


def aligned(predictions: Any, labels: Any, weights: Any) -> tuple[Tensor, Any, Any]:
    """All three of one rank, as far as a last dimension of 1 stands in the way.

    `labels` and `weights` may be None; weights may also be a scalar.
    """
    predictions = convert_to_tensor(predictions)
    if labels is not None:
        labels, predictions = remove_squeezable_dimensions(labels, predictions)
        predictions.shape.assert_is_compatible_with(labels.shape)
    if weights is None:
        return predictions, labels, None
    weights = convert_to_tensor(weights)
    if weights.dims == ():
        return predictions, labels, weights
    if weights.dims is not None and predictions.dims is not None:
        extra = len(weights.dims) - len(predictions.dims)
        if extra == 1:
            weights = array.squeeze(weights, [-1])
        elif extra == -1:
            weights = array.expand_dims(weights, [-1])
        return predictions, labels, weights
    return predictions, labels, _aligned_at_run_time(weights, predictions)


def _aligned_at_run_time(weights: Tensor, predictions: Tensor) -> Tensor:
    rank = array.rank(weights)
    extra = rank - array.rank(predictions)
    can_squeeze = weights.dims is None or weights.dims[-1] in (None, 1)

    def with_one_more() -> Tensor:
        return cond(
            math_ops.equal(extra, -1), lambda: array.expand_dims(weights, [-1]), lambda: weights
        )

    def adjusted() -> Tensor:
        return cond(
            math_ops.equal(extra, 1),
            lambda: array.squeeze(weights, [-1]) if can_squeeze else weights,
            with_one_more,
        )

    return cond(math_ops.equal(rank, 0), lambda: weights, adjusted)
