"""Adam: steps from running averages of gradients and of their squares."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.graph.graph import (
    Tensor,
    colocate_with,
    control_dependencies,
    get_default_graph,
)
from weft.graph.op_def import raw
from weft.graph.slices import IndexedSlices
from weft.lib.train.optimizers.optimizer import KernelOptimizer, training_op
from weft.ops.control import control
from weft.ops.math import math
from weft.ops.state.updates import assign, assign_sub, scatter_add


class AdamOptimizer(KernelOptimizer):
    """Divides a running mean of gradients by the root of a running mean of their squares.

    Both means start at zero; the powers `beta1_power` and `beta2_power` undo that bias.
    """

    _HYPERPARAMETERS = (
        ("_lr", "_lr_t", "learning_rate"),
        ("_beta1", "_beta1_t", "beta1"),
        ("_beta2", "_beta2_t", "beta2"),
        ("_epsilon", "_epsilon_t", "epsilon"),
    )

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
        self._lr_t: Any = None
        self._beta1_t: Any = None
        self._beta2_t: Any = None
        self._epsilon_t: Any = None

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
        for var in var_list:
            self._zeros_slot(var, "m", self._name)
            self._zeros_slot(var, "v", self._name)

    def _step(self, grad: Tensor, var: Any, indices: Tensor | None) -> Any:
        beta1_power, beta2_power = self._get_beta_accumulators()
        return training_op(
            "Adam",
            var,
            [self.get_slot(var, "m"), self.get_slot(var, "v")],
            grad,
            indices,
            {
                "beta1_power": beta1_power,
                "beta2_power": beta2_power,
                "lr": self._lr_t,
                "beta1": self._beta1_t,
                "beta2": self._beta2_t,
                "epsilon": self._epsilon_t,
            },
            use_locking=self._use_locking,
        )

    def _apply_sparse_shared(
        self, grad: Tensor, var: Any, indices: Tensor, scatter_add: Callable[..., Any]
    ) -> Any:
        """A sparse gradient still decays the averages, and so moves the variable, everywhere."""
        dtype = var.dtype.base_dtype
        beta1_power, beta2_power = (math.cast(p, dtype) for p in self._get_beta_accumulators())
        rate, beta1 = math.cast(self._lr_t, dtype), math.cast(self._beta1_t, dtype)
        beta2, epsilon = math.cast(self._beta2_t, dtype), math.cast(self._epsilon_t, dtype)
        rate = rate * math.sqrt(1 - beta2_power) / (1 - beta1_power)
        m = self.get_slot(var, "m")
        m_new = grad * (1 - beta1)
        m_t = assign(m, m * beta1, use_locking=self._use_locking)
        with control_dependencies([m_t]):
            m_t = scatter_add(m, indices, m_new)
        v = self.get_slot(var, "v")
        v_new = (grad * grad) * (1 - beta2)
        v_t = assign(v, v * beta2, use_locking=self._use_locking)
        with control_dependencies([v_t]):
            v_t = scatter_add(v, indices, v_new)
        update = rate * m_t / (math.sqrt(v_t) + epsilon)
        var_update = assign_sub(var, update, use_locking=self._use_locking)
        return control.group(var_update, m_t, v_t)

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
        beta1_power, beta2_power = self._get_beta_accumulators()
        with control_dependencies(update_ops), colocate_with(beta1_power.op):
            powers = [
                beta1_power.assign(beta1_power * self._beta1_t, use_locking=self._use_locking),
                beta2_power.assign(beta2_power * self._beta2_t, use_locking=self._use_locking),
            ]
        return control.group(*update_ops, *powers, name=name_scope)
