"""An optimizer that keeps moving averages of what it trains, and saves them in its place."""

from __future__ import annotations

from typing import Any

from weft.graph.graph import control_dependencies
from weft.lib.train.optimizers.moving_averages import ExponentialMovingAverage
from weft.lib.train.optimizers.optimizer import Optimizer
from weft.lib.train.optimizers.wrapper import WrapperOptimizer
from weft.ops.control import control
from weft.ops.state.partitioned_variable import PartitionedVariable
from weft.ops.state.variables import global_variables


class MovingAverageOptimizer(WrapperOptimizer):
    """Runs `opt`, then moves the averages; `swapping_saver` saves averages as the variables."""

    def __init__(
        self,
        opt: Optimizer,
        average_decay: float = 0.9999,
        num_updates: Any = None,
        sequential_update: bool = True,
    ) -> None:
        super().__init__(opt, opt._use_locking, opt.get_name())
        self._ema = ExponentialMovingAverage(average_decay, num_updates=num_updates)
        self._swapped_variable_name_map: dict[str, str] | None = None
        self._sequential_update = sequential_update

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        grads_and_vars = list(grads_and_vars)
        train = self._optimizer.apply_gradients(grads_and_vars, global_step=global_step, name=name)
        var_list = [var for grad, var in grads_and_vars if grad is not None]
        with control_dependencies([train] if self._sequential_update else []):
            averaged = self._ema.apply(var_list)
        swapped = {}
        for var in var_list:
            average = self._ema.average(var).op.name
            swapped[var.op.name], swapped[average] = average, var.op.name
        self._swapped_variable_name_map = swapped
        return control.group(train, averaged, name="train_with_avg")

    def swapping_saver(
        self, var_list: Any = None, name: str = "swapping_saver", **kwargs: Any
    ) -> Any:
        """A saver in whose checkpoints averages and variables have each other's names."""
        from weft.lib.train.checkpoint.saver import Saver

        if self._swapped_variable_name_map is None:
            raise RuntimeError(
                "Must call apply_gradients or minimize before creating the swapping_saver"
            )
        given = global_variables() if var_list is None else var_list
        named = given if isinstance(given, dict) else _by_name(given)
        known: dict[str, Any] = {}
        for key, value in named.items():
            if isinstance(value, (list, PartitionedVariable)):
                known.update((part.op.name, part) for part in value)
            else:
                known[key] = value
        return Saver(
            {key: self._swapped(known, key, value) for key, value in named.items()},
            name=name,
            **kwargs,
        )

    def _swapped(self, known: dict[str, Any], key: str, value: Any) -> Any:
        if isinstance(value, list):
            return [self._swapped(known, part.op.name, part) for part in value]
        other = (self._swapped_variable_name_map or {}).get(key)
        if other is None:
            return value
        if other not in known:
            raise ValueError(
                f"Variable to swap {other} is not part of variables to save. This breaks "
                "MovingAverageOptimizer."
            )
        return known[other]


def _by_name(variables: Any) -> dict[str, Any]:
    """Names in a checkpoint -> variables; the parts of a variable together, as a list."""
    named: dict[str, Any] = {}
    for var in variables:
        info = getattr(var, "_save_slice_info", None)
        if info is None:
            named[var.op.name] = var
        else:
            named.setdefault(info.full_name, []).append(var)
    return named
