"""Sums over many rows: over the axes before those that stay, as gradients of biases are.

XLA gives a GPU one block of threads for 32 columns and up to 4,096 rows. Where columns are few that
is a fifth of the GPU, for all that is computed element by element in the same kernel too. Here the
rows are added up in groups first; left to itself, XLA makes one sum of the two again.
"""

from __future__ import annotations

import math
from typing import Any

from weft.graph.by_library import by_library
from weft.ops.kit.target import target_platform

Array = Any

_GROUP = 128  # rows that one block of threads adds up, each thread four of them
_ROWS = range(8 * _GROUP, 1 << 15)  # from here on XLA makes groups by itself
_COLUMNS = range(32, 1 << 12)  # more of them are blocks enough


@by_library
def sum_along(xp: Any, x: Array, *, axis: tuple[int, ...], keepdims: bool = False) -> Array:
    """`xp.sum` in the type of `x`."""
    kept = x.shape[len(axis) :]
    rows, columns = math.prod(x.shape[: len(axis)]), math.prod(kept)
    leads = sorted(axis) == list(range(len(axis)))
    grouped = leads and rows in _ROWS and rows % _GROUP == 0 and columns in _COLUMNS
    if not grouped or target_platform() == "cpu":
        return xp.sum(x, axis=axis, keepdims=keepdims, dtype=x.dtype)
    from jax import lax

    groups = xp.sum(x.reshape(-1, _GROUP, *kept), axis=1, dtype=x.dtype)
    total = xp.sum(lax.optimization_barrier(groups), axis=0, dtype=x.dtype)  # type: ignore[no-untyped-call]
    return total.reshape(*[1] * len(axis), *kept) if keepdims else total


@sum_along.numpy
def _(xp: Any, x: Array, *, axis: tuple[int, ...], keepdims: bool = False) -> Array:
    return xp.sum(x, axis=axis, keepdims=keepdims, dtype=x.dtype)
