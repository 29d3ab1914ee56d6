"""Ops that take parts of arrays or put parts together: slices, gathers, scatters, partitions.

An index out of range is an error when a kernel runs on NumPy, as on TensorFlow's CPU. A compiled
kernel cannot raise: there gathers give zeros and scatters drop the update, as on TensorFlow's GPU.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.core.shapes import Dimension, TensorShape
from weft.graph import shape_fn as s
from weft.graph.constant_value import constant_value
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import colocate_with, name_scope
from weft.graph.op_def import op, raw
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.slices import IndexedSlices
from weft.graph.tensor import Tensor
from weft.ops import array
from weft.ops.array import as_array, blank, invalid, shape_argument
from weft.ops.rows import check_range

newaxis = None
_py_slice = slice


def is_concrete(*values: Any) -> bool:
    """Whether values are NumPy's, not what a trace stands in for."""
    return all(isinstance(v, np.ndarray | np.generic) for v in values)


def _at(position: Sequence[int]) -> str:
    return f"[{','.join(map(str, position))}]" if position else ""


# ---- slices -----------------------------------------------------------------------------------


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


def slice_static(op: Operation) -> frozenset[str]:
    """Which inputs of a `Slice` XLA must know: where it begins only if the size depends on it."""
    sizes = constant_value(op.inputs[2])
    return frozenset({"size"} if sizes is not None and -1 not in sizes else {"begin", "size"})


