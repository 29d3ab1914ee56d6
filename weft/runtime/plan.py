"""The graph of a step -> flat lists that a run only has to walk through.

Everything that depends on the graph alone (slots, kernels, who reads what last) is worked out here,
once. Handles and constants are settled: their slots are filled in the template of every run.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.core.errors import raise_from
from weft.graph.kernel_call import bind
from weft.passes.client_graph import ClientGraph, Edge, Node
from weft.passes.control_flow.structured_nodes import has_loops, nodes_inside
from weft.passes.regions.group import group
from weft.passes.regions.host_indexing import index_arithmetic
from weft.passes.regions.units import Layout, Unit
from weft.passes.resource_edges import is_cell
from weft.runtime.continuation import NO_ENDS, Finish, StepEnds
from weft.runtime.host.codegen import Step, straight_line
from weft.runtime.host.interpret import (
    Context,
    HostNode,
    Observer,
    is_numeric,
    located,
    run_nodes,
    run_nodes_observed,
)
from weft.runtime.host.program_call import DirectStep
from weft.runtime.limits import among
from weft.runtime.resources import ResourceStore
from weft.runtime.task_graphs import node_tasks
from weft.runtime.tasks import TaskGraph
from weft.runtime.xla.compile import translate
from weft.runtime.xla.region import Region

WARM = 3  # runs after which a function is made of what keeps coming back


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
        if self.runs == WARM:
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
                raise_from(located(error, node), error)
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

    def run(self, feeds: Sequence[Any], ends: StepEnds = NO_ENDS) -> list[Any]:
        """Runs one step. Returns the values of the fetches as they are, on host or device."""
        if ends.observe is not None:
            return self._run_observed(feeds, ends.observe)
        direct = self.direct
        if direct is not None:
            try:
                results = direct(feeds)
            except Exception as error:
                raise_from(translate(error), error)
            if results is not None:
                return results
        values = self._start(feeds)
        if self.has_loops:
            with among(ends.running):
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
        return finish(self.run(feeds, ends))

    @property
    def graphs(self) -> list[ClientGraph]:
        return [self.graph]

    def is_tiny(self) -> bool:
        """Whether everything seen so far ran faster on the host than XLA could be called."""
        return all(unit.is_tiny() for unit in self.units)

    def _run_observed(self, feeds: Sequence[Any], observe: Observer) -> list[Any]:
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
