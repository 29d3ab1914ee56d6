"""Adams that take the powers of their betas from the global step, and keep none themselves."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.lib.contrib.opt.adams import LazyAdamOptimizer
from weft.lib.train.optimizers.adam import AdamOptimizer
from weft.lib.train.optimizers.optimizer import Optimizer
from weft.ops.array.placeholders import identity
from weft.ops.math import math


class AdamGSOptimizer(AdamOptimizer):
    """Adam whose `beta ** t` come from the global step, so that workers share one count.

    Args:
        global_step: the variable that counts steps.
        learning_rate, beta1, beta2, epsilon, use_locking, name: as for `tf.train.AdamOptimizer`.
    """

    def __init__(
        self,
        global_step: Any = 0,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "Adam",
    ) -> None:
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)
        self._global_step, self._global_step_on_worker = global_step, None

    def _prepare(self) -> None:
        super()._prepare()
        self._global_step_on_worker = math.cast(identity(self._global_step) + 1, dtypes.float32)

    def _get_beta_accumulators(self) -> tuple[Any, Any]:
        step = self._global_step_on_worker
        return math.pow(self._beta1_t, step), math.pow(self._beta2_t, step)

    def _create_slots(self, var_list: list[Any]) -> None:
        Optimizer._create_slots(self, var_list)

    def _finish(self, update_ops: list[Any], name_scope: str) -> Any:
        return Optimizer._finish(self, update_ops, name_scope)


class LazyAdamGSOptimizer(AdamGSOptimizer, LazyAdamOptimizer):
    """`AdamGSOptimizer` that leaves rows without a gradient alone."""
