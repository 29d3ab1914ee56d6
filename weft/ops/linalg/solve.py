"""Linear systems, inverses, determinants and the Cholesky decomposition they rest on.

LAPACK does the work, through NumPy or SciPy on the host and through XLA when compiled. A matrix
that cannot be decomposed fails on the host; on an accelerator the result has NaN in it.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.by_library import by_library
from weft.graph.graph import Operation, Tensor, name_scope
from weft.graph.op_def import raw
from weft.ops.array import array
from weft.ops.array.array import invalid
from weft.ops.array.diag import matrix_band_part
from weft.ops.kit.value_checks import require
from weft.ops.linalg.matrices import (
    MATRICES,
    NOT_INVERTIBLE,
    Array,
    adjointed,
    batch_shape,
    check_square,
    check_system,
    each_matrix,
    eye,
    finite_or_zero,
    halve_diagonal,
    in_turn,
    matrix_op,
    must_be_finite,
    or_fail,
    plus_adjoint,
    square,
    square_shape,
)
from weft.ops.math import math
from weft.ops.math.matmul import matmul
from weft.ops.math.reduce import wide

_SINGULAR = "Input matrix is not invertible."


def cholesky_solve(chol: Any, rhs: Any, name: str | None = None) -> Tensor:
    """Solves A X = `rhs`, given the Cholesky factor `chol` of A."""
    with name_scope(name, "cholesky_solve", [chol, rhs]):
        for adjoint in (False, True):
            rhs = raw.MatrixTriangularSolve(chol, rhs, lower=True, adjoint=adjoint)
        return rhs


def regularized_gramian_cholesky(matrix: Tensor, l2_regularizer: Any, first_kind: bool) -> Tensor:
    """The Cholesky factor of A^H A + l I (`first_kind`) or of A A^H + l I."""
    gramian = matmul(matrix, matrix, adjoint_a=first_kind, adjoint_b=not first_kind)
    if isinstance(l2_regularizer, Tensor) or l2_regularizer != 0:
        shape = array.shape(matrix)
        side = shape[-1] if first_kind else shape[-2]
        unit = eye(side, batch_shape=shape[:-2], dtype=matrix.dtype)
        if matrix.dims is not None:
            known = matrix.dims[-1 if first_kind else -2]
            unit.set_shape((*matrix.dims[:-2], known, known))
        gramian += l2_regularizer * unit
    return raw.Cholesky(gramian)


# ---- Cholesky ---------------------------------------------------------------------------------

_NOT_POSITIVE = "Cholesky decomposition was not successful. The input might not be valid."


@matrix_op(
    "Cholesky",
    batch="{double, float}",
    inputs="input: T",
    outputs="output: T",
    attrs=f"T: {MATRICES}",
    shape=square_shape,
)
def cholesky_(xp: Any, input: Array) -> Array:
    check_square(input)
    return _factor(xp, wide(input)).astype(input.dtype)


@by_library
def _factor(xp: Any, x: Array) -> Array:
    from jax.lax import linalg

    find = functools.partial(linalg.cholesky, symmetrize_input=False)
    return must_be_finite(xp, in_turn(xp, find, x))


@_factor.numpy
def _(xp: Any, x: Array) -> Array:
    return or_fail(_NOT_POSITIVE, lambda: np.linalg.cholesky(x))


@cholesky_.gradient
def _(op: Operation, grad: Any) -> Any:
    factor = op.outputs[0]
    side, batch = array.shape(factor)[-1], array.shape(factor)[:-2]
    unit = eye(side, batch_shape=batch, dtype=factor.dtype)
    inverse = raw.MatrixTriangularSolve(factor, unit)
    lower = matrix_band_part(halve_diagonal(matmul(factor, grad, adjoint_a=True)), -1, 0)
    turned = matmul(matmul(inverse, lower, adjoint_a=True), inverse)
    return plus_adjoint(turned) * 0.5


@matrix_op(
    "CholeskyGrad",
    batch="{float, double}",
    inputs="l: T, grad: T",
    outputs="output: T",
    attrs="T: {half, float, double}",
    shape=square_shape,
)
def cholesky_grad_(xp: Any, l: Array, grad: Array) -> Array:  # noqa: E741
    check_square(l)
    factor, above = xp.tril(wide(l)), xp.tril(wide(grad))
    middle = xp.tril(adjointed(xp, factor) @ above)
    side = l.shape[-1]
    middle = middle * (1 - 0.5 * np.eye(side, dtype=middle.dtype))
    inverse = triangular(xp, factor, xp.broadcast_to(xp.eye(side, dtype=factor.dtype), l.shape))
    found = adjointed(xp, inverse) @ middle @ inverse
    return (0.5 * (found + adjointed(xp, found))).astype(l.dtype)


# ---- determinants -----------------------------------------------------------------------------


@matrix_op(
    "MatrixDeterminant",
    batch="{float, double, complex64, complex128}",
    inputs="input: T",
    outputs="output: T",
    attrs="T: {half, float, double, complex64, complex128}",
    shape=batch_shape,
)
def matrix_determinant_(xp: Any, input: Array) -> Array:
    check_square(input)
    return xp.asarray(in_turn(xp, xp.linalg.det, wide(input))).astype(input.dtype)


def _times_inverse(grad: Any, factor: Any, determinant: Tensor, matrix: Tensor) -> Tensor:
    """`grad`, times `factor` if there is one, times the inverse of the matrix."""
    inverse = raw.MatrixInverse(matrix, adjoint=True)
    factors = grad if factor is None else grad * factor
    shape = array.concat([array.shape(determinant), [1, 1]], 0)
    return array.reshape(factors, shape) * inverse


@matrix_determinant_.gradient
def _(op: Operation, grad: Any) -> Any:
    return _times_inverse(grad, op.outputs[0], op.outputs[0], op.inputs[0])


@matrix_op(
    "LogMatrixDeterminant",
    inputs="input: T",
    outputs="sign: T, log_abs_determinant: T",
    attrs="T: {half, float, double, complex64, complex128}",
    shape=lambda c: [batch_shape(c)] * 2,
)
def log_matrix_determinant_(xp: Any, input: Array) -> list[Array]:
    check_square(input)
    sign, logarithm = in_turn(xp, xp.linalg.slogdet, wide(input))
    # TensorFlow reports whatever is not finite, NaN included, as a determinant of zero or infinity.
    edge = xp.where(logarithm > 0, np.inf, -np.inf)
    finite = xp.isfinite(logarithm)
    sign, logarithm = xp.where(finite, sign, 0), xp.where(finite, logarithm, edge)
    return [xp.asarray(v).astype(input.dtype) for v in (sign, logarithm)]


@log_matrix_determinant_.gradient
def _(op: Operation, _grad_sign: Any, grad: Any) -> Any:
    return _times_inverse(grad, None, op.outputs[1], op.inputs[0])


# ---- inverses and linear systems --------------------------------------------------------------


def _solution(matrix: s.Dims, rhs: s.Dims, is_square: bool) -> s.Dims:
    rhs = s.with_rank_at_least(rhs, 2)
    matrix = square(matrix) if is_square else s.with_rank_at_least(matrix, 2)
    left = (None, None) if matrix is None else matrix[-2:]
    right = (None, None) if rhs is None else rhs[-2:]
    batch = s.merge(matrix and matrix[:-2], rhs and rhs[:-2])
    rows = s.merge_dim(left[0], right[0])
    return s.concat(batch, (s.merge_dim(rows, left[1]) if is_square else left[1], right[1]))


def _solve_shape(c: s.ShapeContext) -> s.Dims:
    return _solution(c.dims(0), c.dims(1), True)


def _least_squares_shape(c: s.ShapeContext) -> s.Dims:
    s.with_rank(c.dims(2), 0)
    return _solution(c.dims(0), c.dims(1), False)


@matrix_op(
    "MatrixInverse",
    batch="{double, float}",
    inputs="input: T",
    outputs="output: T",
    attrs=f"adjoint: bool = false, T: {MATRICES}",
    shape=square_shape,
)
def matrix_inverse_(xp: Any, input: Array, *, adjoint: bool) -> Array:
    check_square(input)
    x = adjointed(xp, wide(input)) if adjoint else wide(input)
    inverse = or_fail(NOT_INVERTIBLE, lambda: in_turn(xp, xp.linalg.inv, x))
    return must_be_finite(xp, inverse).astype(input.dtype)


@matrix_inverse_.gradient
def _(op: Operation, grad: Any) -> Any:
    inverse = op.outputs[0]
    if op.get_attr("adjoint"):
        return -matmul(inverse, matmul(grad, inverse, adjoint_a=True))
    return -matmul(inverse, matmul(grad, inverse, adjoint_b=True), adjoint_a=True)


@matrix_op(
    "MatrixSolve",
    batch="{double, float}",
    inputs="matrix: T, rhs: T",
    outputs="output: T",
    attrs=f"adjoint: bool = false, T: {MATRICES}",
    shape=_solve_shape,
)
def matrix_solve_(xp: Any, matrix: Array, rhs: Array, *, adjoint: bool) -> Array:
    check_system(matrix, rhs, True)
    if 0 in rhs.shape:
        return xp.zeros(rhs.shape, rhs.dtype)
    x = adjointed(xp, wide(matrix)) if adjoint else wide(matrix)
    found = or_fail(_SINGULAR, lambda: in_turn(xp, xp.linalg.solve, x, wide(rhs)))
    return must_be_finite(xp, found).astype(rhs.dtype)


def _system_gradient(op: Operation, grad_b: Tensor) -> Tensor:
    """The gradient of the matrix from that of the right-hand side."""
    factors = grad_b, op.outputs[0]
    return -matmul(*(factors[::-1] if op.get_attr("adjoint") else factors), adjoint_b=True)


@matrix_solve_.gradient
def _(op: Operation, grad: Any) -> Any:
    grad_b = raw.MatrixSolve(op.inputs[0], grad, adjoint=not op.get_attr("adjoint"))
    return _system_gradient(op, grad_b), grad_b


def triangular(
    xp: Any, matrix: Array, rhs: Array, lower: bool = True, adjoint: bool = False
) -> Array:
    if 0 in rhs.shape:
        return xp.zeros(rhs.shape, rhs.dtype)
    return _solve_triangular(xp, matrix, rhs, lower, adjoint)


@by_library
def _solve_triangular(xp: Any, matrix: Array, rhs: Array, lower: bool, adjoint: bool) -> Array:
    from jax.lax import linalg

    solve_one = functools.partial(
        linalg.triangular_solve,
        left_side=True, lower=lower, transpose_a=adjoint, conjugate_a=adjoint,
    )  # fmt: skip
    return in_turn(xp, solve_one, matrix, rhs)


@_solve_triangular.numpy
def _(xp: Any, matrix: Array, rhs: Array, lower: bool, adjoint: bool) -> Array:
    from scipy.linalg import get_blas_funcs

    # Not `solve_triangular`: it has threads wake up for the smallest of matrices.
    (trsm,) = get_blas_funcs(("trsm",), (matrix, rhs))
    trans = 2 if adjoint else 0

    def solve(a: Array, b: Array) -> Array:
        return trsm(1.0, a, b, lower=lower, trans_a=trans)

    return each_matrix(solve, matrix, rhs)


@matrix_op(
    "MatrixTriangularSolve",
    batch="{double, float}",
    inputs="matrix: T, rhs: T",
    outputs="output: T",
    attrs=f"lower: bool = true, adjoint: bool = false, T: {MATRICES}",
    shape=_solve_shape,
)
def matrix_triangular_solve_(
    xp: Any, matrix: Array, rhs: Array, *, lower: bool, adjoint: bool
) -> Array:
    check_system(matrix, rhs, True)
    diagonal = xp.diagonal(matrix, axis1=-2, axis2=-1)
    if rhs.size:
        require(xp, diagonal != 0, lambda: invalid(_SINGULAR))
    return triangular(xp, wide(matrix), wide(rhs), lower, adjoint).astype(rhs.dtype)


@matrix_triangular_solve_.gradient
def _(op: Operation, grad: Any) -> Any:
    lower, adjoint = op.get_attr("lower"), op.get_attr("adjoint")
    grad_b = raw.MatrixTriangularSolve(op.inputs[0], grad, lower=lower, adjoint=not adjoint)
    grad_a = _system_gradient(op, grad_b)
    band = (-1, 0) if lower else (0, -1)
    return matrix_band_part(grad_a, *band), grad_b


@matrix_op(
    "MatrixSolveLs",
    batch="{double, float}",
    inputs="matrix: T, rhs: T, l2_regularizer: double",
    outputs="output: T",
    attrs=f"T: {MATRICES}, fast: bool = true",
    shape=_least_squares_shape,
)
def matrix_solve_ls_(
    xp: Any, matrix: Array, rhs: Array, l2_regularizer: Array, *, fast: bool
) -> Array:
    check_system(matrix, rhs, False)
    if np.ndim(l2_regularizer) != 0:
        raise invalid(f"l2_regularizer must be scalar, got shape {s.show(l2_regularizer.shape)}")
    require(xp, l2_regularizer >= 0, lambda: invalid("l2_regularizer must be >= 0."))
    shape = (*matrix.shape[:-2], matrix.shape[-1], rhs.shape[-1])
    if 0 in matrix.shape or 0 in shape:
        return xp.zeros(shape, matrix.dtype)
    a, b = wide(matrix), wide(rhs)
    solve = _normal_equations if fast else _minimum_norm
    return solve(xp, a, b, l2_regularizer).astype(matrix.dtype)


_RANK_DEFICIENT = (
    "Input matrix was rank deficient or ill-conditioned. Try setting fast=False or provide a larger"
    " l2_regularizer > 0."
)


def _normal_equations(xp: Any, a: Array, b: Array, l2: Array) -> Array:
    rows, columns = a.shape[-2:]
    unit = xp.eye(min(rows, columns), dtype=a.dtype)
    shift = xp.asarray(l2).astype(a.dtype) * unit
    h = adjointed(xp, a)

    def solve(gramian: Array, y: Array) -> Array:
        factor = or_fail(_RANK_DEFICIENT, lambda: cholesky_.kernel(xp, gramian + shift))  # type: ignore[misc]
        return triangular(xp, factor, triangular(xp, factor, y), adjoint=True)

    return solve(h @ a, h @ b) if rows >= columns else h @ solve(a @ h, b)


def _minimum_norm(xp: Any, a: Array, b: Array, l2: Array) -> Array:
    find = functools.partial(xp.linalg.svd, full_matrices=False)
    u, values, vh = in_turn(xp, find, finite_or_zero(xp, a))
    cutoff = np.finfo(values.dtype).eps * max(a.shape[-2:])
    kept = values > cutoff * xp.max(values, axis=-1, keepdims=True)
    scale = xp.where(kept, 1 / xp.where(kept, values, 1), 0)
    return adjointed(xp, vh) @ (scale[..., None].astype(a.dtype) * (adjointed(xp, u) @ b))


@matrix_solve_ls_.gradient
def _(op: Operation, grad: Any) -> Any:
    if not op.get_attr("fast"):
        raise ValueError("Gradient not defined for fast=False")
    dims = op.inputs[0].dims
    sides = None if dims is None else dims[-2:]
    if s.known(sides):
        assert sides is not None
        branch = _overdetermined if sides[0] >= sides[1] else _underdetermined  # type: ignore[operator]
        return *branch(op, grad), None
    from weft.ops.control import control_flow

    shape = array.shape(op.inputs[0])[-2:]
    found = control_flow.cond(
        shape[-2] >= shape[-1],
        lambda: _overdetermined(op, grad),
        lambda: _underdetermined(op, grad),
    )
    return *found, None


def _overdetermined(op: Operation, grad: Any) -> tuple[Tensor, Tensor]:
    """X = (A^H A + l I)^-1 A^H B"""
    a, b, l2 = op.inputs
    factor = regularized_gramian_cholesky(a, math.cast(l2, a.dtype.base_dtype), True)
    z = cholesky_solve(factor, grad)

    def times_z(x: Tensor) -> Tensor:
        return matmul(x, z, adjoint_b=True)

    xz = times_z(op.outputs[0])
    grad_a = -matmul(a, xz + array.matrix_transpose(xz)) + times_z(b)
    return grad_a, matmul(a, z)


def _underdetermined(op: Operation, grad: Any) -> tuple[Tensor, Tensor]:
    """X = A^H (A A^H + l I)^-1 B"""
    a, b, l2 = op.inputs
    factor = regularized_gramian_cholesky(a, math.cast(l2, a.dtype.base_dtype), False)
    grad_b = cholesky_solve(factor, matmul(a, grad))
    y = cholesky_solve(factor, b)
    first = -matmul(grad_b, matmul(y, a, adjoint_a=True))
    second = matmul(y, grad - matmul(a, grad_b, adjoint_a=True), adjoint_b=True)
    return first + second, grad_b
