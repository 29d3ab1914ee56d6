"""Loops of TensorFlow's form, spread out as Enter, Merge, Switch ... -> `_While` nodes."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from weft.passes.client_graph import ClientGraph, Edge, Loop, Node, topological
from weft.passes.control_flow.fold_branches import fold_branches
from weft.passes.control_flow.structured_nodes import (
    WAITING_WHILE,
    WHILE,
    NotFoldable,
    has_effect,
    is_settled,
    kind,
    origin_of,
    outside_controls,
    waits,
)
from weft.passes.place.contraction import Contraction
from weft.passes.ref_reads import fetch_values
from weft.passes.subgraph import Subgraph


@dataclass(eq=False)
class Frame:
    name: str
    parent: Frame | None
    nodes: list[Node] = field(default_factory=list)

    @cached_property
    def depth(self) -> int:
        return 0 if self.parent is None else self.parent.depth + 1


def frames_of(graph: ClientGraph) -> list[Frame]:
    """Frames with their nodes, innermost first; Enter nodes belong to the frame they open."""
    parents: dict[str, str] = {}
    while True:
        frames = _Frames(parents)
        for node in graph.nodes:
            frames.put(node)
        if frames.found == parents:
            return sorted(frames.by_name.values(), key=lambda f: -f.depth)
        parents = frames.found


class _Frames:
    """Sorts nodes into frames. An Enter of a constant cannot tell in which frame its own one lies:
    where another Enter can, `found` has it, for the next attempt."""

    def __init__(self, parents: dict[str, str]) -> None:
        self.parents, self.found = parents, dict(parents)
        self.root = Frame("", None)
        self.by_name: dict[str, Frame] = {}
        self.frame_of: dict[Node, Frame] = {}

    def put(self, node: Node) -> None:
        sources = [n for n, _ in node.inputs if not is_settled(n)] + node.controls
        known = [self._after(n) for n in sources if n in self.frame_of]
        frame = max(known, key=lambda f: f.depth, default=self.root)
        if kind(node) == "enter":
            frame = self._entered(node.attrs["frame_name"], frame)
        self.frame_of[node] = frame
        frame.nodes.append(node)

    def _entered(self, name: str, outside: Frame) -> Frame:
        if name not in self.by_name:
            outer = self.by_name.get(self.parents.get(name, ""), self.root)
            self.by_name[name] = Frame(name, outside if outside.depth > outer.depth else outer)
        elif outside.depth > self.by_name[name].depth - 1:
            self.found[name] = outside.name
        return self.by_name[name]

    def _after(self, node: Node) -> Frame:
        frame = self.frame_of[node]
        if kind(node) != "exit":
            return frame
        if frame.parent is None:
            raise NotFoldable(f"exit {node.name} outside of any loop")
        return frame.parent


def fold_loops(graph: ClientGraph) -> None:
    """Replaces all loops, innermost first."""
    contraction = Contraction(graph)
    for frame in frames_of(graph):
        assert frame.parent is not None
        frame.parent.nodes.append(_fold(contraction, frame))
    contraction.finish()


def fold_loop(graph: ClientGraph, frame: Frame) -> Node:
    """Replaces the nodes of one frame by a `_While` node."""
    contraction = Contraction(graph)
    node = _fold(contraction, frame)
    contraction.finish()
    return node


def _fold(contraction: Contraction, frame: Frame) -> Node:
    loop = _Loop(frame)
    node = loop.node()
    contraction.replace(loop.here, node, loop.exits_of(node))
    return node


class _Loop:
    """The parts that a loop's nodes play, and the `_While` node made of them."""

    def __init__(self, frame: Frame) -> None:
        self.name = frame.name
        self.order = topological(frame.nodes)
        self.here = set(self.order)
        self.enters = self._of_kind("enter")
        self.exits = self._of_kind("exit")
        self.merges = [n for n in self._of_kind("merge") if _is_loop_merge(n)]
        self.loop_cond = self._only_condition()
        verdict = (self.loop_cond, 0)
        self.switches = {n.inputs[0]: n for n in self._of_kind("switch") if n.inputs[1] == verdict}
        self.initial = [_side(m, "enter") for m in self.merges]
        self.following = [_side(m, "next_iteration") for m in self.merges]
        self.invariants = [e for e in self.enters if e not in self.initial]
        self._check()
        skeleton = {*self.enters, *self.merges, *self.following, *self.exits, self.loop_cond}
        self.inside = self.here - skeleton - set(self.switches.values())

    def _of_kind(self, wanted: str) -> list[Node]:
        return [n for n in self.order if kind(n) == wanted]

    def _only_condition(self) -> Node:
        conds = self._of_kind("loop_cond")
        if len(conds) != 1:
            raise NotFoldable(f"loop {self.name} has {len(conds)} conditions")
        return conds[0]

    def _check(self) -> None:
        if any(m.dtypes[0]._is_ref_dtype for m in self.merges):
            raise NotFoldable(f"loop {self.name} hands on references")
        if any(not e.attrs.get("is_constant") for e in self.invariants):
            raise NotFoldable(f"loop {self.name}: an Enter feeds no merge")

    def node(self) -> Node:
        condition, body = self._part("cond"), self._part("body")
        for merge in self.merges:
            if (merge, 0) in self.switches:
                body.alias[self.switches[merge, 0], 1] = (merge, 0)
        graphs = self._graphs(condition, body)
        width = self.enters[0].attrs.get("parallel_iterations", 10) if self.enters else 10
        moving = [e for e in self.invariants if (e, 0) in condition.args]
        inputs = [e.inputs[0] for e in [*self.initial, *moving]]
        return Node(
            self.name,
            WAITING_WHILE if any(waits(n) for n in self.inside) else WHILE,
            {"Tin": inputs},
            inputs,
            outside_controls(self.enters, self.here),
            [m.dtypes[0].base_dtype for m in self.merges],
            [m.dims[0] for m in self.merges],
            self.loop_cond.op,
            self.loop_cond.device,
            loop=Loop(*graphs, len(self.merges), width),
        )

    def _part(self, name: str) -> Subgraph:
        """The beginning of a subgraph: its arguments are the loop's variables and invariants."""
        part = Subgraph(f"{self.name}/{name}")
        for merge in self.merges:
            part.add_arg((merge, 0))
        for enter in self.invariants:
            origin = origin_of((enter, 0))
            if is_settled(origin[0]):
                part.alias[enter, 0] = origin
            else:
                part.add_arg((enter, 0))
        return part

    def _graphs(self, condition: Subgraph, body: Subgraph) -> tuple[ClientGraph, ClientGraph]:
        in_body = _depends(self.order, set(self.switches.values()), self.inside)
        stateful = [n for n in self.order if n in self.inside and has_effect(n)]
        verdict, following = [self.loop_cond.inputs[0]], [n.inputs[0] for n in self.following]
        effects = [n for n in stateful if n not in in_body]
        cond_graph = condition.build(self.inside, verdict, effects, self.order)
        effects = [n for n in stateful if n in in_body]
        body_graph = body.build(self.inside, following, effects, self.order)
        if any(n in condition.made and n in body.made for n in stateful):
            raise NotFoldable(f"loop {self.name}: what happens once would happen twice")
        fold_branches(cond_graph)
        fold_branches(body_graph, len(self.merges))
        fetch_values(body_graph)
        if any(waits(n) for n in [*_inside_branches(body_graph), *cond_graph.nodes]):
            raise NotFoldable(f"loop {self.name} waits in its condition, or keeps a thread waiting")
        return cond_graph, body_graph

    def exits_of(self, node: Node) -> dict[Edge, Edge]:
        """The output of the `_While` node that stands for each Exit."""
        by_switch = {
            self.switches[m, 0]: i for i, m in enumerate(self.merges) if (m, 0) in self.switches
        }
        old: dict[Edge, Edge] = {}
        for leave in self.exits:
            source, side = leave.inputs[0]
            while source.definition.is_identity and source in self.here:
                source, side = source.inputs[0]  # as `minimize` puts around a gradient
            if side != 0 or source not in by_switch:
                raise NotFoldable(f"exit {leave.name} does not leave by a loop variable")
            old[leave, 0] = node, by_switch[source]
            node.dims[by_switch[source]] = leave.dims[0]
        return old


def _is_loop_merge(node: Node) -> bool:
    return any(kind(n) == "next_iteration" for n, _ in node.inputs)


def _side(merge: Node, wanted: str) -> Node:
    found = [n for n, _ in merge.inputs if kind(n) == wanted]
    if len(found) != 1 or len(merge.inputs) != 2:
        raise NotFoldable(f"merge {merge.name} is not a loop variable")
    return found[0]


def _depends(order: list[Node], on: set[Node], inside: set[Node]) -> set[Node]:
    """Nodes of `inside` that need a node of `on`."""
    found: set[Node] = set()
    for node in order:
        if node in inside and any(s in on or s in found for s in node.sources):
            found.add(node)
    return found


def _inside_branches(graph: ClientGraph) -> list[Node]:
    """Nodes inside conditionals that do not wait."""
    found: list[Node] = []
    for node in graph.nodes:
        for inner in node.branches.graphs if node.branches and not waits(node) else ():
            found += [*inner.nodes, *_inside_branches(inner)]
    return found
