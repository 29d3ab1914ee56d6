"""RMSProp: steps divided by a running root mean square of the gradients."""

from __future__ import annotations

from typing import Any

from weft.graph.graph import Tensor
from weft.lib.train.optimizers.optimizer import KernelOptimizer, hyperparameters, training_op
from weft.ops.array import array
from weft.ops.state.initializers import Ones


class RMSPropOptimizer(KernelOptimizer):
    """Divides by the root mean square (if `centered`, the standard deviation) of gradients."""

    _HYPERPARAMETERS = hyperparameters("learning_rate", "decay", "momentum", "epsilon")

    def __init__(
        self,
        learning_rate: Any,
        decay: Any = 0.9,
        momentum: Any = 0.0,
        epsilon: Any = 1e-10,
        use_locking: bool = False,
        centered: bool = False,
        name: str = "RMSProp",
    ) -> None:
        super().__init__(use_locking, name)
        self._learning_rate, self._decay = learning_rate, decay
        self._momentum, self._epsilon, self._centered = momentum, epsilon, centered
        self._learning_rate_tensor: Any = None
        self._decay_tensor: Any = None
        self._momentum_tensor: Any = None
        self._epsilon_tensor: Any = None

    def _create_slots(self, var_list: list[Any]) -> None:
        for var in var_list:
            dtype, shape = var.dtype.base_dtype, var.get_shape()
            initial: Any = Ones(dtype=dtype) if shape.is_fully_defined() else array.ones_like(var)
            self._get_or_make_slot_with_initializer(var, initial, shape, dtype, "rms", self._name)
            if self._centered:
                self._zeros_slot(var, "mg", self._name)
            self._zeros_slot(var, "momentum", self._name)

    def _step(self, grad: Tensor, var: Any, indices: Tensor | None) -> Any:
        slots = [self.get_slot(var, "rms"), self.get_slot(var, "momentum")]
        if self._centered:
            slots.insert(0, self.get_slot(var, "mg"))
        return training_op(
            "CenteredRMSProp" if self._centered else "RMSProp",
            var,
            slots,
            grad,
            indices,
            {
                "lr": self._learning_rate_tensor,
                "rho": self._decay_tensor,
                "momentum": self._momentum_tensor,
                "epsilon": self._epsilon_tensor,
            },
            use_locking=self._use_locking,
        )
