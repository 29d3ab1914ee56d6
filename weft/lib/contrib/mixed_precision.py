"""tf.contrib.mixed_precision: loss scales with managers of their own."""

from __future__ import annotations

import abc
from typing import Any

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.lib.train.optimizers.loss_scale import all_finite
from weft.lib.train.optimizers.loss_scale_optimizer import scaled_gradient, scaled_loss
from weft.lib.train.optimizers.optimizer import Optimizer
from weft.lib.train.optimizers.wrapper import WrapperOptimizer
from weft.ops.control import control
from weft.ops.control.cond import cond
from weft.ops.math import math
from weft.ops.state.updates import assign, assign_add
from weft.ops.state.variables import Variable


class LossScaleManager(abc.ABC):
    """Keeps a loss scale, and changes it with what comes of it."""

    @abc.abstractmethod
    def get_loss_scale(self) -> Any:
        """The factor for the loss."""

    @abc.abstractmethod
    def update_loss_scale(self, finite_grads: Any) -> Any:
        """An op that adapts the factor, given whether the gradients were finite."""


class FixedLossScaleManager(LossScaleManager):
    """A factor that stays."""

    def __init__(self, loss_scale: float) -> None:
        if loss_scale < 1:
            raise ValueError("loss scale must be at least 1.")
        self._loss_scale = convert_to_tensor(loss_scale, dtype=dtypes.float32)

    def get_loss_scale(self) -> Any:
        return self._loss_scale

    def update_loss_scale(self, finite_grads: Any) -> Any:
        return control.no_op()


class ExponentialUpdateLossScaleManager(LossScaleManager):
    """A factor that grows after so many good steps and shrinks after so many bad ones."""

    def __init__(
        self,
        init_loss_scale: float,
        incr_every_n_steps: int,
        decr_every_n_nan_or_inf: int = 2,
        incr_ratio: float = 2,
        decr_ratio: float = 0.8,
    ) -> None:
        self._incr_every_n_steps = incr_every_n_steps
        self._decr_every_n_nan_or_inf = decr_every_n_nan_or_inf
        self._incr_ratio, self._decr_ratio = incr_ratio, decr_ratio
        self._loss_scale: Any = Variable(
            convert_to_tensor(init_loss_scale, dtypes.float32), name="loss_scale", trainable=False
        )
        self._num_good_steps: Any = Variable(0, name="good_steps", trainable=False)
        self._num_bad_steps: Any = Variable(0, name="bad_steps", trainable=False)

    def get_loss_scale(self) -> Any:
        return self._loss_scale

    def _set(self, scale: Any) -> Any:
        """Changes the factor, and counts from zero again."""
        return control.group(
            assign(self._loss_scale, scale),
            assign(self._num_good_steps, 0),
            assign(self._num_bad_steps, 0),
        )

    def update_loss_scale(self, finite_grads: Any) -> Any:
        return cond(finite_grads, self._after_good, self._after_bad)

    def _after_good(self) -> Any:
        def grow() -> Any:
            larger = self._loss_scale * self._incr_ratio
            return self._set(
                cond(math.is_finite(larger), lambda: larger, lambda: self._loss_scale + 0.0)
            )

        full = self._num_good_steps + 1 >= self._incr_every_n_steps
        return cond(full, grow, lambda: assign_add(self._num_good_steps, 1).op)

    def _after_bad(self) -> Any:
        enough = self._num_bad_steps + 1 >= self._decr_every_n_nan_or_inf
        return cond(
            enough,
            lambda: self._set(math.maximum(1.0, self._loss_scale * self._decr_ratio)),
            lambda: control.group(
                assign_add(self._num_bad_steps, 1), assign(self._num_good_steps, 0)
            ),
        )


class LossScaleOptimizer(WrapperOptimizer):
    """`opt` with a loss scale; steps whose gradients are not finite are left out."""

    def __init__(self, opt: Optimizer, loss_scale_manager: LossScaleManager) -> None:
        super().__init__(opt, opt._use_locking, opt.get_name())
        self._loss_scale_manager = loss_scale_manager

    def compute_gradients(self, loss: Any, *args: Any, **kwargs: Any) -> list[tuple[Any, Any]]:
        scale = self._loss_scale_manager.get_loss_scale()
        pairs = self._opt.compute_gradients(scaled_loss(loss, scale), *args, **kwargs)
        return [(scaled_gradient(grad, math.reciprocal(scale)), var) for grad, var in pairs]

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        pairs = list(grads_and_vars)
        finite = all_finite(grad for grad, _ in pairs)
        applied = cond(
            finite,
            lambda: self._opt.apply_gradients(pairs, global_step, name),
            control.no_op,
        )
        return control.group(applied, self._loss_scale_manager.update_loss_scale(finite))
