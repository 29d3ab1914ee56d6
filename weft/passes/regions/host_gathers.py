"""Rows that the host chooses, gathered on the host where no program needs them.

`tf.boolean_mask` finds out on the host which rows stay. If these are fetched, or go to another host
node, a program would do nothing but copy them, element by element, and there would be another one
for each number of rows. NumPy copies whole rows.
"""

from __future__ import annotations

from collections import defaultdict

from weft.passes.client_graph import ClientGraph, Node
from weft.passes.regions.compilable import compiles
from weft.passes.resource_edges import is_cell, resource_roots, writes


def host_gathers(graph: ClientGraph) -> frozenset[Node]:
    """The gathers that could be compiled, and what hands them the array they take rows of."""
    if not any(node.definition.gathers_rows for node in graph.nodes):
        return frozenset()
    users = _users(graph)
    host = _host_nodes(graph)
    changed = _changed_variables(graph)
    found: set[Node] = set()
    for node in graph.nodes:
        if _is_chosen_by_host(node, host) and users[node] <= host and not _reads(node, changed):
            found |= {node, *_handing_on(node, users, changed)}
    return frozenset(found)


def _users(graph: ClientGraph) -> dict[Node, set[Node]]:
    found: dict[Node, set[Node]] = defaultdict(set)
    for node in graph.nodes:
        for source in node.sources:
            found[source].add(node)
    return found


def _host_nodes(graph: ClientGraph) -> set[Node]:
    roots = resource_roots(graph.nodes)
    fixed = {node for node, _ in graph.feeds}
    return {
        node
        for node in graph.nodes
        if node not in fixed
        and not (node.definition.is_constant or node.definition.is_handle)
        and not compiles(node, roots)
    }


def _changed_variables(graph: ClientGraph) -> set[Node]:
    """Handles of variables that the step writes to: a program may reuse their memory."""
    roots = resource_roots(graph.nodes)
    edges = (edge for node in graph.nodes if writes(node) for edge in node.inputs if is_cell(edge))
    return {roots.get(edge, edge)[0] for edge in edges}


def _is_chosen_by_host(node: Node, host: set[Node]) -> bool:
    """Whether a node gathers rows, how many of which a host node tells."""
    kind, dims = node.definition, node.dims[0] if node.dims else None
    if not kind.gathers_rows or kind.stateful or (dims is not None and None not in dims):
        return False
    source = node.inputs[1][0]
    while source not in host and source.definition.moves and source.inputs:
        source = source.inputs[0][0]
    return source in host


def _is_view(node: Node) -> bool:
    """Whether NumPy touches no element for a node."""
    kind = node.definition
    return kind.reads_variable or (kind.moves and kind.keeps_places)


def _reads(node: Node, variables: set[Node]) -> bool:
    return any(source in variables for source, _ in node.inputs)


def _handing_on(gather: Node, users: dict[Node, set[Node]], changed: set[Node]) -> set[Node]:
    """The nodes that only give a gather the array in another shape."""
    found: set[Node] = set()
    node = gather
    while True:
        source = node.inputs[0][0]
        if not _is_view(source) or users[source] != {node} or _reads(source, changed):
            return found
        found.add(source)
        node = source
