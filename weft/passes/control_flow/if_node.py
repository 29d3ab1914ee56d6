"""One conditional -> an `_If` node."""

from __future__ import annotations

from dataclasses import dataclass, field

from weft.graph.kernel_call import flat_args
from weft.passes.client_graph import Branches, ClientGraph, Edge, Node
from weft.passes.control_flow.branch_contexts import DecidedNodes
from weft.passes.control_flow.structured_nodes import (
    IF,
    WAITING_IF,
    NotFoldable,
    has_effect,
    is_settled,
    origin_of,
    outside_controls,
    waits,
)
from weft.passes.place.contraction import Contraction
from weft.passes.subgraph import Subgraph


def fold_group(
    contraction: Contraction, predicate: Edge, level: int, nodes: list[Node], parts: DecidedNodes
) -> None:
    """Replaces one of the successive conditionals on a predicate, with the nodes that are in it."""
    here = _Conditional(predicate, level, nodes, parts)
    users = contraction.users(nodes)
    used = dict.fromkeys(e for n in users for e in n.inputs)
    if any((m, 1) in used for m in here.joined):
        raise NotFoldable("the index of a merge is used")
    if any(m.dtypes[0]._is_ref_dtype and _wants_reference(users, m) for m in here.joined):
        raise NotFoldable("a merged reference is used as one")
    here.exports = [e for e in used if e[0] in here.inner or e[0] in here.taken]
    node = here.node()
    contraction.replace(here.gone, node, {e: (node, i) for i, e in enumerate(here.outputs)})


@dataclass
class _Conditional:
    predicate: Edge
    level: int
    order: list[Node]
    parts: DecidedNodes
    # Values of a branch that later conditionals on the predicate use.
    exports: list[Edge] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.gone = set(self.order)
        self.taken = self.gone & self.parts.switches  # the switches that begin it
        self.joined = [n for n in self.order if n in self.parts.merges]  # the merges that end it
        self.inner = self.gone - self.taken - self.parts.merges  # nodes of either branch

    @property
    def outputs(self) -> list[Edge]:
        return [(m, 0) for m in self.joined] + self.exports

    def node(self) -> Node:
        name = f"{self.predicate[0].name}/if" + (f"_{self.level}" if self.level else "")
        captured = self._captured()
        (part, otherwise), (_, then) = (self._side_graph(name, side, captured) for side in (0, 1))
        inputs = [self.predicate, *(e for e in captured if e in part.args)]
        sides = [self._side_of(e) for e in self.exports]
        return Node(
            name,
            WAITING_IF if any(waits(n) for n in [*otherwise.nodes, *then.nodes]) else IF,
            {"Tin": inputs},
            inputs,
            outside_controls(self.order, self.gone),
            [n.dtypes[i].base_dtype for n, i in self.outputs],
            [n.dims[i] for n, i in self.outputs],
            self.predicate[0].op,
            self.predicate[0].device,
            branches=Branches([otherwise, then], len(self.joined), sides),
        )

    def _captured(self) -> list[Edge]:
        """The edges that branches need from outside: through switches, or directly."""
        found: dict[Edge, None] = {}
        for node in [n for n in self.order if n in self.inner] + self.joined:
            for edge in node.inputs:
                switched = edge[0] in self.taken
                source = self._switched(edge)
                if source[0] not in self.gone and (switched or not is_settled(source[0])):
                    found[source] = None
        for edge in self.exports:
            if edge[0] in self.taken:
                found[self._switched(edge)] = None
        return list(found)

    def _switched(self, edge: Edge) -> Edge:
        """The edge that goes into the switches that `edge` comes out of."""
        while edge[0] in self.taken:
            edge = edge[0].inputs[0]
        return edge

    def _side_graph(
        self, name: str, side: int, captured: list[Edge]
    ) -> tuple[Subgraph, ClientGraph]:
        part = Subgraph(f"{name}/{'then' if side else 'else'}")
        for edge in captured:
            origin = origin_of(edge)
            if not is_settled(origin[0]):
                part.add_arg(edge)
            elif origin != edge:
                part.alias[edge] = origin
        for switch in self.taken:
            part.alias[switch, side] = switch.inputs[0]
        wanted = [self._from_side(m, side) for m in self.joined]
        wanted += [e for e in self.exports if self._side_of(e) == side]
        own = {n for n in self.inner if self.parts.branch[n] == side}
        effects = [n for n in self.order if n in own and has_effect(n)]
        return part, part.build(own, wanted, effects, self.order)

    def _side_of(self, edge: Edge) -> int:
        return edge[1] if edge[0] in self.taken else self.parts.branch[edge[0]]

    def _from_side(self, merge: Node, side: int) -> Edge:
        for edge in merge.inputs:
            if (edge[0] in self.taken and edge[1] == side) or self.parts.branch.get(
                edge[0]
            ) == side:
                return edge
            if _exported_side(edge, self.predicate) == side:
                return edge
        raise NotFoldable(f"merge {merge.name} lacks a side")


def _exported_side(edge: Edge, predicate: Edge) -> int | None:
    """The branch of a value that an earlier conditional hands on to later ones; None for others."""
    node, i = edge
    branches = node.branches
    if branches is None or node.inputs[0] != predicate or i < branches.joined:
        return None
    return branches.result_of(i)[0]


def _wants_reference(users: list[Node], merge: Node) -> bool:
    """Whether a user changes, or hands on, the variable that a merge has chosen."""
    return any(
        arg.is_ref
        for n in users
        if (merge, 0) in n.inputs
        for arg, edge in zip(flat_args(n.definition, n.attrs), n.inputs, strict=True)
        if edge == (merge, 0)
    )
