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
    """Moves every variable by `-learning_rate` times its gradient."""

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
        step = IndexedSlices(grad.values * rate, grad.indices, grad.dense_shape)
        return var.scatter_sub(step, use_locking=self._use_locking)

    def _resource_apply_sparse_duplicate_indices(
        self, grad: Tensor, handle: Any, indices: Tensor
    ) -> Any:
        rate = math.cast(self._learning_rate_tensor, grad.dtype.base_dtype)
        return raw.ResourceScatterAdd(handle.handle, indices, -grad * rate)
