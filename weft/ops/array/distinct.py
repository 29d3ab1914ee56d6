"""The distinct values of an array, and differences of lists."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.traits import HOST, ON_DEVICE
from weft.ops.kit.room import check_room
from weft.ops.kit.shared import invalid

_FEW = 400  # integers that a dictionary numbers faster than sorting does
_DENSE = 4  # places in a table, for each integer, up to which it is faster than sorting


def _first_seen(x: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The distinct slices of `x` along `axis` in order of appearance, where each went, counts."""
    if x.ndim == 1 and x.dtype.kind in "iu":
        if len(x) >= _FEW:
            return _first_seen_integers(x)
        values, index = _few_integers(x, np.int64)
        return values, index, np.bincount(index, minlength=len(values))
    rows = np.moveaxis(x, axis, 0)
    numbers: dict[Any, int] = {}
    if rows.ndim == 1:
        keys: Any = rows.tolist()
    else:
        flat = rows.reshape(len(rows), math.prod(rows.shape[1:]))
        if not flat.shape[1]:
            return _first_of_nothing(x, axis)
        keys = [tuple(row.tolist()) for row in flat]
    # A NaN equals nothing, itself included, so every one of them is a value of its own.
    places = [numbers.setdefault(key if key == key else object(), len(numbers)) for key in keys]
    index = np.array(places, np.int64)
    counts = np.bincount(index, minlength=len(numbers)) if len(index) else np.zeros(0, np.int64)
    firsts = np.unique(index, return_index=True)[1] if len(index) else np.zeros(0, np.int64)
    return np.take(x, firsts, axis=axis), index, counts


