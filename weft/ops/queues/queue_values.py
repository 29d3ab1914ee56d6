"""The values that queues and their like keep, and batches made of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.graph import shape_fn as s
from weft.graph.shape_fn import Dims


def owned(value: Any) -> Any:
    """`value` as the queue may keep it: never written to, and it holds no larger array alive."""
    if isinstance(value, np.ndarray) and (value.flags.writeable or not value.flags.owndata):
        return value.copy()
    return value


_PLAIN = "biufO"  # kinds of arrays whose elements Python has types for


def packed(value: Any) -> Any:
    """A component as a queue keeps it."""
    if not isinstance(value, (np.ndarray, np.generic)):
        return value  # a variant
    if value.ndim:
        return owned(value)
    return value.item() if value.dtype.kind in _PLAIN else owned(value)


def unpacked(value: Any, dtype: DType) -> Any:
    """A component as operations know it."""
    if isinstance(value, (np.ndarray, np.generic)) or dtype in (dtypes.variant, dtypes.resource):
        return value
    cell = np.empty((), dtype.np_storage)
    cell[()] = value
    return cell


def rows(batch: np.ndarray) -> list[Any]:
    """The components along the first axis, each as a queue keeps it."""
    if batch.ndim > 1:
        return [row.copy() for row in batch]
    return batch.tolist() if batch.dtype.kind in _PLAIN else list(batch)


def stacked(values: Sequence[Any], dims: tuple[int, ...], dtype: DType) -> np.ndarray:
    """Components of one shape along a new first axis."""
    if not dims and dtype is not dtypes.string:
        return np.array(values, dtype.np_storage)
    out = np.empty((len(values), *dims), dtype.np_storage)
    if not dims:
        out[:] = values
        return out
    for i, value in enumerate(values):
        out[i] = value
    return out


def padded(values: Sequence[Any], dims: Dims, dtype: DType) -> np.ndarray:
    """Arrays of one rank along a new first axis; unknown `dims` are zero-padded to the largest."""
    assert dims is not None
    sizes = [
        max((v.shape[axis] for v in values), default=0) if d is None else d
        for axis, d in enumerate(dims)
    ]
    fill = b"" if dtype is dtypes.string else 0
    out = np.full((len(values), *sizes), fill, dtype.np_storage)
    for i, value in enumerate(values):
        out[i][tuple(slice(n) for n in value.shape)] = value
    return out


def fits(dims: Dims, shape: tuple[int, ...]) -> bool:
    return (
        dims is None
        or dims == shape
        or (
            len(dims) == len(shape)
            and all(d is None or d == n for d, n in zip(dims, shape, strict=True))
        )
    )


def show_types(types: Sequence[DType]) -> str:
    short = {"float32": "float", "float64": "double", "float16": "half"}
    return ", ".join(short.get(d.name, d.name) for d in types)


def show_shapes(shapes: Sequence[Dims]) -> str:
    return "[" + ", ".join(map(s.show, shapes)) + "]"
