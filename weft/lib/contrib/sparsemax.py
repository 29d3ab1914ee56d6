"""tf.contrib.sparsemax: a softmax that gives exact zeros."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.ops.array import array, gather
from weft.ops.array import one_hot_search as select
from weft.ops.kit.seed_counts import count_further
from weft.ops.math import casts, cumulative, math, reduce, sequence, unary
from weft.ops.nn import activations as nn_impl


def sparsemax(logits: Any, name: str | None = None) -> Tensor:
    """For each row, the nearest point of the probability simplex."""
    with name_scope(name, "sparsemax", [logits]):
        logits = convert_to_tensor(logits, name="logits")
        sizes, kind = array.shape(logits), logits.dtype
        rows, width = sizes[0], sizes[1]
        ordered, _ = nn_impl.top_k(logits, k=width)
        sums = cumulative.cumsum(ordered, 1)
        ranks = sequence.range(1, casts.cast(width, kind) + 1, dtype=kind)
        # The largest so many stay above zero.
        stays = casts.cast(1 + ranks * ordered > sums, dtypes.int32)
        support = reduce.reduce_sum(stays, 1)
        threshold = (_sum_of_first(sums, support, rows) - 1) / casts.cast(support, kind)
        found = math.maximum(casts.cast(0, kind), logits - array.expand_dims(threshold, 1))
        undefined = math.logical_or(math.equal(support, 0), unary.is_nan(sums[:, -1]))
        nothing = array.fill([rows, width], casts.cast(float("nan"), kind))
        count_further(3)
        return select.where(undefined, nothing, found)


def _sum_of_first(sums: Tensor, count: Tensor, rows: Tensor) -> Tensor:
    """The sum of the first `count` numbers of each row, by running sums; of one at least."""
    last = math.maximum(count, 1) - 1
    places = array.stack([sequence.range(0, rows), last], axis=1)
    return gather.gather_nd(sums, places)


def sparsemax_loss(logits: Any, sparsemax: Any, labels: Any, name: str | None = None) -> Tensor:
    """The loss whose gradient is `sparsemax - labels`."""
    given = {"logits": logits, "sparsemax": sparsemax, "labels": labels}
    with name_scope(name, "sparsemax_loss", list(given.values())):
        z, p, q = (convert_to_tensor(value, name=each) for each, value in given.items())
        # Where a logit is infinite and does not count, its product with zero must not.
        counts = math.logical_or(p > 0, unary.is_nan(p))
        found = select.where(counts, p * (z - 0.5 * p), array.zeros_like(p))
        wanted = q * (0.5 * q - z)
        beyond = math.logical_and(math.equal(q, 0), unary.is_inf(z))
        wanted = select.where(beyond, array.zeros_like(z), wanted)
        return reduce.reduce_sum(found + wanted, axis=1)
