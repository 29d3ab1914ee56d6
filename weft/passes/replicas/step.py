"""A step whose replicas are one program: what comes before it, the program, what comes after."""

from __future__ import annotations

from dataclasses import dataclass

from weft.passes.client_graph import ClientGraph, Edge, Node
from weft.passes.control_flow.structured_nodes import NotFoldable, is_settled
from weft.passes.replicas.cut import Cut, NotOneProgram, cut
from weft.passes.replicas.match import Row, find_replicas
from weft.passes.replicas.merge import Merged, is_free, merge
from weft.passes.resource_edges import is_cell
from weft.passes.subgraph import Subgraph


@dataclass
class ReplicatedStep:
    """The stages of a step, each a graph.

    The fetches of `before` are, first, what the program is given, then what goes on to `after`. The
    feeds of `after` are that, and then what the program makes. `separate` does what the program
    does, with every replica by itself on its device. `program` is the graph of one replica:
    `arguments` has the feeds of `separate` that are its own, of each replica or one for all;
    `results` the fetch of it, and the replica, that each fetch of `separate` is. By the name of a
    node of the program, `origins` are the nodes it stands for.
    """

    devices: tuple[str, ...]
    before: ClientGraph
    separate: ClientGraph
    after: ClientGraph
    program: ClientGraph
    arguments: list[tuple[int, ...]]
    results: list[tuple[int, int]]
    origins: dict[str, Row]


def replicated(graph: ClientGraph) -> ReplicatedStep:
    """The stages of a placed graph; an error if it has no replicas that can be one program."""
    found = find_replicas(graph)
    if found is None:
        raise NotOneProgram("no two devices do the same")
    try:
        return _staged(graph, cut(graph, found))
    except NotFoldable as error:
        raise NotOneProgram(str(error)) from error


def _staged(graph: ClientGraph, parts: Cut) -> ReplicatedStep:
    inside = parts.common | {n for n in parts.replicas.rows if not n.definition.is_handle}
    made = _crossing(graph, inside, parts)
    merged = merge(graph, parts, made)
    given = list(dict.fromkeys(edge for edges in merged.arguments for edge in edges))
    through = _through(graph, parts, inside)
    for source, _ in (*given, *through, *made):
        if source in parts.unmovable:
            raise NotOneProgram(f"{source.name} is inside of a loop or a branch")
    number = {edge: i for i, edge in enumerate(given)}
    return ReplicatedStep(
        parts.replicas.devices,
        _before(graph, parts, inside, given + through),
        _separate(graph, parts, inside, given, made),
        _after(graph, parts, through, made),
        merged.graph,
        [tuple(number[edge] for edge in edges) for edges in merged.arguments],
        merged.results,
        _origins(merged, parts),
    )


def _origins(merged: Merged, parts: Cut) -> dict[str, Row]:
    return {node.name: parts.replicas.rows.get(old, (old,)) for old, node in merged.made.items()}


def _crossing(graph: ClientGraph, inside: set[Node], parts: Cut) -> list[Edge]:
    """What leaves the program. A reference does not: the variable is there for all to read."""
    wanted = [edge for node in graph.nodes if node in parts.after for edge in node.inputs]
    edges = dict.fromkeys(e for e in [*wanted, *graph.fetches] if e[0] in inside)
    return [edge for edge in edges if not is_cell(edge)]


def _through(graph: ClientGraph, parts: Cut, inside: set[Node]) -> list[Edge]:
    """What goes from before the program to after it, or is fetched from there."""
    wanted = [edge for node in graph.nodes if node in parts.after for edge in node.inputs]
    edges = dict.fromkeys(e for e in [*wanted, *graph.fetches] if e[0] in parts.before)
    return [edge for edge in edges if not is_settled(edge[0]) and not is_cell(edge)]


def _before(graph: ClientGraph, parts: Cut, inside: set[Node], fetches: list[Edge]) -> ClientGraph:
    stage = Subgraph("before")
    for edge in graph.feeds:
        stage.add_arg(edge)
    waited = {s for n in graph.nodes if n in inside or n in parts.after for s in n.controls}
    targets = [n for n in graph.nodes if n in parts.before and (n in waited or n in graph.targets)]
    nodes = [n for n in targets if not is_settled(n) and not n.definition.is_argument]
    return stage.build(parts.before, fetches, nodes, graph.nodes)


def _separate(
    graph: ClientGraph, parts: Cut, inside: set[Node], given: list[Edge], made: list[Edge]
) -> ClientGraph:
    stage = Subgraph("replicas")
    for edge in given:
        stage.add_arg(edge)
    here = inside | {n for n in parts.before if is_free(n, parts)}
    used = {source for node in graph.nodes if node in inside for source in node.sources}
    ends = [n for n in graph.nodes if n in inside and n not in used]
    return stage.build(here, made, ends, graph.nodes)


def _after(graph: ClientGraph, parts: Cut, through: list[Edge], made: list[Edge]) -> ClientGraph:
    stage = Subgraph("after")
    for edge in [*through, *made]:
        stage.add_arg(edge)
    known = parts.roots
    stage.alias.update({e: known[e] for e in known if e[0] not in parts.after and e != known[e]})
    targets = [n for n in graph.targets if n in parts.after]
    return stage.build(parts.after, graph.fetches, targets, graph.nodes)
