"""One array into several: unstacking and splitting."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core.shapes import Dimension
from weft.graph import shape_fn as s
from weft.graph.convert import convert_to_tensor
from weft.graph.op_def import op
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.tensor import Tensor
from weft.ops.array.join import concat, stack, stacking_axis
from weft.ops.kit.shared import divide, invalid, piece


def _unstacked(c: ShapeContext) -> list[Dims]:
    dims = c.dims(0)
    if dims is None:
        return [None] * c.num_outputs
    axis = stacking_axis(c, len(dims))
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
    if value.dtype == object and value.ndim == 1 and num and hasattr(value[0], "pushed"):
        return list(value)  # lists of tensors
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
    if dims is None:
        return None if axis < 0 else axis
    if not -len(dims) <= axis < len(dims):
        raise ValueError(
            f"Dimension size, given by scalar input {axis} must be in range"
            f" [-{len(dims)}, {len(dims)})"
        )
    return axis % len(dims)


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
    if dims == ():
        raise ValueError("Can't split scalars")
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


def unstack(
    value: Any, num: int | None = None, axis: int = 0, name: str | None = "unstack"
) -> list[Tensor]:
    """The slices of `value` along dimension `axis`, without that dimension.

    Args:
        value: a tensor.
        num: how many slices there are, where the shape does not tell.
        axis: the dimension that goes.
        name: of the operation.

    Returns:
        A list of tensors.

    Raises:
        ValueError: the number is unknown or wrong, or there is no such dimension.

    Example:
        >>> session.run(tf.unstack([[1, 2], [3, 4]]))
        [array([1, 2], dtype=int32), array([3, 4], dtype=int32)]
    """
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
    """Pieces of `value` along `axis`: so many equal ones, or pieces of the given sizes.

    Args:
        value: a tensor.
        num_or_size_splits: a number of pieces, or the list of their sizes, of which one may be -1.
        axis: the dimension to cut.
        num: how many sizes there are, where their tensor does not tell.
        name: of the operation.

    Returns:
        A list of tensors.

    Raises:
        ValueError: the dimension cannot be cut so, or the number of pieces is unknown.

    Example:
        >>> session.run(tf.split([1, 2, 3, 4, 5, 6], [2, 4]))
        [array([1, 2], dtype=int32), array([3, 4, 5, 6], dtype=int32)]
    """
    # A number becomes a node, too, that is left unused: names and seeds after it count it.
    sizes = convert_to_tensor(num_or_size_splits)
    if isinstance(num_or_size_splits, int | np.integer | Dimension):
        return split_(axis, value, num_split=int(num_or_size_splits), name=name)
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
