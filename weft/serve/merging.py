"""Arrays of several requests as one, and the results of one step for each of them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from weft.serve.errors import invalid, precondition

_MOST_DIMENSIONS = 6  # of tensors that are padded


def rows_of(arrays: Collection[np.ndarray]) -> int:
    """How many rows a request has: the first dimension that all its arrays share."""
    if not arrays:
        raise invalid("Batching Run() must have at least one input tensor")
    rows = None
    for array in arrays:
        if not array.ndim:
            raise invalid("Batching Run() input tensors must have at least one dimension")
        if rows is not None and len(array) != rows:
            raise invalid("Batching Run() input tensors must have equal 0th-dimension size")
        rows = len(array)
    return rows or 0


def trailing(arrays: Collection[np.ndarray], pads: bool) -> Any:
    """What requests must have in common to be in one batch: the other dimensions, or their number.

    Where requests differ in it, one does not fail because of the other.
    """
    if pads and all(array.ndim <= _MOST_DIMENSIONS for array in arrays):
        return tuple([(array.dtype.str, array.ndim) for array in arrays])
    return tuple([(array.dtype.str, array.shape[1:]) for array in arrays])


def merged(requests: Sequence[dict[str, np.ndarray]], size: int) -> dict[str, np.ndarray]:
    """One array of `size` rows for each name; rows beyond the requests' own repeat the first."""
    return {name: _joined([request[name] for request in requests], size) for name in requests[0]}


def _joined(arrays: list[np.ndarray], size: int) -> np.ndarray:
    if len(arrays) == 1 and len(arrays[0]) == size:
        return arrays[0]
    if len({array.shape[1:] for array in arrays}) > 1:
        arrays = _padded(arrays)
    rows = sum(map(len, arrays))
    if rows < size:
        arrays = [*arrays, np.broadcast_to(arrays[0][:1], (size - rows, *arrays[0].shape[1:]))]
    return np.concatenate(arrays)


def _padded(arrays: list[np.ndarray]) -> list[np.ndarray]:
    """The arrays with all dimensions but the first as large as the largest has them."""
    extents = [max(sizes) for sizes in zip(*(array.shape[1:] for array in arrays), strict=True)]
    filler: Any = b"" if arrays[0].dtype == object else 0
    made = []
    for array in arrays:
        grown = np.full((len(array), *extents), filler, array.dtype)
        grown[tuple(map(slice, array.shape))] = array
        made.append(grown)
    return made


def split_rows(
    values: Sequence[np.ndarray], counts: Sequence[int], size: int
) -> list[list[np.ndarray]]:
    """The values of each request, in order."""
    for value in values:
        if not value.ndim:
            raise precondition("Batched output tensor has 0 dimensions")
        if len(value) != size:
            raise precondition(
                "Batched output tensor's 0th dimension does not equal the sum of the 0th dimension"
                " sizes of the input tensors"
            )
    parts, start = [], 0
    for count in counts:
        parts.append([value[start : start + count] for value in values])
        start += count
    return parts
