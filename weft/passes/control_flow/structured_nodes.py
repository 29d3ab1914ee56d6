"""`_While` and `_If`, the nodes that hold whole subgraphs, and what folding asks of other nodes."""

from __future__ import annotations

from collections.abc import Iterable

from weft.graph.op_def import OpDef
from weft.graph.traits import BLOCKING, PLAIN, Traits
from weft.passes.client_graph import ClientGraph, Edge, Node


def _holder(name: str, traits: Traits = PLAIN) -> OpDef:
    attrs = "Tin: list(type), Tout: list(type)"
    return OpDef(name, "input: list(Tin)", "output: list(Tout)", attrs, traits=traits)


WHILE, IF = _holder("_While"), _holder("_If")
# The same, of a body or branches that may have to wait.
WAITING_WHILE, WAITING_IF = _holder("_While", BLOCKING), _holder("_If", BLOCKING)


class NotFoldable(Exception):
    """The graph does not have the form TensorFlow gives its loops and conditionals."""


def subgraphs(node: Node) -> list[ClientGraph]:
    """The graphs a structured node holds."""
    held = node.loop or node.branches
    return [] if held is None else held.graphs


def nodes_inside(node: Node) -> list[Node]:
    """All nodes of the graphs that a structured node holds, however deep."""
    found: list[Node] = []
    for graph in subgraphs(node):
        for inner in graph.nodes:
            found += [inner, *nodes_inside(inner)]
    return found


def has_loops(nodes: Iterable[Node]) -> bool:
    """Whether there is a loop among these or inside of one."""
    return any(n.loop is not None for node in nodes for n in [node, *nodes_inside(node)])


def kind(node: Node) -> str | None:
    return node.definition.control_flow


def waits(node: Node) -> bool:
    """Whether the executor must run a node by itself. Transfers outside of loops and branches are
    there before or after these run."""
    if node.definition.transfer is not None:
        return "_may_be_dead" in node.attrs
    return node.definition.blocking


def has_effect(node: Node) -> bool:
    held = node.loop or node.branches
    return node.definition.stateful or (held is not None and held.has_effect)


def note_effects(node: Node) -> None:
    """Tells a structured node whether anything inside of it has an effect."""
    held = node.loop or node.branches
    assert held is not None
    held.has_effect = any(has_effect(n) for inner in held.graphs for n in inner.nodes)


def is_settled(node: Node) -> bool:
    """Constants and resource handles: the same in every frame, so any subgraph may have its own."""
    return not node.controls and (node.definition.is_constant or node.definition.is_handle)


def origin_of(edge: Edge) -> Edge:
    """The handle or constant an edge stems from through nodes that only pass values on."""
    seen = edge
    while _passes_on(seen[0]):
        seen = seen[0].inputs[0]
    return seen if is_settled(seen[0]) else edge


def _passes_on(node: Node) -> bool:
    """Whether a value goes through a node at once; what an Enter waits for, its whole loop does."""
    if kind(node) == "enter":
        return True
    return not node.controls and (node.definition.is_identity or kind(node) == "switch")


def outside_controls(nodes: list[Node], here: set[Node]) -> list[Node]:
    return list(dict.fromkeys(c for n in nodes for c in n.controls if c not in here))
