"""`Slice`: a block of an array, by where it begins and its size."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.tensor import Tensor
from weft.graph.traits import MOVES, static_by
from weft.ops.array import array
from weft.ops.kit.shared import as_array, invalid, is_concrete, known_numbers, shape_argument
from weft.ops.kit.value_checks import must_be_within


def _sliced(c: ShapeContext) -> Dims:
    (count,) = s.with_rank(s.merge(s.with_rank(c.dims(1), 1), s.with_rank(c.dims(2), 1)), 1)
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


def _checked_slice(dims: tuple[int, ...], starts: list[int | None], wanted: list[int]) -> list[int]:
    """The sizes of a slice. The starts that a program only finds are not looked at."""
    sizes = []
    for i, (b, n, d) in enumerate(zip(starts, wanted, dims, strict=True)):
        if b is None and not 0 <= n <= d:
            raise NotImplementedError("how much a slice takes only shows when it runs")
        if b is not None:
            n = d - b if n == -1 else n
            _check_part(i, b, n, d)
        sizes.append(n)
    return sizes


def _check_part(i: int, begin: int, size: int, length: int) -> None:
    if length == 0:
        if begin or size:
            raise invalid(
                f"Expected begin[{i}] == 0 (got {begin}) and size[{i}] == 0 (got {size}) when"
                f" input.dim_size({i}) == 0"
            )
    elif not 0 <= begin <= length:
        raise invalid(f"Expected begin[{i}] in [0, {length}], but got {begin}")
    elif not 0 <= size <= length - begin:
        raise invalid(f"Expected size[{i}] in [0, {length - begin}], but got {size}")


def slice_static(c: ShapeContext) -> frozenset[str]:
    """The inputs of a `Slice` that XLA must know: its begin only if the size depends on it."""
    sizes = c.value(2)
    return frozenset({"size"} if sizes is not None and -1 not in sizes else {"begin", "size"})


@op(
    "Slice",
    inputs="input: T, begin: Index, size: Index",
    outputs="output: T",
    attrs="T: type, Index: {int32, int64}",
    shape=_sliced,
    static="begin, size",
    traits=MOVES | static_by(slice_static),
)
def slice_(xp: Any, input: Any, begin: Any, size: Any) -> Any:
    input = as_array(input)
    if not np.shape(begin) == np.shape(size) == (input.ndim,):
        raise invalid(
            f"Expected begin and size arguments to be 1-D tensors of size {input.ndim}, but got"
            f" shapes {s.show(np.shape(begin))} and {s.show(np.shape(size))} instead."
        )
    known = known_numbers(begin)
    sizes = _checked_slice(input.shape, known, size.tolist())
    if is_concrete(begin):
        firsts = begin.tolist()
        return input[tuple(builtins.slice(b, b + n) for b, n in zip(firsts, sizes, strict=True))]
    from jax import lax

    starts = [begin[i] for i in range(input.ndim)]
    for start, b, n, d in zip(starts, known, sizes, input.shape, strict=True):
        if b is None:
            must_be_within(start, d - n + 1)
    return lax.dynamic_slice(input, starts, sizes)


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


def slice(input_: Any, begin: Any, size: Any, name: str | None = None) -> Tensor:
    """`size` elements of `input_` from `begin` on, along each dimension; -1: all that follow.

    Args:
        input_: a tensor.
        begin: where to start in each dimension.
        size: how many to take in each.
        name: of the operation.

    Returns:
        A tensor of the same rank.

    Raises:
        ValueError: the slice is known to reach outside.
        tf.errors.InvalidArgumentError: it turns out to when the step runs.

    Example:
        >>> session.run(tf.slice([[1, 2, 3], [4, 5, 6]], [0, 1], [-1, 2]))
        array([[2, 3],
               [5, 6]], dtype=int32)
    """
    return slice_(input_, begin, size, name=name)
