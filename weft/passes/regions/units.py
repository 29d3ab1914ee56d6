"""Units of a partition: nodes that run together, and the edges between units."""

from __future__ import annotations

from dataclasses import dataclass, field

from weft.core.walk import reached
from weft.passes.client_graph import ClientGraph, Edge, Node
from weft.passes.control_flow.fold import subgraphs
from weft.passes.regions.static_values import follows_from, static_edges
from weft.passes.resource_edges import cell_key, is_cell, resource_roots, writes

LARGE_CONSTANT = 1024


@dataclass
class Unit:
    """Nodes that run together: one host node sequence, or one region.

    Of a region: `inputs` come from outside, `outputs` are wanted outside, `static` are inputs whose
    values the program is specialised on, `cells` are the variables' handle edges, each with whether
    the region writes it, `leaving` are handles of arrays made inside and read outside, `for_host`
    are outputs that nothing on its device reads, and `fed` inputs that users or nodes of a host
    make, where its device is none.
    """

    is_region: bool
    nodes: list[Node] = field(default_factory=list)
    inputs: list[Edge] = field(default_factory=list)
    outputs: list[Edge] = field(default_factory=list)
    static: set[Edge] = field(default_factory=set)
    cells: dict[Edge, bool] = field(default_factory=dict)
    leaving: list[Edge] = field(default_factory=list)
    for_host: set[Edge] = field(default_factory=set)
    fed: set[Edge] = field(default_factory=set)


@dataclass
class Layout:
    """`handles` and `constants` are settled when the plan is made; `units` run in order."""

    units: list[Unit]
    handles: list[Node]
    constants: list[Node]
    roots: dict[Edge, Edge]


def wire(
    units: list[Unit],
    graph: ClientGraph,
    handles: dict[tuple[str, str], Edge],
    roots: dict[Edge, Edge],
) -> None:
    """Fills in what crosses the border of each region."""
    home = {node: unit for unit in units for node in unit.nodes}
    wanted: dict[Edge, None] = dict.fromkeys(graph.fetches)
    for unit in units:
        for node in unit.nodes:
            for edge in node.inputs:
                if home.get(edge[0]) is not unit:
                    wanted[edge] = None
    for unit in units:
        if unit.is_region:
            _wire_region(unit, home, wanted, handles, roots)


def _wire_region(
    unit: Unit,
    home: dict[Node, Unit],
    wanted: dict[Edge, None],
    handles: dict[tuple[str, str], Edge],
    roots: dict[Edge, Edge],
) -> None:
    inputs: dict[Edge, None] = {}
    for node in unit.nodes:
        for edge in node.inputs:
            if edge in roots:
                _use_cell(unit, handles, roots[edge][0], writes(node))
            elif is_cell(edge):
                continue  # an array or stack made in this region
            elif home.get(edge[0]) is not unit and not is_literal(edge[0]):
                inputs[edge] = None
        for handle, written in inner_cells(node):
            _use_cell(unit, handles, handle, written)
        for edge in static_edges(node):
            _mark_static(edge, unit, home)
    unit.inputs = list(inputs)
    unit.static &= set(inputs)
    # A reference leaves a region as the variable itself, which the plan knows already.
    unit.outputs = [e for e in wanted if home.get(e[0]) is unit and not is_cell(e)]
    unit.leaving = [e for e in wanted if e[0].attrs.get("dynamic_size") and home.get(e[0]) is unit]
    unit.leaving = [e for e in unit.leaving if is_cell(e)]


def _use_cell(
    unit: Unit, handles: dict[tuple[str, str], Edge], handle: Node, written: bool
) -> None:
    root = handles[cell_key(handle)]
    unit.cells[root] = unit.cells.get(root, False) or written


def inner_cells(node: Node) -> list[tuple[Node, bool]]:
    """(handle, whether it is written) of every variable used inside a structured node."""
    found: list[tuple[Node, bool]] = []
    for graph in subgraphs(node):
        roots = resource_roots(graph.nodes)
        for inner in graph.nodes:
            found += [(roots[e][0], writes(inner)) for e in inner.inputs if e in roots]
            found += inner_cells(inner)
        found += [(roots[e][0], False) for e in graph.fetches if e in roots]
    return found


def is_literal(node: Node) -> bool:
    return node.definition.is_constant and node.attrs["value"].size <= LARGE_CONSTANT


def _mark_static(edge: Edge, unit: Unit, home: dict[Node, Unit]) -> None:
    def is_outside(edge: Edge) -> bool:
        return home.get(edge[0]) is not unit

    found = reached([edge], lambda edge: [] if is_outside(edge) else follows_from(edge))
    unit.static |= set(filter(is_outside, found))
