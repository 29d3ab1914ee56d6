"""GGT: Adagrad with the whole matrix of squares, of rank as low as the gradients it remembers."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.graph.graph import Tensor, control_dependencies, get_default_graph
from weft.graph.slices import IndexedSlices
from weft.lib.contrib.optimizer_v2 import OptimizerV2
from weft.ops.array import array
from weft.ops.control.cond import cond
from weft.ops.control.control import group
from weft.ops.linalg.linalg import svd
from weft.ops.linalg.matrices import eye
from weft.ops.math import math
from weft.ops.state.updates import assign, assign_add, assign_sub, scatter_update


class GGTOptimizer(OptimizerV2):
    """Remembers the last means of gradients, and divides by the root of their covariance.

    Args:
        learning_rate: how far a step goes.
        beta1: how slowly the mean of gradients forgets.
        use_locking: lock variables while they are updated.
        name: of the operations.
        window: how many means are remembered.
        eps: roots smaller than this do not count.
        svd_eps: added to the diagonal of the covariance.
        sigma_eps: added to its roots.
    """

    _HYPERPARAMETERS = (
        ("_lr", "_lr_t", "learning_rate"),
        ("_beta1", "_beta1_t", "beta1"),
        ("_eps", "_eps_t", "eps"),
        ("_svd_eps", "_svd_eps_t", "svd_eps"),
        ("_sigma_eps", "_sigma_eps_t", "sigma_eps"),
    )
    _lr_t: Any
    _beta1_t: Any
    _eps_t: Any
    _svd_eps_t: Any
    _sigma_eps_t: Any

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        use_locking: bool = False,
        name: str = "GGT",
        window: int = 10,
        eps: Any = 1e-4,
        svd_eps: Any = 1e-6,
        sigma_eps: Any = 1e-2,
    ) -> None:
        super().__init__(use_locking, name)
        self._lr, self._beta1, self._window = learning_rate, beta1, window
        self._eps, self._svd_eps, self._sigma_eps = eps, svd_eps, sigma_eps
        # Variable name -> where it starts in the vector of all, and how long it is.
        self.index_dict: dict[str, int] = {}
        self.shape_dict: dict[str, int] = {}

    def _create_slots(self, var_list: list[Any]) -> None:
        sizes = {var.name: int(np.prod(var.shape.as_list())) for var in var_list}
        self.shape_dict = dict(sorted(sizes.items()))
        *starts, length = accumulate(self.shape_dict.values(), initial=0)
        self.index_dict = dict(zip(self.shape_dict, starts, strict=True))
        dtype = var_list[0].dtype.base_dtype
        for name, shape in (
            ("global_step", []),
            ("grad_buffer", [self._window, length]),
            ("moment1", [length]),
            ("flat_grad", [length]),
        ):
            self._create_non_slot_variable(array.zeros(shape, dtype), name, var_list[0])

    def _kept(self, name: str) -> Any:
        return self._get_non_slot_variable(name, graph=get_default_graph())

    def _get_global_step(self) -> Any:
        return self._kept("global_step")

    def _get_moment1(self) -> Any:
        return self._kept("moment1")

    def _get_grad_buffer(self) -> Any:
        return self._kept("grad_buffer")

    def _get_flat_grad(self) -> Any:
        return self._kept("flat_grad")

    def _prepare(self) -> None:
        super()._prepare()
        self._variables: list[Any] = []

    # ---- gradients into one vector ----

    def _apply_dense(self, grad: Tensor, var: Any) -> Any:
        self._variables.append(var)
        start = self.index_dict[var.name]
        places = math.range(start, start + self.shape_dict[var.name])
        return scatter_update(self._get_flat_grad(), places, array.reshape(grad, [-1])).op

    def _resource_apply_dense(self, grad: Tensor, var: Any) -> Any:
        return self._apply_dense(grad, var)

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        raise NotImplementedError("Sparse gradient updates are not supported.")

    # ---- a step of all variables ----

    def _finish(self, update_ops: list[Any], name_scope: str) -> Any:
        dtype = self._variables[0].dtype.base_dtype
        with control_dependencies(update_ops):
            step = array.identity(assign_add(self._get_global_step(), 1.0))
            beta = math.cast(self._beta1_t, dtype)
            mean, grad = self._get_moment1(), self._get_flat_grad()
            mean = array.identity(assign(mean, beta * mean + (1.0 - beta) * grad))
            row = math.floormod(math.cast(step - 1.0, dtypes.int32), self._window)
            rows = array.identity(scatter_update(self._get_grad_buffer(), row, mean))
            seen = math.minimum(step, math.cast(self._window, dtype))
            move = self._move(array.transpose(rows / math.sqrt(seen)), array.expand_dims(mean, -1))
            rate = math.cast(self._lr_t, dtype)
            moved = [assign_sub(var, rate * self._part(move, var)) for var in self._variables]
        return group(*moved, name=name_scope)

    def _part(self, move: Tensor, var: Any) -> Tensor:
        start = self.index_dict[var.name]
        return array.reshape(move[start : start + self.shape_dict[var.name]], var.shape)

    def _move(self, means: Tensor, mean: Tensor) -> Tensor:
        """The mean over the root of the covariance, inside and outside of what is remembered."""
        dtype = mean.dtype
        least, damping, added = (
            math.cast(each, dtype) for each in (self._eps_t, self._svd_eps_t, self._sigma_eps_t)
        )
        products = math.matmul(means, means, transpose_a=True)
        values, u, _ = svd(products + damping * eye(self._window, dtype=dtype))
        roots = math.sqrt(values)
        along = math.matmul(u, math.matmul(means, mean, transpose_a=True), transpose_a=True)

        def weighted(weights: Tensor) -> Tensor:
            return math.matmul(means, math.matmul(u, array.expand_dims(weights, -1) * along))

        inside = weighted(1.0 / math.pow(roots + added, 3))
        smallest = math.reduce_min(roots)
        outside = (mean - weighted(1.0 / values)) / smallest
        return cond(smallest > least, lambda: inside + outside, lambda: array.identity(inside))
