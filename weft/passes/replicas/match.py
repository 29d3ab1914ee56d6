"""The replicas of a step: nodes of which each device has one, that do the same there.

Replicas meet where their values are joined: in a sum, in a collective, in an operation that waits
for all of them. From there the nodes that stand opposite each other are followed back along their
inputs, and forward to their users. Nothing hangs on names. A tuple of nodes that stand opposite
each other, in the order of the devices, is a *row*.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from weft.core.device_name import parse
from weft.ops.devices.replica_collectives import AMONG_REPLICAS
from weft.passes.client_graph import ClientGraph, Node
from weft.passes.devices import HOST_TYPE
from weft.passes.partition import is_everywhere
from weft.passes.regions.static_values import static_edges
from weft.passes.replicas.alike import are_alike
from weft.passes.replicas.joins import terms

Row = tuple[Node, ...]


@dataclass
class Replicas:
    """`rows` has, for each node of a replica, the row it is in."""

    devices: tuple[str, ...]
    rows: dict[Node, Row] = field(default_factory=dict)

    @property
    def count(self) -> int:
        return len(self.devices)


def find_replicas(graph: ClientGraph) -> Replicas | None:
    """The replicas of a placed graph; None where it has none."""
    devices = _replica_devices(graph)
    if len(devices) < 2:
        return None
    found = _Matcher(graph, devices).match()
    return found if any(_devices(row) == devices for row in found.rows.values()) else None


def _replica_devices(graph: ClientGraph) -> tuple[str, ...]:
    """All accelerators that have nodes, or where there are fewer than two, all hosts."""
    kinds: dict[str, set[str]] = {}
    for node in graph.nodes:
        kinds.setdefault(parse(node.device).device_type or HOST_TYPE, set()).add(node.device)
    several = [kind for kind in kinds if kind != HOST_TYPE and len(kinds[kind]) > 1]
    names = kinds[several[0]] if several else kinds.get(HOST_TYPE, set())
    return tuple(sorted(names, key=lambda name: (parse(name).device_index or 0, name)))


def _devices(row: Row) -> tuple[str, ...]:
    return tuple(node.device for node in row)


def _differ_where_known(row: Row) -> bool:
    """Whether an input that a program must know, as where a slice begins, is another in each."""
    known = set(static_edges(row[0]))
    return any(
        len(set(edges)) > 1
        and all(node.definition.is_constant for node, _ in edges)
        and not are_alike([node for node, _ in edges])
        for edges in zip(*(node.inputs for node in row), strict=True)
        if edges[0] in known
    )


class _Matcher:
    def __init__(self, graph: ClientGraph, devices: tuple[str, ...]) -> None:
        self.graph, self.found = graph, Replicas(devices)
        self.rows = self.found.rows
        self.place = {node: i for i, node in enumerate(graph.nodes)}
        self.users: dict[Node, list[Node]] = {}
        for node in graph.nodes:
            for source in dict.fromkeys(node.sources):
                self.users.setdefault(source, []).append(node)

    def match(self) -> Replicas:
        """What waits for all replicas says least of what stands opposite what: it comes last."""
        for starts in (self._collectives(), self._joins(), self._meetings()):
            found = [new for row in starts for new in self._follow(row)]
            while found:
                for row in self._opposite_users(found.pop()):
                    found += self._follow(row)
        return self.found

    # ---- where to begin ----

    def _joins(self) -> Iterator[Row]:
        for node in self.graph.nodes:
            joined = [edge[0] for edge in terms(node, self.found.count)]
            if joined:
                yield self._in_order(joined)

    def _meetings(self) -> Iterator[Row]:
        for node in self.graph.nodes:
            yield from self._aligned(c for c in node.controls if c not in self.rows)

    def _in_order(self, nodes: Sequence[Node]) -> Row:
        """The nodes in the order of the devices, if each is on another one."""
        order = {name: i for i, name in enumerate(self.found.devices)}
        if {node.device for node in nodes} == set(order):
            return tuple(sorted(nodes, key=lambda node: order[node.device]))
        return tuple(nodes)

    def _collectives(self) -> Iterator[Row]:
        groups: dict[object, list[Node]] = {}
        for node in self.graph.nodes:
            if node.type in AMONG_REPLICAS:
                names = "shared_name", "group_key", "instance_key"
                key = node.type, *(str(node.attrs.get(name)) for name in names)
                groups.setdefault(key, []).append(node)
        for group in groups.values():
            yield from self._aligned(group)

    def _aligned(self, nodes: Iterable[Node]) -> list[Row]:
        """Rows of nodes of all devices, if each device has as many, in the order they came in."""
        columns: dict[str, list[Node]] = {name: [] for name in self.found.devices}
        for node in nodes:
            if node.device in columns:
                columns[node.device].append(node)
        if len({len(column) for column in columns.values()}) > 1:
            return []
        return list(zip(*columns.values(), strict=True))

    # ---- back along inputs ----

    def _follow(self, start: Row) -> list[Row]:
        """Adds the row, and those that its nodes hang on, if they are rows; gives what is new."""
        seen: dict[Row, list[Row]] = {}
        waiting = [start]
        while waiting:
            row = waiting.pop()
            if row not in seen and self._may_be_row(row):
                seen[row] = list(self._inputs(row))
                waiting += seen[row]
        order = sorted(seen, key=lambda row: self.place[row[0]])
        return [row for row in order if self._accept(row, seen[row])]

    def _may_be_row(self, row: Row) -> bool:
        if any(node in self.rows or is_everywhere(node) for node in row):
            return False
        return are_alike(row) and not _differ_where_known(row)

    def _inputs(self, row: Row) -> Iterator[Row]:
        for edges in zip(*(node.inputs for node in row), strict=True):
            if len(set(edges)) > 1 and len({i for _, i in edges}) == 1:
                yield tuple(node for node, _ in edges)

    def _accept(self, row: Row, inputs: list[Row]) -> bool:
        """A row is on all devices. What has no place of its own hangs on one that is.

        Else terms of a sum within one replica could be taken for replicas.
        """
        if any(node in self.rows for node in row) or not self._can_stand_opposite(row, inputs):
            return False
        on_devices = _devices(row) == self.found.devices
        hangs_on_row = any(self.rows.get(each[0]) == each for each in inputs)
        if not on_devices and (row[0].definition.is_handle or not hangs_on_row):
            return False
        self.rows.update(dict.fromkeys(row, row))
        return True

    def _can_stand_opposite(self, row: Row, inputs: list[Row]) -> bool:
        """No node of a row hangs on another, and what they hang on are rows as far as is known."""
        if not set(row).isdisjoint(source for node in row for source in node.sources):
            return False
        return all(self.rows.get(node, each) == each for each in inputs for node in each)

    # ---- forward to users ----

    def _opposite_users(self, row: Row) -> Iterator[Row]:
        """Users of the nodes of a row that stand opposite each other."""
        columns = [self._users_of(node, row) for node in row]
        for key, first in columns[0].items():
            others = [column.get(key, []) for column in columns[1:]]
            if all(len(other) == len(first) for other in others):
                yield from zip(first, *others, strict=True)

    def _users_of(self, node: Node, row: Row) -> dict[object, list[Node]]:
        """By the way they use it, those that use no other node of the row."""
        found: dict[object, list[Node]] = {}
        others = set(row) - {node}
        for user in sorted(self.users.get(node, ()), key=self._age):
            if user not in self.rows and others.isdisjoint(user.sources):
                ways = tuple((i, e[1]) for i, e in enumerate(user.inputs) if e[0] is node)
                key = user.type, ways, len(user.inputs), user.device in self.found.devices
                found.setdefault(key, []).append(user)
        return found

    def _age(self, node: Node) -> tuple[int, int]:
        """Replicas are built by one function: what it made first comes first in each of them."""
        return (node.op._id if node.op is not None else 0), self.place[node]
