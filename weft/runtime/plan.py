"""The graph of a step -> flat lists that a run only has to walk through.

Everything that depends on the graph alone (slots, kernels, who reads what last) is worked out here,
once. Handles and constants are settled: their slots are filled in the template of every run.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from weft.core import errors
from weft.core.deferred import Deferred
from weft.graph.kernel_call import bind
from weft.passes.beforehand import index_arithmetic
from weft.passes.cells import is_cell
from weft.passes.client_graph import ClientGraph, Edge, Node
from weft.passes.pieces import pieces
from weft.passes.pipeline import has_frames
from weft.passes.references import is_reference
from weft.passes.regions import group
from weft.passes.structured_nodes import has_loops, nodes_inside
from weft.passes.units import Layout, Unit
from weft.runtime.call_site import DirectStep
from weft.runtime.compile import translate
from weft.runtime.executor import Executor
from weft.runtime.frames import DEAD
from weft.runtime.interpret import (
    Context,
    HostNode,
    Observer,
    is_numeric,
    located,
    run_nodes,
    run_nodes_observed,
)
from weft.runtime.promised import NO_ENDS, Finish, StepEnds, promised
from weft.runtime.region import Region
from weft.runtime.rendezvous import Rendezvous
from weft.runtime.resources import ResourceStore
from weft.runtime.running import RunningSteps, among
from weft.runtime.straight import Step, straight_line
from weft.runtime.straight_wait import WaitingStep, waiting_step
from weft.runtime.task_graphs import node_runner, node_tasks, unit_tasks
from weft.runtime.tasks import Task, TaskGraph

_WARM = 3
_ATTEMPTS = 8
# A step of so few units is run in order, as long as nothing has to wait.
_FEW = 256


class HostUnit:
    """A run of host nodes: interpreted at first, a generated function when it keeps coming back."""

    def __init__(self, nodes: list[HostNode], store: ResourceStore) -> None:
        self.nodes, self.store = nodes, store
        self.runs = 0
        self.step: Step | None = None
        self.cannot_compile = None

    def is_tiny(self) -> bool:
        return True

    def run(self, values: list[Any]) -> None:
        if self.step is not None:
            self.step(values)
            return
        run_nodes(self.nodes, values, self.store)
        self.runs += 1
        if self.runs == _WARM:
            wanted = [i for item in self.nodes for i in item.outs]
            self.step = straight_line(self.nodes, wanted, self.store, hold_lock=False)


class Plan:
    """One (feeds, fetches, targets) signature of a session, ready to run any number of times.

    `in_order`: its units always run one after another.
    """

    in_order = True

    def __init__(self, graph: ClientGraph, store: ResourceStore, nested: bool = False) -> None:
        self.graph, self.store, self.nested = graph, store, nested
        self.on_host: frozenset[Node] = index_arithmetic(graph)
        self.layout: Layout = self._group()
        self.slots: dict[Edge, int] = {}
        for node in graph.nodes:
            for i in range(len(node.dtypes)):
                self.slots[node, i] = len(self.slots)
        self.feed_slots = tuple(self.slots[edge] for edge in graph.feeds)
        self.fetch_slots = tuple(self.slots[edge] for edge in graph.fetches)
        self.generation = -1
        self.nodes = self._host_nodes()
        self._settle()

    def _group(self) -> Layout:
        return group(self.graph, self.on_host)

    def store_of(self, node: Node) -> ResourceStore:
        """Where the resources of a node are."""
        return self.store

    def _host_nodes(self) -> dict[Node, HostNode]:
        """Every node as the interpreter runs it, in the order of the units."""
        home = {n: u for u in self.layout.units for n in u.nodes}
        nodes = [n for unit in self.layout.units for n in unit.nodes]
        made = {n: HostNode(n, self.slots, self.store_of(n)) for n in nodes}
        for node, item in made.items():
            item.set_converts(
                tuple(i for i, edge in enumerate(node.inputs) if self._on_device(edge, node, home))
            )
        self._set_frees(made)
        return made

    def _on_device(self, edge: Edge, user: Node, home: dict[Node, Unit]) -> bool:
        """Whether an edge may bring a host node a value that lies on a device."""
        source, i = edge
        if is_cell(edge) or not is_numeric(source.dtypes[i]):
            return False
        if source.type == "_Arg":
            return self.nested  # users feed NumPy; a loop feeds what its last iteration made
        if source.type in ("_While", "_If") or source.definition.transfer is not None:
            return True
        return source in home and home[source].is_region and home[source] is not home[user]

    def _set_frees(self, made: dict[Node, HostNode]) -> None:
        kept = set(self.graph.fetches)
        if not self.in_order:
            kept |= {e for u in self.layout.units for e in [*u.inputs, *u.outputs]}
            alone = {n for u in self.layout.units if not u.is_region for n in u.nodes}
            kept |= {e for n in made for e in n.inputs if n in alone or e[0] in alone}
        last: dict[Edge, HostNode] = {}
        for node, item in made.items():
            for edge in node.inputs:
                if edge[0] in made:
                    last[edge] = item
        frees: dict[HostNode, list[int]] = {}
        for edge, item in last.items():
            if edge not in kept:
                frees.setdefault(item, []).append(self.slots[edge])
        for item, slots in frees.items():
            item.frees = tuple(slots)

    def _settle(self) -> None:
        """Resolves handles in the store; again whenever something was removed from it."""
        self.generation = self.store.generation
        self.template: list[Any] = [None] * len(self.slots)
        cells: dict[Edge, Any] = {}
        for node in self.layout.handles:
            try:
                call = bind(node.definition, node.attrs)
                cell = call(np, (), Context(self.store_of(node), node))[0]
            except Exception as error:
                raise located(error, node) from error
            cells[node, 0] = cell
            if (node, 0) in self.slots:  # those inside loops have no slot of their own
                self.template[self.slots[node, 0]] = cell
        for node in self.layout.constants:
            self.template[self.slots[node, 0]] = node.attrs["value"]
        for edge, root in self.layout.roots.items():
            # What hands a reference on gives the cell it was given.
            self.template[self.slots[edge]] = cells[root]
        self.units = [self._unit(unit, cells) for unit in self.layout.units]
        self.direct: DirectStep | None = None
        self.by_node: TaskGraph | None = None
        self.whole = self._whole()
        self.has_loops = has_loops(self.nodes)

    def _whole(self) -> Region | None:
        """The region that is all there is to a step, if it is one."""
        unit = self.units[0] if len(self.units) == 1 else None
        if isinstance(unit, Region) and unit.can_be_direct(self.feed_slots, self.fetch_slots):
            return unit
        return None

    def _unit(self, unit: Unit, cells: dict[Edge, Any]) -> HostUnit | Region:
        nodes = [self.nodes[node] for node in unit.nodes]
        if not unit.is_region:
            return HostUnit(nodes, self.store)
        return Region(unit, self.slots, nodes, cells, self.store)

    def run(
        self,
        feeds: Sequence[Any],
        deadline: float | None = None,
        running: RunningSteps | None = None,
        rendezvous: Rendezvous | None = None,
    ) -> list[Any]:
        """Runs one step. Returns the values of the fetches as they are, on host or device.

        A step that waits ends at `deadline` (by time.monotonic), or when `running` is closed.
        """
        direct = self.direct
        if direct is not None:
            try:
                results = direct(feeds)
            except Exception as error:
                raise translate(error) from error
            if results is not None:
                return results
        values = self._start(feeds)
        if self.has_loops:
            with among(running):
                self._run_units(values)
        else:
            for unit in self.units:
                unit.run(values)
        if self.whole is not None and self.whole.has_program:
            self.direct = self.whole.direct(values, self.feed_slots, self.fetch_slots)
        return [values[i] for i in self.fetch_slots]

    def _run_units(self, values: list[Any]) -> None:
        for unit in self.units:
            unit.run(values)

    def start(self, feeds: Sequence[Any], finish: Finish, ends: StepEnds = NO_ENDS) -> Any:
        """What `finish` makes of the fetches of a step, or a promise of it: nobody waits."""
        if ends.observe is not None:
            return finish(self.run_observed(feeds, ends.observe))
        return finish(self.run(feeds, None, ends.running))

    @property
    def graphs(self) -> list[ClientGraph]:
        return [self.graph]

    def is_tiny(self) -> bool:
        """Whether everything seen so far ran faster on the host than XLA could be called."""
        return all(unit.is_tiny() for unit in self.units)

    def run_observed(
        self,
        feeds: Sequence[Any],
        observe: Observer,
        deadline: float | None = None,
        running: RunningSteps | None = None,
        rendezvous: Rendezvous | None = None,
    ) -> list[Any]:
        """Runs one step node by node, showing each to `observe`."""
        values = self._start(feeds)
        self._show_constants(observe)
        run_nodes_observed(list(self.nodes.values()), values, self.store, observe)
        return [values[i] for i in self.fetch_slots]

    def _show_constants(self, observe: Observer) -> None:
        """Constants are there before a step begins, but are a part of it."""
        now = time.perf_counter()
        for node in self.layout.constants:
            observe(node, [], [node.attrs["value"]], now, now)

    def _tasks_by_node(self) -> TaskGraph:
        """One task per node, for those who want to see each."""
        if self.by_node is None:
            layout = self.layout
            settled = {*layout.handles, *layout.constants, *(n for n, _ in self.graph.feeds)}
            args = self.graph, self.nodes, self.slots, settled, self.template, self.store
            self.by_node = node_tasks(*args)
        return self.by_node

    def _regroup(self) -> None:
        """Takes what could not be compiled out of its region, so that the rest can be."""
        with self.store.lock:
            failed = {u.cannot_compile.node for u in self.units if u.cannot_compile is not None}
            inner = {n: outer for outer in self.graph.nodes for n in nodes_inside(outer)}
            self.on_host |= {inner.get(node, node) for node in failed}
            self.layout = self._group()
            self.nodes = self._host_nodes()
            self._settle()

    def _start(self, feeds: Sequence[Any]) -> list[Any]:
        if self.generation != self.store.generation:
            with self.store.lock:
                self._settle()
        for unit in self.units:
            if unit.cannot_compile is not None:
                self._regroup()
                break
        values = self.template.copy()
        for slot, value in zip(self.feed_slots, feeds, strict=True):
            values[slot] = value
        return values


class WaitingPlan(Plan):
    """A plan with operations that may wait: its units run as their inputs become ready."""

    in_order = False
    # How often the units ran to the end in order, and the function made of them.
    runs, attempts = 0, 0
    line: WaitingStep | None = None

    def _settle(self) -> None:
        super()._settle()
        self.runs, self.attempts, self.line = 0, 0, None
        home = {n: i for i, unit in enumerate(self.layout.units) for n in unit.nodes}
        tasks = []
        for i, (layout, unit) in enumerate(zip(self.layout.units, self.units, strict=True)):
            node = None if layout.is_region else layout.nodes[0]
            task = Task(i, "plain", node, node.name if node is not None else f"region {i}")
            if node is not None:
                item = self.nodes[node]
                task.run, task.out_slots = node_runner(item, self.store), item.outs
                task.outs, task.in_slots = [[] for _ in item.outs], item.ins
                if task.kind == "recv":
                    task.arrive = self.store.take_over
            else:
                task.run = unit.run
            tasks.append(task)
        for i, layout in enumerate(self.layout.units):
            sources = {home[s] for n in layout.nodes for s in _sources(n) if s in home} - {i}
            for source in sorted(sources):
                tasks[source].control_outs.append(tasks[i])
        self.tasks = TaskGraph(tasks, self.template)
        self.tasks.release(self._reads(), set(self.fetch_slots))

    def _reads(self) -> list[set[int]]:
        """The slots that each unit reads of others: what nobody reads any more is let go."""
        reads = []
        for unit in self.layout.units:
            mine = set(unit.nodes)
            edges = {e for n in unit.nodes for e in n.inputs if e[0] not in mine}
            reads.append({self.slots[e] for e in edges if self.template[self.slots[e]] is None})
        return reads

    def run(
        self,
        feeds: Sequence[Any],
        deadline: float | None = None,
        running: RunningSteps | None = None,
        rendezvous: Rendezvous | None = None,
    ) -> list[Any]:
        self._follow_store()
        with among(running) if self.has_loops else nullcontext():
            if deadline is None and rendezvous is None and len(self.units) <= _FEW:
                values = self._run_in_order(feeds, running)
            else:
                given = list(zip(self.feed_slots, feeds, strict=True))
                values = Executor(self.tasks, given, deadline, running, None, rendezvous).run()
        return [values[i] for i in self.fetch_slots]

    def _follow_store(self) -> None:
        """Resolves handles again when something was removed from the store."""
        if self.generation != self.store.generation:
            self._settle()

    def _run_in_order(self, feeds: Sequence[Any], running: RunningSteps | None) -> list[Any]:
        """Runs unit after unit. From the first that must wait on, it is up to the executor."""
        if running is not None:
            running.check()
        values = self.begin(feeds)
        stop = self.advance(values)
        if stop is None:
            return values
        return Executor(self.tasks, [], None, running).run((values, *stop))

    def start(self, feeds: Sequence[Any], finish: Finish, ends: StepEnds = NO_ENDS) -> Any:
        self._follow_store()
        if ends is NO_ENDS or (ends.only_running() and len(self.units) <= _FEW):
            if ends.running is not None:
                ends.running.check()
            values = self.begin(feeds)
            stop = self.advance(values)
            if stop is None:
                return finish(self.results(values))
            return self.start_at(values, *stop, finish, ends)
        tasks = self.tasks if ends.observe is None else self._tasks_by_node()
        executor = ends.executor(tasks, list(zip(self.feed_slots, feeds, strict=True)))
        return promised(executor, lambda values: finish(self.results(values)))

    def start_at(
        self,
        values: list[Any],
        unit: int,
        promise: Deferred | None,
        finish: Finish,
        ends: StepEnds = NO_ENDS,
    ) -> Any:
        """The same, of a run that has come up to a unit, or up to what that waits for."""
        executor = ends.executor(self.tasks, [])
        at = values, unit, promise
        return promised(executor, lambda slots: finish(self.results(slots)), at)

    def begin(self, feeds: Sequence[Any]) -> list[Any]:
        """The slots of a run."""
        values = self.template.copy()
        for slot, value in zip(self.feed_slots, feeds, strict=True):
            values[slot] = value
        return values

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
        for i in range(first, len(self.tasks.tasks)):
            deferred = self.run_unit(i, values)
            if deferred is not None:
                return i, deferred
        self._straighten()
        return None

    def fill(self, values: list[Any], i: int, outputs: Sequence[Any]) -> None:
        """Puts what unit `i` waited for into the slots."""
        for slot, value in zip(self.tasks.tasks[i].out_slots, outputs, strict=True):
            values[slot] = value

    def results(self, values: list[Any]) -> list[Any]:
        return [values[i] for i in self.fetch_slots]

    def run_unit(self, i: int, values: list[Any]) -> Deferred | None:
        task = self.tasks.tasks[i]
        try:
            return task.run(values)
        except Exception as error:
            raise (error if task.node is None else located(error, task.node)) from error

    def _straighten(self) -> None:
        """After some runs that had nothing to wait for, makes one function of the units."""
        self.runs += 1
        if self.runs >= _WARM and self.attempts < _ATTEMPTS:
            self.runs, self.attempts = 0, self.attempts + 1
            self.line = waiting_step(self)

    def run_observed(
        self,
        feeds: Sequence[Any],
        observe: Observer,
        deadline: float | None = None,
        running: RunningSteps | None = None,
        rendezvous: Rendezvous | None = None,
    ) -> list[Any]:
        self._follow_store()
        given = list(zip(self.feed_slots, feeds, strict=True))
        tasks = self._tasks_by_node()
        values = Executor(tasks, given, deadline, running, observe, rendezvous).run()
        return [values[i] for i in self.fetch_slots]


def _sources(node: Node) -> list[Node]:
    return [source for source, _ in node.inputs] + node.controls


class DataflowPlan(Plan):
    """A plan whose loops and branches have no structure: the executor runs them piece by piece."""

    in_order = False

    def _group(self) -> Layout:
        return pieces(self.graph, self.on_host)

    def _on_device(self, edge: Edge, user: Node, home: dict[Node, Unit]) -> bool:
        """Whether an edge may bring a host node a value that lies on a device, by detours even."""
        source, i = edge
        if is_cell(edge) or not is_numeric(source.dtypes[i]) or home.get(source) is home[user]:
            return False
        if is_reference(edge):
            return False  # what it names is read on the host
        if source.definition.control_flow is not None:
            return True
        return super()._on_device(edge, user, home)

    def _settle(self) -> None:
        super()._settle()
        units = list(zip(self.layout.units, self.units, strict=True))
        self.tasks = unit_tasks(self.graph, units, self.nodes, self.slots, self.template)

    def is_tiny(self) -> bool:
        return False

    def run(
        self,
        feeds: Sequence[Any],
        deadline: float | None = None,
        running: RunningSteps | None = None,
        rendezvous: Rendezvous | None = None,
    ) -> list[Any]:
        return self._run(feeds, None, deadline, running, rendezvous)

    def run_observed(
        self,
        feeds: Sequence[Any],
        observe: Observer,
        deadline: float | None = None,
        running: RunningSteps | None = None,
        rendezvous: Rendezvous | None = None,
    ) -> list[Any]:
        return self._run(feeds, observe, deadline, running, rendezvous)

    def _run(
        self, feeds: Sequence[Any], observe: Observer | None, deadline: float | None,
        running: RunningSteps | None, rendezvous: Rendezvous | None,
    ) -> list[Any]:  # fmt: skip
        tasks = self._tasks_for(observe)
        given = list(zip(self.feed_slots, feeds, strict=True))
        return self.results(Executor(tasks, given, deadline, running, observe, rendezvous).run())

    def start(self, feeds: Sequence[Any], finish: Finish, ends: StepEnds = NO_ENDS) -> Any:
        tasks = self._tasks_for(ends.observe)
        executor = ends.executor(tasks, list(zip(self.feed_slots, feeds, strict=True)))
        return promised(executor, lambda values: finish(self.results(values)))

    def _tasks_for(self, observe: Observer | None) -> TaskGraph:
        if self.generation != self.store.generation:
            with self.store.lock:
                self._settle()
        if any(unit.cannot_compile for unit in self.units):
            self._regroup()
        if observe is None:
            return self.tasks
        self._show_constants(observe)
        return self._tasks_by_node()

    def results(self, values: list[Any]) -> list[Any]:
        results = [values[slot] for slot in self.fetch_slots]
        for edge, value in zip(self.graph.fetches, results, strict=True):
            if value is DEAD:
                raise errors.InvalidArgumentError(
                    None, None, f"Retval[0] does not have value: {edge[0].name} was not computed"
                )
        return results


def make_plan(
    graph: ClientGraph, store: ResourceStore, nested: bool = False, may_wait: bool = False
) -> Plan:
    """`may_wait`: whether it is run as one that may have to wait in any case."""
    if has_frames(graph) or any("_may_be_dead" in n.attrs for n in graph.nodes):
        return DataflowPlan(graph, store, nested)
    waits = may_wait or any(n.definition.blocking for n in graph.nodes)
    return (WaitingPlan if waits else Plan)(graph, store, nested)
