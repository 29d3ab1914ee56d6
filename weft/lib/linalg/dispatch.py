"""Public functions of matrices that take linear operators as well."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

from weft.graph.tensor import Tensor
from weft.lib.linalg.base import LinearOperator
from weft.lib.linalg.util import adjoint_if
from weft.ops.array.diag import matrix_diag_part as _diag_part
from weft.ops.linalg import linalg, matrices
from weft.ops.math import math

F = TypeVar("F", bound=Callable[..., Any])


def _also_for_operators(function: F) -> Callable[[Callable[..., Any]], F]:
    """`function`, except that arguments with a linear operator among them go to the decorated."""

    def with_method(method: Callable[..., Any]) -> F:
        @functools.wraps(function)
        def either(*args: Any, **kwargs: Any) -> Any:
            for value in (*args, *kwargs.values()):
                # Of an abstract class, `isinstance` takes as long as a small product.
                if not isinstance(value, Tensor) and isinstance(value, LinearOperator):
                    return method(*args, **kwargs)
            return function(*args, **kwargs)

        either.__module__ = __name__  # where `pickle` looks for it
        return cast(F, either)

    return with_method


@_also_for_operators(matrices.adjoint)
def adjoint(matrix: LinearOperator, name: Any = None) -> Any:
    return matrix.adjoint(name)


@_also_for_operators(linalg.cholesky)
def cholesky(input: LinearOperator, name: Any = None) -> Any:
    return input.cholesky(name)


@_also_for_operators(_diag_part)
def matrix_diag_part(
    input: LinearOperator, name: Any = "diag_part", k: Any = 0, padding_value: Any = 0
) -> Any:
    return input.diag_part(name)


@_also_for_operators(linalg.matrix_determinant)
def matrix_determinant(input: LinearOperator, name: Any = None) -> Any:
    return input.determinant(name)


@_also_for_operators(linalg.matrix_inverse)
def matrix_inverse(input: LinearOperator, adjoint: bool = False, name: Any = None) -> Any:
    inverse = input.inverse(name)
    return inverse.adjoint() if adjoint else inverse


@_also_for_operators(linalg.logdet)
def logdet(matrix: LinearOperator, name: Any = None) -> Any:
    if matrix.is_positive_definite and matrix.is_self_adjoint:
        return matrix.log_abs_determinant(name)
    raise ValueError("Expected matrix to be self-adjoint positive definite.")


@_also_for_operators(math.matmul)
def matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: Any = None,
) -> Any:
    if transpose_a or transpose_b:
        raise ValueError("Transposing not supported at this time.")
    if a_is_sparse or b_is_sparse:
        raise ValueError("Sparse methods not supported at this time.")
    if isinstance(a, LinearOperator):
        return a.matmul(b, adjoint=adjoint_a, adjoint_arg=adjoint_b, name=name)
    # A B = (B^H A^H)^H
    product = b.matmul(a, adjoint=not adjoint_b, adjoint_arg=not adjoint_a, name=name)
    return adjoint_if(True, product)


@_also_for_operators(linalg.matrix_solve)
def matrix_solve(matrix: Any, rhs: Any, adjoint: bool = False, name: Any = None) -> Any:
    if not isinstance(matrix, LinearOperator):
        raise ValueError(
            "Passing in `matrix` as a Tensor and `rhs` as a LinearOperator is not supported."
        )
    return matrix.solve(rhs, adjoint=adjoint, name=name)


@_also_for_operators(math.trace)
def trace(x: LinearOperator, name: Any = None) -> Any:
    return x.trace(name)
