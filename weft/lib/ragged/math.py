"""tf.ragged.range, and what reductions and segment functions do with ragged arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.core import dtypes
from weft.graph.constant_value import constant_value
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import control_dependencies, name_scope
from weft.graph.op_def import raw
from weft.graph.tensor import Tensor
from weft.lib.ragged.mapping import map_flat_values
from weft.lib.ragged.rows import (
    INDEX_TYPES,
    lengths_to_splits,
    positive_axis,
    ranges,
    row_splits_to_segment_ids,
    splits_to_lengths,
)
from weft.lib.ragged.tensor import (
    RaggedTensor,
    convert_alike,
    convert_to_tensor_or_ragged_tensor,
    is_ragged,
)
from weft.ops.array import array
from weft.ops.array.gather import gather
from weft.ops.control import check
from weft.ops.kit.shared import deprecated_alias
from weft.ops.math import math, segment

_NUMBERS = [dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64]


def range(
    starts: Any,
    limits: Any = None,
    deltas: Any = 1,
    dtype: Any = None,
    name: str | None = None,
    row_splits_dtype: Any = dtypes.int64,
) -> RaggedTensor:
    """A row of numbers for each start, up to its limit, in steps of its delta."""
    if limits is None:
        starts, limits = 0, starts
    with name_scope(name, "RaggedRange", [starts, limits, deltas]) as name:
        named = {"starts": starts, "limits": limits, "deltas": deltas}
        ends = [convert_to_tensor(v, dtype=dtype, name=key) for key, v in named.items()]
        if dtype is None:
            widest = max((t.dtype for t in ends), key=_NUMBERS.index)
            ends = [math.cast(t, widest) for t in ends]
        splits, values = raw.RaggedRange(
            *ends, Tsplits=dtypes.as_dtype(row_splits_dtype), name=name
        )
        return RaggedTensor.from_row_splits(values, splits, validate=False)


# ---- segments -----------------------------------------------------------------------------------

Segments = Callable[..., Tensor]  # (data, segment_ids, num_segments) -> Tensor


def aggregate(over: Segments, data: Any, ids: Any, number: Any) -> Any:
    """Rows of `data` with the same id become one, column by column."""
    if not (is_ragged(data) or is_ragged(ids)):
        return over(data, ids, number)
    _, (data, ids) = convert_alike({}, data=data, segment_ids=ids)
    if ids.dtype not in INDEX_TYPES:
        raise ValueError("segment_ids must have dtype int32 or int64.")
    if isinstance(ids, RaggedTensor):
        return _aggregate_below(over, data, ids, number)
    lengths = data.row_lengths()
    longest = math.maximum(segment.unsorted_segment_max(lengths, ids, number), 0)
    splits = lengths_to_splits(longest)
    starts = gather(splits, ids)
    # A value goes to the same place in the row that its row becomes part of.
    values = aggregate(over, data.values, ranges(starts, starts + lengths), splits[-1])
    return RaggedTensor.from_row_splits(values, splits, validate=False)


def _aggregate_below(over: Segments, data: Any, ids: RaggedTensor, number: Any) -> Any:
    rule = "segment_ids.shape must be a prefix of data.shape"
    if not isinstance(data, RaggedTensor):
        raise ValueError(f"{rule}, but segment_ids is ragged and data is not.")
    same_rows = check.assert_equal(*(t.row_splits for t in (ids, data)), message=rule)
    with control_dependencies([same_rows]):
        return aggregate(over, data.values, ids.values, number)


def _segment_function(over: Segments, scope: str) -> Callable[..., Any]:
    def function(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Any:
        with name_scope(name, scope, [data, segment_ids, num_segments]):
            return aggregate(over, data, segment_ids, num_segments)

    function.__doc__ = f"As tf.math.{getattr(over, '__name__', over)}, over ragged rows."
    return function


segment_sum = _segment_function(segment.unsorted_segment_sum, "RaggedSegmentSum")
segment_prod = _segment_function(segment.unsorted_segment_prod, "RaggedSegmentProd")
segment_min = _segment_function(segment.unsorted_segment_min, "RaggedSegmentMin")
segment_max = _segment_function(segment.unsorted_segment_max, "RaggedSegmentMax")


def _divided(total: Any, count: Any) -> Any:
    if isinstance(total, RaggedTensor):
        return total.with_flat_values(total.flat_values / count.flat_values)
    return total / count


def _mean_function(
    name: str, scope: str, doc: str, weigh: Callable[..., Any]
) -> Callable[..., Any]:
    """The sums of segments, each divided by what `weigh` makes of its size."""

    def function(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Any:
        segments = segment_ids, num_segments
        with name_scope(name, scope, [data, *segments]):
            total = segment_sum(data, *segments)
            count = segment_sum(map_flat_values(array.ones_like, data), *segments)
            return _divided(total, weigh(count))

    function.__name__, function.__doc__ = name, doc
    return function


segment_mean = _mean_function(
    "segment_mean", "RaggedSegmentMean", "The mean of each segment.", lambda count: count
)
segment_sqrt_n = _mean_function(
    "segment_sqrt_n",
    "RaggedSegmentSqrtN",
    "The sum of each segment divided by the square root of its size.",
    lambda count: map_flat_values(math.sqrt, count),
)


# ---- reductions ---------------------------------------------------------------------------------


def reduce(whole: Callable[..., Tensor], over: Segments, input: Any, axis: Any) -> Any:
    """`input` reduced in `axis`: by `whole` where it is dense, by `over` where it is ragged."""
    if isinstance(axis, Tensor):
        axis = constant_value(axis)
        if axis is None:
            raise ValueError("axis must be known at graph construction time.")
        axis = axis.tolist()
    if not is_ragged(input):
        return whole(input, axis)
    if axis is None:
        return whole(input.flat_values, None)
    input = convert_to_tensor_or_ragged_tensor(input, name="rt_input")
    axes = axis if isinstance(axis, (list, tuple)) else [axis]
    # Inner dimensions first, so that the numbers of outer ones stay as they are.
    for each in sorted((positive_axis(a, input.shape.ndims) for a in axes), reverse=True):
        input = _reduced(whole, over, input, each)
    return input


def _reduced(whole: Any, over: Segments, input: Any, axis: int) -> Any:
    if not isinstance(input, RaggedTensor):
        return whole(input, axis)
    if axis > 1:
        return input.with_values(_reduced(whole, over, input.values, axis - 1))
    if axis == 1:
        rows = array.shape(input.row_splits)[0] - 1
        return aggregate(over, input.values, row_splits_to_segment_ids(input.row_splits), rows)
    lengths = splits_to_lengths(input.row_splits)
    columns = ranges(array.zeros_like(lengths), lengths)
    longest = math.maximum(math.reduce_max(lengths), 0)
    return aggregate(over, input.values, columns, longest)


def _options(axis: Any, keepdims: Any, reduction_indices: Any, keep_dims: Any) -> Any:
    if deprecated_alias("keepdims", keepdims, "keep_dims", keep_dims):
        raise ValueError("keepdims=True is not supported for RaggedTensors.")
    return deprecated_alias("axis", axis, "reduction_indices", reduction_indices)


def _reduction(compute: Callable[[Any, Any], Any], scope: str) -> Callable[..., Any]:
    def function(
        input_tensor: Any,
        axis: Any = None,
        keepdims: Any = None,
        name: str | None = None,
        reduction_indices: Any = None,
        keep_dims: Any = None,
    ) -> Any:
        axis = _options(axis, keepdims, reduction_indices, keep_dims)
        with name_scope(name, scope, [input_tensor, axis]):
            return compute(input_tensor, axis)

    function.__doc__ = f"{scope}: dimensions of a ragged tensor reduced."
    return function


def _sum(input: Any, axis: Any) -> Any:
    return reduce(math.reduce_sum, segment.unsorted_segment_sum, input, axis)


def _prod(input: Any, axis: Any) -> Any:
    return reduce(math.reduce_prod, segment.unsorted_segment_prod, input, axis)


def _min(input: Any, axis: Any) -> Any:
    return reduce(math.reduce_min, segment.unsorted_segment_min, input, axis)


def _max(input: Any, axis: Any) -> Any:
    return reduce(math.reduce_max, segment.unsorted_segment_max, input, axis)


def _mean(input: Any, axis: Any) -> Any:
    ones = map_flat_values(array.ones_like, input)
    return _divided(_sum(input, axis), _sum(ones, axis))


def _as_numbers(compute: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def function(input: Any, axis: Any) -> Any:
        numbers = map_flat_values(math.cast, input, dtypes.int32)
        return map_flat_values(math.cast, compute(numbers, axis), dtypes.bool)

    return function


reduce_sum = _reduction(_sum, "RaggedReduceSum")
reduce_prod = _reduction(_prod, "RaggedReduceProd")
reduce_min = _reduction(_min, "RaggedReduceMin")
reduce_max = _reduction(_max, "RaggedReduceMax")
reduce_mean = _reduction(_mean, "RaggedReduceMean")
reduce_all = _reduction(_as_numbers(_prod), "RaggedReduceAll")
reduce_any = _reduction(_as_numbers(_sum), "RaggedReduceAny")
