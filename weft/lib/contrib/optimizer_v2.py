"""tf.contrib.optimizer_v2: the optimizers of `tf.train` under the interface that was to follow it.

Settings may be numbers, tensors or functions of no argument. The loss of a replica may be divided
by the number of replicas, and gradients stopped at some tensors.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weft.autodiff.gradients import gradients
from weft.core import nest
from weft.graph.graph import Operation
from weft.lib.distribute.context import get_strategy
from weft.lib.train.optimizers import (
    adadelta,
    adagrad,
    adam,
    gradient_descent,
    momentum,
    optimizer,
    rmsprop,
)
from weft.lib.train.optimizers.kernel_steps import hyperparameters
from weft.ops.array import array
from weft.ops.math import math
from weft.ops.state.variable_lists import trainable_variables

__all__ = [
    "AdadeltaOptimizer",
    "AdagradOptimizer",
    "AdamOptimizer",
    "GradientDescentOptimizer",
    "MomentumOptimizer",
    "OptimizerV2",
    "RMSPropOptimizer",
]


class OptimizerV2(optimizer.Optimizer):
    """An optimizer whose loss is that of one replica among others."""

    GATE_NONE, GATE_OP, GATE_GRAPH = 0, 1, 2

    def minimize(  # type: ignore[override]
        self,
        loss: Any,
        global_step: Any = None,
        var_list: Any = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: Any = None,
        name: str | None = None,
        grad_loss: Any = None,
        stop_gradients: Any = None,
        scale_loss_by_num_replicas: bool = False,
    ) -> Operation:
        """A step towards the minimum of a loss."""
        found = self.compute_gradients(
            loss, var_list, gate_gradients, aggregation_method, grad_loss, stop_gradients,
            scale_loss_by_num_replicas,
        )  # fmt: skip
        if all(slope is None for slope, _ in found):
            named = [str(variable) for _, variable in found]
            raise ValueError(
                "No gradients provided for any variable, check your graph for ops that do not "
                f"support gradients, between variables {named} and loss {loss}."
            )
        return self.apply_gradients(found, global_step=global_step, name=name)

    def compute_gradients(  # type: ignore[override]
        self,
        loss: Any,
        var_list: Any = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: Any = None,
        grad_loss: Any = None,
        stop_gradients: Any = None,
        scale_loss_by_num_replicas: bool = False,
    ) -> list[tuple[Any, Any]]:
        """(gradient, variable) of each variable."""
        replicas = get_strategy().num_replicas_in_sync if scale_loss_by_num_replicas else 1

        def scaled(value: Any) -> Any:
            return value * (1.0 / replicas) if replicas > 1 else value

        if stop_gradients is not None:
            whole = scaled(loss() if callable(loss) else loss)
            variables = trainable_variables() if var_list is None else nest.flatten(var_list)
            options = {"aggregation_method": aggregation_method, "stop_gradients": stop_gradients}
            slopes = gradients(whole, variables, grad_loss, **options)
            return list(zip(slopes, variables, strict=True))
        given: Any = (lambda: scaled(loss())) if callable(loss) else scaled(loss)
        return super().compute_gradients(
            given, var_list, gate_gradients, aggregation_method, grad_loss=grad_loss
        )


class _MeanFromEpsilon(rmsprop.RMSPropOptimizer):
    """RMSProp whose mean of squares starts at epsilon, which is not added under the root then."""

    _HYPERPARAMETERS = hyperparameters("learning_rate", "decay", "momentum")
    _INPUTS: Mapping[str, str] = {**rmsprop.RMSPropOptimizer._INPUTS, "epsilon": "_added"}
    _added = 0.0

    def _create_slots(self, var_list: list[Any]) -> None:
        for var in var_list:
            ones = array.ones_like(var)
            first = math.cast(self._call_if_callable(self._epsilon), ones.dtype) * ones
            self._get_or_make_slot(var, first, "rms", self._name)
            for slot in ("mg", "momentum") if self._centered else ("momentum",):
                self._zeros_slot(var, slot, self._name)


def _version_2(base: Any, doc: str, name: str | None = None) -> Any:
    """An optimizer of `tf.train` under the interface of `OptimizerV2`."""
    members = {"__doc__": doc, "__module__": __name__, "__init__": base.__init__}
    return type(name or base.__name__, (OptimizerV2, base), members)


AdadeltaOptimizer = _version_2(adadelta.AdadeltaOptimizer, "Adadelta: steps by means of squares.")
AdagradOptimizer = _version_2(adagrad.AdagradOptimizer, "Adagrad: steps by sums of squares.")
AdamOptimizer = _version_2(adam.AdamOptimizer, "Adam: steps by means and means of squares.")
GradientDescentOptimizer = _version_2(
    gradient_descent.GradientDescentOptimizer, "Gradient descent: steps against the gradient."
)
MomentumOptimizer = _version_2(momentum.MomentumOptimizer, "Momentum: steps that carry on.")
RMSPropOptimizer = _version_2(
    _MeanFromEpsilon, "RMSProp: steps by roots of mean squares.", "RMSPropOptimizer"
)
