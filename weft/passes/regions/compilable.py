"""The nodes that XLA can take."""

from __future__ import annotations

from weft.core import dtypes, flags
from weft.passes.client_graph import ClientGraph, Edge, Node
from weft.passes.control_flow.fold import subgraphs
from weft.passes.regions.units import is_literal
from weft.passes.resource_edges import is_cell, is_variable, resource_roots


def compiles(node: Node, roots: dict[Edge, Edge]) -> bool:
    """Whether a node can be part of a program; `roots`: what its references stem from."""
    is_split = bool(subgraphs(node)) and flags.CONTROL_FLOW.value != "whole"
    return not is_split and can_compile(node, roots)


def can_compile(node: Node, roots: dict[Edge, Edge]) -> bool:
    """The same, whatever the flag for control flow says."""
    kind = node.definition
    given = [edge for edge in node.inputs if not is_cell(edge)]
    if any(map(_host_only, node.dtypes)) or any(_is_text(edge, node) for edge in given):
        return False
    if subgraphs(node):
        if any(is_cell(e) and e not in roots and not _in_program(e[0]) for e in node.inputs):
            return False
        return all(_graph_compiles(graph) for graph in subgraphs(node))
    if kind.blocking or not (kind.traceable or kind.traced_kernel):
        return False
    for edge in node.inputs:
        if not is_cell(edge):
            continue
        if edge in roots:
            if not is_variable(roots[edge][0]):
                return False
        elif not (kind.traced_kernel and _in_program(edge[0])):
            return False
    return True


def _in_program(source: Node) -> bool:
    """Whether a node makes or hands on an object that can live inside a compiled program."""
    return source.definition.traced_kernel is not None


def _graph_compiles(graph: ClientGraph) -> bool:
    roots = resource_roots(graph.nodes)
    for node in graph.nodes:
        if node.definition.is_argument:
            roots[node, 0] = node, 0  # an array or stack from outside
        elif node.definition.is_constant:
            continue  # who uses it says whether it may be text
        elif node.definition.is_handle:
            if _host_only(node.dtypes[0]) or not is_variable(node):
                return False
        elif not can_compile(node, roots):
            return False
    return True


def _is_text(edge: Edge, user: Node) -> bool:
    """Whether an edge brings strings, other than those of a message that only the host shows."""
    source, i = edge
    is_message = user.definition.asserts and is_literal(source)
    return _host_only(source.dtypes[i]) and not is_message


def _host_only(dtype: dtypes.DType) -> bool:
    return dtype.base_dtype is dtypes.string
