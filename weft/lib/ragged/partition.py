"""Rows given by numbers, lengths, starts or limits: each becomes splits, checked if asked for."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from weft.core import dtypes
from weft.graph.constant_value import constant_value
from weft.graph.convert import convert_to_tensor
from weft.graph.tensor import Tensor
from weft.lib.ragged.rows import lengths_to_splits
from weft.ops.array import array
from weft.ops.control import check
from weft.ops.control.check_shapes import assert_rank, assert_rank_at_least
from weft.ops.control.control import with_dependencies
from weft.ops.math import math


class Partition(NamedTuple):
    """Values and their splits; what else is known of the rows need not be computed again."""

    values: Any
    splits: Tensor
    lengths: Tensor | None = None
    rowids: Tensor | None = None
    nrows: Tensor | None = None


def is_ragged_tensor(values: Any) -> bool:
    from weft.lib.ragged.tensor import RaggedTensor  # which is made of what is here

    return isinstance(values, RaggedTensor)


def _row_count(values: Any, dtype: Any) -> Tensor:
    if is_ragged_tensor(values):
        return values.nrows(out_type=dtype)
    return array.shape(values, out_type=dtype)[0]


def converted(values: Any, partition: Any, name: str) -> tuple[Any, Tensor]:
    """Both as tensors; splits of different levels have one type."""
    if is_ragged_tensor(values):
        dtype = values.row_splits.dtype
        if not isinstance(partition, Tensor):
            return values, convert_to_tensor(partition, dtype, name=name)
        _check_type(partition, name)
        if partition.dtype != dtype:
            raise ValueError(
                f"dtype mismatch: {name} ({partition.dtype}) vs values.row_splits ({dtype})"
            )
        return values, partition
    values = convert_to_tensor(values, name="values")
    small = isinstance(partition, np.ndarray) and partition.dtype == np.int32
    hint = None if small else dtypes.int64
    partition = convert_to_tensor(partition, preferred_dtype=hint, name=name)
    _check_type(partition, name)
    return values, partition


def _check_type(partition: Tensor, name: str) -> None:
    if partition.dtype not in (dtypes.int32, dtypes.int64):
        raise ValueError(f"{name} must have dtype int32 or int64")


class _Checks:
    """Collects assertions about one argument; `then` makes it depend on them."""

    def __init__(self, factory: str, values: Any, partition: Tensor) -> None:
        self.message = f"Arguments to {factory} do not form a valid RaggedTensor"
        self.values, self.partition = values, partition
        self.found = [assert_rank(partition, 1, message=self.message)]

    def ascending(self) -> None:
        steps = self.partition[1:] - self.partition[:-1]
        self.found.append(check.assert_non_negative(steps, message=self.message))

    def zero(self, value: Tensor) -> None:
        self.equal(value, array.zeros([], value.dtype))

    def equal(self, a: Any, b: Any) -> None:
        self.found.append(check.assert_equal(a, b, message=self.message))

    def non_negative(self, value: Tensor) -> None:
        self.found.append(check.assert_non_negative(value, message=self.message))

    def then(self) -> Tensor:
        if not is_ragged_tensor(self.values):
            self.found.append(assert_rank_at_least(self.values, 1))
        return with_dependencies([c for c in self.found if c is not None], self.partition)


def _vector(values: Any, given: Any, name: str) -> tuple[Any, Tensor]:
    values, tensor = converted(values, given, name)
    tensor.shape.assert_has_rank(1)
    return values, tensor


def from_row_splits(values: Any, row_splits: Any, validate: bool) -> Partition:
    values, splits = _vector(values, row_splits, "row_splits")
    if validate:
        checks = _Checks("from_row_splits", values, splits)
        checks.zero(splits[0])
        checks.ascending()
        checks.equal(splits[-1], _row_count(values, splits.dtype))
        splits = checks.then()
    return Partition(values, splits)


def from_row_lengths(values: Any, row_lengths: Any, validate: bool) -> Partition:
    values, lengths = _vector(values, row_lengths, "row_lengths")
    if validate:
        checks = _Checks("from_row_lengths", values, lengths)
        checks.non_negative(lengths)
        checks.equal(math.reduce_sum(lengths), _row_count(values, lengths.dtype))
        lengths = checks.then()
    return Partition(values, lengths_to_splits(lengths), lengths)


def from_row_starts(values: Any, row_starts: Any, validate: bool) -> Partition:
    values, starts = _vector(values, row_starts, "row_starts")
    count = _row_count(values, starts.dtype)
    if validate:
        checks = _Checks("from_row_starts", values, starts)
        checks.zero(starts[:1])
        checks.ascending()
        checks.found.append(check.assert_less_equal(starts[-1:], count, message=checks.message))
        starts = checks.then()
    return Partition(values, array.concat([starts, [count]], axis=0))


def from_row_limits(values: Any, row_limits: Any, validate: bool) -> Partition:
    values, limits = _vector(values, row_limits, "row_limits")
    if validate:
        checks = _Checks("from_row_limits", values, limits)
        checks.non_negative(limits[:1])
        checks.ascending()
        checks.equal(limits[-1:], _row_count(values, limits.dtype))
        limits = checks.then()
    return Partition(values, array.concat([array.zeros([1], limits.dtype), limits], axis=0))


def from_value_rowids(values: Any, value_rowids: Any, nrows: Any, validate: bool) -> Partition:
    values, ids = _vector(values, value_rowids, "value_rowids")
    nrows, count = _number_of_rows(ids, nrows, validate)
    nrows.shape.assert_has_rank(0)
    values.shape[:1].assert_is_compatible_with(ids.shape)
    if validate:
        checks = _Checks("from_value_rowids", values, ids)
        checks.found.append(assert_rank(nrows, 0, message=checks.message))
        checks.equal(_row_count(values, dtypes.int32), array.shape(ids)[0])
        checks.non_negative(ids[:1])
        checks.ascending()
        checks.found.append(check.assert_less(ids[-1:], nrows, message=checks.message))
        ids = checks.then()
    small = math.cast(nrows, dtypes.int32)
    lengths = math.bincount(
        math.cast(ids, dtypes.int32), minlength=small, maxlength=small, dtype=ids.dtype
    )
    splits = lengths_to_splits(lengths)
    if count is not None:
        lengths.set_shape([count])
        splits.set_shape([count + 1])
    return Partition(values, splits, lengths, ids, nrows)


def _number_of_rows(ids: Tensor, nrows: Any, validate: bool) -> tuple[Tensor, int | None]:
    """(number of rows, the same if it is known now)"""
    known = constant_value(ids)
    last = None if known is None else int(known[-1]) if known.size else -1
    if nrows is None:
        if last is None:
            return array.concat([ids[-1:], [-1]], axis=0)[0] + 1, None
        return convert_to_tensor(last + 1, ids.dtype, name="nrows"), last + 1
    nrows = convert_to_tensor(nrows, ids.dtype, name="nrows")
    found = constant_value(nrows)
    if found is None or np.ndim(found):
        return nrows, None
    count = int(found)
    if count < 0:
        raise ValueError(f"Expected nrows >= 0; got {count}")
    if validate and last is not None and last >= 0 and count < last + 1:
        raise ValueError(
            f"Expected nrows >= value_rowids[-1] + 1; got nrows={count}, value_rowids[-1]={last}"
        )
    return nrows, count
