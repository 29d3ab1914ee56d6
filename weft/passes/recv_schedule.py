"""Receives that come just in time: control edges that hold a large tensor back until it is needed.

A receive has no inputs, so all of a partition's would start at once and their tensors lie about
until they are used. As-soon-as-possible times of the nodes tell when a tensor is first needed;
the receive then waits for the last node, among those that its user needs anyway, which is done
early enough for the tensor to travel meanwhile.
"""

from __future__ import annotations

from typing import Any

from weft.core.walk import reached
from weft.passes.client_graph import ClientGraph, Edge, Node, needed
from weft.passes.devices import SAME_HOST, DeviceInfo, Link, describe
from weft.passes.partition import by_readiness
from weft.passes.place.cost import CostModel

LARGE = 1 << 20  # bytes: smaller tensors come when they come


def hold_back(
    graph: ClientGraph,
    device: DeviceInfo | None = None,
    link: Link = SAME_HOST,
    costs: CostModel | None = None,
    large: float = LARGE,
) -> int:
    """Adds the control edges to a partition, in place; returns how many."""
    costs = costs or CostModel()
    receives = [n for n in graph.nodes if _is_large_receive(n, costs, large)]
    if not receives:
        return 0
    host = device or describe("/device:CPU:0")
    done = finish_times(graph, host, costs)
    hops, awaited = _hops(graph), _awaited(graph)
    users = _users(graph)
    added = 0
    for receive in receives:
        first, start = _first_use(receive, users, done)
        latest = start - link.time(costs.size((receive, 0)))
        after = reached([receive], users.__getitem__)
        before = [
            n
            for n in needed([first])
            if n not in after
            and n.definition.transfer is None
            and hops[n] <= receive.attrs.get("_hop", 0)
            and awaited[n] <= {0, receive.attrs.get("_after", 0)}
            and 0.0 < done[n] <= latest
        ]
        if before:
            receive.controls = [*receive.controls, max(before, key=lambda n: done[n])]
            added += 1
    if added:
        graph.nodes = by_readiness(graph.nodes)
    return added


def finish_times(graph: ClientGraph, device: DeviceInfo, costs: CostModel) -> dict[Node, float]:
    """The earliest time when each node is done, with every tensor there from the start."""
    done: dict[Node, float] = {}
    for node in graph.nodes:
        start = max((done.get(n, 0.0) for n in node.sources), default=0.0)
        free = node.definition.transfer is not None or node.definition.is_given
        done[node] = start + (0.0 if free else costs.time(node, device))
    return done


def peak_bytes(graph: ClientGraph, costs: CostModel | None = None) -> float:
    """The most that tensors of a partition take at once, if each comes as soon as it may."""
    costs = costs or CostModel()
    last: dict[Edge, int] = {}
    order = _eager(graph.nodes)
    for i, node in enumerate(order):
        for edge in node.inputs:
            last[edge] = i
    live = peak = 0.0
    size: dict[Edge, float] = {}
    for i, node in enumerate(order):
        for k in range(len(node.dtypes)):
            edge = node, k
            if edge in last and not node.definition.is_given:
                size[edge] = costs.size(edge)
                live += size[edge]
        peak = max(peak, live)
        for edge in dict.fromkeys(node.inputs):
            if last[edge] == i:
                live -= size.get(edge, 0.0)
    return peak


def _eager(nodes: list[Node]) -> list[Node]:
    """An order in which receives come as soon as their control edges let them."""
    order: list[Node] = []
    placed: set[Node] = set()
    held = [n for n in nodes if n.definition.transfer == "recv"]
    for node in [n for n in nodes if n.definition.transfer != "recv"]:
        ready = [r for r in held if all(c in placed for c in r.controls)]
        order += ready
        placed.update(ready)
        held = [r for r in held if r not in placed]
        order.append(node)
        placed.add(node)
    return order + held


def _is_large_receive(node: Node, costs: CostModel, large: float) -> bool:
    if node.definition.transfer != "recv" or node.controls or "_may_be_dead" in node.attrs:
        return False
    return costs.size((node, 0)) >= large


def _first_use(
    receive: Node, users: dict[Node, list[Node]], done: dict[Node, float]
) -> tuple[Node, float]:
    """The user that could start first if the tensor were there, and when that is."""

    def start(user: Node) -> float:
        return max((done[n] for n in user.sources if n is not receive), default=0.0)

    first = min(users[receive], key=start)
    return first, start(first)


def _users(graph: ClientGraph) -> dict[Node, list[Node]]:
    users: dict[Node, list[Node]] = {n: [] for n in graph.nodes}
    for node in graph.nodes:
        for source in node.sources:
            users[source].append(node)
    return users


def _hops(graph: ClientGraph) -> dict[Node, int]:
    """The farthest receive that each node hangs on."""
    hops: dict[Node, int] = {}
    for node in graph.nodes:
        own = node.attrs.get("_hop", 0) if node.definition.transfer == "recv" else 0
        hops[node] = max([own, *(hops.get(n, 0) for n in node.sources)])
    return hops


def _awaited(graph: ClientGraph) -> dict[Node, set[Any]]:
    """The waits that each node depends on: nodes here, and the numbers of nodes elsewhere."""
    awaited: dict[Node, set[Any]] = {}
    for node in graph.nodes:
        own: set[Any] = {node} if node.definition.blocking else set()
        if node.definition.transfer is not None:
            own = {node.attrs.get("_after", 0)}
        awaited[node] = own.union(*(awaited.get(n, set()) for n in node.sources))
    return awaited
