"""Adagrad and Adadelta: rates for each weight, by the gradients it has had."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.lib.keras.optimizers.optimizer_v2 import ApplyState, OptimizerV2
from weft.ops.array import array
from weft.ops.state.initializers import Constant


class _OneOp(OptimizerV2):
    """An optimizer whose update is one op, dense or sparse."""

    def _step(self, grad: Any, var: Any, indices: Any, known: dict[str, Any]) -> Any:
        raise NotImplementedError

    def _resource_apply_dense(self, grad: Any, var: Any, apply_state: Any = None) -> Any:
        return self._step(grad, var, None, self._coefficients(var, apply_state))

    def _resource_apply_sparse(
        self, grad: Any, var: Any, indices: Any, apply_state: Any = None
    ) -> Any:
        return self._step(grad, var, indices, self._coefficients(var, apply_state))


class Adagrad(_OneOp):
    """Gradients over the root of the sum of all squares so far."""

    _old_weights_lack_step = True

    def __init__(
        self,
        learning_rate: Any = 0.001,
        initial_accumulator_value: float = 0.1,
        epsilon: Any = 1e-7,
        name: str = "Adagrad",
        **kwargs: Any,
    ) -> None:
        if initial_accumulator_value < 0.0:
            raise ValueError(
                f"initial_accumulator_value must be non-negative: {initial_accumulator_value}"
            )
        super().__init__(name, **kwargs)
        self._set_hypers(kwargs, learning_rate, epsilon=epsilon)
        self._initial_accumulator_value = initial_accumulator_value

    def _create_slots(self, var_list: list[Any]) -> None:
        for var in var_list:
            start = Constant(self._initial_accumulator_value, dtype=var.dtype.base_dtype)
            self.add_slot(var, "accumulator", start)

    def _prepare_local(self, var_device: str, var_dtype: Any, apply_state: ApplyState) -> None:
        super()._prepare_local(var_device, var_dtype, apply_state)
        known = apply_state[var_device, var_dtype]
        known["epsilon"] = self._constant(self.epsilon, var_dtype)
        # Two nodes of TensorFlow's that nothing reads.
        _ = -known["lr_t"], array.zeros([], dtype=dtypes.int64)

    def _step(self, grad: Any, var: Any, indices: Any, known: dict[str, Any]) -> Any:
        inputs = {"lr": "lr_t", "epsilon": "epsilon"}
        return self._training_op("AdagradV2", var, "accumulator", grad, indices, known, inputs)

    def get_config(self) -> dict[str, Any]:
        return self._config_with(
            "learning_rate",
            "decay",
            initial_accumulator_value=self._initial_accumulator_value,
            epsilon=self.epsilon,
        )

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        # Configurations of older versions have none, and meant zero.
        return super().from_config({"initial_accumulator_value": 0.0, **config}, custom_objects)


class Adadelta(_OneOp):
    """Gradients scaled by the recent size of updates over that of gradients."""

    _old_weights_lack_step = True

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: Any = 0.95,
        epsilon: Any = 1e-7,
        name: str = "Adadelta",
        **kwargs: Any,
    ) -> None:
        super().__init__(name, **kwargs)
        self._set_hypers(kwargs, learning_rate, rho=rho, epsilon=epsilon)

    def _create_slots(self, var_list: list[Any]) -> None:
        for slot in ("accum_grad", "accum_var"):
            for var in var_list:
                self.add_slot(var, slot)

    def _prepare_local(self, var_device: str, var_dtype: Any, apply_state: ApplyState) -> None:
        super()._prepare_local(var_device, var_dtype, apply_state)
        apply_state[var_device, var_dtype] |= {
            "epsilon": self._constant(self.epsilon, var_dtype),
            "rho": array.identity(self._get_hyper("rho", var_dtype)),
        }

    def _step(self, grad: Any, var: Any, indices: Any, known: dict[str, Any]) -> Any:
        inputs = {"lr": "lr_t", "rho": "rho", "epsilon": "epsilon"}
        return self._training_op(
            "Adadelta", var, "accum_grad accum_var", grad, indices, known, inputs
        )

    def get_config(self) -> dict[str, Any]:
        return self._config_with("learning_rate", "decay", "rho", epsilon=self.epsilon)
