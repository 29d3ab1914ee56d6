"""`StridedSlice` with its masks, and its gradient."""

from __future__ import annotations

import builtins
import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.graph import shape_fn as s
from weft.graph.by_library import by_library
from weft.graph.op_def import op, raw
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.tensor import Tensor
from weft.graph.traits import MOVES, static_by
from weft.ops.array import array
from weft.ops.array.strided_plan import (
    MASK_ATTRS,
    MASKS,
    ascending_slices,
    checked_plan,
    python_index,
    strided_plan,
    traced_rows,
    with_rows,
)
from weft.ops.kit.eager import executing_eagerly
from weft.ops.kit.shared import as_array, blank, check_rank, invalid, is_concrete, shape_argument

newaxis = None


def _strided_shape(c: ShapeContext) -> Dims:
    dims = c.dims(0)
    spec = s.merge(s.merge(c.dims(1), c.dims(2)), s.with_rank(c.dims(3), 1))
    strides = c.value(3)
    if dims is None or strides is None or spec == (None,):
        return None
    masks = {mask: c.attr(mask) for mask in MASKS}
    return strided_plan(dims, c.value(1), c.value(2), strides, **masks).final


def strided_static(c: ShapeContext) -> frozenset[str]:
    """The inputs of `StridedSlice` or its gradient that XLA must know.

    Where single rows begin may be computed by the program itself; ranges must be constant.
    """
    strides = c.dims(3)
    count = strides[0] if strides is not None and len(strides) == 1 else None
    free = c.attr("ellipsis_mask") | c.attr("new_axis_mask") | c.attr("shrink_axis_mask")
    free |= c.attr("begin_mask") & c.attr("end_mask")
    if count is not None and free & ((1 << count) - 1) == (1 << count) - 1:
        return frozenset({"shape", "strides"})
    return frozenset({"shape", "begin", "end", "strides"})


@functools.lru_cache(4096)
def _numpy_index(
    dims: tuple[int, ...],
    begin: tuple[int, ...],
    end: tuple[int, ...],
    strides: tuple[int, ...],
    masks: tuple[int, ...],
) -> tuple[tuple[builtins.slice, ...], tuple[int, ...], Dims]:
    """(index, axes to reverse afterwards, final shape): the same slice tends to come again."""
    try:
        plan = strided_plan(dims, begin, end, strides, *masks)
    except ValueError as error:
        raise invalid(str(error)) from None
    slices, reversed_axes = ascending_slices(plan)
    return slices, tuple(reversed_axes), plan.final


