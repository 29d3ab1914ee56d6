"""A step over several devices whose replicas are equal: one program, where that can be.

The first step runs as partitions do, and so does one that is observed or has an end set: what is
run once is not worth a program. From then on the step has three stages: what comes before the
program, the program, what comes after.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from weft.core.deferred import Deferred
from weft.core.errors import raise_from
from weft.passes.client_graph import ClientGraph, Node
from weft.passes.partition import partition
from weft.passes.pipeline import Options, finished
from weft.passes.replicas.cut import NotOneProgram
from weft.passes.replicas.step import ReplicatedStep
from weft.runtime.continuation import NO_CONTEXT, Finish, StepContext
from weft.runtime.debug import report
from weft.runtime.partitions import PartitionedPlan
from weft.runtime.plan import Plan
from weft.runtime.resources import ResourceStore
from weft.runtime.threads import ThreadPool
from weft.runtime.xla.compile import translate
from weft.runtime.xla.lower import NotCompilable
from weft.runtime.xla.replicas import ReplicatedProgram, find_span

Run = Callable[[Sequence[Any], StepContext], list[Any]]
# Collectives that a partition cannot do by itself.
_ONLY_IN_PROGRAMS = {"AllToAll", "CollectivePermute", "CrossReplicaSum"}


class ReplicatedPlan:
    """`plain` runs a step as partitions; `prepare()` gives the same step in stages, if it can."""

    def __init__(
        self,
        plain: PartitionedPlan,
        prepare: Callable[[], ReplicatedStep],
        stores: Mapping[str, ResourceStore],
        options: Options,
    ) -> None:
        self.plain, self.prepare, self.stores, self.options = plain, prepare, stores, options
        self.staged: _Staged | None = None
        self.is_decided = False
        self.is_warm = any(_only_in_programs(graph) for graph in plain.graphs)
        self._lock = threading.Lock()

    @property
    def graph(self) -> ClientGraph:
        return self.plain.graph

    @property
    def graphs(self) -> list[ClientGraph]:
        return self.plain.graphs

    def is_tiny(self) -> bool:
        return False

    def run(self, feeds: Sequence[Any], context: StepContext = NO_CONTEXT) -> list[Any]:
        staged = self._staged() if context.only_running() and self.is_warm else None
        if staged is None:
            results = self.plain.run(feeds, context)
            self.is_warm = True
            return results
        return staged.run(feeds, context)

    def start(
        self, feeds: Sequence[Any], finish: Finish, context: StepContext = NO_CONTEXT
    ) -> Deferred:
        """A promise of `finish(fetches)` of a step, which runs as partitions do."""
        return self.plain.start(feeds, finish, context)

    def _staged(self) -> _Staged | None:
        if self.is_decided:
            return self.staged if self.staged is None or self.staged.works else None
        merged = self.plain.merged
        if merged is not None and merged.is_worth_it():
            return None
        with self._lock:
            if not self.is_decided:
                self.staged = self._decide()
                self.is_decided = True
        return self.staged

    def _decide(self) -> _Staged | None:
        with report.timed(2, lambda: "replicas of a step as one program"):
            try:
                step = self.prepare()
                span = find_span(step.devices, self.stores)
                if span is None:
                    raise NotOneProgram("XLA has fewer devices than the session")
                program = ReplicatedProgram(step, self.stores, span)
            except (NotOneProgram, NotCompilable) as error:
                _say(error)
                return None
            return _Staged(step, program, self.stores, self.plain.pool, self.options)


def _only_in_programs(graph: ClientGraph) -> bool:
    return any(node.type in _ONLY_IN_PROGRAMS for node in graph.nodes)


def _say(error: Exception) -> None:
    reason = str(error).partition("\n")[0]
    report.say(3, lambda: f"not one program: {reason}")


class _Staged:
    """The stages of a step. `works` until the program turns out not to compile."""

    def __init__(
        self, step: ReplicatedStep, program: ReplicatedProgram,
        stores: Mapping[str, ResourceStore], pool: ThreadPool, options: Options,
    ) -> None:  # fmt: skip
        self.step, self.program, self.works = step, program, True
        self.stores, self.pool, self.options = stores, pool, options
        self.before, self.after = self._runner(step.before), self._runner(step.after)
        self._separate: Run | None = None

    def run(self, feeds: Sequence[Any], context: StepContext) -> list[Any]:
        values = self.before(feeds, context)
        count = len(self.step.separate.feeds)
        given, through = values[:count], values[count:]
        made = self._made(given)
        if made is None:
            if self._separate is None:
                self._separate = self._runner(self.step.separate)
            made = self._separate(given, context)
        return self.after([*through, *made], context)

    def _made(self, given: Sequence[Any]) -> list[Any] | None:
        if not self.works:
            return None
        try:
            return self.program.run(given)
        except NotCompilable as error:
            self.works = False
            _say(error)
            return None
        except Exception as error:
            raise_from(translate(error), error)

    def _runner(self, graph: ClientGraph) -> Run:
        """A function that runs a stage; one in which nothing is computed only hands on."""
        if all(_is_there(node) for node in graph.nodes) and not graph.targets:
            numbers = {edge: i for i, edge in enumerate(graph.feeds)}

            def hand_on(feeds: Sequence[Any], context: StepContext) -> list[Any]:
                return [
                    feeds[numbers[e]] if e in numbers else e[0].attrs["value"]
                    for e in graph.fetches
                ]

            return hand_on
        parts = finished(partition(graph, self.options.transfers), self.options)
        if len(parts) > 1:
            return PartitionedPlan(parts, self.stores, self.pool).run
        default = next(iter(self.stores.values()))
        return Plan(parts[0].graph, self.stores.get(parts[0].device, default)).run


def _is_there(node: Node) -> bool:
    return node.definition.is_argument or node.definition.is_constant
