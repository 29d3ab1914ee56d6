"""Rows that several gradients name, summed: what `Unique` and `UnsortedSegmentSum` do together.

How many different rows there are depends on values, so those two cannot be compiled. This op is
put in their place (`passes/optimize/repeats.py`) where whatever uses the rows can do with more of
them: compiled, it gives as many as came in, those left over with the index -1, which updates drop.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.graph.op_def import op
from weft.graph.traits import PADS_ROWS
from weft.ops.kit.row_updates import Mentions, mark_named_once, sorted_indices

Array = Any


@op(
    "_SumRepeated",
    inputs="values: T, indices: Tindices",
    outputs="sums: T, rows: Tindices",
    attrs="T: numbertype, Tindices: indextype",
    shape=lambda c: [c.dims(0) and (None, *c.dims(0)[1:]), (None,)],
    traits=PADS_ROWS,
)
def sum_repeated(xp: Any, values: Array, indices: Array) -> list[Array]:
    from jax import lax

    order, ordered = sorted_indices(xp, indices)
    # Most often no row is named twice, and then all is as it should be.
    sums, rows = lax.cond(
        xp.any(ordered[1:] == ordered[:-1]),
        lambda: _summed(xp, values, indices, order, ordered),
        lambda: [values, indices],
    )
    return [sums, mark_named_once(rows, Mentions(values, indices, sums))]


@sum_repeated.numpy
def _(xp: Any, values: Array, indices: Array) -> list[Array]:
    rows, places = np.unique(indices, return_inverse=True)
    sums = np.zeros((len(rows), *values.shape[1:]), values.dtype)
    np.add.at(sums, places, values)
    return [sums, rows]


def _summed(xp: Any, values: Array, indices: Array, order: Array, ordered: Array) -> list[Array]:
    first = xp.concatenate([xp.ones((1,), bool), ordered[1:] != ordered[:-1]])
    places = xp.cumsum(first) - 1
    sums = xp.zeros_like(values).at[places].add(values[order], indices_are_sorted=True)
    rows = xp.full_like(indices, -1).at[places].set(ordered, indices_are_sorted=True)
    return [sums, rows]
