"""A partition -> an ordered list of units: regions that XLA compiles whole, and host nodes between.

Every node gets a level. Device nodes sit on even levels, host nodes on odd ones, and no edge points
down; all device nodes of a level form one region. An edge whose value must be known before its
consumer compiles, and is not, puts the consumer two levels up.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

from weft.core import dtypes, flags
from weft.graph.kernel_call import flat_arg_names
from weft.graph.shape_fn import Dims
from weft.passes.client_graph import ClientGraph, Edge, Node
from weft.passes.structure import subgraphs

_SHAPE_OPS = {"Shape", "ShapeN", "Rank", "Size", "VariableShape"}
LARGE_CONSTANT = 1024


@dataclass
class Unit:
    """Nodes that run together: one host node sequence, or one region.

    Of a region: `inputs` come from outside, `outputs` are wanted outside, `static` are inputs whose
    values the program is specialised on, `cells` are the variables' handle edges, each with whether
    the region writes it, `leaving` are handles of arrays made inside and read outside.
    """

    is_region: bool
    nodes: list[Node] = field(default_factory=list)
    inputs: list[Edge] = field(default_factory=list)
    outputs: list[Edge] = field(default_factory=list)
    static: set[Edge] = field(default_factory=set)
    cells: dict[Edge, bool] = field(default_factory=dict)
    leaving: list[Edge] = field(default_factory=list)


@dataclass
class Layout:
    """`handles` and `constants` are settled when the plan is made; `units` run in order."""

    units: list[Unit]
    handles: list[Node]
    constants: list[Node]
    roots: dict[Edge, Edge]


# A level, and which waiting nodes come before: nodes with one place make one region.
Place = tuple[int, int]


def is_cell(edge: Edge) -> bool:
    dtype = edge[0].dtypes[edge[1]]
    return dtype._is_ref_dtype or dtype is dtypes.resource


def group(graph: ClientGraph, on_host: frozenset[Node] = frozenset()) -> Layout:
    """`on_host`: nodes that must not be compiled, because that was tried and failed."""
    order = schedule(graph)
    roots = resource_roots(order)
    handles = [n for n in order if n.definition.is_handle]
    inner = [h for n in order for h in inner_handles(n)]
    constants = [n for n in order if n.type == "Const" and not n.controls]
    settled = set(handles) | set(constants) | {n for n, _ in graph.feeds}
    running = [n for n in order if n not in settled]
    on_device: set[Node] = set()
    for node in running:
        # An array or stack that is made outside of programs cannot be used inside of one.
        inside = all(e in roots or e[0] in on_device for e in node.inputs if is_cell(e))
        if inside and node not in on_host and compiles(node, roots):
            on_device.add(node)
    objects = _object_users(running)
    for maker, users in objects.items():
        if maker.attrs.get("dynamic_size"):
            # How many elements it has only shows when the program is over.
            on_device -= {n for n in users if n.definition.reads_only}
    objects |= _handed_on(running)
    awaited = awaited_by(running)
    while True:
        known = known_nodes(running, on_device)
        levels = _levels(running, settled, on_device, known)
        places = {n: (levels[n], awaited[n]) for n in running}
        # What lives in a program cannot leave it: all users of an object run in one region.
        split = [
            users
            for maker, users in objects.items()
            if users & on_device and not _together(_inside(maker, users), on_device, places)
        ]
        if not split:
            break
        for users in split:
            on_device -= users
    units = _units(running, on_device, places)
    known_keys = {cell_key(h): (h, 0) for h in [*inner, *handles] if is_variable(h)}
    wire(units, graph, known_keys, roots)
    canonical = {edge[0] for edge in known_keys.values()}
    return Layout(units, [*handles, *(h for h in inner if h in canonical)], constants, roots)


def cell_key(handle: Node) -> tuple[str, str]:
    """What names a variable: two handle nodes with one key mean the same."""
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


def _inside(maker: Node, users: set[Node]) -> set[Node]:
    """Those of an object's users that must be in one region with its maker."""
    if not maker.attrs.get("dynamic_size"):
        return users
    return {n for n in users if not n.definition.reads_only}


def _object_users(running: list[Node]) -> dict[Node, set[Node]]:
    """For each array or stack that a node makes, all nodes that touch it."""
    found: dict[Node, set[Node]] = {}
    owner: dict[Edge, Node] = {}
    for node in running:
        makers = {owner[e] for e in node.inputs if e in owner}
        if not makers and node.definition.traced_kernel and node.definition.takes_ctx:
            makers = {node}
            found[node] = set()
        for maker in makers:
            found[maker].add(node)
            for i, dtype in enumerate(node.dtypes):
                if dtype is dtypes.resource:
                    owner[node, i] = maker
    return found


