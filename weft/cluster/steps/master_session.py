"""One client's session on a master: its graph, where the nodes are, and the steps it has run."""

from __future__ import annotations

import contextlib
import itertools
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from weft.cluster.interfaces import StepCall, StepResult, Watch
from weft.cluster.members import STATUS_SECONDS
from weft.cluster.steps.distributed_step import DistributedStep, Share, StepRun
from weft.cluster.steps.partial_steps import PartialSteps
from weft.cluster.steps.partition_def import WorkerGraph, by_task
from weft.cluster.transport import outcome
from weft.cluster.transport.inprocess import Peers
from weft.core import errors, flags
from weft.graph.graph import Graph
from weft.graph.importer import MALFORMED, extend
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor
from weft.passes.partition import PartitionOptions
from weft.passes.pipeline import split
from weft.passes.prune import prune
from weft.runtime.debug import dump
from weft.runtime.debug.watches import StepNames, is_watched, publish_names
from weft.runtime.devices.device import Device, device_set
from weft.runtime.limits import RunningSteps, deadline_scope
from weft.runtime.session_placement import Placer
from weft.runtime.step import options_from

_MAX_STEPS = 1024
_WITHOUT_SIGN = 1 << 64


class MasterSession:
    """A client's session; `devices` are those of its workers, the master's own task's first."""

    def __init__(self, handle: str, peers: Peers, devices: Sequence[Device], config: Any) -> None:
        self.handle, self.peers, self.config = handle, peers, config
        self.devices, self.home = list(devices), peers.home
        tasks = dict.fromkeys(d.name.partition("/device:")[0] for d in devices)
        self.workers = {task: peers(task) for task in tasks}
        self.graph = Graph()
        self.place = Placer(self.graph, device_set(self.devices), config, one_task=True)
        self.incarnations = {d.name: signed(d.incarnation) for d in devices}
        options = options_from(config)
        transfers = PartitionOptions(options.transfers.as_bfloat16, self.incarnations)
        self.options = replace(options, transfers=transfers)
        self.running = RunningSteps()
        self.steps_run = 0
        self.partials = PartialSteps(self._step, self._needs, self.running)
        self._steps: dict[Any, DistributedStep] = {}
        self._callables: dict[int, StepCall] = {}
        self._numbers, self._watched_runs = itertools.count(1), itertools.count()
        self._lock = threading.Lock()

    # ---- the graph ----

    def extend(self, graph_def: Any, version: int | None = None) -> int:
        """Adds nodes, all or none."""
        with self._lock:
            if version is not None and version != self.graph.version:
                raise errors.AbortedError(
                    None, None, f"Race condition: the graph is at version {self.graph.version}, the"
                    f" client extends version {version}",
                )  # fmt: skip
            start = self.graph.version
            try:
                extend(self.graph, graph_def)
            except MALFORMED as error:
                raise errors.InvalidArgumentError(None, None, str(error)) from None
            for op in self.graph.get_operations()[start:]:
                op._stack = ()
            return self.graph.version

    def _tensor(self, name: str, what: str) -> Tensor:
        op_name, _, index = name.partition(":")
        op = self.graph._by_name.get(op_name)
        if op is None or int(index or 0) >= len(op.outputs):
            raise errors.NotFoundError(None, None, f"{what} {name}: not found")
        return op.outputs[int(index or 0)]

    def _operation(self, name: str) -> Operation:
        op = self.graph._by_name.get(name.partition(":")[0])
        if op is None:
            raise errors.NotFoundError(
                None, None, f"PruneForTargets: Some target nodes not found: {name}"
            )
        return op

    def _needs(self, fetch: str, feeds: set[str]) -> str | None:
        """The first of `feeds` that computing `fetch` takes."""
        start = self._tensor(fetch, "FetchOutputs node")
        stack, seen = [start], {start}
        while stack:
            tensor = stack.pop()
            if tensor.name in feeds:
                return tensor.name
            before = list(tensor.op.inputs)
            before += [t for control in tensor.op._control_inputs for t in control.outputs]
            stack += [t for t in before if t not in seen]
            seen.update(before)
        return None

    # ---- steps ----

    def run(self, call: StepCall, watch: Watch | None = None) -> StepResult:
        names = tuple(name for name, _ in call.feeds)
        deadline = self._deadline(call.options)
        values = [value for _, value in call.feeds]
        self.steps_run += 1
        if call.options is not None and is_watched(call.options):
            return self._run_watched(names, values, call, deadline, watch)
        step = self._step(names, tuple(call.fetches), tuple(call.targets), deadline)
        return step.run(values, call.options, deadline, self.running, watch)

    def _run_watched(
        self, feeds: tuple[str, ...], values: list[Any], call: StepCall, deadline: float | None,
        watch: Watch | None,
    ) -> StepResult:  # fmt: skip
        """A step whose tensors workers publish. Places differ from run to run: it is not kept."""
        watches = call.options.debug_options
        with self._lock:
            step = self._register(feeds, call.fetches, call.targets, deadline, watches)
        fed = tuple((name.partition(":")[0], int(name.partition(":")[2] or 0)) for name in feeds)
        names = StepNames(fed, tuple(call.fetches), tuple(call.targets))
        publish_names(watches, names, next(self._watched_runs), 0)
        try:
            return step.run(values, call.options, deadline, self.running, watch)
        finally:
            self._release(step)

    def _deadline(self, options: Any) -> float | None:
        limit = options.timeout_in_ms if options is not None else 0
        limit = limit or self.config.operation_timeout_in_ms
        return time.monotonic() + limit / 1000 if limit > 0 else None

    def _step(
        self, feeds: tuple[str, ...], fetches: tuple[str, ...], targets: tuple[str, ...],
        deadline: float | None = None,
    ) -> DistributedStep:  # fmt: skip
        key = feeds, fetches, targets
        step = self._steps.get(key)
        if step is None:
            with self._lock:
                step = self._steps.get(key)
                if step is None:
                    step = self._register(feeds, fetches, targets, deadline)
                    if len(self._steps) >= _MAX_STEPS:
                        self._release(self._steps.pop(next(iter(self._steps))))
                    self._steps[key] = step
        return step

    def _register(
        self, feeds: Sequence[str], fetches: Sequence[str], targets: Sequence[str],
        deadline: float | None, watches: Any = None,
    ) -> DistributedStep:  # fmt: skip
        if len(set(feeds)) != len(feeds):
            raise errors.InvalidArgumentError(None, None, "A tensor is fed twice")
        latest = time.monotonic() + flags.MAX_PLAN.value
        with deadline_scope(latest if deadline is None else min(deadline, latest)):
            graphs = self.partitions(feeds, fetches, targets, as_written=watches is not None)
        workers = [self.workers[graph.task] for graph in graphs]
        options = self.config.graph_options
        calls = [
            worker.register_graph(self.handle, graph.graph_def, options, watches)
            for worker, graph in zip(workers, graphs, strict=True)
        ]
        handles = [
            outcome.wait_for_worker(call, worker, graph.task, deadline)
            for call, worker, graph in zip(calls, workers, graphs, strict=True)
        ]
        shares = [
            Share(worker, graph.task == self.home, graph, handle)
            for worker, graph, handle in zip(workers, graphs, handles, strict=True)
        ]
        return DistributedStep(self.handle, shares, len(fetches))

    def partitions(
        self, feeds: Sequence[str], fetches: Sequence[str], targets: Sequence[str],
        as_written: bool = False,
    ) -> list[WorkerGraph]:  # fmt: skip
        """The graphs of the workers for a step."""
        fed = [self._tensor(name, "FeedInputs: unable to find feed output") for name in feeds]
        fetched = [self._tensor(name, "FetchOutputs node") for name in fetches]
        run = [self._operation(name) for name in targets]
        graph = prune(fed, fetched, run)
        options = replace(self.options, as_written=True) if as_written else self.options
        parts = split(graph, options, dump.observer(), self.place)
        for part in parts:
            part.device = part.device or self.devices[0].name
        pushing = {task for task, worker in self.workers.items() if worker.cleans_up}
        return by_task(parts, self.graph, feeds, fetches, self.incarnations, pushing)

    def _release(self, step: DistributedStep) -> None:
        for share in step.shares:
            share.worker.deregister_graph(self.handle, share.handle)

    # ---- callables ----

    def make_callable(self, options: Any) -> int:
        call = StepCall(
            self.handle, [(name, None) for name in options.feed], list(options.fetch),
            list(options.target), options.run_options,
        )  # fmt: skip
        self._step(tuple(options.feed), tuple(options.fetch), tuple(options.target))
        with self._lock:
            number = next(self._numbers)
            self._callables[number] = call
        return number

    def run_callable(self, number: int, values: Sequence[Any], watch: Watch | None) -> StepResult:
        call = self._callables.get(number)
        if call is None:
            raise errors.InvalidArgumentError(
                None, None, f"Attempted to run callable after handle was released: {number}"
            )
        if len(values) != len(call.feeds):
            raise errors.InvalidArgumentError(
                None, None, f"Expected {len(call.feeds)} feed tensors, but got {len(values)}"
            )
        feeds = [(name, v) for (name, _), v in zip(call.feeds, values, strict=True)]
        return self.run(replace(call, feeds=feeds), watch)

    def release_callable(self, number: int) -> None:
        with self._lock:
            self._callables.pop(number, None)

    # ---- the end ----

    def check(self, limit: float) -> None:
        """Looks after the workers of steps that have been under way for `limit` seconds."""
        for step in self.running.steps():
            if isinstance(step, StepRun):
                step.check(limit)

    def close(self, error: errors.OpError | None = None) -> None:
        """Ends the steps under way; workers forget the session. Does not wait for them."""
        self.running.close(
            error
            or errors.CancelledError(
                None, None, "Step was cancelled by an explicit call to `Session::Close()`."
            )
        )
        self._steps.clear()
        calls = [w.delete_worker_session(self.handle) for w in self.workers.values()]
        if not self.peers.is_servers_own:
            for call in calls:
                with contextlib.suppress(errors.OpError):
                    outcome.wait(call, time.monotonic() + STATUS_SECONDS)
            self.peers.close()


def signed(number: int) -> int:
    """A 64-bit number as the attributes of nodes hold it."""
    return number - _WITHOUT_SIGN if number >= _WITHOUT_SIGN >> 1 else number
