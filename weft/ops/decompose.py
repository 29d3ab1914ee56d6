"""Matrix decompositions and linear systems: the last two dimensions, all others are batches.

LAPACK does the work, through NumPy or SciPy on the host and through XLA when compiled. A matrix
that cannot be decomposed fails on the host; compiled, the result has NaN in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.graph import shape_fn as s
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Operation, Tensor, control_dependencies, name_scope
from weft.graph.op_def import OpDef, op, raw
from weft.ops import array, math
from weft.ops.array import invalid
from weft.ops.diag import matrix_band_part, matrix_diag, matrix_diag_part, matrix_set_diag
from weft.ops.matmul import matmul
from weft.ops.reduce import wide

Array = Any
MATRICES = "{double, float, half, complex64, complex128}"
_NOT_INVERTIBLE = "Input is not invertible."
_SINGULAR = "Input matrix is not invertible."


def matrix_op(name: str, batch: str = "", **declaration: Any) -> Callable[[Any], OpDef]:
    """`@op`, and the same kernel as `Batch<name>` for `batch` types, as graphs of 2016 call it."""

    def declare(kernel: Any) -> OpDef:
        if batch:
            attrs = re.sub(r"\bT: \{[^}]*\}", f"T: {batch}", declaration["attrs"])
            again = {**declaration, "attrs": attrs, "deprecated": True}
            op(f"Batch{name}", **again)(kernel)
        return op(name, **declaration)(kernel)

    return declare


# ---- shapes -----------------------------------------------------------------------------------


def _square(dims: s.Dims) -> s.Dims:
    dims = s.with_rank_at_least(dims, 2)
    if dims is None:
        return None
    side = s.merge_dim(dims[-2], dims[-1])
    return (*dims[:-2], side, side)


def _square_shape(c: s.ShapeContext) -> s.Dims:
    return _square(c.dims(0))


def _batch_shape(c: s.ShapeContext) -> s.Dims:
    dims = _square(c.dims(0))
    return None if dims is None else dims[:-2]


def _solution(matrix: s.Dims, rhs: s.Dims, square: bool) -> s.Dims:
    rhs = s.with_rank_at_least(rhs, 2)
    matrix = _square(matrix) if square else s.with_rank_at_least(matrix, 2)
    left = (None, None) if matrix is None else matrix[-2:]
    right = (None, None) if rhs is None else rhs[-2:]
    batch = s.merge(matrix and matrix[:-2], rhs and rhs[:-2])
    rows = s.merge_dim(left[0], right[0])
    return s.concat(batch, (s.merge_dim(rows, left[1]) if square else left[1], right[1]))


def _solve_shape(c: s.ShapeContext) -> s.Dims:
    return _solution(c.dims(0), c.dims(1), True)


def _least_squares_shape(c: s.ShapeContext) -> s.Dims:
    s.with_rank(c.dims(2), 0)
    return _solution(c.dims(0), c.dims(1), False)


def _sides(dims: s.Dims) -> tuple[s.Dims, int | None, int | None, int | None]:
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


def _check_matrix(x: Array) -> None:
    if x.ndim < 2:
        raise invalid(f"Input tensor 0 must have rank >= 2, got {x.ndim}")


def _check_square(x: Array) -> None:
    _check_matrix(x)
    if x.shape[-1] != x.shape[-2]:
        raise invalid("Input matrix must be square.")


def check_system(matrix: Array, rhs: Array, square: bool) -> None:
    _check_matrix(matrix)
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


def _or_fail(message: str, compute: Callable[[], Array]) -> Array:
    """What `compute` returns; what LAPACK refuses is the user's matrix."""
    try:
        return compute()
    except np.linalg.LinAlgError:
        raise invalid(message) from None


def each_matrix(function: Callable[..., Array], *arrays: Array) -> Array:
    """`function` on every matrix of a batch, for routines that take one at a time."""
    batch = arrays[0].shape[:-2]
    if not batch:
        return function(*arrays)
    flat = [x.reshape(-1, *x.shape[-2:]) for x in arrays]
    found = [np.asarray(function(*matrices)) for matrices in zip(*flat, strict=True)]
    return np.stack(found).reshape(*batch, *found[0].shape)


