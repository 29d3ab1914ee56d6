"""Statistics of each node of a graph: its size, its cost, and what a traced step measured."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from typing import Any

from weft.lib.profiler.flops import UnknownShape, flops_of
from weft.lib.profiler.options import TRAINABLE_VARIABLES

ROOT = "_TFProfRoot"
FIELDS = (
    "exec_micros", "accelerator_exec_micros", "cpu_exec_micros", "requested_bytes", "peak_bytes",
    "residual_bytes", "output_bytes", "parameters", "float_ops", "run_count",
)  # fmt: skip
# Ends the names of constants that stand for nodes with values known before the step.
_FOLDED = re.compile(r"/folded(_\d+)?$")
# The type of what is a scope only.
SCOPE = "_kTFScopeParent"


@dataclass
class Node:
    """One node, one name scope, or all nodes of one type; `total` includes what is below it."""

    name: str
    type: str = ""
    types: set[str] = field(default_factory=set)
    devices: list[str] = field(default_factory=list)
    dims: tuple[int, ...] | None = None
    own: dict[str, int] = field(default_factory=lambda: dict.fromkeys(FIELDS, 0))
    total: dict[str, int] = field(default_factory=lambda: dict.fromkeys(FIELDS, 0))
    definitions: int = 0
    children: list[Node] = field(default_factory=list)
    members: list[Node] = field(default_factory=list)
    accounted: bool = False

    def start_total(self) -> None:
        self.total = dict(self.own) if self.accounted else dict.fromkeys(FIELDS, 0)
        self.definitions = 1

    def add(self, other: Node) -> None:
        for name, value in other.total.items():
            self.total[name] += value
        self.definitions += other.definitions


def nodes_of(graph: Any, op_log: Any, run_metas: list[Any]) -> dict[str, Node]:
    """Node name -> statistics."""
    nodes, missing = {}, 0
    for op in graph.get_operations():
        node = nodes[op.name] = Node(op.name, op.type, {op.type})
        if "shape" in op.attrs:
            _measure(op, node)
        try:
            node.own["float_ops"] = flops_of(op)
        except UnknownShape:
            missing += 1
    for variable in graph.get_collection("trainable_variables"):
        nodes[variable.op.name].types.add(TRAINABLE_VARIABLES)
    for entry in op_log.log_entries if op_log is not None else ():
        _merge(nodes, entry)
    for run_meta in run_metas:
        _add_step(nodes, run_meta)
    if missing and not run_metas:
        sys.stderr.write(f"{missing} ops no flops stats due to incomplete shapes.\n")
    return nodes


def _measure(op: Any, node: Node) -> None:
    """Variables are what matters; placeholders of a known shape count as well."""
    shape = op.get_attr("shape")
    sizes = tuple(dim.size for dim in shape.dim)
    if not shape.unknown_rank and -1 not in sizes:
        node.dims = sizes
        node.own["parameters"] = math.prod(sizes)


def _merge(nodes: dict[str, Node], entry: Any) -> None:
    node = nodes.get(entry.name)
    if node is not None:
        node.types.update(entry.types)
        node.own["float_ops"] = entry.float_ops or node.own["float_ops"]


def measured_nodes(run_meta: Any, known: Container[str]) -> Iterator[tuple[str, str, Any]]:
    """(device, name of the node, what a step measured of it), for nodes that are `known`."""
    for device in run_meta.step_stats.dev_stats:
        for measured in device.node_stats:
            name = _FOLDED.sub("", measured.node_name)
            if name in known:
                yield device.device, name, measured


def _add_step(nodes: dict[str, Node], run_meta: Any) -> None:
    for device, name, measured in measured_nodes(run_meta, nodes):
        node, where = nodes[name], "accelerator" if "gpu" in device.lower() else "cpu"
        micros = measured.op_end_rel_micros or measured.all_end_rel_micros
        node.own["exec_micros"] += micros
        node.own[f"{where}_exec_micros"] += micros
        node.own["run_count"] += 1
        _add_memory(node.own, measured)
        for output in measured.output:
            described = output.tensor_description.allocation_description
            node.own["output_bytes"] += described.requested_bytes
        if device not in node.devices:
            node.devices.append(device)


def _add_memory(own: dict[str, int], measured: Any) -> None:
    stays = measured.memory_stats.persistent_memory_size
    scratch = measured.memory_stats.temp_memory_size
    own["requested_bytes"] += stays + scratch + sum(m.total_bytes for m in measured.memory)
    own["peak_bytes"] += stays + scratch + sum(m.peak_bytes for m in measured.memory)
    own["residual_bytes"] += stays + sum(m.live_bytes for m in measured.memory)
