"""Nodes around which control flow is spread out -> units that live and die together.

Where loops or branches stay nodes among others, the executor decides for each iteration what runs.
Nodes of one frame that need the same sides of the same predicates are decided on together, so they
can be one task, and those that XLA can take one region.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import reduce
from operator import or_

from weft.passes.client_graph import ClientGraph, Edge, Node
from weft.passes.control_flow.fold import predicate_of, topological
from weft.passes.frames import Frames, frames
from weft.passes.ref_reads import is_reference
from weft.passes.regions.compilable import compiles
from weft.passes.regions.group import awaited_by, laid_out
from weft.passes.regions.static_values import can_be_known, known_nodes, static_edges
from weft.passes.regions.units import Layout, Unit
from weft.passes.resource_edges import is_cell, is_list, resource_roots

# What must be so for a node to be alive: (predicate, side), or that one node is.
Context = frozenset[tuple[Hashable, int]]
_NOTHING: Context = frozenset()


def pieces(graph: ClientGraph, on_host: frozenset[Node] = frozenset()) -> Layout:
    """As `regions.group`; control flow and what may wait are units of their own."""
    frame_of = frames(graph)
    entered = _entered(graph, frame_of)
    order = topological(graph.nodes, entered)
    handles = [n for n in order if n.definition.is_handle and not n.controls]
    # One that is made in a branch only has no place before the step runs.
    settled = set(handles)
    roots = {edge: root for edge, root in resource_roots(order).items() if root[0] in settled}
    constants = [n for n in order if n.definition.is_constant and not n.controls]
    settled |= {*constants, *(n for n, _ in graph.feeds)}
    running = [n for n in order if n not in settled]
    on_device = {
        n for n in running if n not in on_host and not is_alone(n) and _on_device(n, roots)
    }
    levels = _levels(running, on_device, entered)
    alive = contexts(order, frame_of)
    together = {n: (levels[n], n in on_device, frame_of[n], alive[n]) for n in running}
    units = _units(running, on_device, together)
    units.sort(key=lambda unit: levels[unit.nodes[0]])
    return laid_out(graph, order, units, handles, constants, roots)


def _units(
    running: list[Node], on_device: set[Node], together: Mapping[Node, Hashable]
) -> list[Unit]:
    """Units of nodes that wait for the same and are equal in `together`; some nodes are alone."""
    awaited = awaited_by(running)
    carried = _carried(running, awaited)
    units: dict[Hashable, Unit] = {}
    for node in running:
        place = node if is_alone(node) else (together[node], awaited[node], carried[node])
        unit = units.setdefault(place, Unit(node in on_device))
        unit.nodes.append(node)
    return list(units.values())


def is_alone(node: Node) -> bool:
    """Whether the executor must see a node by itself."""
    return node.definition.control_flow is not None or node.definition.blocking


def _entered(graph: ClientGraph, frame_of: dict[Node, Frames]) -> dict[Node, list[Node]]:
    """For each exit, the enters of its loop: by way of other iterations it comes after them.

    But for those that come after it, as where a gradient waits for what is done with the results.
    """
    enters: dict[Frames, list[Node]] = {}
    for node in graph.nodes:
        if node.definition.control_flow == "enter":
            enters.setdefault(frame_of[node], []).append(node)
    exits = [n for n in graph.nodes if n.definition.control_flow == "exit"]
    after = _after(topological(graph.nodes), exits)
    return {
        n: [e for e in enters.get(frame_of[n], []) if not after[e] >> i & 1]
        for i, n in enumerate(exits)
    }


def _after(order: list[Node], exits: list[Node]) -> dict[Node, int]:
    """The exits that each node comes after, as a set of bits."""
    own = {n: 1 << i for i, n in enumerate(exits)}
    found: dict[Node, int] = {}
    for node in order:
        # What is not there yet is the way back of a loop.
        before = (found.get(source, 0) for source in node.sources)
        found[node] = reduce(or_, before, own.get(node, 0))
    return found


def _levels(
    running: list[Node], on_device: set[Node], entered: dict[Node, list[Node]]
) -> dict[Node, int]:
    """No edge points down, and those to or from a node that stands alone point up."""
    known = known_nodes(running, on_device)
    levels: dict[Node, int] = {}
    for node in running:
        level = 0
        for source in [n for n, _ in node.inputs] + node.controls + entered.get(node, []):
            if source in levels:
                alone = is_alone(node) or is_alone(source)
                same = not alone and (source in on_device) == (node in on_device)
                level = max(level, levels[source] + (0 if same else 1))
        for edge in static_edges(node) if node in on_device else ():
            if edge[0] in levels and not can_be_known(edge, on_device, known):
                level = max(level, levels[edge[0]] + 1)
        levels[node] = level
    return levels


def _on_device(node: Node, roots: dict[Edge, Edge]) -> bool:
    """Objects that a node makes go through nodes that are in no program: they stay on the host.

    So does what is given a variable where it wants a value, by a switch for example.
    """
    if any(not is_cell(e) and is_reference(e) for e in node.inputs):
        return False
    edges = [*node.inputs, *((node, i) for i in range(len(node.dtypes)))]
    if any(is_list(e) for e in edges):
        return False
    made_elsewhere = any(is_cell(e) and e not in roots for e in node.inputs)
    makes = any(is_cell((node, i)) and (node, i) not in roots for i in range(len(node.dtypes)))
    return not made_elsewhere and not makes and compiles(node, roots)


def _carried(order: list[Node], awaited: dict[Node, int]) -> dict[Node, int]:
    """The waiting nodes of earlier iterations that each node comes after, as a set of bits.

    It matters only if there are several: one may have to begin for another to end.
    """
    carried = dict.fromkeys(order, 0)
    changed = sum(n.definition.blocking for n in order) > 1
    while changed:
        changed = False
        for node in order:
            mask = carried[node]
            for source in [n for n, _ in node.inputs] + node.controls:
                mask |= carried.get(source, 0)
                if source.definition.control_flow == "next_iteration":
                    mask |= awaited[source]
            changed = changed or mask != carried[node]
            carried[node] = mask
    return carried


# ---- what is alive when --------------------------------------------------------------------------


def contexts(order: list[Node], frame_of: dict[Node, Frames]) -> dict[Node, Context]:
    """The conditions for each node to be alive; nodes with equal contexts are dead together."""
    odd: set[Frames] = set()  # loops whose variables do not go on together
    while True:
        found = _Contexts(order, frame_of, odd)
        more = found.odd_loops()
        if not more:
            return found.of
        odd |= more


class _Contexts:
    def __init__(self, order: list[Node], frame_of: dict[Node, Frames], odd: set[Frames]) -> None:
        self.order, self.frame_of, self.odd = order, frame_of, odd
        self.of: dict[Node, Context] = {}
        self.entered: dict[Frames, set[Context]] = {}
        for node in order:
            self.of[node] = self._context(node)

    def _context(self, node: Node) -> Context:
        kind, place = node.definition.control_flow, self.frame_of[node]
        if kind == "trigger":
            return _NOTHING
        if kind == "merge":
            return self._merged(node, place)
        needs = _NOTHING.union(
            *(self._edge(e) for e in node.inputs), *(self.of[c] for c in node.controls)
        )
        if kind == "enter" and not node.attrs.get("is_constant"):
            self.entered.setdefault(place, set()).add(needs)
        if kind == "exit":
            return self._left(node, place, needs)
        if "_may_be_dead" in node.attrs and node.definition.transfer == "recv":
            return needs | {(node, 1)}
        return needs

    def _edge(self, edge: Edge) -> Context:
        node, i = edge
        context = self.of.get(node, _NOTHING)
        if node.definition.control_flow == "switch":
            context |= {(predicate_of(node), i)}
        return context

    def _merged(self, node: Node, place: Frames) -> Context:
        if _closes(node):
            return frozenset({(node if place in self.odd else place, 1)})
        sides = [self._edge(e) for e in node.inputs]
        common = frozenset.intersection(*sides)
        if len(sides) == 2 and _complementary(sides[0] - common, sides[1] - common):
            return common
        return common | {(node, 1)}

    def _left(self, node: Node, place: Frames, needs: Context) -> Context:
        """A loop is left by an exit whenever it was entered, if it has the usual form."""
        entered = self.entered.get(place, set())
        usual = (place, 1) in needs and len(needs) == 2 and len(entered) == 1
        return next(iter(entered)) if usual else frozenset({(node, 1)})

    def odd_loops(self) -> set[Frames]:
        """Loops that turned out to have variables which are not alive together."""
        ends: dict[Frames, set[Context]] = {}
        for node in self.order:
            if node.definition.control_flow == "next_iteration":
                ends.setdefault(self.frame_of[node], set()).add(self.of[node])
        uneven = {place for place, found in ends.items() if len(found) > 1}
        uneven |= {place for place, found in self.entered.items() if len(found) > 1}
        return uneven - self.odd


def _closes(merge: Node) -> bool:
    return any(n.definition.control_flow == "next_iteration" for n, _ in merge.inputs)


def _complementary(a: Context, b: Context) -> bool:
    """Whether of two contexts always exactly one holds."""
    if len(a) != 1 or len(b) != 1:
        return False
    ((p, i),), ((q, j),) = a, b
    return p == q and i != j
