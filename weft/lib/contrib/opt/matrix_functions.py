"""Roots of symmetric matrices, by iterations that only multiply."""

from __future__ import annotations

from typing import Any

from weft.graph.graph import Tensor
from weft.ops.control.while_loop import while_loop
from weft.ops.linalg.linalg import norm
from weft.ops.linalg.matrices import eye
from weft.ops.math import math


def matrix_square_root(
    mat_a: Any, mat_a_size: int, iter_count: int = 100, ridge_epsilon: float = 1e-4
) -> Tensor:
    """The square root of a positive semidefinite matrix, by coupled Newton steps.

    The steps go on while they come closer; the one before the last is returned.

    Args:
        mat_a: the matrix.
        mat_a_size: its number of rows.
        iter_count: how many steps at most.
        ridge_epsilon: added to the diagonal.
    """
    identity = eye(int(mat_a_size))
    mat_a = mat_a + ridge_epsilon * identity
    length = math.sqrt(math.reduce_sum(mat_a * mat_a))
    scale = math.sqrt(length)

    def distance(root: Any) -> Tensor:
        """How far the square of a root is from the matrix, in parts of its length."""
        off = mat_a - math.matmul(root * scale, root * scale)
        return math.sqrt(math.reduce_sum(math.square(off))) / length

    def is_closer(i: Any, root: Any, before: Any, inverse: Any, error: Any, last: Any) -> Tensor:
        return math.logical_and(i < iter_count, error < last)

    def step(i: Any, root: Any, before: Any, inverse: Any, error: Any, last: Any) -> Any:
        factor = 1.5 * identity - 0.5 * math.matmul(inverse, root)
        new = math.matmul(root, factor)
        return i + 1, new, root, math.matmul(factor, inverse), distance(new), error

    start = mat_a / length
    found = while_loop(is_closer, step, [0, start, start, identity, length, length + 1.0])
    return found[2] * scale


def matrix_inverse_pth_root(
    mat_g: Any,
    mat_g_size: int,
    alpha: float,
    iter_count: int = 100,
    epsilon: float = 1e-6,
    ridge_epsilon: float = 1e-6,
) -> Tensor:
    """A positive semidefinite matrix to the power `alpha` = -1/p, by Schur and Newton.

    Args:
        mat_g: the matrix.
        mat_g_size: its number of rows.
        alpha: -1/p for a whole number p.
        iter_count: how many steps at most.
        epsilon: how far from the identity the residual may be at the end.
        ridge_epsilon: added to the diagonal.
    """
    if int(mat_g_size) == 1:
        return math.pow(mat_g + ridge_epsilon, alpha)
    identity = eye(int(mat_g_size))
    damped = mat_g + ridge_epsilon * identity
    scale = (1 - 1 / alpha) / (2 * norm(damped))

    def is_far(i: Any, residual: Any, root: Any) -> Tensor:
        off = math.reduce_max(math.abs(residual - identity))
        return math.logical_and(i < iter_count, off > epsilon)

    def step(i: Any, residual: Any, root: Any) -> Any:
        factor = (1 - alpha) * identity + alpha * residual
        power = _power(factor, round(-1.0 / alpha))
        return i + 1, math.matmul(power, residual), math.matmul(root, factor)

    start = [0, damped * scale, identity * math.pow(scale, -alpha)]
    return while_loop(is_far, step, start)[2]


def _power(matrix: Any, exponent: int) -> Any:
    """The product of `exponent` times the same matrix, by squares."""
    if exponent == 1:
        return matrix
    half = _power(math.matmul(matrix, matrix), exponent // 2)
    return math.matmul(matrix, half) if exponent % 2 else half
