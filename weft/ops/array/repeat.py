"""Arrays repeated: tiles, grids of coordinates, elements several times over."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.shapes import Dimension
from weft.graph import shape_fn as s
from weft.graph.by_library import by_library
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import name_scope
from weft.graph.op_def import op, raw
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.slices import IndexedSlices
from weft.graph.tensor import Tensor
from weft.graph.traits import DEPRECATED, MOVES
from weft.ops.array.fill import broadcast_to, ones
from weft.ops.array.join import concat, stack
from weft.ops.array.shape import all_axes, expand_dims, rank, reshape, shape, size, transpose
from weft.ops.kit.room import check_room
from weft.ops.kit.shared import as_array, check_size, invalid, shape_argument


def _tiled(c: ShapeContext) -> Dims:
    dims, multiples = c.dims(0), shape_argument(c, 1)
    if dims is not None:
        multiples = s.with_rank(multiples, len(dims))
        s.merge(c.dims(1), (len(dims),))
    if multiples is None:
        return None
    dims = s.with_rank(dims, len(multiples))
    return tuple(
        0 if 0 in (d, n) else None if d is None or n is None else d * n
        for d, n in zip(dims, multiples, strict=True)
    )


def _checked_multiples(x: Any, multiples: Any, least: int) -> tuple[int, ...]:
    if np.ndim(multiples) != 1:
        raise invalid(f"Expected multiples to be 1-D, but got shape {s.show(np.shape(multiples))}")
    if len(multiples) != x.ndim:
        raise invalid(
            f"Expected multiples argument to be a vector of length {x.ndim} but got length"
            f" {len(multiples)}"
        )
    counts = tuple(multiples.tolist())
    for i, n in enumerate(counts):
        if n < least:
            bound = ">= 0" if least == 0 else "> 0"
            raise invalid(f"Expected multiples[{i}] {bound}, but got {n}")
    return counts


@op(
    "Tile",
    inputs="input: T, multiples: Tmultiples",
    outputs="output: T",
    attrs="T: type, Tmultiples: {int32, int64} = int32",
    shape=_tiled,
    static="multiples",
    traits=MOVES,
)
def tile_(xp: Any, input: Any, multiples: Any) -> Any:
    input = as_array(input)
    counts = _checked_multiples(input, multiples, 0)
    tiled = tuple(d * n for d, n in zip(input.shape, counts, strict=True))
    try:
        check_size(tiled)
    except ValueError as error:
        raise invalid(str(error)) from None
    if tiled == input.shape:
        return input
    return _repeat(xp, input, counts, tiled)


@by_library
def _repeat(xp: Any, x: Any, counts: Sequence[int], tiled: tuple[int, ...]) -> Any:
    if all(d == 1 or n == 1 for d, n in zip(x.shape, counts, strict=True)):
        return xp.broadcast_to(x, tiled)
    return xp.tile(x, counts)


@_repeat.numpy
def _(xp: Any, x: Any, counts: Sequence[int], tiled: tuple[int, ...]) -> Any:
    check_room(tiled, x.dtype)
    return x.repeat(s.size(tiled)).reshape(tiled) if x.size == 1 else np.tile(x, counts)


@tile_.gradient
def _(op: Operation, grad: Any) -> Any:
    x, times = op.inputs
    dims = shape(x, out_type=times.dtype)
    # Fold every tiled dimension into (multiple, size) and sum over the multiples.
    folded = reshape(transpose(stack([times, dims])), [-1])
    axes = raw.Range(0, size(folded), 2, name="range")
    if isinstance(grad, IndexedSlices):
        grad = _sum_of_copies(grad, dims)
        folded = concat([[1], folded[1:]], axis=0)
    dx = raw.Sum(reshape(grad, folded), axes)
    dx.set_shape(x.shape)
    return dx, None


def _sum_of_copies(grad: IndexedSlices, dims: Tensor) -> Tensor:
    """The rows of all copies of each row added up."""
    rows = raw.Cast(dims[0], grad.indices.dtype)
    return raw.UnsortedSegmentSum(grad.values, raw.FloorMod(grad.indices, rows), rows)


@op(
    "TileGrad",
    inputs="input: T, multiples: int32",
    outputs="output: T",
    attrs="T: type",
    shape=s.unknown,
    static="multiples",
    traits=DEPRECATED,
)
def tile_grad_(xp: Any, input: Any, multiples: Any) -> Any:
    counts = _checked_multiples(input, multiples, 1)
    folded: list[int] = []
    for i, (d, n) in enumerate(zip(input.shape, counts, strict=True)):
        if d % n:
            raise invalid(
                f"Expected input_dim[{i}] to be divisible by multiples[{i}], but {d} % {n} != 0"
            )
        folded += [n, d // n]
    axes = tuple(range(0, len(folded), 2))
    return xp.sum(xp.reshape(input, folded), axis=axes, dtype=input.dtype)


def tile(input: Any, multiples: Any, name: str | None = None) -> Tensor:
    """`input` repeated `multiples[i]` times along each dimension i.

    Args:
        input: a tensor.
        multiples: how often to repeat each dimension.
        name: of the operation.

    Returns:
        A larger tensor of the same type.

    Raises:
        ValueError: there is not one number for each dimension.

    Example:
        >>> session.run(tf.tile([[1, 2]], [2, 3]))
        array([[1, 2, 1, 2, 1, 2],
               [1, 2, 1, 2, 1, 2]], dtype=int32)
    """
    return tile_(input, multiples, name=name)


def meshgrid(*args: Any, **kwargs: Any) -> list[Tensor]:
    """Coordinate arrays of a grid whose axes are the given vectors."""
    indexing = kwargs.pop("indexing", "xy")
    name = kwargs.pop("name", "meshgrid")
    if kwargs:
        raise TypeError(f"'{next(iter(kwargs))}' is an invalid keyword argument for this function")
    if indexing not in ("xy", "ij"):
        raise ValueError("indexing parameter must be either 'xy' or 'ij'")
    with name_scope(name, "meshgrid", args):
        count = len(args)
        along = [[-1 if j == i else 1 for j in range(count)] for i in range(count)]
        lines = [reshape(stack(x), dims) for x, dims in zip(args, along, strict=True)]
        sizes = [size(x) for x in args]
        dtype = convert_to_tensor(args[0]).dtype.base_dtype
        if indexing == "xy" and count > 1:
            lines[:2] = reshape(lines[0], tuple(along[1])), reshape(lines[1], tuple(along[0]))
            sizes[:2] = sizes[1], sizes[0]
        grid = ones(sizes, dtype)
        return [line * grid for line in lines]


def repeat(input: Any, repeats: Any, axis: int | None = None, name: str | None = None) -> Tensor:
    """`input` with each element repeated `repeats` times along `axis` (flattened if None)."""
    if axis is None:
        input, axis = reshape(input, [-1]), 0
    if not isinstance(axis, int):
        raise TypeError(f"axis must be an int; got {type(axis).__name__}")
    with name_scope(name, "Repeat", [input, repeats]):
        data = convert_to_tensor(input, name="data")
        counts = convert_to_tensor(repeats, name="repeats", preferred_dtype=dtypes.int32)
        if not counts.dtype.is_integer:
            raise TypeError(f"repeats must be an integer tensor; dtype={counts.dtype}")
        counts = raw.Cast(counts, dtypes.int32)
        counts.shape.with_rank_at_most(1)
        if data.dims == ():
            data = stack([data])
        at = _positive_axis(axis, None if data.dims is None else len(data.dims))
        if counts.dims is not None and len(counts.dims) == 1 and data.dims is not None:
            Dimension(data.dims[at]).assert_is_compatible_with(counts.dims[0])
        dims = shape(data)

        def result_shape() -> Tensor:
            return concat([dims[:at], [-1], dims[at + 1 :]], axis=0)

        if counts.dims == ():
            repeated = _repeat_all(data, at, counts)
            return reshape(repeated, result_shape())
        return _repeat_each(data, at, counts, dims, result_shape)


def _positive_axis(axis: int, count: int | None) -> int:
    if count is None:
        if axis < 0:
            raise ValueError("axis may only be negative if ndims is statically known.")
        return axis
    if not -count <= axis < count:
        raise ValueError(f"axis={axis} out of bounds: expected {-count}<=axis<{count}")
    return axis % count


def _repeat_all(data: Tensor, axis: int, count: Any) -> Tensor:
    """A new dimension after `axis` that repeats `data` `count` times."""
    expanded = expand_dims(data, axis + 1)
    if expanded.dims is not None:
        multiples: Any = [1] * len(expanded.dims)
        multiples[axis + 1] = count
    else:
        once = ones([rank(expanded)], dtypes.int32)
        multiples = concat([once[: axis + 1], [count], once[axis + 2 :]], axis=0)
    return tile(expanded, multiples)


def _repeat_each(
    data: Tensor, axis: int, counts: Tensor, dims: Tensor, result_shape: Callable[[], Tensor]
) -> Tensor:
    """Repeats by the largest count, then keeps of each element what it asks for."""
    from weft.ops.array import one_hot_search as select

    if counts.dims is None or len(counts.dims) != axis + 1:
        last = shape(counts)
        lead = dims[: axis + 1 - rank(counts)]
        counts = broadcast_to(counts, concat([lead, last], axis=0))
        counts.set_shape([None] * (axis + 1))
    most = raw.Maximum(0, raw.Max(counts, all_axes(counts)))
    mask = select.sequence_mask(counts, most)
    result = select.boolean_mask(_repeat_all(data, axis, most), mask)
    if axis:
        result = reshape(result, result_shape())
    if data.dims is not None:
        result.set_shape([*data.dims[:axis], None, *data.dims[axis + 1 :]])
    return result
