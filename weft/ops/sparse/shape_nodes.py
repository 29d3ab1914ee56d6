"""Sparse tensors put into another order or shape, cut and joined: the operations.

Their kernels run on the host, since how many elements come out depends on the coordinates.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.op_def import op, raw
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.traits import HOST, NO_GRADIENT
from weft.ops.array.coordinates import is_grid
from weft.ops.kit.room import check_room
from weft.ops.kit.shared import counts_up, invalid


def row_major(indices: Any) -> Any:
    """The order of coordinates that is row-major."""
    return np.lexsort(indices.T[::-1]) if indices.shape[1] else np.arange(len(indices))


def check_parts(indices: Any, values: Any, shape: Any) -> None:
    """InvalidArgumentError if these are not the parts of one sparse tensor."""
    if len(indices) != len(values):
        raise invalid(
            "indices and values rows (indexing dimension) must match."
            f" (indices = {len(indices)}, values = {len(values)})"
        )
    if indices.shape[1] != len(shape):
        raise invalid("Order length must be SparseTensor rank.")


# ---- order ---------------------------------------------------------------------------------------


def _reorder_dims(c: ShapeContext) -> list[Dims]:
    s.with_rank(c.dims(2), 1)
    return [s.with_rank(c.dims(0), 2), s.with_rank(c.dims(1), 1)]


@op(
    "SparseReorder", inputs="input_indices: int64, input_values: T, input_shape: int64",
    outputs="output_indices: int64, output_values: T", attrs="T: type", shape=_reorder_dims,
    traits=HOST,
)  # fmt: skip
def sparse_reorder_(xp: Any, input_indices: Any, input_values: Any, input_shape: Any) -> list[Any]:
    check_parts(input_indices, input_values, input_shape)
    order = row_major(input_indices)
    return [input_indices[order], input_values[order]]


@sparse_reorder_.gradient
def _(op: Operation, _indices: Any, grad: Any) -> list[Any]:
    from weft.graph.slices import SparseTensor
    from weft.ops.array import array
    from weft.ops.array.gather import gather
    from weft.ops.math import math
    from weft.ops.sparse.select import sparse_reorder

    indices, _, shape = op.inputs
    numbers = math.range(array.shape(indices)[0])
    order = sparse_reorder(SparseTensor(indices, numbers, shape)).values
    return [None, gather(grad, raw.InvertPermutation(order)), None]


# ---- shape ---------------------------------------------------------------------------------------


def _reshape_dims(c: ShapeContext) -> list[Dims]:
    indices = s.with_rank(c.dims(0), 2)
    s.with_rank(c.dims(1), 1)
    (rank,) = s.with_rank(c.dims(2), 1)
    return [(indices[0], rank), (rank,)]


def _target_shape(old: Any, new: Any) -> list[int]:
    """`new` with its -1, if there is one, replaced by what is left over."""
    wanted = [int(d) for d in new]
    size = int(np.prod(old, dtype=np.int64))
    if wanted.count(-1) > 1:
        first = wanted.index(-1)
        second = wanted.index(-1, first + 1)
        raise invalid(f"only one output dimension may be -1, not both {first} and {second}")
    if -1 in wanted:
        rest = int(np.prod([d for d in wanted if d != -1], dtype=np.int64))
        if rest == 0:
            raise invalid("reshape cannot infer the missing input size for an empty tensor unless"
                          " all specified input sizes are non-zero")  # fmt: skip
        if size % rest:
            raise invalid(
                f"Input to reshape is a SparseTensor with {size} dense values, but the requested"
                f" shape requires a multiple of {rest}. input_shape={s.show(tuple(old))}"
                f" output_shape={s.show(tuple(new))}"
            )
        wanted[wanted.index(-1)] = size // rest
    if int(np.prod(wanted, dtype=np.int64)) != size:
        raise invalid(
            f"Input to reshape is a tensor with {size} dense values, but the requested shape has"
            f" {int(np.prod(wanted, dtype=np.int64))}. input_shape={s.show(tuple(old))}"
            f" output_shape={s.show(tuple(wanted))}"
        )
    return wanted


@op(
    "SparseReshape", inputs="input_indices: int64, input_shape: int64, new_shape: int64",
    outputs="output_indices: int64, output_shape: int64", shape=_reshape_dims, traits=HOST,
)  # fmt: skip
def sparse_reshape_(xp: Any, input_indices: Any, input_shape: Any, new_shape: Any) -> list[Any]:
    if input_indices.shape[1] != len(input_shape):
        raise invalid("Input tensor rank must match input shape length.")
    target = _target_shape(input_shape, new_shape)
    if np.array_equal(target, input_shape):
        return [input_indices, input_shape]
    flat = input_indices @ _strides(input_shape)
    strides = _strides(target)
    sizes = np.array(target, np.int64)
    indices = flat[:, None] // strides % np.maximum(sizes, 1)
    return [indices.astype(np.int64).reshape(len(input_indices), len(target)), sizes]


def _strides(shape: Any) -> Any:
    sizes = [*(int(d) for d in shape), 1]
    return np.cumprod(np.array(sizes[:0:-1], np.int64))[::-1]


# ---- joining and cutting -------------------------------------------------------------------------


def _concat_dims(c: ShapeContext) -> list[Dims]:
    count = c.attr("N")
    rows: int | None = 0
    columns: int | None = None
    rank: int | None = None
    for i in range(count):
        (found, width), (given,) = s.with_rank(c.dims(i), 2), s.with_rank(c.dims(count + i), 1)
        found = s.merge_dim(found, given)
        rows = None if rows is None or found is None else rows + found
        columns = s.merge_dim(columns, width)
        rank = s.merge_dim(rank, s.with_rank(c.dims(2 * count + i), 1)[0])
    return [(rows, columns), (rows,), (rank,)]


@op(
    "SparseConcat",
    inputs="indices: N * int64, values: N * T, shapes: N * int64",
    outputs="output_indices: int64, output_values: T, output_shape: int64",
    attrs="concat_dim: int, N: int >= 2, T: type",
    shape=_concat_dims,
    traits=HOST | NO_GRADIENT,
)
def sparse_concat_(
    xp: Any, indices: list[Any], values: list[Any], shapes: list[Any], *, concat_dim: int
) -> list[Any]:
    rank = len(shapes[0])
    if not -rank <= concat_dim < rank:
        raise invalid(f"Concat dimension must be in range [{-rank}, {rank}), got {concat_dim}")
    axis = concat_dim % rank
    moved, offset = [], 0
    for i, (index, value, shape) in enumerate(zip(indices, values, shapes, strict=True)):
        if len(shape) != rank:
            raise invalid(
                f"Ranks of all input tensors must match: expected {rank} but got {len(shape)} at"
                f" position {i}"
            )
        for d in range(rank):
            if d != axis and shape[d] != shapes[0][d]:
                raise invalid(
                    f"Input shapes must match: expected {shapes[0][d]} for dimension {d} but got"
                    f" {shape[d]} at position {i}"
                )
        check_parts(index, value, shape)
        moved.append(index + offset * (np.arange(rank) == axis))
        offset += int(shape[axis])
    result = np.array(shapes[0])
    result[axis] = offset
    joined = np.concatenate(moved)
    order = row_major(joined)
    return [joined[order], np.concatenate(values)[order], result]


@op(
    "SparseSlice",
    inputs="indices: int64, values: T, shape: int64, start: int64, size: int64",
    outputs="output_indices: int64, output_values: T, output_shape: int64",
    attrs="T: type",
    shape=lambda c: [(None, *s.with_rank(c.dims(2), 1)), (None,), c.dims(2)],
    traits=HOST,
)
def sparse_slice_(
    xp: Any, indices: Any, values: Any, shape: Any, start: Any, size: Any
) -> list[Any]:
    for what, given in (("start", start), ("size", size)):
        if np.ndim(given) != 1:
            found = s.show(np.shape(given))
            raise invalid(f"Input {what} should be a vector but received shape {found}")
        if len(given) != len(shape):
            raise invalid(
                f"Expected {what} to be a vector of length {len(shape)} but got length {len(given)}"
            )
    check_parts(indices, values, shape)
    if np.any(size < 0):
        raise invalid(f"size must be non-negative, got {size.tolist()}")
    sizes = np.clip(np.minimum(size, shape - start), 0, None)
    inside = np.all((indices >= start) & (indices < start + sizes), axis=1)
    return [indices[inside] - start, values[inside], sizes.astype(np.int64)]


@sparse_slice_.gradient
def _(op: Operation, _indices: Any, grad: Any, _shape: Any) -> list[Any]:
    found = raw.SparseSliceGrad(grad, op.inputs[0], op.inputs[3], op.outputs[0])
    found.set_shape(op.inputs[1].shape)
    return [None, found, None, None, None]


def _check_slice_grad(grad: Any, indices: Any, start: Any, kept: Any) -> None:
    """InvalidArgumentError if these are not the gradient and the parts of one slice."""
    shapes = [s.show(np.shape(x)) for x in (grad, indices, start, kept)]
    if np.ndim(indices) != 2 or np.ndim(kept) != 2:
        raise invalid(
            "Input and output indices should be matrices but received shapes:"
            f" {shapes[1]} and {shapes[3]}"
        )
    if np.ndim(grad) != 1:
        raise invalid(f"Input backprop_val_grad should be a vector but received shape: {shapes[0]}")
    rank, others = indices.shape[1], kept.shape[1]
    if rank != others:
        raise invalid(f"The input and output should have the same ndims: got: {rank} and {others}")
    if len(grad) != len(kept):
        raise invalid(
            "# elements of backprop_val_grad and # rows of output_indices should match (#nnz of"
            f" sum): got {len(grad)} and {len(kept)}"
        )
    if np.ndim(start) != 1:
        raise invalid(f"The input_start should be a vector but received shape {shapes[2]}")
    if len(start) != rank:
        raise invalid(
            f"Expected input_start to be a vector of length {rank} but got length {len(start)}"
        )


@op(
    "SparseSliceGrad",
    inputs="backprop_val_grad: T, input_indices: int64, input_start: int64, output_indices: int64",
    outputs="val_grad: T",
    attrs="T: numbertype",
    shape=lambda c: (s.with_rank(c.dims(1), 2)[0],),
    traits=HOST,
)
def sparse_slice_grad_(
    xp: Any, backprop_val_grad: Any, input_indices: Any, input_start: Any, output_indices: Any
) -> Any:
    _check_slice_grad(backprop_val_grad, input_indices, input_start, output_indices)
    kept = {tuple(index): i for i, index in enumerate((output_indices + input_start).tolist())}
    result = np.zeros(len(input_indices), backprop_val_grad.dtype)
    for i, index in enumerate(map(tuple, input_indices.tolist())):
        if index in kept:
            result[i] = backprop_val_grad[kept[index]]
    return result


def _split_dims(c: ShapeContext) -> list[Dims]:
    count = c.attr("num_split")
    s.with_rank(c.dims(3), 1)
    pairs: Dims = s.concat((None,), s.with_rank(c.dims(3), 1))
    return [pairs] * count + [(None,)] * count + [c.dims(3)] * count


@op(
    "SparseSplit",
    inputs="split_dim: int64, indices: int64, values: T, shape: int64",
    outputs="output_indices: num_split * int64, output_values: num_split * T,"
    " output_shape: num_split * int64",
    attrs="num_split: int >= 1, T: type",
    shape=_split_dims,
    traits=HOST,
)
def sparse_split_(
    xp: Any, split_dim: Any, indices: Any, values: Any, shape: Any, *, num_split: int
) -> list[Any]:
    rank = len(shape)
    if np.ndim(split_dim):
        raise invalid("axis should be a scalar")
    axis = int(split_dim) + (rank if split_dim < 0 else 0)
    if not 0 <= axis < rank:
        raise invalid(f"Input split_dim should be between [-{rank}, {rank}), got {int(split_dim)}")
    extent = int(shape[axis])
    if not 1 <= num_split <= extent:
        raise invalid(
            f"Input num_split should be between 1 and the splitting dimension size ({extent}), got"
            f" {num_split}"
        )
    check_parts(indices, values, shape)
    size, longer = divmod(extent, num_split)  # the first `longer` parts have one more
    starts = np.array([i * size + min(i, longer) for i in range(num_split + 1)])
    parts = []
    for low, high in pairwise(starts):
        here = (indices[:, axis] >= low) & (indices[:, axis] < high)
        sizes = np.where(np.arange(rank) == axis, high - low, shape).astype(np.int64)
        parts.append((indices[here] - low * (np.arange(rank) == axis), values[here], sizes))
    return [part[k] for k in range(3) for part in parts]


# ---- empty rows ----------------------------------------------------------------------------------


def _filled_dims(c: ShapeContext) -> list[Dims]:
    (rows_given, columns), (count,) = s.with_rank(c.dims(0), 2), s.with_rank(c.dims(1), 1)
    count = s.merge_dim(rows_given, count)
    (rank,) = s.with_rank(c.dims(2), 1)
    s.merge_dim(columns, rank)
    s.with_rank(c.dims(3), 0)
    shape = c.partial(2)
    rows = shape[0] if shape else None
    return [(None, rank), (None,), (rows,), (count,)]


@op(
    "SparseFillEmptyRows",
    inputs="indices: int64, values: T, dense_shape: int64, default_value: T",
    outputs="output_indices: int64, output_values: T, empty_row_indicator: bool,"
    " reverse_index_map: int64",
    attrs="T: type",
    shape=_filled_dims,
    traits=HOST,
)
def sparse_fill_empty_rows_(
    xp: Any, indices: Any, values: Any, dense_shape: Any, default_value: Any
) -> list[Any]:
    count = _checked_row_count(indices, values, dense_shape, default_value)
    check_room([max(count, len(values)), indices.shape[1]], np.int64)
    rows = indices[:, 0]
    if is_grid(indices, (count, 1)) or counts_up(rows, count):
        return [indices, values, np.zeros(count, bool), np.arange(count)]
    if len(rows) and (rows.min() < 0 or rows.max() >= count):
        i = int(((rows < 0) | (rows >= count)).argmax())
        raise invalid(f"indices({i}, 0) is invalid: {rows[i]} >= {count}")
    present = np.bincount(rows, minlength=count)[:count] if count else np.zeros(0, np.int64)
    empty = present == 0
    blanks = empty.nonzero()[0]
    if len(rows) + len(blanks) == count:
        return _one_a_row(indices, values, empty, default_value)
    ordered = not (rows[1:] < rows[:-1]).any()
    if not len(blanks) and ordered:
        return [indices, values, empty, np.arange(len(rows))]
    # Entries keep their order within a row; each goes behind those of rows before it.
    places = np.arange(len(rows))
    if not ordered:
        places[np.argsort(rows, kind="stable")] = np.arange(len(rows))
    places += empty.cumsum()[rows] if len(rows) else 0
    total = len(rows) + len(blanks)
    output = np.zeros((total, indices.shape[1]), np.int64)
    output[places] = indices
    # The one entry of a row that has no other comes behind as many as rows before it have.
    output[present.cumsum()[blanks] + np.arange(len(blanks)), 0] = blanks
    filled = np.full(total, default_value, values.dtype)
    filled[places] = values
    return [output, filled, empty, places]


def _checked_row_count(indices: Any, values: Any, dense_shape: Any, default: Any) -> int:
    if (dense_shape.ndim, indices.ndim, values.ndim, np.ndim(default)) != (1, 2, 1, 0):
        given = (
            ("dense_shape", dense_shape, 1, "vector"),
            ("indices", indices, 2, "matrix"),
            ("values", values, 1, "vector"),
            ("default_value", default, 0, "scalar"),
        )
        name, value, _, kind = next(each for each in given if np.ndim(each[1]) != each[2])
        raise invalid(f"{name} must be a {kind}, saw: {s.show(np.shape(value))}")
    if len(values) != len(indices):
        raise invalid(
            f"The length of `values` ({len(values)}) must match the first dimension of `indices`"
            f" ({len(indices)})."
        )
    if not len(dense_shape):
        raise invalid("Dense shape cannot be empty.")
    count = int(dense_shape[0])
    if count < 0:
        raise invalid(f"Expected shape dimensions to be non-negative, got {count}")
    if not count and len(indices):
        raise invalid(
            f"Received SparseTensor with dense_shape[0] = 0 but indices.shape[0] = {len(indices)}"
        )
    return count


def _one_a_row(indices: Any, values: Any, empty: Any, default: Any) -> list[Any]:
    """No row has more than one entry: with the filled ones, entry i is that of row i."""
    places = indices[:, 0].copy()
    output = np.zeros((len(empty), indices.shape[1]), np.int64)
    output[places] = indices
    output[:, 0] = np.arange(len(empty))
    filled = np.full(len(empty), default, values.dtype)
    filled[places] = values
    return [output, filled, empty, places]


@sparse_fill_empty_rows_.gradient
def _(op: Operation, _indices: Any, grad: Any, _empty: Any, _map: Any) -> list[Any]:
    values, default = raw.SparseFillEmptyRowsGrad(op.outputs[3], grad)
    return [None, values, None, default]


@op(
    "SparseFillEmptyRowsGrad",
    inputs="reverse_index_map: int64, grad_values: T",
    outputs="d_values: T, d_default_value: T",
    attrs="T: type",
    shape=lambda c: [s.with_rank(c.dims(0), 1), ()],
    traits=HOST,
)
def sparse_fill_empty_rows_grad_(xp: Any, reverse_index_map: Any, grad_values: Any) -> list[Any]:
    named = (("reverse_index_map", reverse_index_map), ("grad_values", grad_values))
    for name, value in named:
        if np.ndim(value) != 1:
            raise invalid(f"{name} must be a vector, saw: {s.show(np.shape(value))}")
    size = len(grad_values)
    outside = (reverse_index_map < 0) | (reverse_index_map >= size)
    if outside.any():
        wrong = reverse_index_map[outside.argmax()]
        raise invalid(f"Elements in reverse index must be in [0, {size}) but got {wrong}")
    ours = np.ones(size, bool)
    ours[reverse_index_map] = False
    rest = np.sum(grad_values[ours], dtype=grad_values.dtype)
    return [grad_values[reverse_index_map], rest]
