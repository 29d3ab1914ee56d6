"""What is minimized under which constraints, and by what kind of optimizer."""

from __future__ import annotations

import abc
from typing import Any

from weft.graph.convert import convert_to_tensor
from weft.graph.graph import control_dependencies
from weft.graph.tensor import Tensor
from weft.ops.control.cond import cond
from weft.ops.math import casts


class ConstrainedMinimizationProblem(abc.ABC):
    """A scalar to minimize, and a tensor none of whose elements may be positive."""

    @property
    @abc.abstractmethod
    def objective(self) -> Tensor:
        """The scalar that is minimized."""

    @property
    @abc.abstractmethod
    def constraints(self) -> Tensor:
        """The values that may not be positive."""

    @property
    def proxy_constraints(self) -> Tensor | None:
        """Values to differentiate in the place of the constraints, which need no gradient then."""
        return None

    @property
    def pre_train_ops(self) -> list[Any] | None:
        """Operations that run before each step."""
        return None

    @property
    def num_constraints(self) -> int:
        """How many constraints there are."""
        both = (self.constraints, self.proxy_constraints)
        shapes = [each.get_shape() for each in both if each is not None]
        if not all(shape.is_fully_defined() for shape in shapes):
            raise ValueError("constraints and proxy_constraints must have fully-known shapes")
        if any(shape != shapes[0] for shape in shapes):
            raise ValueError("constraints and proxy_constraints must have the same shape")
        return int(shapes[0].num_elements() or 0)


class ConstrainedOptimizer(abc.ABC):
    """Applies an optimizer to problems with constraints.

    Further arguments of the methods are those of `tf.train.Optimizer.minimize`.
    """

    def __init__(self, optimizer: Any) -> None:
        self._optimizer = optimizer

    @property
    def optimizer(self) -> Any:
        """The optimizer of the objective."""
        return self._optimizer

    @abc.abstractmethod
    def _minimize_constrained(
        self, minimization_problem: ConstrainedMinimizationProblem, **options: Any
    ) -> Any:
        """One step, which need not run the operations before it."""

    def minimize_constrained(
        self, minimization_problem: ConstrainedMinimizationProblem, *args: Any, **options: Any
    ) -> Any:
        """A step towards the minimum that satisfies the constraints."""
        options |= zip(_OPTIONS, args, strict=False)
        with control_dependencies(minimization_problem.pre_train_ops or []):
            return self._minimize_constrained(minimization_problem, **options)

    def minimize_unconstrained(
        self, minimization_problem: ConstrainedMinimizationProblem, *args: Any, **options: Any
    ) -> Any:
        """A step towards the minimum, whatever the constraints."""
        options |= zip(_OPTIONS, args, strict=False)
        with control_dependencies(minimization_problem.pre_train_ops or []):
            return self.optimizer.minimize(minimization_problem.objective, **options)

    def minimize(
        self,
        minimization_problem: ConstrainedMinimizationProblem,
        unconstrained_steps: Any = None,
        global_step: Any = None,
        *args: Any,
        **options: Any,
    ) -> Any:
        """A step, for the first `unconstrained_steps` of them whatever the constraints."""
        options |= zip(_OPTIONS, (global_step, *args), strict=False)
        if unconstrained_steps is None:
            return self.minimize_constrained(minimization_problem, **options)
        if global_step is None:
            raise ValueError("global_step cannot be None if unconstrained_steps is provided")
        count = convert_to_tensor(unconstrained_steps)
        return cond(
            casts.cast(global_step, count.dtype) < count,
            lambda: self.minimize_unconstrained(minimization_problem, **options),
            lambda: self.minimize_constrained(minimization_problem, **options),
        )


_OPTIONS = (
    "global_step", "var_list", "gate_gradients", "aggregation_method",
    "colocate_gradients_with_ops", "name", "grad_loss",
)  # fmt: skip
