"""Reductions that TensorFlow does between GPUs. The devices here are of one process, so a reduction
of several tensors is a sum like any other. What all devices reduce, each by a node of its own, is a
meeting of these nodes, or a collective of the one program that they are a part of."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.graph import device
from weft.graph.op_def import op, raw
from weft.graph.operation import Operation
from weft.graph.traits import BLOCKING, HOST_STATE, STATEFUL
from weft.ops.devices.collective import meet, same_shapes

_TYPES = "{half, float, double, int32, int64}"
_WAYS = {"min": np.minimum, "max": np.maximum, "prod": np.multiply, "sum": np.add}
_REDUCTION = 'reduction: {"min", "max", "prod", "sum"}'


def _check_sum(node: Operation) -> None:
    if node.get_attr("reduction") != b"sum":
        raise LookupError(f"No gradient defined for {node.type} except sum.")


@op("NcclAllReduce", inputs="input: T", outputs="data: T",
    attrs=f"{_REDUCTION}, T: {_TYPES}, num_devices: int, shared_name: string",
    shape=s.unchanged, traits=HOST_STATE | BLOCKING)  # fmt: skip
def nccl_all_reduce_(xp: Any, ctx: Any, input: Any, *, reduction: str) -> Any:
    attrs = ctx.node.attrs
    if attrs["num_devices"] == 1:
        return input

    def combine(values: list[Any]) -> Any:
        same_shapes(values)
        return np.asarray(reduce(_WAYS[reduction], values))

    return meet(ctx, f"nccl {attrs['shared_name']}", attrs["num_devices"], input, combine)


@nccl_all_reduce_.gradient
def _(node: Operation, grad: Any) -> Any:
    _check_sum(node)
    shared = node.get_attr("shared_name").decode() + "_grad"
    with device(node.device):
        return raw.NcclAllReduce(
            grad, "sum", num_devices=node.get_attr("num_devices"), shared_name=shared
        )


@op("NcclReduce", inputs="input: num_devices * T", outputs="data: T",
    attrs=f"{_REDUCTION}, T: {_TYPES}, num_devices: int >= 1",
    shape=s.unchanged, traits=STATEFUL)  # fmt: skip
def nccl_reduce_(xp: Any, input: list[Any], *, reduction: str) -> Any:
    return reduce(getattr(xp, _WAYS[reduction].__name__), input)


@nccl_reduce_.gradient
def _(node: Operation, grad: Any) -> list[Any]:
    _check_sum(node)
    with device(node.device):
        return [raw.NcclBroadcast(grad, shape=grad.shape)] * len(node.inputs)


@op("NcclBroadcast", inputs="input: T", outputs="output: T", attrs=f"T: {_TYPES}, shape: shape",
    shape=s.unchanged, traits=STATEFUL)  # fmt: skip
def nccl_broadcast_(xp: Any, input: Any) -> Any:
    return input


@nccl_broadcast_.gradient
def _(node: Operation, grad: Any) -> Any:
    """The sum of the copies' gradients, in the place of their accumulation."""
    parts = list(grad.op.inputs) if grad.op.type == "AddN" else [grad]
    with device(node.device):
        return raw.NcclReduce(parts, "sum")
