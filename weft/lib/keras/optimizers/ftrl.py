"""Follow the regularized leader."""

from __future__ import annotations

from typing import Any

from weft.lib.keras.optimizers.adagrad import _OneOp
from weft.lib.keras.optimizers.optimizer_v2 import ApplyState
from weft.ops.array import array
from weft.ops.math import casts
from weft.ops.state.initializers import Constant

_HYPERS = ("learning_rate_power", "l1_regularization_strength", "l2_regularization_strength")


# What the operations call the numbers.
_INPUTS = {
    "lr": "lr_t",
    "l1": "l1_regularization_strength",
    "l2": "l2_regularization_strength",
    "l2_shrinkage": "l2_shrinkage",
    "lr_power": "learning_rate_power",
}


class Ftrl(_OneOp):
    """For sparse models: `l1_regularization_strength` makes weights zero."""

    def __init__(
        self,
        learning_rate: Any = 0.001,
        learning_rate_power: float = -0.5,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        name: str = "Ftrl",
        l2_shrinkage_regularization_strength: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(name, **kwargs)
        if learning_rate_power > 0.0:
            raise ValueError(
                f"learning_rate_power {learning_rate_power:f} needs to be negative or zero"
            )
        _not_negative(
            initial_accumulator_value=initial_accumulator_value,
            l1_regularization_strength=l1_regularization_strength,
            l2_regularization_strength=l2_regularization_strength,
            l2_shrinkage_regularization_strength=l2_shrinkage_regularization_strength,
        )
        self._set_hypers(
            kwargs,
            learning_rate,
            learning_rate_power=learning_rate_power,
            l1_regularization_strength=l1_regularization_strength,
            l2_regularization_strength=l2_regularization_strength,
        )
        self._initial_accumulator_value = initial_accumulator_value
        self._l2_shrinkage_regularization_strength = l2_shrinkage_regularization_strength

    def _create_slots(self, var_list: list[Any]) -> None:
        for var in var_list:
            start = Constant(self._initial_accumulator_value, dtype=var.dtype.base_dtype)
            self.add_slot(var, "accumulator", start)
            self.add_slot(var, "linear")

    def _prepare_local(self, var_device: str, var_dtype: Any, apply_state: ApplyState) -> None:
        super()._prepare_local(var_device, var_dtype, apply_state)
        apply_state[var_device, var_dtype] |= {
            name: array.identity(self._get_hyper(name, var_dtype)) for name in _HYPERS
        } | {"l2_shrinkage": casts.cast(self._l2_shrinkage_regularization_strength, var_dtype)}

    def _step(self, grad: Any, var: Any, indices: Any, known: dict[str, Any]) -> Any:
        kind = "FtrlV2" if self._l2_shrinkage_regularization_strength > 0.0 else "Ftrl"
        return self._training_op(kind, var, "accumulator linear", grad, indices, known, _INPUTS)

    def get_config(self) -> dict[str, Any]:
        return self._config_with(
            "learning_rate",
            "decay",
            initial_accumulator_value=self._initial_accumulator_value,
            **{name: self._serialize_hyperparameter(name) for name in _HYPERS},
            l2_shrinkage_regularization_strength=self._l2_shrinkage_regularization_strength,
        )


def _not_negative(**values: float) -> None:
    for name, value in values.items():
        if value < 0.0:
            raise ValueError(f"{name} {value:f} needs to be positive or zero")
