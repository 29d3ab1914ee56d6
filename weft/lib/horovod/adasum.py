"""Adasum: a sum that adapts to how far what processes bring points the same way.

Of two vectors that are orthogonal it is the sum, of two that are parallel the mean. Processes are
joined in pairs, then pairs of pairs, so their number must be a power of two.
"""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import control_dependencies, name_scope
from weft.graph.slices import IndexedSlices
from weft.lib.distribute import group_ops
from weft.lib.horovod.basics import size
from weft.lib.train.optimizers.wrapper import WrapperOptimizer
from weft.ops.array import array
from weft.ops.control import control
from weft.ops.math import casts, math


def adasum(tensor: Any) -> Any:
    """The adaptive sum of a tensor over all processes."""
    if isinstance(tensor, IndexedSlices):
        raise NotImplementedError(
            "The Adasum reduction does not currently support sparse tensors. As a workaround please"
            " pass sparse_as_dense=True to DistributedOptimizer"
        )
    if size() & (size() - 1):
        raise NotImplementedError("Running Adasum with non-power of 2 ranks is not supported yet.")
    tensor = convert_to_tensor(tensor)
    gathered = group_ops.gather(array.expand_dims(tensor, 0))
    parts = [gathered[i] for i in range(size())]
    while len(parts) > 1:
        parts = [_joined(*parts[i : i + 2]) for i in range(0, len(parts), 2)]
    parts[0].set_shape(tensor.shape)
    return parts[0]


def _joined(one: Any, other: Any) -> Any:
    """Each of the two, less half of what it has in common with the other."""
    common = _product(one, other)
    return _share(common, one) * one + _share(common, other) * other


def _product(one: Any, other: Any) -> Any:
    one, other = (casts.cast(each, dtypes.float64) for each in (one, other))
    return math.reduce_sum(one * other)


def _share(common: Any, vector: Any) -> Any:
    part = 1.0 - 0.5 * math.div_no_nan(common, _product(vector, vector))
    return casts.cast(part, vector.dtype)


class AdasumOptimizer(WrapperOptimizer):
    """An optimizer of tf.train whose steps, not its gradients, are joined over all processes."""

    def __init__(
        self, optimizer: Any, name: str | None, use_locking: bool, compression: Any
    ) -> None:
        self._compression = compression
        own_name = f"DistributedDelta{type(optimizer).__name__}"
        super().__init__(optimizer, use_locking, name or own_name)

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        """Each process makes its own step; then all go where the steps lead together."""
        pairs = [(grad, var) for grad, var in grads_and_vars if grad is not None]
        if size() == 1:
            return self._optimizer.apply_gradients(pairs, global_step, name)
        with name_scope(f"{self._name}_Allreduce"), control_dependencies([g for g, _ in pairs]):
            starts = [array.identity(var.read_value()) for _, var in pairs]
        with control_dependencies(starts):
            own = self._optimizer.apply_gradients(pairs, global_step, name)
        with control_dependencies([own]):
            ends = [array.identity(var.read_value()) for _, var in pairs]
        steps = [self._of_all(end - start) for start, end in zip(starts, ends, strict=True)]
        return control.group(
            *(
                var.assign(start + step)
                for (_, var), start, step in zip(pairs, starts, steps, strict=True)
            )
        )

    def _of_all(self, own: Any) -> Any:
        """The step of all processes, given that of this one."""
        packed, kind = self._compression.compress(own)
        return self._compression.decompress(adasum(packed), kind)
