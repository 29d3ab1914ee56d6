"""tf.contrib.solvers.util: linear operators, norms, and the loop that the solvers share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from weft.core import dtypes
from weft.graph.constant import constant
from weft.graph.graph import Tensor
from weft.ops.array import array
from weft.ops.control.while_loop import while_loop
from weft.ops.math import casts, math, matmul, reduce, unary
from weft.ops.nn.activations import l2_loss


class LinearOperator(NamedTuple):
    """A matrix as what it does to vectors."""

    shape: Any
    dtype: Any
    apply: Callable[[Any], Tensor]
    apply_adjoint: Callable[[Any], Tensor]


def _shape(matrix: Any) -> Any:
    shape = matrix.get_shape()
    return shape.as_list() if shape.is_fully_defined() else array.shape(matrix)


def create_operator(matrix: Any) -> LinearOperator:
    """The operator of a matrix."""
    return LinearOperator(
        _shape(matrix),
        matrix.dtype,
        lambda v: matmul.matmul(matrix, v),
        lambda v: matmul.matmul(matrix, v, adjoint_a=True),
    )


def identity_operator(matrix: Any) -> LinearOperator:
    """The operator that gives vectors of the size of a matrix back."""
    return LinearOperator(_shape(matrix), matrix.dtype, lambda v: v, lambda v: v)


def dot(x: Any, y: Any) -> Tensor:
    """The inner product of two vectors."""
    return reduce.reduce_sum(casts.conj(x) * y)


def l2norm_squared(v: Any) -> Tensor:
    """The square of the length of a vector."""
    half: Tensor = l2_loss(v)
    return constant(2, dtype=half.dtype) * half


def l2norm(v: Any) -> Tensor:
    """The length of a vector."""
    square = l2norm_squared(v)
    return unary.sqrt(square)


def l2normalize(v: Any) -> tuple[Tensor, Tensor]:
    """(a vector of length 1 in the direction of another, the length of that)."""
    length = l2norm(v)
    return math.divide(v, length), length


class SolverState(NamedTuple):
    """A solver's state: steps, solution, residual, direction, and the square it makes smaller."""

    i: Any
    x: Any
    r: Any
    p: Any
    gamma: Any


def iterate(
    start: SolverState,
    goes_on: Callable[[SolverState], Tensor],
    step: Callable[[SolverState], SolverState],
    max_iter: int,
) -> SolverState:
    """The state of a solver at its end, with vectors in place of columns."""
    first = constant(0, dtype=dtypes.int32)
    _, end = while_loop(
        lambda i, state: math.logical_and(i < max_iter, goes_on(state)),
        lambda i, state: (i + 1, step(state)._replace(i=i + 1)),
        [first, start._replace(i=first)],
    )
    columns = {name: array.squeeze(getattr(end, name)) for name in ("x", "r", "p")}
    return end._replace(**columns)
