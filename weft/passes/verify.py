"""Invariants of a step's graph after each stage. WEFT_CHECK turns the checks on; tests do."""

from __future__ import annotations

from weft.passes.client_graph import ClientGraph, Node
from weft.passes.control_flow.structured_nodes import subgraphs


def verify(stage: str, graph: ClientGraph) -> None:
    """AssertionError that names the stage and the node when a pass broke the graph."""
    inside = set(graph.nodes)
    for node in graph.nodes:
        for inner in subgraphs(node):
            verify(f"{stage}, in {node.name}", inner)
    assert len(inside) == len(graph.nodes), f"{stage}: a node is listed twice"
    seen: set[Node] = set()
    for node in graph.nodes:
        for source, i in node.inputs:
            assert source in inside, f"{stage}: {node.name} takes {source.name}, which is gone"
            assert i < len(source.dtypes), f"{stage}: {node.name} takes output {i} of {source.name}"
            loops = node.definition.control_flow == "merge"
            assert source in seen or loops, f"{stage}: {node.name} comes before {source.name}"
        for control in node.controls:
            assert control in inside, (
                f"{stage}: {node.name} waits for {control.name}, which is gone"
            )
        assert len(node.dtypes) == len(node.dims), f"{stage}: {node.name} lacks a shape"
        seen.add(node)
    for node, i in [*graph.fetches, *graph.feeds]:
        assert node in inside and i < len(node.dtypes), f"{stage}: {node.name} is fetched but gone"
    for node in graph.targets:
        assert node in inside, f"{stage}: target {node.name} is gone"
