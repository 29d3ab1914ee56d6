"""Slices: `Slice`, `StridedSlice` with its masks, and indexing of tensors by brackets."""

from __future__ import annotations

import builtins
import functools
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.shapes import Dimension, TensorShape
from weft.graph import shape_fn as s
from weft.graph.convert import constant
from weft.graph.graph import name_scope
from weft.graph.op_def import op, raw
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.tensor import Tensor
from weft.ops import array
from weft.ops.kernels import as_array, blank, invalid, is_concrete, shape_argument

newaxis = None
_py_slice = builtins.slice


def _sliced(c: ShapeContext) -> Dims:
    (count,) = s.with_rank(s.merge(c.dims(1), c.dims(2)), 1)
    dims = c.dims(0) if count is None else s.with_rank(c.dims(0), count)
    sizes = c.value(2)
    if sizes is None:
        known = shape_argument(c, 2)
        return (None,) * len(dims) if known is None and dims is not None else known
    begin = s.with_rank(c.partial(1), len(sizes))
    dims = s.with_rank(dims, len(sizes))
    return tuple(
        _slice_size(i, int(n), b, d)
        for i, (n, b, d) in enumerate(zip(sizes, begin, dims, strict=True))
    )


def _slice_size(i: int, size: int, begin: int | None, length: int | None) -> int | None:
    if size == -1:
        if begin is None or length is None:
            return None
        if begin > length:
            raise ValueError(f"Negative dimension size caused by subtracting {begin} from {length}")
        return length - begin
    if size < 0:
        raise ValueError(
            f"Out of bounds slicing on dimension {i} of length {length}: sizes vector cannot be"
            f" < -1, but was {size}"
        )
    return size


def _checked_slice(x: Any, begin: Any, size: Any) -> tuple[list[int], list[int]]:
    starts, sizes = [int(b) for b in begin], [int(n) for n in size]
    for i, (b, n, d) in enumerate(zip(starts, sizes, x.shape, strict=True)):
        if n == -1:
            sizes[i] = n = d - b
        if d == 0:
            if b or n:
                raise invalid(
                    f"Expected begin[{i}] == 0 (got {b}) and size[{i}] == 0 (got {n}) when"
                    f" input.dim_size({i}) == 0"
                )
        elif not 0 <= b <= d:
            raise invalid(f"Expected begin[{i}] in [0, {d}], but got {b}")
        elif not 0 <= n <= d - b:
            raise invalid(f"Expected size[{i}] in [0, {d - b}], but got {n}")
    return starts, sizes


def slice_static(c: ShapeContext) -> frozenset[str]:
    """Which inputs of a `Slice` XLA must know: where it begins only if the size depends on it."""
    sizes = c.value(2)
    return frozenset({"size"} if sizes is not None and -1 not in sizes else {"begin", "size"})


@op(
    "Slice",
    inputs="input: T, begin: Index, size: Index",
    outputs="output: T",
    attrs="T: type, Index: {int32, int64}",
    shape=_sliced,
    static="begin, size",
    static_rule=slice_static,
)
def slice_(xp: Any, input: Any, begin: Any, size: Any) -> Any:
    input = as_array(input)
    if not np.shape(begin) == np.shape(size) == (input.ndim,):
        raise invalid(
            f"Expected begin and size arguments to be 1-D tensors of size {input.ndim}, but got"
            f" shapes {s.show(np.shape(begin))} and {s.show(np.shape(size))} instead."
        )
    if not is_concrete(begin):
        from jax import lax

        return lax.dynamic_slice(input, list(begin), [int(n) for n in size])
    starts, sizes = _checked_slice(input, begin, size)
    return input[tuple(_py_slice(b, b + n) for b, n in zip(starts, sizes, strict=True))]


@slice_.gradient
def _(op: Operation, grad: Any) -> Any:
    input, begin, _ = op.inputs
    count = array.rank(input)
    sizes = array.shape(op.outputs[0], out_type=begin.dtype)
    column = array.stack([count, 1])
    before = array.reshape(begin, column)
    rest = array.shape(input, out_type=begin.dtype) - sizes - begin
    paddings = array.concat([before, array.reshape(rest, column)], 1)
    return array.pad(grad, paddings), None, None


_MASKS = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")
_MASK_ATTRS = ", ".join(f"{mask}: int = 0" for mask in _MASKS)


@dataclass(frozen=True)
class StridedPlan:
    """What a strided slice takes of each input dimension, and the shape that comes out.

    `sizes[i]` elements from `begins[i]` on, `strides[i]` apart; None where not known.
    """

    begins: tuple[int | None, ...]
    strides: tuple[int, ...]
    sizes: tuple[int | None, ...]
    shrunk: tuple[bool, ...]
    final: tuple[int | None, ...]


