"""Plain gradient descent."""

from __future__ import annotations

from typing import Any

from weft.graph.graph import Tensor
from weft.graph.op_def import raw
from weft.graph.slices import IndexedSlices
from weft.lib.train.optimizers.kernel_steps import hyperparameters
from weft.lib.train.optimizers.optimizer import Optimizer
from weft.ops.math import math


class GradientDescentOptimizer(Optimizer):
    """Moves every variable by `-learning_rate` times its gradient.

    Args:
        learning_rate: a number, a tensor, or a function that gives one.
        use_locking: lock variables while they are updated.
        name: of the operations.

    Example:
        >>> v = tf.Variable(1.0)
        >>> train = tf.train.GradientDescentOptimizer(0.1).minimize(v * v)
        >>> session.run(v.initializer)
        >>> session.run(train)
        >>> session.run(v)
        np.float32(0.8)
    """

    _HYPERPARAMETERS = hyperparameters("learning_rate")
    _KERNEL, _INPUTS = "GradientDescent", {"alpha": "_learning_rate_tensor"}
    _learning_rate_tensor: Any

    def __init__(
        self, learning_rate: Any, use_locking: bool = False, name: str = "GradientDescent"
    ) -> None:
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate

    # The sum of steps is the step of the sum: rows need not be made unique first.

    def _apply_sparse_duplicate_indices(self, grad: IndexedSlices, var: Any) -> Any:
        rate = math.cast(self._learning_rate_tensor, var.dtype.base_dtype)
        rows = grad.indices, grad.dense_shape
        return var.scatter_sub(IndexedSlices(grad.values * rate, *rows), self._use_locking)

    def _resource_apply_sparse_duplicate_indices(
        self, grad: Tensor, handle: Any, indices: Tensor
    ) -> Any:
        rate = self._learning_rate
        if callable(rate):
            rate = math.cast(self._learning_rate_tensor, grad.dtype.base_dtype)
        return raw.ResourceScatterAdd(handle.handle, indices, -grad * rate)
