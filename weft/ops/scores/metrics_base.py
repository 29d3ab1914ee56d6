"""The parts of every metric: local variables that a step adds to, a value and an update."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from weft.core.dtypes import DType
from weft.core.signatures import arguments
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import add_to_collections
from weft.graph.keys import GraphKeys
from weft.graph.tensor import Tensor
from weft.ops.array import array
from weft.ops.control.cond import cond
from weft.ops.kit.eager import refuse_when_eager
from weft.ops.kit.replicas import replica_number
from weft.ops.math import math as math_ops
from weft.ops.scores.confusion_matrix import remove_squeezable_dimensions
from weft.ops.state.variables import Variable, VariableAggregation, VariableSynchronization

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


def publish(
    metric: Metric, metrics_collections: Any = None, updates_collections: Any = None
) -> Metric:
    """Puts the two tensors of a metric where they were asked for, and returns them."""
    value, update = metric
    if metrics_collections and replica_number() == 0:
        add_to_collections(metrics_collections, value)
    if updates_collections:
        add_to_collections(updates_collections, update)
    return metric


# What errors call a metric, where that is not its name.
_OTHER_NAMES = {
    "average_precision_at_k": "sparse_average_precision_at_k",
    "precision_at_k": "sparse_precision_at_k",
    "recall": "recall is not supported",
}


_COLLECTIONS = list(inspect.signature(publish).parameters.values())[1:]


def published(
    compute: Callable[..., Metric], name: str | None = None, doc: str | None = None,
    before: str = "name",
) -> Callable[..., Metric]:  # fmt: skip
    """`compute` with parameters, ahead of `before`, for the collections its tensors go to.

    `name` and `doc` are for a function that a table makes.
    """
    own = list(inspect.signature(compute).parameters.values())
    place = [parameter.name for parameter in own].index(before)
    own[place:place] = _COLLECTIONS
    signature = inspect.Signature(own, return_annotation="Metric")

    @functools.wraps(compute)
    def metric(*args: Any, **kwargs: Any) -> Metric:
        told = _OTHER_NAMES.get(metric.__name__, metric.__name__)
        refuse_when_eager(f"tf.metrics.{told} is not supported when eager execution is enabled.")
        given = arguments(signature, metric.__name__, args, kwargs, defaults=False)
        wanted = {p.name: given.pop(p.name, None) for p in _COLLECTIONS}
        return publish(compute(**given), **wanted)

    metric.__signature__ = signature  # type: ignore[attr-defined]
    metric.__name__ = metric.__qualname__ = name or compute.__name__
    metric.__doc__ = doc or compute.__doc__
    return metric


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
