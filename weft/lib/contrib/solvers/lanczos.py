"""tf.contrib.solvers.lanczos: an operator as a matrix with two diagonals, between two bases."""

from __future__ import annotations

from typing import Any, NamedTuple

from weft.graph.graph import Tensor, name_scope
from weft.lib.contrib.solvers.util import l2normalize
from weft.ops.array import array, diag
from weft.ops.array.pad import pad
from weft.ops.math import matmul
from weft.ops.random.random import random_uniform


class LanczosBidiagState(NamedTuple):
    """Bases `u` and `v`, the diagonal `alpha` and the one below it, `beta`."""

    u: Any
    v: Any
    alpha: Any
    beta: Any


def _without(columns: list[Tensor], vector: Tensor) -> Tensor:
    """A vector without its part in the space of orthonormal columns; twice is enough."""
    basis = array.concat(columns, 1)
    for _ in range(2):
        vector -= matmul.matmul(basis, matmul.matmul(basis, vector, adjoint_a=True))
    return vector


def lanczos_bidiag(
    operator: Any,
    k: int,
    orthogonalize: bool = True,
    starting_vector: Any = None,
    name: str = "lanczos_bidiag",
) -> LanczosBidiagState:
    """`k` steps of Golub and Kahan's method: `operator(v) = u b`, `b` of `alpha` and `beta`."""
    with name_scope(name):
        rows = operator.shape[0]
        if starting_vector is None:
            starting_vector = random_uniform([rows], -1, 1, dtype=operator.dtype)
        first, _ = l2normalize(array.expand_dims(starting_vector, -1))
        u, v, alpha, beta = list[Tensor]([first]), list[Tensor](), list[Tensor](), list[Tensor]()
        for i in range(k):
            right = operator.apply_adjoint(u[i])
            if i:
                right -= beta[i - 1] * v[i - 1]
                right = _without(v, right) if orthogonalize else right
            unit, size = l2normalize(right)
            v.append(unit)
            alpha.append(size)
            left = operator.apply(unit) - size * u[i]
            left = _without(u, left) if orthogonalize else left
            unit, size = l2normalize(left)
            u.append(unit)
            beta.append(size)
        stacked = array.concat(u, 1), array.concat(v, 1), array.stack(alpha), array.stack(beta)
        return LanczosBidiagState(*stacked)


def bidiag_matmul(
    matrix: Any, alpha: Any, beta: Any, adjoint_b: bool = False, name: str = "bidiag_matmul"
) -> Tensor:
    """The product of a matrix and the one with the diagonals `alpha` and, below it, `beta`."""
    with name_scope(name):
        upper = pad(diag.diag(alpha), [[0, 1], [0, 0]])
        both = upper + pad(diag.diag(beta), [[1, 0], [0, 0]])
        if not adjoint_b:
            return matmul.matmul(matrix, both)
        return matmul.matmul(matrix, both[:-1], adjoint_b=True)  # the last column is left out