@op(
    "StridedSlice",
    inputs="input: T, begin: Index, end: Index, strides: Index",
    outputs="output: T",
    attrs=f"T: type, Index: {{int32, int64}}, {MASK_ATTRS}",
    shape=_strided_shape,
    static="begin, end, strides",
    traits=MOVES | static_by(strided_static),
)
def strided_slice_(
    xp: Any,
    input: Any,
    begin: Any,
    end: Any,
    strides: Any,
    *,
    begin_mask: int,
    end_mask: int,
    ellipsis_mask: int,
    new_axis_mask: int,
    shrink_axis_mask: int,
) -> Any:
    input = as_array(input)
    masks = (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    plan = checked_plan(input.shape, begin, end, strides, masks)
    from jax import lax

    if not is_concrete(begin, end):
        starts, plan = traced_rows(xp, plan, input.shape, begin, masks)
        input = lax.dynamic_slice(input, starts, with_rows(input.shape, plan))
    slices, reversed_axes = ascending_slices(plan)
    out = lax.slice(input, *zip(*((i.start, i.stop, i.step) for i in slices), strict=True))
    if reversed_axes:
        out = xp.flip(out, tuple(reversed_axes))
    return xp.reshape(out, plan.final)


@strided_slice_.numpy
def _(
    xp: Any,
    input: Any,
    begin: Any,
    end: Any,
    strides: Any,
    *,
    begin_mask: int,
    end_mask: int,
    ellipsis_mask: int,
    new_axis_mask: int,
    shrink_axis_mask: int,
) -> Any:
    input = as_array(input)
    masks = (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    if begin.ndim != 1 or not begin.shape == end.shape == strides.shape:
        checked_plan(input.shape, begin, end, strides, masks)  # says what is wrong
    spec = tuple(begin.tolist()), tuple(end.tolist()), tuple(strides.tolist())
    index, flipped, final = _numpy_index(input.shape, *spec, masks)
    out = input[index]
    return (np.flip(out, flipped) if flipped else out).reshape(final)


@strided_slice_.prepared
def _(c: Any) -> Any:
    spec = [c.value(i).tolist() for i in (1, 2, 3)]
    masks = [c.attr(mask) for mask in MASKS]
    if c.attr("T") is dtypes.string or not all(isinstance(part, list) for part in spec):
        return None
    index, kernel = python_index(*spec, *masks), strided_slice_.kernel
    if index is None or kernel is None:
        return None

    def call(x: Any) -> Any:
        try:
            return x[index]
        except IndexError:
            attrs = dict(zip(MASKS, masks, strict=True))
            return kernel(np, x, c.value(1), c.value(2), c.value(3), **attrs)

    return call


@strided_slice_.gradient
def _(op: Operation, grad: Any) -> Any:
    input, begin, end, strides = op.inputs
    dims = array.shape(input, out_type=begin.dtype)
    masks = {mask: op.attrs[mask] for mask in MASKS}
    return raw.StridedSliceGrad(dims, begin, end, strides, grad, **masks), None, None, None


@op(
    "StridedSliceGrad",
    inputs="shape: Index, begin: Index, end: Index, strides: Index, dy: T",
    outputs="output: T",
    attrs=f"T: type, Index: {{int32, int64}}, {MASK_ATTRS}",
    shape=lambda c: shape_argument(c, 0),
    static="shape, begin, end, strides",
    traits=static_by(strided_static),
)
def strided_slice_grad_(
    xp: Any,
    shape: Any,
    begin: Any,
    end: Any,
    strides: Any,
    dy: Any,
    *,
    begin_mask: int,
    end_mask: int,
    ellipsis_mask: int,
    new_axis_mask: int,
    shrink_axis_mask: int,
) -> Any:
    check_rank(shape)
    dims = tuple(map(int, shape))
    masks = (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    plan = checked_plan(dims, begin, end, strides, masks)
    starts = None
    if not is_concrete(begin, end):
        starts, plan = traced_rows(xp, plan, dims, begin, masks)
    if dy.shape != plan.final:
        raise invalid(f"shape of dy was {s.show(dy.shape)} instead of {s.show(plan.final)}")
    dy = xp.reshape(dy, plan.sizes)
    slices, reversed_axes = ascending_slices(plan)
    if reversed_axes:
        dy = xp.flip(dy, tuple(reversed_axes))
    room = dims if starts is None else with_rows(dims, plan)
    rows = _place(xp, dy, slices, room)
    if starts is None:
        return rows
    from jax import lax

    return lax.dynamic_update_slice(xp.zeros(dims, dy.dtype), rows, starts)


@by_library
def _place(xp: Any, dy: Any, slices: Sequence[slice], dims: tuple[int, ...]) -> Any:
    """An array of blanks with `dy` at `slices`."""
    if 0 in dy.shape:
        return xp.zeros(dims, dy.dtype)
    from jax import lax

    around = [(i.start, d - i.stop, i.step - 1) for i, d in zip(slices, dims, strict=True)]
    return lax.pad(dy, blank(dy.dtype), around)


@_place.numpy
def _(xp: Any, dy: Any, slices: Sequence[slice], dims: tuple[int, ...]) -> Any:
    out = np.full(dims, blank(dy.dtype), dy.dtype)
    out[tuple(slices)] = dy
    return out


@strided_slice_grad_.gradient
def _(op: Operation, grad: Any) -> Any:
    _, begin, end, strides, _ = op.inputs
    masks = {mask: op.attrs[mask] for mask in MASKS}
    return None, None, None, None, strided_slice_(grad, begin, end, strides, **masks)


def strided_slice(
    input_: Any,
    begin: Any,
    end: Any,
    strides: Any = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    var: Any = None,
    name: str | None = None,
) -> Tensor:
    """`input_[begin:end:strides]` in every dimension; bits of the masks change single entries.

    For a slice of the variable `var` the result can be assigned to.
    """
    if strides is None:
        strides = array.ones_like(begin)
    masks = {
        "begin_mask": begin_mask,
        "end_mask": end_mask,
        "ellipsis_mask": ellipsis_mask,
        "new_axis_mask": new_axis_mask,
        "shrink_axis_mask": shrink_axis_mask,
    }
    result = strided_slice_(input_, begin, end, strides, **masks, name=name)
    if var is not None and not executing_eagerly():
        from weft.ops.array.variable_slice import VariableSlice

        result.__class__ = VariableSlice
        result._extra = {**(result._extra or {}), "variable": var}
    return result
