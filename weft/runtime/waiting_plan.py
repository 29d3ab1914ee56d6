"""A plan with operations that may wait.

Its units run in order as long as none has to; from there on it is up to the executor, or to whoever
is given the promise of the results.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

from weft.core.deferred import Deferred
from weft.core.errors import raise_from
from weft.passes.client_graph import Node
from weft.runtime.continuation import NO_ENDS, Finish, StepEnds, promised
from weft.runtime.executor import Executor
from weft.runtime.host.codegen_wait import WaitingStep, waiting_step
from weft.runtime.host.interpret import located
from weft.runtime.limits import among
from weft.runtime.plan import WARM, Plan
from weft.runtime.task_graphs import node_runner
from weft.runtime.tasks import Task, TaskGraph

_ATTEMPTS = 8
# A step of so few units is run in order, as long as nothing has to wait.
_FEW = 256


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

    def run(self, feeds: Sequence[Any], ends: StepEnds = NO_ENDS) -> list[Any]:
        self._follow_store()
        with among(ends.running) if self.has_loops else nullcontext():
            if ends.only_running() and len(self.units) <= _FEW:
                values = self._run_in_order(feeds, ends)
            else:
                values = self._executor(feeds, ends).run()
        return self.results(values)

    def _executor(self, feeds: Sequence[Any], ends: StepEnds) -> Executor:
        tasks = self.tasks if ends.observe is None else self._tasks_by_node()
        return ends.executor(tasks, list(zip(self.feed_slots, feeds, strict=True)))

    def _follow_store(self) -> None:
        """Resolves handles again when something was removed from the store."""
        if self.generation != self.store.generation:
            self._settle()

    def _run_in_order(self, feeds: Sequence[Any], ends: StepEnds) -> list[Any]:
        """Runs unit after unit. From the first that must wait on, it is up to the executor."""
        if ends.running is not None:
            ends.running.check()
        values = self.begin(feeds)
        stop = self.advance(values)
        if stop is None:
            return values
        return ends.executor(self.tasks, []).run((values, *stop))

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
        executor = self._executor(feeds, ends)
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
            raise_from(error if task.node is None else located(error, task.node), error)

    def _straighten(self) -> None:
        """After some runs that had nothing to wait for, makes one function of the units."""
        self.runs += 1
        if self.runs >= WARM and self.attempts < _ATTEMPTS:
            self.runs, self.attempts = 0, self.attempts + 1
            self.line = waiting_step(self)


def _sources(node: Node) -> list[Node]:
    return [source for source, _ in node.inputs] + node.controls
