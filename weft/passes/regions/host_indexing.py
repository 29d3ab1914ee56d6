"""Index arithmetic between host nodes: done on the host, so that no program is called for it.

A step that looks words up, drops some and crosses the rest computes indices, masks and shapes
between host nodes, and moves values about. Compiled, each such stretch would be a region of its
own, and all that comes after it a later one. Where all that it needs is on the host already, it
stays there.
"""

from __future__ import annotations

from weft.core import dtypes
from weft.core.walk import reached
from weft.graph.shape_fn import size
from weft.passes.client_graph import ClientGraph, Node
from weft.passes.control_flow.fold import subgraphs
from weft.passes.regions.compilable import compiles
from weft.passes.resource_edges import is_cell, resource_roots

LARGE = 1 << 16  # elements


def index_arithmetic(graph: ClientGraph, on_host: frozenset[Node] = frozenset()) -> frozenset[Node]:
    """The nodes that could be compiled, but only handle indices for host nodes, on the host.

    Those of `on_host` are such nodes, too.
    """
    roots = resource_roots(graph.nodes)
    given = {node for node, _ in graph.feeds}
    there: set[Node] = set()  # nodes whose values the host has
    candidates: set[Node] = set()
    host: set[Node] = set()
    for node in graph.nodes:
        if node in given or node.definition.is_constant or node.definition.is_handle:
            there.add(node)
            continue
        ready = all(source in there for source in node.sources)
        if node in on_host or not compiles(node, roots):
            host.add(node)
            there.add(node)
        elif ready and _is_index(node):
            candidates.add(node)
            there.add(node)
    return frozenset(_before(host, candidates)) | on_host


def _before(host: set[Node], candidates: set[Node]) -> set[Node]:
    """The nodes of `candidates` that a host node needs, directly or by others of them."""
    return reached(host, lambda n: [s for s, _ in n.inputs if s in candidates]) & candidates


def _is_index(node: Node) -> bool:
    """Whether a node makes a few whole numbers or truth values, or hands values on."""
    kind = node.definition
    if kind.stateful or kind.needs_xla or kind.flops is not None or subgraphs(node):
        return False
    if any(is_cell(edge) for edge in node.inputs):
        return False
    whole = kind.moves or all(map(_is_whole, node.dtypes))
    return whole and all((size(d) or 0) < LARGE for d in node.dims)


def _is_whole(dtype: dtypes.DType) -> bool:
    return dtype.is_integer or dtype.is_bool
