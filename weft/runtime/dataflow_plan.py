"""A plan for Switch, Merge and frames as they are: tokens decide what runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.core import errors
from weft.passes.client_graph import Edge, Node
from weft.passes.control_flow.liveness_units import pieces
from weft.passes.ref_reads import is_reference
from weft.passes.regions.units import Layout, Unit
from weft.passes.resource_edges import is_cell
from weft.runtime.continuation import NO_ENDS, Finish, StepEnds, promised
from weft.runtime.executor import Executor
from weft.runtime.frames import DEAD
from weft.runtime.host.interpret import Observer, is_numeric
from weft.runtime.plan import Plan
from weft.runtime.task_graphs import unit_tasks
from weft.runtime.tasks import TaskGraph


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

    def run(self, feeds: Sequence[Any], ends: StepEnds = NO_ENDS) -> list[Any]:
        return self.results(self._executor(feeds, ends).run())

    def start(self, feeds: Sequence[Any], finish: Finish, ends: StepEnds = NO_ENDS) -> Any:
        executor = self._executor(feeds, ends)
        return promised(executor, lambda values: finish(self.results(values)))

    def _executor(self, feeds: Sequence[Any], ends: StepEnds) -> Executor:
        given = list(zip(self.feed_slots, feeds, strict=True))
        return ends.executor(self._tasks_for(ends.observe), given)

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
