"""Sums of sparse tensors, and of a sparse and a dense one."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.convert import convert_to_tensor
from weft.graph.op_def import op, raw
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.slices import SparseTensor, SparseTensorValue
from weft.graph.traits import HOST, NO_GRADIENT
from weft.ops.kit.row_updates import add_at
from weft.ops.kit.shared import invalid
from weft.ops.kit.value_checks import are_within, require
from weft.ops.sparse.row_groups import groups_of_rows
from weft.ops.sparse.select import as_sparse


def _sum_shapes(c: ShapeContext) -> list[Dims]:
    s.merge(c.dims(2), c.dims(5))
    (rank,) = s.with_rank(c.dims(2), 1)
    return [(None, rank), (None,), (rank,)]


@op(
    "SparseAdd",
    inputs="a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, b_values: T,"
    "b_shape: int64, thresh: Treal",
    outputs="sum_indices: int64, sum_values: T, sum_shape: int64",
    attrs="T: numbertype, Treal: realnumbertype",
    shape=_sum_shapes,
    traits=HOST,
)
def sparse_add_(
    xp: Any, a_indices: Any, a_values: Any, a_shape: Any, b_indices: Any, b_values: Any,
    b_shape: Any, thresh: Any,
) -> Any:  # fmt: skip
    found, wanted = (len(a_values), len(b_values)), (len(a_indices), len(b_indices))
    if found != wanted:
        raise invalid(
            f"Expected {wanted[0]} and {wanted[1]} non-empty input values, got {found[0]} and"
            f" {found[1]}"
        )
    if not np.array_equal(a_shape, b_shape):
        raise invalid(
            "Operands' shapes do not match: got"
            f" {s.show(tuple(a_shape))} and {s.show(tuple(b_shape))}"
        )
    if a_indices.shape[1] != b_indices.shape[1]:
        ranks = f"{a_indices.shape[1]} and {b_indices.shape[1]}"
        raise invalid(f"Input indices must have the same dimension, got {ranks}")
    if a_indices.shape[1] != len(a_shape):
        raise invalid(
            "Second dimension of a_indices and length of a_shape must match, got"
            f" {a_indices.shape[1]} and {len(a_shape)}"
        )
    indices = np.concatenate([a_indices, b_indices])
    values = np.concatenate([a_values, b_values])
    order, starts = groups_of_rows(indices)
    sums = values[:0]
    if len(starts):
        sums = np.add.reduceat(values[order], starts, dtype=values.dtype)
    # What only one of the operands has is kept, however small.
    alone = np.diff(np.r_[starts, len(order)]) == 1
    kept = alone | (np.abs(sums) >= thresh)
    return [indices[order][starts][kept], sums[kept], np.array(a_shape)]


@sparse_add_.gradient
def _(op: Operation, _indices: Any, grad: Any, _shape: Any) -> list[Any]:
    a, b = raw.SparseAddGrad(grad, op.inputs[0], op.inputs[3], op.outputs[0])
    a.set_shape(op.inputs[1].shape)
    b.set_shape(op.inputs[4].shape)
    return [None, a, None, None, b, None, None]


@op(
    "SparseAddGrad",
    inputs="backprop_val_grad: T, a_indices: int64, b_indices: int64, sum_indices: int64",
    outputs="a_val_grad: T, b_val_grad: T",
    attrs="T: numbertype",
    shape=lambda c: [(_rows(c.dims(1)),), (_rows(c.dims(2)),)],
    traits=HOST | NO_GRADIENT,
)
def sparse_add_grad(
    xp: Any, backprop_val_grad: Any, a_indices: Any, b_indices: Any, sum_indices: Any
) -> Any:
    ranks = [x.shape[1] for x in (a_indices, b_indices, sum_indices)]
    if len(set(ranks)) > 1:
        raise invalid(
            "The densified operands should have the same ndims; for A, B, sum got:"
            f" {''.join(map(str, ranks))}"
        )
    if len(backprop_val_grad) != len(sum_indices):
        raise invalid(
            "# elements in backprop_val_grad and # rows in sum_indices should match (#nnz of sum):"
            f" got {len(backprop_val_grad)} and {len(sum_indices)}"
        )
    order, starts = groups_of_rows(np.concatenate([sum_indices, a_indices, b_indices]))
    group = np.empty(len(order), np.int64)
    group[order] = np.repeat(np.arange(len(starts)), np.diff(np.r_[starts, len(order)]))
    of_sum, of_a, of_b = np.split(group, np.cumsum([len(sum_indices), len(a_indices)]))
    # An element that is in no sum, since it fell below the threshold, has no gradient.
    gradient = np.zeros(len(starts), backprop_val_grad.dtype)
    gradient[of_sum] = backprop_val_grad
    return [gradient[of_a], gradient[of_b]]


def _rows(dims: Dims) -> int | None:
    return s.with_rank(dims, 2)[0]


@op(
    "SparseTensorDenseAdd",
    inputs="a_indices: Tindices, a_values: T, a_shape: Tindices, b: T",
    outputs="output: T",
    attrs="T: numbertype, Tindices: {int32, int64}",
    shape=lambda c: c.dims(3),
    static="a_shape",
)
def sparse_tensor_dense_add(xp: Any, a_indices: Any, a_values: Any, a_shape: Any, b: Any) -> Any:
    _check_sides(a_indices.shape, a_values.shape, a_shape, b.shape)
    where = tuple(a_indices[:, i] for i in range(a_indices.shape[1]))
    inside = are_within(a_indices, a_shape)
    require(xp, inside, lambda: invalid(
        "Sparse tensor has an invalid index; see the shape of its dense side."
    ))  # fmt: skip
    return add_at(xp, xp.array(b), where, a_values)


def _check_sides(
    indices: tuple[int, ...], values: tuple[int, ...], sizes: Any, dense: tuple[int, ...]
) -> None:
    """The shapes of a sparse tensor's parts, and that they go with those of a dense one."""
    if len(indices) != 2:
        raise invalid(f"Input a_indices should be a matrix but received shape: {s.show(indices)}")
    if len(values) != 1 or np.ndim(sizes) != 1:
        shapes = f"{s.show(values)} and {s.show(np.shape(sizes))}"
        raise invalid(
            f"Inputs a_values and a_shape should be vectors but received shapes: {shapes}"
        )
    if len(sizes) != len(dense):
        ranks = f"{len(sizes)} and {len(dense)}"
        raise invalid(f"Two operands have different ranks; received: {ranks}")
    for i, (size, wanted) in enumerate(zip(sizes, dense, strict=True)):
        if size != wanted:
            raise invalid(
                f"Dimension {i} does not equal (no broadcasting is supported):"
                f" sparse side {size} vs dense side {wanted}"
            )
    for given, fitting in zip(indices, (*values, len(dense)), strict=True):
        if given != fitting:
            raise invalid(f"Dimensions {given} and {fitting} are not compatible")


