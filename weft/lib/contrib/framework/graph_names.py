"""The program's current graph and name scope."""

from __future__ import annotations

from typing import Any

from weft.graph.graph import Graph, get_default_graph, graph_of


def get_name_scope() -> str:
    """The name scope that is open now."""
    return get_default_graph().get_name_scope()


def get_graph_from_inputs(op_input_list: Any, graph: Graph | None = None) -> Graph:
    """The graph that was given, or the one that all inputs belong to; an error if they differ."""
    if graph is None or get_default_graph().building_function:
        return graph_of(op_input_list)
    if not isinstance(graph, Graph):
        raise TypeError(f"Input graph needs to be a Graph: {graph}")
    for value in op_input_list:
        if getattr(value, "graph", graph) is not graph:
            raise ValueError(f"{value} is not from the passed-in graph.")
    return graph
