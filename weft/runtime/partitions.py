"""A step over several devices: one plan per partition, all at once, joined by a rendezvous.

A partition has a thread while there is something to do on it, not while it waits. The first error
ends the step on every device, and nothing is left waiting. A step of which every part is tiny is
run by the caller's thread alone.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from weft.core import errors
from weft.core.deferred import Deferred, Ends
from weft.passes.client_graph import ClientGraph, Edge
from weft.passes.partition import Partition
from weft.passes.regions.for_host import mark_received
from weft.runtime.continuation import NO_CONTEXT, Continuation, Finish, StepContext
from weft.runtime.executor import Executor
from weft.runtime.limits import RunningSteps, deadline_error
from weft.runtime.merged_plan import MergedPlan
from weft.runtime.plan import Plan
from weft.runtime.rendezvous import Rendezvous
from weft.runtime.resources import ResourceStore
from weft.runtime.threads import CallerQueue, Job, ThreadPool


class PartitionedPlan:
    """One (feeds, fetches, targets) signature whose nodes are on several devices."""

    def __init__(
        self,
        parts: list[Partition],
        stores: Mapping[str, ResourceStore],
        pool: ThreadPool,
        by_tokens: bool = False,
    ) -> None:
        self.parts, self.pool = parts, pool
        self.plans = [Plan(part.graph, stores[part.device], by_tokens=by_tokens) for part in parts]
        self.merged = MergedPlan.of(parts, self.plans)
        if not by_tokens:
            hosts = [plan.layout.units for plan in self.plans if plan.store.is_host]
            others = [plan.layout.units for plan in self.plans if not plan.store.is_host]
            mark_received(hosts, others)
        self.graph = _joined(parts)

    @property
    def graphs(self) -> list[ClientGraph]:
        """The graph of each device."""
        return [part.graph for part in self.parts]

    def is_tiny(self) -> bool:
        return False

    def run(self, feeds: Sequence[Any], context: StepContext = NO_CONTEXT) -> list[Any]:
        merged = self.merged if context.only_running() else None
        if merged is not None and merged.is_worth_it():
            if context.running is not None:
                context.running.check()
            return merged.run(feeds)
        return self._joined(self._run_at_once(feeds, context))

    def start(
        self, feeds: Sequence[Any], finish: Finish, context: StepContext = NO_CONTEXT
    ) -> Deferred:
        """A promise of `finish(fetches)` of a step; no thread waits for it."""
        step = _Step(self.parts, context, self.pool)
        promise = Deferred(then=lambda results: finish(self._joined(results)))
        promise.on_cancel = lambda: step.abort(_cancelled("The step was cancelled"))
        running = context.running
        if running is not None:
            running.add(step)

        def over() -> None:
            if running is not None:
                running.remove(step)
            try:
                promise.complete(step.outcome())
            except Exception as error:
                promise.fail(error)

        step.start(self._begin(feeds, step), over)
        return promise

    def _run_at_once(self, feeds: Sequence[Any], context: StepContext) -> list[list[Any]]:
        """Every partition on a thread of its own, as long as it has something to do."""
        step, running = _Step(self.parts, context, self.pool), context.running
        if running is not None:
            running.add(step)
        try:
            return step.run(self._begin(feeds, step))
        finally:
            if running is not None:
                running.remove(step)

    def _begin(self, feeds: Sequence[Any], step: _Step) -> Callable[[int], Any]:
        def begin(i: int) -> Any:
            mine = [feeds[p] for p in self.parts[i].feeds]
            return self.plans[i].start(mine, list, step.limits)

        return begin

    def _joined(self, results: Sequence[Sequence[Any]]) -> list[Any]:
        """The fetches of all partitions in the order of the step's."""
        fetches: list[Any] = [None] * sum(len(part.fetches) for part in self.parts)
        for part, values in zip(self.parts, results, strict=True):
            for position, value in zip(part.fetches, values, strict=True):
                fetches[position] = value
        return fetches


class _Step:
    """The state that the partitions of one step share: the rendezvous, and the outcome."""

    def __init__(self, parts: Sequence[Partition], context: StepContext, pool: ThreadPool) -> None:
        self.running, self.pool = RunningSteps(), pool
        self.rendezvous = context.rendezvous or Rendezvous()
        self.limits = context._replace(running=self.running, rendezvous=self.rendezvous)
        self._results: list[Any] = [None] * len(parts)
        self._error: Exception | None = None
        self._left = len(parts)
        self._lock = threading.Lock()
        self._ends = Ends()
        self._queue = CallerQueue(pool)  # what the thread of the caller has to do, if it attends
        self._when_over: Callable[[], None] = self._queue.over

    def abort(self, error: errors.OpError) -> None:
        self._fail(error)

    def _fail(self, error: Exception) -> None:
        with self._lock:
            if self._error is not None:
                return
            self._error = error
        self.rendezvous.abort(error)
        self.running.close(error if isinstance(error, errors.OpError) else _cancelled(""))

    def start(self, begin: Callable[[int], Any], over: Callable[[], None]) -> None:
        """`begin(i)` gives the results of partition i, or a promise; `over()` is called at last."""
        self._when_over = over
        self._queue.leave()
        for i in range(len(self._results)):
            self.pool.start(self._job(i, begin))

    def run(self, begin: Callable[[int], Any]) -> list[list[Any]]:
        """The same on the thread of the caller, which runs the first partition."""
        try:
            for i in range(1, len(self._results)):
                self.pool.start(self._job(i, begin))
            self._job(0, begin)()
            self._queue.attend(self._time_left, self._late)
        except BaseException as error:
            # A keyboard interrupt on the caller's thread: it goes on up, and the others stop.
            self._fail(_cancelled(f"interrupted: {error!r}"))
            self._queue.leave()
            raise
        return self.outcome()

    def outcome(self) -> list[list[Any]]:
        if self._error is not None:
            raise self._error
        return self._results

    def _job(self, i: int, begin: Callable[[int], Any]) -> Job:
        start = self.pool.start if i else self._queue.start
        drive = Continuation(start, self.limits, self._ends, partial(self._done, i))
        return lambda: drive.go(partial(begin, i))

    def _late(self) -> None:
        runs = [step for step in self.running.steps() if isinstance(step, Executor)]
        self._fail(deadline_error(name for run in runs for name in run.awaited()))

    def _time_left(self) -> float | None:
        deadline = self.limits.deadline
        if deadline is None or self._error is not None:
            return None  # nothing waits any more when the step has failed
        return max(0.0, deadline - time.monotonic())

    def _done(self, i: int, results: Any, error: BaseException | None) -> None:
        if error is not None:
            end = error if isinstance(error, Exception) else _cancelled(f"interrupted: {error!r}")
            self._fail(end)
        self._results[i] = results
        with self._lock:
            self._left -= 1
            over = not self._left
        if over:
            self._ends.over()
            self._when_over()


def _cancelled(why: str) -> errors.OpError:
    return errors.CancelledError(None, None, why)


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
