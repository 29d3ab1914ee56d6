"""Values that must be known before a program is compiled, and which of them can be."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.graph.kernel_call import flat_arg_names
from weft.graph.shape_fn import Dims
from weft.passes.client_graph import ClientGraph, Edge, Loop, Node
from weft.passes.control_flow.fold import subgraphs
from weft.passes.resource_edges import is_cell


class NodeContext:
    """A node as a `static_rule` or `prepare` sees it, with the methods of a ShapeContext."""

    def __init__(self, node: Node) -> None:
        self.node, self.num_inputs = node, len(node.inputs)

    def dims(self, i: int) -> Dims:
        source, index = self.node.inputs[i]
        return source.dims[index]

    def attr(self, name: str) -> Any:
        return self.node.attrs[name]

    def value(self, i: int) -> Any:
        source = self.node.inputs[i][0]
        return source.attrs["value"] if source.definition.is_constant else None


def static_inputs(node: Node) -> frozenset[str]:
    """The inputs of this node whose values must be known before it is compiled."""
    definition = node.definition
    if definition.static_rule is None or not definition.static:
        return definition.static
    return definition.static_rule(NodeContext(node)) & definition.static


def static_edges(node: Node) -> list[Edge]:
    """Edges whose values must be known before the node is compiled."""
    if subgraphs(node):
        return _static_edges_inside(node)
    wanted = static_inputs(node)
    if not wanted:
        return []
    names = flat_arg_names(node.definition, node.attrs)
    return [e for e, name in zip(node.inputs, names, strict=True) if name in wanted]


def _static_edges_inside(node: Node) -> list[Edge]:
    """Inputs of a structured node that something inside must know; what loops cannot be known."""
    first = 1 if node.loop is None else node.loop.variables
    found: dict[Edge, None] = {}
    for graph in subgraphs(node):
        inside = [e for n in graph.nodes for e in static_edges(n)]
        for position in _known_args(node, graph, inside)[0]:
            if position >= first:
                found[node.inputs[position]] = None
    return list(found)


def _known_args(node: Node, graph: ClientGraph, edges: list[Edge]) -> tuple[list[int], bool]:
    """The inputs of a structured node that `edges` inside follow from; whether from these alone."""
    offset = 0 if node.branches is None else 1
    args = {arg: i + offset for i, (arg, _) in enumerate(graph.feeds)}
    found: dict[int, None] = {}
    alone, seen, stack = True, set(), list(edges)
    while stack:
        edge = stack.pop()
        if edge in seen:
            continue
        seen.add(edge)
        if edge[0] in args:
            found[args[edge[0]]] = None
        else:
            alone = alone and not _makes_values(edge[0])
            stack += follows_from(edge)
    return list(found), alone


def _makes_values(node: Node) -> bool:
    """Whether what a node gives cannot be computed from known inputs while tracing."""
    kind = node.definition
    return kind.stateful or kind.needs_xla or any(is_cell(e) for e in node.inputs)


def follows_from(edge: Edge) -> list[Edge]:
    """The edges whose values have to be known for that of `edge` to be."""
    node, i = edge
    if node.definition.of_shapes:
        return []
    if node.branches is not None and i >= node.branches.joined:
        # Only what takes the same branch uses such a value. Shapes are known whichever is taken.
        side, result = node.branches.result_of(i)
        positions, alone = _known_args(node, node.branches.graphs[side], [result])
        if alone:
            return [node.inputs[p] for p in positions]
    return node.inputs


def known_nodes(running: list[Node], on_device: set[Node]) -> set[Node]:
    """Nodes whose values a trace knows: constants, shapes, and arithmetic on these."""
    known: set[Node] = set()
    for node in running:
        kind = node.definition
        if node not in on_device:
            continue
        if node.loop is not None:
            known |= _known_stacks(node, node.loop, known)
        if kind.of_shapes:
            known.add(node)
        elif not (kind.stateful or kind.needs_xla) and node.inputs:
            if all(s in known or s.definition.is_constant for s, _ in node.inputs):
                known.add(node)
    return known


def _known_stacks(holder: Node, loop: Loop, known: set[Node]) -> set[Node]:
    """The stacks on which a loop pushes what shapes tell: the same in each of its iterations."""
    body = loop.body
    pushed: dict[Node, list[Edge]] = {}
    for node in body.nodes:
        if node.type == "StackPushV2":
            handle, value = node.inputs
            pushed.setdefault(handle[0], []).append(value)
    found: set[Node] = set()
    for position, (arg, _) in enumerate(body.feeds):
        values = pushed.get(arg, [])
        if len(values) != 1 or position < loop.variables or not _is_array(values[0]):
            continue
        needed, alone = _known_args(holder, body, values)
        sources = [holder.inputs[p][0] for p in needed if p >= loop.variables]
        fixed = alone and len(sources) == len(needed)
        if fixed and all(n in known or n.definition.is_constant for n in sources):
            found.add(holder.inputs[position][0])
    return found


def _is_array(edge: Edge) -> bool:
    node, i = edge
    return node.dtypes[i] not in (dtypes.resource, dtypes.variant)


def can_be_known(edge: Edge, on_device: set[Node], known: set[Node]) -> bool:
    """Whether specialising on values from outside the region lets a trace compute a value."""
    stack, seen = [edge], set()
    while stack:
        current = stack.pop()
        node = current[0]
        if current in seen or node in known or node not in on_device:
            continue
        seen.add(current)
        before = follows_from(current)
        if _makes_values(node) and before is node.inputs:
            return False
        stack += before
    return True
