"""Optimizers with a second player, who weighs the constraints so that they are kept."""

from __future__ import annotations

import abc
import math as numbers
from collections.abc import Callable
from typing import Any

from weft.core import dtypes
from weft.graph.constant import constant
from weft.graph.graph import colocate_with, control_dependencies
from weft.graph.tensor import Tensor
from weft.lib.contrib.constrained_optimization.problems import ConstrainedOptimizer
from weft.lib.train.optimizers.optimizer import Optimizer
from weft.ops.array import array, fill
from weft.ops.array.join import concat
from weft.ops.control.control import group
from weft.ops.control.while_loop import while_loop
from weft.ops.linalg.linalg import norm
from weft.ops.math import casts, math, reduce, unary
from weft.ops.math.matmul import matmul
from weft.ops.state.updates import assign, assign_add
from weft.ops.state.variables import Variable


def _check_type(values: Tensor) -> None:
    if not values.dtype.is_floating:
        raise ValueError("multipliers must have a floating-point dtype")


def _fixed_shape(values: Tensor, label: str, rank: int) -> list[Any]:
    """The sizes of a tensor that must be known to be of a rank."""
    _check_type(values)
    shape = values.get_shape()
    if shape.ndims is None:
        raise ValueError(f"{label} must have known shape")
    if shape.ndims != rank:
        wanted = ("one", "two")[rank - 1]
        is_now = f"(instead is {shape.ndims}-dimensional)"
        raise ValueError(f"{label} must be {wanted} dimensional {is_now}")
    if not shape.is_fully_defined():
        raise ValueError(f"{label} must have fully-known shape")
    return shape.as_list()


