"""A partition -> an ordered list of units: regions that XLA compiles whole, and host nodes between.

Every node gets a level. Device nodes sit on even levels, host nodes on odd ones, and no edge points
down; all device nodes of a level form one region. An edge whose value must be known before its
consumer compiles, and is not, puts the consumer two levels up.
"""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.core.walk import as_ready
from weft.passes.client_graph import ClientGraph, Edge, Node
from weft.passes.regions.compilable import compiles
from weft.passes.regions.static_values import can_be_known, known_nodes, static_edges
from weft.passes.regions.units import Layout, Unit, wire
from weft.passes.resource_edges import (
    cell_key,
    inner_handles,
    is_cell,
    is_list,
    is_variable,
    resource_roots,
    writes,
)

# A level, and which waiting nodes come before: nodes with one place make one region.
Place = tuple[int, int]


def group(
    graph: ClientGraph, on_host: frozenset[Node] = frozenset(), apart: bool = False
) -> Layout:
    """`on_host`: nodes that must not be compiled, because that was tried and failed.

    `apart`: host nodes are units of their own, as they are where something may wait.
    """
    order = schedule(graph)
    roots = resource_roots(order)
    handles = [n for n in order if n.definition.is_handle]
    constants = [n for n in order if n.definition.is_constant and not n.controls]
    settled = {*handles, *constants, *(n for n, _ in graph.feeds)}
    running = [n for n in order if n not in settled]
    on_device = _on_device(running, roots, on_host)
    on_device -= {edge[0] for edge in graph.fetches if is_list(edge)}
    places = _places(running, on_device)
    units = _units(running, on_device, places, apart)
    return laid_out(graph, order, units, handles, constants, roots)


def laid_out(
    graph: ClientGraph, order: list[Node], units: list[Unit], handles: list[Node],
    constants: list[Node], roots: dict[Edge, Edge],
) -> Layout:  # fmt: skip
    """The layout of units in their order, with what crosses their borders."""
    inner = [h for n in order for h in inner_handles(n)]
    known = {cell_key(h): (h, 0) for h in [*inner, *handles] if is_variable(h)}
    wire(units, graph, known, roots)
    canonical = {edge[0] for edge in known.values()}
    return Layout(units, [*handles, *(h for h in inner if h in canonical)], constants, roots)


def _on_device(running: list[Node], roots: dict[Edge, Edge], on_host: frozenset[Node]) -> set[Node]:
    on_device: set[Node] = set()
    for node in running:
        # An array, stack or list that is made outside of programs cannot be used inside of one.
        objects_in = [e for e in node.inputs if is_cell(e) or is_list(e)]
        inside = all(e in roots or e[0] in on_device for e in objects_in)
        if inside and node not in on_host and compiles(node, roots):
            on_device.add(node)
    return on_device


def _places(running: list[Node], on_device: set[Node]) -> dict[Node, Place]:
    """The place of each node. One that cannot be in a region with its needs leaves `on_device`."""
    objects = _object_users(running)
    for maker, users in objects.items():
        if maker.attrs.get("dynamic_size"):
            # How many elements it has only shows when the program is over.
            on_device -= {n for n in users if n.definition.reads_only}
    objects |= _handed_on(running)
    padded = _padded(running)
    awaited = awaited_by(running)
    while True:
        levels = _levels(running, on_device)
        places = {n: (levels[n], awaited[n]) for n in running}
        # What lives in a program cannot leave it: all users of an object run in one region.
        split = [
            users
            for maker, users in objects.items()
            if users & on_device and not _together(_inside(maker, users), on_device, places)
        ]
        # Rows too many are told from errors in the program that added them, and nowhere else.
        split += [
            {maker}
            for maker, users in padded.items()
            if maker in on_device and not _together(users, on_device, places)
        ]
        if not split:
            return places
        on_device -= set().union(*split)


def schedule(graph: ClientGraph) -> list[Node]:
    """A topological order in which what does not depend on a write comes before it."""
    return as_ready(graph.nodes, lambda node: node.sources, lambda node, n: (writes(node), n))


# ---- objects that must not be torn apart ---------------------------------------------------------


