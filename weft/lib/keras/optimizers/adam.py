"""Adam and Adamax: gradients by a running estimate of their size."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.graph.graph import Tensor, control_dependencies
from weft.lib.keras.optimizers.optimizer_v2 import ApplyState, OptimizerV2
from weft.ops.array import array, gather
from weft.ops.control import control
from weft.ops.math import casts, math
from weft.ops.state.updates import assign, assign_sub

# What the operations call the numbers of `_betas`.
_INPUTS = {
    "beta1_power": "beta_1_power",
    "beta2_power": "beta_2_power",
    "lr": "lr_t",
    "beta1": "beta_1_t",
    "beta2": "beta_2_t",
    "epsilon": "epsilon",
}


class _Moments(OptimizerV2):
    """An optimizer with the hyperparameters and slots that Adam and its kin have."""

    def __init__(
        self,
        learning_rate: Any,
        beta_1: Any,
        beta_2: Any,
        epsilon: Any,
        name: str,
        **kwargs: Any,
    ) -> None:
        super().__init__(name, **kwargs)
        self._set_hypers(kwargs, learning_rate, beta_1=beta_1, beta_2=beta_2, epsilon=epsilon)

    def _create_slots(self, var_list: list[Any]) -> None:
        for slot in ("m", "v"):
            for var in var_list:
                self.add_slot(var, slot)

    def _betas(self, dtype: Any) -> dict[str, Tensor]:
        """The two rates of decay."""
        names = ("beta_1", "beta_2")
        return {f"{name}_t": array.identity(self._get_hyper(name, dtype)) for name in names}

    def _constants(self, dtype: Any, *betas: Tensor) -> dict[str, Tensor]:
        """The epsilon, and what the rates of decay leave of one."""
        found = {"epsilon": self._constant(self.epsilon, dtype)}
        return found | {f"one_minus_beta_{i}_t": 1 - beta for i, beta in enumerate(betas, 1)}

    def _decayed_then_added(self, slot: Any, beta: Tensor, indices: Tensor, rows: Tensor) -> Tensor:
        """The value of `slot` after all of it was decayed and rows were added."""
        with control_dependencies([assign(slot, slot * beta, use_locking=self._use_locking)]):
            return self._resource_scatter_add(slot, indices, rows)

    def get_config(self) -> dict[str, Any]:
        return self._config_with("learning_rate", "decay", "beta_1", "beta_2", epsilon=self.epsilon)


class Adam(_Moments):
    """Means of gradients over the square root of means of their squares.

    `amsgrad` divides by the largest such mean there has been.
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: Any = 0.9,
        beta_2: Any = 0.999,
        epsilon: Any = 1e-7,
        amsgrad: bool = False,
        name: str = "Adam",
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, beta_1, beta_2, epsilon, name, **kwargs)
        self.amsgrad = amsgrad

    def _create_slots(self, var_list: list[Any]) -> None:
        super()._create_slots(var_list)
        for var in var_list if self.amsgrad else ():
            self.add_slot(var, "vhat")

    def _prepare_local(self, var_device: str, var_dtype: Any, apply_state: ApplyState) -> None:
        super()._prepare_local(var_device, var_dtype, apply_state)
        known = apply_state[var_device, var_dtype]
        step = casts.cast(self.iterations + 1, var_dtype)
        known |= self._betas(var_dtype)
        betas = known["beta_1_t"], known["beta_2_t"]
        powers = [math.pow(beta, step) for beta in betas]
        known["beta_1_power"], known["beta_2_power"] = powers
        known["lr"] = known["lr_t"] * (math.sqrt(1 - powers[1]) / (1 - powers[0]))
        known |= self._constants(var_dtype, *betas)

    def set_weights(self, weights: Any) -> None:
        """As the base's; weights of older versions have a `vhat` for each variable anyway."""
        wanted = len(self.weights)
        of_three_slots = 1 + (wanted - 1) // 2 * 3
        super().set_weights(weights[:wanted] if len(weights) == of_three_slots else weights)

    def _resource_apply_dense(self, grad: Any, var: Any, apply_state: Any = None) -> Any:
        known = self._coefficients(var, apply_state)
        kind, slots = ("AdamWithAmsgrad", "m v vhat") if self.amsgrad else ("Adam", "m v")
        return self._training_op(kind, var, slots, grad, None, known, _INPUTS)

    def _resource_apply_sparse(
        self, grad: Any, var: Any, indices: Any, apply_state: Any = None
    ) -> Any:
        """Averages decay everywhere, and so the whole variable moves."""
        known = self._coefficients(var, apply_state)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m_t = self._decayed_then_added(
            m, known["beta_1_t"], indices, grad * known["one_minus_beta_1_t"]
        )
        v_t = self._decayed_then_added(
            v, known["beta_2_t"], indices, (grad * grad) * known["one_minus_beta_2_t"]
        )
        size = v_t
        if self.amsgrad:
            largest = self.get_slot(var, "vhat")
            size = assign(largest, math.maximum(largest, v_t), use_locking=self._use_locking)
        root = math.sqrt(size)
        change = known["lr"] * m_t / (root + known["epsilon"])
        updated = assign_sub(var, change, use_locking=self._use_locking)
        return control.group(updated, m_t, v_t, size)

    def get_config(self) -> dict[str, Any]:
        return super().get_config() | {"amsgrad": self.amsgrad}


class Adamax(_Moments):
    """Means of gradients over their largest recent size."""

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: Any = 0.9,
        beta_2: Any = 0.999,
        epsilon: Any = 1e-7,
        name: str = "Adamax",
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, beta_1, beta_2, epsilon, name, **kwargs)

    def _prepare_local(self, var_device: str, var_dtype: Any, apply_state: ApplyState) -> None:
        super()._prepare_local(var_device, var_dtype, apply_state)
        known = apply_state[var_device, var_dtype]
        step = casts.cast(self.iterations + 1, var_dtype)
        known |= self._betas(var_dtype)
        known["beta_1_power"] = power = math.pow(known["beta_1_t"], step)
        known["neg_scaled_lr"] = -known["lr_t"] / (1 - power)
        known |= self._constants(var_dtype, known["beta_1_t"])
        array.zeros([], dtype=dtypes.int64)  # a node of TensorFlow's that nothing reads

    def _resource_apply_dense(self, grad: Any, var: Any, apply_state: Any = None) -> Any:
        known = self._coefficients(var, apply_state)
        inputs = {name: key for name, key in _INPUTS.items() if name != "beta2_power"}
        return self._training_op("AdaMax", var, "m v", grad, None, known, inputs)

    def _resource_apply_sparse(
        self, grad: Any, var: Any, indices: Any, apply_state: Any = None
    ) -> Any:
        """Only the rows named by `indices` change, and their averages."""
        known = self._coefficients(var, apply_state)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m_rows = gather.gather(m, indices) * known["beta_1_t"] + grad * known["one_minus_beta_1_t"]
        m_t = self._resource_scatter_update(m, indices, m_rows)
        v_rows = math.maximum(gather.gather(v, indices) * known["beta_2_t"], math.abs(grad))
        v_t = self._resource_scatter_update(v, indices, v_rows)
        change = known["neg_scaled_lr"] * (m_rows / (v_rows + known["epsilon"]))
        return control.group(m_t, v_t, self._resource_scatter_add(var, indices, change))
