"""Optimizers that keep norms small: of variables after a step, or of tasks' gradients before it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from weft.graph.graph import colocate_with, control_dependencies, name_scope
from weft.graph.slices import IndexedSlices
from weft.graph.tensor import Tensor
from weft.lib.platform import tf_logging as logging
from weft.lib.train.optimizers.optimizer import Optimizer
from weft.lib.train.optimizers.wrapper import WrapperOptimizer
from weft.ops.array import array
from weft.ops.array.gather import gather
from weft.ops.control.cond import cond
from weft.ops.control.control import group, no_op
from weft.ops.math import math
from weft.ops.math.clip import clip_by_global_norm, clip_by_norm, global_norm


class VariableClippingOptimizer(WrapperOptimizer):
    """Makes the step of another optimizer, and then cuts the norms of some variables.

    Args:
        opt: the optimizer.
        vars_to_clip_dims: the dimensions over which each of these variables has its norms.
        max_norm: the largest norm.
        use_locking: whether to lock variables while they are cut.
        colocate_clip_ops_with_vars: whether norms are computed where the variable is.
        name: of the operations.
    """

    def __init__(
        self,
        opt: Any,
        vars_to_clip_dims: dict[Any, Sequence[int]],
        max_norm: float,
        use_locking: bool = False,
        colocate_clip_ops_with_vars: bool = False,
        name: str = "VariableClipping",
    ) -> None:
        super().__init__(opt, use_locking, name)
        self._dims = {variable: list(dims) for variable, dims in vars_to_clip_dims.items()}
        self._beside, self._max_norm = colocate_clip_ops_with_vars, max_norm

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        pairs = list(grads_and_vars)
        with name_scope(name, self._name) as scope:
            update = self._opt.apply_gradients(pairs, global_step=global_step)
            cuts = []
            with control_dependencies([update]):
                for grad, variable in pairs:
                    if grad is not None and variable in self._dims:
                        with name_scope(f"clip_{variable.op.name}"):
                            cuts.append(self._cut(grad, variable))
            return group(update, *cuts, name=scope)

    def _cut(self, grad: Any, variable: Any) -> Any:
        dims = self._dims[variable]
        if isinstance(grad, Tensor):
            return self._cut_all(variable)
        if 0 in dims:
            logging.warning(
                "Clipping norm across dims %s for %s is inefficient when including sparse "
                "dimension 0.",
                dims,
                variable.op.name,
            )
            return self._cut_all(variable)
        with colocate_with(variable):
            rows = gather(variable, grad.indices)
        over = self._excess(variable, lambda: rows)
        with colocate_with(variable):
            slices = IndexedSlices(over, grad.indices, grad.dense_shape)
            return variable.scatter_sub(slices, use_locking=self._use_locking)

    def _cut_all(self, variable: Any) -> Any:
        over = self._excess(variable, variable.read_value)
        with colocate_with(variable):
            return variable.assign_sub(over, use_locking=self._use_locking)

    def _excess(self, variable: Any, read: Callable[[], Tensor]) -> Tensor:
        """What is to be taken from a value of the variable, so that its norms are allowed."""
        with self._place(variable):
            value = read()
            return value - clip_by_norm(value, self._max_norm, self._dims[variable])

    @contextlib.contextmanager
    def _place(self, variable: Any) -> Iterator[None]:
        with colocate_with(variable) if self._beside else contextlib.nullcontext():
            yield


# ---- several tasks, of which a step may have only some ----


def _all_zeros(grad: Any) -> Tensor:
    values = grad.values if isinstance(grad, IndexedSlices) else grad
    return math.equal(math.count_nonzero(values), 0)


class MultitaskOptimizerWrapper:
    """An optimizer that leaves variables alone whose gradients are all zero.

    So variables of a task that a batch has no examples of keep their values, and their slots too.
    """

    def __init__(self, opt: Any) -> None:
        if not isinstance(opt, Optimizer):
            raise TypeError("Supplied optimizer must be an instance of tf.train.Optimizer")
        self._opt = opt
        kinds = ("_apply_dense", "_resource_apply_dense", "_apply_sparse", "_resource_apply_sparse")
        for kind in kinds:
            setattr(opt, kind, _unless_zero(getattr(opt, kind)))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._opt, name)


def _unless_zero(apply: Callable[..., Any]) -> Callable[..., Any]:
    def applied(grad: Any, *args: Any, **kwargs: Any) -> Any:
        return cond(_all_zeros(grad), no_op, lambda: group(apply(grad, *args, **kwargs)))

    return applied


def clip_gradients_by_global_norm(
    gradients_variables: Any, clip_norm: float = 20.0
) -> tuple[list[tuple[Any, Any]], Tensor]:
    """Pairs of gradients, cut to a norm of all of them together, and variables; and the norm."""
    gradients, variables = zip(*gradients_variables, strict=True)

    def counted(grad: Any) -> Any:
        if grad is None:
            return None
        nothing = array.zeros([], grad.dtype)
        return cond(_all_zeros(grad), lambda: nothing, lambda: grad)

    norm = global_norm([counted(grad) for grad in gradients])
    clipped, _ = clip_by_global_norm(gradients, clip_norm, use_norm=norm)
    return list(zip(clipped, variables, strict=True)), norm
