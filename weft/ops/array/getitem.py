"""`tensor[...]`: what stands in the brackets, as one `StridedSlice` node."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.shapes import Dimension, TensorShape
from weft.graph.convert import constant
from weft.graph.graph import name_scope
from weft.graph.op_def import raw
from weft.graph.tensor import Tensor
from weft.ops.array import array
from weft.ops.array.strided_plan import MASKS

_INDEX_TYPES = (dtypes.int32, dtypes.int64)


def getitem(tensor: Any, slice_spec: Any) -> Tensor:
    """`tensor[slice_spec]`: one `StridedSlice` node, or a boolean mask."""
    if _is_mask(slice_spec):
        from weft.ops.array import one_hot_search as select

        return select.boolean_mask(tensor=tensor, mask=slice_spec)
    if not isinstance(slice_spec, list | tuple):
        slice_spec = [slice_spec]
    masks = dict.fromkeys(MASKS, 0)
    bounds = [_entry(masks, i, entry) for i, entry in enumerate(slice_spec)]
    begin, end, strides = (
        (list(part) for part in zip(*bounds, strict=True)) if bounds else ([],) * 3
    )
    with name_scope(None, "strided_slice", [tensor, *begin, *end, *strides]) as name:
        if begin:
            packed = _same_index_type([array.stack(v) for v in (begin, end, strides)])
        else:
            packed = [constant([], dtypes.int32)] * 3
        return raw.StridedSlice(tensor, *packed, **masks, name=name)


def _entry(masks: dict[str, int], i: int, entry: Any) -> tuple[Any, Any, Any]:
    """(begin, end, stride) of the entry at `i`; sets its bits in the masks."""
    if isinstance(entry, slice):
        start = _bound(masks, i, entry.start, "begin_mask")
        stop = _bound(masks, i, entry.stop, "end_mask")
        if entry.step is None:
            return start, stop, 1
        _check_index(entry.step)
        return start, stop, entry.step
    if entry is Ellipsis or entry is None:
        masks["ellipsis_mask" if entry is Ellipsis else "new_axis_mask"] |= 1 << i
        return 0, 0, 1
    _check_index(entry)
    masks["shrink_axis_mask"] |= 1 << i
    return entry, entry + 1, 1


def _bound(masks: dict[str, int], i: int, value: Any, mask: str) -> Any:
    # `sys.maxsize` is what Python 2 put for an open end.
    if value is None or (not isinstance(value, Tensor) and value == sys.maxsize):
        masks[mask] |= 1 << i
        return 0
    _check_index(value)
    return value


def _same_index_type(packed: list[Tensor]) -> list[Tensor]:
    if all(t.dtype != dtypes.int64 for t in packed):
        return packed
    return [t if t.dtype == dtypes.int64 else raw.Cast(t, dtypes.int64) for t in packed]


def _check_index(index: Any) -> None:
    if isinstance(index, int | Dimension):
        return
    dtype = getattr(index, "dtype", None)
    if dtype is not None:
        vector = len(index.shape) == 1 if _has_known_rank(index) else False
        if dtypes.as_dtype(dtype).base_dtype in _INDEX_TYPES and not vector:
            return
    raise TypeError(
        "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar"
        f" tf.int32/tf.int64 tensors are valid indices, got {index!r}"
    )


def _has_known_rank(index: Any) -> bool:
    return not isinstance(index.shape, TensorShape) or index.shape.ndims is not None


def _is_mask(spec: Any) -> bool:
    if isinstance(spec, bool):
        return True
    return isinstance(spec, Tensor | np.ndarray) and spec.dtype == (
        dtypes.bool if isinstance(spec, Tensor) else np.bool_
    )