def _handed_on(running: list[Node]) -> dict[Node, set[Node]]:
    """For each conditional that hands values on to others, all of these.

    Such a value is not there at all when the other branch is taken: no program can be given it.
    """
    found: dict[Node, set[Node]] = {}
    for node in running:
        for source, i in node.inputs:
            if i >= source.attrs.get("joined", i + 1):
                found.setdefault(source, {source}).add(node)
    return found


def _together(users: set[Node], on_device: set[Node], places: dict[Node, Place]) -> bool:
    return users <= on_device and len({places[n] for n in users}) == 1


def schedule(graph: ClientGraph) -> list[Node]:
    """A topological order in which what does not depend on a write comes before it."""
    waiting = {n: len(n.inputs) + len(n.controls) for n in graph.nodes}
    users: dict[Node, list[Node]] = {n: [] for n in graph.nodes}
    for node in graph.nodes:
        for source, _ in node.inputs:
            users[source].append(node)
        for control in node.controls:
            users[control].append(node)
    ready: deque[Node] = deque(n for n in graph.nodes if not waiting[n])
    writers: deque[Node] = deque()
    order: list[Node] = []
    while ready or writers:
        node = ready.popleft() if ready else writers.popleft()
        order.append(node)
        for user in users[node]:
            waiting[user] -= 1
            if not waiting[user]:
                (writers if writes(user) else ready).append(user)
    return order


def writes(node: Node) -> bool:
    """Whether the node may change a variable."""
    kind = node.definition
    if not kind.stateful and not kind.has_ref_input:
        return False
    return not kind.reads_only and any(is_cell(edge) for edge in node.inputs)


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


def compiles(node: Node, roots: dict[Edge, Edge]) -> bool:
    kind = node.definition
    if any(_host_only(d) for d in node.dtypes):
        return False
    if subgraphs(node):
        if flags.CONTROL_FLOW.value != "whole":
            return False
        if any(is_cell(e) and e not in roots and not _in_program(e[0]) for e in node.inputs):
            return False
        return all(_graph_compiles(graph) for graph in subgraphs(node))
    if kind.blocking or not (kind.traceable or kind.traced_kernel):
        return False
    for edge in node.inputs:
        source, i = edge
        if not is_cell(edge):
            if _host_only(source.dtypes[i]):
                return False
        elif edge in roots:
            if not is_variable(roots[edge][0]):
                return False
        elif not (kind.traced_kernel and _in_program(source)):
            return False
    return True


def _in_program(source: Node) -> bool:
    """Whether a node makes or hands on an object that can live inside a compiled program."""
    return source.definition.traced_kernel is not None


def _graph_compiles(graph: ClientGraph) -> bool:
    roots = resource_roots(graph.nodes)
    for node in graph.nodes:
        if node.type == "_Arg":
            roots[node, 0] = node, 0  # an array or stack from outside
        elif node.type == "Const" or node.definition.is_handle:
            if any(_host_only(d) for d in node.dtypes):
                return False
            if node.definition.is_handle and not is_variable(node):
                return False
        elif not compiles(node, roots):
            return False
    return True


def is_variable(node: Node) -> bool:
    if node.type == "_Arg":
        return True
    names = ("VariableV2", "Variable", "VarHandleOp")
    return node.type in names and node.attrs["dtype"] is not dtypes.string


def _host_only(dtype: dtypes.DType) -> bool:
    return dtype.base_dtype in (dtypes.string, dtypes.variant)


def known_nodes(running: list[Node], on_device: set[Node]) -> set[Node]:
    """Nodes whose values a trace knows: constants, shapes, and arithmetic on these."""
    known: set[Node] = set()
    for node in running:
        kind = node.definition
        if node not in on_device:
            continue
        if kind.name in _SHAPE_OPS:
            known.add(node)
        elif not (kind.stateful or kind.xla) and node.inputs:
            if all(s in known or s.type == "Const" for s, _ in node.inputs):
                known.add(node)
    return known


class NodeContext:
    """What a `static_rule` or `prepare` may ask about a node, as of a ShapeContext."""

    def __init__(self, node: Node) -> None:
        self.node, self.num_inputs = node, len(node.inputs)

    def dims(self, i: int) -> Dims:
        source, index = self.node.inputs[i]
        return source.dims[index]

    def attr(self, name: str) -> Any:
        return self.node.attrs[name]

    def value(self, i: int) -> Any:
        source = self.node.inputs[i][0]
        return source.attrs["value"] if source.type == "Const" else None


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
    first = node.attrs.get("vars", 1)
    found: dict[Edge, None] = {}
    for graph in subgraphs(node):
        inside = [e for n in graph.nodes for e in static_edges(n)]
        for position in _known_args(node, graph, inside)[0]:
            if position >= first:
                found[node.inputs[position]] = None
    return list(found)


