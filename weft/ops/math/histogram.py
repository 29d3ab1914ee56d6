"""Ops that sort values into bins and count them."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.graph import shape_fn as s
from weft.graph.by_library import by_library
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.graph.op_def import op, raw
from weft.ops.array import array
from weft.ops.kit.operands import operands
from weft.ops.kit.shared import invalid
from weft.ops.kit.value_checks import require
from weft.ops.math.casts import cast
from weft.ops.math.reduce import reduce_max, reduce_prod

Array = Any


@op(
    "Bucketize",
    inputs="input: T",
    outputs="output: int32",
    attrs="T: {int32, int64, float, double}, boundaries: list(float)",
    shape=s.unchanged,
)
def bucketize_op(xp: Any, input: Array, *, boundaries: list[float]) -> Array:
    bins = xp.searchsorted(_edges(boundaries), _comparable(input), side="right")
    return bins.astype(np.int32)


def _comparable(input: Array) -> Array:
    """Numbers as they are compared with boundaries: C makes 32-bit floats of integers."""
    whole = input.dtype.kind in "iu"
    return (input.astype(np.float32) if whole else input).astype(np.float64)


def _edges(boundaries: list[float]) -> np.ndarray:
    edges = np.array(boundaries, np.float32)
    if np.any(np.diff(edges) < 0):
        raise invalid("Expected sorted boundaries")
    return edges.astype(np.float64)


@bucketize_op.prepared
def _(c: Any) -> Any:
    boundaries = c.attr("boundaries")
    if sorted(boundaries) != boundaries:
        return None
    edges = _edges(boundaries)
    return lambda x: edges.searchsorted(_comparable(x), side="right").astype(np.int32)


def _one_per_bin(c: s.ShapeContext) -> s.Dims:
    (ends,) = s.with_rank(c.dims(1), 1)
    if ends not in (None, 2):
        raise ValueError(f"Dimension must be 2 but is {ends}")
    s.with_rank(c.dims(2), 0)
    count = c.value(2)
    if count is not None and count <= 0:
        raise ValueError(f"Requires nbins > 0: {count}")
    return (None if count is None else int(count),)


@op(
    "HistogramFixedWidth",
    inputs="values: T, value_range: T, nbins: int32",
    outputs="out: dtype",
    attrs="T: {int32, int64, float, double}, dtype: {int32, int64} = int32",
    shape=_one_per_bin,
    static="nbins",
)
def histogram_fixed_width_op(
    xp: Any, values: Array, value_range: Array, nbins: np.ndarray, *, dtype: DType
) -> Array:
    count = int(nbins)
    if count <= 0:
        raise invalid(f"nbins should be a positive number, but got '{nbins}'")
    low, high = value_range[0], value_range[1]
    message = "value_range should satisfy value_range[0] < value_range[1], but got"
    require(xp, low < high, lambda: invalid(f"{message} '[{low}, {high}]'"))
    if values.dtype.kind == "f":
        unfit = "Histogram values must not contain NaN"
        require(xp, ~xp.isnan(values), lambda: invalid(unfit))
    width = (high - low).astype(np.float64) / count
    offset = (xp.maximum(values.reshape(-1), low) - low).astype(np.float64)
    place = xp.minimum(offset / width, count - 1)
    # Of a range without an end, every part is the first.
    bins = xp.where(xp.isnan(place), 0, place).astype(np.int32)
    return _count(xp, bins, count, dtype.np_storage)


@by_library
def _count(xp: Any, bins: Array, count: int, dtype: np.dtype) -> Array:
    return xp.zeros(count, dtype).at[bins].add(1)


@_count.numpy
def _(xp: Any, bins: Array, count: int, dtype: np.dtype) -> Array:
    return np.bincount(bins, minlength=count).astype(dtype)


def _packed_shape(c: s.ShapeContext) -> s.Dims:
    dims = s.with_rank_at_least(c.dims(0), 1)
    s.with_rank(c.dims(1), 0)
    if dims is None:
        return None
    last = dims[-1]
    if last is not None and last % 8:
        raise ValueError(f"Dimension size must be evenly divisible by 8 but is {last}")
    return (*dims[:-1], None if last is None else last // 8)


@op(
    "CompareAndBitpack",
    inputs="input: T, threshold: T",
    outputs="output: uint8",
    attrs="T: {bool, half, float, double, int8, int16, int32, int64}",
    shape=_packed_shape,
)
def compare_and_bitpack(xp: Any, input: Array, threshold: Array) -> Array:
    if not input.ndim or input.shape[-1] % 8:
        message = f"Inner dimension of input should be divisible by 8, shape: {s.show(input.shape)}"
        raise invalid(message)
    above = input if input.dtype == bool else input > threshold
    groups = above.reshape((*input.shape[:-1], input.shape[-1] // 8, 8))
    weights = np.array([128, 64, 32, 16, 8, 4, 2, 1], np.uint8)
    return xp.sum(groups.astype(np.uint8) * weights, axis=-1, dtype=np.uint8)


def _bincount_shape(c: s.ShapeContext) -> s.Dims:
    s.with_rank(c.dims(1), 0)
    size = c.value(1)
    if size is not None and size < 0:
        raise ValueError(f"size ({size}) must be non-negative")
    return (None if size is None else int(size),)


@op(
    "Bincount",
    inputs="arr: int32, size: int32, weights: T",
    outputs="bins: T",
    attrs="T: {int32, int64, float, double}",
    shape=_bincount_shape,
    static="size",
)
def bincount_op(xp: Any, arr: Array, size: np.ndarray, weights: Array) -> Array:
    count, values = int(size), arr.reshape(-1)
    if count < 0:
        raise invalid(f"size ({count}) must be non-negative")
    if weights.size and weights.size != values.size:
        message = "weights must be the same shape as arr or otherwise a length-0"
        raise invalid(f"{message} `Tensor`, in which case it acts as all weights equal to 1.")
    require(xp, values >= 0, lambda: invalid("Input arr must be non-negative!"))
    amounts = weights.reshape(-1) if weights.size else xp.ones(values.shape, weights.dtype)
    return _add_up(xp, values, amounts, count)


@by_library
def _add_up(xp: Any, values: Array, amounts: Array, count: int) -> Array:
    """The amounts at each value below `count`."""
    return xp.zeros(count, amounts.dtype).at[values].add(amounts, mode="drop")


@_add_up.numpy
def _(xp: Any, values: Array, amounts: Array, count: int) -> Array:
    bins, kept = np.zeros(count, amounts.dtype), values < count
    np.add.at(bins, values[kept], amounts[kept])
    return bins


# ---- public functions -------------------------------------------------------------------------


def bincount(
    arr: Any,
    weights: Any = None,
    minlength: Any = None,
    maxlength: Any = None,
    dtype: Any = dtypes.int32,
) -> Tensor:
    """How often (or with what total weight) each of 0, 1, 2, ... occurs in `arr`."""
    with name_scope("bincount"):
        arr = convert_to_tensor(arr, name="arr", dtype=dtypes.int32)
        filled = cast(reduce_prod(array.shape(arr)) > 0, dtypes.int32)
        bins = filled * (reduce_max(arr) + 1)
        limits = (("minlength", minlength, raw.Maximum), ("maxlength", maxlength, raw.Minimum))
        for name, length, limited in limits:
            if length is not None:
                bins = limited(convert_to_tensor(length, dtypes.int32, name), bins)
        if weights is None:
            return raw.Bincount(arr, bins, constant([], dtype=dtype))
        return raw.UnsortedSegmentSum(convert_to_tensor(weights, name="weights"), arr, bins)


def histogram_fixed_width(
    values: Any,
    value_range: Any,
    nbins: Any = 100,
    dtype: Any = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """How many values fall into each of `nbins` equal parts of `value_range`; the ends take all."""
    arguments = [values, value_range, nbins]
    with name_scope(name, "histogram_fixed_width", arguments) as scope:
        return raw.HistogramFixedWidth(*arguments, dtype=dtype, name=scope)


def histogram_fixed_width_bins(
    values: Any,
    value_range: Any,
    nbins: Any = 100,
    dtype: Any = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """The number of the bin of `histogram_fixed_width` that each value falls into."""
    scope = operands(name, "histogram_fixed_width_bins", value_range, nbins, values=values)
    with scope as (_, values):
        shape, flat = array.shape(values), array.reshape(values, [-1])
        ends = convert_to_tensor(value_range, name="value_range")
        count = cast(convert_to_tensor(nbins, dtypes.int32, "nbins"), values.dtype)
        above = flat - ends[0]
        found = count * raw.RealDiv(above, ends[1] - ends[0], name="scaled_values")
        found = raw.Floor(found, name="indices")
        last = count - 1
        with name_scope(None, "clip_by_value", [found, last]) as clipped:
            bins = raw.Maximum(raw.Minimum(found, last), 0, name=clipped)
        return array.reshape(cast(bins, dtypes.int32), shape)


def bucketize(input: Any, boundaries: list[float], name: str | None = None) -> Tensor:
    """How many of the sorted `boundaries` are not above each element."""
    return raw.Bucketize(input, boundaries=boundaries, name=name)
