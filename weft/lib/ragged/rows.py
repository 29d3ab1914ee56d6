"""Lengths of rows, splits between them, and ranges of positions: the arithmetic of ragged rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.graph.constant_value import constant_value
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import name_scope
from weft.graph.op_def import raw
from weft.graph.tensor import Tensor
from weft.ops.array import array
from weft.ops.array.gather import gather
from weft.ops.control import check
from weft.ops.math import math

MISMATCH = (
    "Input RaggedTensors have mismatched row_splits dtypes; use "
    "RaggedTensor.with_row_splits_dtype() to convert them to compatible dtypes."
)
INDEX_TYPES = dtypes.int32, dtypes.int64


def index_type(splits: Tensor, asked: Any) -> DType:
    """The type asked for, or else that of the splits."""
    return splits.dtype if asked is None else dtypes.as_dtype(asked)


def positive_axis(axis: Any, ndims: int | None) -> int:
    """The axis counted from the front."""
    if not isinstance(axis, int):
        raise TypeError(f"axis must be an int; got {type(axis).__name__}")
    if ndims is None:
        if axis < 0:
            raise ValueError("axis may only be negative if ndims is statically known.")
        return axis
    if not -ndims <= axis < ndims:
        raise ValueError(f"axis={axis} out of bounds: expected {-ndims}<=axis<{ndims}")
    return axis % ndims if ndims else axis


def check_rank(tensor: Any, unfit: dict[int | None, str]) -> None:
    """ValueError with the message for the rank of `tensor`, if there is one."""
    if message := unfit.get(tensor.shape.ndims):
        raise ValueError(message)


def known_rank(tensor: Any) -> int:
    """The number of dimensions, where it was checked to be known."""
    rank = tensor.shape.ndims
    assert rank is not None
    return int(rank)


def int_tensor(value: Any, name: str, dtype: DType) -> Tensor:
    """Whole numbers, cast to `dtype`."""
    tensor = convert_to_tensor(value, name=name, preferred_dtype=dtype)
    if not tensor.dtype.is_integer:
        raise TypeError(f"{name} must be an integer tensor; dtype={tensor.dtype!r}")
    return math.cast(tensor, dtype)


def lengths_to_splits(lengths: Tensor) -> Tensor:
    return array.concat([[0], math.cumsum(lengths)], axis=-1)


def splits_to_lengths(splits: Tensor) -> Tensor:
    return splits[1:] - splits[:-1]


def ranges(starts: Tensor, limits: Tensor) -> Tensor:
    """All positions from each start up to its limit, one range after the other."""
    one = array.ones([], starts.dtype)
    return raw.RaggedRange(starts, limits, one, Tsplits=starts.dtype).rt_dense_values


def rows_at(splits: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
    """The starts and the ends of the chosen rows."""
    return gather(splits, rows), gather(splits, rows + 1)


def check_same_splits(lists: Sequence[Sequence[Tensor]]) -> list[Any]:
    """Assertions that all lists of splits are the same."""
    message = "Inputs must have identical ragged splits"
    first, *rest = lists
    if any(len(each) != len(first) for each in rest):
        raise ValueError(message)
    return [
        check.assert_equal(a, b, message=message)
        for each in rest
        for a, b in zip(first, each, strict=True)
        if a is not b
    ]


# ---- public -------------------------------------------------------------------------------------


def row_splits_to_segment_ids(splits: Any, name: str | None = None, out_type: Any = None) -> Tensor:
    """The row of each value."""
    with name_scope(name, "RaggedSplitsToSegmentIds", [splits]):
        made = convert_to_tensor(splits, preferred_dtype=dtypes.int64, name="splits")
        _check_splits(made)
        ends = array.shape(made, out_type=index_type(made, out_type))[-1]
        return array.repeat(math.range(ends - 1), splits_to_lengths(made), 0)


def _check_splits(splits: Tensor) -> None:
    if splits.dtype not in INDEX_TYPES:
        raise ValueError("splits must have dtype int32 or int64")
    if splits.shape.with_rank(1).as_list() == [0]:
        raise ValueError("Invalid row_splits: []")


def segment_ids_to_row_splits(
    segment_ids: Any, num_segments: Any = None, out_type: Any = None, name: str | None = None
) -> Tensor:
    """Splits of rows of which each value's number is given."""
    if out_type is None:
        given = (v.dtype for v in (segment_ids, num_segments) if isinstance(v, Tensor))
        out_type = next(given, dtypes.int64)
    with name_scope(name, "SegmentIdsToRaggedSplits", [segment_ids]):
        ids = int_tensor(segment_ids, "segment_ids", dtypes.int32)
        ids.shape.assert_has_rank(1)
        if num_segments is not None:
            num_segments = int_tensor(num_segments, "num_segments", dtypes.int32)
            num_segments.shape.assert_has_rank(0)
        lengths = math.bincount(
            ids, minlength=num_segments, maxlength=num_segments, dtype=dtypes.as_dtype(out_type)
        )
        splits = lengths_to_splits(lengths)
        count = None if num_segments is None else constant_value(num_segments)
        if count is not None:
            splits.set_shape([int(count) + 1])
        return splits
