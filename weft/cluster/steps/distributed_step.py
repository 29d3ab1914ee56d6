"""One (feeds, fetches, targets) signature of a master's session, registered with its workers."""

from __future__ import annotations

import os
import queue
import random
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from weft.cluster.interfaces import (
    NOTHING,
    GraphCall,
    GraphResult,
    Recording,
    StepResult,
    Watch,
    Worker,
)
from weft.cluster.steps.partition_def import WorkerGraph
from weft.cluster.transport import outcome, wire
from weft.core import errors
from weft.core.deferred import Deferred
from weft.core.waiting import take
from weft.runtime.limits import RunningSteps

# A worker that was told to end a step and does not answer is not waited for any longer than this.
_GRACE_SECONDS = 2.0


# Not the generator that programs seed, nor one that a fork would copy: masters must not agree.
_random = random.Random(secrets.randbits(256))
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _random.seed(secrets.randbits(256)))


def new_step_id() -> int:
    return _random.getrandbits(56)


@dataclass(frozen=True)
class Share:
    """The part of a step that runs on one worker."""

    worker: Worker
    is_local: bool
    graph: WorkerGraph
    handle: str

    @cached_property
    def fetches(self) -> list[str]:
        return [key for _, key in self.graph.fetches]

    def call(
        self, session: str, step_id: int, values: Sequence[Any], recording: Recording
    ) -> GraphCall:
        feeds = [(key, values[i]) for i, key in self.graph.feeds]
        return GraphCall(session, self.handle, step_id, feeds, self.fetches, recording)


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
                here = deadline is None and (share.is_local or len(self.shares) == 1)
                step.start(i, partial(share.worker.run_graph, call, here))
            results = step.wait(deadline)
        except KeyboardInterrupt:
            step.abandon()  # others need not go on
            raise
        finally:
            running.remove(step)
        return self._result(results, recording)

    def _result(self, results: Sequence[GraphResult], recording: Recording) -> StepResult:
        values: list[Any] = [None] * self.fetches
        for share, result in zip(self.shares, results, strict=True):
            made = dict(result.values)
            for position, key in share.graph.fetches:
                values[position] = made[key]
        metadata = _metadata(results) if recording is not NOTHING else None
        return StepResult(values, metadata)


class StepRun:
    """One step under way on several workers: which have answered, and how it ends.

    The first error ends it everywhere. It is over when all have answered, or some time after it
    has failed.
    """

    def __init__(self, step_id: int, shares: Sequence[Share], leaves: bool) -> None:
        self.id, self.shares = step_id, shares
        self.leaves = leaves  # whether, when all goes well, workers hold things that must go
        self.results: list[Any] = [None] * len(shares)
        self.error: Exception | None = None
        self.heard = time.monotonic()  # when it began, or its workers were last asked about it
        self._calls: list[Deferred] = []
        self._waiting = set(range(len(shares)))
        self._lock = threading.Lock()
        # The waiting thread gets a sign when all have answered; after an error, for each answer.
        self._signs: queue.SimpleQueue[None] = queue.SimpleQueue()

    def start(self, i: int, begin: Callable[[], Deferred]) -> None:
        with self._lock:
            if self.error is not None:
                self._waiting.discard(i)
                return
        call = begin()
        with self._lock:
            self._calls.append(call)
        call.deliver_to(partial(self._answered, i))

    def _answered(self, i: int, result: Any, error: BaseException | None) -> None:
        with self._lock:
            self._waiting.discard(i)
            self.results[i] = result
            is_first = error is not None and self.error is None
            if error is not None and is_first:
                self.error = _from(self.shares[i].graph.task, error)
            is_sign = self.error is not None or not self._waiting
        if is_sign:
            self._signs.put(None)
        if is_first:
            self._stop()

    def abort(self, error: errors.OpError) -> None:
        """Ends the step with `error` on all workers, unless it has failed or is over already."""
        with self._lock:
            if self.error is not None or not self._waiting:
                return
            self.error = error
        self._signs.put(None)
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
        if len(self._calls) == 1 and (help_until := self._calls[0].help_until) is not None:
            help_until(self._is_over)
        while self._waiting and self.error is None and self._sign(deadline):
            pass
        if self._waiting and self.error is None:
            self.abort(
                errors.DeadlineExceededError(None, None, "Timed out waiting for notification")
            )
        if self.error is not None:
            end = time.monotonic() + _GRACE_SECONDS
            while self._waiting and self._sign(end):
                pass
            raise self.error
        if self.leaves:
            self._clean_up()
        return self.results

    def _is_over(self) -> bool:
        return not self._waiting or self.error is not None

    def _sign(self, deadline: float | None) -> bool:
        """Waits for the next sign; False when there was none in time."""
        try:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            take(self._signs, left)
        except queue.Empty:
            return False
        return True

    def _clean_up(self) -> None:
        for share in self.shares:
            share.worker.cleanup_graph(self.id)

    def check(self, limit: float) -> None:
        """Asks the workers that have not answered whether they are there; without waiting."""
        now = time.monotonic()
        if now - self.heard < limit:
            return
        with self._lock:
            asked, self.heard = [self.shares[i] for i in self._waiting], now
        for share in asked:
            status = share.worker.get_status(limit)
            status.deliver_to(partial(self._checked, share.graph.task))

    def _checked(self, task: str, devices: Any, error: BaseException | None) -> None:
        if isinstance(error, (errors.UnavailableError, errors.DeadlineExceededError)):
            self.abort(outcome.silent(task, error))


def _from(task: str, error: BaseException) -> errors.OpError:
    """The error as the client gets it: with the task it comes from."""
    code, message = wire.to_status(error)
    if message.startswith("From /job:"):
        return wire.from_status(code, message)
    return wire.from_status(code, f"From {task}:\n{message}")


def _recording(options: Any) -> Recording:
    if options is None:
        return NOTHING
    asked = Recording(options.trace_level > 0, bool(options.output_partition_graphs))
    return NOTHING if asked == NOTHING else asked


def _metadata(results: Sequence[GraphResult]) -> Any:
    from tensorboard.compat.proto.config_pb2 import RunMetadata

    metadata = RunMetadata()
    for result in results:
        if result.step_stats is not None:
            metadata.step_stats.dev_stats.extend(result.step_stats.dev_stats)
        for graph in result.partition_graphs:
            metadata.partition_graphs.add().CopyFrom(graph)
    return metadata