@sparse_tensor_dense_add.gradient
def _(op: Operation, grad: Any) -> list[Any]:
    return [None, raw.GatherNd(grad, op.inputs[0]), None, grad]


def sparse_add(a: Any, b: Any, threshold: Any = None, thresh: Any = None) -> Any:
    """`a + b`, at least one of them sparse; sparse if both are.

    Of a sparse sum, elements smaller than `threshold` (formerly `thresh`) are left out.
    """
    if threshold is None:
        threshold = 0 if thresh is None else thresh
    elif thresh is not None:
        raise ValueError("Cannot specify both 'thresh' and 'threshold'.")
    kinds = (SparseTensor, SparseTensorValue)
    if not isinstance(a, kinds) and not isinstance(b, kinds):
        raise TypeError("At least one input should be SparseTensor; do you mean to use tf.add()?")
    if isinstance(a, kinds) and isinstance(b, kinds):
        return _sparse_sum(as_sparse(a), as_sparse(b), threshold)
    sparse, dense = (a, b) if isinstance(a, kinds) else (b, a)
    sparse = as_sparse(sparse)
    return raw.SparseTensorDenseAdd(sparse.indices, sparse.values, sparse.dense_shape, dense)


def _sparse_sum(a: SparseTensor, b: SparseTensor, threshold: Any) -> SparseTensor:
    least = convert_to_tensor(threshold, a.values.dtype.real_dtype.base_dtype, name="threshold")
    indices, values, shape = raw.SparseAdd(
        a.indices, a.values, a.dense_shape, b.indices, b.values, b.dense_shape, least
    )
    known = a.shape.merge_with(b.shape)
    if known.is_fully_defined():
        shape = known.as_list()
    return SparseTensor(indices, values, shape)
