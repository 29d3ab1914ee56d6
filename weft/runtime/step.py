"""Feed, run every unit, fetch: the plans of one session and how a step goes through them."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from weft.core import errors, flags
from weft.core.dtypes import float16
from weft.core.errors import raise_from
from weft.core.exceptions import as_public
from weft.graph.graph import Graph
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor
from weft.ops.kit import process_group
from weft.ops.state.session_tensors import kept_tensors
from weft.passes.client_graph import ClientGraph
from weft.passes.partition import PartitionOptions
from weft.passes.pipeline import Options, prepare, prepare_replicas
from weft.runtime.continuation import StepContext
from weft.runtime.debug import dump, report
from weft.runtime.debug.numerics import NumericCheck
from weft.runtime.debug.trace import StepTrace
from weft.runtime.debug.watches import StepNames, StepWatch, is_watched
from weft.runtime.devices.device import device_set, local_devices
from weft.runtime.devices.memory import is_left_for_host
from weft.runtime.fetched import taken, to_user
from weft.runtime.fewer_fetches import Asked, FewerFetches, part_of
from weft.runtime.host.interpret import with_node
from weft.runtime.limits import RunningSteps, deadline_scope, limits
from weft.runtime.partitions import PartitionedPlan
from weft.runtime.plan import Plan
from weft.runtime.replicated_plan import ReplicatedPlan
from weft.runtime.resources import ResourceStore, Variable
from weft.runtime.session_placement import Placer
from weft.runtime.threads import ThreadPool

_MAX_PLANS = 1024
AnyPlan = Plan | PartitionedPlan | ReplicatedPlan | FewerFetches


class _Watched(NamedTuple):
    """The key of a plan whose every node a debugger sees."""

    key: Any


class StepRunner:
    """Plans and state of one local session."""

    def __init__(self, graph: Graph, config: Any = None) -> None:
        self.graph = graph
        self.devices = local_devices(config)
        self.stores = {d.name: ResourceStore(d.handle) for d in self.devices}
        self.store = self.stores[self.devices[0].name]
        # Whether values may lie where fetching them takes a while: not on the host.
        self._far = any(d.device_type != "CPU" for d in self.devices)
        self.pool = ThreadPool()
        self.place = Placer(graph, device_set(self.devices), config)
        self.options = options_from(config)
        self.timeout_in_ms = config.operation_timeout_in_ms if config is not None else 0
        self.running = RunningSteps()
        self._ends = StepContext(running=self.running)
        self._checks_numbers = flags.CHECK_NUMERICS.value
        self._reports_nodes = flags.DEBUG.value >= 4
        for device in self.devices:
            report.say(1, f"device {device.name}: {device.description or 'host'}".__str__)
        self._plans: dict[Any, AnyPlan] = {}
        self._asked: WeakKeyDictionary[AnyPlan, Asked] = WeakKeyDictionary()
        self._mutations, self._version = graph._mutations, 0  # of the plans
        self._period, self._model_period, self._steps = 0, 0, 0
        if config is not None:
            self._period = config.placement_period
            self._model_period = config.graph_options.build_cost_model
        self._watched_runs = itertools.count()
        self._plan_runs: WeakKeyDictionary[Any, Iterator[int]] = WeakKeyDictionary()
        self._counts = bool(self._period or self._model_period)
        self._observes = self._checks_numbers or self._reports_nodes
        self._is_plain = not (self._counts or self._observes or self.timeout_in_ms)
        self._lock = threading.Lock()

    def run(
        self,
        fetches: Sequence[Tensor],
        targets: Sequence[Operation],
        feeds: tuple[Tensor, ...],
        values: Sequence[Any],
        options: Any = None,
        metadata: Any = None,
        key: Any = None,
    ) -> list[Any]:
        """One step. `key` stands for (fetches, targets) in the cache of plans.

        None but TensorFlow's errors come out, also where planning meets a graph without sense.
        """
        try:
            if options is not None or metadata is not None or not self._is_plain:
                return self._run_with(fetches, targets, feeds, values, options, metadata, key)
            plan = self._plans.get((key, feeds))
            if plan is None or self._mutations != self.graph._mutations:
                plan = self._plan(fetches, targets, feeds, key)
            results = plan.run(values, self._ends)
            return self._to_user(results, plan) if results else results
        except Exception as error:
            raise_from(as_public(error), error)

    def _run_with(
        self,
        fetches: Sequence[Tensor],
        targets: Sequence[Operation],
        feeds: tuple[Tensor, ...],
        values: Sequence[Any],
        options: Any,
        metadata: Any,
        key: Any,
    ) -> list[Any]:
        """A step with options, or of a session that looks at its steps or limits their time."""
        if self._counts:
            options = self._count_step(options)
        if options is not None and is_watched(options):
            key = _Watched(object() if key is None else key)
        names = StepNames.of(feeds, fetches, targets) if type(key) is _Watched else None
        # Planning may take as long as the step.
        with deadline_scope(self._deadline(options) or limits.deadline):
            plan = self._plans.get((key, feeds))
            if plan is None or self._mutations != self.graph._mutations:
                plan = self._plan(fetches, targets, feeds, key)
        deadline = self._deadline(options)
        with deadline_scope(deadline) if deadline is not None else nullcontext():
            results = self._run_observed(plan, values, options, metadata, deadline, names)
            return self._to_user(results, plan)

    def _to_user(self, results: Sequence[Any], plan: AnyPlan) -> list[Any]:
        try:
            if self._far:
                results = brought(results)
            elif type(plan) is Plan and plan.handed_over:
                own, places = plan.handed_over, range(len(results))
                return [
                    taken(results, i, own[i]) if i in own else to_user(results[i]) for i in places
                ]
            return [*map(to_user, results)]
        except errors.FailedPreconditionError as error:
            raise located_fetch(error, plan.graph, results) from None
        except (MemoryError, RuntimeError, errors.ResourceExhaustedError) as error:
            raise with_node(error, plan.graph.fetches[0][0]) from error

    def _plan(
        self, fetches: Sequence[Tensor], targets: Sequence[Operation], feeds: Any, key: Any
    ) -> AnyPlan:
        with self._lock:
            mutations = self.graph._mutations
            if self._mutations != mutations:
                if self.graph._has_mutated(self._mutations, self._version):
                    self._forget_plans()
                self._mutations = mutations
            self._version = self.graph.version
            plan = self._plans.get((key, feeds))
            if plan is None:
                asked, watched = Asked(feeds, fetches, targets), type(key) is _Watched
                plan = None if watched else part_of(self._asked.items(), asked)
                if plan is None:
                    plan = self.make_plan(fetches, targets, feeds, watched)
                    self._asked[plan] = asked
                if len(self._plans) >= _MAX_PLANS:
                    self._plans.pop(next(iter(self._plans)))
                if key is not None:
                    self._plans[key, feeds] = plan
            return plan

    def _forget_plans(self) -> None:
        self._plans.clear()
        self._asked.clear()

    def make_plan(
        self, fetches: Sequence[Tensor], targets: Sequence[Operation], feeds: Sequence[Tensor],
        as_written: bool = False,
    ) -> AnyPlan:  # fmt: skip
        check_unique(feeds)
        options = replace(self.options, as_written=True) if as_written else self.options
        with report.timed(2, lambda: f"plan of {sum(len(p.graph.nodes) for p in parts)} nodes"):
            observer = report.stages(dump.observer())
            parts = prepare(feeds, fetches, targets, options, observer, self.place)
            if len(parts) > 1:
                plan = PartitionedPlan(parts, self.stores, self.pool)
                if as_written or not self._may_span_devices():
                    return plan
                again = partial(prepare_replicas, feeds, fetches, targets, options, self.place)
                return ReplicatedPlan(plan, again, self.stores, options)
            return Plan(parts[0].graph, self.stores.get(parts[0].device, self.store))

    def _may_span_devices(self) -> bool:
        """Whether a step over several devices may be one program."""
        where = flags.SPMD.value
        wanted = where == "everywhere" or (where == "accelerators" and self._far)
        return wanted and bool(flags.XLA) and process_group.current().size == 1

    def _count_step(self, options: Any) -> Any:
        """Measures a step, or places anew with what has been measured, every so many steps.

        Returns the options to run this one with.
        """
        with self._lock:
            self._steps += 1
            if self._period and self._steps % self._period == 0:
                self.place.rethink()
                self._forget_plans()
            if not self._model_period or self._steps % self._model_period:
                return options
        measured = type(options)() if options is not None else _run_options()
        if options is not None:
            measured.CopyFrom(options)
        measured.trace_level = measured.FULL_TRACE
        return measured

    def _deadline(self, options: Any) -> float | None:
        """When the step must be over, by time.monotonic: its own limit, or the session's."""
        limit = options.timeout_in_ms if options is not None else 0
        limit = limit or self.timeout_in_ms
        return time.monotonic() + limit / 1000 if limit > 0 else None

    def _run_observed(
        self, plan: Any, values: Any, options: Any, metadata: Any, deadline: float | None,
        names: StepNames | None,
    ) -> list[Any]:  # fmt: skip
        trace = StepTrace() if options is not None and options.trace_level > 0 else None
        check = NumericCheck() if self._checks_numbers else None
        watch = None
        if names is not None:
            watch = StepWatch(options.debug_options, plan.graphs, names)
            count = self._plan_runs.setdefault(plan, itertools.count())
            watch.begin(values, names, next(self._watched_runs), next(count))

        def observe(node: Any, inputs: Any, outputs: Any, start: float, end: float) -> None:
            if check is not None:
                check(node, outputs)
            if self._reports_nodes:
                report.node_run(node, outputs, start, end)
            if trace is not None:
                trace(node, outputs, start, end)
            if watch is not None:
                watch(node, outputs)

        is_seen = any(each is not None for each in (trace, check, watch)) or self._reports_nodes
        context = StepContext(observe if is_seen else None, deadline, self.running)
        try:
            results: list[Any] = plan.run(values, context)
        finally:
            if watch is not None:
                watch.finish()
        if metadata is not None:
            metadata.Clear()
            if trace is not None:
                trace.fill(metadata)
                self.place.learn(metadata.step_stats)
                metadata.cost_graph.CopyFrom(self.place.costs.to_proto())
            if options is not None and options.output_partition_graphs:
                graphs = map(dump.to_graph_def, plan.graphs) if watch is None else watch.graphs
                metadata.partition_graphs.extend(graphs)
        return results

    def partial_run(
        self, fetches: Sequence[Tensor], targets: Sequence[Operation], feeds: Sequence[Tensor]
    ) -> Any:
        """Declares a step that comes in several calls."""
        from weft.runtime.partial_run import PartialRun

        try:
            return PartialRun(self, fetches, targets, feeds)
        except Exception as error:
            raise_from(as_public(error), error)

    def kept(self, handle: str, dtype: Any) -> Any:
        """A tensor that the session keeps under a handle."""
        return to_user(kept_tensors(self._store_of(handle))[handle])

    def forget(self, handle: str) -> None:
        """Drops a tensor that the session keeps."""
        kept_tensors(self._store_of(handle)).pop(handle, None)

    def _store_of(self, handle: str) -> ResourceStore:
        return self.stores.get(handle.rpartition(";")[2], self.store)

    def list_devices(self) -> list[Any]:
        return list(self.devices)

    def close(self) -> None:
        """Ends the steps that wait, and frees plans and state."""
        self.running.close(
            errors.CancelledError(
                None, None, "Step was cancelled by an explicit call to `Session::Close()`."
            )
        )
        self._forget_plans()
        self.place.keep()
        self.pool.close()
        self.clear()

    def clear(self, containers: list[str] | None = None) -> None:
        """Empties resource containers on every device."""
        for store in self.stores.values():
            store.clear(containers)