def _first_of_nothing(x: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """As `_first_seen` of slices without elements: they are all alike."""
    count = x.shape[axis]
    check_room((count,), np.int64)
    index = np.zeros(count, np.int64)
    return np.take(x, index[:1], axis=axis), index, np.array([count][: len(index)])


def _few_integers(x: np.ndarray, index_type: Any) -> tuple[np.ndarray, np.ndarray]:
    """The distinct ones in order of appearance, and where each went, without sorting."""
    keys = x.tolist()
    numbers = dict(zip(dict.fromkeys(keys), itertools.count(), strict=False))
    index = np.fromiter(map(numbers.__getitem__, keys), index_type, len(keys))
    return np.fromiter(numbers, x.dtype, len(numbers)), index


def _first_seen_integers(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    least = int(x.min())
    if (span := int(x.max()) - least + 1) <= _DENSE * len(x):
        return _first_seen_dense(x, least, span)
    values, first, places, counts = np.unique(
        x, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.argsort(first)
    number = np.empty_like(order)
    number[order] = np.arange(len(order))
    return values[order], number[places], counts[order]


def _first_seen_dense(
    x: np.ndarray, least: int, span: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of integers that lie close together: by a table of them all, without sorting `x`."""
    wide = x if x.dtype.itemsize == 8 else x.astype(np.int64)
    at = (wide - wide.dtype.type(least)).astype(np.intp, copy=False)
    first = np.full(span, len(x), np.intp)
    # Of several assignments to one place the last one stays: the first of the integers.
    first[at[::-1]] = np.arange(len(x) - 1, -1, -1)
    order = np.sort(first)
    order = order[: np.searchsorted(order, len(x))]
    numbers = np.empty(span, np.intp)
    numbers[at[order]] = np.arange(len(order))
    return x[order], numbers[at], np.bincount(at, minlength=span)[at[order]]


def _unique_along(x: Any, axis: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    if np.size(axis) == 0:
        if x.ndim != 1:
            raise invalid("unique expects a 1D vector.")
        return _first_seen(x, 0)
    if np.ndim(axis) != 1 or np.size(axis) != 1:
        raise invalid("axis does not support input tensors larger than 1 elements")
    at = int(np.ravel(axis)[0])
    if not -x.ndim <= at < x.ndim:
        raise invalid(f"axis has to be between [0, {x.ndim})")
    return _first_seen(x, at % x.ndim)


def _unique_vector(c: ShapeContext) -> list[Dims]:
    s.with_rank(c.dims(0), 1)
    return [(None,), c.dims(0)]


def _unique_and_counts(c: ShapeContext) -> list[Dims]:
    return [(None,), c.dims(0), (None,)]


def _unique_slices(c: ShapeContext) -> list[Dims]:
    """Along an axis, slices keep their other dimensions; the index is a vector."""
    dims, axis = c.dims(0), c.value(1)
    if axis is not None and axis.size == 0:
        found: list[Dims] = [(None,), s.with_rank(dims, 1), (None,)]
        return found[: c.num_outputs]
    values: Dims = None
    length = None
    if dims is not None:
        values = (None,) * len(dims)
        if len(dims) == 1:
            length = dims[0]
        if axis is not None:
            at = int(np.ravel(axis)[0])
            if not -len(dims) <= at < len(dims):
                raise ValueError(f"axis has to be between [0, {len(dims)})")
            at %= len(dims)
            values, length = (*dims[:at], None, *dims[at + 1 :]), dims[at]
    return [values, (length,), (None,)][: c.num_outputs]


_UNIQUE_ATTRS = "T: type, out_idx: {int32, int64} = int32"
_UNIQUE_V2_ATTRS = "T: type, Taxis: {int32, int64} = int64, out_idx: {int32, int64} = int32"


@op(
    "Unique",
    inputs="x: T",
    outputs="y: T, idx: out_idx",
    attrs=_UNIQUE_ATTRS,
    shape=_unique_vector,
    # With a GPU's work, as in TensorFlow: optimizers have it beside the variables they update.
    traits=HOST | ON_DEVICE,
)
def unique_(xp: Any, x: Any, *, out_idx: DType) -> Any:
    if x.ndim == 1 and x.dtype.kind in "iu" and len(x) < _FEW:
        return _few_integers(x, out_idx.np_storage)
    y, idx, _ = _unique_along(x, ())
    return y, idx.astype(out_idx.np_storage)


@op(
    "UniqueV2",
    inputs="x: T, axis: Taxis",
    outputs="y: T, idx: out_idx",
    attrs=_UNIQUE_V2_ATTRS,
    shape=_unique_slices,
    traits=HOST,
)
def unique_v2_(xp: Any, x: Any, axis: Any, *, out_idx: DType) -> Any:
    y, idx, _ = _unique_along(x, axis)
    return y, idx.astype(out_idx.np_storage)


@op(
    "UniqueWithCounts",
    inputs="x: T",
    outputs="y: T, idx: out_idx, count: out_idx",
    attrs=_UNIQUE_ATTRS,
    shape=_unique_and_counts,
    traits=HOST,
)
def unique_with_counts_(xp: Any, x: Any, *, out_idx: DType) -> Any:
    y, idx, count = _unique_along(x, ())
    return y, idx.astype(out_idx.np_storage), count.astype(out_idx.np_storage)


@op(
    "UniqueWithCountsV2",
    inputs="x: T, axis: Taxis",
    outputs="y: T, idx: out_idx, count: out_idx",
    attrs=_UNIQUE_V2_ATTRS,
    shape=_unique_slices,
    traits=HOST,
)
def unique_with_counts_v2_(xp: Any, x: Any, axis: Any, *, out_idx: DType) -> Any:
    y, idx, count = _unique_along(x, axis)
    return y, idx.astype(out_idx.np_storage), count.astype(out_idx.np_storage)


def _two_vectors(c: ShapeContext) -> list[Dims]:
    s.with_rank(c.dims(0), 1)
    s.with_rank(c.dims(1), 1)
    return [(None,), (None,)]


@op(
    "ListDiff",
    inputs="x: T, y: T",
    outputs="out: T, idx: out_idx",
    attrs="T: type, out_idx: {int32, int64} = int32",
    shape=_two_vectors,
    traits=HOST,
)
def list_diff_(xp: Any, x: Any, y: Any, *, out_idx: DType) -> Any:
    for what, value in (("x", x), ("y", y)):
        if value.ndim != 1:
            raise invalid(f"{what} should be a 1D vector.")
    known = set(y.tolist())
    kept = [i for i, item in enumerate(x.tolist()) if item not in known]
    index = np.array(kept, np.int64)
    return x[index], index.astype(out_idx.np_storage)


def unique(x: Any, out_idx: DType = dtypes.int32, name: str | None = None) -> Any:
    """The distinct elements of a vector, and for each element the number of its value."""
    return unique_(x, out_idx=out_idx, name=name)


def unique_with_counts(x: Any, out_idx: DType = dtypes.int32, name: str | None = None) -> Any:
    """`unique`, and how often each distinct element occurs."""
    return unique_with_counts_(x, out_idx=out_idx, name=name)


def setdiff1d(x: Any, y: Any, index_dtype: DType = dtypes.int32, name: str | None = None) -> Any:
    """The elements of `x` that are not in `y`, and where they are."""
    return list_diff_(x, y, out_idx=index_dtype, name=name)


def listdiff(x: Any, y: Any, out_idx: DType = dtypes.int32, name: str | None = None) -> Any:
    """An older name of `setdiff1d`."""
    return list_diff_(x, y, out_idx=out_idx, name=name)
