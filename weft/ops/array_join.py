"""Several arrays into one and back: concatenating, stacking, splitting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.core import dtypes, nest
from weft.core.dtypes import DType
from weft.core.shapes import Dimension, TensorShape
from weft.graph import shape_fn as s
from weft.graph.constant_value import constant_value
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import name_scope
from weft.graph.op_def import op, raw
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.slices import IndexedSlices
from weft.graph.tensor import Tensor
from weft.ops.array_fill import fill
from weft.ops.array_pass import identity
from weft.ops.array_shape import expand_dims, rank, shape, shape_n, squeeze
from weft.ops.kernels import as_array, divide, invalid, is_tensor_like, piece


def _joined(c: ShapeContext, axis_input: int, first: int, last: int) -> Dims:
    """The shape of inputs `first` to `last` joined along the axis that input `axis_input` gives."""
    s.with_rank(c.dims(axis_input), 0)
    axis = c.value(axis_input)
    shapes = [c.dims(i) for i in range(first, last)]
    ranks = [len(dims) for dims in shapes if dims is not None]
    if axis is None:
        if not ranks:
            return None
        if ranks[0] == 0:
            raise ValueError("Can't concatenate scalars (use tf.stack instead)")
        for dims in shapes:
            s.with_rank(dims, ranks[0])
        return (None,) * ranks[0]
    at = int(axis)
    for dims in reversed(shapes):
        s.with_rank_at_least(dims, -at if at < 0 else at + 1)
    if not ranks:
        return None
    out: Dims = None
    total: int | None = 0
    for dims in reversed(shapes):
        size = None if dims is None else dims[at]
        total = None if total is None or size is None else total + size
        out = s.merge(_without(dims, at), out)
    assert out is not None
    at %= len(out)
    return (*out[:at], total, *out[at + 1 :])


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
    if all(s.known(x.dims) for x in values):
        sizes = [shape(x) for x in values]
    else:
        sizes = shape_n(values)
    if len(sizes) > _MANY_PIECES:
        lengths = squeeze(raw.Slice(stack(sizes, axis=1), stack([axis, 0]), [1, -1]))
        return split(grad, lengths, axis)
    offsets = raw.ConcatOffset(axis, sizes)
    return [raw.Slice(grad, begin, dims) for begin, dims in zip(offsets, sizes, strict=True)]


def _split_slices_like(
    values: Sequence[Tensor], axis: Tensor, grad: IndexedSlices
) -> list[IndexedSlices]:
    at = constant_value(axis)
    if at is None:
        raise ValueError("Can only compute IndexedSlices gradient with statically-known concat_dim")
    at = int(at)
    if at < 0:
        if values[0].dims is None:
            raise ValueError(
                "Can only compute IndexedSlices gradient with negative concat_dim when first"
                " value rank is statically-known."
            )
        at %= len(values[0].dims)
    sizes = [shape(x) for x in values]
    return (_split_columns if at else _split_rows)(grad, sizes, at)


def _split_columns(grad: IndexedSlices, sizes: list[Tensor], at: int) -> list[IndexedSlices]:
    """Every value has the same rows as `grad`, and some of its columns."""
    count = shape(sizes[0])
    mask = concat([fill([at], 0), [1], fill(count - at - 1, 0)], 0)
    begin = fill(count, 0)
    pieces = []
    for dims in sizes:
        extent = concat([[-1], raw.Slice(dims, [1], [-1])], 0)
        pieces.append(IndexedSlices(raw.Slice(grad.values, begin, extent), grad.indices, dims))
        begin = begin + dims * mask
    return pieces


def _split_rows(grad: IndexedSlices, sizes: list[Tensor], at: int) -> list[IndexedSlices]:
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
    differentiable=False,
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


def _stacking_axis(c: ShapeContext, count: int) -> int:
    axis = c.attr("axis")
    if not -count <= axis < count:
        raise ValueError(f"Invalid axis: {axis}; must be in [{-count},{count})")
    return axis % count


def _stacked(c: ShapeContext) -> Dims:
    dims = c.dims(c.num_inputs - 1)
    for i in reversed(range(c.num_inputs - 1)):
        try:
            dims = s.merge(c.dims(i), dims)
        except ValueError as error:
            raise ValueError(f"{error}\n\tFrom merging shape {i} with other shapes.") from None
    if dims is None:
        return None
    axis = _stacking_axis(c, len(dims) + 1)
    return (*dims[:axis], c.num_inputs, *dims[axis:])


@op(
    "Pack",
    inputs="values: N * T",
    outputs="output: T",
    attrs="N: int >= 1, T: type, axis: int = 0",
    shape=_stacked,
)
def pack_(xp: Any, values: list[Any], *, axis: int) -> Any:
    values = [as_array(v) for v in values]
    first = np.shape(values[0])
    for i, value in enumerate(values):
        if np.shape(value) != first:
            raise invalid(
                f"Shapes of all inputs must match: values[0].shape = {s.show(first)} !="
                f" values[{i}].shape = {s.show(np.shape(value))}"
            )
    count = len(first) + 1
    if not -count <= axis < count:
        raise invalid(f"axis = {axis} not in [{-count}, {count})")
    return xp.stack(values, axis=axis)


@pack_.gradient
def _(op: Operation, grad: Any) -> Any:
    return unstack(grad, num=op.attrs["N"], axis=op.attrs["axis"])


def _unstacked(c: ShapeContext) -> list[Dims]:
    dims = c.dims(0)
    if dims is None:
        return [None] * c.num_outputs
    axis = _stacking_axis(c, len(dims))
    if dims[axis] not in (None, c.num_outputs):
        raise ValueError(f"Dimension must be {c.num_outputs} but is {dims[axis]}")
    return [(*dims[:axis], *dims[axis + 1 :])] * c.num_outputs


@op(
    "Unpack",
    inputs="value: T",
    outputs="output: num * T",
    attrs="num: int >= 0, T: type, axis: int = 0",
    shape=_unstacked,
)
def unpack_(xp: Any, value: Any, *, num: int, axis: int) -> list[Any]:
    if not -value.ndim <= axis < value.ndim:
        raise invalid(f"axis = {axis} not in [{-value.ndim}, {value.ndim})")
    axis %= value.ndim
    if value.shape[axis] != num:
        raise invalid(f"Input shape axis {axis} must equal {num}, got shape {s.show(value.shape)}")
    dims = value.shape[:axis] + value.shape[axis + 1 :]
    return [xp.reshape(piece(value, axis, i, i + 1), dims) for i in range(num)]


@unpack_.gradient
def _(op: Operation, *grads: Any) -> Any:
    return stack(grads, axis=op.attrs["axis"])


def _split_axis(c: ShapeContext, axis_input: int, dims: Dims) -> int | None:
    s.with_rank(c.dims(axis_input), 0)
    value = c.value(axis_input)
    if value is None:
        return None
    axis = int(value)
    if axis < 0:
        if dims is None:
            return None
        if axis < -len(dims):
            raise ValueError(f"axis must be in [{-len(dims)}, {len(dims)}), got {axis}")
        axis += len(dims)
    s.with_rank_at_least(dims, axis + 1)
    return axis


def _split_evenly(c: ShapeContext) -> list[Dims]:
    dims = c.dims(1)
    axis = _split_axis(c, 0, dims)
    if dims is None:
        return [None] * c.num_outputs
    if axis is None:
        return [(None,) * len(dims)] * c.num_outputs
    try:
        part = divide(dims[axis], c.num_outputs)
    except ValueError as error:
        raise ValueError(
            f"{error}\n\tNumber of ways to split should evenly divide the split dimension"
        ) from None
    return [(*dims[:axis], part, *dims[axis + 1 :])] * c.num_outputs


def _checked_split_axis(x: Any, split_dim: Any) -> int:
    if np.size(split_dim) != 1:
        raise invalid("split_dim_tensor must have exactly one element.")
    axis = int(np.ravel(split_dim)[0])
    if not -x.ndim <= axis < x.ndim:
        raise invalid(
            f"-input rank(-{x.ndim}) <= split_dim < input rank ({x.ndim}), but got {axis}"
        )
    return axis % x.ndim


@op(
    "Split",
    inputs="split_dim: int32, value: T",
    outputs="output: num_split * T",
    attrs="num_split: int >= 1, T: type",
    shape=_split_evenly,
    static="split_dim",
)
def split_(xp: Any, split_dim: Any, value: Any, *, num_split: int) -> list[Any]:
    axis = _checked_split_axis(value, split_dim)
    length = value.shape[axis]
    if length % num_split:
        raise invalid(
            "Number of ways to split should evenly divide the split dimension, but got split_dim"
            f" {axis} (size = {length}) and num_split {num_split}"
        )
    part = length // num_split
    return [piece(value, axis, i * part, (i + 1) * part) for i in range(num_split)]


@split_.gradient
def _(op: Operation, *grads: Any) -> Any:
    return None, concat(list(grads), op.inputs[0])


def _split_by_sizes(c: ShapeContext) -> list[Dims]:
    dims = c.dims(0)
    axis = _split_axis(c, 2, dims)
    if dims is None:
        return [None] * c.num_outputs
    if not dims:
        raise ValueError("Can't split scalars")
    if axis is None:
        return [(None,) * len(dims)] * c.num_outputs
    value = c.value(1)
    if value is None:
        return [(*dims[:axis], None, *dims[axis + 1 :])] * c.num_outputs
    asked = [int(n) for n in np.ravel(value)]
    if len(asked) != c.num_outputs:
        raise ValueError("Length of size_splits should be equal to num_outputs")
    if asked.count(-1) > 1:
        raise ValueError("size_splits can only have one -1")
    total, length = sum(n for n in asked if n != -1), dims[axis]
    rest = None if length is None else length - total
    sizes = [rest if n == -1 else n for n in asked]
    for i, n in enumerate(sizes):
        if n is not None and n < 0:
            raise ValueError(f"Split size at index {i} must be >= 0. Got: {n}")
    if (rest and -1 not in asked) or (rest is not None and rest < 0):
        pieces = ",".join(map(str, asked))
        raise ValueError(f"can't split axis of size {length} into pieces of size [{pieces}]")
    return [(*dims[:axis], n, *dims[axis + 1 :]) for n in sizes]


@op(
    "SplitV",
    inputs="value: T, size_splits: Tlen, split_dim: int32",
    outputs="output: num_split * T",
    attrs="num_split: int >= 1, T: type, Tlen: {int32, int64} = int64",
    shape=_split_by_sizes,
    static="size_splits, split_dim",
)
def split_v_(xp: Any, value: Any, size_splits: Any, split_dim: Any, *, num_split: int) -> list[Any]:
    if np.ndim(size_splits) != 1 or len(size_splits) != num_split:
        raise invalid(
            "size of the split_tensor must be 1-D and have the same elements as outputs got"
            f" {np.ndim(size_splits)} -D and {np.size(size_splits)} elements"
        )
    axis = _checked_split_axis(value, split_dim)
    sizes = [int(n) for n in size_splits]
    length, total = value.shape[axis], sum(n for n in sizes if n != -1)
    if sizes.count(-1) > 1:
        raise invalid("There can only be one -1 in the input.")
    if total > length or (total < length and -1 not in sizes):
        raise invalid(
            "Determined shape must either match input shape along split_dim exactly if fully"
            " specified, or be less than the size of the input along split_dim if not fully"
            f" specified. Got: {total}"
        )
    sizes = [length - total if n == -1 else n for n in sizes]
    for i, n in enumerate(sizes):
        if n < 0:
            raise invalid(f"Split size at index {i} must be >= 0. Got: {n}")
    ends = np.cumsum(sizes)
    return [piece(value, axis, int(end) - n, int(end)) for n, end in zip(sizes, ends, strict=True)]


@split_v_.gradient
def _(op: Operation, *grads: Any) -> Any:
    return concat(list(grads), op.inputs[2]), None, None


def _stacked_rows(c: ShapeContext) -> Dims:
    wanted = c.attr("shape")
    if not s.known(wanted):
        raise ValueError("shape attr must be fully defined.")
    row: Dims = (1, *wanted[1:])
    for i in range(c.num_inputs):
        dims = c.dims(i)
        if dims is not None and (not dims or dims[0] not in (None, 1)):
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
    """The `values` joined along the existing dimension `axis`."""
    if not isinstance(values, list | tuple):
        values = [values]
    if len(values) == 1:
        with name_scope(name) as scope:
            dim = convert_to_tensor(axis, name="concat_dim", dtype=dtypes.int32)
            dim.shape.assert_has_rank(0)
            return identity(values[0], name=scope)
    return concat_v2_(values, axis, name=name)


def stack(values: Any, axis: int = 0, name: str | None = "stack") -> Tensor:
    """The `values`, all of one shape, joined along a new dimension `axis`."""
    if axis == 0:
        try:
            # Constants become one constant; lists that hold tensors are packed on conversion.
            return convert_to_tensor(values, name=name)
        except (TypeError, ValueError, NotImplementedError):
            pass
    dims = convert_to_tensor(values[0], name=name).dims
    if dims is not None:
        count = len(dims) + 1
        if not -count <= axis < count:
            raise ValueError(f"axis = {axis} not in [{-count}, {count})")
    return pack_(values, axis=axis, name=name)


def parallel_stack(values: Any, name: str | None = "parallel_stack") -> Tensor:
    """`stack` along the first dimension, for values of known shape."""
    with name_scope(name):
        first = convert_to_tensor(values[0])
        whole = TensorShape([len(values)]).concatenate(first.shape)
        return parallel_concat_([expand_dims(value, 0) for value in values], shape=whole)


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


def unstack(
    value: Any, num: int | None = None, axis: int = 0, name: str | None = "unstack"
) -> list[Tensor]:
    """The slices of `value` along dimension `axis`, without that dimension."""
    if num is None:
        value = convert_to_tensor(value)
        if value.dims is not None:
            count = len(value.dims)
            if not -count <= axis < count:
                raise ValueError(f"axis = {axis} not in [{-count}, {count})")
            num = value.dims[axis]
        if num is None:
            raise ValueError(f"Cannot infer num from shape {value.shape}")
    return unpack_(value, num=num, axis=axis, name=name)


def split(
    value: Any,
    num_or_size_splits: Any,
    axis: Any = 0,
    num: int | None = None,
    name: str | None = "split",
) -> list[Tensor]:
    """Pieces of `value` along `axis`: so many equal ones, or pieces of the given sizes."""
    if isinstance(num_or_size_splits, int | np.integer | Dimension):
        return split_(axis, value, num_split=int(num_or_size_splits), name=name)
    sizes = convert_to_tensor(num_or_size_splits)
    if sizes.dims == ():
        raise ValueError(
            "Rank-0 tensors are not supported as the num_or_size_splits argument to split. "
            f"Argument provided: {num_or_size_splits}"
        )
    if num is None:
        num = sizes.dims[0] if sizes.dims else None
        if num is None:
            raise ValueError(f"Cannot infer num from shape {num_or_size_splits}")
    return split_v_(value, sizes, axis, num_split=num, name=name)
