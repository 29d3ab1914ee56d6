"""Shampoo: Adagrad with a matrix for each dimension of a variable."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.core import dtypes
from weft.graph.graph import Tensor, colocate_with, name_scope
from weft.lib.contrib.opt.matrix_functions import matrix_inverse_pth_root, matrix_square_root
from weft.lib.platform import tf_logging as logging
from weft.lib.train.optimizers.optimizer import Optimizer
from weft.ops.array import array
from weft.ops.array.gather import gather
from weft.ops.array.one_hot_search import where
from weft.ops.array.scatter import scatter_nd
from weft.ops.control.cond import cond
from weft.ops.linalg.linalg import svd
from weft.ops.linalg.matrices import eye
from weft.ops.math import math
from weft.ops.math.matmul import tensordot
from weft.ops.state.updates import assign, assign_add, assign_sub, scatter_add

_Setting = float | Callable[[Any], Any]


class ShampooOptimizer(Optimizer):
    """Steps by gradients that each dimension's matrix of squares has evened out.

    Settings may be numbers, or functions of the step.

    Args:
        global_step: the variable that counts steps.
        max_matrix_size: dimensions longer than this have a vector for a matrix.
        gbar_decay, gbar_weight: how the running gradient is kept, and what is added to it.
        mat_gbar_decay, mat_gbar_weight: the same for the matrices.
        learning_rate: how far a step goes.
        svd_interval: how often the powers of the matrices are computed again.
        precond_update_interval: how often the matrices are updated.
        epsilon: added to the diagonal of matrices.
        alpha: the power of all matrices together.
        use_iterative_root: whether to take roots by iterations, and not by singular values.
        use_locking: lock variables while they are updated.
        name: of the operations.
    """

    def __init__(
        self,
        global_step: Any = 0,
        max_matrix_size: int = 768,
        gbar_decay: _Setting = 0.0,
        gbar_weight: _Setting = 1.0,
        mat_gbar_decay: _Setting = 1.0,
        mat_gbar_weight: _Setting = 1.0,
        learning_rate: _Setting = 1.0,
        svd_interval: Any = 1,
        precond_update_interval: Any = 1,
        epsilon: float = 1e-4,
        alpha: _Setting = 0.5,
        use_iterative_root: bool = False,
        use_locking: bool = False,
        name: str = "Shampoo",
    ) -> None:
        super().__init__(use_locking, name)
        self._global_step = math.cast(global_step, dtypes.float32)
        self._max_matrix_size, self._epsilon = max_matrix_size, epsilon
        self._gbar_decay, self._gbar_weight = gbar_decay, gbar_weight
        self._mat_gbar_decay, self._mat_gbar_weight = mat_gbar_decay, mat_gbar_weight
        self._learning_rate, self._alpha = learning_rate, alpha
        self._svd_interval = svd_interval
        self._precond_update_interval = precond_update_interval
        self._use_iterative_root = use_iterative_root

    def _create_slots(self, var_list: list[Any]) -> None:
        for var in var_list:
            with colocate_with(var):
                self._zeros_slot(var, "gbar", self._name)
                for i, size in enumerate(var.shape.as_list()):
                    shape = [size, size] if size <= self._max_matrix_size else [size]
                    if len(shape) == 2 and self._keeps_powers:
                        self._get_or_make_slot(var, eye(size), f"H_{i}", self._name)
                    self._get_or_make_slot(var, array.zeros(shape), f"Gbar_{i}", self._name)

    @property
    def _keeps_powers(self) -> bool:
        return callable(self._svd_interval) or self._svd_interval > 1

    # ---- a step ----

    def _now(self, setting: _Setting) -> Any:
        return setting(self._global_step + 1) if callable(setting) else setting

    def _step(self, grad: Tensor, var: Any, indices: Tensor | None) -> Any:
        if indices is not None and not self._steps_by_rows(var):
            shape = array.shape(var, out_type=indices.dtype)
            grad, indices = scatter_nd(array.expand_dims(indices, 1), grad, shape), None
        evened = self._running(grad, var) if indices is None else grad
        sizes = var.shape.as_list()
        power = -self._now(self._alpha) / len(sizes)
        for i, size in enumerate(sizes):
            # Each dimension in turn is the first; once it is done, it is the last.
            if size <= self._max_matrix_size:
                matrix = self._matrix(grad, var, i, size)
                factor = self._factor(matrix, var, i, size, power)
                evened = tensordot(evened, factor, axes=([0], [0]), name=f"precond_{i}")
            else:
                rows = indices if i == 0 else None
                sums = self._sums(grad, var, i, indices is not None, rows)
                factor = where(sums > 0, math.pow(sums, power), array.zeros_like(sums))
                evened = array.transpose(evened, [*range(1, len(sizes)), 0]) * factor
        step = self._now(self._learning_rate) * evened
        return assign_sub(var, step) if indices is None else scatter_add(var, indices, -step)

    def _steps_by_rows(self, var: Any) -> bool:
        """Whether rows without a gradient can be left alone: nothing of theirs is kept."""
        return var.shape.as_list()[0] > self._max_matrix_size and self._gbar_decay == 0.0

    def _running(self, grad: Tensor, var: Any) -> Any:
        weight = self._now(self._gbar_weight)
        return self._averaged(self.get_slot(var, "gbar"), self._gbar_decay, weight * grad)

    def _averaged(self, kept: Any, decay: _Setting, new: Any) -> Any:
        """`decay * kept + new`, in place; what is never used again is not kept."""
        if callable(decay):
            return assign_add(kept, (self._now(decay) - 1) * kept + new)
        if decay == 0.0:
            return new
        return assign_add(kept, new if decay == 1.0 else (decay - 1) * kept + new)

    def _matrix(self, grad: Tensor, var: Any, i: int, size: int) -> Tensor:
        """The products of gradients along dimension `i`, over its size."""
        kept, interval = self.get_slot(var, f"Gbar_{i}"), self._now(self._precond_update_interval)
        axes = [axis for axis in range(var.shape.ndims) if axis != i]

        def updated() -> Any:
            products = tensordot(grad, grad, axes=(axes, axes), name=f"grad_outer_{i}")
            weight = self._now(self._mat_gbar_weight) * interval
            return self._averaged(kept, self._mat_gbar_decay, weight * products)

        is_time = math.mod(self._global_step + 1, interval) < 1
        return cond(is_time, updated, lambda: array.identity(kept)) / float(size)

    def _factor(self, matrix: Tensor, var: Any, i: int, size: int, power: Any) -> Any:
        """The matrix to `power`: of this step, or of the last that computed it."""
        if not self._keeps_powers:
            return self._power(matrix, size, power)
        kept = self.get_slot(var, f"H_{i}")
        is_time = math.mod(self._global_step + 1, self._now(self._svd_interval)) < 1
        return cond(
            is_time,
            lambda: assign(kept, self._power(matrix, size, power)),
            lambda: array.identity(kept),
        )

    def _power(self, matrix: Tensor, size: int, power: Any) -> Tensor:
        with name_scope("matrix_iterative_power"):
            if self._use_iterative_root:
                root = matrix_square_root(matrix, size, 100, self._epsilon)
                return matrix_inverse_pth_root(root, size, 2 * power, 100, 1e-6, 0.0)
            if size == 1:
                return math.pow(matrix + self._epsilon, power)
            values, u, v = svd(matrix + self._epsilon * eye(size), full_matrices=True)
            powers = math.pow(math.maximum(values, self._epsilon), power)
            return math.matmul(v * powers, array.transpose(u))

    def _sums(self, grad: Tensor, var: Any, i: int, sparse: bool, rows: Tensor | None) -> Any:
        """The squares of gradients along dimension `i`; of some `rows` only, if they are given."""
        kept, squares = self.get_slot(var, f"Gbar_{i}"), grad * grad
        others = [axis for axis in range(var.shape.ndims) if axis != i]
        if others:
            size = 1.0 if sparse else float(var.shape.as_list()[i])
            squares = math.reduce_sum(squares, axis=others) / size
        new = self._now(self._mat_gbar_weight) * squares
        if rows is None:
            return self._averaged(kept, self._mat_gbar_decay, new)
        if self._mat_gbar_decay != 1.0:
            logging.warning("Not applying momentum for variable: %s", var.name)
        return gather(scatter_add(kept, rows, new), rows)
