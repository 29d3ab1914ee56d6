"""Rows of a ragged array, one after the other: the copying that gathering them comes down to."""

from __future__ import annotations

import functools
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

# So many rows are handled at a time: what is computed for them stays in the processor's cache.
_BLOCK = 1 << 14
_MANY = 1 << 16


def gathered_rows(
    values: np.ndarray, splits: np.ndarray, rows: np.ndarray, found_splits: np.ndarray
) -> np.ndarray:
    """The values of the chosen rows; `found_splits` are those of the result."""
    if values.ndim == 1 and found_splits[-1] >= _MANY and values.itemsize in (4, 8):
        copy = _row_copier() if values.flags.c_contiguous and values.dtype.kind in "fiu" else None
        if copy is not None and max(len(values), int(found_splits[-1])) < 1 << 31:
            return _copied(copy, values, splits, rows, int(found_splits[-1]))
    return _taken(values, splits.take(rows), found_splits)


def _copied(
    copy: Callable[..., None], values: np.ndarray, splits: np.ndarray, rows: np.ndarray, size: int
) -> np.ndarray:
    """The values pass for column numbers of a sparse matrix, whose own values are nothing."""
    kind = np.int32 if values.itemsize == 4 else np.int64
    found, nothing = np.empty(size, kind), np.zeros(max(len(values), size), bool)
    bounds, chosen = splits.astype(kind, copy=False), rows.astype(kind, copy=False)
    copy(len(rows), chosen, bounds, values.view(kind), nothing, found, nothing[:size])
    return found.view(values.dtype)


@functools.cache
def _row_copier() -> Callable[..., None] | None:
    """SciPy's function that copies rows of sparse matrices, if it is there and works."""
    try:
        from scipy.sparse._sparsetools import csr_row_index
    except ImportError:
        return None

    def index(*numbers: int) -> np.ndarray:
        return np.array(numbers, np.int32)

    found, nothing = index(0, 0, 0, 0), np.zeros(4, bool)
    try:
        given = index(2, 0, 1), index(0, 1, 1, 4), index(9, 8, 7, 6)
        csr_row_index(3, *given, nothing.copy(), found, nothing)
    except (TypeError, ValueError):
        return None
    copier: Any = csr_row_index
    return copier if found.tolist() == [8, 7, 6, 9] else None


def _taken(values: np.ndarray, starts: np.ndarray, splits: np.ndarray) -> np.ndarray:
    """From each start on, as many values as the row of the result has."""
    found = np.empty((int(splits[-1]), *values.shape[1:]), values.dtype)
    lengths = splits[1:] - splits[:-1]
    edges = [*splits[:-1:_BLOCK].tolist(), int(splits[-1])]
    numbers = np.arange(max((high - low for low, high in pairwise(edges)), default=0))
    for i, (low, high) in enumerate(pairwise(edges)):
        block = slice(i * _BLOCK, (i + 1) * _BLOCK)
        at = np.repeat(starts[block] - splits[:-1][block] + low, lengths[block])
        values.take(at + numbers[: high - low], axis=0, out=found[low:high], mode="clip")
    return found
