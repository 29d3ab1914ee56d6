"""Reductions of gathered rows that share a segment number, without gathering them first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.by_library import by_library
from weft.graph.graph import Tensor
from weft.graph.op_def import op, raw
from weft.graph.traits import HOST, known
from weft.ops.array.array import shape
from weft.ops.kit.shared import counts_up, invalid
from weft.ops.kit.value_checks import are_within, is_within, must_be_within, must_hold
from weft.ops.math.segment import (
    INDEX,
    check_sorted,
    combine_rows,
    per_row,
    row_counts,
    segment_means,
    segment_sums,
)

Array = Any
# TensorFlow 1.15 has int32 only; graphs of TensorFlow 2 have either.
_SEGMENT_IDS = f"Tsegmentids: {INDEX} = int32"


def _root_means(xp: Any, data: Array, ids: Array, count: int) -> Array:
    """Sums divided by the square root of the number of rows."""
    counts = xp.maximum(row_counts(xp, ids, count, data.dtype), 1)
    return segment_sums(xp, data, ids, count) / per_row(xp.sqrt(counts), data)


def _segment_count(c: s.ShapeContext) -> int | None:
    s.with_rank(c.dims(3), 0)
    count = c.value(3)
    if count is not None and count < 0:
        raise ValueError("Cannot specify a negative value for num_segments")
    return None if count is None else int(count)


def _sparse_shape(c: s.ShapeContext) -> s.Dims:
    data = s.with_rank_at_least(c.dims(0), 1)
    s.merge(s.with_rank(c.dims(1), 1), s.with_rank(c.dims(2), 1))
    count = _segment_count(c) if c.num_inputs == 4 else None
    return None if data is None else (count, *data[1:])


def _check_vectors(indices: Array, segment_ids: Array) -> None:
    for name, value in (("indices", indices), ("segment_ids", segment_ids)):
        if value.ndim != 1:
            raise invalid(f"{name} should be a vector.")
    if indices.shape != segment_ids.shape:
        raise invalid("segment_ids and indices should have same size.")


def _first_outside(values: np.ndarray, limit: int) -> int | None:
    """The position of the first value that is not in [0, limit)."""
    outside = (values < 0) | (values >= limit)
    return int(outside.argmax()) if outside.any() else None


@by_library
def _check_indices(xp: Any, indices: Array, count: int) -> None:
    must_be_within(indices, count)


@_check_indices.numpy
def _(xp: Any, indices: Array, count: int) -> None:
    if (at := _first_outside(indices, count)) is not None:
        raise invalid(f"Bad: indices[{at}] == {indices[at]} out of range [0, {count})")


@by_library
def _check_counted(xp: Any, segment_ids: Array, count: int) -> None:
    """Checks that segments are sorted and below `count`: in a program, by one condition."""
    before = xp.pad(segment_ids[:-1], (1, 0))
    must_hold((segment_ids >= before) & are_within(segment_ids, count))
    is_within(segment_ids, count)


@_check_counted.numpy
def _(xp: Any, segment_ids: Array, count: int) -> None:
    if len(segment_ids) and segment_ids[-1] >= count:
        raise invalid("segment ids must be < num_segments")
    check_sorted(segment_ids)


@by_library
def _check_spread(xp: Any, indices: Array, count: int, segment_ids: Array, segments: int) -> None:
    """Checks what a gradient is spread by."""
    must_be_within(segment_ids, segments)
    must_be_within(indices, count)


@_check_spread.numpy
def _(xp: Any, indices: Array, count: int, segment_ids: Array, segments: int) -> None:
    if len(segment_ids) and segment_ids[-1] >= segments:
        raise invalid("Invalid number of segments")
    if (at := _first_outside(segment_ids, segments)) is not None:
        raise invalid(f"Segment id {segment_ids[at]} out of range [0, {segments}).")
    if (at := _first_outside(indices, count)) is not None:
        raise invalid(f"Index {indices[at]} out of range [0, {count}).")


def _gathered(xp: Any, data: Array, indices: Array) -> Array:
    _check_indices(xp, indices, data.shape[0])
    if isinstance(indices, np.ndarray) and counts_up(indices, data.shape[0]):
        return data
    return data[indices]


def _sparse_segment(name: str, kernel: Callable[..., Array], types: str) -> tuple[Any, Any]:
    """Declares `name`, and `name` with a given number of segments."""
    inputs = "data: T, indices: Tidx, segment_ids: Tsegmentids"
    attrs = f"T: {types}, Tidx: {INDEX} = int32, {_SEGMENT_IDS}"

    @op(name, inputs=inputs, outputs="output: T", attrs=attrs, shape=_sparse_shape, traits=HOST)
    def open_ended(xp: Any, data: Array, indices: Array, segment_ids: Array) -> Array:
        _check_vectors(indices, segment_ids)
        count = check_sorted(segment_ids)
        return kernel(xp, _gathered(xp, data, indices), segment_ids, count)

    @op(
        f"{name}WithNumSegments",
        inputs=f"{inputs}, num_segments: Tnumsegments",
        outputs="output: T",
        attrs=f"{attrs}, Tnumsegments: {INDEX} = int32",
        shape=_sparse_shape,
        static="num_segments",
        traits=known("indices, segment_ids"),
    )
    def counted(
        xp: Any, data: Array, indices: Array, segment_ids: Array, num_segments: np.ndarray
    ) -> Array:
        _check_vectors(indices, segment_ids)
        count = int(num_segments)
        _check_counted(xp, segment_ids, count)
        return kernel(xp, _gathered(xp, data, indices), segment_ids, count)

    return open_ended, counted


def _sparse_segment_grad(name: str, scale: Callable[[Any, Array], Array]) -> None:
    """Declares the gradient of a weighted sum; `scale(xp, counts)` divides the rows."""

    @op(
        name,
        inputs="grad: T, indices: Tidx, segment_ids: Tsegmentids, output_dim0: int32",
        outputs="output: T",
        attrs=f"T: {{float, double}}, Tidx: {INDEX} = int32, {_SEGMENT_IDS}",
        shape=_sparse_shape,
        static="output_dim0",
        traits=known("indices, segment_ids"),
    )
    def spread(
        xp: Any, grad: Array, indices: Array, segment_ids: Array, output_dim0: np.ndarray
    ) -> Array:
        count = int(output_dim0)
        _check_vectors(indices, segment_ids)
        if count:
            _check_spread(xp, indices, count, segment_ids, grad.shape[0])
        counts = xp.maximum(row_counts(xp, segment_ids, grad.shape[0], grad.dtype), 1)
        rows = (grad / per_row(scale(xp, counts), grad))[segment_ids]
        return combine_rows(xp, "add", rows, indices, count, 0)


_sparse_segment_grad("SparseSegmentMeanGrad", lambda xp, counts: counts)
_sparse_segment_grad("SparseSegmentSqrtNGrad", lambda xp, counts: xp.sqrt(counts))


def _sparse_sum_gradient(op: Any, grad: Any) -> Any:
    data, indices, ids = op.inputs[:3]
    dim0 = shape(data)[0]
    dx = raw.UnsortedSegmentSum(raw.GatherV2(grad, ids, 0), indices, dim0)
    return [dx, *[None] * (len(op.inputs) - 1)]


def _sparse_gradient(grad_op: str) -> Callable[..., Any]:
    def gradient(op: Any, grad: Any) -> Any:
        dim0 = shape(op.inputs[0])[0]
        dx = getattr(raw, grad_op)(grad, op.inputs[1], op.inputs[2], dim0)
        return [dx, *[None] * (len(op.inputs) - 1)]

    return gradient


for _definition in _sparse_segment("SparseSegmentSum", segment_sums, "realnumbertype"):
    _definition.gradient(_sparse_sum_gradient)
for _definition in _sparse_segment("SparseSegmentMean", segment_means, "{float, double}"):
    _definition.gradient(_sparse_gradient("SparseSegmentMeanGrad"))
for _definition in _sparse_segment("SparseSegmentSqrtN", _root_means, "{float, double}"):
    _definition.gradient(_sparse_gradient("SparseSegmentSqrtNGrad"))


def _public_sparse(name: str, op_name: str, doc: str) -> Callable[..., Tensor]:
    def function(
        data: Any,
        indices: Any,
        segment_ids: Any,
        name: str | None = None,
        num_segments: Any = None,
    ) -> Tensor:
        if num_segments is None:
            return getattr(raw, op_name)(data, indices, segment_ids, name=name)
        counted = getattr(raw, f"{op_name}WithNumSegments")
        return counted(data, indices, segment_ids, num_segments, name=name)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


sparse_segment_sum = _public_sparse(
    "sparse_segment_sum", "SparseSegmentSum", "Sums of runs of the rows of `data` at `indices`."
)
sparse_segment_mean = _public_sparse(
    "sparse_segment_mean", "SparseSegmentMean", "Means of runs of the rows of `data` at `indices`."
)
sparse_segment_sqrt_n = _public_sparse(
    "sparse_segment_sqrt_n",
    "SparseSegmentSqrtN",
    "Sums of runs of the rows of `data` at `indices`, divided by the square root of their number.",
)
