"""The program's current graph and name scope."""

from __future__ import annotations

from typing import Any

from weft.graph.graph import Graph, get_default_graph, graph_of


def get_name_scope() -> str:
    """The name scope that is open now."""
    return get_default_graph().get_name_scope()


def get_graph_from_inputs(op_input_list: Any, graph: Graph | None = None) -> Graph:
    """The graph that was given, or the one that all inputs belong to; an error if they differ."""
    return graph or graph_of(op_input_list)
