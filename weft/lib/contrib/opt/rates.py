"""Optimizers whose rate depends on norms, or whose memory can be left alone for a while."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from weft.lib.train.optimizers.adagrad import AdagradOptimizer
from weft.lib.train.optimizers.kernel_steps import training_op
from weft.lib.train.optimizers.momentum import MomentumOptimizer
from weft.ops.array import array
from weft.ops.array.one_hot_search import where
from weft.ops.linalg.linalg import norm
from weft.ops.math import math


class LARSOptimizer(MomentumOptimizer):
    """Momentum whose rate for each variable is in proportion to its norm over its gradient's.

    You, Gitman, Ginsburg, "Large Batch Training of Convolutional Networks" (2017).

    Args:
        learning_rate: of all variables.
        momentum: the part of the last step that is kept.
        weight_decay: the part of a variable that is added to its gradient.
        eeta: the rate of a variable whose norm is its gradient's.
        epsilon: added to the norm of the gradient.
        name: of the operations.
        skip_list: parts of the names of variables that have the plain rate, and do not decay.
        use_nesterov: whether the gradient counts once more after the momentum.

    Raises:
        ValueError: momentum or decay is negative.
    """

    def __init__(
        self,
        learning_rate: Any,
        momentum: float = 0.9,
        weight_decay: float = 0.0001,
        eeta: float = 0.001,
        epsilon: float = 0.0,
        name: str = "LARSOptimizer",
        skip_list: Sequence[str] | None = None,
        use_nesterov: bool = False,
    ) -> None:
        for what, given in (("momentum", momentum), ("weight_decay", weight_decay)):
            if given < 0.0:
                raise ValueError(f"{what} should be positive: {given}")
        super().__init__(learning_rate, momentum, False, name, use_nesterov)
        self._weight_decay, self._eeta, self._epsilon = weight_decay, eeta, epsilon
        self._skip_list = skip_list

    def compute_lr(self, grad: Any, var: Any) -> tuple[Any, Any]:
        """The rate of a variable, and its gradient with the decay."""
        if any(part in var.name for part in self._skip_list or ()):
            return self._learning_rate, grad
        size, slope = norm(var, ord=2), norm(grad, ord=2)
        ratio = self._eeta * size / (slope + self._weight_decay * size + self._epsilon)
        both = math.logical_and(math.greater(size, 0), math.greater(slope, 0))
        trust = where(both, ratio, array.ones_like(ratio))
        return self._learning_rate * trust, grad + self._weight_decay * var

    def _step(self, grad: Any, var: Any, indices: Any) -> Any:
        if indices is not None:
            return super()._step(grad, var, indices)
        rate, grad = self.compute_lr(grad, var)
        inputs = {"lr": 1.0, "momentum": self._momentum}
        slots = [self.get_slot(var, "momentum")]
        nesterov = self._use_nesterov
        return training_op("Momentum", var, slots, grad * rate, None, inputs, use_nesterov=nesterov)


class RegAdagradOptimizer(AdagradOptimizer):
    """Adagrad whose sums of squares can be left as they are, while a regularization is applied.

    Example:
        >>> v = tf.Variable(1.0)
        >>> opt = tf.contrib.opt.RegAdagradOptimizer(0.5, initial_accumulator_value=1.0)
        >>> with opt.avoid_updating_slots():
        ...     train = opt.apply_gradients([(tf.constant(1.0), v)])
        >>> session.run(tf.global_variables_initializer())
        >>> for _ in range(2):
        ...     session.run(train)
        >>> float(session.run(v))
        0.0
    """

    _ATTRS = ("use_locking", "update_slots")

    def __init__(
        self,
        learning_rate: Any,
        initial_accumulator_value: float = 0.1,
        use_locking: bool = False,
        name: str = "RegAdagrad",
    ) -> None:
        super().__init__(learning_rate, initial_accumulator_value, use_locking, name)
        self._update_slots = True

    @contextlib.contextmanager
    def avoid_updating_slots(self) -> Iterator[None]:
        """Steps that are made in this context use the sums, and do not add to them."""
        before, self._update_slots = self._update_slots, False
        try:
            yield
        finally:
            self._update_slots = before
