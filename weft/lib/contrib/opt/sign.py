"""Steps that grow where the gradient agrees with its average: AddSign and PowerSign."""

from __future__ import annotations

import math as numbers
from collections.abc import Callable
from typing import Any

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor
from weft.graph.slices import IndexedSlices
from weft.lib.train.optimizers.kernel_steps import training_op
from weft.lib.train.optimizers.optimizer import Optimizer
from weft.ops.array import array
from weft.ops.array import one_hot_search as select
from weft.ops.array.gather import gather
from weft.ops.control import control
from weft.ops.math import math
from weft.ops.state.updates import assign, scatter_sub


class _SignOptimizer(Optimizer):
    _KERNEL = ""
    _sign_decay_t: Any

    def __init__(
        self, learning_rate: Any, beta: Any, sign_decay_fn: Any, use_locking: bool, name: str
    ) -> None:
        super().__init__(use_locking, name)
        self._lr, self._beta, self._sign_decay_fn = learning_rate, beta, sign_decay_fn

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        if self._sign_decay_fn is not None:
            decay = self._sign_decay_fn(global_step)
            self._sign_decay_t = convert_to_tensor(decay, name="sign_decay")
        return super().apply_gradients(grads_and_vars, global_step=global_step, name=name)

    def _create_slots(self, var_list: list[Any]) -> None:
        for var in var_list:
            self._zeros_slot(var, "m", self._name)

    def _prepare(self) -> None:
        super()._prepare()
        if self._sign_decay_fn is None:
            self._sign_decay_t = convert_to_tensor(1.0, name="sign_decay")

    def _scalars(self) -> dict[str, Any]:
        raise NotImplementedError

    def _step(self, grad: Tensor, var: Any, indices: Tensor | None) -> Any:
        scalars = {"lr": self._lr_t, "beta": self._beta_t, "sign_decay": self._sign_decay_t}  # type: ignore[attr-defined]
        return training_op(
            self._KERNEL,
            var,
            [self.get_slot(var, "m")],
            grad,
            None,
            {**scalars, **self._scalars()},
            use_locking=self._use_locking,
        )

    def _factor(self, agreement: Tensor) -> Tensor:
        """The factor of a gradient, given how its sign agrees with that of its mean."""
        raise NotImplementedError

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        """The mean decays everywhere; only rows with a gradient take a step."""
        dtype = var.dtype.base_dtype
        rate, beta = math.cast(self._lr_t, dtype), math.cast(self._beta_t, dtype)  # type: ignore[attr-defined]
        m = self.get_slot(var, "m")
        mean = m * beta + convert_to_tensor(grad) * (1 - beta)
        m_t = assign(m, mean, use_locking=self._use_locking)
        agreement = gather(math.sign(m_t), grad.indices) * math.sign(grad.values)
        factor = self._factor(math.cast(self._sign_decay_t, dtype) * agreement)
        step = rate * factor * grad.values
        moved = scatter_sub(var, grad.indices, step, use_locking=self._use_locking)
        return control.group(moved, m_t)


class AddSignOptimizer(_SignOptimizer):
    """The step is `(alpha + sign_decay * sign(g) * sign(m)) * g`."""

    _KERNEL = "AddSign"
    _HYPERPARAMETERS = (
        ("_lr", "_lr_t", "learning_rate"),
        ("_beta", "_beta_t", "beta"),
        ("_alpha", "_alpha_t", "alpha"),
    )

    def __init__(
        self,
        learning_rate: Any = 0.1,
        alpha: Any = 1.0,
        beta: Any = 0.9,
        sign_decay_fn: Callable[..., Any] | None = None,
        use_locking: bool = False,
        name: str = "AddSignOptimizer",
    ) -> None:
        super().__init__(learning_rate, beta, sign_decay_fn, use_locking, name)
        self._alpha, self._alpha_t = alpha, None

    def _scalars(self) -> dict[str, Any]:
        return {"alpha": self._alpha_t}

    def _factor(self, agreement: Tensor) -> Tensor:
        return math.cast(self._alpha_t, agreement.dtype) + agreement


class PowerSignOptimizer(_SignOptimizer):
    """The step is `base ** (sign_decay * sign(g) * sign(m)) * g`."""

    _KERNEL = "PowerSign"
    _HYPERPARAMETERS = (
        ("_lr", "_lr_t", "learning_rate"),
        ("_beta", "_beta_t", "beta"),
        ("_logbase", "_logbase_t", "logbase"),
    )

    def __init__(
        self,
        learning_rate: Any = 0.1,
        base: float = numbers.e,
        beta: Any = 0.9,
        sign_decay_fn: Callable[..., Any] | None = None,
        use_locking: bool = False,
        name: str = "PowerSignOptimizer",
    ) -> None:
        super().__init__(learning_rate, beta, sign_decay_fn, use_locking, name)
        self._logbase, self._logbase_t = numbers.log(base), None

    def _scalars(self) -> dict[str, Any]:
        return {"logbase": self._logbase_t}

    def _factor(self, agreement: Tensor) -> Tensor:
        return math.exp(math.cast(self._logbase_t, agreement.dtype) * agreement)


# ---- how much the signs count as training goes on ----


def get_linear_decay_fn(decay_steps: int) -> Callable[[Any], Any]:
    """From 1 to 0 in `decay_steps` steps."""

    def decay(global_step: Any) -> Any:
        return (decay_steps - _done(global_step, decay_steps)) / float(decay_steps)

    return decay


def get_cosine_decay_fn(
    decay_steps: int, num_periods: float = 0.5, zero_after: float | None = None
) -> Callable[[Any], Any]:
    """Half a cosine wave (or `num_periods` of it) in `decay_steps` steps; 0 after `zero_after`."""

    def decay(global_step: Any) -> Any:
        periods = num_periods * _done(global_step, decay_steps) / float(decay_steps)
        wave = 0.5 * (1.0 + math.cos(2.0 * numbers.pi * periods))
        if zero_after is None:
            return wave
        return select.where(periods >= zero_after, array.zeros_like(wave), wave)

    return decay


def get_restart_decay_fn(
    decay_steps: int, num_periods: float = 1, zero_after: float | None = None
) -> Callable[[Any], Any]:
    """Half a cosine wave, `num_periods` times over in `decay_steps` steps; 0 after `zero_after`."""

    def decay(global_step: Any) -> Any:
        periods = num_periods * _done(global_step, decay_steps) / float(decay_steps)
        wave = 0.5 * (1.0 + math.cos(numbers.pi * math.floormod(periods, 1.0)))
        if zero_after is None:
            return wave
        return select.where(periods >= zero_after, array.zeros_like(wave), wave)

    return decay


def _done(global_step: Any, decay_steps: int) -> Any:
    """How many of the steps are over."""
    if global_step is None:
        raise ValueError("global_step is required for the sign decay functions.")
    return math.minimum(math.cast(global_step, dtypes.float32), float(decay_steps))
