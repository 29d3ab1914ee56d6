"""Shared parts of ops on batches of matrices: declarations, shapes, checks, unit matrices."""

from __future__ import annotations

import functools
import math as math_
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.graph import shape_fn as s
from weft.graph.by_library import by_library
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.graph.op_def import OpDef, op
from weft.graph.traits import DEPRECATED, PLAIN, Traits, costs
from weft.ops.array import array
from weft.ops.array.array import invalid
from weft.ops.array.diag import matrix_diag, matrix_diag_part, matrix_set_diag
from weft.ops.kit.target import target_platform
from weft.ops.kit.value_checks import must_hold
from weft.ops.math import math

Array = Any
MATRICES = "{double, float, half, complex64, complex128}"
NOT_INVERTIBLE = "Input is not invertible."


def matrix_op(
    name: str, batch: str = "", traits: Traits = PLAIN, **declaration: Any
) -> Callable[[Any], OpDef]:
    """`@op`, and the same kernel as `Batch<name>` for `batch` types, as graphs of 2016 call it."""

    traits = costs(_flops) | traits

    def declare(kernel: Any) -> OpDef:
        if batch:
            attrs = re.sub(r"\bT: \{[^}]*\}", f"T: {batch}", declaration["attrs"])
            again = {**declaration, "attrs": attrs}
            op(f"Batch{name}", traits=traits | DEPRECATED, **again)(kernel)
        return op(name, traits=traits, **declaration)(kernel)

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
    dims = s.with_rank_at_least(c.dims(0), 2)
    if dims is None:
        return None
    s.merge_dim(dims[-1], dims[-2])
    return dims[:-2]


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
    """The result of `compute`; an InvalidArgumentError if LAPACK refuses the matrix."""
    try:
        return compute()
    except np.linalg.LinAlgError:
        raise invalid(message) from None


@by_library
def must_be_finite(xp: Any, x: Array) -> Array:
    """`x`; in a program, what a matrix that LAPACK refuses makes of it is bad."""
    must_hold(xp.isfinite(x))
    return x


@must_be_finite.numpy
def _(xp: Any, x: Array) -> Array:
    return x


def each_matrix(function: Callable[..., Array], *arrays: Array) -> Array:
    """`function` on every matrix of a batch, for routines that take one at a time."""
    batch = arrays[0].shape[:-2]
    if not batch:
        return function(*arrays)
    flat = [x.reshape(-1, *x.shape[-2:]) for x in arrays]
    found = [np.asarray(function(*matrices)) for matrices in zip(*flat, strict=True)]
    return np.stack(found).reshape(*batch, *found[0].shape)


@by_library
def in_turn(xp: Any, function: Callable[..., Any], *arrays: Array) -> Any:
    """`function` of batches of matrices; compiled for a CPU, of one matrix after the other.

    jaxlib's LAPACK kernels hand parts of a batch to XLA's threads and wait for them. Where as many
    of them run at once as there are threads, each waits for the others for ever.
    """
    batch = arrays[0].shape[:-2]
    if math_.prod(batch) <= 1 or target_platform() != "cpu":
        return function(*arrays)
    import jax

    flat = [x.reshape(-1, *x.shape[-2:]) for x in arrays]
    found = jax.lax.map(lambda matrices: function(*matrices), flat)
    return jax.tree.map(lambda each: each.reshape(*batch, *each.shape[1:]), found)


@in_turn.numpy
def _(xp: Any, function: Callable[..., Any], *arrays: Array) -> Any:
    return function(*arrays)


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
            return [*batch, *sides] if lead is None else array.concat((lead, list(sides)), axis=0)

        lead: Tensor | None = None
        if isinstance(batch, Tensor) or isinstance(length, Tensor):
            lead = convert_to_tensor(batch, name="shape", dtype=dtypes.int32)
        shape, whole = with_batch(length), None if is_square else with_batch(num_rows, columns)
        ones = array.ones(shape, dtype=dtype)
        if whole is None:
            return matrix_diag(ones)
        return matrix_set_diag(array.zeros(whole, dtype=dtype), ones)


def adjoint(matrix: Any, name: str | None = None) -> Tensor:
    """The conjugate transpose of matrices."""
    with name_scope(name, "adjoint", [matrix]):
        matrix = convert_to_tensor(matrix, name="matrix")
        return array.matrix_transpose(matrix, conjugate=True)


def plus_adjoint(matrix: Tensor) -> Tensor:
    """A + A^H"""
    return matrix + adjoint(matrix)


def halve_diagonal(matrix: Tensor) -> Tensor:
    """The same with half of what is on the diagonal."""
    return matrix_set_diag(matrix, 0.5 * matrix_diag_part(matrix))


# ---- singular values -----------------------------------------------------------------------------
# With some matrices that are not finite LAPACK does not come to an end: they are taken out before,
# and their results are NaN.


def singular_values(xp: Any, x: Array) -> Array:
    if 0 in x.shape:
        return xp.full((*x.shape[:-2], min(x.shape[-2:])), np.nan, x.real.dtype)
    is_finite = _is_finite(xp, x)
    find = functools.partial(xp.linalg.svd, compute_uv=False)
    values = in_turn(xp, find, xp.where(is_finite, x, 0))
    return xp.where(is_finite[..., 0], values, values.dtype.type(np.nan))


def singular_parts(xp: Any, x: Array, full_matrices: bool) -> list[Array]:
    """U, the singular values, and the adjoint of V."""
    if 0 in x.shape:
        *batch, rows, columns = x.shape
        least = min(rows, columns)
        left, right = (rows, columns) if full_matrices else (least, least)
        u, vh = xp.eye(rows, left, dtype=x.dtype), xp.eye(right, columns, dtype=x.dtype)
        u, vh = (xp.broadcast_to(part, (*batch, *part.shape)) for part in (u, vh))
        return [u, singular_values(xp, x), vh]
    is_finite = _is_finite(xp, x)
    find = functools.partial(xp.linalg.svd, full_matrices=full_matrices)
    u, values, vh = in_turn(xp, find, xp.where(is_finite, x, 0))
    nan = values.dtype.type(np.nan)
    return [
        xp.where(is_finite, u, nan),
        xp.where(is_finite[..., 0], values, nan),
        xp.where(is_finite, vh, nan),
    ]


def finite_or_zero(xp: Any, x: Array) -> Array:
    """Matrices as they are, or zeros in the place of those that are not finite."""
    return xp.where(_is_finite(xp, x), x, 0)


def _is_finite(xp: Any, x: Array) -> Array:
    """Whether each matrix is finite, as matrices of one element."""
    return xp.all(xp.isfinite(x), axis=(-2, -1), keepdims=True)
