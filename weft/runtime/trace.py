"""Step statistics: what each node of a traced step took, as TensorFlow's StepStats."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.passes.client_graph import Node


class StepTrace:
    """Collects one record per node; `fill` writes them into a RunMetadata."""

    def __init__(self) -> None:
        # perf_counter has no epoch; wall time anchors it.
        self._offset = time.time() - time.perf_counter()
        self._records: list[tuple[Node, Sequence[Any], float, float]] = []

    def __call__(self, node: Node, outputs: Sequence[Any], start: float, end: float) -> None:
        shapes = [(np.shape(v), getattr(v, "nbytes", 0)) for v in outputs]
        self._records.append((node, shapes, start, end))

    def fill(self, metadata: Any) -> None:
        stats = metadata.step_stats.dev_stats.add()
        stats.device = "/job:localhost/replica:0/task:0/device:CPU:0"
        for node, shapes, start, end in self._records:
            entry = stats.node_stats.add()
            entry.node_name = node.name
            entry.timeline_label = f"{node.name} = {node.type}({', '.join(_inputs(node))})"
            entry.thread_id = threading.get_ident() & 0x7FFFFFFF
            entry.all_start_micros = int((start + self._offset) * 1e6)
            took = max(1, int((end - start) * 1e6))
            entry.op_end_rel_micros = entry.all_end_rel_micros = took
            for slot, (shape, size) in enumerate(shapes):
                output = entry.output.add()
                output.slot = slot
                description = output.tensor_description
                if slot < len(node.dtypes):
                    description.dtype = node.dtypes[slot].base_dtype.as_datatype_enum
                for extent in shape:
                    description.shape.dim.add().size = extent
                description.allocation_description.requested_bytes = int(size)
                description.allocation_description.allocator_name = "cpu"


def _inputs(node: Node) -> list[str]:
    return [n.name if i == 0 else f"{n.name}:{i}" for n, i in node.inputs]
