"""Adagrad with dual averaging, for sparse linear models."""

from __future__ import annotations

from typing import Any

from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import Tensor, colocate_with, device
from weft.graph.op_def import raw
from weft.lib.train.optimizers.adagrad import check_positive
from weft.lib.train.optimizers.kernel_steps import training_op
from weft.lib.train.optimizers.optimizer import Optimizer


class AdagradDAOptimizer(Optimizer):
    """Keeps the sums of gradients and of their squares, and works the variables out from those.

    Needs the global step: regularization of a row that was not seen is caught up with when it is.
    """

    def __init__(
        self,
        learning_rate: Any,
        global_step: Any,
        initial_gradient_squared_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "AdagradDA",
    ) -> None:
        squares = initial_gradient_squared_accumulator_value
        check_positive("initial_gradient_squared_accumulator_value", squares)
        super().__init__(use_locking, name)
        self._learning_rate, self._global_step = learning_rate, global_step
        self._initial_gradient_squared_accumulator_value = squares
        self._l1_regularization_strength = l1_regularization_strength
        self._l2_regularization_strength = l2_regularization_strength
        self._learning_rate_tensor: Any = None
        self._global_step_on_worker: Any = None

    def _create_slots(self, var_list: list[Any]) -> None:
        squares = self._initial_gradient_squared_accumulator_value
        for var in var_list:
            dtype, shape = var.dtype.base_dtype, var.get_shape()
            with colocate_with(var.op):
                sums = constant(0.0, shape=shape, dtype=dtype)
                sums_of_squares = constant(squares, shape=shape, dtype=dtype)
            self._get_or_make_slot(var, sums, "gradient_accumulator", self._name)
            self._get_or_make_slot(var, sums_of_squares, "gradient_squared_accumulator", self._name)

    def _prepare(self) -> None:
        self._learning_rate_tensor = convert_to_tensor(self._learning_rate, name="learning_rate")
        # One read of the step for all updates, counted from one.
        with colocate_with(self._learning_rate_tensor):
            self._global_step_on_worker = raw.Identity(self._global_step) + 1

    def _step(self, grad: Tensor, var: Any, indices: Tensor | None) -> Any:
        with device(var.device):
            global_step = raw.Identity(self._global_step_on_worker)
        return training_op(
            "AdagradDA",
            var,
            [
                self.get_slot(var, "gradient_accumulator"),
                self.get_slot(var, "gradient_squared_accumulator"),
            ],
            grad,
            indices,
            {
                "lr": self._learning_rate_tensor,
                "l1": self._l1_regularization_strength,
                "l2": self._l2_regularization_strength,
                "global_step": global_step,
            },
            use_locking=self._use_locking,
        )
