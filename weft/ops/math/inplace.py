"""Rows of a tensor replaced or added to, under the names of TensorFlow's `inplace_ops`.

What they return is a new tensor; TensorFlow gives back the memory of the one that was passed.
"""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.op_def import OpDef, raw
from weft.graph.tensor import Tensor
from weft.ops.array import array
from weft.ops.math import math


def _changed(kind: OpDef, x: Any, i: Any, v: Any) -> Tensor:
    """`i` is None for all of x, or an index with one row in v, or a vector with as many."""
    x = convert_to_tensor(x)
    v = convert_to_tensor(v, x.dtype.base_dtype)
    if i is None:
        row, new = (array.reshape(whole, [1, -1]) for whole in (x, v))
        return array.reshape(kind(row, [0], new), array.shape(x))
    rows = math.cast(i, dtypes.int32)
    places = (array.reshape(rows, [1]), array.expand_dims(v, 0)) if rows.dims == () else (rows, v)
    made: Tensor = kind(x, *places)
    return made


def alias_inplace_update(x: Any, i: Any, v: Any) -> Tensor:
    """`x` with rows `i` replaced by `v`."""
    return _changed(raw.InplaceUpdate, x, i, v)


def alias_inplace_add(x: Any, i: Any, v: Any) -> Tensor:
    """`x` with `v` added to rows `i`."""
    return _changed(raw.InplaceAdd, x, i, v)


def alias_inplace_sub(x: Any, i: Any, v: Any) -> Tensor:
    """`x` with `v` taken from rows `i`."""
    return _changed(raw.InplaceSub, x, i, v)


def empty_like(x: Any, init: bool | None = None) -> Tensor:
    """A tensor of the shape and type of `x`; zeros if `init`."""
    x = convert_to_tensor(x)
    made: Tensor = raw.Empty(array.shape(x), dtype=x.dtype.base_dtype, init=bool(init))
    return made


# These copied what the others did not; here both give a new tensor.
inplace_update = alias_inplace_update
inplace_add = alias_inplace_add
inplace_sub = alias_inplace_sub
