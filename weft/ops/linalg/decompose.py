"""QR, LU, eigenvalue and singular value decompositions, and functions of matrices.

LAPACK does the work, through NumPy or SciPy on the host and through XLA when compiled. A matrix
that cannot be decomposed fails on the host; compiled, the result has NaN in it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core.dtypes import DType
from weft.graph import shape_fn as s
from weft.graph.by_library import by_library
from weft.graph.graph import Operation, Tensor, control_dependencies
from weft.graph.op_def import raw
from weft.graph.traits import DEPRECATED, HOST
from weft.ops.array import array
from weft.ops.array.array import invalid
from weft.ops.array.diag import matrix_band_part, matrix_diag, matrix_set_diag
from weft.ops.kit.value_checks import require
from weft.ops.linalg.matrices import (
    MATRICES,
    NOT_INVERTIBLE,
    Array,
    adjoint,
    adjointed,
    check_matrix,
    check_square,
    each_matrix,
    eye,
    halve_diagonal,
    in_turn,
    matrix_op,
    must_be_finite,
    or_fail,
    plus_adjoint,
    sides_of,
    singular_parts,
    singular_values,
    square,
    square_shape,
)
from weft.ops.math.matmul import matmul
from weft.ops.math.reduce import wide

# ---- QR and LU --------------------------------------------------------------------------------


def _qr_shape(c: s.ShapeContext) -> list[s.Dims]:
    batch, rows, columns, least = sides_of(c.dims(0))
    inner = rows if c.attr("full_matrices") else least
    return [s.concat(batch, (rows, inner)), s.concat(batch, (inner, columns))]


@matrix_op(
    "Qr",
    inputs="input: T",
    outputs="q: T, r: T",
    attrs=f"full_matrices: bool = false, T: {MATRICES}",
    shape=_qr_shape,
)
def qr_(xp: Any, input: Array, *, full_matrices: bool) -> list[Array]:
    check_matrix(input)
    mode = "complete" if full_matrices else "reduced"
    q, r = in_turn(xp, functools.partial(xp.linalg.qr, mode=mode), wide(input))
    return [q.astype(input.dtype), r.astype(input.dtype)]


@qr_.gradient
def _(op: Operation, dq: Any, dr: Any) -> Any:
    q, r = op.outputs
    if reason := _no_qr_gradient(q, r):
        raise NotImplementedError(f"QrGrad not implemented {reason}")
    qdq = matmul(q, dq, adjoint_a=True)
    in_q = _minus_adjoint(qdq)
    lower = matrix_band_part(in_q + _minus_adjoint(matmul(r, dr, adjoint_b=True)), -1, 0)

    def times_inverse(x: Any) -> Tensor:
        """x R^-H"""
        return adjoint(raw.MatrixTriangularSolve(r, adjoint(x), lower=False, adjoint=False))

    return matmul(q, dr + times_inverse(lower)) + times_inverse(dq - matmul(q, qdq))


def _minus_adjoint(x: Tensor) -> Tensor:
    return x - adjoint(x)


def _no_qr_gradient(q: Tensor, r: Tensor) -> str | None:
    """Why there is no gradient, or None."""
    if q.dtype.is_complex:
        return f"for dtype: {q.dtype}"
    sides = {None} if r.dims is None else set(r.dims[-2:])
    if None in sides:
        return "with dynamic shapes."
    is_square = len(sides) == 1
    not_square = "when ncols > nrows or full_matrices is true and ncols != nrows."
    return None if is_square else not_square


def _lu_shape(c: s.ShapeContext) -> list[s.Dims]:
    dims = square(c.dims(0))
    return [dims, None if dims is None else dims[:-1]]


@matrix_op(
    "Lu",
    inputs="input: T",
    outputs="lu: T, p: output_idx_type",
    attrs=f"T: {MATRICES}, output_idx_type: {{int32, int64}} = int32",
    shape=_lu_shape,
)
def lu_(xp: Any, input: Array, *, output_idx_type: DType) -> list[Array]:
    check_square(input)
    index = output_idx_type.as_numpy_dtype
    x = wide(input)
    if 0 in x.shape:
        return [xp.zeros(x.shape, input.dtype), xp.zeros(x.shape[:-1], index)]
    packed, order = _lower_upper(xp, x)
    invertible = xp.diagonal(packed, axis1=-2, axis2=-1) != 0
    require(xp, invertible, lambda: invalid(NOT_INVERTIBLE))
    return [packed.astype(input.dtype), order.astype(index)]


@by_library
def _lower_upper(xp: Any, x: Array) -> tuple[Array, Array]:
    """The two factors in one matrix, and the order of the rows."""
    from jax.lax import linalg

    packed, _, order = in_turn(xp, linalg.lu, x)
    return packed, order


@_lower_upper.numpy
def _(xp: Any, x: Array) -> tuple[Array, Array]:
    from scipy.linalg import lu

    order, lower, upper = lu(x, p_indices=True, check_finite=False)
    # SciPy gives the rows of A in terms of those of L U; the op the other way round.
    return np.tril(lower, -1) + upper, np.argsort(order, axis=-1)


# ---- eigenvalues and singular values ----------------------------------------------------------


def _eigen_shape(c: s.ShapeContext) -> list[s.Dims]:
    dims = square(c.dims(0))
    values = None if dims is None else dims[:-1]
    return [values, dims if c.attr("compute_v") else (0,)]


_NO_EIGENVALUES = (
    "Self-adjoint eigen decomposition was not successful. The input might not be valid."
)


@by_library
def _eigen(xp: Any, x: Array) -> tuple[Array, Array]:
    find = functools.partial(xp.linalg.eigh, UPLO="L", symmetrize_input=False)
    values, vectors = in_turn(xp, find, x)
    return must_be_finite(xp, values), vectors


@by_library
def _eigenvalues(xp: Any, x: Array) -> Array:
    return _eigen(xp, x)[0]


@_eigenvalues.numpy
def _(xp: Any, x: Array) -> Array:
    return or_fail(_NO_EIGENVALUES, lambda: np.linalg.eigvalsh(x, "L"))


@_eigen.numpy
def _(xp: Any, x: Array) -> tuple[Array, Array]:
    values, vectors = or_fail(_NO_EIGENVALUES, lambda: np.linalg.eigh(x, "L"))
    return values, vectors


@matrix_op(
    "SelfAdjointEigV2",
    batch="{double, float}",
    inputs="input: T",
    outputs="e: T, v: T",
    attrs=f"compute_v: bool = true, T: {MATRICES}",
    shape=_eigen_shape,
)
def self_adjoint_eig_v2_(xp: Any, input: Array, *, compute_v: bool) -> list[Array]:
    check_square(input)
    x = wide(input)
    if compute_v:
        values, vectors = _eigen(xp, x)
    else:
        values, vectors = _eigenvalues(xp, x), xp.zeros((0,), x.dtype)
    return [values.astype(input.dtype), vectors.astype(input.dtype)]


@self_adjoint_eig_v2_.gradient
def _(op: Operation, grad_e: Any, grad_v: Any) -> Any:
    values, vectors = op.outputs
    with control_dependencies([grad_e, grad_v]):
        turned = _gap_inverses(values) if op.get_attr("compute_v") else None
        if turned is None:
            vectors = raw.SelfAdjointEigV2(op.inputs[0])[1]
        inner = matrix_diag(grad_e)
        if turned is not None:
            inner = inner + turned * matmul(vectors, grad_v, adjoint_a=True)
        whole = matmul(vectors, matmul(inner, vectors, adjoint_b=True))
        # Only the lower triangle is read.
        return halve_diagonal(matrix_band_part(plus_adjoint(whole), -1, 0))


def _gap_inverses(values: Tensor) -> Tensor:
    """Infinite where eigenvalues coincide: their vectors are free to rotate."""
    gaps = array.expand_dims(values, -2) - array.expand_dims(values, -1)
    return matrix_set_diag(raw.Reciprocal(gaps), array.zeros_like(values))


def _stacked_eigen_shape(c: s.ShapeContext) -> s.Dims:
    dims = square(c.dims(0))
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
    traits=DEPRECATED,
)
def self_adjoint_eig_(xp: Any, input: Array) -> Array:
    check_square(input)
    values, vectors = _eigen(xp, wide(input))
    return xp.concatenate([values[..., None, :], vectors], axis=-2).astype(input.dtype)


def _svd_shape(c: s.ShapeContext) -> list[s.Dims]:
    batch, rows, columns, least = sides_of(c.dims(0))
    values = s.concat(batch, (least,))
    if not c.attr("compute_uv"):
        return [values, (0,), (0,)]
    full = c.attr("full_matrices")
    left, right = (rows, columns) if full else (least, least)
    return [values, s.concat(batch, (rows, left)), s.concat(batch, (columns, right))]


@matrix_op(
    "Svd",
    batch="{double, float, complex64, complex128}",
    inputs="input: T",
    outputs="s: T, u: T, v: T",
    attrs=f"compute_uv: bool = true, full_matrices: bool = false, T: {MATRICES}",
    shape=_svd_shape,
)
def svd_(xp: Any, input: Array, *, compute_uv: bool, full_matrices: bool) -> list[Array]:
    check_matrix(input)
    if compute_uv:
        u, values, vh = singular_parts(xp, wide(input), full_matrices)
        outputs = [values, u, adjointed(xp, vh)]
    else:
        none = xp.zeros((0,), input.dtype)
        outputs = [singular_values(xp, wide(input)), none, none]
    return [v.astype(input.dtype) for v in outputs]


@svd_.gradient
def _(op: Operation, grad_s: Any, grad_u: Any, grad_v: Any) -> Any:
    a = op.inputs[0]
    dims = s.with_rank_at_least(a.dims, 2)
    if not op.get_attr("compute_uv"):
        scaled = matrix_diag(grad_s)
        _, u, v = raw.Svd(a, compute_uv=True)
        grad_a = matmul(u, matmul(scaled, v, adjoint_b=True))
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
    values, core = op.outputs[0], matrix_diag(grad_s)
    with control_dependencies([grad_s, grad_u, grad_v]):
        diagonal, squares = matrix_diag(values), raw.Square(values)
        shape = array.shape(values)
        # The unit matrix keeps the diagonal finite, for the sake of second gradients.
        unit = eye(shape[-1], batch_shape=shape[:-1], dtype=values.dtype)
        gaps = array.expand_dims(squares, -2) - array.expand_dims(squares, -1) + unit
        f = matrix_set_diag(raw.Reciprocal(gaps), array.zeros_like(values))
        inverse = matrix_diag(raw.Reciprocal(values))
        v1, grad_v1 = v[..., :, :m], grad_v[..., :, :m]
        sides = [matmul(x, g, adjoint_a=True) for x, g in ((u, grad_u), (v1, grad_v1))]
        f_u, f_v = (f * side for side in sides)
        core = core + matmul(plus_adjoint(f_u), diagonal) + matmul(diagonal, plus_adjoint(f_v))
        found = matmul(u, matmul(core, v1, adjoint_b=True))
        if m == n:
            return found
        turned = array.matrix_transpose(grad_v1)
        outside = turned - matmul(matmul(turned, v1), v1, adjoint_b=True)
        if full:
            v2, grad_v2 = v[..., :, m:n], grad_v[..., :, m:n]
            outside -= matmul(matmul(v1, grad_v2, adjoint_a=True), v2, adjoint_b=True)
        return found + matmul(matmul(u, inverse), outside)


# ---- functions of a matrix --------------------------------------------------------------------


def _of_matrix(x: Array, function: Callable[[Array], Array]) -> Array:
    """A function of square matrices by SciPy in the dtype of `x`; NaN if it has no such value."""
    check_square(x)
    if 0 in x.shape:
        return x

    def one(matrix: Array) -> Array:
        found = function(matrix)
        if np.iscomplexobj(x):
            return found
        return (
            np.real(found) if np.isrealobj(found) or not found.imag.any() else found.real * np.nan
        )

    return each_matrix(one, wide(x)).astype(x.dtype)


@matrix_op(
    "MatrixSquareRoot",
    inputs="input: T",
    outputs="output: T",
    attrs=f"T: {MATRICES}",
    shape=square_shape,
    traits=HOST,
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


@matrix_op(
    "MatrixLogarithm",
    inputs="input: T",
    outputs="output: T",
    attrs="T: {complex64, complex128}",
    shape=square_shape,
    traits=HOST,
)
def matrix_logarithm_(xp: Any, input: Array) -> Array:
    from scipy.linalg import logm

    def logarithm(matrix: Array) -> Array:
        if not np.isfinite(matrix).all():  # SciPy would take roots of it for ever
            return np.full(matrix.shape, complex(np.nan, np.nan))
        # In double precision, where SciPy is content with its own estimate of the error.
        found: Array = logm(matrix.astype(np.complex128))
        return found

    return _of_matrix(input, logarithm)


@matrix_op(
    "MatrixExponential",
    inputs="input: T",
    outputs="output: T",
    attrs=f"T: {MATRICES}",
    shape=square_shape,
    traits=HOST | DEPRECATED,
)
def matrix_exponential_(xp: Any, input: Array) -> Array:
    from scipy.linalg import expm

    return _of_matrix(input, expm)
