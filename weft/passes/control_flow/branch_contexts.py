"""Contexts: the branches of conditionals that a node is in.

A switch sends a value to one of two sides by a predicate; what needs that value is on that side,
until a merge joins the two.
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.passes.client_graph import ClientGraph, Edge, Node
from weft.passes.control_flow.structured_nodes import NotFoldable, kind

# Which sides of which predicates something needs.
Context = frozenset[tuple[Edge, int]]


def predicate_of(switch: Node) -> Edge:
    """The predicate of a switch: Identity nodes on the way make no difference."""
    edge = switch.inputs[1]
    while edge[0].definition.is_identity and not edge[0].controls:
        edge = edge[0].inputs[0]
    return edge


def contexts_of(graph: ClientGraph) -> dict[Node, Context]:
    """For each node, which sides of which predicates it needs."""
    found: dict[Node, Context] = {}
    for node in graph.nodes:
        sides = [edge_context(e, found) for e in node.inputs]
        if kind(node) == "merge":
            found[node] = frozenset.intersection(*sides)
            continue
        context: Context = frozenset().union(*sides)
        for control in node.controls:
            context |= found.get(control, frozenset())
        found[node] = context
    return found


def edge_context(edge: Edge, found: dict[Node, Context]) -> Context:
    node, i = edge
    context = found.get(node, frozenset())
    if kind(node) == "switch":
        context |= {(predicate_of(node), i)}
    return context


def innermost(switches: list[Node], contexts: dict[Node, Context]) -> list[Edge]:
    """The predicates that decide deepest inside of others, but for those that overlap."""
    depth: dict[Edge, int] = {}
    for switch in switches:
        predicate = predicate_of(switch)
        depth[predicate] = max(depth.get(predicate, 0), len(contexts[switch]))
    deepest = max(depth.values())
    rank = {p: i for i, p in enumerate(depth) if depth[p] == deepest}
    together = {frozenset(p for p, _ in context) for context in contexts.values()}
    together |= {frozenset([predicate_of(s), *(p for p, _ in contexts[s])]) for s in switches}
    for predicates in together:
        for late in sorted(filter(rank.__contains__, predicates), key=rank.__getitem__)[1:]:
            del rank[late]
    return list(rank)


class DecidedNodes:
    """The nodes that some predicates decide about, which no two of them share."""

    def __init__(self, predicates: Sequence[Edge]) -> None:
        self.predicates = set(predicates)
        self.home: dict[Node, Edge] = {}  # node -> the predicate it belongs to
        self.branch: dict[Node, int] = {}  # node of a branch -> which of the two
        self.switches: set[Node] = set()
        self.merges: set[Node] = set()

    def sort_in(self, node: Node, contexts: dict[Node, Context]) -> None:
        sides = self._own(contexts[node])
        if len(sides) > 1:
            raise NotFoldable(f"a node needs both sides of {sides[0][0][0].name}")
        for predicate, side in sides:
            self.home[node], self.branch[node] = predicate, side
        if kind(node) == "switch" and predicate_of(node) in self.predicates:
            self.home[node] = predicate_of(node)
            self.switches.add(node)
        elif kind(node) == "merge":
            inner = [edge_context(e, contexts) for e in node.inputs]
            for predicate in {p for context in inner for p, _ in self._own(context)}:
                if _joins(node, predicate, inner):
                    self.home[node] = predicate
                    self.merges.add(node)

    def _own(self, context: Context) -> list[tuple[Edge, int]]:
        return [side for side in context if side[0] in self.predicates]


def _joins(merge: Node, predicate: Edge, inner: list[Context]) -> bool:
    """Whether a merge ends a conditional on `predicate`, rather than one inside of it."""
    sides = frozenset([(predicate, 0), (predicate, 1)])
    if len(inner) == 2 and inner[0] ^ inner[1] == sides:
        return True
    if all(sides & context for context in inner) and inner[0] == inner[1]:
        return False
    raise NotFoldable(f"merge {merge.name} joins more than two sides")
