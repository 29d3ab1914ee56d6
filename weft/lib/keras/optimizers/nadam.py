"""Adam with Nesterov's momentum."""

from __future__ import annotations

from typing import Any

from weft.graph.graph import control_dependencies
from weft.lib.keras.optimizers.adam import _Moments
from weft.lib.keras.optimizers.optimizer_v2 import ApplyState
from weft.lib.keras.optimizers.schedules import LearningRateSchedule
from weft.ops.array import array, gather
from weft.ops.control import control
from weft.ops.math import casts, math
from weft.ops.state.updates import assign
from weft.ops.state.variables import VariableAggregation


class Nadam(_Moments):
    """Adam that looks ahead by its momentum, which follows a schedule of its own."""

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: Any = 0.9,
        beta_2: Any = 0.999,
        epsilon: Any = 1e-7,
        name: str = "Nadam",
        **kwargs: Any,
    ) -> None:
        kwargs["decay"] = kwargs.pop("schedule_decay", 0.004)
        if isinstance(kwargs.get("lr", learning_rate), LearningRateSchedule):
            raise ValueError(
                "The Nadam optimizer does not support tf.keras.optimizers.LearningRateSchedules "
                "as the learning rate."
            )
        super().__init__(learning_rate, beta_1, beta_2, epsilon, name, **kwargs)
        self._m_cache: Any = None

    def _create_slots(self, var_list: list[Any]) -> None:
        if self._m_cache is None:
            dtype = var_list[0].dtype.base_dtype
            self._m_cache = self._add_number(
                "momentum_cache",
                dtype=dtype,
                initializer="ones",
                aggregation=VariableAggregation.NONE,
            )
            self._weights.append(self._m_cache)
        super()._create_slots(var_list)

    def _prepare(self, var_list: list[Any]) -> ApplyState:
        # Read once: the update of the first type of variables changes it.
        self._m_cache_read = array.identity(self._m_cache)
        return super()._prepare(var_list)

    def _prepare_local(self, var_device: str, var_dtype: Any, apply_state: ApplyState) -> None:
        rate = array.identity(self._get_hyper("learning_rate", var_dtype))
        known = self._betas(var_dtype)
        beta_1, beta_2 = known.values()
        steps = [casts.cast(self.iterations + ahead, var_dtype) for ahead in (1, 2)]
        base = casts.cast(0.96, var_dtype)
        now, later = (
            beta_1 * (1.0 - 0.5 * math.pow(base, self._initial_decay * step)) for step in steps
        )
        product = casts.cast(self._m_cache_read, var_dtype) * now
        if var_dtype is self._m_cache.dtype.base_dtype:
            product = array.identity(assign(self._m_cache, product, use_locking=self._use_locking))
        next_product = product * later
        known |= {"lr_t": rate, "neg_lr_t": -rate, "m_t_1": later}
        known |= self._constants(var_dtype, beta_1, beta_2)
        apply_state[var_device, var_dtype] = known | {
            "one_minus_m_t": 1.0 - now,
            "one_minus_m_schedule_new": 1.0 - product,
            "one_minus_m_schedule_next": 1.0 - next_product,
            "v_t_prime_denominator": 1.0 - math.pow(beta_2, steps[0]),
        }

    def _averaged(self, known: dict[str, Any], var: Any, rank: int, value: Any) -> Any:
        """Moves the average of gradients (rank 1), or of their squares (2), towards a new one."""
        slot = self.get_slot(var, "mv"[rank - 1])
        kept, new = (known[f"{part}beta_{rank}_t"] for part in ("", "one_minus_"))
        moved = kept * slot
        moved += new * (math.square(value) if rank == 2 else value)
        return assign(slot, moved, use_locking=self._use_locking)

    def _resource_apply_dense(self, grad: Any, var: Any, apply_state: Any = None) -> Any:
        known = self._coefficients(var, apply_state)
        now = grad / known["one_minus_m_schedule_new"]
        then = self._averaged(known, var, 1, grad) / known["one_minus_m_schedule_next"]
        size = self._averaged(known, var, 2, grad) / known["v_t_prime_denominator"]
        mean = known["one_minus_m_t"] * now + known["m_t_1"] * then
        moved = var - known["lr_t"] * mean / (math.sqrt(size) + known["epsilon"])
        return assign(var, moved, use_locking=self._use_locking).op

    def _resource_apply_sparse(
        self, grad: Any, var: Any, indices: Any, apply_state: Any = None
    ) -> Any:
        known = self._coefficients(var, apply_state)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        now = grad / known["one_minus_m_schedule_new"]
        m_t = self._decayed_then_added(
            m, known["beta_1_t"], indices, grad * known["one_minus_beta_1_t"]
        )
        then = gather.gather(m_t, indices) / known["one_minus_m_schedule_next"]
        mean = known["one_minus_m_t"] * now + known["m_t_1"] * then
        v_t = self._decayed_then_added(
            v, known["beta_2_t"], indices, (grad * grad) * known["one_minus_beta_2_t"]
        )
        size = math.sqrt(gather.gather(v_t, indices) / known["v_t_prime_denominator"])
        size += known["epsilon"]
        change = known["neg_lr_t"] * mean / size
        with control_dependencies([change]):
            return control.group(self._resource_scatter_add(var, indices, change), m_t, v_t)
