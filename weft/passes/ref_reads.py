"""Reads of reference variables happen where the value is used.

In TensorFlow the `read` node of a reference variable passes on the variable's memory, not a copy,
so what is ordered after an assignment sees it. Here that node is taken out and its consumers take
the reference itself, which is read when they run.
"""

from __future__ import annotations

from weft.graph.op_def import REGISTRY
from weft.passes.client_graph import ClientGraph, Edge, Node


def sink_ref_reads(graph: ClientGraph, keep: bool = False) -> None:
    """Takes the reads out; with `keep` they stay, and come before what used them."""
    old: dict[Edge, Edge] = {}
    gone: dict[Node, list[Node]] = {}
    for node in graph.nodes:
        if not node.definition.is_identity or node.controls:
            continue
        source, i = node.inputs[0]
        if source.dtypes[i]._is_ref_dtype:
            old[node, 0] = old.get((source, i), (source, i))
            gone[node] = [source]
    if keep:
        _follow(graph, set(gone))
        graph.replace(old)
    elif gone:
        targets = set(graph.targets)
        graph.nodes = [node for node in graph.nodes if node not in gone or node in targets]
        graph.replace(old, {n: to for n, to in gone.items() if n not in targets})


def _follow(graph: ClientGraph, reads: set[Node]) -> None:
    """Lets the users of some reads run after them, if they take the variable itself."""
    for node in graph.nodes:
        used = [n for n, _ in node.inputs if n in reads and n not in node.controls]
        if node not in reads and used:
            node.controls = [*node.controls, *dict.fromkeys(used)]


def fetch_values(graph: ClientGraph) -> None:
    """Reads the references that the graph hands out, at its end: what takes them wants values."""
    for i, edge in enumerate(graph.fetches):
        if is_reference(edge):
            read = _read(edge)
            graph.nodes.append(read)
            graph.fetches[i] = read, 0


def _read(edge: Edge) -> Node:
    node, i = edge
    dtype = node.dtypes[i].base_dtype
    definition = REGISTRY["Identity"]
    return Node(
        f"{node.name}/read", definition, {"T": dtype}, [edge], [], [dtype], [node.dims[i]], node.op
    )


def is_reference(edge: Edge) -> bool:
    """Whether a reference arrives by `edge`, if only through nodes that choose where it goes."""
    node, i = edge
    while node.definition.control_flow in ("switch", "enter", "exit", "next_iteration"):
        node, i = node.inputs[0]
    return node.dtypes[i]._is_ref_dtype
