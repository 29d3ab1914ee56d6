"""Summing the gradients that reach one tensor along several paths."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.graph.graph import name_scope
from weft.graph.op_def import raw
from weft.graph.slices import IndexedSlices
from weft.graph.stacks import get_default_graph
from weft.graph.tensor import Tensor


class AggregationMethod:
    """How `gradients` adds up partial gradients."""

    ADD_N = 0
    DEFAULT = ADD_N
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


def accumulate(grads: list[Any], method: int | None = None, scope: str = "") -> Any:
    """One gradient out of several: dense if any is dense, else IndexedSlices."""
    if method not in (None, 0, 1, 2):
        raise ValueError(f"Invalid aggregation_method specified {method}.")
    if len(grads) == 1:
        return grads[0]
    if all(isinstance(g, IndexedSlices) for g in grads):
        return _concatenated(grads)
    dense = [to_dense(g) for g in grads]
    if method == AggregationMethod.EXPERIMENTAL_TREE:
        with name_scope("AddN"):
            total = dense[0]
            for grad in dense[1:]:
                total = raw.AddN([total, grad])
            return total
    return _sum_by_device(dense)


def _sum_by_device(grads: list[Tensor]) -> Tensor:
    """Adds up what is on one device there, then the sums of the devices."""
    devices: dict[str, list[Tensor]] = {}
    for grad in grads:
        devices.setdefault(grad.device, []).append(grad)
    sums = []
    for device in sorted(devices):
        group = devices[device]
        with get_default_graph().colocate_with(group[0].op, ignore_existing=True):
            sums.append(raw.AddN(group) if len(group) > 1 else group[0])
    return raw.AddN(sums) if len(sums) > 1 else sums[0]


def to_dense(grad: Any) -> Tensor:
    if not isinstance(grad, IndexedSlices):
        return grad
    from weft.graph.convert import convert_to_tensor

    return convert_to_tensor(grad)


def _concatenated(grads: list[IndexedSlices]) -> IndexedSlices:
    from weft.ops.array import array

    kind = dtypes.int32
    if any(g.indices.dtype is dtypes.int64 for g in grads):
        kind = dtypes.int64
    indices = [
        g.indices if g.indices.dtype is kind else raw.Cast(g.indices, DstT=kind) for g in grads
    ]
    return IndexedSlices(
        array.concat([g.values for g in grads], 0),
        array.concat(indices, 0),
        grads[0].dense_shape,
    )
