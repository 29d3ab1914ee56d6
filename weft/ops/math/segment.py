"""Reductions of rows that share a segment number: sorted and unsorted.

Where the number of segments is not an input the shape of the result depends on values, so these
run on the host. Negative segment numbers drop a row in the unsorted ops.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from weft.core import dtypes
from weft.graph import shape_fn as s
from weft.graph.by_library import by_library
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.graph.op_def import op, raw
from weft.graph.traits import HOST, known
from weft.ops.array.array import (
    expand_dims,
    fill,
    ones,
    ones_like,
    rank,
    reshape,
    shape,
    zeros_like,
)
from weft.ops.kit.declare import cast_to, is_integer, public
from weft.ops.kit.shared import counts_up, invalid
from weft.ops.kit.value_checks import require_below
from weft.ops.math.reduce import wide

Array = Any
INDEX = "{int32, int64}"
# More segments than any memory holds.
_MOST = 2**48

# How rows are combined: NumPy's ufunc, and the method of jax.numpy's `array.at[...]`.
_UFUNCS = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}


@by_library
def combine_rows(xp: Any, how: str, data: Array, ids: Array, count: int, start: Any) -> Array:
    """`count` rows that start as `start` and take in row i of `data` at `ids[i]`.

    Rows with a number outside [0, count) are dropped.
    """
    if isinstance(ids, np.ndarray) and counts_up(ids, count):
        return data
    rows, shape = xp.where(ids < 0, count, ids), (count, *data.shape[1:])
    return getattr(xp.full(shape, start, data.dtype).at[rows], how)(data, mode="drop")


@combine_rows.numpy
def _(xp: Any, how: str, data: Array, ids: Array, count: int, start: Any) -> Array:
    result = np.full((count, *data.shape[1:]), start, data.dtype)
    kept = (ids >= 0) & (ids < count)
    if not kept.all():
        data, ids = data[kept], ids[kept]
    if len(ids) and count:
        if np.any(np.diff(ids) < 0):
            order = np.argsort(ids, kind="stable")
            data, ids = data[order], ids[order]
        firsts = np.flatnonzero(np.concatenate([[True], np.diff(ids) != 0]))
        result[ids[firsts]] = _UFUNCS[how].reduceat(data, firsts, axis=0, dtype=data.dtype)
    return result


def row_counts(xp: Any, ids: Array, count: int, dtype: Any) -> Array:
    """How many rows each segment has."""
    return combine_rows(xp, "add", xp.ones(ids.shape, dtype), ids, count, 0)


def per_row(counts: Array, like: Array) -> Array:
    return counts.reshape(counts.shape + (1,) * (like.ndim - 1))


def segment_sums(xp: Any, data: Array, ids: Array, count: int) -> Array:
    return combine_rows(xp, "add", wide(data), ids, count, 0).astype(data.dtype)


def segment_means(xp: Any, data: Array, ids: Array, count: int) -> Array:
    total = combine_rows(xp, "add", wide(data), ids, count, 0)
    counts = xp.maximum(row_counts(xp, ids, count, total.dtype), 1)
    if is_integer(data):
        return (xp.sign(total) * (abs(total) // per_row(counts, total))).astype(data.dtype)
    return (total / per_row(counts, total)).astype(data.dtype)


def _products(xp: Any, data: Array, ids: Array, count: int) -> Array:
    return combine_rows(xp, "mul", wide(data), ids, count, 1).astype(data.dtype)


def _extremes(how: str) -> Callable[..., Array]:
    def kernel(xp: Any, data: Array, ids: Array, count: int) -> Array:
        """Rows of segments without data hold the limit of the type."""
        limits = np.iinfo(data.dtype) if is_integer(data) else ml_dtypes.finfo(data.dtype)
        start = limits.min if how == "max" else limits.max
        return combine_rows(xp, how, data, ids, count, start)

    return kernel


_largest, _smallest = _extremes("max"), _extremes("min")


# ---- sorted segments --------------------------------------------------------------------------


def _segment_shape(c: s.ShapeContext) -> s.Dims:
    data = s.with_rank_at_least(c.dims(0), 1)
    s.with_rank(c.dims(1), 1)
    return None if data is None else (None, *data[1:])


def check_sorted(ids: np.ndarray) -> int:
    """The number of segments of sorted ids; errors in the order TensorFlow meets them."""
    if not len(ids):
        return 0
    count = int(ids[-1]) + 1
    if count <= 0:
        raise invalid("segment ids must be >= 0")
    if count > _MOST:
        raise invalid(f"segment id {count - 1} is too large: there would be {count} segments")
    runs = ids[np.concatenate([[True], np.diff(ids) != 0])]
    falls = np.append(np.diff(runs) < 0, False)
    outside = (runs < 0) | (runs >= count)
    if (wrong := falls | outside).any():
        first = int(wrong.argmax())
        if falls[first]:
            raise invalid("segment ids are not increasing")
        raise invalid(
            f"Segment id {runs[first]} out of range [0, {count}), possibly because"
            " 'segment_ids' input is not sorted."
        )
    return count


def _segment(name: str, kernel: Callable[..., Array], types: str, empty: Any = None) -> Any:
    """Declares a sorted reduction; `empty` fills segments without rows."""

    @op(
        name,
        inputs="data: T, segment_ids: Tindices",
        outputs="output: T",
        attrs=f"T: {types}, Tindices: {INDEX}",
        shape=_segment_shape,
        traits=HOST,
    )
    def segment(xp: Any, data: np.ndarray, segment_ids: np.ndarray) -> np.ndarray:
        if segment_ids.ndim != 1:
            raise invalid("segment_ids should be a vector.")
        if not data.ndim or len(segment_ids) != data.shape[0]:
            raise invalid("segment_ids should be the same size as dimension 0 of input.")
        count = check_sorted(segment_ids)
        result = kernel(np, data, segment_ids, count)
        if empty is not None:
            result[row_counts(np, segment_ids, count, np.int64) == 0] = empty
        return result

    return segment


segment_sum_op = _segment("SegmentSum", segment_sums, "numbertype")
segment_mean_op = _segment("SegmentMean", segment_means, "numbertype")
segment_prod_op = _segment("SegmentProd", _products, "numbertype")
segment_max_op = _segment("SegmentMax", _largest, "realnumbertype", empty=0)
segment_min_op = _segment("SegmentMin", _smallest, "realnumbertype", empty=0)


@segment_sum_op.gradient
def _(op: Any, grad: Any) -> Any:
    return raw.GatherV2(grad, op.inputs[1], 0), None


@segment_mean_op.gradient
def _(op: Any, grad: Any) -> Any:
    data, ids = op.inputs
    count, rows = rank(data), shape(ids)
    dims = raw.ConcatV2([rows, fill(expand_dims(count - 1, 0), 1)], 0, name="concat")
    ones_like_rows = fill(dims, constant(1, dtype=grad.dtype.base_dtype))
    counts = raw.SegmentSum(ones_like_rows, ids)
    scaled_grad = grad / counts
    return raw.GatherV2(scaled_grad, ids, 0), None


def _segment_extreme_gradient(op: Any, grad: Any) -> Any:
    """Shared evenly by the rows that attain the extreme."""
    data, ids = op.inputs
    nothing = zeros_like(data)
    is_selected = raw.Equal(data, raw.GatherV2(op.outputs[0], ids, 0))
    num_selected = raw.SegmentSum(cast_to(is_selected, grad.dtype.base_dtype), ids)
    gathered_grads = raw.GatherV2(grad / num_selected, ids, 0)
    return raw.Select(is_selected, gathered_grads, nothing), None


segment_max_op.gradient(_segment_extreme_gradient)
segment_min_op.gradient(_segment_extreme_gradient)


def _product_factors(
    op: Any, grad: Tensor, sums: Callable[[Tensor], Tensor], products: Callable[[Tensor], Tensor],
    places: Callable[[], Tensor],
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """The gradient of products of segments: by segment, the factor for each element, its segment.

    The factor is product / element, without dividing by zeros: with one zero in a segment only that
    element has a gradient, the product of the others; with more, none has.
    """
    data = op.inputs[0]
    is_zero = raw.Equal(data, 0)
    num_zeros = sums(cast_to(is_zero, dtypes.int32))
    grad = raw.Select(raw.Greater(num_zeros, 1), zeros_like(grad), grad)
    non_zero_prod = products(raw.Select(is_zero, ones_like(data), data))
    ids = places()
    gathered_prod = raw.GatherV2(op.outputs[0], ids, 0)
    gathered_non_zero_prod = raw.GatherV2(non_zero_prod, ids, 0)
    return grad, raw.Select(is_zero, gathered_non_zero_prod, gathered_prod / data), ids


@segment_prod_op.gradient
def _(op: Any, grad: Any) -> Any:
    ids = op.inputs[1]
    grad, partial, _ = _product_factors(
        op,
        grad,
        lambda rows: raw.SegmentSum(rows, ids),
        lambda rows: raw.SegmentProd(rows, ids),
        lambda: ids,
    )
    return raw.GatherV2(grad, ids, 0) * partial, None


# ---- unsorted segments ------------------------------------------------------------------------


def _scalar_value(c: s.ShapeContext, i: int) -> int | None:
    s.with_rank(c.dims(i), 0)
    value = c.value(i)
    if value is not None and value < 0:
        raise ValueError(
            f"Dimension size, given by scalar input {i}, must be non-negative but is {int(value)}"
        )
    return None if value is None else int(value)


def _unsorted_shape(c: s.ShapeContext) -> s.Dims:
    data, ids = c.dims(0), c.dims(1)
    s.with_rank(c.dims(2), 0)
    if data is None or ids is None:
        return None
    s.merge_prefix(data, ids)
    count = _scalar_value(c, 2)
    return (count, *data[len(ids) :])


def _out_of_range(segment_ids: np.ndarray, count: int) -> Exception:
    at = tuple(np.argwhere(segment_ids >= count)[0].tolist())
    index = f"[{','.join(map(str, at))}]" if at else ""
    return invalid(f"segment_ids{index} = {segment_ids[at]} is out of range [0, {count})")


def _unsorted(name: str, kernel: Callable[..., Array], types: str) -> Any:
    @op(
        name,
        inputs="data: T, segment_ids: Tindices, num_segments: Tnumsegments",
        outputs="output: T",
        attrs=f"T: {types}, Tindices: {INDEX}, Tnumsegments: {INDEX} = int32",
        shape=_unsorted_shape,
        static="num_segments",
        traits=known("segment_ids"),
    )
    def unsorted(xp: Any, data: Array, segment_ids: Array, num_segments: np.ndarray) -> Array:
        count, depth = int(num_segments), segment_ids.ndim
        if count < 0:
            raise invalid(f"Input num_segments == {count} must not be negative.")
        if data.shape[:depth] != segment_ids.shape:
            raise invalid(
                f"data.shape = {s.show(data.shape)} does not start with segment_ids.shape = "
                f"{s.show(segment_ids.shape)}"
            )
        if data.size:
            require_below(xp, segment_ids, count, lambda: _out_of_range(segment_ids, count))
        rows = data.reshape((segment_ids.size, *data.shape[depth:]))
        return kernel(xp, rows, segment_ids.reshape(-1), count)

    return unsorted


unsorted_sum = _unsorted("UnsortedSegmentSum", segment_sums, "numbertype")
unsorted_prod = _unsorted("UnsortedSegmentProd", _products, "numbertype")
unsorted_max = _unsorted("UnsortedSegmentMax", _largest, "realnumbertype")
unsorted_min = _unsorted("UnsortedSegmentMin", _smallest, "realnumbertype")


def _gather_drop_negatives(
    params: Tensor, ids: Tensor, clipped: Tensor | None = None, is_positive: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Rows of `params` at `ids`, zeros where an id is negative; and what to reuse for more rows."""
    if clipped is None:
        clipped = raw.Maximum(ids, zeros_like(ids))
    gathered = raw.GatherV2(params, clipped, 0)
    if is_positive is None:
        is_positive = raw.GreaterEqual(ids, 0)
        is_positive = _with_rank_of(is_positive, gathered)
        is_positive = is_positive & ones_like(gathered, dtype=dtypes.bool)
    return raw.Select(is_positive, gathered, zeros_like(gathered)), clipped, is_positive


