"""Products of a sparse and a dense matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core import dtypes
from weft.graph import shape_fn as s
from weft.graph.by_library import by_library
from weft.graph.op_def import op, raw
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.tensor import Tensor
from weft.graph.traits import costs
from weft.ops.kit.operands import operands
from weft.ops.kit.shared import invalid
from weft.ops.kit.value_checks import are_within, must_hold
from weft.ops.sparse.select import as_sparse, parts_of


def _product_dims(c: ShapeContext) -> Dims:
    s.with_rank(c.dims(0), 2)
    s.with_rank(c.dims(1), 1)
    a = c.partial(2)
    a = (None, None) if a is None else s.with_rank(a, 2)
    b = s.with_rank(c.dims(3), 2)
    rows, inner = a[::-1] if c.attr("adjoint_a") else a
    other, columns = b[::-1] if c.attr("adjoint_b") else b
    s.merge_dim(inner, other)
    return (rows, columns)


def _adjoint(xp: Any, x: Any) -> Any:
    return xp.conj(x).T if np.dtype(x.dtype).kind == "c" else x.T


@op(
    "SparseTensorDenseMatMul",
    inputs="a_indices: Tindices, a_values: T, a_shape: int64, b: T",
    outputs="product: T",
    attrs="T: type, Tindices: {int32, int64} = int64, adjoint_a: bool = false,"
    " adjoint_b: bool = false",
    shape=_product_dims,
    static="a_shape",
    traits=costs(lambda dims, attrs: 2.0 * dims[1][0] * dims[3][0 if attrs["adjoint_b"] else 1]),
)
def sparse_tensor_dense_mat_mul(
    xp: Any, a_indices: Any, a_values: Any, a_shape: Any, b: Any, *, adjoint_a: bool,
    adjoint_b: bool,
) -> Any:  # fmt: skip
    _check_parts(a_indices.shape, a_values.shape, a_shape)
    rows, columns = a_indices[:, 0], a_indices[:, 1]
    height, inner = (int(d) for d in np.asarray(a_shape))
    if adjoint_a:
        rows, columns, height, inner = columns, rows, inner, height
        a_values = xp.conj(a_values) if np.dtype(a_values.dtype).kind == "c" else a_values
    if b.ndim != 2:
        raise invalid("Tensor 'b' is not a matrix")
    if adjoint_b:
        b = _adjoint(xp, b)
    if b.shape[0] != inner:
        raise invalid(
            "Cannot multiply A and B because inner dimension does not match:"
            f" {inner} vs. {b.shape[0]}.  Did you forget a transpose?  Dimensions of A:"
            f" [{height}, {inner}).  Dimensions of B: {s.show(b.shape)}"
        )
    _check_range(xp, rows, height, columns, inner, adjoint_a)
    return _summed(xp, rows, a_values[:, None] * b[columns], (height, b.shape[1]))


def _check_parts(indices: tuple[int, ...], values: tuple[int, ...], shape: Any) -> None:
    """Checks that the three parts of a sparse matrix go together."""
    if len(indices) != 2:
        raise invalid("Tensor 'a_indices' is not a matrix")
    if np.size(shape) != 2:
        raise invalid("Tensor 'a_shape' must have 2 elements")
    if indices[0] != values[0]:
        raise invalid("Number of rows of a_indices does not match number of entries in a_values")
    if indices[1] != 2:
        raise invalid("Number of columns of a_indices does not match number of entries in a_shape")


@by_library
def _check_range(xp: Any, rows: Any, height: int, columns: Any, inner: int, adjoint: bool) -> None:
    """Checks the places of a sparse matrix."""
    must_hold(are_within(rows, height))
    must_hold(are_within(columns, inner))


@_check_range.numpy
def _(xp: Any, rows: Any, height: int, columns: Any, inner: int, adjoint: bool) -> None:
    for name, index, limit in (("k", columns, inner), ("m", rows, height)):
        for i in np.flatnonzero((index < 0) | (index >= limit))[:1]:
            axis = int((name == "k") != adjoint)
            raise invalid(f"{name} ({index[i]}) from index[{i},{axis}] out of bounds (>={limit})")


@by_library
def _summed(xp: Any, rows: Any, products: Any, shape: tuple[int, int]) -> Any:
    """Products added into their rows; those of one row are brought together first."""
    return xp.zeros(shape, products.dtype).at[rows].add(products)


@_summed.numpy
def _(xp: Any, rows: Any, products: Any, shape: tuple[int, int]) -> Any:
    out = np.zeros(shape, products.dtype)
    if len(rows):
        order = np.argsort(rows, kind="stable")
        ordered = rows[order]
        starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
        out[ordered[starts]] = np.add.reduceat(products[order], starts, axis=0)
    return out


@sparse_tensor_dense_mat_mul.gradient
def _(op: Operation, grad: Any) -> list[Any]:
    from weft.ops.array import array
    from weft.ops.array.gather import gather
    from weft.ops.math import math

    a_indices, a_values, a_shape, b = op.inputs
    if a_values.dtype.base_dtype in (dtypes.complex64, dtypes.complex128):
        raise NotImplementedError("SparseTensorDenseMatMul op does not support complex gradients.")
    adjoint_a, adjoint_b = op.get_attr("adjoint_a"), op.get_attr("adjoint_b")
    b_grad = raw.SparseTensorDenseMatMul(
        a_indices, a_values, a_shape, grad, adjoint_a=not adjoint_a
    )
    if adjoint_b:
        b_grad = array.transpose(b_grad)
    rows, columns = a_indices[:, 0], a_indices[:, 1]
    left = gather(grad, columns if adjoint_a else rows)
    right = gather(array.transpose(b) if adjoint_b else b, rows if adjoint_a else columns)
    return [None, math.reduce_sum(left * right, axis=1), None, b_grad]


def sparse_tensor_dense_matmul(
    sp_a: Any, b: Any, adjoint_a: bool = False, adjoint_b: bool = False, name: str | None = None
) -> Tensor:
    """The matrix product of the sparse `sp_a` and the dense `b`."""
    parts = parts_of(as_sparse(sp_a))
    with operands(name, "SparseTensorDenseMatMul", *parts, b=b) as (_, b):
        return raw.SparseTensorDenseMatMul(*parts, b, adjoint_a, adjoint_b)
