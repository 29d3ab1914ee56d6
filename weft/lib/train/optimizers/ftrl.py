"""FTRL-proximal: follow the regularized leader, for sparse linear models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weft.graph.graph import colocate_with
from weft.lib.train.optimizers.kernel_steps import hyperparameters
from weft.lib.train.optimizers.optimizer import Optimizer


class FtrlOptimizer(Optimizer):
    """Works the variables out from sums of gradients, under l1 and l2 penalties.

    `l2_shrinkage_regularization_strength` penalizes large variables by way of their gradients.

    Args:
        learning_rate: a number or a tensor.
        learning_rate_power: how the rate falls as gradients add up; at most 0.
        initial_accumulator_value: what the sums start at; not negative.
        l1_regularization_strength, l2_regularization_strength: the penalties.
        use_locking: lock variables while they are updated.
        name: of the operations.
        accum_name, linear_name: suffixes of the variables that hold the sums.
        l2_shrinkage_regularization_strength: see above.

    Raises:
        ValueError: one of the numbers has the wrong sign.

    Example:
        >>> v = tf.Variable(1.0)
        >>> train = tf.train.FtrlOptimizer(0.1).minimize(v * v)
        >>> session.run(tf.global_variables_initializer())
        >>> session.run(train)
        >>> bool(session.run(v) < 1)
        True
    """

    _HYPERPARAMETERS = hyperparameters(
        "learning_rate",
        "l1_regularization_strength",
        "l2_regularization_strength",
        "l2_shrinkage_regularization_strength",
        "learning_rate_power",
    )
    _KERNEL, _SLOTS = "Ftrl", ("accum", "linear")
    _INPUTS: Mapping[str, str] = {
        "lr": "_learning_rate_tensor",
        "l1": "_l1_regularization_strength_tensor",
        "l2": "_l2_regularization_strength_tensor",
        "l2_shrinkage": "_l2_shrinkage_regularization_strength_tensor",
        "lr_power": "_learning_rate_power_tensor",
    }

    def __init__(
        self,
        learning_rate: Any,
        learning_rate_power: float = -0.5,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "Ftrl",
        accum_name: str | None = None,
        linear_name: str | None = None,
        l2_shrinkage_regularization_strength: float = 0.0,
    ) -> None:
        super().__init__(use_locking, name)
        if learning_rate_power > 0.0:
            raise ValueError(
                f"learning_rate_power {learning_rate_power:f} needs to be negative or zero"
            )
        for what, value in (
            ("initial_accumulator_value", initial_accumulator_value),
            ("l1_regularization_strength", l1_regularization_strength),
            ("l2_regularization_strength", l2_regularization_strength),
            ("l2_shrinkage_regularization_strength", l2_shrinkage_regularization_strength),
        ):
            if value < 0.0:
                raise ValueError(f"{what} {value:f} needs to be positive or zero")
        self._learning_rate, self._learning_rate_power = learning_rate, learning_rate_power
        self._initial_accumulator_value = initial_accumulator_value
        self._l1_regularization_strength = l1_regularization_strength
        self._l2_regularization_strength = l2_regularization_strength
        self._l2_shrinkage_regularization_strength = l2_shrinkage_regularization_strength
        self._accum_name, self._linear_name = accum_name, linear_name
        if l2_shrinkage_regularization_strength > 0.0:
            self._KERNEL = "FtrlV2"

    def _create_slots(self, var_list: list[Any]) -> None:
        for var in var_list:
            with colocate_with(var.op):
                self._constant_slot(var, self._initial_accumulator_value, "accum", self._accum_name)
                self._zeros_slot(var, "linear", self._linear_name or self._name)
