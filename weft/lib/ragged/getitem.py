"""RaggedTensor's []: rows by number, slices of rows and of what is in them, new dimensions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import name_scope
from weft.graph.tensor import Tensor
from weft.lib.ragged.gather import gather
from weft.lib.ragged.math import range as ragged_range
from weft.lib.ragged.tensor import RaggedTensor
from weft.ops.array import array
from weft.ops.control.cond import cond
from weft.ops.kit.eager import EagerTensor
from weft.ops.math import math

_ALL = slice(None)


def getitem(tensor: RaggedTensor, key: Any) -> Any:
    """Numbers only in the outermost dimension: elsewhere, not every row has such an element."""
    keys = list(key) if isinstance(key, (list, tuple)) else [key]
    with name_scope(None, "RaggedGetItem", [tensor, *_tensors_in(keys)]):
        return _item(tensor, keys)


def _tensors_in(key: Any) -> Iterator[Tensor]:
    if isinstance(key, Tensor):
        yield key
    parts = key if isinstance(key, list) else []
    if isinstance(key, slice):
        parts = [key.start, key.stop, key.step]
    for part in parts:
        yield from _tensors_in(part)


def _item(tensor: RaggedTensor, keys: list[Any]) -> Any:
    if not keys:
        return tensor
    first, *rest = keys
    if first is Ellipsis:
        return _item(tensor, _without_ellipsis(keys, tensor.shape.ndims))
    if first is None:
        inner = _item(tensor, rest)
        return RaggedTensor.from_row_splits(inner, _count(inner, [0, 1]), validate=False)
    if isinstance(first, slice):
        return _inner(_sliced_rows(tensor, first), rest)
    _check_row(tensor, first)
    start, limit = tensor.row_splits[:-1][first], tensor.row_splits[1:][first]
    return tensor.values[start:limit].__getitem__(tuple(rest) if rest else slice(None))


def _check_row(tensor: RaggedTensor, row: Any) -> None:
    """Whether there is a row, as iterations of Python ask for it in eager execution."""
    splits = tensor.row_splits
    if isinstance(row, int) and isinstance(splits, EagerTensor):
        if row >= len(splits.numpy()) - 1:
            raise IndexError(f"Row key {row} out of bounds")


def _count(inner: Any, times: list[int]) -> Tensor:
    """The number of rows, multiplied with each of `times`."""
    if isinstance(inner, RaggedTensor):
        rows = inner.nrows()
    else:
        rows = array.shape(inner, out_type=dtypes.int64)[0]
    return rows * convert_to_tensor(times, rows.dtype)


def _is_all(key: slice) -> bool:
    return key.start is None and key.stop is None and key.step is None


def _sliced_rows(tensor: RaggedTensor, key: slice) -> RaggedTensor:
    if _is_all(key):
        return tensor
    starts, limits = tensor.row_splits[:-1][key], tensor.row_splits[1:][key]
    if key.step is not None and not (isinstance(key.step, int) and key.step == 1):
        return _ranges_of(tensor.values, starts, limits, 1)
    # Without rows there is no first start, and the splits are a single 0.
    zero = array.zeros([1], starts.dtype)
    splits = array.concat([zero[array.size(starts) :], starts[:1], limits], axis=0)
    first, last = splits[0], splits[-1]
    return RaggedTensor.from_row_splits(tensor.values[first:last], splits - first, validate=False)


def _inner(tensor: Any, keys: list[Any]) -> Any:
    """The keys of inner dimensions, applied to every row."""
    if not keys:
        return tensor
    if not isinstance(tensor, RaggedTensor):
        return tensor[(_ALL, *keys)]
    first, *rest = keys
    if first is Ellipsis:
        return _inner(tensor, _without_ellipsis(keys, tensor.values.shape.ndims))
    if first is None:
        inner = _inner(tensor, rest)
        splits = math.range(_count(inner, [1])[0] + 1)
        return RaggedTensor.from_row_splits(inner, splits, validate=False)
    if not isinstance(first, slice):
        raise ValueError("Cannot index into an inner ragged dimension.")
    if _is_all(first):
        return tensor.with_values(_inner(tensor.values, rest))
    starts, limits = tensor.row_splits[:-1], tensor.row_splits[1:]
    new_starts, new_limits = starts, limits
    if first.start is not None and not _is_zero(first.start):
        new_starts = _moved(first.start, starts, limits)
    if first.stop is not None and not _is_zero(first.stop):
        new_limits = _moved(first.stop, starts, limits)
    sliced = _ranges_of(tensor.values, new_starts, new_limits, first.step)
    return sliced.with_values(_inner(sliced.values, rest))


def _is_zero(value: Any) -> bool:
    return isinstance(value, int) and value == 0


def _moved(offset: Any, starts: Tensor, limits: Tensor) -> Tensor:
    """The position `offset` in each row, counted from its end if negative."""
    if isinstance(offset, Tensor):
        offset = math.cast(offset, starts.dtype)
        return cond(
            offset >= 0,
            lambda: math.minimum(starts + offset, limits),
            lambda: math.maximum(limits + offset, starts),
        )
    if not isinstance(offset, int):
        raise TypeError("slice offsets must be integers or None")
    if offset > 0:
        return math.minimum(starts + offset, limits)
    return math.maximum(limits + offset, starts)


def _ranges_of(values: Any, starts: Tensor, limits: Tensor, step: Any) -> RaggedTensor:
    step = convert_to_tensor(1 if step is None else step, name="step")
    if not step.dtype.is_integer:
        raise TypeError("slice strides must be integers or None")
    step = math.cast(step, starts.dtype)
    places = ragged_range(starts, limits, step, row_splits_dtype=starts.dtype)
    return places.with_values(gather(values, places.values))


def _without_ellipsis(keys: list[Any], dims: int | None) -> list[Any]:
    """An ellipsis in front as one slice and itself, until it stands for nothing."""
    if dims is None:
        raise ValueError("Ellipsis not supported for unknown shape RaggedTensors")
    count = sum(key is not None for key in keys)
    if count > dims + 1:
        raise IndexError("Too many indices for RaggedTensor")
    return keys[1:] if count == dims + 1 else [_ALL, *keys]
