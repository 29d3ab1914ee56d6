"""Adadelta: steps scaled by running averages, with hardly a learning rate."""

from __future__ import annotations

from typing import Any

from weft.graph.graph import Tensor
from weft.lib.train.optimizers.optimizer import KernelOptimizer, training_op


class AdadeltaOptimizer(KernelOptimizer):
    """Scales gradients by the ratio of past steps to past gradients, with decay `rho`."""

    _HYPERPARAMETERS = (
        ("_lr", "_lr_t", "lr"),
        ("_rho", "_rho_t", "rho"),
        ("_epsilon", "_epsilon_t", "epsilon"),
    )

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: Any = 0.95,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "Adadelta",
    ) -> None:
        super().__init__(use_locking, name)
        self._lr, self._rho, self._epsilon = learning_rate, rho, epsilon
        self._lr_t: Any = None
        self._rho_t: Any = None
        self._epsilon_t: Any = None

    def _create_slots(self, var_list: list[Any]) -> None:
        for var in var_list:
            self._zeros_slot(var, "accum", self._name)
            self._zeros_slot(var, "accum_update", self._name)

    def _step(self, grad: Tensor, var: Any, indices: Tensor | None) -> Any:
        return training_op(
            "Adadelta",
            var,
            [self.get_slot(var, "accum"), self.get_slot(var, "accum_update")],
            grad,
            indices,
            {"lr": self._lr_t, "rho": self._rho_t, "epsilon": self._epsilon_t},
            use_locking=self._use_locking,
        )