# ---- functions that the gradients below are written with ------------------------------------


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


def cholesky_solve(chol: Any, rhs: Any, name: str | None = None) -> Tensor:
    """Solves A X = `rhs`, given the Cholesky factor `chol` of A."""
    with name_scope(name, "cholesky_solve", [chol, rhs]):
        y = raw.MatrixTriangularSolve(chol, rhs, adjoint=False, lower=True)
        return raw.MatrixTriangularSolve(chol, y, adjoint=True, lower=True)


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
    shape=_square_shape,
)
def cholesky_(xp: Any, input: Array) -> Array:
    _check_square(input)
    x = wide(input)
    if xp is np:
        return _or_fail(_NOT_POSITIVE, lambda: np.linalg.cholesky(x)).astype(input.dtype)
    from jax.lax import linalg

    return linalg.cholesky(x, symmetrize_input=False).astype(input.dtype)


@cholesky_.gradient
def _(op: Operation, grad: Any) -> Any:
    factor = op.outputs[0]
    side, batch = array.shape(factor)[-1], array.shape(factor)[:-2]
    unit = eye(side, batch_shape=batch, dtype=factor.dtype)
    inverse = raw.MatrixTriangularSolve(factor, unit)
    middle = matmul(factor, grad, adjoint_a=True)
    middle = matrix_set_diag(middle, 0.5 * matrix_diag_part(middle))
    middle = matrix_band_part(middle, -1, 0)
    grad_a = matmul(matmul(inverse, middle, adjoint_a=True), inverse)
    grad_a += adjoint(grad_a)
    return grad_a * 0.5


@matrix_op(
    "CholeskyGrad",
    batch="{float, double}",
    inputs="l: T, grad: T",
    outputs="output: T",
    attrs="T: {half, float, double}",
    shape=_square_shape,
)
def cholesky_grad_(xp: Any, l: Array, grad: Array) -> Array:  # noqa: E741
    _check_square(l)
    factor, above = xp.tril(wide(l)), xp.tril(wide(grad))
    middle = xp.tril(adjointed(xp, factor) @ above)
    side = l.shape[-1]
    middle = middle * (1 - 0.5 * np.eye(side, dtype=middle.dtype))
    inverse = _triangular(xp, factor, xp.broadcast_to(xp.eye(side, dtype=factor.dtype), l.shape))
    found = adjointed(xp, inverse) @ middle @ inverse
    return (0.5 * (found + adjointed(xp, found))).astype(l.dtype)


# ---- determinants -----------------------------------------------------------------------------


@matrix_op(
    "MatrixDeterminant",
    batch="{float, double, complex64, complex128}",
    inputs="input: T",
    outputs="output: T",
    attrs="T: {half, float, double, complex64, complex128}",
    shape=_batch_shape,
)
def matrix_determinant_(xp: Any, input: Array) -> Array:
    _check_square(input)
    return xp.asarray(xp.linalg.det(wide(input))).astype(input.dtype)


def _times_inverse(factors: Any, determinant: Tensor, matrix: Tensor) -> Tensor:
    inverse = raw.MatrixInverse(matrix, adjoint=True)
    shape = array.concat([array.shape(determinant), [1, 1]], 0)
    return array.reshape(factors, shape) * inverse


@matrix_determinant_.gradient
def _(op: Operation, grad: Any) -> Any:
    return _times_inverse(grad * op.outputs[0], op.outputs[0], op.inputs[0])