def strided_plan(
    dims: tuple[int | None, ...],
    begin: Sequence[int] | np.ndarray | None,
    end: Sequence[int] | np.ndarray | None,
    strides: Sequence[int] | np.ndarray,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
) -> StridedPlan:
    """Works out a slice spec against `dims`; ValueError when it cannot fit.

    `begin` or `end` None means that they are not known.
    """
    if ellipsis_mask & (ellipsis_mask - 1):
        raise ValueError("Multiple ellipses in slice spec not allowed")
    count = len(strides)
    if not ellipsis_mask:
        # Dimensions that the spec does not mention are taken whole, as by an ellipsis at its end.
        ellipsis_mask = 1 << count
        count += 1
    taken: list[tuple[int | None, int, int | None, bool]] = []
    final: list[int | None] = []
    for i in range(count):
        bit = 1 << i
        if bit & ellipsis_mask:
            mentioned = sum(not (new_axis_mask >> j) & 1 for j in range(i + 1, len(strides)))
            while len(taken) < len(dims) - mentioned:
                d = dims[len(taken)]
                taken.append((0, 1, d, False))
                final.append(d)
        elif bit & new_axis_mask:
            final.append(1)
        else:
            axis = len(taken)
            if axis == len(dims):
                raise ValueError(
                    f"Index out of range using input dim {axis}; input has only {axis} dims"
                )
            piece = _strided_dim(
                axis,
                dims[axis],
                None if begin is None else int(begin[i]),
                None if end is None else int(end[i]),
                int(strides[i]),
                bool(bit & begin_mask),
                bool(bit & end_mask),
                bool(bit & shrink_axis_mask),
            )
            taken.append(piece)
            if not piece[3]:
                final.append(piece[2])
    begins, steps, sizes, shrunk = zip(*taken, strict=True) if taken else ((), (), (), ())
    return StridedPlan(begins, steps, sizes, shrunk, tuple(final))


