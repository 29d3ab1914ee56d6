"""All replicas of a step as one graph: that of the first, with collectives where they meet.

A node of the graph is either one that each replica has, and stands for a row; or one that there is
once in the step: then all replicas do it alike. What such a node takes of a single replica, that
one sends to all.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from weft.core import dtypes
from weft.graph.op_def import REGISTRY, OpDef
from weft.ops.devices.replica_collectives import AMONG_REPLICAS, replica_sum_, replica_value_
from weft.passes.client_graph import ClientGraph, Edge, Node, topological
from weft.passes.control_flow.structured_nodes import is_settled, subgraphs
from weft.passes.prune import ARG
from weft.passes.regions.compilable import compiles
from weft.passes.replicas.alike import are_alike
from weft.passes.replicas.cut import Cut, NotOneProgram
from weft.passes.replicas.joins import is_sum, reduced_stack, terms
from weft.passes.resource_edges import is_cell
from weft.passes.subgraph import clone

Edges = tuple[Edge, ...]


@dataclass
class Merged:
    """`arguments` has for each feed the edges it stands for: one of each replica, or one for all.

    `results` has for each edge that was asked for a fetch, and a replica. `made` are the nodes, by
    those they were made of.
    """

    graph: ClientGraph
    arguments: list[Edges]
    results: list[tuple[int, int]]
    made: dict[Node, Node] = field(default_factory=dict)


def merge(graph: ClientGraph, parts: Cut, wanted: list[Edge]) -> Merged:
    """The graph of one replica, which makes the edges `wanted` of the step."""
    return _Merger(graph, parts).merge(wanted)


def is_free(node: Node, parts: Cut) -> bool:
    """Whether a node that comes before the program can as well be computed inside of it."""
    kind = node.definition
    if kind.is_given or kind.is_handle:
        return True
    if kind.takes_rng or kind.control_flow or subgraphs(node) or node.controls:
        return False
    cells = [parts.roots.get(edge) for edge in node.inputs if is_cell(edge)]
    if any(r is None or r in parts.written or r[0] in parts.replicas.rows for r in cells):
        return False
    is_pure = not kind.stateful or kind.reads_only or kind.reads_variable
    return is_pure and compiles(node, parts.roots)


class _Merger:
    def __init__(self, graph: ClientGraph, parts: Cut) -> None:
        self.graph, self.parts = graph, parts
        self.rows, self.count = parts.replicas.rows, parts.replicas.count
        self.made: dict[Node, Node] = {}
        self.arguments: dict[Edges, Node] = {}
        self.joined: dict[tuple[str, Edge, int], Node] = {}
        self.free: set[Node] = set()
        for node in graph.nodes:
            if node in parts.before and is_free(node, parts) and self.free.issuperset(node.sources):
                self.free.add(node)

    def merge(self, wanted: list[Edge]) -> Merged:
        for node in self.graph.nodes:
            row = self.rows.get(node)
            if node in self.parts.common or (row is not None and node is row[0]):
                self.made[node] = clone(node)
        for node, new in list(self.made.items()):
            self._wire(node, new)
        places, fetches = self._results(wanted)
        nodes = [*self.arguments.values(), *self.made.values(), *self.joined.values()]
        used = {source for node in nodes for source in node.sources}
        targets = [n for n in self.made.values() if n not in used and not is_settled(n)]
        feeds: list[Edge] = [(node, 0) for node in self.arguments.values()]
        found = ClientGraph(topological(nodes), feeds, fetches, targets)
        return Merged(found, list(self.arguments), places, self.made)

    def _results(self, wanted: list[Edge]) -> tuple[list[tuple[int, int]], list[Edge]]:
        fetches: dict[Edge, int] = {}
        places = []
        for source, i in wanted:
            row = self.rows.get(source)
            made = self.made[source if row is None else row[0]], i
            replica = 0 if row is None else row.index(source)
            places.append((fetches.setdefault(made, len(fetches)), replica))
        return places, list(fetches)

    # ---- nodes ----

    def _wire(self, node: Node, new: Node) -> None:
        row = self.rows.get(node)
        if row is None:
            self._wire_common(node, new)
            return
        new.inputs = [self._of_replicas(e) for e in zip(*(n.inputs for n in row), strict=True)]
        new.controls = self._controls([source for each in row for source in each.controls])
        if node.type in AMONG_REPLICAS:
            new.definition = AMONG_REPLICAS[node.type]

    def _wire_common(self, node: Node, new: Node) -> None:
        new.controls = self._controls(node.controls)
        summed = reduced_stack(node, self.count)
        edge = self._all_of(summed or (terms(node, self.count) if is_sum(node) else []))
        if edge is None:
            new.inputs = [self._common(edge) for edge in node.inputs]
        elif summed and node.type == "Mean":
            total = self._join(replica_sum_, edge, 0)
            self._become(new, "RealDiv" if _is_float(total) else "Div", [total, self._size(total)])
        else:
            self._become(new, replica_sum_.name, [edge])

    def _become(self, new: Node, kind: str, inputs: list[Edge]) -> None:
        source, i = inputs[0]
        new.definition, new.attrs = REGISTRY[kind], {"T": source.dtypes[i].base_dtype}
        new.inputs = inputs

    def _size(self, like: Edge) -> Edge:
        kind = like[0].dtypes[like[1]].base_dtype
        made = self.joined.get(("size", (like[0], -1), 0))
        if made is None:
            value = _scalar(self.count, kind)
            made = Node(
                f"{like[0].name}/size", REGISTRY["Const"], {"value": value, "dtype": kind}, [], [],
                [kind], [()], device=like[0].device,
            )  # fmt: skip
            self.joined["size", (like[0], -1), 0] = made
        return made, 0

    def _controls(self, sources: list[Node]) -> list[Node]:
        """What comes before the program is done by then."""
        found = {self.rows[s][0] if s in self.rows else s: None for s in sources}
        return [self.made[source] for source in found if source in self.made]

    # ---- edges ----

    def _all_of(self, edges: list[Edge]) -> Edge | None:
        """The edge of the program that is these in turn, if they are one of each replica."""
        if not edges or len({i for _, i in edges}) > 1:
            return None
        row = self.rows.get(edges[0][0])
        if row is None or {node for node, _ in edges} != set(row) or len(edges) != len(row):
            return None
        return self.made[row[0]], edges[0][1]

    def _of_replicas(self, edges: Edges) -> Edge:
        """What stands for the inputs of a row."""
        if len(set(edges)) == 1:
            return self._common(edges[0])
        found = self._all_of(list(edges))
        if found is not None and self.rows[edges[0][0]] == tuple(node for node, _ in edges):
            return found
        if self._are_equal(edges):
            return self._common(edges[0])
        return self._argument(edges)

    def _are_equal(self, edges: Edges) -> bool:
        """Whether edges of different nodes have the same value, as constants may."""
        waiting = [edges]
        while waiting:
            each = waiting.pop()
            nodes = [node for node, _ in each]
            if len(set(each)) == 1:
                continue
            if len({i for _, i in each}) > 1 or not are_alike(nodes):
                return False
            if not self.free.issuperset(nodes):
                return False
            if nodes[0].definition.is_argument or nodes[0].definition.is_handle:
                return False
            waiting += zip(*(node.inputs for node in nodes), strict=True)
        return True

    def _common(self, edge: Edge) -> Edge:
        """An edge that all replicas see alike."""
        source, i = edge
        row = self.rows.get(source)
        if row is not None:
            if is_cell(edge):
                raise NotOneProgram(f"{source.name} is the variable of one replica")
            return self._join(replica_value_, (self.made[row[0]], i), row.index(source))
        if source in self.made:
            return self.made[source], i
        if source.definition.is_argument or source not in self.free:
            return self._argument((edge,))
        new = self.made[source] = clone(source)
        new.inputs = [self._common(each) for each in source.inputs]
        return new, i

    def _argument(self, edges: Edges) -> Edge:
        source, i = edges[0]
        for node, _ in edges:
            if node not in self.parts.before or is_cell((node, i)):
                raise NotOneProgram(f"{node.name} comes from another replica")
        if edges not in self.arguments:
            kind, number = source.dtypes[i].base_dtype, len(self.arguments)
            self.arguments[edges] = Node(
                f"replicas/arg_{number}", ARG, {"T": kind, "index": number}, [], [], [kind],
                [source.dims[i]], source.op, self.parts.replicas.devices[0],
            )  # fmt: skip
        return self.arguments[edges], 0

    def _join(self, kind: OpDef, edge: Edge, replica: int) -> Edge:
        source, i = edge
        key = kind.name, edge, replica
        if key not in self.joined:
            attrs: dict[str, Any] = {"T": source.dtypes[i].base_dtype}
            if kind is replica_value_:
                attrs["replica"] = replica
            name = f"{source.name}/replicas_{len(self.joined)}"
            self.joined[key] = Node(
                name, kind, attrs, [edge], [], [source.dtypes[i].base_dtype], [source.dims[i]],
                source.op, source.device,
            )  # fmt: skip
        return self.joined[key], 0


def _is_float(edge: Edge) -> bool:
    return edge[0].dtypes[edge[1]].is_floating


def _scalar(value: int, kind: dtypes.DType) -> Any:
    import numpy as np

    return np.array(value, kind.np_storage)
