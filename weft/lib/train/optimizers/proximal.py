"""Gradient steps followed by a projection that applies l1 and l2 penalties."""

from __future__ import annotations

from typing import Any

from weft.lib.train.optimizers.adagrad import check_positive
from weft.lib.train.optimizers.kernel_steps import hyperparameters
from weft.lib.train.optimizers.optimizer import Optimizer

_RATES = hyperparameters(
    "learning_rate", "l1_regularization_strength", "l2_regularization_strength"
)


def _set_rates(optimizer: Any, learning_rate: Any, l1: Any, l2: Any) -> None:
    optimizer._learning_rate = learning_rate
    optimizer._l1_regularization_strength, optimizer._l2_regularization_strength = l1, l2


def _inputs_of(rate: str) -> dict[str, str]:
    """The scalars of a proximal op, which calls the learning rate `rate`."""
    penalties = {f"l{n}": f"_l{n}_regularization_strength_tensor" for n in (1, 2)}
    return {rate: "_learning_rate_tensor", **penalties}


class ProximalGradientDescentOptimizer(Optimizer):
    """Gradient descent with l1 and l2 penalties."""

    _HYPERPARAMETERS = _RATES
    _KERNEL, _INPUTS = "ProximalGradientDescent", _inputs_of("alpha")

    def __init__(
        self,
        learning_rate: Any,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "ProximalGradientDescent",
    ) -> None:
        super().__init__(use_locking, name)
        penalties = (l1_regularization_strength, l2_regularization_strength)
        _set_rates(self, learning_rate, *penalties)


class ProximalAdagradOptimizer(Optimizer):
    """Adagrad with l1 and l2 penalties."""

    _HYPERPARAMETERS = _RATES
    _KERNEL, _SLOTS, _INPUTS = "ProximalAdagrad", ("accumulator",), _inputs_of("lr")

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
        super().__init__(use_locking, name)
        penalties = (l1_regularization_strength, l2_regularization_strength)
        _set_rates(self, learning_rate, *penalties)
        self._initial_accumulator_value = initial_accumulator_value

    def _create_slots(self, var_list: list[Any]) -> None:
        for var in var_list:
            self._constant_slot(var, self._initial_accumulator_value, "accumulator")