def _with_rank_of(mask: Tensor, rows: Tensor) -> Tensor:
    """`mask` with further dimensions of one, as many as `rows` has."""
    if mask.dims is not None and rows.dims is not None:
        for _ in range(len(rows.dims) - len(mask.dims)):
            mask = expand_dims(mask, -1)
        return mask
    missing = raw.Sub(raw.Rank(rows), raw.Rank(mask))
    ones = raw.Fill(expand_dims(missing, 0), 1)
    found: Tensor = raw.Reshape(mask, raw.ConcatV2([raw.Shape(mask), ones], 0))
    return found


@unsorted_sum.gradient
def _(op: Any, grad: Any) -> Any:
    return _gather_drop_negatives(grad, op.inputs[1])[0], None, None


def _unsorted_extreme_gradient(op: Any, grad: Any) -> Any:
    """Shared evenly by the elements that attain the extreme."""
    data, ids, count = op.inputs
    gathered, clipped, is_positive = _gather_drop_negatives(op.outputs[0], ids)
    is_selected = raw.LogicalAnd(raw.Equal(data, gathered), is_positive)
    selected = cast_to(is_selected, grad.dtype.base_dtype)
    weighted_grads = grad / raw.UnsortedSegmentSum(selected, ids, count)
    gathered_grads, _, _ = _gather_drop_negatives(weighted_grads, ids, clipped, is_positive)
    return raw.Select(is_selected, gathered_grads, zeros_like(gathered_grads)), None, None


