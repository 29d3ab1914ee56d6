"""Moving averages of variables and tensors."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import (
    GraphKeys,
    Operation,
    add_to_collection,
    colocate_with,
    get_default_graph,
    init_scope,
    name_scope,
)
from weft.graph.tensor import Tensor
from weft.lib.train.optimizers import slot_creator
from weft.ops.control import control
from weft.ops.kit.replicas import replica_in_force, strategy_in_force
from weft.ops.math import math
from weft.ops.state.initializers import Zeros
from weft.ops.state.updates import assign, assign_sub
from weft.ops.state.variable_scope import get_variable, get_variable_scope, variable_scope
from weft.ops.state.variables import (
    Variable,
    global_variables,
    moving_average_variables,
    trainable_variables,
)


def assign_moving_average(
    variable: Any, value: Any, decay: Any, zero_debias: bool = True, name: str | None = None
) -> Any:
    """Moves `variable` a part `1 - decay` of the way to `value`.

    `zero_debias` corrects for a variable that started at zero and not at the first value.

    Args:
        variable: the average.
        value: of its shape.
        decay: how much of the old average stays.
        zero_debias: see above; makes two more variables.
        name: of the operation.

    Returns:
        A tensor that has the new average once the update is done.

    Raises:
        ValueError: the shapes differ.

    Example:
        >>> from weft.python.training import moving_averages
        >>> v = tf.Variable(0.0)
        >>> session.run(v.initializer)
        >>> update = moving_averages.assign_moving_average(v, 10.0, 0.9, zero_debias=False)
        >>> round(float(session.run(update)), 3)
        1.0
    """
    with name_scope(name, "AssignMovingAvg", [variable, value, decay]) as scope:
        if strategy_in_force() is None:
            return _assign(variable, value, decay, zero_debias, scope)

        def update(strategy: Any, whole: Any, values: Any) -> Any:
            given = (values, decay, zero_debias, scope)
            return strategy.extended.update(whole, _assign, given)

        def merge(strategy: Any, whole: Any, values: Any) -> Any:
            mean = strategy.extended.reduce_to("MEAN", values, whole)
            return update(strategy, whole, mean)

        replica = replica_in_force()
        if replica is None:
            return update(strategy_in_force(), variable, value)
        return replica.merge_call(merge, (variable, value))


def _assign(variable: Any, value: Any, decay: Any, zero_debias: bool, scope: str) -> Any:
    rate = convert_to_tensor(1.0 - decay, name="decay")
    if rate.dtype != variable.dtype.base_dtype:
        rate = math.cast(rate, variable.dtype.base_dtype)
    if zero_debias:
        return _assign_debiased(variable, value, rate)
    return _assign_sub(variable, (variable - value) * rate, scope)


def _assign_sub(variable: Any, delta: Any, name: str) -> Any:
    if variable.dtype._is_ref_dtype:
        return assign_sub(variable, delta, name=name)
    return variable.assign_sub(delta)


def _assign_debiased(variable: Any, value: Any, rate: Any) -> Any:
    """Keeps a biased average and a step count beside `variable`, which gets the corrected one."""
    with variable_scope(variable.op.name, values=[variable, value, rate]):
        with colocate_with(variable.op):
            biased = get_variable(
                _unused_name("biased"),
                initializer=Zeros(),
                shape=variable.get_shape(),
                dtype=variable.dtype,
                trainable=False,
            )
            local_step = get_variable(
                _unused_name("local_step"),
                initializer=Zeros(),
                shape=[],
                dtype=variable.dtype,
                trainable=False,
            )
    new_biased = assign_sub(biased, (biased - value) * rate)
    new_step = local_step.assign_add(1)
    factor = 1 - math.pow(1.0 - rate, new_step)
    scope = get_default_graph().get_name_scope() + "/"
    return assign(variable, new_biased / factor, name=scope)


def _unused_name(name: str) -> str:
    """`name`, numbered if the current variable scope has such a variable and may not share it."""
    scope = get_variable_scope()
    if scope.reuse:
        return name
    taken = {v.op.name for v in scope.global_variables()}
    if f"{scope.name}/{name}" not in taken:
        return name
    number = 1
    while f"{scope.name}/{name}_{number}" in taken:
        number += 1
    return f"{name}_{number}"


def weighted_moving_average(
    value: Any,
    decay: Any,
    weight: Any,
    truediv: bool = True,
    collections: Any = None,
    name: str | None = None,
) -> Any:
    """The moving average of `value`, in which each value counts by its `weight`."""
    collections = [GraphKeys.GLOBAL_VARIABLES] if collections is None else collections
    with variable_scope(name, "WeightedMovingAvg", [value, weight, decay]) as scope:
        totals = [
            get_variable(
                total_name,
                shape=tensor.get_shape(),
                dtype=tensor.dtype,
                initializer=Zeros(),
                trainable=False,
                collections=collections,
            )
            for total_name, tensor in (("value_x_weight", value), ("weight", weight))
        ]
        numerator = assign_moving_average(totals[0], value * weight, decay, zero_debias=False)
        denominator = assign_moving_average(totals[1], weight, decay, zero_debias=False)
        divide = math.truediv if truediv else math.div
        return divide(numerator, denominator, name=scope.name)


def _early_decay(num_updates: Any) -> Tensor:
    """The decay that an average may have after so many updates."""
    count = math.cast(num_updates, dtypes.float32, name="num_updates")
    return (1.0 + count) / (10.0 + count)


class ExponentialMovingAverage:
    """Keeps moving averages of variables (or tensors) in shadow variables.

    `num_updates`, a step count, makes the decay smaller at first: (1 + n) / (10 + n).

    Args:
        decay: how much of the old average stays at each update.
        num_updates: see above.
        zero_debias: whether averages of tensors are corrected for their start at zero.
        name: a part of the names of the shadow variables.

    Example:
        >>> v = tf.Variable(0.0)
        >>> average = tf.train.ExponentialMovingAverage(0.9)
        >>> maintain = average.apply([v])
        >>> session.run(tf.global_variables_initializer())
        >>> _ = session.run(v.assign(10.0))
        >>> session.run(maintain)
        >>> round(float(session.run(average.average(v))), 3)
        1.0
    """

    def __init__(
        self,
        decay: Any,
        num_updates: Any = None,
        zero_debias: bool = False,
        name: str = "ExponentialMovingAverage",
    ) -> None:
        self._decay, self._num_updates = decay, num_updates
        self._zero_debias, self._name = zero_debias, name
        self._averages: dict[Any, Any] = {}

    @property
    def name(self) -> str:
        return self._name

    def apply(self, var_list: Any = None) -> Operation:
        """Makes the averages of `var_list` if need be; the result updates them."""
        var_list = trainable_variables() if var_list is None else var_list
        debiased = {var for var in var_list if self._begin(var) and self._is_debiased(var)}
        with name_scope(self.name) as scope:
            decay = convert_to_tensor(self._decay, name="decay")
            if self._num_updates is not None:
                decay = math.minimum(decay, _early_decay(self._num_updates))
            updates = [
                assign_moving_average(self._averages[var], var, decay, var in debiased)
                for var in var_list
            ]
            return control.group(*updates, name=scope)

    def _begin(self, var: Any) -> bool:
        """Makes the average of `var`; false if there is one already."""
        if var.dtype.base_dtype not in _AVERAGED_TYPES:
            raise TypeError(f"The variables must be half, float, or double: {var.name}")
        if var in self._averages:
            return False
        self._averages[var] = self._make_average(var)
        return True

    def _is_debiased(self, var: Any) -> bool:
        return self._zero_debias and not isinstance(var, Variable)

    def _make_average(self, var: Any) -> Any:
        with init_scope():
            if isinstance(var, Variable):
                average = slot_creator.create_slot(var, var.initialized_value(), self.name)
                add_to_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, var)
                return average
            is_variable = var.op.definition.is_variable
            return slot_creator.create_zeros_slot(var, self.name, colocate_with_primary=is_variable)

    def average(self, var: Any) -> Any:
        """The variable that holds the average of `var`, or None."""
        return self._averages.get(var)

    def average_name(self, var: Any) -> str:
        """The name the average of `var` has, or would have."""
        if var in self._averages:
            return self._averages[var].op.name
        return get_default_graph().unique_name(f"{var.op.name}/{self.name}", mark_as_used=False)

    def variables_to_restore(self, moving_avg_variables: Any = None) -> dict[str, Any]:
        """Checkpoint name -> variable, such that a Saver loads averages in place of variables."""
        if moving_avg_variables is None:
            moving_avg_variables = trainable_variables() + moving_average_variables()
        averaged = dict.fromkeys(moving_avg_variables)
        names = {self.average_name(v): v for v in averaged}
        taken = {v.name for v in averaged}
        for var in global_variables():
            if var.name not in taken and var.op.name not in names:
                names[var.op.name] = var
        return names


_AVERAGED_TYPES = (dtypes.bfloat16, dtypes.float16, dtypes.float32, dtypes.float64)
