"""The part of a step that becomes one program of all replicas; the rest comes before it or after.

Inside are the replicas themselves, and what hangs on them and can be compiled: that is done by all
of them alike, on values that are the same everywhere. What follows from no replica comes before.
"""

from __future__ import annotations

from dataclasses import dataclass

from weft.core.walk import reached
from weft.ops.devices.replica_collectives import AMONG_REPLICAS
from weft.passes.client_graph import ClientGraph, Edge, Node
from weft.passes.frames import frames, leaving, may_be_dead
from weft.passes.regions.compilable import compiles
from weft.passes.replicas.match import Replicas, Row
from weft.passes.resource_edges import is_cell, resource_roots, writes


class NotOneProgram(Exception):
    """The replicas of a step cannot be one program; it runs as one partition for each device."""


@dataclass
class Cut:
    """The sets of a step's nodes: of `replicas`, `common` to all of them, `before` and `after`."""

    replicas: Replicas
    common: set[Node]
    before: set[Node]
    after: set[Node]
    roots: dict[Edge, Edge]
    unmovable: set[Node]  # in a loop, or perhaps not run: no value of theirs leaves its part
    written: set[Edge]  # handles that what comes before writes to


def cut(graph: ClientGraph, replicas: Replicas) -> Cut:
    """Divides the nodes of a step, whose replicas are known."""
    roots = resource_roots(graph.nodes)
    _keep_compiled(replicas, roots)
    own = {node for node in replicas.rows if not node.definition.is_handle}
    if not own:
        raise NotOneProgram("no replica computes anything")
    late = _users(graph, own)
    after = _after(graph, own, late, roots, replicas)
    before = {n for n in graph.nodes if n not in own and n not in late}
    if _work(late - after) > _work(own) / replicas.count:
        raise NotOneProgram("more is done once in a step than in each replica")
    written = {roots[e] for n in before if writes(n) for e in n.inputs if e in roots}
    return Cut(replicas, late - after, before, after, roots, _unmovable(graph), written)


def _work(nodes: set[Node]) -> int:
    """How many products and convolutions there are: all replicas would do what is done once."""
    return sum(node.definition.flops is not None for node in nodes)


def _keep_compiled(replicas: Replicas, roots: dict[Edge, Edge]) -> None:
    """Forgets rows that cannot be in a program."""
    for node, row in list(replicas.rows.items()):
        if node is row[0] and not _is_compiled(row, roots, replicas):
            for each in row:
                del replicas.rows[each]


def _is_compiled(row: Row, roots: dict[Edge, Edge], replicas: Replicas) -> bool:
    first = row[0]
    if first.definition.is_handle:
        return first.definition.is_variable
    if first.type in AMONG_REPLICAS:
        size = first.attrs.get("num_devices", first.attrs.get("group_size", replicas.count))
        return bool(size == replicas.count)
    return _may_compile(first, roots) and not any(
        writes(first) and is_cell(edge) and roots.get(edge, edge)[0] not in replicas.rows
        for edge in first.inputs
    )


def _may_compile(node: Node, roots: dict[Edge, Edge]) -> bool:
    """Of nodes of loops and conditionals, that shows when these are folded."""
    return node.definition.control_flow is not None or compiles(node, roots)


def _users(graph: ClientGraph, own: set[Node]) -> set[Node]:
    users: dict[Node, list[Node]] = {}
    for node in graph.nodes:
        for source in node.sources:
            users.setdefault(source, []).append(node)
    return reached(own, lambda node: users.get(node, [])) - own


def _after(
    graph: ClientGraph, own: set[Node], late: set[Node], roots: dict[Edge, Edge],
    replicas: Replicas,
) -> set[Node]:  # fmt: skip
    """Of what hangs on replicas, that which cannot be done by all of them alike."""
    after: set[Node] = set()
    for node in graph.nodes:
        if node not in own and node not in late:
            continue
        hangs = any(source in after for source in node.sources)
        if node in own and hangs:
            raise NotOneProgram(f"{node.name} waits for what is no part of a program")
        if node in late and (hangs or not _is_common(node, roots, replicas)):
            after.add(node)
    return after


def _is_common(node: Node, roots: dict[Edge, Edge], replicas: Replicas) -> bool:
    touched = [roots[edge][0] for edge in node.inputs if edge in roots]
    return _may_compile(node, roots) and not any(handle in replicas.rows for handle in touched)


def _unmovable(graph: ClientGraph) -> set[Node]:
    inside = frames(graph)
    return {node for node in graph.nodes if leaving(node, inside)} | may_be_dead(graph)
