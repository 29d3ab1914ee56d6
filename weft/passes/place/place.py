"""A device for every node: constraints first, then a greedy simulation of the step.

Nodes that must be together (colocation, references, resources) form groups; a group may run where
every member may. Groups that still have a choice get, in the order of a simulated step, the device
on which they would finish first. `node.device` is the whole name of a device afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from weft.core import device_name, dtypes, errors
from weft.graph.kernel_call import flat_arg_names
from weft.graph.operation import Operation
from weft.passes.client_graph import ClientGraph, Edge, Node
from weft.passes.devices import HOST_TYPE, DeviceInfo, DeviceSet
from weft.passes.frames import frames
from weft.passes.place.cost import CostModel
from weft.passes.place.simulate import Simulation
from weft.passes.prune import as_node


@dataclass(frozen=True)
class PlaceOptions:
    """Options of placement.

    `soft`: a device that does not exist or cannot run an op is replaced by one of the same task
    that can. A task that does not exist is not replaced.
    `by_type`: only the best type of device that a group may run on is considered. A program that
    XLA compiles whole loses far more by being torn apart than an idle host could win.
    `improve`: small placements are refined by search.
    `one_task`: of several tasks that a group may run in, it runs in the first by name, so that
    sessions with different graphs, of different masters, agree on where a variable is.
    `calls_go`: calls of functions are replaced by what they call before a step is placed.
    """

    soft: bool = False
    by_type: bool = True
    improve: bool = True
    one_task: bool = False
    calls_go: bool = False


STRICT = PlaceOptions()
# How many nodes an error lists.
_MOST_NAMED = 5


def place(
    graph: ClientGraph,
    devices: DeviceSet,
    options: PlaceOptions = STRICT,
    costs: CostModel | None = None,
    pinned: Mapping[str, str] | None = None,
) -> None:
    """Sets the device of every node. `pinned` are devices that nodes got before, by name."""
    if len(devices) == 1:
        _place_on_one(graph, devices, options)
        return
    groups = Groups(graph, devices, options, pinned or {})
    choices = [groups.devices(root) for root in groups.roots]
    number = {root: i for i, root in enumerate(groups.roots)}
    group_of = [number[groups.find(node)] for node in graph.nodes]
    if options.one_task:
        _bring_sources(graph, groups, choices, group_of)
    chosen = [allowed[0] for allowed in choices]
    if any(len(allowed) > 1 for allowed in choices):
        simulation = Simulation(graph.nodes, group_of, choices, devices, costs or CostModel())
        chosen = simulation.choose(options.improve)
    for node, group in zip(graph.nodes, group_of, strict=True):
        node.device = chosen[group].name


def _bring_sources(
    graph: ClientGraph, groups: Groups, choices: list[list[DeviceInfo]], group_of: list[int]
) -> None:
    """Lets constants and the like, if nothing says where they are, be in the task that uses them.

    That is the one task of all its users; a value that several use stays where it was.
    """
    tasks: dict[Node, set[str]] = {}
    for node, group in zip(graph.nodes, group_of, strict=True):
        for source in {edge[0] for edge in node.inputs}:
            if not source.inputs:
                tasks.setdefault(source, set()).add(choices[group][0].worker)
    for node, group in zip(graph.nodes, group_of, strict=True):
        if groups.is_free(node) and len(tasks.get(node, ())) == 1:
            (task,) = tasks[node]
            choices[group] = groups.devices(node, task) or choices[group]


def check_devices(
    operations: Iterable[Operation], devices: DeviceSet, options: PlaceOptions
) -> None:
    """Whether operations ask for devices that do not exist, used or not."""
    for op in operations:
        if op._device and not devices.matching(_wanted(op._device, options)):
            raise no_such_device(as_node(op), devices)


def _place_on_one(graph: ClientGraph, devices: DeviceSet, options: PlaceOptions) -> None:
    only = devices.devices[0]
    for node in graph.nodes:
        if node.device and not device_name.matches(_wanted(node.device, options), only.name):
            raise no_such_device(node, devices)
        if only.device_type != HOST_TYPE and only.device_type not in kernel_types(node):
            raise no_kernel(node, devices)
        node.device = only.name


def _wanted(device: str, options: PlaceOptions) -> str:
    return _without(device, "device_type", "device_index") if options.soft else device


def _without(device: str, *parts: str) -> str:
    return device_name.unparse(device_name.parse(device)._replace(**dict.fromkeys(parts)))


def _in_common(left: str, right: str) -> str | None:
    """The common part of two names, softly: the task, and the type of device if it is one."""
    for parts in (("device_index",), ("device_type", "device_index")):
        one, two = _without(left, *parts), _without(right, *parts)
        if device_name.is_compatible(one, two):
            return device_name.merge(one, two)
    return None


# ---- what is possible -------------------------------------------------------------------------


def kernel_types(node: Node) -> tuple[str, ...]:
    """The types of device that have a kernel for a node. The host runs everything."""
    return _ALL if _compilable(node) else _HOST


_ALL, _HOST = ("TPU", "GPU", HOST_TYPE), (HOST_TYPE,)


def _compilable(node: Node) -> bool:
    kind = node.definition
    if any(d.base_dtype is dtypes.string for d in node.dtypes):
        return False
    if any(source.dtypes[i].base_dtype is dtypes.string for source, i in node.inputs):
        return False
    if kind.control_flow is not None or kind.kernel is None or kind.is_placeholder:
        return True
    if kind.is_handle:
        return kind.on_device
    if kind.on_device:
        return True
    return not kind.blocking and (kind.traceable or kind.traced_kernel is not None)


def needs_cell(node: Node) -> list[Edge]:
    """Inputs that are references or resources themselves, not the values in them."""
    if not any(_is_cell(edge) for edge in node.inputs):
        return []
    names = flat_arg_names(node.definition, node.attrs)
    by_reference = {arg.name for arg in node.definition.input_args if arg.is_ref}
    return [
        edge
        for edge, name in zip(node.inputs, names, strict=True)
        if edge[0].dtypes[edge[1]] is dtypes.resource or (_is_cell(edge) and name in by_reference)
    ]


def _is_cell(edge: Edge) -> bool:
    dtype = edge[0].dtypes[edge[1]]
    return dtype._is_ref_dtype or dtype is dtypes.resource


@dataclass
class _Group:
    """The constraints of a group: the merged device name, the types all members can run on."""

    wanted: str
    types: tuple[str, ...]
    asked_by: Node  # the member that names the device
    pinned: str = ""
    holds: bool = False  # whether a member makes what references and resources lead to


class Groups:
    """Nodes joined by union-find, with the constraints of each group."""

    def __init__(
        self,
        graph: ClientGraph,
        devices: DeviceSet,
        options: PlaceOptions,
        pinned: Mapping[str, str],
    ) -> None:
        self.graph, self.all, self.options = graph, devices, options
        self._parent: dict[Node, Node] = {}
        self._groups: dict[Node, _Group] = {}
        self._leaders: set[Node] = set()  # of more than one node
        for node in graph.nodes:
            self._parent[node] = node
            before = pinned.get(node.name, "")
            holds = node.definition.is_handle
            goes = options.calls_go and node.definition.calls is not None
            types = _ALL if goes else kernel_types(node)
            self._groups[node] = _Group(node.device, types, node, before, holds)
        self._join_colocated()
        self._join_cells()
        self._join_lists()
        self._join_loops()
        self.roots = [n for n in graph.nodes if self._parent[n] is n]

    def find(self, node: Node) -> Node:
        while self._parent[node] is not node:
            self._parent[node] = self._parent[self._parent[node]]
            node = self._parent[node]
        return node

    def devices(self, root: Node, task: str = "") -> list[DeviceInfo]:
        """The devices a group may run on, best first. InvalidArgumentError if there is none."""
        if task:
            near = [d for d in self.all.by_preference if d.worker == task]
            return self._of_best_type([d for d in near if d.device_type in kernel_types(root)])
        return self._allowed(self._groups[root])

    def is_free(self, node: Node) -> bool:
        """Whether a node makes one value out of nothing, and is a group by itself that may run
        anywhere.
        """
        group = self._groups[node]
        if node.inputs or len(node.dtypes) != 1 or _is_cell((node, 0)):
            return False
        alone = self._parent[node] is node and node not in self._leaders
        return alone and not (group.wanted or group.pinned)

    # ---- joining ----

    def _join_colocated(self) -> None:
        by_name = {node.name: node for node in self.graph.nodes}
        for node in self.graph.nodes:
            for spec in node.attrs.get("_class", ()):
                text = spec.decode() if isinstance(spec, bytes) else str(spec)
                # Nodes that name one the step does not need still go together.
                other = by_name.setdefault(text.removeprefix("loc:@"), node)
                self._join(other, node, "colocation")

    def _join_cells(self) -> None:
        for node in self.graph.nodes:
            for source, _ in needs_cell(node):
                self._join(source, node, "reference or resource edge")

    def _join_lists(self) -> None:
        """Joins nodes by variant edges: lists of tensors and other variants do not travel."""
        for node in self.graph.nodes:
            for source, i in node.inputs:
                if source.dtypes[i] is dtypes.variant:
                    self._join(source, node, "variant edge")

    def _join_loops(self) -> None:
        """A loop runs as a whole where nothing speaks against it."""
        first: dict[str, Node] = {}
        where = frames(self.graph)
        for node in self.graph.nodes:
            if not where[node]:
                continue
            root = self.find(node)
            if self._groups[root].wanted or self._groups[root].pinned:
                continue
            leader = first.setdefault(where[node][0], node)
            merged = self._merged(self.find(leader), root)
            if merged is not None and self._possible(merged):
                self._link(self.find(leader), root, merged)

    def _join(self, left: Node, right: Node, why: str) -> None:
        a, b = self.find(left), self.find(right)
        if a is b:
            return
        merged = self._merged(a, b)
        if merged is None and why != "colocation":
            # The source of a reference stays on the device it asks for; its users come to it.
            one, two = self._groups[a], self._groups[b]
            merged = _Group(one.wanted, self._types(a, b), one.asked_by, one.pinned, one.holds)
            if not self.options.soft and one.holds and two.holds:
                raise self._conflict(left, right, why)
        if merged is None and self.options.soft:
            merged = self._softly_merged(a, b)
        if merged is None or not merged.types:
            raise self._conflict(left, right, why)
        self._link(a, b, merged)

    def _merged(self, a: Node, b: Node) -> _Group | None:
        one, two = self._groups[a], self._groups[b]
        if not device_name.is_compatible(one.wanted, two.wanted):
            return None
        wanted = device_name.merge(one.wanted, two.wanted)
        asked = one.asked_by if one.wanted else two.asked_by
        holds = one.holds or two.holds
        # What holds a resource stays where it is.
        first = two if two.pinned and two.holds and not one.holds else one
        pinned = first.pinned or two.pinned
        return _Group(wanted, self._types(a, b), asked, pinned, holds)

    def _softly_merged(self, a: Node, b: Node) -> _Group | None:
        one, two = self._groups[a], self._groups[b]
        wanted = _in_common(one.wanted, two.wanted)
        if wanted is None:
            return None
        return _Group(wanted, self._types(a, b), a, one.pinned, one.holds or two.holds)

    def _types(self, a: Node, b: Node) -> tuple[str, ...]:
        return tuple(t for t in self._groups[a].types if t in self._groups[b].types)

    def _link(self, a: Node, b: Node, group: _Group) -> None:
        if a is not b:
            self._parent[b] = a
            self._leaders.add(a)
        self._groups[a] = group

    # ---- devices ----

    def _possible(self, group: _Group) -> bool:
        return any(d.device_type in group.types for d in self.all.matching(group.wanted))

    def _allowed(self, group: _Group) -> list[DeviceInfo]:
        if group.pinned:
            kept = [d for d in self.all if d.name == group.pinned]
            if kept and kept[0].device_type in group.types:
                return kept
        matching = self.all.matching(group.wanted)
        allowed = self._near([d for d in matching if d.device_type in group.types])
        if allowed:
            return self._of_best_type(allowed)
        if self.options.soft:
            return self._softly(group)
        if not matching:
            raise no_such_device(group.asked_by, self.all, group.wanted)
        raise self._no_kernel(group, matching)

    def _no_kernel(self, group: _Group, matching: list[DeviceInfo]) -> errors.OpError:
        """Names the members of the group that cannot run where it was asked for."""
        types = {d.device_type for d in matching}
        members = [n for n in self.graph.nodes if self._groups[self.find(n)] is group]
        hosted = [n for n in members if not types.intersection(kernel_types(n))]
        return no_kernel(group.asked_by, self.all, group.wanted, hosted)

    def _of_best_type(self, allowed: list[DeviceInfo]) -> list[DeviceInfo]:
        if not (allowed and self.options.by_type):
            return allowed
        return [d for d in allowed if d.device_type == allowed[0].device_type]

    def _near(self, allowed: list[DeviceInfo]) -> list[DeviceInfo]:
        """The devices of one task: of those with the best type of device, the first by name."""
        if not self.options.one_task or not allowed:
            return allowed
        task = min(d.worker for d in allowed if d.device_type == allowed[0].device_type)
        return [d for d in allowed if d.worker == task]

    def _softly(self, group: _Group) -> list[DeviceInfo]:
        """Any device of the task that was asked for that can run the group, a host first."""
        matching = self.all.matching(_without(group.wanted, "device_type", "device_index"))
        if not matching:
            raise no_such_device(group.asked_by, self.all, group.wanted)
        found = self._near([d for d in matching if d.device_type in group.types])
        if not found:
            raise no_kernel(group.asked_by, self.all, group.wanted)
        return [d for d in found if d.device_type == HOST_TYPE] or found

    def _conflict(self, left: Node, right: Node, why: str) -> errors.OpError:
        one, two = self._groups[self.find(left)], self._groups[self.find(right)]
        lines = [f"Cannot colocate nodes {_called(left)} and {_called(right)}, joined by a {why}:"]
        for node, group in ((left, one), (right, two)):
            asked = f"asked for device '{group.wanted}'" if group.wanted else "asked for no device"
            by = f" through {_called(group.asked_by)}" if group.asked_by is not node else ""
            lines.append(f"  {_called(node)} {asked}{by}, runs on {', '.join(group.types)}")
        if not self._types(self.find(left), self.find(right)):
            lines.append("no device type supports both of those nodes and what goes with them")
        elif one.wanted and two.wanted:
            lines.append(f"'{one.wanted}' and '{two.wanted}' are not compatible")
        return errors.InvalidArgumentError(_node_def(right), right.op, "\n".join(lines))


def _called(node: Node) -> str:
    where = f" (defined at {errors.locate(node.op)})" if node.op is not None else ""
    return f"{{{{colocation_node {node.name}}}}}{where}"


def _node_def(node: Node) -> object:
    return node.op.node_def if node.op is not None else None


def no_such_device(node: Node, devices: DeviceSet, wanted: str = "") -> errors.OpError:
    wanted = wanted or node.device
    message = (
        f"Cannot assign a device for operation {node.name}: {{{{node {node.name}}}}} was explicitly"
        f" assigned to {wanted} but available devices are [ {', '.join(sorted(devices.names))} ]."
        " Make sure the device specification refers to a valid device."
    )
    if device_name.parse(wanted).device_type == "GPU":
        message += " The requested device appears to be a GPU, but XLA sees none with that number."
    return errors.InvalidArgumentError(_node_def(node), node.op, message + _defined(node))


def no_kernel(
    node: Node, devices: DeviceSet, wanted: str = "", without: Sequence[Node] = ()
) -> errors.OpError:
    """`without` are the nodes colocated with `node` that lack the kernel, where it is not it."""
    wanted = wanted or node.device
    lacking = list(without) or [node]
    kind = device_name.parse(wanted).device_type or devices.devices[0].device_type
    message = (
        f"Cannot assign a device for operation {node.name}: Could not satisfy explicit device"
        f" specification '{wanted}' because no supported kernel for {kind} devices is available."
        f" With allow_soft_placement it is put where there is one:"
    )
    for other in lacking[:_MOST_NAMED]:
        message += f"\n  {_called(other)}: {other.type} runs on {', '.join(kernel_types(other))}"
    return errors.InvalidArgumentError(_node_def(node), node.op, message + _defined(node))


def _defined(node: Node) -> str:
    return f"\n\t {errors.node_text(node.op, node.name)}"
