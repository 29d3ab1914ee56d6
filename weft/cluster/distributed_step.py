"""One (feeds, fetches, targets) signature of a master's session, registered with its workers."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from weft.cluster import wire
from weft.cluster.interfaces import GraphCall, GraphResult, Recording, StepResult, Watch, Worker
from weft.cluster.partition_def import WorkerGraph
from weft.core import errors
from weft.core.deferred import Deferred
from weft.runtime.running import RunningSteps

# A worker that was told to end a step and does not answer is not waited for any longer than this.
_GRACE_SECONDS = 2.0


def new_step_id() -> int:
    return random.getrandbits(56)


@dataclass(frozen=True)
class Share:
    """What one worker does in a step."""

    worker: Worker
    is_local: bool
    graph: WorkerGraph
    handle: str

    def call(
        self, session: str, step_id: int, values: Sequence[Any], recording: Recording
    ) -> GraphCall:
        feeds = [(key, values[i]) for i, key in self.graph.feeds]
        fetches = [key for _, key in self.graph.fetches]
        return GraphCall(session, self.handle, step_id, feeds, fetches, recording)


class DistributedStep:
    """Runs by handle, any number of times at once."""

    def __init__(self, session: str, shares: Sequence[Share], fetches: int) -> None:
        # The local share comes last: it may run on the thread that starts the others.
        self.session, self.shares = session, sorted(shares, key=lambda share: share.is_local)
        self.fetches = fetches
        self.leaves = not all(share.worker.cleans_up for share in shares)

    def run(
        self,
        values: Sequence[Any],
        options: Any,
        deadline: float | None,
        running: RunningSteps,
        watch: Watch | None,
    ) -> StepResult:
        recording = _recording(options)
        step = StepRun(new_step_id(), self.shares, self.leaves)
        running.add(step)
        try:
            if watch is not None:
                watch(step.abandon)
            for i, share in enumerate(self.shares):
                call = share.call(self.session, step.id, values, recording)
                here = share.is_local and deadline is None
                step.start(i, partial(share.worker.run_graph, call, here))
            results = step.wait(deadline)
        finally:
            running.remove(step)
        return self._result(results, recording)

    def _result(self, results: Sequence[GraphResult], recording: Recording) -> StepResult:
        values: list[Any] = [None] * self.fetches
        for share, result in zip(self.shares, results, strict=True):
            made = dict(result.values)
            for position, key in share.graph.fetches:
                values[position] = made[key]
        metadata = _metadata(results) if recording != Recording() else None
        return StepResult(values, metadata)


class StepRun:
    """One step under way on several workers: who has answered, and how it ends.

    The first error ends it everywhere. It is over when all have answered, or some time after it
    has failed.
    """

    def __init__(self, step_id: int, shares: Sequence[Share], leaves: bool) -> None:
        self.id, self.shares = step_id, shares
        self.leaves = leaves  # whether, when all goes well, workers hold things that must go
        self.results: list[Any] = [None] * len(shares)
        self.error: Exception | None = None
        self.started = time.monotonic()
        self._calls: list[Deferred] = []
        self._waiting = set(range(len(shares)))
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)

    def start(self, i: int, begin: Callable[[], Deferred]) -> None:
        with self._lock:
            if self.error is not None:
                self._waiting.discard(i)
                return
        call = begin()
        with self._lock:
            self._calls.append(call)
        call.deliver_to(lambda result, error: self._answered(i, result, error))

    def _answered(self, i: int, result: Any, error: BaseException | None) -> None:
        with self._changed:
            self._waiting.discard(i)
            self.results[i] = result
            is_first = error is not None and self.error is None
            if error is not None and is_first:
                self.error = _from(self.shares[i].graph.task, error)
            self._changed.notify_all()
        if is_first:
            self._stop()

    def abort(self, error: errors.OpError) -> None:
        """Ends the step with `error` on all workers, unless it has failed or is over already."""
        with self._changed:
            if self.error is not None or not self._waiting:
                return
            self.error = error
            self._changed.notify_all()
        self._stop()

    def abandon(self) -> None:
        """The client has gone away."""
        self.abort(errors.CancelledError(None, None, "The client went away"))

    def _stop(self) -> None:
        self._clean_up()
        with self._lock:
            calls = list(self._calls)
        for call in calls:
            call.cancel()

    def wait(self, deadline: float | None) -> list[Any]:
        with self._changed:
            in_time = self._changed.wait_for(
                lambda: not self._waiting or self.error is not None,
                None if deadline is None else max(0.0, deadline - time.monotonic()),
            )
        if not in_time:
            self.abort(
                errors.DeadlineExceededError(None, None, "Timed out waiting for notification")
            )
        if self.error is not None:
            with self._changed:
                self._changed.wait_for(lambda: not self._waiting, _GRACE_SECONDS)
            raise self.error
        if self.leaves:
            self._clean_up()
        return self.results

    def _clean_up(self) -> None:
        for share in self.shares:
            share.worker.cleanup_graph(self.id)

    def check(self, limit: float) -> None:
        """Asks the workers that have not answered whether they are there; without waiting."""
        with self._lock:
            asked = [self.shares[i] for i in self._waiting]
        if time.monotonic() - self.started >= limit:
            for share in asked:
                status = share.worker.get_status(limit)
                status.deliver_to(partial(self._checked, share.graph.task))

    def _checked(self, task: str, devices: Any, error: BaseException | None) -> None:
        if isinstance(error, (errors.UnavailableError, errors.DeadlineExceededError)):
            self.abort(
                errors.UnavailableError(
                    None, None, f"From {task}:\nThe worker does not answer: {error.message}"
                )
            )


def _from(task: str, error: BaseException) -> errors.OpError:
    """The error as the client gets it: with the task it comes from."""
    code, message = wire.to_status(error)
    if message.startswith("From /job:"):
        return wire.from_status(code, message)
    return wire.from_status(code, f"From {task}:\n{message}")


def _recording(options: Any) -> Recording:
    if options is None:
        return Recording()
    return Recording(options.trace_level > 0, bool(options.output_partition_graphs))


def _metadata(results: Sequence[GraphResult]) -> Any:
    from tensorboard.compat.proto.config_pb2 import RunMetadata

    metadata = RunMetadata()
    for result in results:
        if result.step_stats is not None:
            metadata.step_stats.dev_stats.extend(result.step_stats.dev_stats)
        for graph in result.partition_graphs:
            metadata.partition_graphs.add().CopyFrom(graph)
    return metadata