@op(
    "Slice",
    inputs="input: T, begin: Index, size: Index",
    outputs="output: T",
    attrs="T: type, Index: {int32, int64}",
    shape=_sliced,
    static="begin, size",
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
    begin: Sequence[int] | None,
    end: Sequence[int] | None,
    strides: Sequence[int],
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


def strided_static(op: Operation) -> frozenset[str]:
    """Which inputs of a strided slice XLA must know: only the strides if it takes single rows."""
    (count,) = op.inputs[3].dims or (None,)
    attrs = op.attrs
    free = attrs["ellipsis_mask"] | attrs["new_axis_mask"] | attrs["shrink_axis_mask"]
    free |= attrs["begin_mask"] & attrs["end_mask"]
    if count is not None and free & ((1 << count) - 1) == (1 << count) - 1:
        return frozenset({"strides"})
    return frozenset({"begin", "end", "strides"})


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


def _slices(plan: StridedPlan) -> tuple[tuple[slice, ...], list[int]]:
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


@op(
    "StridedSlice",
    inputs="input: T, begin: Index, end: Index, strides: Index",
    outputs="output: T",
    attrs=f"T: type, Index: {{int32, int64}}, {_MASK_ATTRS}",
    shape=_strided_shape,
    static="begin, end, strides",
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
    plan = _plan(input.shape, begin, end, strides, masks)
    if not is_concrete(begin, end):
        from jax import lax

        starts = _starts(xp, plan, input.shape, begin, masks)
        return lax.dynamic_slice(input, starts, plan.sizes).reshape(plan.final)
    slices, reversed_axes = _slices(plan)
    if xp is np:
        out = input[slices]
    else:
        from jax import lax

        out = lax.slice(input, *zip(*((i.start, i.stop, i.step) for i in slices), strict=True))
    if reversed_axes:
        out = xp.flip(out, tuple(reversed_axes))
    return xp.reshape(out, plan.final)


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
        raise invalid(
            f"shape of dy was {s.show(dy.shape)} instead of {s.show(plan.final)}"
        )
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

    around = [
        (i.start, d - i.stop, i.step - 1) for i, d in zip(slices, dims, strict=True)
    ]
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
        return boolean_mask(tensor=tensor, mask=slice_spec)
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


def _bounds(entry: slice) -> tuple[tuple[Any, str], tuple[Any, str]]:
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


# ---- gathers ----------------------------------------------------------------------------------


def _check_gather(indices: np.ndarray, limit: int) -> None:
    check_range(
        np.asarray(indices),
        limit,
        lambda index, at, limit: f"indices{_at(at)} = {index} is not in [0, {limit})",
    )


def take_rows(xp: Any, params: Any, indices: Any, axis: int) -> Any:
    """`params` at `indices` along `axis`; compiled, zeros where an index is out of range."""
    if xp is np:
        _check_gather(indices, params.shape[axis])
        return np.take(params, indices, axis=axis)
    if params.shape[axis] == 0 or 0 in indices.shape:
        dims = params.shape[:axis] + indices.shape + params.shape[axis + 1 :]
        return xp.zeros(dims, params.dtype)
    if is_concrete(indices) and np.all((indices >= 0) & (indices < params.shape[axis])):
        return xp.take(params, indices, axis=axis, mode="clip")
    where = (_py_slice(None),) * axis + (indices,)
    return params.at[where].get(mode="fill", fill_value=0, wrap_negative_indices=False)


def _gathered(c: ShapeContext) -> Dims:
    params = s.with_rank_at_least(c.dims(0), 1)
    return s.concat(c.dims(1), None if params is None else params[1:])


@op(
    "Gather",
    inputs="params: Tparams, indices: Tindices",
    outputs="output: Tparams",
    attrs="validate_indices: bool = true, Tparams: type, Tindices: {int32, int64}",
    shape=_gathered,
)
def gather_(xp: Any, params: Any, indices: Any) -> Any:
    if params.ndim < 1:
        raise invalid("params must be at least 1 dimensional")
    return take_rows(xp, params, indices, 0)


@gather_.gradient
def _(op: Operation, grad: Any) -> Any:
    params, indices = op.inputs
    return _rows_gradient(_params_shape(params), indices, grad), None


def _params_shape(params: Tensor) -> Tensor:
    with colocate_with(params):
        return raw.Cast(array.shape(params, out_type=dtypes.int64), dtypes.int32)


def _rows_gradient(params_shape: Tensor, indices: Tensor, grad: Any) -> IndexedSlices:
    size = array.expand_dims(array.size(indices), 0)
    values = array.reshape(grad, array.concat([size, params_shape[1:]], 0))
    return IndexedSlices(values, array.reshape(indices, size), params_shape)


def _gathered_v2(c: ShapeContext) -> Dims:
    params, indices = s.with_rank_at_least(c.dims(0), 1), c.dims(1)
    s.with_rank(c.dims(2), 0)
    axis, batch = c.value(2), c.attr("batch_dims")
    if axis is None:
        if params is None or indices is None:
            return None
        batch = batch + len(indices) if batch < 0 else batch
        return (None,) * (len(params) + len(indices) - 1 - batch)
    at = int(axis)
    s.with_rank_at_least(params, -at if at < 0 else at + 1)
    s.with_rank_at_least(params, -batch if batch < 0 else batch + 1)
    if params is None or indices is None:
        return None
    s.with_rank_at_least(indices, -batch if batch < 0 else batch)
    at %= len(params)
    batch = batch + len(indices) if batch < 0 else batch
    lead = s.merge(params[:batch], indices[:batch]) if batch <= at else params[:batch]
    assert lead is not None
    return (*lead, *params[batch:at], *indices[batch:], *params[at + 1 :])


@op(
    "GatherV2",
    inputs="params: Tparams, indices: Tindices, axis: Taxis",
    outputs="output: Tparams",
    attrs="batch_dims: int = 0, Tparams: type, Tindices: {int32, int64}, Taxis: {int32, int64}",
    shape=_gathered_v2,
    static="axis",
)
def gather_v2_(xp: Any, params: Any, indices: Any, axis: Any, *, batch_dims: int) -> Any:
    if params.ndim < 1:
        raise invalid("params must be at least 1 dimensional")
    if np.ndim(axis) != 0:
        raise invalid("axis must be scalar")
    at, count = int(axis), params.ndim
    if not -count <= at < count:
        raise invalid(f"Expected axis in the range [{-count}, {count}), but got {at}")
    at %= count
    if not batch_dims:
        return take_rows(xp, params, indices, at)
    batch = batch_dims + indices.ndim if batch_dims < 0 else batch_dims
    if not 0 <= batch < indices.ndim:
        raise invalid(
            f"Expected batch_dims in the range [{-indices.ndim}, {indices.ndim}), but got {batch}"
        )
    if batch >= count:
        raise invalid(f"batch_dims ({batch}) must be less than rank(params) ({count}).")
    if at < batch:
        raise invalid(f"batch_dims ({batch}) must be less than or equal to axis ({at}).")
    return _gather_batched(xp, params, indices, at, batch)


def _gather_batched(xp: Any, params: Any, indices: Any, axis: int, batch: int) -> Any:
    dims = params.shape
    batches, outer, length, inner = (
        s.size(part) or 0
        for part in (dims[:batch], dims[batch:axis], dims[axis : axis + 1], dims[axis + 1 :])
    )
    final = dims[:axis] + indices.shape[batch:] + dims[axis + 1 :]
    if xp is np:
        _check_gather(indices, length)
    if 0 in final or length == 0:
        return xp.zeros(final, params.dtype)
    rows = xp.reshape(indices, (batches, -1))[:, None, :]
    where = (np.arange(batches)[:, None, None], np.arange(outer)[None, :, None], rows)
    flat = xp.reshape(params, (batches, outer, length, inner))
    if xp is np:
        return flat[where].reshape(final)
    found = flat.at[where].get(mode="fill", fill_value=0, wrap_negative_indices=False)
    return found.reshape(final)


@gather_v2_.gradient
def _(op: Operation, grad: Any) -> Any:
    params, indices, axis = op.inputs
    params_shape = _params_shape(params)
    batch = op.attrs["batch_dims"]
    if batch < 0:
        batch += len(indices.dims)
    at = constant_value(axis)
    if at is not None and int(at) == 0:
        return _rows_gradient(params_shape, indices, grad), None, None
    if at is not None and int(at) < 0:
        axis = axis + raw.Cast(array.rank(params), axis.dtype)
    result = _axis_gradient(params_shape, indices, axis, batch, grad)
    result.set_shape(params.shape)
    return result, None, None


def _axis_gradient(
    params_shape: Tensor, indices: Tensor, axis: Tensor, batch: int, grad: Any
) -> Tensor:
    """Moves the gathered axis next to the batch axes, sums rows by index, moves it back."""
    outer, inner = params_shape[:axis], params_shape[axis:][1:]
    # With batch dimensions, all but those of the indices are folded into one.
    values_shape = array.concat([outer, [-1], inner], 0)
    count, outer_count = array.size(values_shape), array.size(outer)
    batch_axes = raw.Range(0, batch, 1, name="range")
    between = raw.Range(batch, outer_count, 1, name="range")
    inner_axes = raw.Range(outer_count + 1, count, 1, name="range")
    values = array.reshape(grad, values_shape)
    forward = array.concat([batch_axes, [outer_count], between, inner_axes], 0)
    values = array.transpose(values, forward)
    summed = _batch_gather_gradient(params_shape, values, indices, batch, params_shape[axis])
    back = array.concat([batch_axes, between + 1, [batch], inner_axes], 0)
    return array.transpose(summed, back)


def _batch_gather_gradient(
    params_shape: Tensor, values: Tensor, indices: Tensor, batch: int, length: Tensor
) -> Tensor:
    if not batch:
        flat = array.reshape(indices, array.expand_dims(array.size(indices), 0))
        return raw.UnsortedSegmentSum(values, flat, length)
    dims = array.shape(values)
    outer, inner = dims[:batch], dims[batch:][1:]
    batches = raw.Prod(outer, [0])
    # Rows of batch b are numbered from b * length on, so that one sum serves all batches.
    each = raw.Range(0, batches, 1, name="range") * length
    shifted = array.reshape(indices, array.stack([batches, -1]))
    shifted = shifted + raw.Cast(array.expand_dims(each, 1), indices.dtype)
    flat_values = array.reshape(values, array.concat([[-1], inner], 0))
    flat = array.reshape(shifted, array.expand_dims(array.size(indices), 0))
    summed = raw.UnsortedSegmentSum(flat_values, flat, batches * length)
    return array.reshape(summed, array.concat([outer, [-1], inner], 0))


def _gathered_nd(c: ShapeContext) -> Dims:
    params, indices = c.dims(0), s.with_rank_at_least(c.dims(1), 1)
    if params is None or indices is None or indices[-1] is None:
        return None
    depth = indices[-1]
    if depth > len(params):
        raise ValueError(
            "indices.shape[-1] must be <= params.rank, but saw indices shape:"
            f" {s.show(indices)} and params shape: {s.show(params)}"
        )
    return indices[:-1] + params[depth:]


def _coordinates(indices: Any) -> tuple[Any, ...]:
    return tuple(indices[..., k] for k in range(indices.shape[-1]))


def _check_coordinates(indices: np.ndarray, dims: tuple[int, ...], what: str) -> None:
    bad = np.any((indices < 0) | (indices >= np.array(dims[: indices.shape[-1]])), axis=-1)
    if bad.any():
        at = tuple(int(i) for i in np.argwhere(bad)[0])
        entry = ", ".join(str(int(i)) for i in indices[at])
        raise invalid(f"indices{_at(at)} = [{entry}] does not index into {what} {s.show(dims)}")


@op(
    "GatherNd",
    inputs="params: Tparams, indices: Tindices",
    outputs="output: Tparams",
    attrs="Tparams: type, Tindices: {int32, int64}",
    shape=_gathered_nd,
)
def gather_nd_(xp: Any, params: Any, indices: Any) -> Any:
    if params.ndim < 1:
        raise invalid("params must be at least a vector")
    if indices.ndim < 1:
        raise invalid("indices must be at least a vector")
    depth = indices.shape[-1]
    if depth > params.ndim:
        raise invalid(
            f"index innermost dimension length must be <= params rank; saw: {depth} vs."
            f" {params.ndim}"
        )
    final = indices.shape[:-1] + params.shape[depth:]
    if depth == 0:
        return xp.broadcast_to(params, final)
    if 0 in indices.shape:
        return xp.full(final, blank(params.dtype), params.dtype)
    if 0 in params.shape:
        raise invalid(
            "Requested more than 0 entries, but params is empty.  Params shape:"
            f" {s.show(params.shape)}"
        )
    if xp is np:
        _check_coordinates(indices, params.shape, "param shape")
        return as_array(params[_coordinates(indices)])
    chosen = params.at[_coordinates(indices)]
    return chosen.get(mode="fill", fill_value=0, wrap_negative_indices=False)


@gather_nd_.gradient
def _(op: Operation, grad: Any) -> Any:
    params, indices = op.inputs
    dims = array.shape(params, out_type=indices.dtype)
    if indices.dims is not None and len(indices.dims) == 2 and indices.dims[-1] == 1:
        return IndexedSlices(grad, array.squeeze(indices, axis=-1), dims), None
    return raw.ScatterNd(indices, grad, dims), None


def gather(
    params: Any,
    indices: Any,
    validate_indices: bool | None = None,
    name: str | None = None,
    axis: Any = None,
    batch_dims: int = 0,
) -> Tensor:
    """The slices of `params` at `indices` along `axis`.

    With `batch_dims`, the first dimensions of both are walked together.
    """
    if axis is None:
        axis = batch_dims
    at = constant_value(axis) if isinstance(axis, Tensor) else axis
    if at is None or int(at) != 0:
        return gather_v2_(params, indices, axis, batch_dims=batch_dims, name=name)
    if hasattr(params, "sparse_read"):
        return params.sparse_read(indices, name=name)
    return gather_v2_(params, indices, axis, name=name)


def batch_gather(params: Any, indices: Any, name: str | None = None) -> Tensor:
    """`gather` in which all dimensions of `indices` but the last are batch dimensions."""
    with name_scope(name, "BatchGather", [params, indices]):
        indices = convert_to_tensor(indices, name="indices")
        params = convert_to_tensor(params, name="params")
        if indices.dims is None:
            raise ValueError("batch_gather does not allow indices with unknown shape.")
        batch = len(indices.dims) - 1
        if batch < 0:
            raise ValueError("batch_dims = -1 must be less than rank(indices) = 0")
        if params.dims is not None and batch >= len(params.dims):
            raise ValueError(
                f"batch_dims = {batch} must be less than rank(params) = {len(params.dims)}"
            )
        return gather_v2_(params, indices, batch, batch_dims=batch)


def gather_nd(params: Any, indices: Any, name: str | None = None, batch_dims: Any = 0) -> Tensor:
    """The elements or slices of `params` at the coordinates in the last dimension of `indices`."""
    value = constant_value(batch_dims) if isinstance(batch_dims, Tensor) else batch_dims
    if value is not None:
        batch_dims = int(np.ravel(value)[0])
    if batch_dims:
        return _batch_gather_nd(params, indices, batch_dims, name)
    if hasattr(params, "gather_nd"):
        return params.gather_nd(indices, name=name)
    return gather_nd_(params, indices, name=name)


def _batch_gather_nd(params: Any, indices: Any, batch_dims: Any, name: str | None) -> Tensor:
    with name_scope(name, "BatchGatherND", [params, indices]):
        indices = convert_to_tensor(indices, name="indices")
        params = convert_to_tensor(params, name="params")
        if not isinstance(batch_dims, int):
            raise TypeError(f"batch_dims must be an int; got {batch_dims!r}")
        if batch_dims < 0:
            raise ValueError("tf.gather_nd does not allow negative batch_dims.")
        for what, x in (("indices", indices), ("params", params)):
            if x.dims is not None and batch_dims >= len(x.dims):
                raise ValueError(
                    f"batch_dims = {batch_dims} must be less than rank({what}) = {len(x.dims)}"
                )
        # Fold the batch dimensions into one and put its number before each coordinate.
        params_shape, indices_shape = array.shape(params), array.shape(indices)
        batch_shape = params_shape[:batch_dims]
        batches = raw.Prod(batch_shape, [0])
        flat_params = array.reshape(
            params, array.concat([[batches], params_shape[batch_dims:]], 0)
        )
        inner = indices_shape[batch_dims:]
        flat_indices = array.reshape(indices, array.concat([[batches], inner], 0))
        numbers = raw.Cast(raw.Range(0, batches, 1, name="range"), indices.dtype)
        ones = array.ones([array.rank(indices) - batch_dims], dtypes.int32)
        numbers = array.reshape(numbers, array.concat([[batches], ones], 0))
        numbers = array.tile(numbers, array.concat([[1], inner[:-1], [1]], 0))
        found = gather_nd_(flat_params, array.concat([numbers, flat_indices], axis=-1))
        final = array.concat([batch_shape, array.shape(found)[1:]], 0)
        result = array.reshape(found, final)
        if params.dims is not None and indices.dims is not None and indices.dims[-1] is not None:
            rest = params.dims[batch_dims + indices.dims[-1] :]
            result.set_shape([*params.dims[:batch_dims], *indices.dims[batch_dims:-1], *rest])
        return result


# ---- scatters ---------------------------------------------------------------------------------


def _scatter_fits(target: Dims, indices: Dims, updates: Dims, what: str) -> None:
    """ValueError unless `updates` are what `indices` point at in a tensor of shape `target`."""
    if s.size(target) == 0 and ((s.size(indices) or 0) > 0 or (s.size(updates) or 0) > 0):
        raise ValueError("Indices and updates specified for empty output shape")
    if indices is None or updates is None or indices[-1] is None:
        return
    outer, depth = len(indices) - 1, indices[-1]
    try:
        s.merge(indices[:-1], updates[:outer])
    except ValueError as error:
        raise ValueError(
            f"The outer {outer} dimensions of indices.shape={s.show(indices)} must match the outer"
            f" {outer} dimensions of updates.shape={s.show(updates)}: {error}"
        ) from None
    if target is None:
        return
    try:
        s.merge(target[depth:], updates[outer:])
    except ValueError as error:
        raise ValueError(
            f"The inner {len(target) - depth} dimensions of {what}.shape={s.show(target)} must"
            f" match the inner {len(updates) - outer} dimensions of updates.shape="
            f"{s.show(updates)}: {error}"
        ) from None


def _scattered(c: ShapeContext) -> Dims:
    indices, updates = (s.with_rank_at_least(c.dims(i), 1) for i in (0, 1))
    out = shape_argument(c, 2)
    _scatter_fits(out, indices, updates, "output")
    return out


def _scattered_into(c: ShapeContext) -> Dims:
    indices, updates = (s.with_rank_at_least(c.dims(i), 1) for i in (1, 2))
    _scatter_fits(c.dims(0), indices, updates, "input")
    return c.dims(0)


def scatter_into(xp: Any, target: Any, indices: Any, updates: Any, kind: str) -> Any:
    """`target` with `updates` put ("set") or added ("add") at coordinates `indices`."""
    if indices.ndim < 1:
        raise invalid(
            f"Indices shape must have rank at least one. Found:{s.show(indices.shape)}"
        )
    if updates.ndim < 1:
        raise invalid(
            f"Updates shape must have rank at least one. Found:{s.show(updates.shape)}"
        )
    try:
        _scatter_fits(target.shape, indices.shape, updates.shape, "output")
    except ValueError as error:
        raise invalid(str(error)) from None
    if 0 in indices.shape[:-1] or 0 in updates.shape:
        return target
    if xp is np:
        _check_coordinates(indices, target.shape, "shape")
        out = np.array(target)
        if kind == "add":
            np.add.at(out, _coordinates(indices), updates)
        else:
            out[_coordinates(indices)] = updates
        return out
    chosen = target.at[_coordinates(indices)]
    update = chosen.add if kind == "add" else chosen.set
    return update(updates, mode="drop", wrap_negative_indices=False)


@op(
    "ScatterNd",
    inputs="indices: Tindices, updates: T, shape: Tindices",
    outputs="output: T",
    attrs="T: type, Tindices: {int32, int64}",
    shape=_scattered,
    static="shape",
)
def scatter_nd_(xp: Any, indices: Any, updates: Any, shape: Any) -> Any:
    if np.ndim(shape) != 1:
        raise invalid("Shape must be a vector")
    updates = as_array(updates)
    target = xp.full(tuple(map(int, shape)), blank(updates.dtype), updates.dtype)
    return scatter_into(xp, target, indices, updates, "add")


@scatter_nd_.gradient
def _(op: Operation, grad: Any) -> Any:
    return None, gather_nd_(grad, op.inputs[0]), None


@op(
    "ScatterNdNonAliasingAdd",
    inputs="input: T, indices: Tindices, updates: T",
    outputs="output: T",
    attrs="T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32,"
    " bfloat16, uint16, complex128, half, uint32, uint64, bool}, Tindices: {int32, int64}",
    shape=_scattered_into,
)
def scatter_nd_non_aliasing_add_(xp: Any, input: Any, indices: Any, updates: Any) -> Any:
    return scatter_into(xp, input, indices, updates, "add")


@scatter_nd_non_aliasing_add_.gradient
def _(op: Operation, grad: Any) -> Any:
    return grad, None, gather_nd_(grad, op.inputs[1])


_TENSOR_SCATTER = {
    "inputs": "tensor: T, indices: Tindices, updates: T",
    "outputs": "output: T",
    "attrs": "T: type, Tindices: {int32, int64}",
    "shape": _scattered_into,
}


@op("TensorScatterUpdate", **_TENSOR_SCATTER)
def tensor_scatter_update_(xp: Any, tensor: Any, indices: Any, updates: Any) -> Any:
    return scatter_into(xp, tensor, indices, updates, "set")


@tensor_scatter_update_.gradient
def _(op: Operation, grad: Any) -> Any:
    _, indices, updates = op.inputs
    zeros = array.zeros_like(updates, dtype=grad.dtype)
    rest = tensor_scatter_update_(array.identity(grad), indices, zeros)
    return rest, None, gather_nd_(grad, indices)


@op("TensorScatterAdd", **_TENSOR_SCATTER)
def tensor_scatter_add_(xp: Any, tensor: Any, indices: Any, updates: Any) -> Any:
    return scatter_into(xp, tensor, indices, updates, "add")


@tensor_scatter_add_.gradient
def _(op: Operation, grad: Any) -> Any:
    return array.identity(grad), None, gather_nd_(grad, op.inputs[1])


@op("TensorScatterSub", **_TENSOR_SCATTER)
def tensor_scatter_sub_(xp: Any, tensor: Any, indices: Any, updates: Any) -> Any:
    return scatter_into(xp, tensor, indices, xp.negative(updates), "add")


@tensor_scatter_sub_.gradient
def _(op: Operation, grad: Any) -> Any:
    return array.identity(grad), None, -gather_nd_(grad, op.inputs[1])


_INPLACE = {
    "inputs": "x: T, i: int32, v: T",
    "outputs": "y: T",
    "attrs": "T: type",
    "shape": s.unchanged,
}


def _write_rows(xp: Any, x: Any, i: Any, v: Any, kind: str) -> Any:
    if i.ndim != 1:
        raise invalid(f"i must be a vector. {s.show(i.shape)}")
    if x.ndim != v.ndim:
        raise invalid(
            f"x and v shape doesn't match (ranks differ): {s.show(x.shape)} vs. {s.show(v.shape)}"
        )
    for axis in range(1, x.ndim):
        if x.shape[axis] != v.shape[axis]:
            raise invalid(
                f"x and v shape doesn't match at index {axis} : {s.show(x.shape)} vs."
                f" {s.show(v.shape)}"
            )
    if i.shape[0] != v.shape[0]:
        raise invalid(
            f"i and x shape doesn't match at index 0: {s.show(i.shape)} vs. {s.show(v.shape)}"
        )
    if 0 in x.shape or 0 in v.shape:
        return x
    # Indices outside wrap around.
    return scatter_into(xp, x, (i % x.shape[0])[:, None], v, kind)


@op("InplaceUpdate", **_INPLACE)
def inplace_update_(xp: Any, x: Any, i: Any, v: Any) -> Any:
    return _write_rows(xp, x, i, v, "set")


@op("InplaceAdd", **_INPLACE)
def inplace_add_(xp: Any, x: Any, i: Any, v: Any) -> Any:
    return _write_rows(xp, x, i, v, "add")


@op("InplaceSub", **_INPLACE)
def inplace_sub_(xp: Any, x: Any, i: Any, v: Any) -> Any:
    return _write_rows(xp, x, i, xp.negative(v), "add")


def scatter_nd(indices: Any, updates: Any, shape: Any, name: str | None = None) -> Tensor:
    """Zeros of `shape` with `updates` added at coordinates `indices`."""
    return scatter_nd_(indices, updates, shape, name=name)


def tensor_scatter_update(
    tensor: Any, indices: Any, updates: Any, name: str | None = None
) -> Tensor:
    """`tensor` with `updates` put at coordinates `indices`."""
    return tensor_scatter_update_(tensor, indices, updates, name=name)


def tensor_scatter_add(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Tensor:
    """`tensor` with `updates` added at coordinates `indices`."""
    return tensor_scatter_add_(tensor, indices, updates, name=name)


def tensor_scatter_sub(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Tensor:
    """`tensor` with `updates` subtracted at coordinates `indices`."""
    return tensor_scatter_sub_(tensor, indices, updates, name=name)


tensor_scatter_nd_update = tensor_scatter_update
tensor_scatter_nd_add = tensor_scatter_add
tensor_scatter_nd_sub = tensor_scatter_sub


# ---- choosing and counting --------------------------------------------------------------------


def _one_hot_shape(c: ShapeContext) -> Dims:
    axis, indices, depth = c.attr("axis"), c.dims(0), c.value(1)
    if axis < -1:
        raise ValueError("axis must be >= -1")
    s.with_rank(c.dims(1), 0)
    if depth is not None and int(depth) < 0:
        raise ValueError(
            f"Dimension size, given by scalar input 1, must be non-negative but is {depth}"
        )
    if indices is None:
        return None
    at = axis % (len(indices) + 1)
    return (*indices[:at], None if depth is None else int(depth), *indices[at:])


@op(
    "OneHot",
    inputs="indices: TI, depth: int32, on_value: T, off_value: T",
    outputs="output: T",
    attrs="axis: int = -1, T: type, TI: {uint8, int32, int64} = int64",
    shape=_one_hot_shape,
    static="depth",
    differentiable=False,
)
def one_hot_(
    xp: Any, indices: Any, depth: Any, on_value: Any, off_value: Any, *, axis: int
) -> Any:
    count = indices.ndim + 1
    if not -1 <= axis < count:
        raise invalid(f"Expected axis to be -1 or between [0, {count}). But received: {axis}")
    for what, value in (("depth", depth), ("on_value", on_value), ("off_value", off_value)):
        if np.ndim(value) != 0:
            raise invalid(f"{what} must be a scalar, but got: {s.show(np.shape(value))}")
    if int(depth) < 0:
        raise invalid(f"depth must be non-negative, got: {int(depth)}")
    on_value, off_value = as_array(on_value), as_array(off_value)
    at = axis % count
    classes = np.arange(int(depth)).reshape([-1 if i == at else 1 for i in range(count)])
    hit = xp.expand_dims(indices.astype(np.int64), at) == classes
    return xp.where(hit, on_value, off_value)


def _found(c: ShapeContext) -> Dims:
    dims = c.dims(0)
    return None, None if dims is None else len(dims)


@op(
    "Where",
    inputs="input: T",
    outputs="index: int64",
    attrs="T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32,"
    " bfloat16, uint16, complex128, half, uint32, uint64, bool} = bool",
    shape=_found,
    runs_on="host",
    differentiable=False,
)
def where_(xp: Any, input: Any) -> Any:
    if not 1 <= input.ndim <= 8:
        raise invalid(f"WhereOp : Unhandled input dimensions: {input.ndim}")
    return np.argwhere(input).astype(np.int64)


def _bounds_shape(c: ShapeContext) -> Dims:
    s.with_rank(c.dims(0), 2)
    return s.with_rank(c.dims(1), 2)


def _search(xp: Any, sorted_inputs: Any, values: Any, side: str, out_type: DType) -> Any:
    if sorted_inputs.ndim != 2:
        raise invalid("sorted input argument must be a matrix")
    if values.ndim != 2 or values.shape[0] != sorted_inputs.shape[0]:
        raise invalid("Leading dim_size of both tensors must match.")
    if xp is np:
        rows = [
            np.searchsorted(row, wanted, side=side)
            for row, wanted in zip(sorted_inputs, values, strict=True)
        ]
        return np.array(rows, out_type.np_storage).reshape(values.shape)
    import jax

    find = jax.vmap(lambda row, wanted: xp.searchsorted(row, wanted, side=side))
    return find(sorted_inputs, values).astype(out_type.np_storage)


@op(
    "LowerBound",
    inputs="sorted_inputs: T, values: T",
    outputs="output: out_type",
    attrs="T: type, out_type: {int32, int64} = int32",
    shape=_bounds_shape,
    differentiable=False,
)
def lower_bound_(xp: Any, sorted_inputs: Any, values: Any, *, out_type: DType) -> Any:
    return _search(xp, sorted_inputs, values, "left", out_type)


@op(
    "UpperBound",
    inputs="sorted_inputs: T, values: T",
    outputs="output: out_type",
    attrs="T: type, out_type: {int32, int64} = int32",
    shape=_bounds_shape,
    differentiable=False,
)
def upper_bound_(xp: Any, sorted_inputs: Any, values: Any, *, out_type: DType) -> Any:
    return _search(xp, sorted_inputs, values, "right", out_type)


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Tensor:
    """Where `condition` holds; or `x` where it does and `y` elsewhere, all of one shape."""
    return _where(condition, x, y, name, raw.Select if x is not None else None)


def where_v2(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Tensor:
    """`where` that broadcasts its arguments against each other."""
    return _where(condition, x, y, name, raw.SelectV2 if x is not None else None)


def _where(condition: Any, x: Any, y: Any, name: str | None, select: Any) -> Tensor:
    if (x is None) != (y is None):
        raise ValueError("x and y must both be non-None or both be None.")
    if x is not None:
        return select(condition, x, y, name=name)
    with name_scope(name, "Where", [condition]) as name:
        condition = convert_to_tensor(condition, preferred_dtype=dtypes.bool, name="condition")
        return where_(condition, name=name)


def boolean_mask(
    tensor: Any, mask: Any, name: str | None = "boolean_mask", axis: int | None = None
) -> Tensor:
    """The slices of `tensor` at which `mask`, laid over dimensions from `axis` on, is True."""
    with name_scope(name, values=[tensor, mask]):
        tensor = convert_to_tensor(tensor, name="tensor")
        mask = convert_to_tensor(mask, name="mask")
        if mask.dims == ():
            raise ValueError("mask cannot be scalar.")
        if mask.dims is None:
            raise ValueError(
                "Number of mask dimensions must be specified, even if some dimensions are None."
                "  E.g. shape=[None] is ok, but shape=None is not."
            )
        begin = 0 if axis is None else int(axis)
        end = begin + len(mask.dims)
        covered = tensor.shape[begin:end]
        covered.assert_is_compatible_with(mask.shape)
        leading = raw.Prod(array.shape(tensor)[begin:end], [0])
        dims = array.concat(
            [array.shape(tensor)[:begin], [leading], array.shape(tensor)[end:]], 0
        )
        static = tensor.shape[:begin].concatenate([covered.num_elements()])
        rest = tensor.shape[end:]
        tensor = array.reshape(tensor, dims)
        tensor.set_shape(static.concatenate(rest))
        chosen = array.squeeze(where(array.reshape(mask, [-1])), axis=[1])
        return gather(tensor, chosen, axis=begin)


def one_hot(
    indices: Any,
    depth: Any,
    on_value: Any = None,
    off_value: Any = None,
    axis: int | None = None,
    dtype: Any = None,
    name: str | None = None,
) -> Tensor:
    """A new dimension of size `depth` with `on_value` at each index and `off_value` elsewhere."""
    with name_scope(
        name, "one_hot", [indices, depth, on_value, off_value, axis, dtype]
    ) as name:
        given = {"on_value": on_value, "off_value": off_value}
        found = {
            what: convert_to_tensor(value, dtype_hint=dtype).dtype.base_dtype
            for what, value in given.items()
            if value is not None
        }
        if dtype is not None:
            dtype = dtypes.as_dtype(dtype).base_dtype
            for what, kind in found.items():
                if kind != dtype:
                    raise TypeError(
                        f"dtype {kind} of {what} does not match dtype parameter {dtype}"
                    )
        else:
            dtype = next(iter(found.values()), dtypes.float32)
        if len(set(found.values())) > 1:
            raise TypeError(
                f"dtype {found['on_value']} of on_value does not match dtype"
                f" {found['off_value']} of off_value"
            )
        if on_value is None:
            on_value = convert_to_tensor(1, dtype, name="on_value")
        if off_value is None:
            off_value = convert_to_tensor(0, dtype, name="off_value")
        return one_hot_(
            indices, depth, on_value, off_value, axis=-1 if axis is None else axis, name=name
        )


def sequence_mask(
    lengths: Any, maxlen: Any = None, dtype: Any = dtypes.bool, name: str | None = None
) -> Tensor:
    """True in the first `lengths[i]` of `maxlen` (by default the longest) places of row i."""
    with name_scope(name, "SequenceMask", [lengths, maxlen]):
        lengths = convert_to_tensor(lengths)
        if maxlen is None:
            maxlen = raw.Max(lengths, array.all_axes(lengths))
            maxlen = raw.Maximum(constant(0, maxlen.dtype), maxlen)
        else:
            maxlen = convert_to_tensor(maxlen)
        if maxlen.dims:
            raise ValueError("maxlen must be scalar for sequence_mask")
        steps = raw.Range(constant(0, maxlen.dtype), maxlen, constant(1, maxlen.dtype))
        column = raw.Cast(array.expand_dims(lengths, -1), maxlen.dtype)
        result = steps < column
        if dtype is None or dtypes.as_dtype(dtype).base_dtype == dtypes.bool:
            return result
        return raw.Cast(result, dtype)


def searchsorted(
    sorted_sequence: Any,
    values: Any,
    side: str = "left",
    out_type: DType = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """Where each of the `values` would go in the last dimension of `sorted_sequence`."""
    if side not in ("left", "right"):
        raise ValueError(f"side must be either 'right' or 'left'.  Saw: {side}.")
    length = array.shape(sorted_sequence)[-1]
    wanted = array.shape(values)[-1]
    rows = array.reshape(sorted_sequence, [-1, length])
    flat = array.reshape(values, [-1, wanted])
    find = upper_bound_ if side == "right" else lower_bound_
    found = find(rows, flat, out_type=out_type, name=name)
    return array.reshape(found, array.shape(values))


# ---- partitions -------------------------------------------------------------------------------


def _merge_prefix(dims: Dims, prefix: tuple[int | None, ...]) -> None:
    if dims is not None:
        s.with_rank_at_least(dims, len(prefix))
        s.merge(dims[: len(prefix)], prefix)


def _partitioned(c: ShapeContext) -> list[Dims]:
    data, partitions = c.dims(0), c.dims(1)
    if partitions is None:
        return [None] * c.num_outputs
    _merge_prefix(data, partitions)
    part: Dims = None if data is None else (None, *data[len(partitions) :])
    return [part] * c.num_outputs


@op(
    "DynamicPartition",
    inputs="data: T, partitions: int32",
    outputs="outputs: num_partitions * T",
    attrs="num_partitions: int >= 1, T: type",
    shape=_partitioned,
    runs_on="host",
)
def dynamic_partition_(xp: Any, data: Any, partitions: Any, *, num_partitions: int) -> list[Any]:
    if data.shape[: partitions.ndim] != partitions.shape:
        raise invalid(
            f"data.shape must start with partitions.shape, got data.shape = {s.show(data.shape)},"
            f" partitions.shape = {s.show(partitions.shape)}"
        )
    check_range(
        partitions,
        num_partitions,
        lambda index, at, limit: f"partitions{_at(at)} = {index} is not in [0, {limit})",
    )
    rows = data.reshape(-1, *data.shape[partitions.ndim :])
    numbers = partitions.reshape(-1)
    return [rows[numbers == i] for i in range(num_partitions)]


@dynamic_partition_.gradient
def _(op: Operation, *grads: Any) -> Any:
    data, partitions = op.inputs
    prefix = array.shape(partitions)
    rows = raw.Range(0, raw.Prod(prefix, [0]), 1, name="range")
    places = dynamic_partition_(
        array.reshape(rows, prefix), partitions, num_partitions=op.attrs["num_partitions"]
    )
    stitched = dynamic_stitch_(places, list(grads))
    return array.reshape(stitched, array.shape(data)), None


def _stitched(c: ShapeContext) -> Dims:
    count = c.num_inputs // 2
    rest: Dims = None
    last: int | None = 0
    for i in range(count):
        indices, data, value = c.dims(i), c.dims(count + i), c.value(i)
        if value is None:
            last = None
        elif value.size and last is not None:
            last = max(last, int(value.max()) + 1)
        if indices is None:
            continue
        _merge_prefix(data, indices)
        rest = s.merge(rest, None if data is None else data[len(indices) :])
    return None if rest is None else (last, *rest)


def _stitch(xp: Any, indices: list[Any], data: list[Any]) -> Any:
    first = data[0].shape[indices[0].ndim :]
    for i, (rows, values) in enumerate(zip(indices, data, strict=True)):
        if values.shape[: rows.ndim] != rows.shape:
            raise invalid(
                f"data[{i}].shape = {s.show(values.shape)} does not start with indices[{i}].shape"
                f" = {s.show(rows.shape)}"
            )
        if values.shape[rows.ndim :] != first:
            raise invalid(
                f"Need data[0].shape[{indices[0].ndim}:] = data[{i}].shape[{rows.ndim}:], got"
                f" data[0].shape = {s.show(data[0].shape)}, data[{i}].shape ="
                f" {s.show(values.shape)}, indices[0].shape = {s.show(indices[0].shape)},"
                f" indices[{i}].shape = {s.show(rows.shape)}"
            )
    places = np.concatenate([np.ravel(rows) for rows in indices])
    if np.any(places < 0):
        raise invalid(f"indices[{int(np.argmax(places < 0))}] is out of range")
    length = int(places.max()) + 1 if places.size else 0
    # The last value for a place wins; places that nothing was given for stay zero.
    source = np.full(length, -1, np.int64)
    source[places] = np.arange(places.size)
    rows = xp.concatenate([xp.reshape(v, (-1, *first)) for v in data], axis=0)
    if length == 0:
        return rows[:0]
    out = xp.take(rows, np.maximum(source, 0), axis=0)
    if np.all(source >= 0):
        return out
    filled = (source >= 0).reshape(-1, *[1] * len(first))
    return xp.where(filled, out, blank(rows.dtype))


_STITCH = {
    "inputs": "indices: N * int32, data: N * T",
    "outputs": "merged: T",
    "attrs": "N: int >= 1, T: type",
    "shape": _stitched,
    "static": "indices",
}


@op("DynamicStitch", **_STITCH)
def dynamic_stitch_(xp: Any, indices: list[Any], data: list[Any]) -> Any:
    return _stitch(xp, indices, data)


@op("ParallelDynamicStitch", **_STITCH)
def parallel_dynamic_stitch_(xp: Any, indices: list[Any], data: list[Any]) -> Any:
    return _stitch(xp, indices, data)


@dynamic_stitch_.gradient
def _(op: Operation, grad: Any) -> Any:
    return _unstitched(op, grad)


@parallel_dynamic_stitch_.gradient
def _(op: Operation, grad: Any) -> Any:
    return _unstitched(op, grad)


def _unstitched(op: Operation, grad: Any) -> list[Any]:
    count = len(op.inputs) // 2
    if isinstance(grad, IndexedSlices):
        rows = array.shape(op.outputs[0])[0]
        grad = raw.UnsortedSegmentSum(grad.values, grad.indices, rows)
    return [None] * count + [gather(grad, indices) for indices in op.inputs[:count]]


def dynamic_partition(
    data: Any, partitions: Any, num_partitions: int, name: str | None = None
) -> list[Tensor]:
    """The rows of `data` sorted into `num_partitions` tensors as `partitions` says."""
    return dynamic_partition_(data, partitions, num_partitions=num_partitions, name=name)


def dynamic_stitch(indices: Any, data: Any, name: str | None = None) -> Tensor:
    """Rows of the `data` tensors put where `indices` say; later ones win."""
    return dynamic_stitch_(indices, data, name=name)


def parallel_dynamic_stitch(indices: Any, data: Any, name: str | None = None) -> Tensor:
    """`dynamic_stitch` for indices without repetitions."""
    return parallel_dynamic_stitch_(indices, data, name=name)
