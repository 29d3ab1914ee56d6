"""The units of a plan with their handles resolved: what a run walks through.

A `Prepared` is replaced, never changed; what it learns by running (`line`, `by_node`, the programs
of its regions) can be forgotten at any time. `None` in a slot of a run means: not computed yet, or
let go after its last reader, or made only by a branch that was not taken.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from weft.core.deferred import Deferred
from weft.core.errors import raise_from
from weft.graph.kernel_call import bind
from weft.passes.client_graph import Edge, Node
from weft.passes.regions.units import Unit
from weft.runtime.host.codegen import Step, straight_line
from weft.runtime.host.codegen_wait import WaitingStep, waiting_step
from weft.runtime.host.interpret import (
    Context,
    HostNode,
    Observer,
    run_nodes,
    run_nodes_observed,
    with_node,
)
from weft.runtime.resources import ResourceStore
from weft.runtime.task_graphs import node_tasks, ordered_tasks, unit_tasks
from weft.runtime.tasks import TaskGraph
from weft.runtime.xla.region import Region

if TYPE_CHECKING:
    from weft.runtime.plan import Plan

WARM = 3  # runs after which a function is made of what keeps coming back
_ATTEMPTS = 8


class HostUnit:
    """A run of host nodes: interpreted at first, a generated function when it keeps coming back."""

    tiny = True

    def __init__(self, nodes: list[HostNode], store: ResourceStore) -> None:
        self.nodes, self.store = nodes, store
        self.runs = 0
        self.step: Step | None = None

    def run(self, values: list[Any]) -> None:
        if self.step is not None:
            self.step(values)
            return
        run_nodes(self.nodes, values)
        self.runs += 1
        if self.runs == WARM:
            wanted = [i for item in self.nodes for i in item.outs]
            self.step = straight_line(self.nodes, wanted, self.store, hold_lock=False)


class Prepared:
    """`template`: the slots that a run begins with, handles and constants filled in.

    `tasks`: the units as the executor runs them, of a plan that may wait. `whole`: the region that
    is all there is to a step, if it is one. `refuse(node)` is called when a node does not compile.
    """

    def __init__(self, plan: Plan, refuse: Callable[[Node], object]) -> None:
        self.plan, self.graph = plan, plan.graph
        self.store, self.nested = plan.store, plan.nested
        self.layout, self.nodes, self.in_order = plan.layout, plan.nodes, plan.in_order
        self.feed_slots, self.fetch_slots = plan.feed_slots, plan.fetch_slots
        self.generation = plan.store.generation
        self.template: list[Any] = [None] * len(plan.slots)
        self.cells = cells = self._resolve()
        self.units = [self._unit(unit, cells, refuse) for unit in self.layout.units]
        self.whole = self._whole()
        self.by_node: TaskGraph | None = None
        # How often the units ran to the end in order, and the function made of them.
        self.runs, self.attempts = 0, 0
        self.line: WaitingStep | None = None
        if plan.by_tokens:
            units = list(zip(self.layout.units, self.units, strict=True))
            self.tasks = unit_tasks(plan.graph, units, self.nodes, plan.slots, self.template)
        elif not plan.in_order:
            self.tasks = ordered_tasks(self, plan.slots)

    def _resolve(self) -> dict[Edge, Any]:
        """Fills handles and constants in; the objects that handles name."""
        slots, cells = self.plan.slots, dict[Edge, Any]()
        for node in self.layout.handles:
            cell = cells[node, 0] = self._named_by(node)
            if (node, 0) in slots:  # those inside loops have no slot of their own
                self.template[slots[node, 0]] = cell
        for node in self.layout.constants:
            self.template[slots[node, 0]] = node.attrs["value"]
        for edge, root in self.layout.roots.items():
            # What hands a reference on gives the cell it was given.
            self.template[slots[edge]] = cells[root]
        return cells

    def _named_by(self, node: Node) -> Any:
        """The object that a handle names, made if there is none."""
        try:
            call = bind(node.definition, node.attrs)
            return call(np, (), Context(self.plan.store_of(node), node))[0]
        except Exception as error:
            raise_from(with_node(error, node), error)

    def is_up_to_date(self) -> bool:
        """Whether what the store has lost is nothing that this holds."""
        return all(self._named_by(node) is self.cells[node, 0] for node in self.layout.handles)

    def _unit(
        self, unit: Unit, cells: dict[Edge, Any], refuse: Callable[[Node], object]
    ) -> HostUnit | Region:
        nodes = [self.nodes[node] for node in unit.nodes]
        if not unit.is_region:
            return HostUnit(nodes, self.store)
        return Region(unit, self.plan.slots, nodes, cells, self.store, refuse, self.nested)

    def _whole(self) -> Region | None:
        unit = self.units[0] if len(self.units) == 1 else None
        if isinstance(unit, Region) and unit.can_be_direct(self.feed_slots, self.fetch_slots):
            return unit
        return None

    def compiling(self) -> float:
        """Seconds that it took to compile what is compiled."""
        return sum(unit.compiling for unit in self.units if isinstance(unit, Region))

    # ---- in order ----

    def begin(self, feeds: Sequence[Any]) -> list[Any]:
        """The slots of a run."""
        values = self.template.copy()
        for slot, value in zip(self.feed_slots, feeds, strict=True):
            values[slot] = value
        return values

    def run(self, values: list[Any]) -> None:
        """Runs all units, none of which waits."""
        for unit in self.units:
            unit.run(values)

    def advance(self, values: list[Any], first: int = 0) -> tuple[int, Deferred] | None:
        """Runs the units from `first` on, up to one that must wait: that, and what it waits for."""
        deferred: Deferred | None
        if first == 0 and self.line is not None:
            stop = self.line(values)
            if stop is None:
                return None
            first, deferred = stop
            if deferred is not None:
                return first, deferred
            self.line = None  # it was made for less than what comes now
        for i in range(first, len(self.units)):
            deferred = self.run_unit(i, values)
            if deferred is not None:
                return i, deferred
        self._straighten()
        return None

    def run_unit(self, i: int, values: list[Any]) -> Deferred | None:
        task = self.tasks.tasks[i]
        try:
            return task.run(values)
        except Exception as error:
            raise_from(error if task.node is None else with_node(error, task.node), error)

    def _straighten(self) -> None:
        """After some runs that had nothing to wait for, makes one function of the units."""
        self.runs += 1
        if self.runs >= WARM and self.attempts < _ATTEMPTS:
            self.runs, self.attempts = 0, self.attempts + 1
            self.line = waiting_step(self)

    # ---- observed ----

    def run_observed(self, feeds: Sequence[Any], observe: Observer) -> list[Any]:
        """Runs a step in order node by node, showing each; the slots."""
        values = self.begin(feeds)
        self._show_constants(observe)
        run_nodes_observed(list(self.nodes.values()), values, observe)
        return values

    def tasks_for(self, observe: Observer | None) -> TaskGraph:
        """The tasks of a step; one per node if each is to be shown."""
        if observe is None:
            return self.tasks
        self._show_constants(observe)
        if self.by_node is None:
            layout, graph = self.layout, self.graph
            settled = {*layout.handles, *layout.constants, *(n for n, _ in graph.feeds)}
            args = graph, self.nodes, self.plan.slots, settled, self.template
            self.by_node = node_tasks(*args)
        return self.by_node

    def _show_constants(self, observe: Observer) -> None:
        """Constants and handles are there before a step begins, but are a part of it."""
        now = time.perf_counter()
        slots = self.plan.slots
        for node in self.layout.handles:
            if (node, 0) in slots:
                observe(node, [], [self.template[slots[node, 0]]], now, now)
        for node in self.layout.constants:
            observe(node, [], [node.attrs["value"]], now, now)