@op(
    "LogMatrixDeterminant",
    inputs="input: T",
    outputs="sign: T, log_abs_determinant: T",
    attrs="T: {half, float, double, complex64, complex128}",
    shape=lambda c: [_batch_shape(c)] * 2,
)
def log_matrix_determinant_(xp: Any, input: Array) -> list[Array]:
    _check_square(input)
    sign, logarithm = xp.linalg.slogdet(wide(input))
    # TensorFlow reports whatever is not finite, NaN included, as a determinant of zero or infinity.
    edge = xp.where(logarithm > 0, np.inf, -np.inf)
    finite = xp.isfinite(logarithm)
    sign, logarithm = xp.where(finite, sign, 0), xp.where(finite, logarithm, edge)
    return [xp.asarray(v).astype(input.dtype) for v in (sign, logarithm)]


@log_matrix_determinant_.gradient
def _(op: Operation, _grad_sign: Any, grad: Any) -> Any:
    return _times_inverse(grad, op.outputs[1], op.inputs[0])


# ---- inverses and linear systems --------------------------------------------------------------


@matrix_op(
    "MatrixInverse",
    batch="{double, float}",
    inputs="input: T",
    outputs="output: T",
    attrs=f"adjoint: bool = false, T: {MATRICES}",
    shape=_square_shape,
)
def matrix_inverse_(xp: Any, input: Array, *, adjoint: bool) -> Array:
    _check_square(input)
    x = adjointed(xp, wide(input)) if adjoint else wide(input)
    return _or_fail(_NOT_INVERTIBLE, lambda: xp.linalg.inv(x)).astype(input.dtype)


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
    return _or_fail(_SINGULAR, lambda: xp.linalg.solve(x, wide(rhs))).astype(rhs.dtype)


def _system_gradient(op: Operation, grad_b: Tensor) -> Tensor:
    """The gradient of the matrix from that of the right-hand side."""
    x = op.outputs[0]
    if op.get_attr("adjoint"):
        return -matmul(x, grad_b, adjoint_b=True)
    return -matmul(grad_b, x, adjoint_b=True)


@matrix_solve_.gradient
def _(op: Operation, grad: Any) -> Any:
    grad_b = raw.MatrixSolve(op.inputs[0], grad, adjoint=not op.get_attr("adjoint"))
    return _system_gradient(op, grad_b), grad_b


def _triangular(
    xp: Any, matrix: Array, rhs: Array, lower: bool = True, adjoint: bool = False
) -> Array:
    if 0 in rhs.shape:
        return xp.zeros(rhs.shape, rhs.dtype)
    if xp is np:
        from scipy.linalg import solve_triangular

        trans = "C" if adjoint else "N"

        def solve(a: Array, b: Array) -> Array:
            return solve_triangular(a, b, trans=trans, lower=lower, check_finite=False)

        return each_matrix(solve, matrix, rhs)
    from jax.lax import linalg

    return linalg.triangular_solve(
        matrix, rhs, left_side=True, lower=lower, transpose_a=adjoint, conjugate_a=adjoint
    )


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
    if xp is np and rhs.size and not np.all(np.diagonal(matrix, axis1=-2, axis2=-1)):
        raise invalid(_SINGULAR)
    return _triangular(xp, wide(matrix), wide(rhs), lower, adjoint).astype(rhs.dtype)


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
    if xp is np and l2_regularizer < 0:
        raise invalid("l2_regularizer must be >= 0.")
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
        factor = _or_fail(_RANK_DEFICIENT, lambda: cholesky_.kernel(xp, gramian + shift))  # type: ignore[misc]
        return _triangular(xp, factor, _triangular(xp, factor, y), adjoint=True)

    return solve(h @ a, h @ b) if rows >= columns else h @ solve(a @ h, b)


def _minimum_norm(xp: Any, a: Array, b: Array, l2: Array) -> Array:
    u, values, vh = xp.linalg.svd(a, full_matrices=False)
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
    from weft.ops import control_flow

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
    xz = matmul(op.outputs[0], z, adjoint_b=True)
    both = xz + array.matrix_transpose(xz)
    return -matmul(a, both) + matmul(b, z, adjoint_b=True), matmul(a, z)