unsorted_max.gradient(_unsorted_extreme_gradient)
unsorted_min.gradient(_unsorted_extreme_gradient)


@unsorted_prod.gradient
def _(op: Any, grad: Any) -> Any:
    _, ids, count = op.inputs
    grad, partial, clipped = _product_factors(
        op,
        grad,
        lambda rows: raw.UnsortedSegmentSum(rows, ids, count),
        lambda rows: raw.UnsortedSegmentProd(rows, ids, count),
        lambda: raw.Maximum(ids, zeros_like(ids)),
    )
    return _gather_drop_negatives(grad, ids, clipped)[0] * partial, None, None


# ---- public functions -------------------------------------------------------------------------


def _rows_per_segment(data: Tensor, segment_ids: Tensor, num_segments: Any) -> Tensor:
    """How many rows each segment has, at least 1, in a shape that broadcasts against the sums."""
    each = ones(shape(segment_ids), dtype=data.dtype.base_dtype)
    counts = raw.UnsortedSegmentSum(each, segment_ids, num_segments)
    if data.dims is None or segment_ids.dims is None:
        raise TypeError("The ranks of `data` and `segment_ids` must be known.")
    extra = [1] * (len(data.dims) - len(segment_ids.dims))
    return raw.Maximum(reshape(counts, [num_segments, *extra]), 1)


