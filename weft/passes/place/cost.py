"""The time a node takes on a device, and the bytes it hands on.

Estimates come from shapes; what traced steps have measured takes their place. A model is kept as a
`CostGraphDef`, the message of `RunMetadata.cost_graph`.
"""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.core import device_name, dtypes
from weft.graph.shape_fn import Dims
from weft.passes.client_graph import Edge, Node
from weft.passes.devices import DeviceInfo

UNKNOWN_DIMENSION = 32
UNKNOWN_SIZE = 4096.0
# Compiled code pays next to nothing per node; this keeps long chains from being free.
NODE_TIME = 0.5


class CostModel:
    """`time(node, device)` in microseconds, `size(edge)` in bytes."""

    def __init__(self) -> None:
        # (node name, device type) -> (runs, microseconds in all); node name -> bytes by output
        self._times: dict[tuple[str, str], tuple[int, float]] = {}
        self._sizes: dict[str, dict[int, int]] = {}

    def time(self, node: Node, device: DeviceInfo) -> float:
        measured = self._times.get((node.name, device.device_type))
        if measured is not None:
            return measured[1] / measured[0]
        return estimated_time(node, device)

    def times(self, node: Node, devices: Sequence[DeviceInfo]) -> list[float]:
        """As `time`, on each of several devices."""
        if self._times:
            return [self.time(node, device) for device in devices]
        estimate = estimated_work(node)
        return [_time(estimate, device) for device in devices]

    def size(self, edge: Edge) -> float:
        node, i = edge
        measured = self._sizes.get(node.name, {}).get(i)
        return measured if measured is not None else estimated_size(node, i)

    def measured(self, name: str, device: str) -> float | None:
        """The mean time of a node on a type of device, if it was ever measured there."""
        found = self._times.get((name, _type(device)))
        return None if found is None else found[1] / found[0]

    # ---- measuring ----

    def record(self, name: str, device: str, micros: float, sizes: dict[int, int]) -> None:
        runs, total = self._times.get((name, _type(device)), (0, 0.0))
        self._times[name, _type(device)] = runs + 1, total + micros
        self._sizes.setdefault(name, {}).update(sizes)

    def add_step(self, step_stats: Any) -> None:
        """Takes in a traced step."""
        for stats in step_stats.dev_stats:
            for node in stats.node_stats:
                sizes = {
                    o.slot: o.tensor_description.allocation_description.requested_bytes
                    for o in node.output
                }
                self.record(node.node_name, stats.device, node.op_end_rel_micros, sizes)

    # ---- keeping ----

    def to_proto(self) -> Any:
        from tensorboard.compat.proto.cost_graph_pb2 import CostGraphDef

        message = CostGraphDef()
        for i, ((name, kind), (runs, total)) in enumerate(sorted(self._times.items())):
            node = message.node.add(name=name, device=f"/device:{kind}:0", id=i)
            node.compute_cost = node.compute_time = max(1, round(total / runs))
            for slot, size in sorted(self._sizes.get(name, {}).items()):
                while len(node.output_info) <= slot:
                    node.output_info.add()
                node.output_info[slot].size = size
        return message

    def add_proto(self, message: Any) -> None:
        for node in message.node:
            sizes = {i: info.size for i, info in enumerate(node.output_info)}
            self.record(node.name, node.device, node.compute_cost, sizes)

    def save(self, path: str) -> None:
        """Writes what was measured, whole or not at all."""
        temporary = f"{path}.tmp{os.getpid()}"
        with open(temporary, "wb") as file:
            file.write(self.to_proto().SerializeToString())
        os.replace(temporary, path)

    @classmethod
    def load(cls, path: str) -> CostModel:
        from tensorboard.compat.proto.cost_graph_pb2 import CostGraphDef

        with open(path, "rb") as file:
            message = CostGraphDef.FromString(file.read())
        model = cls()
        model.add_proto(message)
        return model


def _type(device: str) -> str:
    return device_name.parse(device).device_type or "CPU"


def estimated_size(node: Node, i: int) -> float:
    dtype = node.dtypes[i].base_dtype
    if dtype in (dtypes.resource, dtypes.variant):
        return 64.0
    width = 16 if dtype is dtypes.string else dtype.size
    return elements(node.dims[i]) * width


def elements(dims: Dims) -> float:
    if dims is None:
        return UNKNOWN_SIZE
    return float(math.prod(UNKNOWN_DIMENSION if d is None else d for d in dims))


def estimated_time(node: Node, device: DeviceInfo) -> float:
    """By the work of the kernel where the op tells it, and the memory it touches."""
    return _time(estimated_work(node), device)


def _time(estimate: tuple[float, float] | None, device: DeviceInfo) -> float:
    if estimate is None:
        return 0.0
    work, moved = estimate
    return NODE_TIME + max(work / device.flops, moved / device.bytes)


def estimated_work(node: Node) -> tuple[float, float] | None:
    """Floating-point operations and bytes moved; None for nodes that take no time at all."""
    if node.definition.is_free or node.definition.is_handle:
        return None
    moved = sum(estimated_size(source, i) for source, i in node.inputs)
    moved += sum(estimated_size(node, i) for i in range(len(node.dtypes)))
    work = 0.0
    if node.definition.flops is not None:
        try:
            dims = [_guess(source.dims[i]) for source, i in node.inputs]
            work = float(node.definition.flops(dims, node.attrs))
        except (TypeError, ValueError, LookupError, ArithmeticError):
            work = 0.0  # a rank is not known, or an attribute makes no sense: the kernel says so
    return work, moved


def traced_time(
    node: Node, inputs: Sequence[Any], outputs: Sequence[Any], device: DeviceInfo
) -> float:
    """As `estimated_time` of a node inside a program, whose arrays are known.

    It reads as much as it makes: of something larger it may want only a part.
    """
    moved = 2 * sum(_bytes(v) for v in outputs)
    work = 0.0
    if node.definition.flops is not None:
        shapes = [getattr(v, "shape", ()) for v in inputs]
        with contextlib.suppress(TypeError, ValueError, IndexError):
            work = float(node.definition.flops(shapes, node.attrs))
    return max(work / device.flops, moved / device.bytes)


def _bytes(value: Any) -> int:
    """Of an array of the program; what was computed before, and lists of arrays, do not count."""
    known = isinstance(value, np.ndarray) or not isinstance(getattr(value, "dtype", 0), np.dtype)
    return 0 if known else int(value.size * value.dtype.itemsize)


def _guess(dims: Dims) -> Any:
    if dims is None:
        raise ValueError("unknown rank")
    return tuple(UNKNOWN_DIMENSION if d is None else d for d in dims)
