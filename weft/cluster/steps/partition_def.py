"""The partitions that one worker runs -> the GraphDef that is registered with it.

Feeds and fetches become `_Recv` and `_Send` nodes with `client_terminated`, as TensorFlow has it:
the worker finds there under which key the client's values come and go.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from weft.core import dtypes
from weft.graph import shape_fn as s
from weft.graph.function import write_library
from weft.graph.graph import Graph
from weft.graph.graph_def import attr_to_proto, new_graph_def
from weft.ops.devices.transfer import RECV, SEND, key
from weft.passes.client_graph import Edge, Node
from weft.passes.partition import Partition
from weft.runtime.debug import dump

PUSH = "_push"
"""The attribute of both ends of a transfer whose value goes unasked."""

# Of tensors that are pushed; larger ones wait until there is use for them.
_MOST_PUSHED = 1 << 20


@dataclass
class WorkerGraph:
    """The graph that one task is to run. `feeds` and `fetches` are (position in the step, key)."""

    task: str
    graph_def: Any
    feeds: list[tuple[int, str]] = field(default_factory=list)
    fetches: list[tuple[int, str]] = field(default_factory=list)


def by_task(
    parts: Sequence[Partition],
    graph: Graph,
    feeds: Sequence[str],
    fetches: Sequence[str],
    incarnations: Mapping[str, int],
    pushing: Collection[str] = (),
) -> list[WorkerGraph]:
    """One graph per task that has a part in the step. The tasks `pushing` can do that."""
    tasks: dict[str, list[Partition]] = {}
    for part in parts:
        tasks.setdefault(task_of(part.device), []).append(part)
    pushed = {
        key(node.attrs)
        for part in parts
        for node in part.graph.nodes
        if node.definition.transfer == "recv" and _is_pushed(node, pushing)
    }
    return [
        _Writer(task, graph, incarnations, pushed).write(mine, feeds, fetches)
        for task, mine in tasks.items()
    ]


def task_of(device: str) -> str:
    return device.partition("/device:")[0]


def _is_pushed(recv: Node, pushing: Collection[str]) -> bool:
    """Whether a tensor is pushed: a small one, of no loop or branch, between tasks that push."""
    ends = task_of(recv.attrs["send_device"]), task_of(recv.attrs["recv_device"])
    if ends[0] == ends[1] or not set(ends) <= set(pushing) or "_may_be_dead" in recv.attrs:
        return False
    size, dtype = s.size(recv.dims[0]), recv.dtypes[0]
    if size is None or dtype in (dtypes.string, dtypes.variant):
        return False  # of unknown size
    return size * dtype.size <= _MOST_PUSHED


class _Writer:
    def __init__(
        self, task: str, graph: Graph, incarnations: Mapping[str, int], pushed: Collection[str]
    ) -> None:
        self.graph, self.incarnations, self.pushed = graph, incarnations, pushed
        self.made = WorkerGraph(task, new_graph_def())
        self.names: dict[Node, str] = {}
        self.taken: set[str] = set()

    def write(
        self, parts: Sequence[Partition], feeds: Sequence[str], fetches: Sequence[str]
    ) -> WorkerGraph:
        made = self.made
        made.graph_def.versions.producer = self.graph._producer
        for part in parts:
            for node in part.graph.nodes:
                self._name(node, node.name)
        for part in parts:
            for node in part.graph.nodes:
                if not node.definition.is_argument:
                    self._node(node, part.device)
            for position, (node, _) in zip(part.feeds, part.graph.feeds, strict=True):
                self._feed(node, position, feeds[position], part.device)
            for position, edge in zip(part.fetches, part.graph.fetches, strict=True):
                self._fetch(edge, position, fetches[position], part.device)
        if self.graph._functions:
            write_library(self.graph, made.graph_def.library)
        return made

    def _name(self, node: Node | None, wanted: str) -> str:
        """A name of its own: constants have copies on several devices."""
        name, count = wanted, 0
        while name in self.taken:
            count += 1
            name = f"{wanted}/_copy{count}"
        self.taken.add(name)
        if node is not None:
            self.names[node] = name
        return name

    def _text(self, edge: Edge) -> str:
        node, i = edge
        return self.names[node] if i == 0 else f"{self.names[node]}:{i}"

    def _node(self, node: Node, device: str) -> None:
        entry = self.made.graph_def.node.add(name=self.names[node], op=node.type, device=device)
        entry.input.extend(self._text(edge) for edge in node.inputs)
        entry.input.extend(f"^{self.names[c]}" for c in node.controls)
        dump.fill_attrs(entry, node)
        if node.definition.transfer and key(node.attrs) in self.pushed:
            entry.attr[PUSH].b = True
        if node.definition.transfer == "recv":
            entry.attr["_output_shapes"].CopyFrom(attr_to_proto(node.dims, "list(shape)"))

    def _feed(self, node: Node, position: int, feed: str, device: str) -> None:
        ends = self._ends(feed, device)
        entry = self.made.graph_def.node.add(name=self.names[node], op=RECV.name, device=device)
        _fill(entry, {"tensor_type": node.dtypes[0].base_dtype, **ends})
        entry.attr["_output_shapes"].CopyFrom(attr_to_proto(node.dims, "list(shape)"))
        self.made.feeds.append((position, f"{key(ends)};0:0"))

    def _fetch(self, edge: Edge, position: int, fetch: str, device: str) -> None:
        ends = self._ends(fetch, device)
        name = self._name(None, f"_send_{position}_{edge[0].name}")
        entry = self.made.graph_def.node.add(name=name, op=SEND.name, device=device)
        entry.input.append(self._text(edge))
        _fill(entry, {"T": edge[0].dtypes[edge[1]].base_dtype, **ends})
        self.made.fetches.append((position, f"{key(ends)};0:0"))

    def _ends(self, name: str, device: str) -> dict[str, Any]:
        """Both ends are where the node is: the worker itself puts in and takes out the value."""
        return {
            "tensor_name": name,
            "send_device": device,
            "send_device_incarnation": self.incarnations.get(device, 1),
            "recv_device": device,
            "client_terminated": True,
        }


def _fill(entry: Any, attrs: dict[str, Any]) -> None:
    for name, value in attrs.items():
        entry.attr[name].CopyFrom(attr_to_proto(value, None))