def _projected(values: Tensor, most: int, shift: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    """Moves the positive elements by `shift`, and drops those below zero, until none are."""

    def step(i: Any, values: Tensor, free: Tensor, _: Tensor) -> tuple[Any, ...]:
        values = values + shift(values, free) * free
        still = casts.cast(values > 0, values.dtype)
        return i + 1, values * still, still, free

    def is_changing(i: Tensor, _: Tensor, free: Tensor, before: Tensor) -> Tensor:
        return math.logical_and(i < most, reduce.reduce_any(math.not_equal(free, before)))

    ones = fill.ones_like(values)
    first = step(constant(0), values, ones, ones)
    return while_loop(is_changing, step, first, name="euclidean_projection")[1]


def _project_multipliers_wrt_euclidean_norm(multipliers: Tensor, radius: float) -> Tensor:
    """The nearest vector of no negative elements whose sum is at most `radius`."""
    (count,) = _fixed_shape(multipliers, "multipliers", 1)

    def shift(values: Tensor, free: Tensor) -> Tensor:
        excess = radius - reduce.reduce_sum(values)
        return math.minimum(0.0, excess / math.maximum(1.0, reduce.reduce_sum(free)))

    return _projected(multipliers, count, shift)


def _project_stochastic_matrix_wrt_euclidean_norm(matrix: Tensor) -> Tensor:
    """The nearest matrix of no negative elements whose columns have the sum one."""
    rows, columns = _fixed_shape(matrix, "matrix", 2)
    if rows != columns:
        raise ValueError(f"matrix must be square (instead has shape ({rows},{columns}))")

    def shift(values: Tensor, free: Tensor) -> Tensor:
        sums, counts = (reduce.reduce_sum(each, 0, keepdims=True) for each in (values, free))
        return (1.0 - sums) / math.maximum(1.0, counts)

    return _projected(matrix, rows, shift)


def _project_log_stochastic_matrix_wrt_kl_divergence(log_matrix: Tensor) -> Tensor:
    """Logarithms of a matrix, each column scaled to the sum one."""
    lowered = log_matrix - reduce.reduce_max(log_matrix, 0, keepdims=True)
    return lowered - reduce.reduce_logsumexp(lowered, 0, keepdims=True)


def _maximal_eigenvector_power_method(
    matrix: Tensor, epsilon: float = 1e-6, maximum_iterations: int = 100
) -> Tensor:
    """The eigenvector of the largest eigenvalue, by repeated products."""
    _check_type(matrix)
    for name, value in (("epsilon", epsilon), ("maximum_iterations", maximum_iterations)):
        if value <= 0:
            raise ValueError(f"{name} must be strictly positive")

    def step(i: Any, vector: Tensor, _: Tensor) -> tuple[Any, ...]:
        product = matmul(matrix, array.expand_dims(vector, 1))[:, 0]
        return i + 1, product / norm(product), vector

    def is_changing(i: Tensor, vector: Tensor, before: Tensor) -> Tensor:
        return math.logical_and(i < maximum_iterations, norm(vector - before) > epsilon)

    ones = fill.ones_like(matrix[:, 0])
    start = ones / norm(ones)
    return while_loop(is_changing, step, step(constant(0), start, start), name="power_method")[1]


class _Player(ConstrainedOptimizer):
    """Minimizes a sum of objective and constraints, weighted by a state that a player changes.

    `constraint_optimizer` changes the state; without one, the optimizer of the objective does.
    """

    state_name = ""

    def __init__(self, optimizer: Any, constraint_optimizer: Any = None) -> None:
        super().__init__(optimizer)
        self._constraint_optimizer = constraint_optimizer

    @property
    def constraint_optimizer(self) -> Any:
        """The optimizer of the player's state."""
        return self._constraint_optimizer

    @abc.abstractmethod
    def _initial_state(self, num_constraints: int) -> Tensor:
        """The state before the first step."""

    @abc.abstractmethod
    def _game(self, state: Any, costs: tuple[Tensor, Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        """The weighted sum of (objective, constraints, proxies), and the state's gradient."""

    @abc.abstractmethod
    def _allowed(self, state: Any) -> Tensor:
        """The allowed state that is nearest to a state."""

    def _projection_op(self, state: Any, name: str | None = None) -> Any:
        with colocate_with(state):
            return assign(state, self._allowed(state), name=name)

    def _minimize_constrained(  # type: ignore[override]
        self, minimization_problem: Any, global_step: Any = None, name: str | None = None,
        **options: Any,
    ) -> Any:  # fmt: skip
        costs = _costs(minimization_problem)
        count = minimization_problem.num_constraints
        state = Variable(lambda: self._initial_state(count), trainable=False, name=self.state_name)
        loss, gradient = self._game(state, costs)
        options.setdefault("gate_gradients", Optimizer.GATE_OP)
        pairs = self.optimizer.compute_gradients(loss, **options)
        with control_dependencies(self._updates(pairs, (-gradient, state))):
            if global_step is None:
                return self._projection_op(state, name)
            projection = self._projection_op(state, "project")
            with colocate_with(global_step):
                counted = assign_add(global_step, 1, name="global_step_increment")
            return group(projection, counted, name=name)

    def _updates(self, pairs: list[Any], own: tuple[Tensor, Any]) -> list[Any]:
        """Both players' moves, neither of which sees the other's."""
        moves = [(self.optimizer, "update", [*pairs, own])]
        seen: list[Any] = []
        if self.constraint_optimizer is not None:
            moves = [
                (self.optimizer, "update", pairs),
                (self.constraint_optimizer, "optimizer_state_update", [own]),
            ]
            seen = [pair[0] for pair in (*pairs, own) if pair[0] is not None]
        with control_dependencies(seen):
            return [by.apply_gradients(each, name=name) for by, name, each in moves]


def _costs(problem: Any) -> tuple[Tensor, Tensor, Tensor]:
    """Objective, constraints and what is differentiated for them, the last two as vectors."""
    objective, constraints = problem.objective, problem.constraints
    proxies = constraints if problem.proxy_constraints is None else problem.proxy_constraints
    if len({each.dtype.base_dtype for each in (objective, constraints, proxies)}) > 1:
        said = "objective, constraints and proxy_constraints must have the same dtype"
        raise ValueError(said)
    shape = (problem.num_constraints,)
    return objective, array.reshape(constraints, shape), array.reshape(proxies, shape)


def _dot(weights: Tensor, values: Tensor) -> Tensor:
    return reduce.reduce_sum(casts.cast(weights, values.dtype) * values)


class AdditiveExternalRegretOptimizer(_Player):
    """A player whose state is the factors of the constraints, Lagrange's multipliers.

    Their sum is at most `maximum_multiplier_radius`.
    """

    state_name = "external_regret_optimizer_state"

    def __init__(
        self,
        optimizer: Any,
        constraint_optimizer: Any = None,
        maximum_multiplier_radius: float | None = None,
    ) -> None:
        super().__init__(optimizer, constraint_optimizer)
        if maximum_multiplier_radius and maximum_multiplier_radius <= 0.0:
            raise ValueError("maximum_multiplier_radius must be strictly positive")
        self._radius = maximum_multiplier_radius

    def _initial_state(self, num_constraints: int) -> Tensor:
        return fill.zeros((num_constraints,), dtype=dtypes.float32)

    def _game(self, state: Any, costs: tuple[Tensor, Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        objective, constraints, proxies = costs
        factors = self._lagrange_multipliers(state)
        loss = objective + _dot(factors, proxies)
        return loss, casts.cast(constraints, factors.dtype.base_dtype)

    def _lagrange_multipliers(self, state: Any) -> Any:
        return state

    def _allowed(self, state: Any) -> Tensor:
        if self._radius:
            return _project_multipliers_wrt_euclidean_norm(state, self._radius)
        return math.maximum(state, 0.0)


class _SwapPlayer(_Player):
    """A player whose state is a matrix; its eigenvector weighs the objective and constraints."""

    state_name = "swap_regret_optimizer_state"

    def _stochastic_matrix(self, state: Any) -> Tensor:
        return state

    def _distribution(self, state: Any) -> Tensor:
        sizes = math.abs(_maximal_eigenvector_power_method(self._stochastic_matrix(state)))
        return sizes / reduce.reduce_sum(sizes)

    def _game(self, state: Any, costs: tuple[Tensor, Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        objective, constraints, proxies = costs
        weights = self._distribution(state)
        loss = _dot(weights, concat([array.expand_dims(objective, 0), proxies], 0))
        violations = concat([fill.zeros((1,), constraints.dtype), constraints], 0)
        column = array.expand_dims(casts.cast(violations, weights.dtype), 1)
        return loss, matmul(column, array.expand_dims(weights, 0))


def _first_row(first: float, others: float, size: int) -> Tensor:
    """A square matrix with one value in its first row, and another everywhere else."""
    rows = [[first] * size, *([others] * size for _ in range(size - 1))]
    return constant(rows, dtypes.float32)


class AdditiveSwapRegretOptimizer(_SwapPlayer):
    """A player whose matrix has columns of the sum one, changed by addition."""

    def _initial_state(self, num_constraints: int) -> Tensor:
        return _first_row(1.0, 0.0, num_constraints + 1)

    def _allowed(self, state: Any) -> Tensor:
        return _project_stochastic_matrix_wrt_euclidean_norm(state)


class MultiplicativeSwapRegretOptimizer(_SwapPlayer):
    """A player whose state is the logarithm of such a matrix, which is changed by factors."""

    def __init__(
        self,
        optimizer: Any,
        constraint_optimizer: Any = None,
        minimum_multiplier_radius: float = 1e-3,
        initial_multiplier_radius: float | None = None,
    ) -> None:
        super().__init__(optimizer, constraint_optimizer)
        least, first = minimum_multiplier_radius, initial_multiplier_radius
        if not 0.0 < least < 1.0:
            raise ValueError("minimum_multiplier_radius must be in the range (0,1)")
        if first is not None and first < least:
            allowed = "[minimum_multiplier_radius,1]"
            raise ValueError(f"initial_multiplier_radius must be in the range {allowed}")
        self._least, self._first = least, least if first is None else first

    def _initial_state(self, num_constraints: int) -> Tensor:
        size = num_constraints + 1
        rest = self._first / size
        return _first_row(numbers.log(1.0 - rest * (size - 1)), numbers.log(rest), size)

    def _stochastic_matrix(self, state: Any) -> Tensor:
        return unary.exp(state)

    def _allowed(self, state: Any) -> Tensor:
        size = state.get_shape().as_list()[0]
        least = numbers.log(self._least / size)
        return math.maximum(_project_log_stochastic_matrix_wrt_kl_divergence(state), least)
