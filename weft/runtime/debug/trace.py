"""Step statistics: what each node of a traced step took, as TensorFlow's StepStats."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

import numpy as np

from weft.passes.client_graph import Node
from weft.runtime.resources import Variable

HOST = "/job:localhost/replica:0/task:0/device:CPU:0"


class _Record(NamedTuple):
    node: Node
    shapes: list[tuple[Any, int]]
    new: int  # bytes of outputs that are neither a view nor another node's value passed on
    start: float
    end: float
    thread: int


class StepTrace:
    """Collects one record per node; `fill` writes them into a RunMetadata."""

    def __init__(self) -> None:
        # perf_counter has no epoch; wall time anchors it.
        self._offset = time.time() - time.perf_counter()
        self._records: list[_Record] = []
        self._seen: WeakValueDictionary[int, Any] = WeakValueDictionary()

    def __call__(self, node: Node, outputs: Sequence[Any], start: float, end: float) -> None:
        outputs = [value.value if isinstance(value, Variable) else value for value in outputs]
        shapes = [(np.shape(v), getattr(v, "nbytes", 0)) for v in outputs]
        new = sum(size for v, (_, size) in zip(outputs, shapes, strict=True) if self._is_new(v))
        self._records.append(_Record(node, shapes, new, start, end, threading.get_ident()))

    def _is_new(self, value: Any) -> bool:
        if not hasattr(value, "nbytes") or getattr(value, "base", None) is not None:
            return False
        if isinstance(value, np.generic):  # a number is always a copy
            return True
        known = self._seen.get(id(value)) is value
        self._seen[id(value)] = value
        return not known

    def fill(self, metadata: Any) -> None:
        devices: dict[str, Any] = {}
        if not self._records:  # everything was known before the step
            metadata.step_stats.dev_stats.add(device=HOST)
        for record in self._records:
            name = record.node.device or HOST
            stats = devices.get(name)
            if stats is None:
                stats = devices[name] = metadata.step_stats.dev_stats.add(device=name)
            self._add(stats.node_stats.add(), record)

    def _add(self, entry: Any, record: _Record) -> None:
        node = record.node
        entry.node_name = node.name
        entry.timeline_label = f"{node.name} = {node.type}({', '.join(_inputs(node))})"
        entry.thread_id = record.thread & 0x7FFFFFFF
        entry.all_start_micros = int((record.start + self._offset) * 1e6)
        took = max(1, int((record.end - record.start) * 1e6))
        entry.op_end_rel_micros = entry.all_end_rel_micros = took
        if not node.inputs:  # a constant or a variable: it was there before the step
            entry.memory_stats.persistent_memory_size = record.new
        elif record.new:
            entry.memory.add(
                allocator_name="cpu", total_bytes=record.new, peak_bytes=record.new,
                live_bytes=record.new,
            )  # fmt: skip
        for slot, (shape, size) in enumerate(record.shapes):
            output = entry.output.add(slot=slot)
            description = output.tensor_description
            if slot < len(node.dtypes):
                description.dtype = node.dtypes[slot].base_dtype.as_datatype_enum
            for extent in shape:
                description.shape.dim.add().size = extent
            description.allocation_description.requested_bytes = int(size)
            description.allocation_description.allocator_name = "cpu"


def _inputs(node: Node) -> list[str]:
    return [n.name if i == 0 else f"{n.name}:{i}" for n, i in node.inputs]
