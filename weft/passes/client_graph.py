"""The graph of one step: only what the step needs, in an order in which it can run.

Passes rewrite it in place. Nodes keep a link to the operation they come from, for errors.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from weft.core.dtypes import DType
from weft.core.walk import postorder, reached
from weft.graph.op_def import OpDef
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims

Edge = tuple["Node", int]


class Node:
    """One operation of a step. `inputs` are (node, output index) pairs, `controls` nodes.

    `loop` and `branches` are what a `_While` and an `_If` node hold.
    """

    __slots__ = (
        "attrs", "branches", "controls", "definition", "device", "dims", "dtypes", "inputs", "loop",
        "name", "op",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        definition: OpDef,
        attrs: dict[str, Any],
        inputs: list[Edge],
        controls: list[Node],
        dtypes: list[DType],
        dims: list[Dims],
        op: Operation | None = None,
        device: str = "",
        *,
        loop: Loop | None = None,
        branches: Branches | None = None,
    ) -> None:
        self.name, self.definition, self.attrs = name, definition, attrs
        self.inputs, self.controls = inputs, controls
        self.dtypes, self.dims = dtypes, dims
        self.op, self.device = op, device
        self.loop, self.branches = loop, branches

    @property
    def type(self) -> str:
        return self.definition.name

    @property
    def sources(self) -> list[Node]:
        """The nodes this one comes after: those of its inputs, and its control inputs."""
        return [source for source, _ in self.inputs] + self.controls

    def __repr__(self) -> str:
        return f"<Node {self.name} {self.type}>"


def origin(edge: Edge) -> Edge:
    """The edge, seen through identities."""
    while edge[0].definition.is_identity:
        edge = edge[0].inputs[0]
    return edge


def needed(nodes: Iterable[Node]) -> set[Node]:
    """The nodes, and all that they come after."""
    return reached(nodes, lambda node: node.sources)


@dataclass
class ClientGraph:
    """`nodes` are in topological order; `feeds` and `fetches` are edges; `targets` must run."""

    nodes: list[Node]
    feeds: list[Edge]
    fetches: list[Edge]
    targets: list[Node]

    def drop_unused(self) -> None:
        """Keeps what fetches and targets need, in the order it was in."""
        ends = [node for node, _ in (*self.fetches, *self.feeds)]
        keep = needed([*ends, *self.targets])
        self.nodes = [node for node in self.nodes if node in keep]

    def replace(self, old: dict[Edge, Edge], gone: dict[Node, list[Node]] | None = None) -> None:
        """Reroutes edges by `old`; a control edge from a node of `gone` comes from its list."""

        def final(edge: Edge) -> Edge:
            while edge in old:
                edge = old[edge]
            return edge

        for node in self.nodes:
            if any(edge in old for edge in node.inputs):
                node.inputs = [final(edge) for edge in node.inputs]
            if gone and any(c in gone for c in node.controls):
                node.controls = _expand(node.controls, gone)
        self.fetches = [final(edge) for edge in self.fetches]
        if gone:
            self.targets = _expand(self.targets, gone)


@dataclass(eq=False)
class Loop:
    """The graphs of a `_While` node: both take its inputs, the loop variables first.

    `width`: how many iterations may overlap. `longest`: how many there were at most so far, from
    which a program for a loop without a known end is given its room.
    """

    condition: ClientGraph
    body: ClientGraph
    variables: int
    width: int = 10
    has_effect: bool = False
    longest: int = 0

    @property
    def graphs(self) -> list[ClientGraph]:
        return [self.condition, self.body]


@dataclass(eq=False)
class Branches:
    """The graphs of an `_If` node, which take its inputs but the predicate: else, then.

    Its first outputs, so many as `joined` says, come from either branch. Each of the others comes
    from one of them alone, the one that `sides` says, and has no value if the other is taken.
    """

    graphs: list[ClientGraph]
    joined: int
    sides: list[int]
    has_effect: bool = False

    def result_of(self, i: int) -> tuple[int, Edge]:
        """The branch that alone makes output `i`, and the result of it that this is."""
        before = self.sides[: i - self.joined]
        side = self.sides[i - self.joined]
        return side, self.graphs[side].fetches[self.joined + before.count(side)]


def _expand(controls: Iterable[Node], gone: dict[Node, list[Node]]) -> list[Node]:
    found: dict[Node, None] = {}
    stack = list(reversed(list(controls)))
    while stack:
        node = stack.pop()
        if node in gone:
            stack.extend(gone[node])
        else:
            found[node] = None
    return list(found)


def topological(nodes: list[Node], after: dict[Node, list[Node]] | None = None) -> list[Node]:
    """Topological order, keeping the given one where it can. `after`: further edges.

    The way back of a loop does not count.
    """
    inside = set(nodes)

    def before(node: Node) -> list[Node]:
        return [s for s in _before(node) + (after or {}).get(node, []) if s in inside]

    return postorder(nodes, before)


def _before(node: Node) -> list[Node]:
    if node.definition.control_flow != "merge":
        return node.sources
    return [s for s in node.sources if s.definition.control_flow != "next_iteration"]
