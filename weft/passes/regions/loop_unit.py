"""A loop as a unit of its own, which is given the arrays and stacks that it uses."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from weft.core import dtypes
from weft.passes.client_graph import ClientGraph, Edge, Node
from weft.passes.control_flow.fold import subgraphs
from weft.passes.regions.static_values import static_edges
from weft.passes.regions.units import Unit, inner_cells, is_literal
from weft.passes.resource_edges import cell_key, is_cell, is_list

_STACK = frozenset({"StackPushV2", "StackPopV2"})
_ARRAY = frozenset({"TensorArrayReadV3", "TensorArrayWriteV3", "TensorArraySizeV3"})
_GRADIENT = "TensorArrayGradV3"


@dataclass
class Use:
    """What a loop does with an object that it is given.

    `sources`: whose gradients it asks an array for. `step`: 1 if it pushes one value on a stack in
    each iteration, -1 if it pops one.
    """

    types: set[str] = field(default_factory=set)
    sources: set[str] = field(default_factory=set)
    must_be_known: bool = False
    step: int = 0

    @property
    def is_stack(self) -> bool:
        return bool(self.types) and self.types <= _STACK

    @property
    def is_array(self) -> bool:
        return bool(self.types) and self.types <= _ARRAY | {_GRADIENT}

    @property
    def is_used_itself(self) -> bool:
        """Whether elements of an array are used, not just its gradients'."""
        return bool(self.types & _ARRAY)


def loop_unit(node: Node) -> tuple[Unit, dict[Edge, Use]] | None:
    """The unit of a loop, and the objects that it is given; None if it cannot be one."""
    assert node.loop is not None
    if any(map(is_list, node.inputs)) or _changes_objects(node):
        return None
    static = set(static_edges(node))
    objects = {edge: _use_of(node, edge) for edge in node.inputs if is_cell(edge)}
    for edge, use in objects.items():
        use.must_be_known = edge in static
    if not all(use.is_stack or use.is_array for use in objects.values()):
        return None
    unit = Unit(True, [node])
    values = dict.fromkeys(edge for edge in node.inputs if edge not in objects)
    unit.inputs = [edge for edge in values if not is_literal(edge[0])]
    unit.static = static & set(unit.inputs)
    every = [(node, i) for i in range(len(node.dtypes))]
    unit.outputs = [edge for edge in every if not is_cell(edge)]
    unit.leaving = list(objects)
    _add_cells(unit, node)
    return unit, objects


def _changes_objects(node: Node) -> bool:
    """Whether a loop variable is an object: then iterations differ in what they use."""
    assert node.loop is not None
    return any(d is dtypes.resource or d._is_ref_dtype for d in node.dtypes[: node.loop.variables])


def _use_of(node: Node, edge: Edge) -> Use:
    use = Use()
    for position, each in enumerate(node.inputs):
        if each == edge:
            _note_inside(node, position, use)
            use.step = _step(node, position)
    return use if node.inputs.count(edge) == 1 else replace(use, step=0)


def _step(node: Node, position: int) -> int:
    assert node.loop is not None
    found = [n for g in subgraphs(node) for n in g.nodes if g.feeds[position] in n.inputs]
    in_body = len(found) == 1 and found[0] in node.loop.body.nodes
    return {"StackPushV2": 1, "StackPopV2": -1}.get(found[0].type, 0) if in_body else 0


def _note_inside(node: Node, position: int, use: Use) -> None:
    """Notes what happens inside a structured node to the object that its input is."""
    offset = 0 if node.branches is None else 1
    for graph in subgraphs(node):
        _note_uses(graph, graph.feeds[position - offset], use)


def _note_uses(graph: ClientGraph, edge: Edge, use: Use) -> None:
    if edge in graph.fetches:
        use.types.add("Retval")
    for node in graph.nodes:
        for position, each in enumerate(node.inputs):
            if each != edge:
                continue
            if subgraphs(node):
                _note_inside(node, position, use)
            else:
                use.types.add(node.type)
                if node.type == _GRADIENT:
                    use.sources.add(node.attrs["source"])


def _add_cells(unit: Unit, node: Node) -> None:
    roots: dict[tuple[str, str], Edge] = {}
    for handle, written in inner_cells(node):
        root = roots.setdefault(cell_key(handle), (handle, 0))
        unit.cells[root] = unit.cells.get(root, False) or written
