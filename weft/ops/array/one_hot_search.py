"""Ops that choose by condition or rank: one-hot codes, masks, searches in sorted arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.core.step_limits import long
from weft.graph import shape_fn as s
from weft.graph.by_library import by_library
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import name_scope
from weft.graph.op_def import op, raw
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.tensor import Tensor
from weft.graph.traits import HOST, NO_GRADIENT
from weft.ops.array import array
from weft.ops.array.coordinates import found_in
from weft.ops.array.gather import gather
from weft.ops.kit import native
from weft.ops.kit.shared import as_array, invalid
from weft.ops.kit.target import target_platform


def _one_hot_shape(c: ShapeContext) -> Dims:
    axis, indices, depth = c.attr("axis"), c.dims(0), c.value(1)
    if axis < -1:
        raise ValueError("axis must be >= -1")
    if c.dims(1):
        c.value(1)
        raise ValueError(f"Input must be scalar but has rank {len(c.dims(1) or ())}")
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
    traits=NO_GRADIENT,
)
def one_hot_(xp: Any, indices: Any, depth: Any, on_value: Any, off_value: Any, *, axis: int) -> Any:
    count = indices.ndim + 1
    if not -1 <= axis < count:
        raise invalid(f"Expected axis to be -1 or between [0, {count}). But received: {axis}")
    for what, value in (("depth", depth), ("on_value", on_value), ("off_value", off_value)):
        if np.ndim(value) != 0:
            raise invalid(f"{what} must be a scalar, but got: {s.show(np.shape(value))}")
    if int(depth) < 0:
        raise invalid(f"depth must be non-negative, got: {int(depth)}")
    on_value, off_value = as_array(on_value), as_array(off_value)
    return _codes(xp, indices, int(depth), on_value, off_value, axis % count)


@by_library
def _codes(xp: Any, indices: Any, depth: int, on_value: Any, off_value: Any, at: int) -> Any:
    is_large = at == indices.ndim and indices.size * depth >= _LARGE and depth >= _DEEP
    if not (is_large and target_platform() == "cpu"):
        return _codes.on_numpy(xp, indices, depth, on_value, off_value, at)
    # jax would take the low 32 bits of an index.
    flat = xp.clip(indices.reshape(-1).astype(np.int64), -1, depth).astype(np.int32)
    if native.offers("one_hot", on_value, off_value):
        sizes = len(flat), depth
        codes = native.call("one_hot", sizes, flat, on_value, off_value, sizes=sizes)
        return codes.reshape(*indices.shape, depth)
    off = xp.broadcast_to(off_value, (len(flat), depth))
    codes = off.at[xp.arange(len(flat)), flat].set(
        on_value, mode="drop", unique_indices=True, indices_are_sorted=True,
        wrap_negative_indices=False,
    )  # fmt: skip
    return codes.reshape(*indices.shape, depth)


@_codes.numpy
def _(xp: Any, indices: Any, depth: int, on_value: Any, off_value: Any, at: int) -> Any:
    classes = xp.arange(depth, dtype=np.int64).reshape(
        [-1 if i == at else 1 for i in range(indices.ndim + 1)]
    )
    hit = xp.expand_dims(indices.astype(np.int64), at) == classes
    return xp.where(hit, on_value, off_value)


# Elements, and classes, from which on a program for a CPU writes the few that are on into a
# constant array. Smaller codes are compared where they are used, and never stored.
_LARGE, _DEEP = 2**20, 64
_HUGE = 1 << 63  # more than any tensor has


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
    traits=HOST,
)
def where_(xp: Any, input: Any) -> Any:
    if not 1 <= input.ndim <= 8:
        raise invalid(f"WhereOp : Unhandled input dimensions: {input.ndim}")
    return found_in(input)


def _bounds_shape(c: ShapeContext) -> Dims:
    s.with_rank(c.dims(0), 2)
    dims = c.dims(1)
    return None if dims is None else s.with_rank(dims, 2)


def _search(xp: Any, sorted_inputs: Any, values: Any, side: Any, out_type: DType) -> Any:
    if sorted_inputs.ndim != 2:
        raise invalid("sorted input argument must be a matrix")
    if values.ndim != 2 or values.shape[0] != sorted_inputs.shape[0]:
        raise invalid("Leading dim_size of both tensors must match.")
    return _search_rows(xp, sorted_inputs, values, side).astype(out_type.np_storage)


@by_library
def _search_rows(xp: Any, rows: Any, values: Any, side: Any) -> Any:
    import jax

    return jax.vmap(lambda row, wanted: xp.searchsorted(row, wanted, side=side))(rows, values)


@_search_rows.numpy
def _(xp: Any, rows: Any, values: Any, side: Any) -> Any:
    found = np.empty(values.shape, np.int64)
    if values.size:  # of rows that are empty there may be any number
        for at in long(range(len(rows))):
            found[at] = np.searchsorted(rows[at], values[at], side=side)
    return found


@op(
    "LowerBound",
    inputs="sorted_inputs: T, values: T",
    outputs="output: out_type",
    attrs="T: type, out_type: {int32, int64} = int32",
    shape=_bounds_shape,
)
def lower_bound_(xp: Any, sorted_inputs: Any, values: Any, *, out_type: DType) -> Any:
    return _search(xp, sorted_inputs, values, "left", out_type)


@op(
    "UpperBound",
    inputs="sorted_inputs: T, values: T",
    outputs="output: out_type",
    attrs="T: type, out_type: {int32, int64} = int32",
    shape=_bounds_shape,
)
def upper_bound_(xp: Any, sorted_inputs: Any, values: Any, *, out_type: DType) -> Any:
    return _search(xp, sorted_inputs, values, "right", out_type)


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Tensor:
    """The places where `condition` holds; or `x` there and `y` elsewhere, all of one shape.

    Args:
        condition: booleans.
        x, y: tensors of one shape, that of `condition`; or, if that is a vector, tensors of as
            many rows. Both or neither.
        name: of the operation.

    Returns:
        A tensor like `x`; without `x` and `y`, the coordinates of what is True, one per row.

    Raises:
        ValueError: only one of `x` and `y` is given, or the shapes do not fit.

    Example:
        >>> session.run(tf.where([True, False], [1, 2], [10, 20]))
        array([ 1, 20], dtype=int32)
        >>> session.run(tf.where([False, True, True]))
        array([[1],
               [2]])
    """
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
    """The slices of `tensor` at which `mask`, laid over dimensions from `axis` on, is True.

    Args:
        tensor: a tensor.
        mask: booleans of a known rank, at least 1.
        name: of the operation.
        axis: the first dimension that `mask` covers; None: 0.

    Returns:
        A tensor in which one dimension has replaced those that `mask` covers.

    Raises:
        ValueError: the rank of `mask` is unknown or 0, or its shape does not fit.

    Example:
        >>> session.run(tf.boolean_mask([1, 2, 3], [True, False, True]))
        array([1, 3], dtype=int32)
    """
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
        dims = array.concat([array.shape(tensor)[:begin], [leading], array.shape(tensor)[end:]], 0)
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
    """A new dimension of size `depth` with `on_value` at each index and `off_value` elsewhere.

    Args:
        indices: integers, in any shape.
        depth: the size of the new dimension; indices beyond it give no `on_value`.
        on_value: 1 by default.
        off_value: 0 by default.
        axis: the place of the new dimension; None or -1: the last.
        dtype: the type of the result; None: that of the values, or float32.
        name: of the operation.

    Returns:
        A tensor with one dimension more than `indices`.

    Raises:
        TypeError: `dtype` and the values disagree.

    Example:
        >>> session.run(tf.one_hot([2, 0], depth=3))
        array([[0., 0., 1.],
               [1., 0., 0.]], dtype=float32)
    """
    with name_scope(name, "one_hot", [indices, depth, on_value, off_value, axis, dtype]) as name:
        given = {"on_value": on_value, "off_value": off_value}
        found = {
            what: convert_to_tensor(value).dtype.base_dtype
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
    """True in the first `lengths[i]` of `maxlen` (by default the longest) places of row i.

    Args:
        lengths: integers, in any shape.
        maxlen: the size of the new last dimension.
        dtype: the type of the result.
        name: of the operation.

    Returns:
        A tensor with one dimension more than `lengths`.

    Raises:
        ValueError: `maxlen` is no scalar.

    Example:
        >>> session.run(tf.sequence_mask([1, 3]))
        array([[ True, False, False],
               [ True,  True,  True]])
    """
    with name_scope(name, "SequenceMask", [lengths, maxlen]):
        ends = convert_to_tensor(lengths)
        width = _longest(ends) if maxlen is None else convert_to_tensor(maxlen)
        if width.dims:
            raise ValueError("maxlen must be scalar for sequence_mask")
        kind = width.dtype
        places = raw.Range(constant(0, kind), width, constant(1, kind))
        mask = places < raw.Cast(array.expand_dims(ends, -1), kind)
        as_bools = dtype is None or dtypes.as_dtype(dtype).base_dtype == dtypes.bool
        return mask if as_bools else raw.Cast(mask, dtype)


def _longest(lengths: Tensor) -> Tensor:
    most = raw.Max(lengths, array.all_axes(lengths))
    return raw.Maximum(constant(0, most.dtype), most)


def searchsorted(
    sorted_sequence: Any,
    values: Any,
    side: str = "left",
    out_type: DType = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """The places that the `values` would have in the last dimension of `sorted_sequence`."""
    if side not in ("left", "right"):
        raise ValueError(f"side must be either 'right' or 'left'.  Saw: {side}.")
    length = array.shape(sorted_sequence)[-1]
    wanted = array.shape(values)[-1]
    rows = array.reshape(sorted_sequence, [-1, length])
    flat = array.reshape(values, [-1, wanted])
    find = upper_bound_ if side == "right" else lower_bound_
    found = find(rows, flat, out_type=out_type, name=name)
    return array.reshape(found, array.shape(values))


def _unraveled(c: ShapeContext) -> Dims:
    indices, (count,) = c.dims(0), s.with_rank(c.dims(1), 1)
    if indices is None:
        return None
    return (count, s.size(indices)) if indices else (count,)


@op(
    "UnravelIndex",
    inputs="indices: Tidx, dims: Tidx",
    outputs="output: Tidx",
    attrs="Tidx: {int32, int64} = int32",
    shape=_unraveled,
    static="dims",
)
def unravel_index_(xp: Any, indices: Any, dims: Any) -> Any:
    if indices.ndim > 1:
        raise invalid(f'The indices can only be scalar or vector, got "{s.show(indices.shape)}"')
    if np.ndim(dims) != 1:
        raise invalid(f'The indices can only be 1-D, got "{s.show(np.shape(dims))}"')
    whole = 1
    for i, d in enumerate(map(int, dims)):
        if d == 0:
            raise invalid(
                f"Input dims cannot contain a dim of zero, but dims contains zero at index {i}"
            )
        if d < 0:
            raise invalid(f"Input dims cannot be negative. Got dim = {d} at index {i}")
        whole = min(whole * d, _HUGE)
    if whole > np.iinfo(dims.dtype).max:
        raise invalid(f"Input dims product is causing integer overflow: ({dims})")
    found, rest = [], indices
    for d in reversed(dims.tolist()):
        found.append(rest % d)
        rest = rest // d
    return xp.stack(found[::-1]) if found else xp.zeros((0, *indices.shape), indices.dtype)


def unravel_index(indices: Any, dims: Any, name: str | None = None) -> Tensor:
    """The coordinates, in an array of shape `dims`, of elements numbered in order."""
    return unravel_index_(indices, dims, name=name)
