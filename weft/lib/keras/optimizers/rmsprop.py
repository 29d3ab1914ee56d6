"""RMSprop: gradients over the root of the mean of their recent squares."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.graph.graph import Tensor, control_dependencies
from weft.lib.keras.optimizers.optimizer_v2 import ApplyState, OptimizerV2
from weft.lib.keras.optimizers.sgd import checked_momentum
from weft.ops.array import array, gather
from weft.ops.control import control
from weft.ops.math import math
from weft.ops.state.updates import assign


class RMSprop(OptimizerV2):
    """`centered` takes the variance of gradients in place of the mean of their squares."""

    _old_weights_lack_step = True

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: Any = 0.9,
        momentum: Any = 0.0,
        epsilon: Any = 1e-7,
        centered: bool = False,
        name: str = "RMSprop",
        **kwargs: Any,
    ) -> None:
        super().__init__(name, **kwargs)
        self._momentum = checked_momentum(momentum)
        self._set_hypers(kwargs, learning_rate, rho=rho, momentum=momentum, epsilon=epsilon)
        self.centered = centered

    def _create_slots(self, var_list: list[Any]) -> None:
        wanted = ["rms"] + ["momentum"] * self._momentum + ["mg"] * self.centered
        for slot in wanted:
            for var in var_list:
                self.add_slot(var, slot)

    def _prepare_local(self, var_device: str, var_dtype: Any, apply_state: ApplyState) -> None:
        super()._prepare_local(var_device, var_dtype, apply_state)
        known = apply_state[var_device, var_dtype]
        rho = array.identity(self._get_hyper("rho", var_dtype))
        known |= {
            "neg_lr_t": -known["lr_t"],
            "epsilon": self._constant(self.epsilon, var_dtype),
            "rho": rho,
            "momentum": array.identity(self._get_hyper("momentum", var_dtype)),
            "one_minus_rho": 1.0 - rho,
        }

    def _with_momentum(self, grad: Any, var: Any, indices: Any, known: dict[str, Any]) -> Any:
        kind, slots = ("Centered", "mg rms momentum") if self.centered else ("", "rms momentum")
        inputs = {"lr": "lr_t", "rho": "rho", "momentum": "momentum", "epsilon": "epsilon"}
        return self._training_op(f"{kind}RMSProp", var, slots, grad, indices, known, inputs)

    def _averaged(self, slot: Any, value: Callable[[], Any], known: dict[str, Any]) -> Any:
        mean = known["rho"] * slot
        mean += known["one_minus_rho"] * value()
        return assign(slot, mean, use_locking=self._use_locking)

    def _resource_apply_dense(self, grad: Any, var: Any, apply_state: Any = None) -> Any:
        known = self._coefficients(var, apply_state)
        if self._momentum:
            return self._with_momentum(grad, var, None, known)
        size = self._averaged(self.get_slot(var, "rms"), lambda: math.square(grad), known)
        if self.centered:
            mean = self._averaged(self.get_slot(var, "mg"), lambda: grad, known)
            size = size - math.square(mean)
        var_t = var - known["lr_t"] * grad / (math.sqrt(size) + known["epsilon"])
        return assign(var, var_t, use_locking=self._use_locking).op

    def _averaged_rows(self, slot: Any, rows: Any, indices: Any, known: dict[str, Any]) -> Tensor:
        """All of the slot decays; of its new value, the rows at `indices`."""
        part = rows * known["one_minus_rho"]
        decayed = slot * known["rho"]
        with control_dependencies([assign(slot, decayed, use_locking=self._use_locking)]):
            return gather.gather(self._resource_scatter_add(slot, indices, part), indices)

    def _resource_apply_sparse(
        self, grad: Any, var: Any, indices: Any, apply_state: Any = None
    ) -> Any:
        known = self._coefficients(var, apply_state)
        if self._momentum:
            return self._with_momentum(grad, var, indices, known)
        size = self._averaged_rows(self.get_slot(var, "rms"), grad * grad, indices, known)
        if self.centered:
            mean = self._averaged_rows(self.get_slot(var, "mg"), grad, indices, known)
            size = size - math.square(mean)
        change = known["neg_lr_t"] * grad / (math.sqrt(size) + known["epsilon"])
        return control.group(self._resource_scatter_add(var, indices, change))

    def get_config(self) -> dict[str, Any]:
        return self._config_with(
            "learning_rate", "decay", "rho", "momentum",
            epsilon=self.epsilon, centered=self.centered,
        )  # fmt: skip


RMSProp = RMSprop