def _underdetermined(op: Operation, grad: Any) -> tuple[Tensor, Tensor]:
    """X = A^H (A A^H + l I)^-1 B"""
    a, b, l2 = op.inputs
    factor = regularized_gramian_cholesky(a, math.cast(l2, a.dtype.base_dtype), False)
    grad_b = cholesky_solve(factor, matmul(a, grad))
    y = cholesky_solve(factor, b)
    first = -matmul(grad_b, matmul(y, a, adjoint_a=True))
    second = matmul(y, grad - matmul(a, grad_b, adjoint_a=True), adjoint_b=True)
    return first + second, grad_b


# ---- QR and LU --------------------------------------------------------------------------------


def _qr_shape(c: s.ShapeContext) -> list[s.Dims]:
    batch, rows, columns, least = _sides(c.dims(0))
    inner = rows if c.attr("full_matrices") else least
    return [s.concat(batch, (rows, inner)), s.concat(batch, (inner, columns))]


@op(
    "Qr",
    inputs="input: T",
    outputs="q: T, r: T",
    attrs=f"full_matrices: bool = false, T: {MATRICES}",
    shape=_qr_shape,
)
def qr_(xp: Any, input: Array, *, full_matrices: bool) -> list[Array]:
    _check_matrix(input)
    mode = "complete" if full_matrices else "reduced"
    q, r = xp.linalg.qr(wide(input), mode=mode)
    return [q.astype(input.dtype), r.astype(input.dtype)]


@qr_.gradient
def _(op: Operation, dq: Any, dr: Any) -> Any:
    q, r = op.outputs
    if q.dtype.is_complex:
        raise NotImplementedError(f"QrGrad not implemented for dtype: {q.dtype}")
    if r.dims is None or None in r.dims[-2:]:
        raise NotImplementedError("QrGrad not implemented with dynamic shapes.")
    if r.dims[-2] != r.dims[-1]:
        raise NotImplementedError(
            "QrGrad not implemented when ncols > nrows or full_matrices is true and ncols != nrows."
        )
    qdq = matmul(q, dq, adjoint_a=True)
    rdr = matmul(r, dr, adjoint_b=True)
    skew = (qdq - adjoint(qdq)) + (rdr - adjoint(rdr))
    lower = matrix_band_part(skew, -1, 0)

    def times_inverse(x: Any) -> Tensor:
        """x R^-H"""
        return adjoint(raw.MatrixTriangularSolve(r, adjoint(x), lower=False, adjoint=False))

    return matmul(q, dr + times_inverse(lower)) + times_inverse(dq - matmul(q, qdq))


def _lu_shape(c: s.ShapeContext) -> list[s.Dims]:
    dims = _square(c.dims(0))
    return [dims, None if dims is None else dims[:-1]]


@op(
    "Lu",
    inputs="input: T",
    outputs="lu: T, p: output_idx_type",
    attrs=f"T: {MATRICES}, output_idx_type: {{int32, int64}} = int32",
    shape=_lu_shape,
)
def lu_(xp: Any, input: Array, *, output_idx_type: DType) -> list[Array]:
    _check_square(input)
    index = output_idx_type.as_numpy_dtype
    x = wide(input)
    if 0 in x.shape:
        return [xp.zeros(x.shape, input.dtype), xp.zeros(x.shape[:-1], index)]
    if xp is not np:
        from jax.lax import linalg

        packed, _, order = linalg.lu(x)
        return [packed.astype(input.dtype), order.astype(index)]
    from scipy.linalg import lu

    order, lower, upper = lu(x, p_indices=True, check_finite=False)
    if not np.all(np.diagonal(upper, axis1=-2, axis2=-1)):
        raise invalid(_NOT_INVERTIBLE)
    packed = np.tril(lower, -1) + upper
    # SciPy gives the rows of A in terms of those of L U; the op the other way round.
    return [packed.astype(input.dtype), np.argsort(order, axis=-1).astype(index)]


# ---- eigenvalues and singular values ----------------------------------------------------------


def _eigen_shape(c: s.ShapeContext) -> list[s.Dims]:
    dims = _square(c.dims(0))
    values = None if dims is None else dims[:-1]
    return [values, dims if c.attr("compute_v") else (0,)]


