"""Several arrays into one: concatenating and stacking."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from itertools import accumulate
from typing import Any

import numpy as np

from weft.core import dtypes, nest
from weft.core.dtypes import DType
from weft.core.shapes import TensorShape
from weft.graph import shape_fn as s
from weft.graph.constant_value import constant_value
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import name_scope
from weft.graph.op_def import op, raw
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.slices import IndexedSlices
from weft.graph.tensor import Tensor
from weft.graph.traits import MOVES, NO_GRADIENT
from weft.ops.array.fill import fill
from weft.ops.array.placeholders import identity
from weft.ops.array.shape import expand_dims, rank, shape, shape_n, squeeze
from weft.ops.kit.shared import as_array, invalid, is_tensor_like


def _joined(c: ShapeContext, axis_input: int, first: int, last: int) -> Dims:
    """The shape of inputs `first` to `last` joined along the axis that input `axis_input` gives."""
    s.with_rank(c.dims(axis_input), 0)
    axis = c.value(axis_input)
    shapes = [c.dims(i) for i in range(first, last)]
    ranks = [len(dims) for dims in shapes if dims is not None]
    if ranks and ranks[0] == 0:
        raise ValueError("Can't concatenate scalars (use tf.stack instead)")
    for dims in shapes:
        s.with_rank(dims, ranks[0] if ranks else 0)
    if axis is None:
        return (None,) * ranks[0] if ranks else None
    at = int(axis)
    for dims in reversed(shapes):
        s.with_rank_at_least(dims, -at if at < 0 else at + 1)
    if not ranks:
        return None
    before: Dims = None
    after: Dims = None
    total: int | None = 0
    for dims in reversed(shapes):
        size = None if dims is None else dims[at]
        total = None if total is None or size is None else total + size
        if dims is not None:
            end = at % len(dims)
            before, after = s.merge(dims[:end], before), s.merge(dims[end + 1 :], after)
    assert before is not None and after is not None
    return (*before, total, *after)


def _without(dims: Dims, at: int) -> Dims:
    if dims is None:
        return None
    return tuple(None if i == at % len(dims) else d for i, d in enumerate(dims))


def _join(xp: Any, values: list[Any], axis: Any) -> Any:
    values = [as_array(v) for v in values]
    first = values[0]
    if np.ndim(axis) != 0:
        raise invalid(
            f"Concat dim tensor should be a scalar integer, but got shape {s.show(np.shape(axis))}"
        )
    at = int(axis)
    if not -first.ndim <= at < first.ndim:
        raise invalid(
            f"ConcatOp : Expected concatenating dimensions in the range [{-first.ndim},"
            f" {first.ndim}), but got {at}"
        )
    for i, value in enumerate(values):
        pair = f"shape[0] = {s.show(first.shape)} vs. shape[{i}] = {s.show(value.shape)}"
        if value.ndim != first.ndim:
            raise invalid(f"ConcatOp : Ranks of all input tensors should match: {pair}")
        if _without(value.shape, at) != _without(first.shape, at):
            raise invalid(f"ConcatOp : Dimensions of inputs should match: {pair}")
    return xp.concatenate(values, axis=at)


@op(
    "Concat",
    inputs="concat_dim: int32, values: N * T",
    outputs="output: T",
    attrs="N: int >= 2, T: type",
    shape=lambda c: _joined(c, 0, 1, c.num_inputs),
    static="concat_dim",
)
def concat_(xp: Any, concat_dim: Any, values: list[Any]) -> Any:
    return _join(xp, values, concat_dim)


@concat_.gradient
def _(op: Operation, grad: Any) -> Any:
    return [None, *_split_like(op.inputs[1:], op.inputs[0], grad)]


@op(
    "ConcatV2",
    inputs="values: N * T, axis: Tidx",
    outputs="output: T",
    attrs="N: int >= 2, T: type, Tidx: {int32, int64} = int32",
    shape=lambda c: _joined(c, c.num_inputs - 1, 0, c.num_inputs - 1),
    static="axis",
    traits=MOVES,
)
def concat_v2_(xp: Any, values: list[Any], axis: Any) -> Any:
    return _join(xp, values, axis)


@concat_v2_.gradient
def _(op: Operation, grad: Any) -> Any:
    return [*_split_like(op.inputs[:-1], op.inputs[-1], grad), None]


# From this many pieces on, one `SplitV` beats a `Slice` for each.
_MANY_PIECES = 16


def _split_like(values: Sequence[Tensor], axis: Tensor, grad: Any) -> list[Any]:
    """The part of `grad` that belongs to each of the `values` joined along `axis`."""
    if isinstance(grad, IndexedSlices):
        return _split_slices_like(values, axis, grad)
    if axis.op.type == "Const" and (
        axis.op._control_flow_context is not grad.op._control_flow_context
    ):
        # The axis must stay a constant that XLA sees, not come in through an Enter node.
        axis = constant(constant_value(axis), axis.dtype)
    axis = axis % rank(values[0])
    sizes = []
    for x in values:
        sizes.append(shape(x))
        if not s.known(x.dims):
            sizes = shape_n(values)
            break
    if len(sizes) > _MANY_PIECES:
        lengths = squeeze(raw.Slice(stack(sizes, axis=1), [axis, 0], [1, -1]))
        return raw.SplitV(grad, lengths, axis, num_split=len(sizes), name="split")
    offsets = raw.ConcatOffset(axis, sizes)
    return [raw.Slice(grad, begin, dims) for begin, dims in zip(offsets, sizes, strict=True)]


def _split_slices_like(
    values: Sequence[Tensor], axis: Tensor, grad: IndexedSlices
) -> list[IndexedSlices]:
    at = constant_value(axis)
    if at is None:
        raise ValueError("Can only compute IndexedSlices gradient with statically-known concat_dim")
    axis, at = axis % rank(values[0]), int(at)
    if at < 0:
        dimensions = constant_value(rank(values[0]))
        if dimensions is None:
            raise ValueError(
                "Can only compute IndexedSlices gradient with negative concat_dim when first"
                " value rank is statically-known."
            )
        at %= int(dimensions)
    sizes = [shape(x) for x in values]
    return (_split_columns if at else _split_rows)(grad, sizes, axis)


def _split_columns(grad: IndexedSlices, sizes: list[Tensor], at: Tensor) -> list[IndexedSlices]:
    """Every value has the same rows as `grad`, and some of its columns."""
    rank = shape(sizes[0])
    along = concat([fill(expand_dims(at, 0), 0), [1], fill(rank - at - 1, 0)], 0)

    def columns(begin: Tensor, dims: Tensor) -> IndexedSlices:
        extent = concat([[-1], raw.Slice(dims, [1], [-1])], 0)
        return IndexedSlices(raw.Slice(grad.values, begin, extent), grad.indices, dims)

    begins = accumulate((dims * along for dims in sizes), raw.Add, initial=fill(rank, 0))
    return [columns(begin, dims) for begin, dims in zip(begins, sizes, strict=False)]


def _split_rows(grad: IndexedSlices, sizes: list[Tensor], at: Tensor) -> list[IndexedSlices]:
    """Every value has those rows of `grad` whose indices lie in its range."""
    start = constant(0, grad.indices.dtype)
    pieces = []
    for dims in sizes:
        length = raw.GatherV2(dims, at, 0)
        if length.dtype != grad.indices.dtype:
            length = raw.Cast(length, grad.indices.dtype)
        end = start + length
        inside = raw.LogicalAnd(grad.indices >= start, grad.indices < end)
        chosen = squeeze(raw.Where(inside), axis=[1])
        indices = raw.GatherV2(grad.indices, chosen, 0) - start
        pieces.append(IndexedSlices(raw.GatherV2(grad.values, chosen, 0), indices, dims))
        start = end
    return pieces


@op(
    "ConcatOffset",
    inputs="concat_dim: int32, shape: N * int32",
    outputs="offset: N * int32",
    attrs="N: int >= 2",
    shape=lambda c: [c.dims(i) for i in range(1, c.num_inputs)],
    static="concat_dim, shape",
    traits=NO_GRADIENT,
)
def concat_offset_(xp: Any, concat_dim: Any, shape: list[Any]) -> list[Any]:
    for i, dims in enumerate(shape):
        if np.ndim(dims) != 1:
            raise invalid(f"input {i} should be a vector, but got shape {s.show(np.shape(dims))}")
    count, at = len(shape[0]), int(concat_dim)
    if not -count <= at < count:
        raise invalid(f"Concat dim is out of range: {at} vs. {count}")
    axis = at % count
    first, total, offsets = list(shape[0]), 0, []
    for i, dims in enumerate(shape):
        if len(dims) != count:
            raise invalid(f"input {i} should contain {count} elements, but got {len(dims)}")
        if [*dims[:axis], *dims[axis + 1 :]] != [*first[:axis], *first[axis + 1 :]]:
            raise invalid(
                f"All dimensions except {axis} must match. Input {i} has shape"
                f" [{' '.join(map(str, dims))}] and doesn't match input 0 with shape"
                f" [{' '.join(map(str, first))}]."
            )
        offsets.append(np.where(np.arange(count) == axis, total, 0).astype(np.int32))
        total += int(dims[axis])
    return offsets


def stacking_axis(c: ShapeContext, count: int) -> int:
    axis = c.attr("axis")
    if not -count <= axis < count:
        raise ValueError(f"Invalid axis: {axis}; must be in [{-count},{count})")
    return axis % count


def _stacked(c: ShapeContext) -> Dims:
    dims = s.all_merged(c)
    if dims is None:
        return None
    axis = stacking_axis(c, len(dims) + 1)
    return (*dims[:axis], c.num_inputs, *dims[axis:])


@op(
    "Pack",
    inputs="values: N * T",
    outputs="output: T",
    attrs="N: int >= 1, T: type, axis: int = 0",
    shape=_stacked,
    traits=MOVES,
)
def pack_(xp: Any, values: list[Any], *, axis: int) -> Any:
    values = [as_array(v) for v in values]
    if hasattr(values[0], "pushed"):
        return _objects(values)
    _check_alike(values, axis)
    return xp.stack(values, axis=axis)


@pack_.numpy
def _(xp: Any, values: list[Any], *, axis: int) -> Any:
    values = [as_array(v) for v in values]
    if hasattr(values[0], "pushed"):
        return _objects(values)
    if axis == 0 and len(values) == 1:
        return values[0][np.newaxis]
    _check_alike(values, axis)
    if axis or not hasattr(values[0], "dtype"):  # handles have none
        return np.stack(values, axis=axis)
    out = np.empty((len(values), *values[0].shape), values[0].dtype)
    for i, value in enumerate(values):
        out[i, ...] = value  # a string, not the array that holds it
    return out


def _check_alike(values: list[Any], axis: int) -> None:
    first = np.shape(values[0])
    for i, value in enumerate(values[1:], 1):
        if np.shape(value) != first:
            raise invalid(
                f"Shapes of all inputs must match: values[0].shape = {s.show(first)} !="
                f" values[{i}].shape = {s.show(np.shape(value))}"
            )
    count = len(first) + 1
    if not -count <= axis < count:
        raise invalid(f"axis = {axis} not in [{-count}, {count})")


def _objects(values: list[Any]) -> np.ndarray:
    """A vector of lists of tensors, which are no arrays themselves."""
    found = np.empty(len(values), object)
    found[:] = values
    return found


@pack_.gradient
def _(op: Operation, grad: Any) -> Any:
    return raw.Unpack(grad, num=op.attrs["N"], axis=op.attrs["axis"], name="unstack")


def _stacked_rows(c: ShapeContext) -> Dims:
    wanted = c.attr("shape")
    if not s.known(wanted):
        raise ValueError("shape attr must be fully defined.")
    if not all(s.known(c.dims(i)) for i in range(c.num_inputs)):
        raise ValueError("All input shapes must be fully defined.")
    row: Dims = (1, *wanted[1:])
    for i in range(c.num_inputs):
        dims = c.dims(i)
        if not dims or dims[0] != 1:
            raise ValueError("Size of first dimension must be 1.")
        row = s.merge(dims, row)
    return wanted


@op(
    "ParallelConcat",
    inputs="values: N * T",
    outputs="output: T",
    attrs="N: int >= 1, T: type, shape: shape",
    shape=_stacked_rows,
)
def parallel_concat_(xp: Any, values: list[Any]) -> Any:
    return xp.concatenate(values, axis=0)


def concat(values: Any, axis: Any, name: str | None = "concat") -> Tensor:
    """The `values` joined along the existing dimension `axis`.

    Args:
        values: tensors of one type that differ at most in the size of `axis`; or one tensor.
        axis: the dimension; negative ones count from the end.
        name: of the operation.

    Returns:
        A tensor as large along `axis` as all of them together.

    Raises:
        ValueError: the ranks or the other sizes differ.

    Example:
        >>> session.run(tf.concat([[[1, 2]], [[3, 4]]], axis=0))
        array([[1, 2],
               [3, 4]], dtype=int32)
    """
    parts = values if isinstance(values, list | tuple) else [values]
    if len(parts) != 1:
        return concat_v2_(parts, axis, name=name)
    with name_scope(name):
        convert_to_tensor(axis, dtypes.int32, "concat_dim").shape.assert_has_rank(0)
        return identity(parts[0], name=name)


def stack(values: Any, axis: int = 0, name: str | None = "stack") -> Tensor:
    """The `values`, all of one shape, joined along a new dimension `axis`.

    Args:
        values: tensors of one type and shape.
        axis: where the new dimension comes; negative ones count from the end of the result.
        name: of the operation.

    Returns:
        A tensor with one dimension more, of size `len(values)`.

    Raises:
        ValueError: there is no such `axis`, or the shapes differ.
        TypeError: the types differ.

    Example:
        >>> session.run(tf.stack([[1, 2], [3, 4]], axis=1))
        array([[1, 3],
               [2, 4]], dtype=int32)
    """
    if axis == 0 and not _has_array(values):
        # Constants become one constant; lists that hold tensors are packed on conversion.
        with suppress(TypeError, ValueError, NotImplementedError):
            return convert_to_tensor(values, name=name)
    dims = convert_to_tensor(values[0], name=name).dims
    if dims is not None and axis not in range(-len(dims) - 1, len(dims) + 1):
        raise ValueError(f"axis = {axis} not in [{-len(dims) - 1}, {len(dims) + 1})")
    return pack_(values, axis=axis, name=name)


def _has_array(values: Any) -> bool:
    """Whether it is a list with arrays alone, which make no constant: each keeps its type."""
    listed = isinstance(values, list | tuple)
    if not listed or any(hasattr(v, "get_shape") for v in values):
        return False
    return any(isinstance(v, np.ndarray) and v.ndim > 0 for v in values)


def parallel_stack(values: Any, name: str | None = "parallel_stack") -> Tensor:
    """`stack` along the first dimension, for values of known shape."""
    with name_scope(name):
        row = convert_to_tensor(values[0]).shape
        rows = [expand_dims(value, 0) for value in values]
        return parallel_concat_(rows, TensorShape([len(rows)]).concatenate(row))


def autopack(values: Any, dtype: Any = None, name: str | None = None) -> Any:
    """A nested list that holds tensors, as one tensor; NotImplemented when it holds none."""
    found = _packed_dtype(values)
    if found is None:
        return NotImplemented
    wanted = found if dtype is None else dtypes.as_dtype(dtype)
    if wanted != found:
        values = nest.map_structure(lambda x: _cast_tensor(x, wanted), values)
    return _pack_nested(values, wanted, name or "packed")


def _packed_dtype(values: Any) -> DType | None:
    """The dtype of the first tensor in a nested list."""
    for element in values:
        if is_tensor_like(element):
            return element.dtype.base_dtype
        if isinstance(element, list | tuple) and (found := _packed_dtype(element)) is not None:
            return found
    return None


def _cast_tensor(x: Any, dtype: DType) -> Any:
    if is_tensor_like(x) and x.dtype.base_dtype != dtype:
        return raw.Cast(x, dtype)
    return x


def _pack_nested(values: Any, dtype: DType, name: str) -> Any:
    packed = False
    with name_scope(name) as scope:
        elements = []
        for i, element in enumerate(values):
            if is_tensor_like(element):
                if element.dtype.base_dtype != dtype:
                    raise TypeError(
                        f"Cannot convert a list containing a tensor of dtype {element.dtype} to"
                        f" {dtype} (Tensor is: {element!r})"
                    )
                packed = True
            elif isinstance(element, list | tuple):
                element = _pack_nested(element, dtype, str(i))
                packed = packed or is_tensor_like(element)
            elements.append(element)
        if not packed:
            return elements
        elements = [
            x if is_tensor_like(x) else constant(x, dtype=dtype, name=str(i))
            for i, x in enumerate(elements)
        ]
        return pack_(elements, name=scope)
