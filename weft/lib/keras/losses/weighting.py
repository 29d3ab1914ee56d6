"""From losses per example to one number: weights of examples, and the reduction."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.ops.array import array
from weft.ops.control import cond
from weft.ops.math import casts, math, reduce
from weft.ops.scores.confusion_matrix import remove_squeezable_dimensions
from weft.ops.scores.weights import broadcast_weights


class Reduction:
    """How the losses of a batch become one."""

    AUTO = "auto"
    NONE = "none"
    SUM = "sum"
    SUM_OVER_BATCH_SIZE = "sum_over_batch_size"

    @classmethod
    def all(cls) -> tuple[str, ...]:
        """Every way there is."""
        return (cls.AUTO, cls.NONE, cls.SUM, cls.SUM_OVER_BATCH_SIZE)

    @classmethod
    def decided(cls, key: str) -> str:
        """The way that `key` stands for where nothing else says which."""
        return cls.SUM_OVER_BATCH_SIZE if key == cls.AUTO else key

    @classmethod
    def validate(cls, key: str) -> None:
        """ValueError if `key` is none of them."""
        if key not in cls.all():
            raise ValueError(f"Invalid Reduction Key {key}.")


def reduce_weighted_loss(
    weighted_losses: Tensor, reduction: str = Reduction.SUM_OVER_BATCH_SIZE
) -> Tensor:
    """All of them, their sum, or their mean."""
    if reduction == Reduction.NONE:
        return weighted_losses
    total = reduce.reduce_sum(weighted_losses)
    if reduction == Reduction.SUM:
        return total
    with name_scope("num_elements") as scope:
        count = casts.cast(array.size(weighted_losses, name=scope), total.dtype)
    return math.div_no_nan(reduce.reduce_sum(total), count, name="value")


def compute_weighted_loss(
    losses: Any,
    sample_weight: Any = None,
    reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
    name: str | None = None,
) -> Tensor:
    """`losses` times their weights, reduced."""
    Reduction.validate(reduction)
    weights = 1.0 if sample_weight is None else sample_weight
    with name_scope(name or "weighted_loss"):
        losses = convert_to_tensor(losses)
        weighted = scale_losses_by_sample_weight(losses, weights)
        reduced = reduce_weighted_loss(weighted, Reduction.decided(reduction))
        return casts.cast(reduced, losses.dtype)


def scale_losses_by_sample_weight(losses: Tensor, sample_weight: Any) -> Tensor:
    """The product, in float32; weights may lack a last axis of 1."""
    losses, weights = (casts.cast(x, dtypes.float32) for x in (losses, sample_weight))
    weights = weights_of_rank(losses, weights)
    return math.multiply(losses, broadcast_weights(weights, losses))


def squeeze_or_expand_dimensions(
    y_pred: Any, y_true: Any = None, sample_weight: Any = None
) -> tuple[Any, ...]:
    """The arguments with ranks that fit: last axes of 1 are dropped, or added to the weights."""
    rank = y_pred.shape.ndims
    if y_true is not None:
        y_true, y_pred = _labels_of_rank(y_true, y_pred)
    if sample_weight is None:
        return y_pred, y_true
    return y_pred, y_true, weights_of_rank(y_pred, convert_to_tensor(sample_weight), rank)


def _labels_of_rank(y_true: Any, y_pred: Any) -> tuple[Any, Any]:
    """Labels that are numbers of classes may have one axis less than predictions."""
    true_rank, pred_rank = y_true.shape.ndims, y_pred.shape.ndims
    if true_rank is None or pred_rank is None:
        extra = array.rank(y_pred) - array.rank(y_true)
        ends_in_one = math.equal(1, array.shape(y_pred)[-1])

        def squeezed() -> Any:
            return remove_squeezable_dimensions(y_true, y_pred)

        return cond.cond(
            math.equal(1, extra),
            lambda: cond.cond(ends_in_one, squeezed, lambda: (y_true, y_pred)),
            squeezed,
        )
    if pred_rank - true_rank == 1 and y_pred.shape.as_list()[-1] != 1:
        return y_true, y_pred
    return remove_squeezable_dimensions(y_true, y_pred)


def weights_of_rank(values: Any, weights: Tensor, rank: int | None = None) -> Tensor:
    """`weights` with a last axis of 1 dropped or added, to be of the rank of `values`."""
    rank = values.shape.ndims if rank is None else rank
    if weights.shape.ndims == 0:
        return weights
    if rank is None or weights.shape.ndims is None:
        return _weights_of_rank_now(values, weights)
    if weights.shape.ndims - rank == 1:
        return array.squeeze(weights, [-1])
    return array.expand_dims(weights, -1) if rank - weights.shape.ndims == 1 else weights


def _weights_of_rank_now(values: Any, weights: Tensor) -> Tensor:
    """As above, where ranks are known only when it runs."""
    rank = array.rank(weights)
    extra = rank - array.rank(values)

    def fitted() -> Any:
        return cond.cond(
            math.equal(extra, 1),
            lambda: array.squeeze(weights, [-1]),
            lambda: cond.cond(
                math.equal(extra, -1), lambda: array.expand_dims(weights, -1), lambda: weights
            ),
        )

    return cond.cond(math.equal(rank, 0), lambda: weights, fitted)