_NO_EIGENVALUES = (
    "Self-adjoint eigen decomposition was not successful. The input might not be valid."
)


def _eigen(xp: Any, x: Array) -> tuple[Array, Array]:
    if xp is np:
        values, vectors = _or_fail(_NO_EIGENVALUES, lambda: np.linalg.eigh(x, "L"))
        return values, vectors
    return xp.linalg.eigh(x, "L", symmetrize_input=False)


@matrix_op(
    "SelfAdjointEigV2",
    batch="{double, float}",
    inputs="input: T",
    outputs="e: T, v: T",
    attrs=f"compute_v: bool = true, T: {MATRICES}",
    shape=_eigen_shape,
)
def self_adjoint_eig_v2_(xp: Any, input: Array, *, compute_v: bool) -> list[Array]:
    _check_square(input)
    x = wide(input)
    if compute_v:
        values, vectors = _eigen(xp, x)
    elif xp is np:
        values = _or_fail(_NO_EIGENVALUES, lambda: np.linalg.eigvalsh(x, "L"))
        vectors = np.zeros((0,), x.dtype)
    else:
        values, vectors = _eigen(xp, x)[0], xp.zeros((0,), x.dtype)
    return [values.astype(input.dtype), vectors.astype(input.dtype)]


@self_adjoint_eig_v2_.gradient
def _(op: Operation, grad_e: Any, grad_v: Any) -> Any:
    values = op.outputs[0]
    with control_dependencies([grad_e, grad_v]):
        if op.get_attr("compute_v"):
            v = op.outputs[1]
            # Infinite where eigenvalues coincide: their vectors are free to rotate.
            gaps = array.expand_dims(values, -2) - array.expand_dims(values, -1)
            f = matrix_set_diag(raw.Reciprocal(gaps), array.zeros_like(values))
            inner = matrix_diag(grad_e) + f * matmul(v, grad_v, adjoint_a=True)
        else:
            _, v = raw.SelfAdjointEigV2(op.inputs[0])
            inner = matrix_diag(grad_e)
        grad_a = matmul(v, matmul(inner, v, adjoint_b=True))
        # Only the lower triangle is read.
        grad_a = matrix_band_part(grad_a + adjoint(grad_a), -1, 0)
        return matrix_set_diag(grad_a, 0.5 * matrix_diag_part(grad_a))


def _stacked_eigen_shape(c: s.ShapeContext) -> s.Dims:
    dims = _square(c.dims(0))
    if dims is None:
        return None
    side = dims[-1]
    return (*dims[:-2], None if side is None else side + 1, side)


@matrix_op(
    "SelfAdjointEig",
    batch="{double, float}",
    inputs="input: T",
    outputs="output: T",
    attrs="T: {double, float, half}",
    shape=_stacked_eigen_shape,
    deprecated=True,
)
def self_adjoint_eig_(xp: Any, input: Array) -> Array:
    _check_square(input)
    values, vectors = _eigen(xp, wide(input))
    return xp.concatenate([values[..., None, :], vectors], axis=-2).astype(input.dtype)


def _svd_shape(c: s.ShapeContext) -> list[s.Dims]:
    batch, rows, columns, least = _sides(c.dims(0))
    values = s.concat(batch, (least,))
    if not c.attr("compute_uv"):
        return [values, (0,), (0,)]
    full = c.attr("full_matrices")
    left, right = (rows, columns) if full else (least, least)
    return [values, s.concat(batch, (rows, left)), s.concat(batch, (columns, right))]


