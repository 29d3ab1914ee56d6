"""The watches of a step's RunOptions: which outputs are published, by which debug operation, where.

The plan of such a step has every node as it was written (`Options.as_written`), and `StepWatch`
sees each of them: also in loops, once per iteration, and in the branch that was taken.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from weft.core import errors
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor
from weft.passes.client_graph import ClientGraph, Node
from weft.passes.control_flow.structured_nodes import nodes_inside
from weft.runtime.debug import debug_ops, publish
from weft.runtime.debug.dump import fill_attrs, to_graph_def
from weft.runtime.debug.trace import HOST
from weft.runtime.resources import Variable

_ANY = "*"


def is_watched(options: Any) -> bool:
    """Whether RunOptions ask for tensors to be published."""
    return len(options.debug_options.debug_tensor_watch_opts) > 0


class StepNames(NamedTuple):
    """What a step is called by: what is fed, fetched and run."""

    feeds: tuple[tuple[str, int], ...]
    fetches: tuple[str, ...]
    targets: tuple[str, ...]

    @classmethod
    def of(
        cls, feeds: Sequence[Tensor], fetches: Sequence[Tensor], targets: Sequence[Operation]
    ) -> StepNames:
        fed = tuple((tensor.op.name, tensor.value_index) for tensor in feeds)
        return cls(fed, tuple(t.name for t in fetches), tuple(op.name for op in targets))

    def argument(self, index: int) -> str:
        """The name of the node that stands for a feed, as in TensorFlow's partition graphs."""
        name, slot = self.feeds[index]
        return f"_arg_{name}_{slot}_{index}"


class Arguments(Protocol):
    """What names the nodes that stand for feeds."""

    def argument(self, index: int) -> str: ...


def publish_names(options: Any, names: StepNames, run: int, plan_run: int) -> None:
    """Publishes the names of a step, in whose process nothing else may be known of it.

    It is the `run`th of its session, and the `plan_run`th of its plan.
    """
    sinks = publish.Sinks()
    for url in sorted({u for watch in options.debug_tensor_watch_opts for u in watch.debug_urls}):
        sinks.of(url).metadata(_names(options, names, run, plan_run))
    sinks.close()


def _names(options: Any, names: StepNames, run: int, plan_run: int) -> dict[str, Any]:
    return {
        "global_step": options.global_step,
        "session_run_index": run,
        "executor_step_index": plan_run,
        "input_names": [f"{name}:{slot}" for name, slot in names.feeds],
        "output_names": list(names.fetches),
        "target_nodes": list(names.targets),
    }


class _Watch(NamedTuple):
    op: debug_ops.DebugOp
    urls: tuple[str, ...]
    tolerant: bool


