"""A graph that was registered with a worker: GraphDef in, something to run any number of times."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from weft.cluster.interfaces import GraphCall, GraphResult
from weft.cluster.steps.flow import ROOT, Flow
from weft.cluster.steps.partition_def import PUSH
from weft.cluster.steps.worker_steps import WorkerStep
from weft.cluster.transport.remote_rendezvous import Pushes
from weft.core import errors
from weft.graph.graph import Graph
from weft.graph.importer import MALFORMED, add_nodes
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor
from weft.ops.devices.transfer import key
from weft.passes.client_graph import ClientGraph
from weft.passes.partition import Partition
from weft.passes.pipeline import Options, prepare
from weft.runtime.continuation import StepContext
from weft.runtime.debug import dump
from weft.runtime.debug.trace import StepTrace
from weft.runtime.debug.watches import StepWatch
from weft.runtime.host.interpret import Observer
from weft.runtime.partitions import PartitionedPlan
from weft.runtime.plan import Plan
from weft.runtime.resources import ResourceStore, Variable
from weft.runtime.step import located_fetch
from weft.runtime.threads import ThreadPool
from weft.runtime.xla.region import Region

_UNOPTIMIZED = Options(fold=False, cse=False, simplify=False)


def transfer_key(op: Operation) -> str:
    """The rendezvous key of a transfer outside of loops."""
    return key(op.attrs) + ROOT


class RegisteredGraph:
    """Nodes on the devices of one worker. What the client feeds and fetches goes by key."""

    def __init__(
        self,
        graph_def: Any,
        stores: Mapping[str, ResourceStore],
        options: Options,
        pool: ThreadPool,
        watches: Any = None,
    ) -> None:
        self.stores, self.pool = stores, pool
        # A debugger sees every node as it was written; a master without watches may send none.
        self.watches = watches if watches and watches.debug_tensor_watch_opts else None
        options = replace(options, as_written=True) if self.watches else options
        self.operations = _operations(graph_def)
        self._check_devices()
        ends = [op for op in self.operations if op.attrs.get("client_terminated")]
        recvs = [op for op in ends if op.definition.transfer == "recv"]
        sends = [op for op in ends if op.definition.transfer == "send"]
        self.feed_keys = [transfer_key(op) for op in recvs]
        self.fetch_keys = [transfer_key(op) for op in sends]
        self._fed_names = _FedNames([op.attrs["tensor_name"] for op in recvs])
        feeds, fetches = [op.outputs[0] for op in recvs], [op.inputs[0] for op in sends]
        self.plan = self._plan(feeds, fetches, _ends(self.operations, set(ends)), options)
        self.has_transfers = any(
            node.definition.transfer for graph in self.plan.graphs for node in graph.nodes
        )
        self.pushes = _pushes(self.operations)
        self.flow = Flow.of(self.plan) if self.has_transfers and not self.watches else None
        self._partial: Any = None
        self._lock = threading.Lock()

    def _check_devices(self) -> None:
        for op in self.operations:
            if op.device not in self.stores:
                raise errors.InvalidArgumentError(
                    None, None, f"{op.name} is placed on {op.device or 'no device'}, but the worker"
                    f" has [ {', '.join(sorted(self.stores))} ]",
                )  # fmt: skip

    def _plan(
        self,
        feeds: Sequence[Tensor],
        fetches: Sequence[Tensor],
        targets: Sequence[Operation],
        options: Options,
    ) -> Any:
        parts = prepare(feeds, fetches, targets, options, dump.observer(), _as_placed)
        if len(parts) > 1:
            return PartitionedPlan(parts, self.stores, self.pool)
        return Plan(parts[0].graph, self._store(parts[0]))

    def _store(self, part: Partition) -> ResourceStore:
        return self.stores.get(part.device) or next(iter(self.stores.values()))

    # ---- whole steps ----

    def is_quick(self) -> bool:
        """Whether a step is over at once: it has shown that, and it never waits."""
        plan = self.plan
        return (
            self.watches is None
            and isinstance(plan, Plan)
            and plan.in_order
            and all(isinstance(unit, Region) and unit.tiny for unit in plan.prepared.units)
        )

    def run_quickly(self, call: GraphCall) -> GraphResult:
        """A step that is over at once."""
        values = self.plan.run(self._fed(call.feeds))
        return GraphResult(self._fetched(call.fetches, values))

    def start(self, call: GraphCall, step: WorkerStep) -> Any:
        """The `GraphResult` of one step, or a promise of it."""
        feeds = self._fed(call.feeds)
        trace = StepTrace() if call.recording.timeline else None
        watch = None if self.watches is None else self._watch(feeds)

        def finish(values: Sequence[Any]) -> GraphResult:
            step.rendezvous.flush()
            if watch is not None:
                watch.finish()
            stats = None if trace is None else _step_stats(trace)
            graphs = self._graphs(watch) if call.recording.partition_graphs else []
            return GraphResult(self._fetched(call.fetches, values), stats, graphs)

        if trace is None and self.flow is not None:
            return self.flow.start(feeds, finish, step.running, step.rendezvous)
        observe = _observer(trace, watch)
        rendezvous = step.rendezvous if self.has_transfers else None
        return self.plan.start(feeds, finish, StepContext(observe, None, step.running, rendezvous))

    def _watch(self, feeds: Sequence[Any]) -> StepWatch:
        watch = StepWatch(self.watches, self.plan.graphs, self._fed_names)
        watch.publish_graphs(feeds)
        return watch

    def _fed(self, feeds: Sequence[tuple[str, Any]]) -> Sequence[Any]:
        if not self.feed_keys:
            return ()
        given = dict(feeds)
        try:
            return [given[name] for name in self.feed_keys]
        except KeyError as missing:
            raise errors.InvalidArgumentError(
                None, None, f"Nothing was fed for {missing}"
            ) from None

    def _fetched(self, keys: Sequence[str], values: Sequence[Any]) -> list[tuple[str, Any]]:
        if not keys:
            return []
        try:
            made = {k: _read(value) for k, value in zip(self.fetch_keys, values, strict=True)}
        except errors.FailedPreconditionError as error:
            raise located_fetch(error, self.plan.graph, values) from None
        return [(name, made[name]) for name in keys]

    def _graphs(self, watch: StepWatch | None) -> list[Any]:
        if watch is not None:
            return watch.graphs
        return [dump.to_graph_def(graph) for graph in self.plan.graphs]

    # ---- steps in several calls ----

    def partial_plan(self) -> Any:
        """The graph as it was sent, node by node: its feeds and fetches meet in the rendezvous."""
        with self._lock:
            if self._partial is None:
                targets = _ends(self.operations, set())
                parts = prepare([], [], targets, _UNOPTIMIZED, None, _as_placed)
                if len(parts) > 1:
                    self._partial = PartitionedPlan(parts, self.stores, self.pool, True)
                else:
                    store = self._store(parts[0])
                    self._partial = Plan(parts[0].graph, store, by_tokens=True)
            return self._partial


def _operations(graph_def: Any) -> list[Operation]:
    for node in graph_def.node:
        if "_class" in node.attr:
            del node.attr["_class"]  # all nodes have a place, and not all of a group are here
    graph = Graph()
    try:
        add_nodes(graph, graph_def)
    except MALFORMED as error:
        raise errors.InvalidArgumentError(None, None, str(error)) from None
    operations = graph.get_operations()
    for op in operations:
        op._stack = ()
        comes_from_afar = op.definition.transfer == "recv" and not op.attrs["client_terminated"]
        if comes_from_afar and "_hop" not in op.attrs:
            op.attrs["_may_be_dead"] = True  # a master that does not say
    return operations


def _as_placed(graph: ClientGraph) -> None:
    """Every node has a device already; feeds are wherever they are needed."""


def _ends(operations: list[Operation], without: set[Operation]) -> list[Operation]:
    """The sinks of the graph; running them runs everything."""
    used: set[Operation] = set()
    for op in operations:
        used.update(tensor.op for tensor in op.inputs)
        used.update(op._control_inputs)
    return [op for op in operations if op not in used and op not in without]


def _pushes(operations: Sequence[Operation]) -> Pushes:
    """The tensors that the master has marked as pushed: to other tasks, and from them."""
    ends = [op for op in operations if op.definition.transfer and op.attrs.get(PUSH)]
    return Pushes(
        {
            transfer_key(op): op.attrs["recv_device"].partition("/device:")[0]
            for op in ends
            if op.definition.transfer == "send"
        },
        frozenset(transfer_key(op) for op in ends if op.definition.transfer == "recv"),
    )


def _read(value: Any) -> Any:
    return value.read() if isinstance(value, Variable) else value


def _observer(trace: StepTrace | None, watch: StepWatch | None) -> Observer | None:
    if trace is None and watch is None:
        return None

    def observe(node: Any, inputs: Any, outputs: Any, start: float, end: float) -> None:
        if trace is not None:
            trace(node, outputs, start, end)
        if watch is not None:
            watch(node, outputs)

    return observe


class _FedNames:
    """The nodes by which feeds come, as in the partition graphs of TensorFlow's workers."""

    def __init__(self, tensors: list[str]) -> None:
        self._tensors = tensors

    def argument(self, index: int) -> str:
        name, _, slot = self._tensors[index].partition(":")
        return f"_recv_{name}_{slot or 0}"


def _step_stats(trace: StepTrace) -> Any:
    from tensorboard.compat.proto.config_pb2 import RunMetadata

    metadata = RunMetadata()
    trace.fill(metadata)
    return metadata.step_stats
