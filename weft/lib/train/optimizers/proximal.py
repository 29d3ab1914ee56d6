"""Gradient steps followed by a projection that applies l1 and l2 penalties."""

from __future__ import annotations

from typing import Any

from weft.graph.convert import constant
from weft.graph.graph import Tensor, colocate_with
from weft.lib.train.optimizers.adagrad import check_positive
from weft.lib.train.optimizers.optimizer import KernelOptimizer, hyperparameters, training_op


class _ProximalOptimizer(KernelOptimizer):
    _HYPERPARAMETERS = hyperparameters(
        "learning_rate", "l1_regularization_strength", "l2_regularization_strength"
    )

    def __init__(self, learning_rate: Any, l1: Any, l2: Any, use_locking: bool, name: str) -> None:
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._l1_regularization_strength, self._l2_regularization_strength = l1, l2
        self._learning_rate_tensor: Any = None
        self._l1_regularization_strength_tensor: Any = None
        self._l2_regularization_strength_tensor: Any = None

    def _penalties(self) -> dict[str, Any]:
        return {
            "l1": self._l1_regularization_strength_tensor,
            "l2": self._l2_regularization_strength_tensor,
        }


class ProximalGradientDescentOptimizer(_ProximalOptimizer):
    """Gradient descent with l1 and l2 penalties."""

    def __init__(
        self,
        learning_rate: Any,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "ProximalGradientDescent",
    ) -> None:
        penalties = (l1_regularization_strength, l2_regularization_strength)
        super().__init__(learning_rate, *penalties, use_locking, name)

    def _step(self, grad: Tensor, var: Any, indices: Tensor | None) -> Any:
        return training_op(
            "ProximalGradientDescent",
            var,
            [],
            grad,
            indices,
            {"alpha": self._learning_rate_tensor, **self._penalties()},
            use_locking=self._use_locking,
        )


class ProximalAdagradOptimizer(_ProximalOptimizer):
    """Adagrad with l1 and l2 penalties."""

    def __init__(
        self,
        learning_rate: Any,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "ProximalAdagrad",
    ) -> None:
        check_positive("initial_accumulator_value", initial_accumulator_value)
        penalties = (l1_regularization_strength, l2_regularization_strength)
        super().__init__(learning_rate, *penalties, use_locking, name)
        self._initial_accumulator_value = initial_accumulator_value

    def _create_slots(self, var_list: list[Any]) -> None:
        for var in var_list:
            with colocate_with(var.op):
                initial = constant(
                    self._initial_accumulator_value,
                    shape=var.get_shape(),
                    dtype=var.dtype.base_dtype,
                )
            self._get_or_make_slot(var, initial, "accumulator", self._name)

    def _step(self, grad: Tensor, var: Any, indices: Tensor | None) -> Any:
        return training_op(
            "ProximalAdagrad",
            var,
            [self.get_slot(var, "accumulator")],
            grad,
            indices,
            {"lr": self._learning_rate_tensor, **self._penalties()},
            use_locking=self._use_locking,
        )
