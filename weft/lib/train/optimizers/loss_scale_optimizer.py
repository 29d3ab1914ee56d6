"""An optimizer whose loss is scaled up, and its gradients down again."""

from __future__ import annotations

from typing import Any

from weft.graph.slices import IndexedSlices
from weft.lib.train.optimizers.loss_scale import DynamicLossScale, as_loss_scale
from weft.lib.train.optimizers.optimizer import Optimizer
from weft.lib.train.optimizers.wrapper import WrapperOptimizer
from weft.ops.control import control
from weft.ops.control.cond import smart_cond
from weft.ops.math import math


def scaled_gradient(grad: Any, factor: Any) -> Any:
    """A gradient, dense or sparse or None, times a number."""
    if grad is None:
        return None
    if isinstance(grad, IndexedSlices):
        values = grad.values * math.cast(factor, grad.dtype.base_dtype)
        return IndexedSlices(values, grad.indices, grad.dense_shape)
    return grad * math.cast(factor, grad.dtype.base_dtype)


def scaled_loss(loss: Any, scale: Any) -> Any:
    """The loss times the current scale; a function stays one."""
    loss = loss() if callable(loss) else loss
    return loss * math.cast(scale, loss.dtype.base_dtype)


class MixedPrecisionLossScaleOptimizer(WrapperOptimizer):
    """`opt` with a loss scale; with a dynamic one, steps with infinite gradients are left out."""

    def __init__(self, opt: Optimizer, loss_scale: Any) -> None:
        if not isinstance(opt, Optimizer):
            raise ValueError(f'"opt" must be an instance of Optimizer, but got: {type(opt)}')
        super().__init__(opt, opt._use_locking, opt.get_name())
        self._loss_scale = as_loss_scale(loss_scale)

    def compute_gradients(self, loss: Any, *args: Any, **kwargs: Any) -> list[tuple[Any, Any]]:
        assert self._loss_scale is not None
        scale = self._loss_scale()
        pairs = self._optimizer.compute_gradients(scaled_loss(loss, scale), *args, **kwargs)
        return [(scaled_gradient(grad, 1 / scale), var) for grad, var in pairs]

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        pairs = tuple(grads_and_vars)
        if not isinstance(self._loss_scale, DynamicLossScale):
            return self._optimizer.apply_gradients(pairs, global_step, name)
        name = self.get_name() if name is None else name
        adapted, good = self._loss_scale.update([grad for grad, _ in pairs])
        applied = smart_cond(
            good,
            lambda: self._optimizer.apply_gradients(pairs, global_step, f"{name}-wrapped"),
            control.no_op,
        )
        return control.group(applied, adapted, name=name)

    def variables(self) -> list[Any]:
        scale = list(self._loss_scale._weights.values()) if self._loss_scale else []
        return self._optimizer.variables() + scale
