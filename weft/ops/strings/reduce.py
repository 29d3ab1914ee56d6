"""Joining strings along axes, by segment, and into n-grams."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from weft.core import dtypes, errors
from weft.core.step_limits import long, looking_up
from weft.graph import shape_fn as s
from weft.graph.constant import constant
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import name_scope
from weft.graph.op_def import op, raw
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.tensor import Tensor
from weft.graph.traits import HOST, NO_GRADIENT
from weft.ops.kit.room import check_room
from weft.ops.kit.shared import as_array, deprecated_alias, invalid
from weft.ops.kit.string_arrays import flat, strings


def _axes(given: Any, rank: int) -> list[int]:
    """The axes to join, the one whose elements are next to each other first."""
    axes: list[int] = []
    for axis in np.ravel(given).tolist():
        if not -rank <= axis < rank:
            raise errors.OutOfRangeError(
                None, None,
                f"Invalid reduction dimension {axis} for input with {rank} dimension(s)",
            )  # fmt: skip
        if axis % rank in axes:
            raise invalid(f"Duplicate reduction dimension {axis}")
        axes.append(axis % rank)
    return axes


def _joined_dims(c: ShapeContext) -> Dims:
    dims, axes = c.dims(0), c.value(1)
    if dims is None or axes is None:
        return (None,) * len(dims) if dims is not None and c.attr("keep_dims") else None
    for axis in np.ravel(axes).tolist():
        if not -len(dims) <= axis < len(dims):
            raise ValueError(
                f"Invalid reduction dimension {axis} for input with {len(dims)} dimensions."
            )
    return s.reduced_dims(dims, np.ravel(axes).tolist(), c.attr("keep_dims"))


@op(
    "ReduceJoin",
    inputs="inputs: string, reduction_indices: int32",
    outputs="output: string",
    attrs='keep_dims: bool = false, separator: string = ""',
    shape=_joined_dims,
    traits=HOST | NO_GRADIENT,
)
def reduce_join_(
    xp: Any, inputs: Any, reduction_indices: Any, *, keep_dims: bool, separator: str
) -> Any:
    array = as_array(inputs)
    axes = _axes(reduction_indices, array.ndim)
    kept = [axis for axis in range(array.ndim) if axis not in axes]
    shape = tuple(
        (1 if axis in axes else array.shape[axis])
        for axis in range(array.ndim)
        if keep_dims or axis not in axes
    )
    outer = int(np.prod([array.shape[axis] for axis in kept], dtype=np.int64))
    inner = int(np.prod([array.shape[axis] for axis in axes], dtype=np.int64))
    rows = array.transpose(kept + axes[::-1]).reshape(outer, inner)
    return strings([separator.encode().join(row) for row in rows.tolist()], shape)


def reduce_join(
    inputs: Any,
    axis: Any = None,
    keep_dims: Any = None,
    separator: str = "",
    name: str | None = None,
    reduction_indices: Any = None,
    keepdims: Any = None,
) -> Tensor:
    """Joins the strings along `axis`; by default all, the last axis first."""
    keep = deprecated_alias("keepdims", keepdims, "keep_dims", keep_dims)
    axis = deprecated_alias("axis", axis, "reduction_indices", reduction_indices)
    with name_scope(None, "ReduceJoin", [inputs, axis]):
        inputs = convert_to_tensor(inputs)
        if axis is None:
            axis = _all_axes(inputs)
        return raw.ReduceJoin(inputs, axis, keep_dims=bool(keep), separator=separator, name=name)


def _all_axes(inputs: Tensor) -> Tensor:
    rank = inputs.shape.ndims
    if rank is not None:
        return constant(np.arange(rank - 1, -1, -1), dtypes.int32)
    return raw.Range(raw.Rank(inputs) - 1, -1, -1)


def _check_segments(shape: tuple[int, ...], ids: tuple[int, ...]) -> None:
    if not ids:
        raise invalid("Segment_id cannot have rank 0")
    if len(ids) > len(shape):
        raise errors.OutOfRangeError(
            None, None,
            f"Invalid segment_id rank {len(ids)} for input with {len(shape)} dimension(s)",
        )  # fmt: skip
    for i, size in enumerate(ids):
        if size != shape[i]:
            raise invalid(
                f"Segment dimension is {size} while input dimension is {len(shape)} in rank {i}"
            )


def _segment_dims(c: ShapeContext) -> Dims:
    dims, ids, count = c.dims(0), c.dims(1), c.value(2)
    if dims is None or ids is None:
        return None
    s.merge(dims[: len(ids)], ids)
    return s.concat((None if count is None else int(count),), dims[len(ids) :])


@op(
    "UnsortedSegmentJoin",
    inputs="inputs: string, segment_ids: Tindices, num_segments: Tnumsegments",
    outputs="output: string",
    attrs='separator: string = "", Tindices: {int32, int64}, Tnumsegments: {int32, int64} = int32',
    shape=_segment_dims,
    traits=HOST,
)
def unsorted_segment_join_(
    xp: Any, inputs: Any, segment_ids: Any, num_segments: Any, *, separator: str
) -> Any:
    array, ids, count = as_array(inputs), np.asarray(segment_ids), int(num_segments)
    _check_segments(array.shape, ids.shape)
    inner = array.shape[ids.ndim :]
    columns = int(np.prod(inner, dtype=np.int64))
    if count < 0:
        raise invalid(f"Number of segments must be non-negative but got {count}")
    check_room((count, *inner), object, times=4)  # a list and a string for each
    parts: list[list[bytes]] = [[] for _ in range(count * columns)]
    rows = array.reshape(ids.size, columns).tolist()
    for segment, row in zip(ids.ravel().tolist(), rows, strict=True):
        if not 0 <= segment < count:
            raise invalid(
                "segment_ids are not allowed to exceed num_segments or to have negative values."
            )
        for j, text in enumerate(row):
            parts[segment * columns + j].append(text)
    return strings([separator.encode().join(part) for part in parts], (count, *inner))


def unsorted_segment_join(
    inputs: Any, segment_ids: Any, num_segments: Any, separator: str = "", name: str | None = None
) -> Tensor:
    """Joins the strings of each segment."""
    return raw.UnsortedSegmentJoin(
        inputs, segment_ids, num_segments, separator=separator, name=name
    )


# ---- n-grams -------------------------------------------------------------------------------------


def _grams(row: list[bytes], width: int, pad: tuple[bytes, bytes, int], separator: bytes) -> Any:
    left, right, most = pad
    count = min(most if most >= 0 else width - 1, width - 1)
    check_room([2 * count + len(row)], np.dtype(object))
    row = [left] * count + row + [right] * count
    return [separator.join(row[i : i + width]) for i in long(range(len(row) - width + 1))]


def _check_ngrams(size: int, splits: list[int], widths: list[int], pad_width: int) -> None:
    if any(width <= 0 for width in widths):
        raise invalid("ngram_widths must contain positive values")
    for split in splits:
        if not 0 <= split <= size:
            raise invalid(f"Invalid split value {split}, must be in [0,{size}]")
    for width in widths:
        pad = min(width - 1 if pad_width < 0 else pad_width, width - 1)
        for start, end in itertools.pairwise(splits):
            if pad > (2**31 - 1) // 2 - (end - start):
                raise invalid(f"Pad width could lead to integer overflow, got pad_width = {pad}")


@op(
    "StringNGrams",
    inputs="data: string, data_splits: Tsplits",
    outputs="ngrams: string, ngrams_splits: Tsplits",
    attrs="separator: string, ngram_widths: list(int) >= 0, left_pad: string, right_pad: string,"
    " pad_width: int, preserve_short_sequences: bool, Tsplits: {int32, int64} = int64",
    shape=lambda c: [(None,), s.with_rank(c.dims(1), 1)],
    traits=HOST,
)
def string_ngrams_(
    xp: Any, data: Any, data_splits: Any, *, separator: str, ngram_widths: list[int],
    left_pad: str, right_pad: str, pad_width: int, preserve_short_sequences: bool,
) -> list[Any]:  # fmt: skip
    texts, splits, between = flat(data), data_splits.tolist(), separator.encode()
    _check_ngrams(len(texts), splits, ngram_widths, pad_width)
    pad = left_pad.encode(), right_pad.encode(), pad_width
    found: list[bytes] = []
    ends = [0] * (len(splits) > 0)
    for i in looking_up(range(len(splits) - 1)):
        row = texts[splits[i] : splits[i + 1]]
        made = [gram for width in ngram_widths for gram in _grams(row, width, pad, between)]
        if preserve_short_sequences and not made and row:
            if pad_width < 0:
                raise invalid(
                    "Pad width should be >= 0 when preserve_short_sequences is True and"
                    f" ngram_widths are not provided, got {pad_width}"
                )
            made = [between.join([pad[0]] * pad_width + row + [pad[1]] * pad_width)]
        found += made
        ends.append(len(found))
    return [strings(found), np.array(ends, data_splits.dtype)]
