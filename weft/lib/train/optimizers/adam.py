"""Adam: steps from running averages of gradients and of their squares."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from weft.graph.graph import (
    Tensor,
    colocate_with,
    control_dependencies,
    get_default_graph,
)
from weft.graph.op_def import raw
from weft.graph.slices import IndexedSlices
from weft.lib.train.optimizers.optimizer import Optimizer
from weft.ops.control import control
from weft.ops.math import math
from weft.ops.state.updates import assign, assign_sub, scatter_add


class AdamOptimizer(Optimizer):
    """Divides a running mean of gradients by the root of a running mean of their squares.

    Both means start at zero; the powers `beta1_power` and `beta2_power` undo that bias.

    Args:
        learning_rate: how far a step goes: a number, a tensor, or a function that gives one.
        beta1: how slowly the mean of gradients forgets.
        beta2: how slowly the mean of their squares forgets.
        epsilon: added to the root, so that it is not zero.
        use_locking: lock variables while they are updated.
        name: of the operations.

    Example:
        >>> v = tf.Variable(1.0)
        >>> train = tf.train.AdamOptimizer(0.1).minimize(v * v)
        >>> session.run(tf.global_variables_initializer())
        >>> session.run(train)
        >>> round(float(session.run(v)), 3)
        0.9
    """

    _HYPERPARAMETERS = (
        ("_lr", "_lr_t", "learning_rate"),
        ("_beta1", "_beta1_t", "beta1"),
        ("_beta2", "_beta2_t", "beta2"),
        ("_epsilon", "_epsilon_t", "epsilon"),
    )
    _KERNEL, _SLOTS = "Adam", ("m", "v")
    _INPUTS: Mapping[str, str] = {
        "lr": "_lr_t",
        "beta1": "_beta1_t",
        "beta2": "_beta2_t",
        "epsilon": "_epsilon_t",
    }
    _lr_t: Any
    _beta1_t: Any
    _beta2_t: Any
    _epsilon_t: Any

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "Adam",
    ) -> None:
        super().__init__(use_locking, name)
        self._lr, self._beta1, self._beta2, self._epsilon = learning_rate, beta1, beta2, epsilon

    def _get_beta_accumulators(self) -> tuple[Any, Any]:
        graph = get_default_graph()
        return (
            self._get_non_slot_variable("beta1_power", graph=graph),
            self._get_non_slot_variable("beta2_power", graph=graph),
        )

    def _create_slots(self, var_list: list[Any]) -> None:
        # All workers must agree on where the powers live, whatever the order of their lists.
        first = min(var_list, key=lambda v: v.name)
        for name, beta in (("beta1_power", self._beta1), ("beta2_power", self._beta2)):
            self._create_non_slot_variable(
                initial_value=self._call_if_callable(beta), name=name, colocate_with=first
            )
        super()._create_slots(var_list)

    def _inputs(self) -> dict[str, Any]:
        beta1_power, beta2_power = self._get_beta_accumulators()
        return {"beta1_power": beta1_power, "beta2_power": beta2_power, **super()._inputs()}

    def _apply_sparse_shared(
        self, grad: Tensor, var: Any, indices: Tensor, scatter_add: Callable[..., Any]
    ) -> Any:
        """A sparse gradient still decays the averages, and so moves the variable, everywhere."""
        given = (*self._get_beta_accumulators(), *super()._inputs().values())
        casts = (math.cast(each, var.dtype.base_dtype) for each in given)
        beta1_power, beta2_power, rate, beta1, beta2, epsilon = casts
        rate = rate * math.sqrt(1 - beta2_power) / (1 - beta1_power)

        averages = []
        for slot, beta, value in (("m", beta1, lambda: grad), ("v", beta2, lambda: grad * grad)):
            held, new = self.get_slot(var, slot), value() * (1 - beta)
            decayed = assign(held, held * beta, use_locking=self._use_locking)
            with control_dependencies([decayed]):
                averages.append(scatter_add(held, indices, new))
        mean, square = averages
        root = math.sqrt(square)
        step = rate * mean / (root + epsilon)
        return control.group(assign_sub(var, step, use_locking=self._use_locking), mean, square)

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        def scatter(x: Any, i: Tensor, v: Tensor) -> Any:
            return scatter_add(x, i, v, use_locking=self._use_locking)

        return self._apply_sparse_shared(grad.values, var, grad.indices, scatter)

    def _resource_apply_sparse(self, grad: Tensor, var: Any, indices: Tensor) -> Any:
        return self._apply_sparse_shared(grad, var, indices, self._resource_scatter_add)

    def _resource_scatter_add(self, x: Any, i: Tensor, v: Tensor) -> Tensor:
        with control_dependencies([raw.ResourceScatterAdd(x.handle, i, v)]):
            return x.value()

    def _finish(self, update_ops: list[Any], name_scope: str) -> Any:
        powers = self._get_beta_accumulators()
        with control_dependencies(update_ops), colocate_with(powers[0].op):
            updates = [
                power.assign(power * beta, use_locking=self._use_locking)
                for power, beta in zip(powers, (self._beta1_t, self._beta2_t), strict=True)
            ]
        return control.group(*update_ops, *updates, name=name_scope)
