"""tf.contrib.solvers.linear_equations: systems with a positive definite operator."""

from __future__ import annotations

from typing import Any

from weft.graph.graph import name_scope
from weft.lib.contrib.solvers.util import SolverState, dot, iterate
from weft.ops.array import array
from weft.ops.linalg.linalg import norm


def conjugate_gradient(
    operator: Any,
    rhs: Any,
    preconditioner: Any = None,
    x: Any = None,
    tol: float = 1e-4,
    max_iter: int = 20,
    name: str = "conjugate_gradient",
) -> SolverState:
    """`x` with `operator(x) = rhs`, until the residual is `tol` times the first or steps end."""

    def conditioned(residual: Any) -> Any:
        return residual if preconditioner is None else preconditioner.apply(residual)

    def step(state: SolverState) -> SolverState:
        image = operator.apply(state.p)
        length = state.gamma / dot(state.p, image)
        residual = state.r - length * image
        direction = conditioned(residual)
        gamma = dot(residual, direction)
        new = direction + gamma / state.gamma * state.p
        return SolverState(state.i, state.x + length * state.p, residual, new, gamma)

    with name_scope(name):
        column = array.expand_dims(rhs, -1)
        if x is None:
            start = array.expand_dims(array.zeros(operator.shape[1:], column.dtype.base_dtype), -1)
            residual = column
        else:
            start = array.expand_dims(x, -1)
            residual = column - operator.apply(start)
        direction = conditioned(residual)
        state = SolverState(0, start, residual, direction, dot(residual, direction))
        least = tol * norm(residual)
        return iterate(state, lambda state: norm(state.r) > least, step, max_iter)
