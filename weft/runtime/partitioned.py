"""A step over several devices: one plan per partition, all at once, joined by a rendezvous.

A partition has a thread while there is something to do on it, not while it waits. The first error
ends the step on every device, and nothing is left waiting. A step of which every part is tiny is
run by the caller's thread alone.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from weft.core import errors
from weft.core.deferred import Deferred, Ends
from weft.passes.client_graph import ClientGraph, Edge
from weft.passes.partition import Partition
from weft.runtime.crew import Crew
from weft.runtime.executor import Executor
from weft.runtime.in_turn import InTurn
from weft.runtime.inbox import too_late
from weft.runtime.interpret import Observer
from weft.runtime.plan import make_plan
from weft.runtime.promised import StepEnds
from weft.runtime.rendezvous import Rendezvous
from weft.runtime.resources import ResourceStore
from weft.runtime.running import RunningSteps, among, until


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
        """Every partition on a thread of its own, as long as it has something to do."""
        ends = StepEnds(observe, step.deadline, step.running, step.rendezvous)

        def start(i: int) -> Any:
            mine = [feeds[p] for p in self.parts[i].feeds]
            return self.plans[i].start(mine, list, ends)

        if running is not None:
            running.add(step)
        try:
            return step.run(start, self.crew)
        finally:
            if running is not None:
                running.remove(step)


class _Step:
    """What the partitions of one step share: where they meet, and how it ends.

    The first partition is run by the thread of the caller, which waits for the others, too.
    """

    def __init__(self, count: int, deadline: float | None, rendezvous: Rendezvous) -> None:
        self.deadline = deadline
        self.rendezvous, self.running = rendezvous, RunningSteps()
        self.results: list[Any] = [None] * count
        self._error: Exception | None = None
        self._left = count
        self._lock = threading.Lock()
        self._ends = Ends()
        self._is_attended = True
        # What the thread of the caller has to do; None when all partitions are over.
        self._turns: queue.SimpleQueue[Callable[[], Any] | None] = queue.SimpleQueue()

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

    def run(self, start: Callable[[int], Any], crew: Crew) -> list[list[Any]]:
        """`start(i)` gives the results of partition i, or a promise of them."""
        try:
            for i in range(1, len(self.results)):
                crew.start(partial(self._advance, i, partial(start, i), crew))
            self._advance(0, partial(start, 0), crew)
            self._work(crew)
        except BaseException as error:
            # A keyboard interrupt on the caller's thread: it goes on up, and the others stop.
            self._fail(errors.CancelledError(None, None, f"interrupted: {error!r}"))
            self._leave_to(crew)
            raise
        finally:
            at_end = self._ends.take()
            if at_end is not None:
                at_end()
        if self._error is not None:
            raise self._error
        return self.results

    def _work(self, crew: Crew) -> None:
        """Runs the first partition whenever it can go on, until all are over."""
        while True:
            try:
                turn = self._turns.get(timeout=self._time_left())
            except queue.Empty:
                runs = [step for step in self.running.steps() if isinstance(step, Executor)]
                self._fail(too_late(name for run in runs for name in run.awaited()))
                continue
            if turn is None:
                return
            self._advance(0, turn, crew)

    def _leave_to(self, crew: Crew) -> None:
        """The thread of the caller does not come back to the first partition."""
        with self._lock:
            self._is_attended = False
        while not self._turns.empty():
            turn = self._turns.get()
            if turn is not None:
                crew.start(partial(self._advance, 0, turn, crew))

    def _time_left(self) -> float | None:
        if self.deadline is None or self._error is not None:
            return None  # nothing waits any more when the step has failed
        return max(0.0, self.deadline - time.monotonic())

    def _advance(self, i: int, go_on: Callable[[], Any], crew: Crew) -> None:
        """Runs partition `i` up to where it has to wait, or to its end."""
        try:
            with among(self.running), until(self.deadline):
                found = go_on()
        except Exception as error:
            self._fail(error)
            self._over()
            return
        if not isinstance(found, Deferred):
            self.results[i] = found
            self._over()
            return
        self._ends.add(found)
        found.deliver_to(partial(self._kept, i, found, crew))

    def _kept(
        self, i: int, promise: Deferred, crew: Crew, outputs: Any, error: BaseException | None
    ) -> None:
        """A partition can go on: the caller's thread does that, or one of the crew."""

        def go_on() -> Any:
            if error is not None:
                raise error
            return outputs if promise.then is None else promise.then(outputs)

        with self._lock:
            mine = i == 0 and self._is_attended
            if mine:
                self._turns.put(go_on)
        if not mine:
            crew.start(partial(self._advance, i, go_on, crew))

    def _over(self) -> None:
        with self._lock:
            self._left -= 1
            over = not self._left
        if over:
            self._turns.put(None)


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
