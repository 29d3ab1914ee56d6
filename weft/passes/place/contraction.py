"""Sets of nodes -> one node each.

A set is replaced by looking at its neighbours only, so that many of them take no longer than one
walk over the graph. In between `graph.nodes` is out of date; `finish` brings it up to date.
"""

from __future__ import annotations

from collections.abc import Iterable

from weft.passes.client_graph import ClientGraph, Edge, Node, topological
from weft.passes.control_flow.structured_nodes import NotFoldable, note_effects


class Contraction:
    def __init__(self, graph: ClientGraph) -> None:
        self.graph = graph
        self._position = {node: i for i, node in enumerate(graph.nodes)}
        self._users: dict[Node, list[Node]] = {}
        self._fetched: dict[Node, set[Edge]] = {}
        self._moved: dict[Edge, Edge] = {}
        self._part_of: dict[Node, Node] = {}  # a node that is gone -> what has replaced it
        self._stands_at: dict[Node, Node] = {}  # the last node of a set -> what has replaced it
        for node in graph.nodes:
            self._note_sources(node)
        for edge in graph.fetches:
            self._fetched.setdefault(edge[0], set()).add(edge)

    def users(self, nodes: Iterable[Node]) -> list[Node]:
        """The nodes that use what is in a set, and are not in it, as they come in the graph."""
        inside = set(nodes)
        found = {u for n in inside for u in self._users.get(n, ())}
        outside = [u for u in found if u not in inside and u not in self._part_of]
        return sorted(outside, key=self._position.__getitem__)

    def current(self, edge: Edge) -> Edge:
        """The edge that has taken the place of `edge`."""
        while edge in self._moved:
            edge = self._moved[edge]
        return edge

    def replace(self, gone: set[Node], new: Node, old: dict[Edge, Edge]) -> None:
        """Puts `new` in the place of `gone`: edges by `old`, control edges from any of it.

        NotFoldable, before anything has changed, if an edge is used that `old` has no word about.
        """
        users = self.users(gone)
        fetched = [edge for node in gone for edge in self._fetched.get(node, ())]
        for edge in [*fetched, *(e for user in users for e in user.inputs)]:
            if edge[0] in gone and edge not in old:
                raise NotFoldable(f"the inside of a loop or branch is used: {edge[0].name}")
        note_effects(new)
        for user in users:
            user.inputs = [old.get(e, e) for e in user.inputs]
            user.controls = list(dict.fromkeys(new if c in gone else c for c in user.controls))
        last = max(gone, key=self._position.__getitem__)
        self._position[new] = self._position[last]
        self._stands_at[last] = new
        self._part_of.update(dict.fromkeys(gone, new))
        self._moved.update(old)
        self._users[new] = users
        self._fetched[new] = {old[edge] for edge in fetched}
        self._note_sources(new)

    def finish(self) -> None:
        """Puts the graph in order. NotFoldable if there is none."""
        graph = self.graph
        standing = [_last(node, self._stands_at) for node in graph.nodes]
        graph.nodes = topological([node for node in standing if node not in self._part_of])
        if not _is_in_order(graph.nodes):
            raise NotFoldable("a loop or branch needs what follows from it")
        graph.fetches = [self.current(edge) for edge in graph.fetches]
        graph.targets = list(dict.fromkeys(_last(t, self._part_of) for t in graph.targets))

    def _note_sources(self, node: Node) -> None:
        for source in dict.fromkeys(node.sources):
            self._users.setdefault(source, []).append(node)


def _is_in_order(nodes: list[Node]) -> bool:
    """Whether each node comes after all that it needs, but for the way back of a loop."""
    position = {node: i for i, node in enumerate(nodes)}
    return all(
        position.get(source, -1) < i or source.definition.control_flow == "next_iteration"
        for i, node in enumerate(nodes)
        for source in node.sources
    )


def _last(node: Node, follow: dict[Node, Node]) -> Node:
    while node in follow:
        node = follow[node]
    return node
