"""Reductions that TensorFlow does between GPUs. The devices here are of one process, so a reduction
of several tensors is a sum like any other, and one over a single device is what it is given."""

from __future__ import annotations

from functools import reduce
from typing import Any

from weft.core.errors import UnimplementedError
from weft.graph import shape_fn as s
from weft.graph.op_def import op

_TYPES = "{half, float, double, int32, int64}"
_REDUCTION = 'reduction: {"min", "max", "prod", "sum"}'


def _check_alone(num_devices: int) -> None:
    if num_devices != 1:
        raise UnimplementedError(
            None, None, f"NcclAllReduce over {num_devices} devices: use tf.add_n on one of them."
        )


@op("NcclAllReduce", inputs="input: T", outputs="data: T",
    attrs=f"{_REDUCTION}, T: {_TYPES}, num_devices: int, shared_name: string",
    shape=s.unchanged, stateful=True, differentiable=False)  # fmt: skip
def nccl_all_reduce_(xp: Any, input: Any, *, num_devices: int) -> Any:
    _check_alone(num_devices)
    return input


@op("NcclReduce", inputs="input: num_devices * T", outputs="data: T",
    attrs=f"{_REDUCTION}, T: {_TYPES}, num_devices: int >= 1",
    shape=s.unchanged, stateful=True, differentiable=False)  # fmt: skip
def nccl_reduce_(xp: Any, input: list[Any], *, reduction: str) -> Any:
    ways = {"min": xp.minimum, "max": xp.maximum, "prod": xp.multiply, "sum": xp.add}
    return reduce(ways[reduction], input)


@op("NcclBroadcast", inputs="input: T", outputs="output: T", attrs=f"T: {_TYPES}, shape: shape",
    shape=s.unchanged, stateful=True, differentiable=False)  # fmt: skip
def nccl_broadcast_(xp: Any, input: Any) -> Any:
    return input