def _strided_dim(
    axis: int,
    length: int | None,
    begin: int | None,
    end: int | None,
    stride: int,
    open_begin: bool,
    open_end: bool,
    shrink: bool,
) -> tuple[int | None, int, int | None, bool]:
    """(first element, stride, how many, whether the dimension goes) for one dimension."""
    if stride == 0:
        raise ValueError(f"strides[{axis}] must be non-zero")
    if shrink:
        if length is not None and stride < 0:
            raise ValueError("only stride 1 allowed on non-range indexing.")
        if begin is None or length is None:
            return None, stride, 1, True
        at = begin + length if begin < 0 else begin
        if not 0 <= at < length:
            raise ValueError(f"slice index {at} of dimension {axis} out of bounds.")
        return at, stride, 1, True
    if length is None:
        return None, stride, None, False
    low, high = (0, length) if stride > 0 else (-1, length - 1)
    first, last = (low, high) if stride > 0 else (high, low)
    if begin is None or end is None:
        if not (open_begin and open_end):
            return None, stride, None, False
    else:
        if not open_begin:
            first = min(max(begin + length if begin < 0 else begin, low), high)
        if not open_end:
            last = min(max(end + length if end < 0 else end, low), high)
    return first, stride, max(0, -((first - last) // stride)), False


def _strided_shape(c: ShapeContext) -> Dims:
    dims = c.dims(0)
    spec = s.merge(s.merge(c.dims(1), c.dims(2)), s.with_rank(c.dims(3), 1))
    strides = c.value(3)
    if dims is None or strides is None or spec == (None,):
        return None
    masks = {mask: c.attr(mask) for mask in _MASKS}
    return strided_plan(dims, c.value(1), c.value(2), strides, **masks).final


def strided_static(c: ShapeContext) -> frozenset[str]:
    """Which inputs of `StridedSlice` or its gradient XLA must know.

    Where single rows begin may be computed by the program itself; ranges must be constant.
    """
    (count,) = s.with_rank(c.dims(3), 1)
    free = c.attr("ellipsis_mask") | c.attr("new_axis_mask") | c.attr("shrink_axis_mask")
    free |= c.attr("begin_mask") & c.attr("end_mask")
    if count is not None and free & ((1 << count) - 1) == (1 << count) - 1:
        return frozenset({"shape", "strides"})
    return frozenset({"shape", "begin", "end", "strides"})


def _plan(dims: tuple[int, ...], begin: Any, end: Any, strides: Any, masks: Any) -> StridedPlan:
    shapes = [np.shape(v) for v in (begin, end, strides)]
    if len(shapes[0]) != 1 or len(set(shapes)) != 1 or shapes[0][0] >= 32:
        begin_shape, end_shape, strides_shape = map(s.show, shapes)
        raise invalid(
            "Expected begin, end, and strides to be 1D equal size tensors, but got shapes"
            f" {begin_shape}, {end_shape}, and {strides_shape} instead."
        )
    known = is_concrete(begin, end)
    try:
        return strided_plan(
            dims,
            begin.tolist() if known else None,
            end.tolist() if known else None,
            strides.tolist(),
            *masks,
        )
    except ValueError as error:
        raise invalid(str(error)) from None


def _starts(xp: Any, plan: StridedPlan, dims: tuple[int, ...], begin: Any, masks: Any) -> list[Any]:
    """Where each dimension's slice starts, when the indices of single rows are traced."""
    _, _, ellipsis_mask, new_axis_mask, shrink_mask = masks
    starts: list[Any] = [0] * len(dims)
    shrunk = [axis for axis, gone in enumerate(plan.shrunk) if gone]
    entries = [i for i in range(begin.shape[0]) if (shrink_mask & ~new_axis_mask) >> i & 1]
    entries = [i for i in entries if not ellipsis_mask >> i & 1]
    for axis, i in zip(shrunk, entries, strict=True):
        starts[axis] = xp.where(begin[i] < 0, begin[i] + dims[axis], begin[i])
    kind = begin.dtype
    return [xp.asarray(start, kind) for start in starts]


def _slices(plan: StridedPlan) -> tuple[tuple[builtins.slice, ...], list[int]]:
    """Ascending slices of each dimension, and the axes to reverse afterwards."""
    slices, reversed_axes = [], []
    for axis, (b, step, n) in enumerate(zip(plan.begins, plan.strides, plan.sizes, strict=True)):
        assert b is not None and n is not None
        if n == 0:
            slices.append(_py_slice(0, 0, 1))
            continue
        far = b + (n - 1) * step
        slices.append(_py_slice(min(b, far), max(b, far) + 1, abs(step)))
        if step < 0 and n > 1:
            reversed_axes.append(axis)
    return tuple(slices), reversed_axes


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
    slices, reversed_axes = _slices(plan)
    return slices, tuple(reversed_axes), plan.final


@op(
    "StridedSlice",
    inputs="input: T, begin: Index, end: Index, strides: Index",
    outputs="output: T",
    attrs=f"T: type, Index: {{int32, int64}}, {_MASK_ATTRS}",
    shape=_strided_shape,
    static="begin, end, strides",
    static_rule=strided_static,
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
    if xp is np and begin.ndim == 1 and begin.shape == end.shape == strides.shape:
        spec = tuple(begin.tolist()), tuple(end.tolist()), tuple(strides.tolist())
        index, flipped, final = _numpy_index(input.shape, *spec, masks)
        out = input[index]
        return (np.flip(out, flipped) if flipped else out).reshape(final)
    plan = _plan(input.shape, begin, end, strides, masks)
    if not is_concrete(begin, end):
        from jax import lax

        starts = _starts(xp, plan, input.shape, begin, masks)
        return lax.dynamic_slice(input, starts, plan.sizes).reshape(plan.final)
    from jax import lax

    slices, reversed_axes = _slices(plan)
    out = lax.slice(input, *zip(*((i.start, i.stop, i.step) for i in slices), strict=True))
    if reversed_axes:
        out = xp.flip(out, tuple(reversed_axes))
    return xp.reshape(out, plan.final)


@strided_slice_.prepared
def _(c: Any) -> Any:
    spec = [c.value(i).tolist() for i in (1, 2, 3)]
    masks = [c.attr(mask) for mask in _MASKS]
    if c.attr("T") is dtypes.string or not all(isinstance(part, list) for part in spec):
        return None
    index, kernel = _python_index(*spec, *masks), strided_slice_.kernel
    if index is None or kernel is None:
        return None

    def call(x: Any) -> Any:
        try:
            return x[index]
        except IndexError:
            attrs = dict(zip(_MASKS, masks, strict=True))
            return kernel(np, x, c.value(1), c.value(2), c.value(3), **attrs)

    return call


def _python_index(
    begin: list[int], end: list[int], strides: list[int],
    begin_mask: int, end_mask: int, ellipsis_mask: int, new_axis_mask: int, shrink_axis_mask: int,
) -> tuple[Any, ...] | None:  # fmt: skip
    """The slice as Python writes it, for any array; None for what would be an error there."""
    index: list[Any] = []
    for i, (first, stop, step) in enumerate(zip(begin, end, strides, strict=False)):
        if ellipsis_mask >> i & 1:
            index.append(Ellipsis)
        elif new_axis_mask >> i & 1:
            index.append(None)
        elif not step or (shrink_axis_mask >> i & 1 and step != 1):
            return None
        elif shrink_axis_mask >> i & 1:
            index.append(first)
        else:
            index.append(
                _py_slice(
                    None if begin_mask >> i & 1 else first,
                    None if end_mask >> i & 1 else stop,
                    step,
                )
            )
    fine = len(begin) == len(end) == len(strides) and index.count(Ellipsis) <= 1
    return tuple(index) if fine else None


@strided_slice_.gradient
def _(op: Operation, grad: Any) -> Any:
    input, begin, end, strides = op.inputs
    dims = array.shape(input, out_type=begin.dtype)
    masks = {mask: op.attrs[mask] for mask in _MASKS}
    return raw.StridedSliceGrad(dims, begin, end, strides, grad, **masks), None, None, None


@op(
    "StridedSliceGrad",
    inputs="shape: Index, begin: Index, end: Index, strides: Index, dy: T",
    outputs="output: T",
    attrs=f"T: type, Index: {{int32, int64}}, {_MASK_ATTRS}",
    shape=lambda c: shape_argument(c, 0),
    static="shape, begin, end, strides",
    static_rule=strided_static,
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
    dims = tuple(map(int, shape))
    masks = (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    plan = _plan(dims, begin, end, strides, masks)
    if dy.shape != plan.final:
        raise invalid(f"shape of dy was {s.show(dy.shape)} instead of {s.show(plan.final)}")
    dy = xp.reshape(dy, plan.sizes)
    if not is_concrete(begin, end):
        from jax import lax

        starts = _starts(xp, plan, dims, begin, masks)
        return lax.dynamic_update_slice(xp.zeros(dims, dy.dtype), dy, starts)
    slices, reversed_axes = _slices(plan)
    if reversed_axes:
        dy = xp.flip(dy, tuple(reversed_axes))
    if xp is np:
        out = np.full(dims, blank(dy.dtype), dy.dtype)
        out[slices] = dy
        return out
    if 0 in dy.shape:
        return xp.zeros(dims, dy.dtype)
    from jax import lax

    around = [(i.start, d - i.stop, i.step - 1) for i, d in zip(slices, dims, strict=True)]
    return lax.pad(dy, blank(dy.dtype), around)


@strided_slice_grad_.gradient
def _(op: Operation, grad: Any) -> Any:
    _, begin, end, strides, _ = op.inputs
    masks = {mask: op.attrs[mask] for mask in _MASKS}
    return None, None, None, None, strided_slice_(grad, begin, end, strides, **masks)


def slice(input_: Any, begin: Any, size: Any, name: str | None = None) -> Tensor:
    """`size` elements of `input_` from `begin` on, along each dimension; -1: all that follow."""
    return slice_(input_, begin, size, name=name)


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
    if var is not None:
        from weft.ops.variable_slice import VariableSlice

        result.__class__ = VariableSlice
        result._extra = {**(result._extra or {}), "variable": var}
    return result


_INDEX_TYPES = (dtypes.int32, dtypes.int64)


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


def getitem(tensor: Any, slice_spec: Any) -> Tensor:
    """`tensor[slice_spec]`: one `StridedSlice` node, or a boolean mask."""
    if _is_mask(slice_spec):
        from weft.ops import select

        return select.boolean_mask(tensor=tensor, mask=slice_spec)
    if not isinstance(slice_spec, list | tuple):
        slice_spec = [slice_spec]
    begin: list[Any] = []
    end: list[Any] = []
    strides: list[Any] = []
    masks = dict.fromkeys(_MASKS, 0)
    for i, entry in enumerate(slice_spec):
        step: Any = 1
        if isinstance(entry, _py_slice):
            start, stop = (_bound(masks, i, *bound) for bound in _bounds(entry))
            if entry.step is not None:
                _check_index(entry.step)
                step = entry.step
        elif entry is Ellipsis or entry is newaxis:
            masks["ellipsis_mask" if entry is Ellipsis else "new_axis_mask"] |= 1 << i
            start = stop = 0
        else:
            _check_index(entry)
            start, stop = entry, entry + 1
            masks["shrink_axis_mask"] |= 1 << i
        begin.append(start)
        end.append(stop)
        strides.append(step)
    with name_scope(None, "strided_slice", [tensor, *begin, *end, *strides]) as name:
        if begin:
            packed = _same_index_type([array.stack(v) for v in (begin, end, strides)])
        else:
            packed = [constant([], dtypes.int32)] * 3
        return strided_slice_(tensor, *packed, **masks, name=name)


def _bounds(entry: builtins.slice) -> tuple[tuple[Any, str], tuple[Any, str]]:
    return (entry.start, "begin_mask"), (entry.stop, "end_mask")


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