def _singular(xp: Any, x: Array, full_matrices: bool, compute_uv: bool) -> list[Array]:
    rows, columns = x.shape[-2:]
    least = min(rows, columns)
    values = xp.full((*x.shape[:-2], least), np.nan, x.real.dtype)
    left, right = (rows, columns) if full_matrices else (least, least)
    u = xp.full((*x.shape[:-2], rows, left), np.nan, x.dtype)
    vh = xp.full((*x.shape[:-2], right, columns), np.nan, x.dtype)
    if least == 0 or 0 in x.shape:
        u = xp.broadcast_to(xp.eye(rows, left, dtype=x.dtype), u.shape)
        vh = xp.broadcast_to(xp.eye(right, columns, dtype=x.dtype), vh.shape)
        return [u, values, vh] if compute_uv else [values]
    try:
        found = xp.linalg.svd(x, full_matrices=full_matrices, compute_uv=compute_uv)
    except np.linalg.LinAlgError:  # not finite
        found = (u, values, vh) if compute_uv else values
    return list(found) if compute_uv else [found]


@matrix_op(
    "Svd",
    batch="{double, float, complex64, complex128}",
    inputs="input: T",
    outputs="s: T, u: T, v: T",
    attrs=f"compute_uv: bool = true, full_matrices: bool = false, T: {MATRICES}",
    shape=_svd_shape,
)
def svd_(xp: Any, input: Array, *, compute_uv: bool, full_matrices: bool) -> list[Array]:
    _check_matrix(input)
    found = _singular(xp, wide(input), full_matrices, compute_uv)
    if compute_uv:
        u, values, vh = found
        outputs = [values, u, adjointed(xp, vh)]
    else:
        none = xp.zeros((0,), input.dtype)
        outputs = [found[0], none, none]
    return [v.astype(input.dtype) for v in outputs]


@svd_.gradient
def _(op: Operation, grad_s: Any, grad_u: Any, grad_v: Any) -> Any:
    a = op.inputs[0]
    dims = s.with_rank_at_least(a.dims, 2)
    if not op.get_attr("compute_uv"):
        _, u, v = raw.Svd(a, compute_uv=True)
        grad_a = matmul(u, matmul(matrix_diag(grad_s), v, adjoint_b=True))
        grad_a.set_shape(a.shape)
        return grad_a
    if a.dtype.is_complex:
        raise NotImplementedError(
            "SVD gradient is not implemented for complex types and compute_uv=True."
        )
    rows = None if dims is None else s.merge_dim(dims[-2], _row_count(grad_u))
    columns = None if dims is None else s.merge_dim(dims[-1], _row_count(grad_v))
    if rows is None or columns is None:
        raise NotImplementedError(
            "SVD gradient has not been implemented for input with unknown inner matrix shape."
        )
    _, u, v = op.outputs
    if rows > columns:
        # The decomposition of A^H = V S U^H is the same with both sides exchanged.
        grad_a = array.matrix_transpose(_svd_gradient(op, v, u, (grad_s, grad_v, grad_u)))
    else:
        grad_a = _svd_gradient(op, u, v, (grad_s, grad_u, grad_v))
    grad_a.set_shape((*dims[:-2], rows, columns))  # type: ignore[index]
    return grad_a


def _row_count(x: Tensor) -> int | None:
    return None if x.dims is None or len(x.dims) < 2 else x.dims[-2]


