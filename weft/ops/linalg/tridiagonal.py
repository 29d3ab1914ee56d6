"""Products and systems with tridiagonal matrices, which are kept as their three diagonals."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core import dtypes
from weft.graph import shape_fn as s
from weft.graph.by_library import by_library
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Operation, Tensor
from weft.graph.op_def import op, raw
from weft.ops.array import array
from weft.ops.array.array import invalid
from weft.ops.array.diag import matrix_diag_part
from weft.ops.kit.value_checks import must_hold
from weft.ops.linalg.matrices import check_system, each_matrix, must_be_finite
from weft.ops.math import math
from weft.ops.math.indexing import gather_nd

Array = Any
_TYPES = "{double, float, complex64, complex128}"


def _batch(dims: s.Dims) -> s.Dims:
    return None if dims is None else dims[:-2]


def _side(dims: s.Dims, axis: int) -> int | None:
    return None if dims is None else dims[axis]


# ---- product ----------------------------------------------------------------------------------


def _product_shape(c: s.ShapeContext) -> s.Dims:
    diagonals = [s.with_rank_at_least(c.dims(i), 2) for i in range(3)]
    rhs = s.with_rank_at_least(c.dims(3), 2)
    whole: s.Dims = None
    for dims in diagonals:
        whole = s.merge(whole, dims)
        s.merge(_batch(whole), _batch(rhs))
    s.merge_dim(_side(whole, -1), _side(rhs, -2))
    s.merge_dim(_side(whole, -2), 1)
    return rhs


@op(
    "TridiagonalMatMul",
    inputs="superdiag: T, maindiag: T, subdiag: T, rhs: T",
    outputs="output: T",
    attrs=f"T: {_TYPES}",
    shape=_product_shape,
)
def tridiagonal_mat_mul_(
    xp: Any, superdiag: Array, maindiag: Array, subdiag: Array, rhs: Array
) -> Array:
    for i, (what, x) in enumerate(
        (("superdiagonal", superdiag), ("maindiagonal", maindiag), ("subdiagonal", subdiag))
    ):
        if x.ndim < 2:
            raise invalid(f"Input tensor {i} must have rank >= 2, got {x.ndim}")
        if x.shape[-2:] != (1, rhs.shape[-2]) or x.shape[:-2] != rhs.shape[:-2]:
            raise invalid(f"{what.capitalize()} must have shape [1,{rhs.shape[-2]}].")
    above, middle, below = (xp.swapaxes(x, -1, -2) for x in (superdiag, maindiag, subdiag))
    row = xp.zeros_like(rhs[..., :1, :])
    next_rows = xp.concatenate([rhs[..., 1:, :], row], axis=-2)
    last_rows = xp.concatenate([row, rhs[..., :-1, :]], axis=-2)
    if rhs.shape[-2] == 0:
        return rhs
    # The last element above and the first below lie outside the matrix, whatever they hold.
    above = xp.concatenate([above[..., :-1, :], xp.zeros_like(above[..., :1, :])], axis=-2)
    below = xp.concatenate([xp.zeros_like(below[..., :1, :]), below[..., 1:, :]], axis=-2)
    return above * next_rows + middle * rhs + below * last_rows


def _shifted(x: Tensor, up: bool) -> Tensor:
    """The rows of matrices moved by one, with a row of zeros at the free end."""
    zeros = array.zeros((array.rank(x) - 2, 2), dtype=dtypes.int32)
    margin = array.concat([zeros, [[0, 1] if up else [1, 0], [0, 0]]], axis=0)
    return array.pad(x[..., 1:, :] if up else x[..., :-1, :], margin)


@tridiagonal_mat_mul_.gradient
def _(op: Operation, grad: Any) -> Any:
    above, middle, below = (array.matrix_transpose(x, conjugate=True) for x in op.inputs[:3])
    rhs = math.conj(op.inputs[3])

    def of_diagonal(rows: Tensor) -> Tensor:
        return array.expand_dims(math.reduce_sum(rows * grad, axis=-1), -2)

    grads = [of_diagonal(rows) for rows in (_shifted(rhs, True), rhs, _shifted(rhs, False))]
    moved = _shifted(above * grad, False) + middle * grad + _shifted(below * grad, True)
    return *grads, moved


# ---- system -----------------------------------------------------------------------------------


def _system_shape(c: s.ShapeContext) -> s.Dims:
    diagonals, rhs = s.with_rank_at_least(c.dims(0), 2), s.with_rank_at_least(c.dims(1), 2)
    s.merge(_batch(diagonals), _batch(rhs))
    s.merge_dim(_side(diagonals, -1), _side(rhs, -2))
    rows = _side(diagonals, -2)
    if rows is not None and rows != 3:
        raise ValueError(f"Dimension must be 3 but is {rows}")
    return rhs


_SINGULAR = {
    True: "The matrix is not invertible.",
    False: "The matrix is either not invertible, or requires pivoting. Try setting"
    " partial_pivoting = True.",
}


@op(
    "TridiagonalSolve",
    inputs="diagonals: T, rhs: T",
    outputs="output: T",
    attrs=f"partial_pivoting: bool = true, T: {_TYPES}",
    shape=_system_shape,
)
def tridiagonal_solve_(xp: Any, diagonals: Array, rhs: Array, *, partial_pivoting: bool) -> Array:
    check_system(xp.swapaxes(diagonals, -1, -2), rhs, False)
    if diagonals.shape[-2] != 3:
        raise invalid(
            "Expected diagonals to be provided as a matrix with 3 rows, got"
            f" {diagonals.shape[-2]} rows."
        )
    if 0 in rhs.shape:
        return rhs
    return _solve(xp, diagonals, rhs, partial_pivoting)


@by_library
def _solve(xp: Any, diagonals: Array, rhs: Array, partial_pivoting: bool) -> Array:
    if not partial_pivoting and diagonals.shape[-1] > 1:
        must_hold(_pivots_in_order(xp, diagonals) != 0)
    return must_be_finite(xp, _compiled(xp, diagonals, rhs))


def _pivots_in_order(xp: Any, diagonals: Array) -> Array:
    """What elimination divides by if no rows are exchanged, [rows, ...]."""
    from jax import lax

    above, middle, below = (xp.moveaxis(diagonals[..., i, :], -1, 0) for i in range(3))

    def following(pivot: Array, row: Any) -> Any:
        beside, own, under = row
        found = own - under * beside / pivot
        return found, found

    _, others = lax.scan(following, middle[0], (above[:-1], middle[1:], below[1:]))
    return xp.concatenate([middle[:1], others])


@_solve.numpy
def _(xp: Any, diagonals: Array, rhs: Array, partial_pivoting: bool) -> Array:
    solve = _pivoted if partial_pivoting else _eliminated
    return each_matrix(solve, diagonals, rhs).astype(rhs.dtype)


def _pivoted(diagonals: Array, rhs: Array) -> Array:
    above, middle, below = diagonals
    if middle.size == 1:
        if middle[0] == 0:
            raise invalid("The matrix is not invertible: it is a scalar with value zero.")
        return rhs / middle[0]
    from scipy.linalg import get_lapack_funcs

    (gtsv,) = get_lapack_funcs(("gtsv",), (middle, rhs))
    *_, x, info = gtsv(below[1:], middle, above[:-1], rhs)
    if info != 0:
        raise invalid(_SINGULAR[True])
    return x


def _eliminated(diagonals: Array, rhs: Array) -> Array:
    """Gaussian elimination in the given order: the Thomas algorithm."""
    above, middle, below = diagonals
    if middle.size == 1:
        return _pivoted(diagonals, rhs)
    ratio, x = np.zeros_like(middle), np.zeros_like(rhs)
    pivot = middle[0]
    for i in range(middle.size):
        if i:
            pivot = middle[i] - below[i] * ratio[i - 1]
        if pivot == 0:
            raise invalid(_SINGULAR[False])
        ratio[i] = above[i] / pivot
        x[i] = (rhs[i] - below[i] * x[i - 1]) / pivot if i else rhs[i] / pivot
    for i in range(middle.size - 2, -1, -1):
        x[i] -= ratio[i] * x[i + 1]
    return x


def _compiled(xp: Any, diagonals: Array, rhs: Array) -> Array:
    """Elimination with row exchanges, as a loop over the rows."""
    from jax import lax

    above, middle, below = (diagonals[..., i, :, None] for i in range(3))
    rows = middle.shape[-2]

    def row(x: Array, i: Any) -> Array:
        return lax.dynamic_index_in_dim(x, i, axis=-2, keepdims=False)

    def inside(value: Array, i: Any) -> Array:
        return xp.where(i < rows - 1, value, xp.zeros_like(value))

    def eliminate(carry: Any, i: Any) -> Any:
        # The upper factor has two diagonals above its own once rows are exchanged.
        pivot, beside, x = carry
        under, next_pivot = row(below, i + 1), row(middle, i + 1)
        next_beside, next_x = inside(row(above, i + 1), i + 1), row(rhs, i + 1)
        swap = xp.abs(pivot) < xp.abs(under)
        factor = xp.where(swap, pivot / under, under / pivot)
        kept = (
            xp.where(swap, under, pivot),
            xp.where(swap, next_pivot, beside),
            xp.where(swap, next_beside, xp.zeros_like(next_beside)),
            xp.where(swap, next_x, x),
        )
        rest = (
            xp.where(swap, beside - factor * next_pivot, next_pivot - factor * beside),
            xp.where(swap, -factor * next_beside, next_beside),
            xp.where(swap, x - factor * next_x, next_x - factor * x),
        )
        return rest, kept

    start = (row(middle, 0), inside(row(above, 0), 0), row(rhs, 0))
    (pivot, _, x), kept = lax.scan(eliminate, start, xp.arange(rows - 1))
    last = x / pivot

    def substitute(carry: Any, step: Any) -> Any:
        after, second = carry
        pivot, beside, further, x = step
        found = (x - beside * after - further * second) / pivot
        return (found, after), found

    _, others = lax.scan(substitute, (last, xp.zeros_like(last)), kept, reverse=True)
    return xp.moveaxis(xp.concatenate([others, last[None]], axis=0), 0, -2)


@tridiagonal_solve_.gradient
def _(op: Operation, grad: Any) -> Any:
    diagonals, x = op.inputs[0], op.outputs[0]
    pivoting = op.get_attr("partial_pivoting")
    grad_rhs = raw.TridiagonalSolve(_transposed(diagonals), grad, partial_pivoting=pivoting)
    products = (_shifted(x, True), x, _shifted(x, False))
    parts = [math.reduce_sum(grad_rhs * rows, axis=-1) for rows in products]
    return -array.stack(parts, axis=-2), grad_rhs


def _transposed(diagonals: Tensor) -> Tensor:
    """The diagonals of the transposed matrices."""
    zeros = array.zeros((array.rank(diagonals) - 2, 2), dtype=dtypes.int32)
    after, before = array.concat([zeros, [[0, 1]]], 0), array.concat([zeros, [[1, 0]]], 0)
    above = array.pad(diagonals[..., 2, 1:], after)
    below = array.pad(diagonals[..., 0, :-1], before)
    return array.stack([above, diagonals[..., 1, :], below], axis=-2)


# ---- public -----------------------------------------------------------------------------------


def tridiagonal_solve(
    diagonals: Any,
    rhs: Any,
    diagonals_format: str = "compact",
    transpose_rhs: bool = False,
    conjugate_rhs: bool = False,
    name: str | None = None,
    partial_pivoting: bool = True,
) -> Tensor:
    """Solves systems whose matrices have three diagonals, given in one of three formats."""
    if diagonals_format == "sequence":
        diagonals = _compact_from_sequence(diagonals)
    elif diagonals_format == "matrix":
        diagonals = _compact_from_matrix(diagonals)
    elif diagonals_format != "compact":
        raise ValueError(f"Unrecognized diagonals_format: {diagonals_format}")
    diagonals = convert_to_tensor(diagonals)
    rhs = convert_to_tensor(rhs, diagonals.dtype)
    _check_compact(diagonals, rhs)
    is_vector = len(rhs.shape) == len(diagonals.shape) - 1
    if is_vector:
        rhs = array.expand_dims(math.conj(rhs) if conjugate_rhs else rhs, -1)
    elif transpose_rhs:
        rhs = array.matrix_transpose(rhs, conjugate=conjugate_rhs)
    elif conjugate_rhs:
        rhs = math.conj(rhs)
    equations, sides = _size(diagonals, -1), _size(rhs, -2)
    if equations and sides and equations != sides:
        raise ValueError(
            "Expected number of left-hand sided and right-hand sides to be equal, got"
            f" {equations} and {sides}"
        )
    found = raw.TridiagonalSolve(diagonals, rhs, partial_pivoting, name=name)
    if is_vector:
        return array.squeeze(found, -1)
    return array.matrix_transpose(found) if transpose_rhs else found


def _size(x: Any, axis: int) -> int | None:
    return None if x.dims is None else x.dims[axis]


def _check_compact(diagonals: Any, rhs: Any) -> None:
    rank, rhs_rank = len(diagonals.shape), len(rhs.shape)
    if rank < 2:
        raise ValueError(f"Expected diagonals to have rank at least 2, got {rank}")
    if rhs_rank not in (rank, rank - 1):
        raise ValueError(f"Expected the rank of rhs to be {rank - 1} or {rank}, got {rhs_rank}")
    if _size(diagonals, -2) not in (None, 0, 3):
        raise ValueError(f"Expected 3 diagonals got {_size(diagonals, -2)}")
    batch, rhs_batch = diagonals.shape[:-2], rhs.shape[: rank - 2]
    if not batch.is_compatible_with(rhs_batch):
        raise ValueError(f"Batch shapes {batch} and {rhs_batch} are incompatible")


def _compact_from_sequence(diagonals: Any) -> Tensor:
    if not isinstance(diagonals, tuple | list) or len(diagonals) != 3:
        raise ValueError("Expected diagonals to be a sequence of length 3.")
    above, middle, below = diagonals
    batches = [x.shape[:-1] for x in (below, middle, above)]
    if not all(batch.is_compatible_with(batches[1]) for batch in batches):
        raise ValueError(
            "Tensors representing the three diagonals must have the same shape,except for the last"
            f" dimension, got {below.shape}, {middle.shape}, {above.shape}"
        )
    length = _size(middle, -1)

    def padded(x: Any, what: str, margin: list[int]) -> Any:
        found = _size(x, -1)
        if not found or length is None or found == length:
            return x
        if found != length - 1:
            raise ValueError(
                f"Expected {what} to be have length {length} or {length - 1}, got {found}."
            )
        return array.pad(x, [[0, 0]] * (len(x.shape) - 1) + [margin])

    below, above = padded(below, "subdiagonal", [1, 0]), padded(above, "superdiagonal", [0, 1])
    return array.stack((above, middle, below), axis=-2)


def _square_side(diagonals: Any) -> int:
    columns, rows = _size(diagonals, -1), _size(diagonals, -2)
    if columns and rows and columns != rows:
        raise ValueError(
            f"Expected last two dimensions of diagonals to be same, got {columns} and {rows}"
        )
    side = columns or rows
    if not side:
        raise ValueError('The size of the matrix needs to be known for diagonals_format="matrix"')
    return side


def _beside_diagonal(matrix: Any, side: int) -> tuple[Tensor, Tensor]:
    """The diagonals above and below the main one, both as long as it."""
    turned, last = array.transpose(matrix), range(side - 1)
    above = [[i + 1, i] for i in last] + [[0, 0]]
    below = [[0, 0]] + [[i, i + 1] for i in last]
    first, second = (array.transpose(gather_nd(turned, places)) for places in (above, below))
    return first, second


def _compact_from_matrix(matrix: Any) -> Tensor:
    above, below = _beside_diagonal(matrix, _square_side(matrix))
    return array.stack((above, matrix_diag_part(matrix), below), axis=-2)


def tridiagonal_matmul(
    diagonals: Any, rhs: Any, diagonals_format: str = "compact", name: str | None = None
) -> Tensor:
    """Multiplies matrices of three diagonals, given in one of three formats, with `rhs`."""
    if diagonals_format == "compact":
        above, middle, below = (diagonals[..., i, :] for i in range(3))
    elif diagonals_format == "sequence":
        above, middle, below = diagonals
    elif diagonals_format == "matrix":
        above, below = _beside_diagonal(diagonals, _square_side(diagonals))
        middle = matrix_diag_part(diagonals)
    else:
        raise ValueError(f"Unrecognized diagonals_format: {diagonals_format}")
    rows = [array.expand_dims(x, -2) for x in (above, middle, below)]
    return raw.TridiagonalMatMul(*rows, rhs, name=name)
