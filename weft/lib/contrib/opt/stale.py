"""An optimizer that drops gradients which took too long."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from weft.core import dtypes
from weft.graph.graph import Tensor, colocate_with, control_dependencies
from weft.lib.summary.summary import scalar
from weft.lib.train.optimizers.optimizer import Optimizer
from weft.lib.train.optimizers.wrapper import WrapperOptimizer
from weft.ops.array.placeholders import identity
from weft.ops.array.shape import reshape
from weft.ops.control.cond import cond
from weft.ops.math import math
from weft.ops.state import variable_scope as vs
from weft.ops.state.global_step import get_global_step
from weft.ops.state.initializers import zeros_initializer


class DropStaleGradientOptimizer(WrapperOptimizer):
    """Applies gradients only if few steps were counted since their computation began.

    Args:
        opt: the optimizer that computes and applies them.
        staleness: how many steps others may have counted meanwhile.
        use_locking: lock variables while they are updated.
        name: of the operations.
    """

    def __init__(
        self,
        opt: Optimizer,
        staleness: int,
        use_locking: bool = False,
        name: str = "DropStaleGradient",
    ) -> None:
        super().__init__(opt, use_locking, name)
        self._staleness = staleness

    def compute_gradients(self, loss: Any, *args: Any, **kwargs: Any) -> Any:
        """Those of the optimizer inside; the global step is read before anything else."""
        with self._after_reading_step(loss) as held:
            return self._opt.compute_gradients(held, *args, **kwargs)

    @contextmanager
    def _after_reading_step(self, loss: Any) -> Iterator[Tensor]:
        with colocate_with(loss):
            self._local_step = get_global_step() + 0
        with control_dependencies([self._local_step]):
            yield identity(loss)

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        """An operation that applies them, or adds 1 to `stale_counter`."""
        grads_and_vars = list(grads_and_vars)
        with colocate_with(global_step):
            dropped = vs.get_variable(
                "stale_counter", [], initializer=zeros_initializer(), trainable=False
            )

        def accept() -> Tensor:
            applied = self._opt.apply_gradients(grads_and_vars, global_step=global_step, name=name)
            with control_dependencies([applied]):
                return identity(0.0)

        found = [grad for grad, _ in grads_and_vars if grad is not None]
        ready = [grad if isinstance(grad, Tensor) else grad.op for grad in found]
        with control_dependencies(ready), colocate_with(global_step):
            age = reshape(global_step - self._local_step, [])
        fresh = math.less_equal(age, self._staleness)
        counted = dropped.assign_add(cond(fresh, accept, lambda: identity(1.0)))
        steps = math.cast(global_step + 1, dtypes.float32)
        scalar("Gradient staleness percentage", dropped / steps)
        return counted
