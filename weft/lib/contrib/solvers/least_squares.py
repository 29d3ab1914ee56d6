"""tf.contrib.solvers.least_squares: the nearest solution of a system that may have none."""

from __future__ import annotations

from typing import Any

from weft.graph.graph import name_scope
from weft.lib.contrib.solvers.util import SolverState, iterate, l2norm_squared
from weft.ops.array import array


def cgls(
    operator: Any, rhs: Any, tol: float = 1e-6, max_iter: int = 20, name: str = "cgls"
) -> SolverState:
    """`x` with the least length of `operator(x) - rhs`, by conjugate gradients."""

    def step(state: SolverState) -> SolverState:
        image = operator.apply(state.p)
        length = state.gamma / l2norm_squared(image)
        residual = state.r - length * image
        slope = operator.apply_adjoint(residual)
        gamma = l2norm_squared(slope)
        direction = slope + gamma / state.gamma * state.p
        return SolverState(state.i, state.x + length * state.p, residual, direction, gamma)

    with name_scope(name):
        column = array.expand_dims(rhs, -1)
        slope = operator.apply_adjoint(column)
        gamma = l2norm_squared(slope)
        start = array.expand_dims(array.zeros(operator.shape[1:], column.dtype.base_dtype), -1)
        state = SolverState(0, start, column, slope, gamma)
        least = tol * tol * gamma
        return iterate(state, lambda state: state.gamma > least, step, max_iter)
