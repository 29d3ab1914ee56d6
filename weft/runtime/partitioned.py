"""A step over several devices: one plan per partition, each on a thread, joined by a rendezvous.

The first error ends the step on every device, and nothing is left waiting. A step of which every
part is tiny is run by the caller's thread alone.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

from weft.core import errors
from weft.passes.client_graph import ClientGraph, Edge
from weft.passes.partition import Partition
from weft.runtime.crew import Crew
from weft.runtime.in_turn import InTurn
from weft.runtime.interpret import Observer
from weft.runtime.plan import make_plan
from weft.runtime.rendezvous import Rendezvous
from weft.runtime.resources import ResourceStore
from weft.runtime.running import RunningSteps, until


class PartitionedPlan:
    """One (feeds, fetches, targets) signature whose nodes are on several devices."""

    def __init__(
        self,
        parts: list[Partition],
        stores: Mapping[str, ResourceStore],
        crew: Crew,
        make: Callable[[ClientGraph, ResourceStore], Any] = make_plan,
    ) -> None:
        self.parts, self.crew = parts, crew
        self.plans = [make(part.graph, stores[part.device]) for part in parts]
        self.in_turn = InTurn.of(self.plans)
        self.graph = _joined(parts)

    @property
    def graphs(self) -> list[ClientGraph]:
        """The graph of each device."""
        return [part.graph for part in self.parts]

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
        self,
        feeds: Sequence[Any],
        observe: Observer | None,
        deadline: float | None,
        running: RunningSteps | None,
        rendezvous: Rendezvous | None,
    ) -> list[Any]:
        in_turn = None if observe or rendezvous or deadline is not None else self.in_turn
        if in_turn is not None and in_turn.is_worth_it():
            if running is not None:
                running.check()
            results = in_turn.run([[feeds[p] for p in part.feeds] for part in self.parts])
        else:
            step = _Step(len(self.parts), deadline, rendezvous or Rendezvous())
            results = self._run_at_once(feeds, observe, step, running)
        fetches: list[Any] = [None] * sum(len(part.fetches) for part in self.parts)
        for part, values in zip(self.parts, results, strict=True):
            for position, value in zip(part.fetches, values, strict=True):
                fetches[position] = value
        return fetches

    def _run_at_once(
        self,
        feeds: Sequence[Any],
        observe: Observer | None,
        step: _Step,
        running: RunningSteps | None,
    ) -> list[list[Any]]:
        """Every partition on a thread of its own."""
        if running is not None:
            running.add(step)
        try:
            jobs = [self._job(i, feeds, observe, step) for i in range(len(self.parts))]
            for i, job in enumerate(jobs[1:], 1):
                self.crew.start(step.guarded(i, job))
            step.guarded(0, jobs[0])()
            return step.wait()
        finally:
            if running is not None:
                running.remove(step)

    def _job(
        self, i: int, feeds: Sequence[Any], observe: Observer | None, step: _Step
    ) -> Callable[[], list[Any]]:
        plan, mine = self.plans[i], [feeds[p] for p in self.parts[i].feeds]
        ends = step.deadline, step.running, step.rendezvous

        def job() -> list[Any]:
            results: list[Any]
            if observe is not None:
                results = plan.run_observed(mine, observe, *ends)
            else:
                results = plan.run(mine, *ends)
            return results

        return job


class _Step:
    """What the partitions of one step share: where they meet, and how it ends."""

    def __init__(self, count: int, deadline: float | None, rendezvous: Rendezvous) -> None:
        self.deadline = deadline
        self.rendezvous, self.running = rendezvous, RunningSteps()
        self.results: list[Any] = [None] * count
        self._error: Exception | None = None
        self._left = count
        self._lock = threading.Lock()
        self._over = threading.Event()

    def abort(self, error: errors.OpError) -> None:
        self._fail(error)

    def _fail(self, error: Exception) -> None:
        with self._lock:
            if self._error is not None:
                return
            self._error = error
        self.rendezvous.abort(error)
        end = error if isinstance(error, errors.OpError) else errors.CancelledError(None, None, "")
        self.running.close(end)

    def guarded(self, i: int, job: Callable[[], list[Any]]) -> Callable[[], None]:
        """`job` with its result kept, and its failure told to the other partitions."""

        def run() -> None:
            try:
                with nullcontext() if self.deadline is None else until(self.deadline):
                    self.results[i] = job()
            except Exception as error:
                self._fail(error)
            except BaseException as error:
                # A keyboard interrupt on the caller's thread: the others stop, it goes on up.
                self._fail(errors.CancelledError(None, None, f"interrupted: {error!r}"))
                raise
            finally:
                with self._lock:
                    self._left -= 1
                    over = not self._left
                if over:
                    self._over.set()

        return run

    def wait(self) -> list[Any]:
        self._over.wait()
        if self._error is not None:
            raise self._error
        return self.results


def _joined(parts: list[Partition]) -> ClientGraph:
    """All partitions as one graph, to look at."""
    order: dict[int, Edge] = {}
    for part in parts:
        order.update(zip(part.fetches, part.graph.fetches, strict=True))
    return ClientGraph(
        [node for part in parts for node in part.graph.nodes],
        [],
        [order[i] for i in range(len(order))],
        [node for part in parts for node in part.graph.targets],
    )