def _svd_gradient(op: Operation, u: Tensor, v: Tensor, grads: tuple[Any, Any, Any]) -> Tensor:
    """The gradient of a matrix with no more rows (m) than columns (n)."""
    grad_s, grad_u, grad_v = grads
    sizes = op.inputs[0].dims
    assert sizes is not None
    m, n = sorted(int(d) for d in sizes[-2:])  # type: ignore[arg-type]
    full = op.get_attr("full_matrices")
    if full and n - m > 1:
        raise NotImplementedError(
            "svd gradient is not implemented for abs(m - n) > 1 when full_matrices is True"
        )
    values = op.outputs[0]
    with control_dependencies([grad_s, grad_u, grad_v]):
        diagonal, squares = matrix_diag(values), raw.Square(values)
        shape = array.shape(values)
        # The unit matrix keeps the diagonal finite, for the sake of second gradients.
        unit = eye(shape[-1], batch_shape=shape[:-1], dtype=values.dtype)
        gaps = array.expand_dims(squares, -2) - array.expand_dims(squares, -1) + unit
        f = matrix_set_diag(raw.Reciprocal(gaps), array.zeros_like(values))
        v1, grad_v1 = v[..., :, :m], grad_v[..., :, :m]
        f_u = f * matmul(u, grad_u, adjoint_a=True)
        f_v = f * matmul(v1, grad_v1, adjoint_a=True)
        core = (
            matrix_diag(grad_s)
            + matmul(f_u + adjoint(f_u), diagonal)
            + matmul(diagonal, f_v + adjoint(f_v))
        )
        found = matmul(u, matmul(core, v1, adjoint_b=True))
        if m == n:
            return found
        turned = array.matrix_transpose(grad_v1)
        outside = turned - matmul(matmul(turned, v1), v1, adjoint_b=True)
        if full:
            v2, grad_v2 = v[..., :, m:n], grad_v[..., :, m:n]
            outside -= matmul(matmul(v1, grad_v2, adjoint_a=True), v2, adjoint_b=True)
        inverse = matrix_diag(raw.Reciprocal(values))
        return found + matmul(matmul(u, inverse), outside)


# ---- functions of a matrix --------------------------------------------------------------------


def _of_matrix(x: Array, function: Callable[[Array], Array]) -> Array:
    """A function of square matrices by SciPy, in the dtype of `x`."""
    _check_square(x)
    if 0 in x.shape:
        return x

    def one(matrix: Array) -> Array:
        found = function(matrix)
        return found if np.iscomplexobj(x) else np.real(found)

    return each_matrix(one, wide(x)).astype(x.dtype)


@op(
    "MatrixSquareRoot",
    inputs="input: T",
    outputs="output: T",
    attrs=f"T: {MATRICES}",
    shape=_square_shape,
    runs_on="host",
)
def matrix_square_root_(xp: Any, input: Array) -> Array:
    from scipy.linalg import sqrtm

    return _of_matrix(input, sqrtm)


@matrix_square_root_.gradient
def _(op: Operation, grad: Any) -> Any:
    # A = R R, so dA = R dR + dR R: a Sylvester equation, linear in vec(dR).
    root = op.outputs[0]
    shape = array.shape(root)
    side, batch = shape[-1], shape[:-2]
    unit = eye(side, batch_shape=batch, dtype=root.dtype)
    sylvester = _kronecker(unit, array.matrix_transpose(root)) + _kronecker(root, unit)
    column = array.concat([batch, [side * side], [1]], 0)
    stacked = array.reshape(array.matrix_transpose(grad), column)
    found = array.reshape(raw.MatrixSolve(sylvester, stacked), shape)
    return array.matrix_transpose(found)


def _kronecker(x: Tensor, y: Tensor) -> Tensor:
    """The Kronecker products of two batches of square matrices."""
    shape, side = array.shape(x), array.shape(x)[-1]
    other, batch = array.shape(y)[-1], shape[:-2]
    left = array.reshape(x, array.concat([batch, [side], [1], [side], [1]], 0))
    right = array.reshape(y, array.concat([batch, [1], [other], [1], [other]], 0))
    return array.reshape(left * right, array.concat([batch, [side * other], [side * other]], 0))


@op(
    "MatrixLogarithm",
    inputs="input: T",
    outputs="output: T",
    attrs="T: {complex64, complex128}",
    shape=_square_shape,
    runs_on="host",
)
def matrix_logarithm_(xp: Any, input: Array) -> Array:
    from scipy.linalg import logm

    # In double precision, where SciPy is content with its own estimate of the error.
    return _of_matrix(input, lambda x: logm(x.astype(np.complex128)))


@op(
    "MatrixExponential",
    inputs="input: T",
    outputs="output: T",
    attrs=f"T: {MATRICES}",
    shape=_square_shape,
    runs_on="host",
    deprecated=True,
)
def matrix_exponential_(xp: Any, input: Array) -> Array:
    from scipy.linalg import expm

    return _of_matrix(input, expm)