def unsorted_segment_mean(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Tensor:
    """Means of rows with one id."""
    with name_scope(name, "UnsortedSegmentMean"):
        data, segment_ids = convert_to_tensor(data), convert_to_tensor(segment_ids)
        counts = _rows_per_segment(data, segment_ids, num_segments)
        return raw.UnsortedSegmentSum(data, segment_ids, num_segments) / counts


def unsorted_segment_sqrt_n(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Tensor:
    """Sums of rows with one id, divided by the square root of their number."""
    with name_scope(name, "UnsortedSegmentSqrtN"):
        data, segment_ids = convert_to_tensor(data), convert_to_tensor(segment_ids)
        counts = _rows_per_segment(data, segment_ids, num_segments)
        return raw.UnsortedSegmentSum(data, segment_ids, num_segments) / raw.Sqrt(counts)


_SEGMENTS = "data, segment_ids"
segment_sum = public("segment_sum", "SegmentSum", "Sums of runs of rows.", _SEGMENTS)
segment_mean = public("segment_mean", "SegmentMean", "Means of runs of rows.", _SEGMENTS)
segment_prod = public("segment_prod", "SegmentProd", "Products of runs of rows.", _SEGMENTS)
segment_max = public("segment_max", "SegmentMax", "Maxima of runs of rows.", _SEGMENTS)
segment_min = public("segment_min", "SegmentMin", "Minima of runs of rows.", _SEGMENTS)
_UNSORTED = "data, segment_ids, num_segments"
unsorted_segment_sum = public(
    "unsorted_segment_sum", "UnsortedSegmentSum", "Sums of rows with one id.", _UNSORTED
)
unsorted_segment_prod = public(
    "unsorted_segment_prod", "UnsortedSegmentProd", "Products of rows with one id.", _UNSORTED
)
unsorted_segment_max = public(
    "unsorted_segment_max", "UnsortedSegmentMax", "Maxima of rows with one id.", _UNSORTED
)
unsorted_segment_min = public(
    "unsorted_segment_min", "UnsortedSegmentMin", "Minima of rows with one id.", _UNSORTED
)
