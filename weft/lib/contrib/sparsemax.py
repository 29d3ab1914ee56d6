"""tf.contrib.sparsemax: a softmax that gives exact zeros."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.ops.array import array, gather
from weft.ops.array import one_hot_search as select
from weft.ops.math import casts, cumulative, math, reduce, sequence, unary
from weft.ops.nn import activations as nn_impl


def sparsemax(logits: Any, name: str | None = None) -> Tensor:
    """For each row, the nearest point of the probability simplex."""
    with name_scope(name, "sparsemax", [logits]):
        logits = convert_to_tensor(logits, name="logits")
        shape = array.shape(logits)
        rows, width = shape[0], shape[1]
        ordered, _ = nn_impl.top_k(logits, k=width)
        sums = cumulative.cumsum(ordered, axis=1)
        ranks = sequence.range(1, casts.cast(width, logits.dtype) + 1, dtype=logits.dtype)
        # The largest so many stay above zero.
        stays = casts.cast(1 + ranks * ordered > sums, dtypes.int32)
        support = reduce.reduce_sum(stays, axis=1)
        last = math.maximum(support, 1) - 1
        total = gather.gather_nd(sums, array.stack([sequence.range(0, rows), last], axis=1))
        threshold = (total - 1) / casts.cast(support, logits.dtype)
        found = math.maximum(casts.cast(0, logits.dtype), logits - array.expand_dims(threshold, 1))
        undefined = math.logical_or(math.equal(support, 0), unary.is_nan(sums[:, -1]))
        nothing = array.fill([rows, width], casts.cast(float("nan"), logits.dtype))
        return select.where(undefined, nothing, found)


def sparsemax_loss(logits: Any, sparsemax: Any, labels: Any, name: str | None = None) -> Tensor:
    """The loss whose gradient is `sparsemax - labels`."""
    with name_scope(name, "sparsemax_loss", [logits, sparsemax, labels]):
        logits = convert_to_tensor(logits, name="logits")
        sparsemax = convert_to_tensor(sparsemax, name="sparsemax")
        labels = convert_to_tensor(labels, name="labels")
        # Where the logit is infinite and does not count, its product with zero must not.
        counts = math.logical_or(sparsemax > 0, unary.is_nan(sparsemax))
        own = sparsemax * (logits - 0.5 * sparsemax)
        own = select.where(counts, own, array.zeros_like(sparsemax))
        other = labels * (0.5 * labels - logits)
        beyond = math.logical_and(math.equal(labels, 0), unary.is_inf(logits))
        other = select.where(beyond, array.zeros_like(logits), other)
        return reduce.reduce_sum(own + other, axis=1)
