"""Adagrad: steps that shrink for parameters whose gradients have been large."""

from __future__ import annotations

from functools import partial
from typing import Any

from weft.graph.graph import Tensor
from weft.graph.op_def import raw
from weft.lib.train.optimizers.kernel_steps import hyperparameters
from weft.lib.train.optimizers.optimizer import Optimizer
from weft.ops.array import array
from weft.ops.math import math
from weft.ops.state.initializers import Constant


def check_positive(name: str, value: float) -> None:
    """Accumulators start above zero, since steps are divided by their roots."""
    if value <= 0.0:
        raise ValueError(f"{name} must be positive: {value}")


class AdagradOptimizer(Optimizer):
    """Divides each step by the root of the sum of squared gradients so far.

    Args:
        learning_rate: a number, a tensor, or a function that gives one.
        initial_accumulator_value: what the sums start at; positive.
        use_locking: lock variables while they are updated.
        name: of the operations.

    Raises:
        ValueError: the start is not positive.

    Example:
        >>> v = tf.Variable(1.0)
        >>> train = tf.train.AdagradOptimizer(0.1).minimize(v * v)
        >>> session.run(tf.global_variables_initializer())
        >>> session.run(train)
        >>> round(float(session.run(v)), 3)
        0.901
    """

    _HYPERPARAMETERS = hyperparameters("learning_rate")
    _KERNEL, _SLOTS, _INPUTS = "Adagrad", ("accumulator",), {"lr": "_learning_rate_tensor"}

    def __init__(
        self,
        learning_rate: Any,
        initial_accumulator_value: float = 0.1,
        use_locking: bool = False,
        name: str = "Adagrad",
    ) -> None:
        check_positive("initial_accumulator_value", initial_accumulator_value)
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._initial_accumulator_value = initial_accumulator_value

    def _create_slots(self, var_list: list[Any]) -> None:
        for var in var_list:
            dtype, shape = var.dtype.base_dtype, var.get_shape()
            known = shape.is_fully_defined()
            initial = (
                Constant(self._initial_accumulator_value, dtype=dtype)
                if known
                else partial(self._filled_like, var, dtype)
            )
            given = (initial, shape, dtype, "accumulator", self._name)
            self._get_or_make_slot_with_initializer(var, *given)

    def _filled_like(self, var: Any, dtype: Any) -> Tensor:
        return math.cast(raw.Fill(array.shape(var), self._initial_accumulator_value), dtype)
