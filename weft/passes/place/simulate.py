"""A step on paper: when each node would run, given where it is; and which places make it short.

The first placement is greedy, as in the paper: nodes are taken in the order of a simulated step,
and a group that has a choice gets the device on which it would finish first. Small graphs are then
improved by moving groups one and two at a time.
"""

from __future__ import annotations

import functools
import heapq
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from weft.passes.client_graph import Edge, Node
from weft.passes.devices import DeviceInfo, DeviceSet
from weft.passes.place.cost import CostModel

# How many node visits, and how long, improving a first placement may take.
_VISITS = 200_000
_SECONDS = 0.25


@dataclass
class _Item:
    """A node as the simulation sees it: plain numbers."""

    group: int
    inputs: list[tuple[int, int, float]] = field(default_factory=list)  # item, output, bytes
    users: list[int] = field(default_factory=list)
    times: list[float] = field(default_factory=list)  # by device


class Simulation:
    """Runs a step on paper: which node starts when, given where each group is."""

    def __init__(
        self,
        nodes: Sequence[Node],
        group_of: Sequence[int],
        choices: Sequence[list[DeviceInfo]],
        devices: DeviceSet,
        costs: CostModel,
    ) -> None:
        self.devices = list(devices)
        number = {d.name: i for i, d in enumerate(self.devices)}
        self.choices = [[number[d.name] for d in allowed] for allowed in choices]
        processors = list(dict.fromkeys(d.processor or d.name for d in self.devices))
        self.processor = [processors.index(d.processor or d.name) for d in self.devices]
        self.links = [[devices.link(a, b) for b in self.devices] for a in self.devices]
        self.items = self._items(nodes, group_of, costs)
        self.work = self._work()
        self.order = self._order()

    def _items(
        self, nodes: Sequence[Node], group_of: Sequence[int], costs: CostModel
    ) -> list[_Item]:
        index = {node: i for i, node in enumerate(nodes)}
        items = [_Item(group) for group in group_of]
        for i, node in enumerate(nodes):
            item = items[i]
            for edge in node.inputs:
                if edge[0].definition.control_flow == "next_iteration":
                    continue  # the way back of a loop
                item.inputs.append((index[edge[0]], edge[1], _sent(edge, costs)))
            item.inputs += [(index[c], -1, 1.0) for c in node.controls]
            for source, _, _ in item.inputs:
                items[source].users.append(i)
            item.times = costs.times(node, self.devices)
        return items

    def _work(self) -> list[list[float]]:
        """Time of all nodes of each group, by device."""
        work = [[0.0] * len(self.devices) for _ in self.choices]
        for item in self.items:
            total = work[item.group]
            for d, t in enumerate(item.times):
                total[d] += t
        return work

    def _order(self) -> list[int]:
        """Ready nodes first that most of the step still hangs on, as a list scheduler does."""
        count = len(self.items)
        rank = [0.0] * count
        for i in self._backwards():
            item = self.items[i]
            own = sum(item.times) / len(item.times)
            rank[i] = own + max((rank[u] for u in item.users), default=0.0)
        waiting = [len(item.inputs) for item in self.items]
        ready = [(-rank[i], i) for i in range(count) if not waiting[i]]
        heapq.heapify(ready)
        order = []
        while ready:
            _, i = heapq.heappop(ready)
            order.append(i)
            for user in self.items[i].users:
                waiting[user] -= 1
                if not waiting[user]:
                    heapq.heappush(ready, (-rank[user], user))
        return order

    def _backwards(self) -> list[int]:
        waiting = [len(item.users) for item in self.items]
        stack = [i for i, n in enumerate(waiting) if not n]
        order = []
        while stack:
            i = stack.pop()
            order.append(i)
            for source, _, _ in self.items[i].inputs:
                waiting[source] -= 1
                if not waiting[source]:
                    stack.append(source)
        return order

    def choose(self, improve: bool = True) -> list[DeviceInfo]:
        """A device for every group."""
        chosen = [allowed[0] if len(allowed) == 1 else -1 for allowed in self.choices]
        free = [g for g, device in enumerate(chosen) if device < 0]
        if free:
            span = self.run(chosen)
            if improve and len(self.items) * len(free) <= _VISITS:
                candidates = [chosen, *self._together(chosen, free)]
                chosen = min(candidates, key=lambda c: self.run(list(c)))
                self._improve(chosen, free, min(span, self.run(list(chosen))))
        return [self.devices[d] for d in chosen]

    def span(self, chosen: Sequence[DeviceInfo]) -> float:
        """The time of a simulated step, in microseconds."""
        number = {d.name: i for i, d in enumerate(self.devices)}
        return self.run([number[d.name] for d in chosen])

    def run(self, chosen: list[int]) -> float:
        """Simulates a step; groups without a device (-1) get the one they would finish on first."""
        free_at = [0.0] * len(self.devices)
        done = [0.0] * len(self.items)
        arrived: dict[tuple[int, int, int], float] = {}
        for i in self.order:
            item = self.items[i]
            device = chosen[item.group]
            if device < 0:
                device = chosen[item.group] = self._best(item, chosen, free_at, done, arrived)
            start = self._arrival(item, device, chosen, done, arrived)
            processor = self.processor[device]
            begin = max(start, free_at[processor])
            done[i] = begin + item.times[device]
            if item.times[device]:
                free_at[processor] = done[i]
        return max(done, default=0.0)

    def _best(
        self,
        item: _Item,
        chosen: list[int],
        free_at: list[float],
        done: list[float],
        arrived: dict[tuple[int, int, int], float],
    ) -> int:
        work = self.work[item.group]

        def finish(device: int) -> float:
            start = self._arrival(item, device, chosen, done, arrived)
            return max(start, free_at[self.processor[device]]) + work[device]

        return min(self.choices[item.group], key=finish)

    def _arrival(
        self,
        item: _Item,
        device: int,
        chosen: list[int],
        done: list[float],
        arrived: dict[tuple[int, int, int], float],
    ) -> float:
        """The time when a node's inputs are on a device; a tensor travels to each device once."""
        latest = 0.0
        for source, output, size in item.inputs:
            home = chosen[self.items[source].group]
            at = done[source]
            if home != device and size:
                key = source, output, device
                if key not in arrived:
                    arrived[key] = at + self.links[home][device].time(size)
                at = arrived[key]
            if at > latest:
                latest = at
        return latest

    def _together(self, chosen: list[int], free: list[int]) -> list[list[int]]:
        """Everything that has a choice on one device, for each device."""
        moving = set(free)
        return [
            [device if g in moving else d for g, d in enumerate(chosen)]
            for device in range(len(self.devices))
            if all(device in self.choices[g] for g in free)
        ]

    def _improve(self, chosen: list[int], free: list[int], span: float) -> None:
        """Moves single groups, then pairs of neighbours, as long as the step gets shorter."""
        stop = time.monotonic() + _SECONDS
        visits = 0
        pairs = [(g,) for g in free] + self._neighbours(set(free))
        better = True
        while better:
            better = False
            for movers in pairs:
                for device in _common(self.choices, movers):
                    if visits > _VISITS or time.monotonic() > stop:
                        return
                    trial = list(chosen)
                    for group in movers:
                        trial[group] = device
                    if trial == chosen:
                        continue
                    visits += len(self.items)
                    length = self.run(trial)
                    if length < span * (1 - 1e-9):
                        span, better = length, True
                        chosen[:] = trial

    def _neighbours(self, free: set[int]) -> list[tuple[int, ...]]:
        found: dict[tuple[int, ...], None] = {}
        for item in self.items:
            for source, _, _ in item.inputs:
                pair = tuple(sorted({item.group, self.items[source].group}))
                if len(pair) == 2 and free.issuperset(pair):
                    found[pair] = None
        return list(found)


def _common(choices: list[list[int]], groups: tuple[int, ...]) -> list[int]:
    shared = functools.reduce(lambda a, b: a & b, (set(choices[g]) for g in groups))
    return [d for d in choices[groups[0]] if d in shared]


def _sent(edge: Edge, costs: CostModel) -> float:
    """Bytes that crossing devices would move; constants and feeds are had anywhere."""
    if edge[0].definition.is_given and not edge[0].controls:
        return 0.0
    return max(1.0, costs.size(edge))


def simulated_time(nodes: Sequence[Node], devices: DeviceSet, costs: CostModel) -> float:
    """Microseconds that a step would take where its nodes are placed now."""
    by_name = {device.name: device for device in devices}
    choices = [[by_name[node.device]] for node in nodes]
    simulation = Simulation(nodes, range(len(nodes)), choices, devices, costs)
    return simulation.run([allowed[0] for allowed in simulation.choices])
