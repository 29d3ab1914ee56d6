"""Axis numbers and per-axis lists translated from one data format (NHWC, ...) to another."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.ops.array.array import invalid

Array = Any
_ATTRS = 'T: {int32, int64} = int32, src_format: string = "NHWC", dst_format: string = "NCHW"'


def _check(src_format: str, dst_format: str) -> None:
    for what, layout in (("Source", src_format), ("Destination", dst_format)):
        if len(layout) not in (4, 5):
            which = "src_format" if what == "Source" else "dst_format"
            raise invalid(f"{what} format must be of length 4 or 5, received {which} = {layout}")
    unique = len(set(src_format)) == len(src_format)
    if not unique or sorted(src_format) != sorted(dst_format):
        raise invalid(
            "Destination and source format must determine a permutation, got "
            f"{src_format} and {dst_format}"
        )


@op(
    "DataFormatDimMap",
    inputs="x: T",
    outputs="y: T",
    attrs=_ATTRS,
    shape=s.unchanged,
)
def data_format_dim_map_(xp: Any, x: Array, *, src_format: str, dst_format: str) -> Array:
    _check(src_format, dst_format)
    places = np.array([dst_format.index(axis) for axis in src_format], x.dtype)
    return xp.take(xp.asarray(places), x % len(src_format))


def _permuted(c: s.ShapeContext) -> s.Dims:
    dims = s.with_rank_at_most(s.with_rank_at_least(c.dims(0), 1), 2)
    if dims is not None and len(dims) == 2:
        s.merge_dim(dims[1], 2)
    return dims


@op(
    "DataFormatVecPermute",
    inputs="x: T",
    outputs="y: T",
    attrs=_ATTRS,
    shape=_permuted,
)
def data_format_vec_permute_(xp: Any, x: Array, *, src_format: str, dst_format: str) -> Array:
    _check(src_format, dst_format)
    if x.ndim not in (1, 2):
        raise invalid(f"input must be a vector or 2D tensor, but got shape {s.show(x.shape)}")
    if x.ndim == 2 and x.shape[1] != 2:
        raise invalid(
            "Second dimension of 2D input must be of size 2, but got shape " + s.show(x.shape)
        )
    if x.shape[0] == len(src_format) - 2:  # spatial axes only
        src_format, dst_format = (
            "".join(axis for axis in layout if axis not in "NC")
            for layout in (src_format, dst_format)
        )
    if x.shape[0] != len(src_format):
        raise invalid(
            f"{x.ndim}D input must be of size {len(src_format)}, but got shape {s.show(x.shape)}"
        )
    return x[np.array([src_format.index(axis) for axis in dst_format])]
