"""Relatives of Adam: lazy on sparse gradients, with Nesterov's step, with the maximum norm."""

from __future__ import annotations

from itertools import product
from typing import Any

from weft.graph.graph import Tensor, colocate_with, control_dependencies, get_default_graph
from weft.graph.op_def import raw
from weft.graph.slices import IndexedSlices
from weft.lib.train.optimizers.adam import AdamOptimizer
from weft.lib.train.optimizers.kernel_steps import training_op
from weft.ops.array.gather import gather
from weft.ops.control import control
from weft.ops.math import math
from weft.ops.state.resource_variable import is_resource_variable
from weft.ops.state.updates import assign, scatter_add, scatter_update


class _RowAdam(AdamOptimizer):
    """Adam whose sparse update is `_update_rows`, for either kind of variable."""

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        return self._update_rows(grad.values, var, grad.indices)

    def _resource_apply_sparse(self, grad: Tensor, var: Any, indices: Tensor) -> Any:
        return self._update_rows(grad, var, indices)

    def _update_rows(self, grad: Tensor, var: Any, indices: Tensor) -> Any:
        raise NotImplementedError

    def _scalars(self, var: Any) -> tuple[Any, ...]:
        """Learning rate, beta1, beta2 and epsilon in the type of `var`."""
        tensors = (self._lr_t, self._beta1_t, self._beta2_t, self._epsilon_t)
        return tuple(math.cast(t, var.dtype.base_dtype) for t in tensors)

    def _set(self, var: Any, indices: Tensor, rows: Tensor) -> Any:
        if is_resource_variable(var):
            return raw.ResourceScatterUpdate(var.handle, indices, rows)
        return scatter_update(var, indices, rows, use_locking=self._use_locking)

    def _add(self, var: Any, indices: Tensor, rows: Tensor) -> Any:
        if is_resource_variable(var):
            return raw.ResourceScatterAdd(var.handle, indices, rows)
        return scatter_add(var, indices, rows, use_locking=self._use_locking)


class LazyAdamOptimizer(_RowAdam):
    """Adam that leaves rows without a gradient alone: no decay of averages, no step.

    For large tables this is much less work; the result differs a little from Adam's.
    """

    def _update_rows(self, grad: Tensor, var: Any, indices: Tensor) -> Any:
        powers = [math.cast(p, var.dtype.base_dtype) for p in self._get_beta_accumulators()]
        rate, beta1, beta2, epsilon = self._scalars(var)
        rate = rate * math.sqrt(1 - powers[1]) / (1 - powers[0])
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m_rows = beta1 * gather(m, indices) + (1 - beta1) * grad
        v_rows = beta2 * gather(v, indices) + (1 - beta2) * math.square(grad)
        step = rate * m_rows / (math.sqrt(v_rows) + epsilon)
        return control.group(
            self._add(var, indices, -step),
            self._set(m, indices, m_rows),
            self._set(v, indices, v_rows),
        )


class NadamOptimizer(_RowAdam):
    """Adam with Nesterov's momentum."""

    def _step(self, grad: Tensor, var: Any, indices: Tensor | None) -> Any:
        beta1_power, beta2_power = self._get_beta_accumulators()
        scalars = {
            "beta1_power": beta1_power,
            "beta2_power": beta2_power,
            "lr": self._lr_t,
            "beta1": self._beta1_t,
            "beta2": self._beta2_t,
            "epsilon": self._epsilon_t,
        }
        return training_op(
            "Adam",
            var,
            [self.get_slot(var, "m"), self.get_slot(var, "v")],
            grad,
            indices,
            scalars,
            use_locking=self._use_locking,
            use_nesterov=True,
        )

    def _update_rows(self, grad: Tensor, var: Any, indices: Tensor) -> Any:
        powers = [math.cast(p, var.dtype.base_dtype) for p in self._get_beta_accumulators()]
        rate, beta1, beta2, epsilon = self._scalars(var)
        rate = rate * math.sqrt(1 - powers[1]) / (1 - powers[0])
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m_new, v_new = grad * (1 - beta1), grad * grad * (1 - beta2)
        m_t = self._decayed(m, beta1, indices, m_new)
        v_t = self._decayed(v, beta2, indices, v_new)
        ahead = m_new + beta1 * gather(m_t, indices)
        step = -rate * ahead / (math.sqrt(gather(v_t, indices)) + epsilon)
        return control.group(self._add(var, indices, step), ahead, v_t)

    def _decayed(self, average: Any, beta: Tensor, indices: Tensor, new: Tensor) -> Any:
        """An average after it has decayed everywhere and grown in some rows."""
        with control_dependencies([assign(average, average * beta, use_locking=self._use_locking)]):
            grown = self._add(average, indices, new)
        if not is_resource_variable(average):
            return grown
        with control_dependencies([grown]):
            return average.value()


class AdaMaxOptimizer(_RowAdam):
    """Adam by the largest gradient so far in the place of the mean square."""

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "AdaMax",
    ) -> None:
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)

    def _get_beta_accumulators(self) -> Any:
        return self._get_non_slot_variable("beta1_power", graph=get_default_graph())

    def _create_slots(self, var_list: list[Any]) -> None:
        beside = min(var_list, key=lambda v: v.name)
        self._create_non_slot_variable(self._beta1, "beta1_power", beside)
        for var, slot in product(var_list, ("m", "v")):
            self._zeros_slot(var, slot, self._name)

    def _step(self, grad: Tensor, var: Any, indices: Tensor | None) -> Any:
        scalars = {
            "beta1_power": self._get_beta_accumulators(),
            "lr": self._lr_t,
            "beta1": self._beta1_t,
            "beta2": self._beta2_t,
            "epsilon": self._epsilon_t,
        }
        slots = [self.get_slot(var, "m"), self.get_slot(var, "v")]
        return training_op(
            "AdaMax", var, slots, grad, indices, scalars, use_locking=self._use_locking
        )

    def _update_rows(self, grad: Tensor, var: Any, indices: Tensor) -> Any:
        rate, beta1, beta2, epsilon = self._scalars(var)
        power = math.cast(self._get_beta_accumulators(), var.dtype.base_dtype)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m_rows = gather(m, indices) * beta1 + grad * (1 - beta1)
        v_rows = math.maximum(gather(v, indices) * beta2, math.abs(grad))
        step = -rate / (1 - power) * (m_rows / (v_rows + epsilon))
        return control.group(
            self._add(var, indices, step),
            self._set(m, indices, m_rows),
            self._set(v, indices, v_rows),
        )

    def _finish(self, update_ops: list[Any], name_scope: str) -> Any:
        power = self._get_beta_accumulators()
        with control_dependencies(update_ops), colocate_with(power.op):
            moved = power.assign(power * self._beta1_t, use_locking=self._use_locking)
        return control.group(*update_ops, moved, name=name_scope)
