"""Conditionals and loops that are part of their graph, without their unused results.

A step does only what its fetches need: nor do the branches and bodies that its nodes call.
"""

from __future__ import annotations

from collections.abc import Iterable

from weft.passes.client_graph import ClientGraph, Edge, Node, needed


def used_outputs(graph: ClientGraph) -> dict[Node, set[int]]:
    """The outputs of each call that something takes; all of one that something waits for."""
    found: dict[Node, set[int]] = {node: set() for node in graph.nodes if node.definition.calls}
    if not found:
        return found
    awaited = [*graph.targets, *(c for node in graph.nodes for c in node.controls)]
    for node in awaited:
        if node in found:
            found[node].update(range(len(node.dtypes)))
    for source, i in [*graph.fetches, *(edge for node in graph.nodes for edge in node.inputs)]:
        if source in found:
            found[source].add(i)
    return found


def is_lowered(node: Node) -> bool:
    """Whether a conditional or loop is part of the graph around it, rather than a call."""
    return bool(node.attrs.get("_lower_using_switch_merge"))


def with_outputs(node: Node, kept: list[int]) -> Node:
    """A conditional or loop with some of its outputs only."""
    types, dims = [node.dtypes[i] for i in kept], [node.dims[i] for i in kept]
    return Node(
        node.name, node.definition, node.attrs, node.inputs, node.controls, types, dims, node.op,
        node.device,
    )  # fmt: skip


def narrow_branches(graphs: list[ClientGraph], kept: list[int]) -> None:
    """Leaves branches with the results `kept`."""
    for graph in graphs:
        graph.fetches = [graph.fetches[i] for i in kept]
        graph.drop_unused()


def live_variables(condition: ClientGraph, body: ClientGraph, used: set[int]) -> list[int]:
    """The variables of a loop that are used after it, or that it needs to go on."""
    live = used | _arguments(condition, [node for node, _ in condition.fetches])
    before = None
    while live != before:
        before = live
        live = live | _arguments(body, [body.fetches[i][0] for i in live])
    return sorted(live)


def _arguments(graph: ClientGraph, ends: Iterable[Node]) -> set[int]:
    found = needed([*ends, *graph.targets])
    return {i for i, (argument, _) in enumerate(graph.feeds) if argument in found}


def narrow_loop(condition: ClientGraph, body: ClientGraph, kept: list[int]) -> None:
    """Leaves a loop with the variables `kept`."""
    body.fetches = [body.fetches[i] for i in kept]
    for graph in (condition, body):
        gone: set[Edge] = {edge for i, edge in enumerate(graph.feeds) if i not in kept}
        graph.feeds = [graph.feeds[i] for i in kept]
        graph.nodes = [node for node in graph.nodes if (node, 0) not in gone]
        graph.drop_unused()
