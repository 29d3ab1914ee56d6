"""Linear algebra under TensorFlow's public names. The ops are declared in solve.py, decompose.py,
tridiagonal.py, diag.py and matmul.py; what is composed of them is defined here."""

from __future__ import annotations

from math import factorial
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.graph import shape_fn as s
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import Tensor, control_dependencies, name_scope
from weft.graph.op_def import raw
from weft.ops.array import array
from weft.ops.array.array import deprecated_alias, matrix_transpose
from weft.ops.array.diag import diag as tensor_diag
from weft.ops.array.diag import diag_part as tensor_diag_part
from weft.ops.array.diag import matrix_band_part, matrix_diag, matrix_diag_part, matrix_set_diag
from weft.ops.linalg import decompose  # noqa: F401  (decompose registers its ops)
from weft.ops.linalg.matrices import adjoint, eye
from weft.ops.linalg.solve import cholesky_solve, regularized_gramian_cholesky
from weft.ops.linalg.tridiagonal import tridiagonal_matmul, tridiagonal_solve
from weft.ops.math import math
from weft.ops.math.clip import global_norm
from weft.ops.math.indexing import where, where_v2
from weft.ops.math.math import cross, einsum, matmul, matvec, tensordot, trace

__all__ = [
    "adjoint", "band_part", "cholesky", "cholesky_solve", "cross", "det", "diag", "diag_part",
    "eigh", "eigvalsh", "einsum", "expm", "eye", "global_norm", "inv", "logdet", "logm", "lstsq",
    "lu", "matmul", "matrix_band_part", "matrix_determinant", "matrix_diag", "matrix_diag_part",
    "matrix_exponential", "matrix_inverse", "matrix_logarithm", "matrix_rank", "matrix_set_diag",
    "matrix_solve", "matrix_solve_ls", "matrix_square_root", "matrix_transpose",
    "matrix_triangular_solve", "matvec", "norm", "normalize", "pinv", "qr", "self_adjoint_eig",
    "self_adjoint_eigvals", "set_diag", "slogdet", "solve", "sqrtm", "svd", "tensor_diag",
    "tensor_diag_part", "tensordot", "trace", "transpose", "triangular_solve",
    "tridiagonal_matmul", "tridiagonal_solve",
]  # fmt: skip


# ---- functions of one op ----------------------------------------------------------------------


def cholesky(input: Any, name: str | None = None) -> Tensor:
    """The lower triangular L with L L^H = `input`, of which only the lower triangle is read."""
    return raw.Cholesky(input, name=name)


def matrix_determinant(input: Any, name: str | None = None) -> Tensor:
    """The determinants of square matrices."""
    return raw.MatrixDeterminant(input, name=name)


def slogdet(input: Any, name: str | None = None) -> Any:
    """(sign, log |determinant|) of square matrices."""
    return raw.LogMatrixDeterminant(input, name=name)


def matrix_inverse(input: Any, adjoint: bool = False, name: str | None = None) -> Tensor:
    """The inverses of square matrices, or of their adjoints."""
    return raw.MatrixInverse(input, adjoint, name=name)


def matrix_solve(matrix: Any, rhs: Any, adjoint: bool = False, name: str | None = None) -> Tensor:
    """X with `matrix` X = `rhs`, or with the adjoint of `matrix`."""
    return raw.MatrixSolve(matrix, rhs, adjoint, name=name)


def matrix_triangular_solve(
    matrix: Any, rhs: Any, lower: bool = True, adjoint: bool = False, name: str | None = None
) -> Tensor:
    """X with `matrix` X = `rhs`, reading only one triangle of `matrix`."""
    return raw.MatrixTriangularSolve(matrix, rhs, lower, adjoint, name=name)


def qr(input: Any, full_matrices: bool = False, name: str | None = None) -> Any:
    """(Q, R) with Q R = `input`, Q orthonormal and R upper triangular."""
    return raw.Qr(input, full_matrices, name=name)


def lu(input: Any, output_idx_type: Any = dtypes.int32, name: str | None = None) -> Any:
    """(both triangular factors in one matrix, the permutation of the rows)"""
    return raw.Lu(input, output_idx_type, name=name)