def _known_args(node: Node, graph: ClientGraph, edges: list[Edge]) -> tuple[list[int], bool]:
    """The inputs of a structured node that `edges` inside follow from; whether from these alone."""
    offset = 0 if "vars" in node.attrs else 1
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
            stack += _follows_from(edge)
    return list(found), alone


def _makes_values(node: Node) -> bool:
    """Whether what a node gives cannot be computed from known inputs while tracing."""
    kind = node.definition
    return kind.stateful or kind.xla or any(is_cell(e) for e in node.inputs)


def _follows_from(edge: Edge) -> list[Edge]:
    """The edges whose values have to be known for that of `edge` to be."""
    node, i = edge
    if node.type in _SHAPE_OPS:
        return []
    joined = node.attrs.get("joined", i + 1) if node.type == "_If" else i + 1
    if i >= joined:
        # Only what takes the same branch uses such a value. Shapes are known whichever is taken.
        sides = node.attrs["export_sides"]
        side = sides[i - joined]
        graph = node.attrs["then" if side else "else"]
        fetch = graph.fetches[joined + sides[: i - joined].count(side)]
        positions, alone = _known_args(node, graph, [fetch])
        if alone:
            return [node.inputs[p] for p in positions]
    return node.inputs


def _levels(
    running: list[Node], settled: set[Node], on_device: set[Node], known: set[Node]
) -> dict[Node, int]:
    levels: dict[Node, int] = {}
    for node in running:
        device = node in on_device
        level = 0 if device else -1
        for source in [n for n, _ in node.inputs] + node.controls:
            if source in levels:
                same = (source in on_device) == device
                level = max(level, levels[source] + (0 if same else 1))
        for edge in static_edges(node) if device else ():
            source = edge[0]
            if (
                source in levels
                and source in on_device
                and not can_be_known(edge, on_device, known)
            ):
                level = max(level, levels[source] + 2)
        levels[node] = level
    return levels


def can_be_known(edge: Edge, on_device: set[Node], known: set[Node]) -> bool:
    """Whether specialising on values from outside the region lets a trace compute a value."""
    stack, seen = [edge], set()
    while stack:
        current = stack.pop()
        node = current[0]
        if current in seen or node in known or node not in on_device:
            continue
        seen.add(current)
        before = _follows_from(current)
        if _makes_values(node) and before is node.inputs:
            return False
        stack += before
    return True


def awaited_by(running: list[Node]) -> dict[Node, int]:
    """Which waiting nodes each node comes after, as a set of bits.

    Receives over equally many hops share a bit: none of them can hang on what another one starts,
    so what needs one of them may as well wait for all.
    """
    kinds: dict[Any, int] = {}
    bits = {
        n: 1 << kinds.setdefault(n.attrs.get("_hop", n), len(kinds))
        for n in running
        if n.definition.blocking and n.definition.transfer != "send"
    }
    awaited: dict[Node, int] = {}
    for node in running:
        mask = bits.get(node, 0)
        for source in [n for n, _ in node.inputs] + node.controls if bits else ():
            mask |= awaited.get(source, 0)
        awaited[node] = mask
    return awaited


def _units(running: list[Node], on_device: set[Node], places: dict[Node, Place]) -> list[Unit]:
    # Where something may wait, nothing waits for what it does not need: host nodes stay apart, and
    # so do the parts of a level that come after different waiting nodes.
    apart = any(n.definition.blocking for n in running)
    by_place: dict[Place, list[Unit]] = {}
    for node in running:
        units = by_place.setdefault(places[node], [])
        if not units or (apart and node not in on_device):
            units.append(Unit(node in on_device))
        units[-1].nodes.append(node)
    return [unit for place in sorted(by_place) for unit in by_place[place]]


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
            elif home.get(edge[0]) is not unit and not _is_literal(edge[0]):
                inputs[edge] = None
        for handle, written in _inner_cells(node):
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


def _inner_cells(node: Node) -> list[tuple[Node, bool]]:
    """(handle, whether it is written) of every variable used inside a structured node."""
    found: list[tuple[Node, bool]] = []
    for graph in subgraphs(node):
        roots = resource_roots(graph.nodes)
        for inner in graph.nodes:
            found += [(roots[e][0], writes(inner)) for e in inner.inputs if e in roots]
            found += _inner_cells(inner)
        found += [(roots[e][0], False) for e in graph.fetches if e in roots]
    return found


def _is_literal(node: Node) -> bool:
    return node.type == "Const" and node.attrs["value"].size <= LARGE_CONSTANT


def _mark_static(edge: Edge, unit: Unit, home: dict[Node, Unit]) -> None:
    stack, seen = [edge], set()
    while stack:
        current = stack.pop()
        if current in seen:
            continue
        seen.add(current)
        node = current[0]
        if home.get(node) is not unit:
            unit.static.add(current)
        else:
            stack += _follows_from(current)
