"""Gradient descent, with or without momentum."""

from __future__ import annotations

from typing import Any

from weft.graph.op_def import raw
from weft.lib.keras.optimizers.adagrad import _OneOp
from weft.lib.keras.optimizers.optimizer_v2 import ApplyState
from weft.ops.array import array


def checked_momentum(momentum: Any) -> bool:
    """Whether there is momentum at all; ValueError if it is no number between 0 and 1."""
    if isinstance(momentum, (int, float)):
        if momentum < 0 or momentum > 1:
            raise ValueError("`momentum` must be between [0, 1].")
        return momentum > 0
    return True


class SGD(_OneOp):
    """Moves against the gradient; `nesterov` looks ahead by the momentum."""

    def __init__(
        self,
        learning_rate: Any = 0.01,
        momentum: Any = 0.0,
        nesterov: bool = False,
        name: str = "SGD",
        **kwargs: Any,
    ) -> None:
        super().__init__(name, **kwargs)
        self._momentum = checked_momentum(momentum)
        self._set_hypers(kwargs, learning_rate, momentum=momentum)
        self.nesterov = nesterov

    def _create_slots(self, var_list: list[Any]) -> None:
        for var in var_list if self._momentum else ():
            self.add_slot(var, "momentum")

    def _prepare_local(self, var_device: str, var_dtype: Any, apply_state: ApplyState) -> None:
        super()._prepare_local(var_device, var_dtype, apply_state)
        momentum = array.identity(self._get_hyper("momentum", var_dtype))
        apply_state[var_device, var_dtype]["momentum"] = momentum

    def _step(self, grad: Any, var: Any, indices: Any, known: dict[str, Any]) -> Any:
        name, slot, inputs = "GradientDescent", "", {"alpha": "lr_t"}
        more = {}
        if self._momentum:
            name, slot, inputs = "KerasMomentum", "momentum", {"lr": "lr_t", "momentum": "momentum"}
            more = {"use_nesterov": self.nesterov}
        return self._training_op(name, var, slot, grad, indices, known, inputs, **more)

    def _resource_apply_sparse_duplicate_indices(
        self, grad: Any, var: Any, indices: Any, **kwargs: Any
    ) -> Any:
        if not self._momentum:  # Rows named twice are simply added twice.
            rate = self._coefficients(var, kwargs.get("apply_state"))["lr_t"]
            return raw.ResourceScatterAdd(var.handle, indices, -grad * rate)
        return super()._resource_apply_sparse_duplicate_indices(grad, var, indices, **kwargs)

    def get_config(self) -> dict[str, Any]:
        return self._config_with("learning_rate", "decay", "momentum", nesterov=self.nesterov)