def matrix_square_root(input: Any, name: str | None = None) -> Tensor:
    """R with R R = `input`."""
    return raw.MatrixSquareRoot(input, name=name)


def matrix_logarithm(input: Any, name: str | None = None) -> Tensor:
    """The logarithms of complex matrices, inverse to the matrix exponential."""
    return raw.MatrixLogarithm(input, name=name)


def self_adjoint_eig(tensor: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """(eigenvalues in ascending order, eigenvectors in columns) of self-adjoint matrices."""
    e, v = raw.SelfAdjointEigV2(tensor, compute_v=True, name=name)
    return e, v


def self_adjoint_eigvals(tensor: Any, name: str | None = None) -> Tensor:
    """The eigenvalues of self-adjoint matrices in ascending order."""
    return raw.SelfAdjointEigV2(tensor, compute_v=False, name=name)[0]


def svd(
    tensor: Any, full_matrices: bool = False, compute_uv: bool = True, name: str | None = None
) -> Any:
    """(s, U, V) with U diag(s) V^H = `tensor` and s in descending order, or s alone."""
    values, u, v = raw.Svd(tensor, compute_uv=compute_uv, full_matrices=full_matrices, name=name)
    return (math.real(values), u, v) if compute_uv else math.real(values)


# ---- composed ---------------------------------------------------------------------------------


def logdet(matrix: Any, name: str | None = None) -> Tensor:
    """The logarithm of the determinant of a Hermitian positive definite matrix."""
    with name_scope(name, "logdet", [matrix]):
        logs = math.log(math.real(matrix_diag_part(raw.Cholesky(matrix))))
        return 2.0 * math.reduce_sum(logs, [-1])


# Above this size a batch of small matrices is better solved matrix by matrix than stage by stage.
_CACHE_BYTES = 256_000


def _solve_in_stages(matrix: Tensor, fast: bool) -> bool:
    if not fast or not s.known(matrix.dims):
        return fast
    assert matrix.dims is not None
    size = (s.size(matrix.dims) or 0) * matrix.dtype.size
    many = (s.size(matrix.dims[:-2]) or 0) > min(matrix.dims[-2:])  # type: ignore[type-var, operator]
    return not (size > _CACHE_BYTES and many)


def matrix_solve_ls(
    matrix: Any,
    rhs: Any,
    l2_regularizer: Any = 0.0,
    fast: bool = True,
    name: str | None = None,
) -> Tensor:
    """X that minimizes |`matrix` X - `rhs`|^2 + l2 |X|^2; the smallest one if there are many.

    `fast` solves the normal equations; otherwise rank-deficient matrices are allowed too, and
    `l2_regularizer` is ignored.
    """
    matrix = convert_to_tensor(matrix, name="matrix")
    if matrix.dtype == dtypes.complex128 and l2_regularizer != 0:
        raise NotImplementedError(
            "matrix_solve_ls is currently disabled for complex128 and l2_regularizer != 0 due to"
            " poor accuracy."
        )
    if not _solve_in_stages(matrix, fast):
        return raw.MatrixSolveLs(matrix, rhs, l2_regularizer, fast=fast, name=name)

    def tall() -> Tensor:
        factor = regularized_gramian_cholesky(matrix, l2_regularizer, first_kind=True)
        return cholesky_solve(factor, matmul(matrix, rhs, adjoint_a=True))

    def wide() -> Tensor:
        factor = regularized_gramian_cholesky(matrix, l2_regularizer, first_kind=False)
        return matmul(matrix, cholesky_solve(factor, rhs), adjoint_a=True)

    with name_scope(name, "matrix_solve_ls", [matrix, rhs, l2_regularizer]):
        sides = None if matrix.dims is None else matrix.dims[-2:]
        if s.known(sides):
            return tall() if sides[0] >= sides[1] else wide()  # type: ignore[index, operator]
        from weft.ops.control import control_flow

        shape = array.shape(matrix)[-2:]
        return control_flow.cond(shape[-2] >= shape[-1], tall, wide)


# ---- norms ------------------------------------------------------------------------------------

_MATRIX_NORMS = ["euclidean", "fro", 1, 2, np.inf]
_WRONG_AXIS = "'axis' must be None, an integer, or a tuple of 2 unique integers"


def _norm_axes(ord: Any, axis: Any) -> tuple[Any, bool]:
    """(axes as a tuple or None, whether they span matrices)"""
    if isinstance(axis, tuple | list) and len(axis) == 2:
        if not all(isinstance(a, int) for a in axis) or axis[0] == axis[1]:
            raise ValueError(_WRONG_AXIS)
        if ord not in _MATRIX_NORMS:
            raise ValueError(f"'ord' must be a supported matrix norm in {_MATRIX_NORMS}, got {ord}")
        return tuple(axis), True
    if not (axis is None or isinstance(axis, int)):
        raise ValueError(_WRONG_AXIS)
    named = ord == "euclidean"
    if not named and (isinstance(ord, str) or not np.isreal(ord) or ord <= 0):
        raise ValueError(f"'ord' must be a supported vector norm, got {ord}")
    return None if axis is None else (axis,), False


def norm(
    tensor: Any,
    ord: Any = "euclidean",
    axis: Any = None,
    keepdims: bool | None = None,
    name: str | None = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """The norm of vectors (`axis` an int), matrices (two axes) or of all elements (None).

    Args:
        tensor: a tensor of numbers.
        ord: "euclidean", "fro", 1, 2, `np.inf` or another positive number.
        axis: see above.
        keepdims: whether reduced dimensions stay, with size 1.
        name: of the operation.
        keep_dims: an older name of `keepdims`.

    Returns:
        A tensor of the same type.

    Raises:
        ValueError: the norm is not one of these, or does not go with `axis`.

    Example:
        >>> session.run(tf.norm([[3.0, 4.0], [6.0, 8.0]], axis=1))
        array([ 5., 10.], dtype=float32)
    """
    keepdims = deprecated_alias("keepdims", keepdims, "keep_dims", keep_dims) or False
    axes, is_matrix = _norm_axes(ord, axis)
    with name_scope(name, "norm", [tensor]):
        tensor = convert_to_tensor(tensor)
        if ord == 2 and is_matrix:
            result = _spectral_norm(tensor, axes)
        elif ord in ("fro", "euclidean", 2):
            result = math.sqrt(math.reduce_sum(tensor * math.conj(tensor), axes, keepdims=True))
        else:
            result = _absolute_norm(math.abs(tensor), ord, axes, is_matrix)
        return result if keepdims else array.squeeze(result, axes)


def _absolute_norm(x: Tensor, ord: Any, axes: Any, is_matrix: bool) -> Tensor:
    if ord not in (1, np.inf):
        return math.pow(math.reduce_sum(math.pow(x, ord), axes, keepdims=True), 1.0 / ord)
    if not is_matrix:
        reduce = math.reduce_sum if ord == 1 else math.reduce_max
        return reduce(x, None if axes is None else axes[0], keepdims=True)
    summed, other = axes if ord == 1 else axes[::-1]
    return math.reduce_max(math.reduce_sum(x, summed, keepdims=True), other, keepdims=True)


def _spectral_norm(tensor: Tensor, axes: tuple[int, int]) -> Tensor:
    """The largest singular value over two axes, which are kept with size 1."""
    if tensor.dims is not None:
        count = len(tensor.dims)
        matrix = [a % count for a in axes]
        before: Any = [a for a in range(count) if a not in matrix] + matrix
        after: Any = np.argsort(before).tolist()
    else:
        rank = array.rank(tensor)
        wanted = array.stack([a if a >= 0 else a + rank for a in axes])
        others = array.setdiff1d(math.range(rank), wanted)[0]
        before = array.concat([others, wanted], axis=0)
        after = array.invert_permutation(before)
    values = raw.Svd(array.transpose(tensor, perm=before), compute_uv=False)[0]
    largest = math.reduce_max(math.abs(values), axis=-1, keepdims=True)
    return array.transpose(array.expand_dims(largest, axis=-1), perm=after)


def normalize(
    tensor: Any, ord: Any = "euclidean", axis: Any = None, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """(`tensor` divided by its norm, that norm with the axes kept)"""
    with name_scope(name, "normalize", [tensor]):
        x = convert_to_tensor(tensor)
        length = math.cast(norm(x, ord, axis, True), x.dtype)
        return x / length, length


# ---- the matrix exponential -------------------------------------------------------------------
# exp(A) = exp(A / 2^k)^(2^k), and for small matrices a Padé approximant: a quotient of polynomials,
# (V + U) / (V - U), with U the odd and V the even powers. Larger norms need higher degrees. The
# bounds are from N. Higham, "The scaling and squaring method for the matrix exponential revisited"
# (2005).

_SINGLE = {3: 4.258730016922831e-1, 5: 1.880152677804762, 7: 3.925724783138660}
_DOUBLE = {
    3: 1.495585217958292e-2, 5: 2.539398330063230e-1, 7: 9.504178996162932e-1,
    9: 2.097847961257068, 13: 5.371920351148152,
}  # fmt: skip


def _pade(matrix: Tensor, degree: int) -> tuple[Tensor, Tensor]:
    """The odd and the even part of the numerator."""
    b = [
        constant(
            float(factorial(2 * degree - j) // (factorial(j) * factorial(degree - j))), matrix.dtype
        )
        for j in range(degree + 1)
    ]
    shape = array.shape(matrix)
    powers = [eye(shape[-2], batch_shape=shape[:-2], dtype=matrix.dtype), matmul(matrix, matrix)]
    while len(powers) < min(degree, 9) // 2 + 1 and len(powers) < 4 + (degree == 9):
        powers.append(matmul(powers[-1], powers[1]))

    def polynomial(parity: int) -> Tensor:
        terms = [b[2 * i + parity] * power for i, power in enumerate(powers)]
        total = terms[0]
        for term in terms[1:]:
            total += term
        if degree == 13:
            high = [b[2 * i + 6 + parity] * powers[i] for i in (1, 2, 3)]
            total += matmul(powers[3], high[0] + high[1] + high[2])
        return total

    return matmul(matrix, polynomial(1)), polynomial(0)


def matrix_exponential(input: Any, name: str | None = None) -> Tensor:
    """The exponentials of square matrices."""
    with name_scope(name, "matrix_exponential", [input]):
        matrix = convert_to_tensor(input, name="input")
        whole = matrix.dims
        if whole is not None and whole[-2:] == (0, 0):
            return matrix
        shape = array.shape(matrix)
        matrix = array.reshape(matrix, array.concat(([-1], shape[-2:]), axis=0))
        result = _exponential(matrix)
        if s.known(whole):
            return array.reshape(result, whole)
        return array.reshape(result, shape)


def _exponential(matrix: Tensor) -> Tensor:
    """The exponentials of one row of square matrices."""
    if matrix.dtype in (dtypes.float16, dtypes.float32, dtypes.complex64):
        bounds = _SINGLE
    elif matrix.dtype in (dtypes.float64, dtypes.complex128):
        bounds = _DOUBLE
    else:
        raise ValueError(f"tf.linalg.expm does not support matrices of type {matrix.dtype}")
    size = math.reduce_max(math.reduce_sum(math.abs(matrix), axis=1), axis=-1)

    def like(x: float) -> Tensor:
        return constant(x, size.dtype)

    *small, highest = bounds
    halvings = math.maximum(
        math.floor(math.log(size / like(bounds[highest])) / math.log(like(2.0))), 0
    )
    scale = math.pow(constant(2.0, dtype=matrix.dtype), math.cast(halvings, matrix.dtype))
    odd, even = _pade(matrix / array.expand_dims(array.expand_dims(scale, -1), -1), highest)
    for degree in reversed(small):
        u, v = _pade(matrix, degree)
        fits = math.less(size, like(bounds[degree]))
        odd, even = where(fits, u, odd), where(fits, v, even)
    return _squared(raw.MatrixSolve(-odd + even, odd + even), halvings)


def _squared(result: Tensor, times: Tensor) -> Tensor:
    """Each matrix multiplied with itself as often as `times` says."""
    from weft.ops.control import control_flow

    most = math.reduce_max(times)

    def step(done: Tensor, power: Tensor) -> tuple[Tensor, Tensor]:
        return done + 1, where(math.less(done, times), matmul(power, power), power)

    start = constant(0.0, times.dtype), result
    _, power = control_flow.while_loop(lambda done, _: math.less(done, most), step, start)
    return power


# ---- rank and pseudo-inverse ------------------------------------------------------------------


def _checked_matrix(a: Any, validate_args: bool) -> Tensor:
    if not a.dtype.is_floating:
        raise TypeError(f"Input `a` must have `float`-like `dtype` (saw {a.dtype.name}).")
    message = "Input `a` must have at least 2 dimensions"
    if a.dims is not None:
        if len(a.dims) < 2:
            raise ValueError(f"{message} (saw: {len(a.dims)}).")
        return a
    if not validate_args:
        return a
    from weft.ops.control import check

    with control_dependencies([check.assert_rank_at_least(a, 2, message=f"{message}.")]):
        return array.identity(a)


def _known_side(a: Tensor) -> int | None:
    """The larger of rows and columns, if both are known."""
    sides = (None,) if a.dims is None else a.dims[-2:]
    return None if None in sides else max(sides)  # type: ignore[type-var]


def matrix_rank(
    a: Any, tol: Any = None, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """How many singular values exceed `tol`."""
    with name_scope(name or "matrix_rank"):
        given = convert_to_tensor(a, dtype_hint=dtypes.float32, name="a")
        matrix = _checked_matrix(given, validate_args)
        values = svd(matrix, compute_uv=False)
        if tol is None:
            epsilon = float(np.finfo(matrix.dtype.as_numpy_dtype).eps)
            side: Any = _known_side(matrix)
            longest = math.reduce_max(array.shape(matrix)[-2:]) if side is None else np.int64(side)
            tol = epsilon * math.cast(longest, matrix.dtype)
            tol = tol * math.reduce_max(values, -1, keepdims=True)
        return math.reduce_sum(math.cast(values > tol, dtypes.int32), -1)


def pinv(a: Any, rcond: Any = None, validate_args: bool = False, name: str | None = None) -> Tensor:
    """The Moore-Penrose pseudo-inverse; singular values up to `rcond` times the largest are 0."""
    with name_scope(name or "pinv"):
        a = _checked_matrix(convert_to_tensor(a, name="a"), validate_args)
        if rcond is None:
            side: Any = _known_side(a)
            if side is None:
                rows, columns = (array.shape(a)[axis] for axis in (-2, -1))
                side = math.cast(math.maximum(rows, columns), a.dtype)
            rcond = 10.0 * side * float(np.finfo(a.dtype.as_numpy_dtype).eps)
        rcond = convert_to_tensor(rcond, dtype=a.dtype, name="rcond")
        values, u, v = svd(a, full_matrices=False, compute_uv=True)
        cutoff = array.expand_dims(rcond * math.reduce_max(values, axis=-1), -1)
        # Dividing by infinity gives the zero that is wanted, and no NaN in gradients.
        infinite = np.array(np.inf, a.dtype.as_numpy_dtype)
        values = where_v2(values > cutoff, values, infinite)
        found = matmul(v / array.expand_dims(values, -2), u, adjoint_b=True)
        if a.dims is not None:
            found.set_shape((*a.dims[:-2], a.dims[-1], a.dims[-2]))
        return found


# ---- the names of tf.linalg -------------------------------------------------------------------

band_part, diag, diag_part, set_diag = (
    matrix_band_part,
    matrix_diag,
    matrix_diag_part,
    matrix_set_diag,
)
det, inv, solve, triangular_solve = (
    matrix_determinant,
    matrix_inverse,
    matrix_solve,
    matrix_triangular_solve,
)
lstsq, sqrtm, logm, expm = (
    matrix_solve_ls,
    matrix_square_root,
    matrix_logarithm,
    matrix_exponential,
)
eigh, eigvalsh, transpose = self_adjoint_eig, self_adjoint_eigvals, matrix_transpose
