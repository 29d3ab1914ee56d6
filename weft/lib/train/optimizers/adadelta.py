"""Adadelta: steps scaled by running averages, with hardly a learning rate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weft.lib.train.optimizers.optimizer import Optimizer


class AdadeltaOptimizer(Optimizer):
    """Scales gradients by the ratio of past steps to past gradients, with decay `rho`.

    Args:
        learning_rate: a factor for every step.
        rho: how slowly the means forget.
        epsilon: added under the roots, so that they are not zero.
        use_locking: lock variables while they are updated.
        name: of the operations.

    Example:
        >>> v = tf.Variable(1.0)
        >>> train = tf.train.AdadeltaOptimizer(1.0).minimize(v * v)
        >>> session.run(tf.global_variables_initializer())
        >>> session.run(train)
        >>> bool(session.run(v) < 1)
        True
    """

    _HYPERPARAMETERS = (
        ("_lr", "_lr_t", "lr"),
        ("_rho", "_rho_t", "rho"),
        ("_epsilon", "_epsilon_t", "epsilon"),
    )
    _KERNEL, _SLOTS = "Adadelta", ("accum", "accum_update")
    _INPUTS: Mapping[str, str] = {"lr": "_lr_t", "rho": "_rho_t", "epsilon": "_epsilon_t"}

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: Any = 0.95,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "Adadelta",
    ) -> None:
        super().__init__(use_locking, name)
        self._lr, self._rho, self._epsilon = learning_rate, rho, epsilon
