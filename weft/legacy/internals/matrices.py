"""Names of `tensorflow.python.ops.linalg.linear_operator_util`."""

from __future__ import annotations

from typing import Any

import weft as tf
from weft.lib.linalg.util import same_batches as broadcast_matrix_batch_dims
from weft.lib.linalg.util import shape_tensor as shape_tensor

__all__ = [
    "broadcast_matrix_batch_dims",
    "cholesky_solve_with_broadcast",
    "matrix_solve_with_broadcast",
    "matrix_triangular_solve_with_broadcast",
    "shape_tensor",
]


def _fitted(*given: Any) -> list[Any]:
    """A matrix and its right side as tensors of one type and of batches of one shape."""
    found: list[Any] = []
    for label, value in zip(("matrix", "rhs"), given, strict=True):
        dtype = found[0].dtype if found else None
        found.append(tf.convert_to_tensor(value, dtype, label))
    return broadcast_matrix_batch_dims(found)


def _solved(solve: Any, default: str, matrix: Any, rhs: Any, name: str | None, **given: Any) -> Any:
    with tf.name_scope(name, default, [matrix, rhs]):
        return solve(*_fitted(matrix, rhs), **given)


def matrix_solve_with_broadcast(
    matrix: Any, rhs: Any, adjoint: bool = False, name: str | None = None
) -> Any:
    """Solves systems whose batches fit each other."""
    solve, default = tf.linalg.solve, "MatrixSolveWithBroadcast"
    return _solved(solve, default, matrix, rhs, name, adjoint=adjoint)


def matrix_triangular_solve_with_broadcast(
    matrix: Any, rhs: Any, lower: bool = True, adjoint: bool = False, name: str | None = None
) -> Any:
    """Solves triangular systems whose batches fit each other."""
    solve, default = tf.linalg.triangular_solve, "MatrixTriangularSolve"
    return _solved(solve, default, matrix, rhs, name, lower=lower, adjoint=adjoint)


def cholesky_solve_with_broadcast(chol: Any, rhs: Any, name: str | None = None) -> Any:
    """Solves systems by their Cholesky factors, whose batches fit those of the right sides."""
    return _solved(tf.linalg.cholesky_solve, "CholeskySolveWithBroadcast", chol, rhs, name)