def _object_users(running: list[Node]) -> dict[Node, set[Node]]:
    """For each array, stack or list that a node makes, all nodes that touch it."""
    found: dict[Node, set[Node]] = {}
    owner: dict[Edge, Node] = {}
    for node in running:
        makers = {owner[e] for e in node.inputs if e in owner}
        if not makers and _makes_object(node):
            makers = {node}
            found[node] = set()
        for maker in makers:
            found[maker].add(node)
            for i, dtype in enumerate(node.dtypes):
                if dtype is dtypes.resource or dtype is dtypes.variant:
                    owner[node, i] = maker
    return found


def _makes_object(node: Node) -> bool:
    if any(dtype is dtypes.variant for dtype in node.dtypes):
        return True
    return node.definition.traced_kernel is not None and node.definition.takes_ctx


def _inside(maker: Node, users: set[Node]) -> set[Node]:
    """The users of an object that must be in one region with its maker."""
    if not maker.attrs.get("dynamic_size"):
        return users
    return {n for n in users if not n.definition.reads_only}


def _handed_on(running: list[Node]) -> dict[Node, set[Node]]:
    """For each conditional that hands values on to others, all of these.

    Such a value is not there at all when the other branch is taken: no program can be given it.
    """
    found: dict[Node, set[Node]] = {}
    for node in running:
        for source, i in node.inputs:
            if source.branches is not None and i >= source.branches.joined:
                found.setdefault(source, {source}).add(node)
    return found


def _padded(running: list[Node]) -> dict[Node, set[Node]]:
    """For each node that gives rows too many, all nodes that take them, to the last update."""
    found: dict[Node, set[Node]] = {}
    carried: dict[Node, set[Node]] = {}  # by node, the makers of the rows that it hands on
    for node in running:
        makers = {maker for source, _ in node.inputs for maker in carried.get(source, ())}
        if node.definition.pads_rows:
            makers.add(node)
        for maker in makers:
            found.setdefault(maker, set()).add(node)
        if not node.definition.updates_rows:
            carried[node] = makers
    return found


def _together(users: set[Node], on_device: set[Node], places: dict[Node, Place]) -> bool:
    return users <= on_device and len({places[n] for n in users}) == 1


# ---- levels --------------------------------------------------------------------------------------


def _levels(running: list[Node], on_device: set[Node]) -> dict[Node, int]:
    known = known_nodes(running, on_device)
    levels: dict[Node, int] = {}
    for node in running:
        device = node in on_device
        level = 0 if device else -1
        for source in node.sources:
            if source in levels:
                same = (source in on_device) == device
                level = max(level, levels[source] + (0 if same else 1))
        for edge in static_edges(node) if device else ():
            source = edge[0]
            inside = source in levels and source in on_device
            if inside and not can_be_known(edge, on_device, known):
                level = max(level, levels[source] + 2)
        levels[node] = level
    return levels


def awaited_by(running: list[Node]) -> dict[Node, int]:
    """The waiting nodes that each node comes after, as a set of bits.

    Receives over equally many hops, after the same that may wait, share a bit: none of them can
    hang on what another one starts, so what needs one of them may as well wait for all.
    """
    kinds: dict[Any, int] = {}
    bits = {
        n: 1 << kinds.setdefault(_kind(n), len(kinds))
        for n in running
        if n.definition.blocking and n.definition.transfer != "send"
    }
    awaited: dict[Node, int] = {}
    for node in running:
        mask = bits.get(node, 0)
        for source in node.sources if bits else ():
            mask |= awaited.get(source, 0)
        awaited[node] = mask
    return awaited


def _kind(node: Node) -> Any:
    attrs = node.attrs
    return (attrs["_hop"], attrs.get("_after", 0)) if "_hop" in attrs else node


def _units(
    running: list[Node], on_device: set[Node], places: dict[Node, Place], apart: bool
) -> list[Unit]:
    # Where something may wait, nothing waits for what it does not need: host nodes stay apart, and
    # so do the parts of a level that come after different waiting nodes.
    apart = apart or any(n.definition.blocking for n in running)
    by_place: dict[Place, list[Unit]] = {}
    for node in running:
        units = by_place.setdefault(places[node], [])
        if not units or (apart and node not in on_device):
            units.append(Unit(node in on_device))
        units[-1].nodes.append(node)
    return [unit for place in sorted(by_place) for unit in by_place[place]]
