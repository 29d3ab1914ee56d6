"""Summing the gradients that reach one tensor along several paths."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.core.shapes import TensorShape, unknown_shape
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


def accumulate(grads: list[Any], method: int | None = None, source: str = "") -> Any:
    """One gradient out of several: dense if any is dense, else IndexedSlices.

    Args:
        grads: the gradients.
        method: one of `AggregationMethod`; the last two are for gradients that are all dense.
        source: the operation whose output they are gradients by; sums of pairs are named after it.
    """
    if method not in (None, 0, 1, 2):
        raise ValueError(f"Invalid aggregation_method specified {method}.")
    if len(grads) == 1:
        return grads[0]
    if all(isinstance(g, IndexedSlices) for g in grads):
        return _concatenated(grads)
    if any(isinstance(g, IndexedSlices) for g in grads):
        return raw.AddN(grads)
    if method in (None, AggregationMethod.ADD_N):
        return _sum_by_device(grads)
    if method == AggregationMethod.EXPERIMENTAL_ACCUMULATE_N and len(grads) > 2:
        shape = _common_shape(grads)
        if shape.is_fully_defined():
            return raw.AccumulateNV2(grads, shape=shape)
    return _sum_of_pairs(grads, source)


def _common_shape(grads: list[Tensor]) -> TensorShape:
    shape = unknown_shape()
    for grad in grads:
        shape = shape.merge_with(grad.shape)
    return shape


def _sum_of_pairs(grads: list[Tensor], source: str) -> Tensor:
    """One after the other, so that each gradient can be let go of once it is added."""
    with name_scope(source + "_gradient_sum"):
        total = grads[0]
        for grad in grads[1:]:
            total = raw.AddN([total, grad])
        return total


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