class StepWatch:
    """Publishes the watched outputs of one step; any thread may call it."""

    def __init__(self, options: Any, graphs: Sequence[ClientGraph], names: Arguments) -> None:
        self._options = options
        self._renamed = {
            node.name: names.argument(node.attrs["index"])
            for graph in graphs for node, _ in graph.feeds if node.definition.is_argument
        }  # fmt: skip
        self.graphs = [self._graph_def(graph) for graph in graphs]
        self._by_tensor = _table(options.debug_tensor_watch_opts, self.graphs)
        self._devices = {n.name: n.device for graph in self.graphs for n in graph.node}
        self._feeds = [node for graph in graphs for node, _ in graph.feeds]
        self._sinks = publish.Sinks()
        self._lock, self._last = threading.Lock(), 0

    def _graph_def(self, graph: ClientGraph) -> Any:
        message = to_graph_def(graph)
        for node, made in zip(graph.nodes, list(message.node), strict=True):
            _show_reads(node, made)
            _add_inside(node, message, made.device)
        for node in message.node:
            node.name = self._renamed.get(node.name, node.name)
            node.input[:] = [self._renamed.get(name, name) for name in node.input]
        return message

    def begin(self, values: Sequence[Any], names: StepNames, run: int, plan_run: int) -> None:
        """Publishes what is known before the step runs: its names, graphs and feeds."""
        for url in self._urls():
            self._sinks.of(url).metadata(_names(self._options, names, run, plan_run))
        self.publish_graphs(values)

    def _urls(self) -> list[str]:
        return sorted({u for watches in self._by_tensor.values() for w in watches for u in w.urls})

    def publish_graphs(self, values: Sequence[Any]) -> None:
        """Publishes the graphs of this process, and what is fed to them."""
        if self._options.reset_disk_byte_usage:
            publish.reset_disk_usage()
        for url in self._urls():
            sink = self._sinks.of(url)
            for graph in self.graphs:
                device = next((n.device for n in graph.node if n.device), HOST)
                sink.graph(self._with_gates(graph, url), device)
        for node in self._feeds:
            self(node, [values[node.attrs["index"]]])

    def _with_gates(self, graph: Any, url: str) -> Any:
        """The graph with a node for each tensor that the server at `url` may ask for."""
        gates = [
            (name, slot, number, watch.op.name)
            for (name, slot), watches in self._by_tensor.items() if name != _ANY
            for number, watch in enumerate(watches) if watch.op.is_gated and url in watch.urls
        ]  # fmt: skip
        if not gates:
            return graph
        copy, here = type(graph)(), {node.name for node in graph.node}
        copy.CopyFrom(graph)
        for name, slot, number, op in gates:
            if name in here:
                entry = copy.node.add(name=f"__dbg_{name}:{slot}_{number}_{op}", op=op)
                entry.input.append(f"{name}:{slot}")
                entry.attr["gated_grpc"].b = True
        return copy

    def __call__(self, node: Node, outputs: Sequence[Any]) -> None:
        name = self._renamed.get(node.name, node.name)
        device = self._devices.get(name)
        if device is None:  # an argument of a loop's body, or what a pass has put in
            return
        for slot, value in enumerate(outputs):
            watches = self._by_tensor.get((name, slot)) or self._by_tensor.get((_ANY, -1))
            if watches and value is not None and slot < len(node.dtypes):
                key = publish.Key(device, name, slot)
                for watch in watches:
                    self._publish(watch, key, _shown(value, node, slot), node.dtypes[slot])

    def _publish(self, watch: _Watch, key: publish.Key, value: Any, dtype: Any) -> None:
        if value is None:
            return
        try:
            made = watch.op(value, dtype)
        except errors.FailedPreconditionError:
            if watch.tolerant:
                return
            raise
        if made is None:
            return
        with self._lock:
            self._last = now = max(int(time.time() * 1e6), self._last + 1)
            for url in watch.urls:
                self._sinks.of(url).tensor(key, watch.op, made, dtype, now)

    def finish(self) -> None:
        """Sends what is under way; publishing that failed is the step's error."""
        self._sinks.close()


def _table(watches: Any, graphs: list[Any]) -> dict[tuple[str, int], list[_Watch]]:
    """The watches of each output of a step's nodes; those of (`*`, -1) are for all others."""
    there = {node.name for graph in graphs for node in graph.node} | {_ANY}
    found: dict[tuple[str, int], dict[Any, _Watch]] = {}
    for watch in watches:
        if watch.node_name not in there:
            continue
        tensor = f"{watch.node_name}:{watch.output_slot}"
        for number, specification in enumerate(watch.debug_ops or ("DebugIdentity",)):
            op = debug_ops.parse(specification, tensor, number)
            urls = tuple(dict.fromkeys(watch.debug_urls))
            made = _Watch(op, urls, watch.tolerate_debug_op_creation_failures)
            place = watch.node_name, watch.output_slot
            found.setdefault(place, {})[specification, made.urls] = made
    return {place: list(each.values()) for place, each in found.items()}


def _show_reads(node: Node, message: Any) -> None:
    """Puts the reads of reference variables back where the step goes around them."""
    for read in node.controls:
        if read.definition.is_identity and read.inputs[0] in node.inputs:
            source, i = read.inputs[0]
            past = source.name if i == 0 else f"{source.name}:{i}"
            names = [name for name in message.input if name != f"^{read.name}"]
            message.input[:] = [read.name if name == past else name for name in names]


def _add_inside(node: Node, message: Any, device: str) -> None:
    """Adds the nodes inside of a loop or conditional that is one node, to be found by name."""
    known = {each.name for each in message.node}
    for inner in nodes_inside(node):
        if inner.name not in known and not inner.definition.is_argument:
            known.add(inner.name)
            entry = message.node.add(name=inner.name, op=inner.type, device=inner.device or device)
            fill_attrs(entry, inner)
            sources = [(n.name if i == 0 else f"{n.name}:{i}") for n, i in inner.inputs]
            entry.input.extend(name for name in sources if name.partition(":")[0] in known)


def _shown(value: Any, node: Node, slot: int) -> Any:
    """A value as an array, or what is known of one that has none."""
    if isinstance(value, Variable):
        if not node.dtypes[slot]._is_ref_dtype:
            return debug_ops.Resource(node.name)
        if not value.initialized:
            dims = tuple(extent or 0 for extent in value.dims or ())
            return debug_ops.Uninitialized(value.dtype, dims)
        return value.read()
    if isinstance(value, (np.ndarray, np.generic)):
        return value
    return np.asarray(value) if hasattr(value, "__array__") else debug_ops.Resource(node.name)
