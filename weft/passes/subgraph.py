"""Copies of nodes: of a whole graph, or of what some edges need, as a graph with arguments."""

from __future__ import annotations

from weft.core.walk import reached
from weft.passes.client_graph import ClientGraph, Edge, Node
from weft.passes.control_flow.structured_nodes import NotFoldable, is_settled, origin_of
from weft.passes.prune import ARG


def clone(n: Node) -> Node:
    return Node(
        n.name,
        n.definition,
        n.attrs,
        list(n.inputs),
        list(n.controls),
        n.dtypes,
        n.dims,
        n.op,
        n.device,
        loop=n.loop,
        branches=n.branches,
    )


def copied(graph: ClientGraph) -> ClientGraph:
    made = {n: clone(n) for n in graph.nodes}
    for old, new in made.items():
        new.inputs = [(made[s], i) for s, i in old.inputs]
        new.controls = [made[c] for c in old.controls]
    return ClientGraph(
        list(made.values()),
        [(made[n], i) for n, i in graph.feeds],
        [(made[n], i) for n, i in graph.fetches],
        [made[n] for n in graph.targets],
    )


def replace_by(graph: ClientGraph, copy: ClientGraph) -> None:
    graph.nodes, graph.feeds = copy.nodes, copy.feeds
    graph.fetches, graph.targets = copy.fetches, copy.targets


class Subgraph:
    """Collects what some edges need, up to given borders, as a graph of its own."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.args: dict[Edge, Node] = {}
        self.alias: dict[Edge, Edge] = {}
        self.made: dict[Node, Node] = {}
        self.nodes: list[Node] = []

    def add_arg(self, edge: Edge) -> Node:
        if edge not in self.args:
            self.args[edge] = _arg(len(self.args), edge, self.name)
        return self.args[edge]

    def build(
        self, inside: set[Node], fetches: list[Edge], targets: list[Node], order: list[Node]
    ) -> ClientGraph:
        """`inside`: nodes that may be copied in. Edges from elsewhere must be args or settled."""
        needed = self._needed(inside, [e[0] for e in map(self._final, fetches)] + targets)
        for node in order:
            if node in needed:
                self.made[node] = clone(node)
        for old, new in list(self.made.items()):
            new.inputs = [self._edge(e) for e in old.inputs]
            new.controls = [self.made[c] for c in old.controls if c in self.made]
        outs = [self._edge(e) for e in fetches]
        nodes = [*self.args.values(), *self.nodes, *(self.made[n] for n in order if n in needed)]
        feeds = [(a, 0) for a in self.args.values()]
        return ClientGraph(nodes, feeds, outs, [self.made[t] for t in targets])

    def _final(self, edge: Edge) -> Edge:
        while edge in self.alias:
            edge = self.alias[edge]
        return edge

    def _needed(self, inside: set[Node], roots: list[Node]) -> set[Node]:
        def before(node: Node) -> list[Node]:
            edges = (self._final(edge) for edge in node.inputs)
            sources = [edge[0] for edge in edges if edge not in self.args] + node.controls
            return [each for each in sources if each in inside]

        return reached([r for r in roots if r in inside], before)

    def _edge(self, edge: Edge) -> Edge:
        edge = self._final(edge)
        if edge in self.args:
            return self.args[edge], 0
        node, i = edge
        if node in self.made:
            return self.made[node], i
        if is_settled(node):
            self.made[node] = clone(node)
            self.nodes.append(self.made[node])
            return self.made[node], i
        origin = origin_of(edge)
        if origin != edge:
            return self._edge(origin)
        raise NotFoldable(f"{self.name} uses {node.name} from outside")


def _arg(index: int, like: Edge, name: str) -> Node:
    node, i = like
    dtype = node.dtypes[i].base_dtype
    attrs = {"T": dtype, "index": index}
    return Node(f"{name}/arg_{index}", ARG, attrs, [], [], [dtype], [node.dims[i]], node.op)
