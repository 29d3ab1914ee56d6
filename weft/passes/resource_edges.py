"""Resources: which edges carry one, which resource it is, and which nodes may change it."""

from __future__ import annotations

from weft.core import dtypes
from weft.passes.client_graph import Edge, Node
from weft.passes.control_flow.fold import subgraphs


def is_cell(edge: Edge) -> bool:
    dtype = edge[0].dtypes[edge[1]]
    return dtype._is_ref_dtype or dtype is dtypes.resource


def is_list(edge: Edge) -> bool:
    """Whether an edge carries a list of tensors, or another variant."""
    return edge[0].dtypes[edge[1]] is dtypes.variant


def is_variable(node: Node) -> bool:
    if node.definition.is_argument:
        return True
    return node.definition.is_variable and node.attrs["dtype"] is not dtypes.string


def cell_key(handle: Node) -> tuple[str, str]:
    """The identity of a variable: two handle nodes with one key mean the same variable."""
    attrs = handle.attrs
    return attrs.get("container", ""), attrs.get("shared_name") or handle.name


def inner_handles(node: Node) -> list[Node]:
    """Handle nodes inside a structured node."""
    found: list[Node] = []
    for graph in subgraphs(node):
        for inner in graph.nodes:
            if inner.definition.is_handle:
                found.append(inner)
            found += inner_handles(inner)
    return found


def resource_roots(order: list[Node]) -> dict[Edge, Edge]:
    """For each reference or resource edge, the handle it stems from, where that is certain."""
    roots: dict[Edge, Edge] = {}
    for node in order:
        if node.definition.is_handle:
            roots[node, 0] = node, 0
            continue
        sources = [roots.get(edge) for edge in node.inputs if is_cell(edge)]
        if node.definition.picks_reference and len(set(sources)) > 1:
            continue
        for i in range(len(node.dtypes)):
            if is_cell((node, i)) and sources and sources[0] is not None:
                roots[node, i] = sources[0]
    return roots


def writes(node: Node) -> bool:
    """Whether the node may change a variable."""
    kind = node.definition
    if not kind.stateful and not kind.has_ref_input:
        return False
    return not kind.reads_only and any(is_cell(edge) for edge in node.inputs)
