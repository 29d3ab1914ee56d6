"""Gradient descent with momentum."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weft.lib.train.optimizers.kernel_steps import hyperparameters
from weft.lib.train.optimizers.optimizer import Optimizer


class MomentumOptimizer(Optimizer):
    """Moves variables by a decaying sum of past gradients; `use_nesterov` looks one step ahead.

    Args:
        learning_rate: a number, a tensor, or a function that gives one.
        momentum: how much of the sum so far is kept.
        use_locking: lock variables while they are updated.
        name: of the operations.
        use_nesterov: see above.

    Example:
        >>> v = tf.Variable(1.0)
        >>> train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(v)
        >>> session.run(tf.global_variables_initializer())
        >>> for step in range(2):
        ...     session.run(train)
        >>> session.run(v)
        np.float32(0.71)
    """

    _HYPERPARAMETERS = hyperparameters("learning_rate", "momentum")
    _KERNEL, _SLOTS, _ATTRS = "Momentum", ("momentum",), ("use_locking", "use_nesterov")
    _INPUTS: Mapping[str, str] = {"lr": "_learning_rate_tensor", "momentum": "_momentum_tensor"}

    def __init__(
        self,
        learning_rate: Any,
        momentum: Any,
        use_locking: bool = False,
        name: str = "Momentum",
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(use_locking, name)
        self._learning_rate, self._momentum = learning_rate, momentum
        self._use_nesterov = use_nesterov
