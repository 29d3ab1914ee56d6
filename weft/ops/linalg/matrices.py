"""What ops on batches of matrices share: declarations, shapes, checks, unit matrices."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.graph import shape_fn as s
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.graph.op_def import OpDef, op
from weft.ops.array import array
from weft.ops.array.array import invalid
from weft.ops.array.diag import matrix_diag, matrix_set_diag
from weft.ops.kit.target import target_platform
from weft.ops.kit.value_checks import must_hold
from weft.ops.math import math

Array = Any
MATRICES = "{double, float, half, complex64, complex128}"
NOT_INVERTIBLE = "Input is not invertible."


def matrix_op(name: str, batch: str = "", **declaration: Any) -> Callable[[Any], OpDef]:
    """`@op`, and the same kernel as `Batch<name>` for `batch` types, as graphs of 2016 call it."""

    declaration.setdefault("flops", _flops)

    def declare(kernel: Any) -> OpDef:
        if batch:
            attrs = re.sub(r"\bT: \{[^}]*\}", f"T: {batch}", declaration["attrs"])
            again = {**declaration, "attrs": attrs, "deprecated": True}
            op(f"Batch{name}", **again)(kernel)
        return op(name, **declaration)(kernel)

    return declare


def _flops(dims: Sequence[Any], attrs: dict[str, Any]) -> float:
    """Of a decomposition, to order of magnitude."""
    *batch, rows, columns = dims[0]
    return 10.0 * float(np.prod(batch)) * rows * columns * min(rows, columns)


# ---- shapes -----------------------------------------------------------------------------------


def square(dims: s.Dims) -> s.Dims:
    dims = s.with_rank_at_least(dims, 2)
    if dims is None:
        return None
    side = s.merge_dim(dims[-2], dims[-1])
    return (*dims[:-2], side, side)


def square_shape(c: s.ShapeContext) -> s.Dims:
    return square(c.dims(0))


def batch_shape(c: s.ShapeContext) -> s.Dims:
    dims = square(c.dims(0))
    return None if dims is None else dims[:-2]


def sides_of(dims: s.Dims) -> tuple[s.Dims, int | None, int | None, int | None]:
    """(batch, rows, columns, the smaller of both)"""
    dims = s.with_rank_at_least(dims, 2)
    if dims is None:
        return None, None, None, None
    rows, columns = dims[-2:]
    least = 0 if 0 in (rows, columns) else None
    if rows is not None and columns is not None:
        least = min(rows, columns)
    return dims[:-2], rows, columns, least


# ---- checks of real shapes --------------------------------------------------------------------


def check_matrix(x: Array) -> None:
    if x.ndim < 2:
        raise invalid(f"Input tensor 0 must have rank >= 2, got {x.ndim}")


def check_square(x: Array) -> None:
    check_matrix(x)
    if x.shape[-1] != x.shape[-2]:
        raise invalid("Input matrix must be square.")


def check_system(matrix: Array, rhs: Array, square: bool) -> None:
    check_matrix(matrix)
    if matrix.ndim != rhs.ndim:
        raise invalid("All input tensors must have the same rank.")
    if matrix.shape[:-2] != rhs.shape[:-2]:
        raise invalid("All input tensors must have the same outer dimensions.")
    if square and matrix.shape[-1] != matrix.shape[-2]:
        raise invalid("First input (lhs) must be a square matrix.")
    if matrix.shape[-2] != rhs.shape[-2]:
        raise invalid("Input matrix and rhs are incompatible.")


def adjointed(xp: Any, x: Array) -> Array:
    return xp.conj(xp.swapaxes(x, -1, -2))


def or_fail(message: str, compute: Callable[[], Array]) -> Array:
    """What `compute` returns; what LAPACK refuses is the user's matrix."""
    try:
        return compute()
    except np.linalg.LinAlgError:
        raise invalid(message) from None


def must_be_finite(xp: Any, x: Array) -> Array:
    """`x`; in a program, what a matrix that LAPACK refuses makes of it is bad."""
    if xp is not np:
        must_hold(xp.isfinite(x))
    return x


def each_matrix(function: Callable[..., Array], *arrays: Array) -> Array:
    """`function` on every matrix of a batch, for routines that take one at a time."""
    batch = arrays[0].shape[:-2]
    if not batch:
        return function(*arrays)
    flat = [x.reshape(-1, *x.shape[-2:]) for x in arrays]
    found = [np.asarray(function(*matrices)) for matrices in zip(*flat, strict=True)]
    return np.stack(found).reshape(*batch, *found[0].shape)


def in_turn(xp: Any, function: Callable[..., Any], *arrays: Array) -> Any:
    """`function` of batches of matrices; compiled for a CPU, of one matrix after the other.

    jaxlib's LAPACK kernels hand parts of a batch to XLA's threads and wait for them. Where as many
    of them run at once as there are threads, each waits for the others for ever.
    """
    batch = arrays[0].shape[:-2]
    if xp is np or np.prod(batch) <= 1 or target_platform() != "cpu":
        return function(*arrays)
    import jax

    flat = [x.reshape(-1, *x.shape[-2:]) for x in arrays]
    found = jax.lax.map(lambda matrices: function(*matrices), flat)
    return jax.tree.map(lambda each: each.reshape(*batch, *each.shape[1:]), found)


# ---- unit matrices and adjoints -----------------------------------------------------------------


def eye(
    num_rows: Any,
    num_columns: Any = None,
    batch_shape: Any = None,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Identity matrices: ones on the diagonal, zeros elsewhere."""
    with name_scope(name, "eye", [num_rows, num_columns, batch_shape]):
        is_square = num_columns is None
        batch = [] if batch_shape is None else batch_shape
        columns = num_rows if num_columns is None else num_columns
        if isinstance(num_rows, Tensor) or isinstance(columns, Tensor):
            length: Any = math.minimum(num_rows, columns)
        else:
            if not all(isinstance(n, int | np.integer) for n in (num_rows, columns)):
                raise TypeError("num_rows and num_columns must be positive integer values.")
            is_square = num_rows == columns
            length = min(num_rows, columns)

        def with_batch(*sides: Any) -> Any:
            if isinstance(batch, Tensor) or isinstance(length, Tensor):
                lead = convert_to_tensor(batch, name="shape", dtype=dtypes.int32)
                return array.concat((lead, list(sides)), axis=0)
            return [*batch, *sides]

        ones = array.ones(with_batch(length), dtype=dtype)
        if is_square:
            return matrix_diag(ones)
        return matrix_set_diag(array.zeros(with_batch(num_rows, columns), dtype=dtype), ones)


def adjoint(matrix: Any, name: str | None = None) -> Tensor:
    """The conjugate transpose of matrices."""
    with name_scope(name, "adjoint", [matrix]):
        matrix = convert_to_tensor(matrix, name="matrix")
        return array.matrix_transpose(matrix, conjugate=True)
