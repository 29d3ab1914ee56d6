"""Gradient descent with momentum."""

from __future__ import annotations

from typing import Any

from weft.graph.graph import Tensor
from weft.lib.train.optimizers.optimizer import KernelOptimizer, hyperparameters, training_op


class MomentumOptimizer(KernelOptimizer):
    """Moves variables by a decaying sum of past gradients; `use_nesterov` looks one step ahead."""

    _HYPERPARAMETERS = hyperparameters("learning_rate", "momentum")

    def __init__(
        self,
        learning_rate: Any,
        momentum: Any,
        use_locking: bool = False,
        name: str = "Momentum",
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(use_locking, name)
        self._learning_rate, self._momentum = learning_rate, momentum
        self._use_nesterov = use_nesterov
        self._learning_rate_tensor: Any = None
        self._momentum_tensor: Any = None

    def _create_slots(self, var_list: list[Any]) -> None:
        for var in var_list:
            self._zeros_slot(var, "momentum", self._name)

    def _step(self, grad: Tensor, var: Any, indices: Tensor | None) -> Any:
        return training_op(
            "Momentum",
            var,
            [self.get_slot(var, "momentum")],
            grad,
            indices,
            {"lr": self._learning_rate_tensor, "momentum": self._momentum_tensor},
            use_locking=self._use_locking,
            use_nesterov=self._use_nesterov,
        )
