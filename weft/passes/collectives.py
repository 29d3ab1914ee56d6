"""Collectives whose members are processes, in the one order that all processes follow.

Processes run different steps: one of them writes summaries, too. What their steps have in common is
the collectives, and what these need of each other. So they are put in an order that follows from
that alone, and a token goes from each to the next: no compiler and no thread can change it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core import dtypes
from weft.graph.op_def import REGISTRY
from weft.ops.devices.process_collectives import BETWEEN_PROCESSES
from weft.ops.kit.process_group import current
from weft.passes.client_graph import ClientGraph, Edge, Node, topological
from weft.passes.control_flow.fold import subgraphs


def reach_processes(graph: ClientGraph) -> None:
    """Puts collectives between processes in the place of TensorFlow's, in place."""
    if current().size == 1:
        return
    for node in graph.nodes:
        for inner in subgraphs(node):
            reach_processes(inner)
    found = [node for node in graph.nodes if _is_between_processes(node)]
    if found:
        _chain(graph, _ordered(graph, found))


def _is_between_processes(node: Node) -> bool:
    if node.type not in BETWEEN_PROCESSES:
        return False
    return bool(node.attrs.get("group_size", current().size) == current().size)


def _ordered(graph: ClientGraph, found: list[Node]) -> list[Node]:
    """By how many collectives must come before, then by key or name."""
    depth: dict[Node, int] = {}
    mine = set(found)
    for node in topological(graph.nodes):
        before = [depth[source] + (source in mine) for source in node.sources if source in depth]
        depth[node] = max(before, default=0)
    return sorted(found, key=lambda node: (depth[node], *_key(node)))


def _key(node: Node) -> tuple[int, int, str]:
    """TensorFlow's keys are the same in all processes. Names of operations without keys are."""
    key = node.attrs.get("group_key", 0), node.attrs.get("instance_key", 0)
    return (*key, "" if any(key) else node.name)


def _chain(graph: ClientGraph, ordered: list[Node]) -> None:
    start = _start(ordered[0])
    token: Edge = start, 0
    made: dict[Node, Node] = {}
    for node in ordered:
        made[node] = _replacement(node, token)
        token = made[node], 1
    old: dict[Edge, Edge] = {(node, 0): (new, 0) for node, new in made.items()}
    graph.nodes = [start, *(made.get(node, node) for node in graph.nodes)]
    graph.replace(old, {node: [new] for node, new in made.items()})
    graph.nodes = topological(graph.nodes)


def _replacement(node: Node, token: Edge) -> Node:
    return Node(
        node.name, BETWEEN_PROCESSES[node.type], node.attrs, [*node.inputs, token], node.controls,
        [node.dtypes[0], dtypes.int32], [node.dims[0], ()], node.op, node.device,
    )  # fmt: skip


def _start(first: Node) -> Node:
    attrs: dict[str, Any] = {"value": np.zeros((), np.int32), "dtype": dtypes.int32}
    return Node(
        f"{first.name}/start", REGISTRY["Const"], attrs, [], [], [dtypes.int32], [()],
        device=first.device,
    )  # fmt: skip
