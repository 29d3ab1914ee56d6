"""Graphs whose control flow has no structure -> the tasks that the executor runs them by."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core import errors
from weft.core.deferred import Deferred
from weft.passes.client_graph import ClientGraph, Edge, Node
from weft.runtime.host.interpret import HostNode, run_one
from weft.runtime.tasks import Place, Task, TaskGraph


def node_tasks(
    graph: ClientGraph, items: dict[Node, HostNode], slots: dict[Edge, int], settled: set[Node],
    template: list[Any],
) -> TaskGraph:  # fmt: skip
    """One task per node, so that each can be observed."""
    check_frames(graph, settled)
    tasks: dict[Node, Task] = {}
    for node in graph.nodes:
        if node not in settled:
            tasks[node] = _node_task(len(tasks), node, items, slots)
    settled_merges = []
    for node, task in tasks.items():
        for position, (source, i) in enumerate(node.inputs):
            if source in tasks:
                tasks[source].outs[i].append((task, position))
            elif task.kind == "merge":
                settled_merges.append((task, position))
        for control in node.controls:
            if control in tasks:
                tasks[control].control_outs.append(task)
    return TaskGraph(list(tasks.values()), template, settled_merges)


def _node_task(index: int, node: Node, items: dict[Node, HostNode], slots: dict[Edge, int]) -> Task:
    task = Task(index, node.definition.control_flow or "plain", node, node.name)
    task.in_slots = tuple(slots[edge] for edge in node.inputs)
    task.out_slots = tuple(slots[node, i] for i in range(len(node.dtypes)))
    task.outs = [[] for _ in node.dtypes]
    if task.kind == "plain":
        task.run = node_runner(items[node])
    return task


def node_runner(item: HostNode) -> Callable[[list[Any]], Deferred | None]:
    """Runs one node over the slots of a step; what it waits for, if it waits."""

    def run(values: list[Any]) -> Deferred | None:
        with np.errstate(all="ignore"):
            outputs = run_one(item, [values[i] for i in item.ins])
        if isinstance(outputs, Deferred):
            return outputs
        for slot, value in zip(item.outs, outputs, strict=True):
            values[slot] = value
        return None

    return run


def ordered_tasks(prepared: Any, slots: dict[Edge, int]) -> TaskGraph:
    """One task per unit of a plan without branches or frames; host units are single nodes."""
    units = list(zip(prepared.layout.units, prepared.units, strict=True))
    tasks = [_ordered_task(i, *unit, prepared.nodes) for i, unit in enumerate(units)]
    home = {n: i for i, (layout, _) in enumerate(units) for n in layout.nodes}
    reads = []
    for i, (layout, _) in enumerate(units):
        sources = {home[s] for n in layout.nodes for s in n.sources if s in home} - {i}
        for source in sorted(sources):
            tasks[source].control_outs.append(tasks[i])
        edges = {e for n in layout.nodes for e in n.inputs if home.get(e[0]) != i}
        reads.append({slots[e] for e in edges if prepared.template[slots[e]] is None})
    graph = TaskGraph(tasks, prepared.template)
    graph.release(reads, set(prepared.fetch_slots))
    return graph


def _ordered_task(index: int, layout: Any, unit: Any, items: dict[Node, HostNode]) -> Task:
    if layout.is_region:
        task = Task(index, "plain", None, f"region {index}")
        task.run = unit.run
        return task
    (node,) = layout.nodes
    item, task = items[node], Task(index, "plain", node, node.name)
    task.run, task.in_slots, task.out_slots = node_runner(item), item.ins, item.outs
    task.outs = [[] for _ in item.outs]
    if task.kind == "recv":
        task.arrive = unit.store.take_over
    return task


# ---- one task per unit ---------------------------------------------------------------------------


def unit_tasks(
    graph: ClientGraph, units: list[tuple[Any, Any]], items: dict[Node, HostNode],
    slots: dict[Edge, int], template: list[Any],
) -> TaskGraph:  # fmt: skip
    """One task per unit: those of the layout, each with what runs it."""
    tasks = [_unit_task(i, layout, unit, items) for i, (layout, unit) in enumerate(units)]
    home = {
        node: task for task, (layout, _) in zip(tasks, units, strict=True) for node in layout.nodes
    }
    check_frames(graph, {n for n in graph.nodes if n not in home})
    links = _Links(home, slots, set(graph.fetches))
    for layout, _ in units:
        links.add(layout.nodes)
    for task in tasks:
        task.outs += [[] for _ in task.out_slots[len(task.outs) :]]
    return TaskGraph(tasks, template, links.settled_merges)


def _unit_task(index: int, layout: Any, unit: Any, items: dict[Node, HostNode]) -> Task:
    if layout.is_region or len(layout.nodes) > 1:
        task = Task(index, "plain", None, f"piece {index}")
        task.run = unit.run
        return task
    (node,) = layout.nodes
    task = Task(index, node.definition.control_flow or "plain", node, node.name)
    task.in_slots, task.out_slots = items[node].ins, items[node].outs
    task.run = node_runner(items[node]) if node.definition.blocking else unit.run
    return task


class _Links:
    """The links from each task to those that wait for it."""

    def __init__(self, home: dict[Node, Task], slots: dict[Edge, int], fetched: set[Edge]) -> None:
        self.home, self.slots = home, slots
        self.seen: set[tuple[Any, Task]] = set()
        self.settled_merges: list[Place] = []
        for node, i in fetched:
            if node in home:
                self._out(home[node], slots[node, i])

    def add(self, nodes: list[Node]) -> None:
        task = self.home[nodes[0]]
        for node in nodes:
            for position, edge in enumerate(node.inputs):
                self._data(edge, task, position)
            for control in node.controls:
                source = self.home.get(control)
                if source is not None and source is not task and self._is_new(source, task):
                    source.control_outs.append(task)

    def _data(self, edge: Edge, task: Task, position: int) -> None:
        source = self.home.get(edge[0])
        if source is None:
            if task.kind == "merge":
                self.settled_merges.append((task, position))
        elif source is not task:
            users = self._out(source, self.slots[edge])
            # All that a plain task makes is there, or dead, at once: one word of it will do.
            what = source if source.kind == "plain" and task.kind != "merge" else edge
            if task.kind == "merge" or self._is_new(what, task):
                users.append((task, position))

    def _is_new(self, what: Any, task: Task) -> bool:
        new = (what, task) not in self.seen
        self.seen.add((what, task))
        return new

    @staticmethod
    def _out(source: Task, slot: int) -> list[Place]:
        """The tasks that wait for a slot of a task."""
        if slot not in source.out_slots:
            source.out_slots = (*source.out_slots, slot)
        source.outs += [[] for _ in source.out_slots[len(source.outs) :]]
        return source.outs[source.out_slots.index(slot)]


# ---- loops that are wrong ------------------------------------------------------------------------


def check_frames(graph: ClientGraph, settled: set[Node]) -> None:
    """A node whose inputs come from different loops would never run: that is an error."""
    frame: dict[Node, str] = {}  # where the outputs of a node are; nodes that may be anywhere: none
    outer: dict[str, str] = {}
    for node in graph.nodes:
        known = [n for n in dict.fromkeys(node.sources) if n in frame]
        _check_one_frame(node, known, frame)
        inside = frame[known[0]] if known else None
        kind = node.definition.control_flow
        if kind == "enter":
            frame[node] = node.attrs["frame_name"]
            if inside is not None:
                outer[frame[node]] = inside
        elif kind == "exit" and inside is not None:
            if inside in outer:
                frame[node] = outer[inside]
        elif inside is not None:
            frame[node] = inside
        elif node not in settled:
            frame[node] = ""


def _check_one_frame(node: Node, known: list[Node], frame: dict[Node, str]) -> None:
    for other in known[1:]:
        if frame[other] != frame[known[0]]:
            raise errors.InvalidArgumentError(
                None, node.op,
                f"{node.name} has inputs from different frames. The input {known[0].name} is in"
                f" frame '{frame[known[0]]}'. The input {other.name} is in frame"
                f" '{frame[other]}'.",
            )  # fmt: skip
