"""RMSProp: steps divided by a running root mean square of the gradients."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weft.lib.train.optimizers.kernel_steps import hyperparameters
from weft.lib.train.optimizers.optimizer import Optimizer
from weft.ops.array import array
from weft.ops.state.initializers import Ones


class RMSPropOptimizer(Optimizer):
    """Divides by the root mean square (if `centered`, the standard deviation) of gradients.

    Args:
        learning_rate: a number, a tensor, or a function that gives one.
        decay: how slowly the mean of squares forgets.
        momentum: how much of the last step is taken again.
        epsilon: added under the root, so that it is not zero.
        use_locking: lock variables while they are updated.
        centered: see above; costs memory.
        name: of the operations.

    Example:
        >>> v = tf.Variable(1.0)
        >>> train = tf.train.RMSPropOptimizer(0.1).minimize(v * v)
        >>> session.run(tf.global_variables_initializer())
        >>> session.run(train)
        >>> bool(session.run(v) < 1)
        True
    """

    _HYPERPARAMETERS = hyperparameters("learning_rate", "decay", "momentum", "epsilon")
    _KERNEL = "RMSProp"
    _SLOTS: tuple[str, ...] = ("rms", "momentum")
    _INPUTS: Mapping[str, str] = {
        "lr": "_learning_rate_tensor",
        "rho": "_decay_tensor",
        "momentum": "_momentum_tensor",
        "epsilon": "_epsilon_tensor",
    }

    def __init__(
        self,
        learning_rate: Any,
        decay: Any = 0.9,
        momentum: Any = 0.0,
        epsilon: Any = 1e-10,
        use_locking: bool = False,
        centered: bool = False,
        name: str = "RMSProp",
    ) -> None:
        super().__init__(use_locking, name)
        self._learning_rate, self._decay = learning_rate, decay
        self._momentum, self._epsilon, self._centered = momentum, epsilon, centered
        if centered:
            self._KERNEL, self._SLOTS = "CenteredRMSProp", ("mg", "rms", "momentum")

    def _create_slots(self, var_list: list[Any]) -> None:
        zeros = ("mg", "momentum") if self._centered else ("momentum",)
        for var in var_list:
            dtype, shape = var.dtype.base_dtype, var.get_shape()
            ones = Ones(dtype=dtype) if shape.is_fully_defined() else array.ones_like(var)
            self._get_or_make_slot_with_initializer(var, ones, shape, dtype, "rms", self._name)
            for slot in zeros:
                self._zeros_slot(var, slot, self._name)