def _run_options() -> Any:
    from tensorboard.compat.proto.config_pb2 import RunOptions

    return RunOptions()


def check_unique(feeds: Sequence[Tensor]) -> None:
    if len(set(feeds)) != len(feeds):
        twice = next(t for t in feeds if list(feeds).count(t) > 1)
        raise errors.InvalidArgumentError(None, None, f"Tensor {twice.name} is fed twice")


def located_fetch(error: Exception, graph: ClientGraph, results: Sequence[Any]) -> Exception:
    """The error of fetching an empty variable, with the node that names it."""
    for (node, _), value in zip(graph.fetches, results, strict=True):
        if isinstance(value, Variable) and not value.initialized:
            return with_node(error, node)
    return error


def brought(values: Sequence[Any]) -> list[Any]:
    """Values of which some are on a device, as ones of the host.

    They travel at once, before any is waited for. `np.asarray` would first ask for their memory,
    which is not the host's.
    """
    copies = [getattr(value, "copy_to_host_async", None) for value in values]
    there = list(zip(values, copies, strict=True))
    for value, copy in there:
        if copy is not None and not is_left_for_host(value):
            copy()
    return [value if copy is None else value.__array__() for value, copy in there]


def options_from(config: Any) -> Options:
    """Which passes a ConfigProto leaves on."""
    if config is None:
        return Options()
    rewrites = config.graph_options.rewrite_options
    off = rewrites.OFF
    level = config.graph_options.optimizer_options.opt_level
    base = level != config.graph_options.optimizer_options.L0
    if rewrites.disable_meta_optimizer:
        base = False
    return Options(
        fold=base and rewrites.constant_folding != off,
        cse=base and rewrites.common_subgraph_elimination != off,
        simplify=base and rewrites.arithmetic_optimization != off,
        half=float16 if base and rewrites.auto_mixed_precision == rewrites.ON else None,
        hold_receives=config.graph_options.enable_recv_scheduling,
        transfers=PartitionOptions(as_bfloat16=config.graph_options.enable_bfloat16_sendrecv),
    )
