"""A placed graph -> one graph per device; where an edge was cut, a Send and a Receive.

A tensor goes to each device once, for all its users there. Feeds and constants are copied instead,
and so are shapes of what is there already. Loops that are spread over devices get, on every device
that takes part, a small loop of their own that repeats the verdict of the one that decides: it
keeps the frames in step and starts the receives of each iteration.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.core import dtypes, errors
from weft.core.walk import as_ready
from weft.graph.op_def import REGISTRY
from weft.ops.devices.transfer import RECV, SEND
from weft.passes.client_graph import ClientGraph, Edge, Node, topological
from weft.passes.frames import Frames, entering, frames, leaving, may_be_dead, other_turns


@dataclass(frozen=True)
class PartitionOptions:
    """`as_bfloat16`: 32-bit floats travel as 16. `incarnations` tell lives of a device apart."""

    as_bfloat16: bool = False
    incarnations: Mapping[str, int] | None = None


PLAIN = PartitionOptions()


@dataclass
class Partition:
    """The part of a step that one device does.

    `feeds` and `fetches` say which of the step's feeds its graph takes, which fetches it gives.
    """

    device: str
    graph: ClientGraph
    feeds: list[int]
    fetches: list[int]


def partition(graph: ClientGraph, options: PartitionOptions = PLAIN) -> list[Partition]:
    """Cuts the graph by `node.device`. A graph on one device comes back as it is."""
    follow(graph)
    used = {n.device for n in graph.nodes if not is_everywhere(n)}
    if len(used) <= 1:
        device = used.pop() if used else (graph.nodes[0].device if graph.nodes else "")
        everything = list(range(len(graph.feeds))), list(range(len(graph.fetches)))
        return [Partition(device, graph, *everything)]
    _read_in_order(graph)
    return _Cutter(graph, options).cut()


def _is_measure(node: Node) -> bool:
    """Whether a node tells one shape, size or rank."""
    return node.definition.measures is not None and node.definition.single_output


def is_everywhere(node: Node) -> bool:
    """Feeds and constants: every device that needs one has its own."""
    return node.definition.is_argument or (node.definition.is_constant and not node.controls)


def follow(graph: ClientGraph) -> None:
    """Puts the nodes of loops and branches where what they pass on is, to cut fewer edges."""
    users: dict[Node, Node] = {}
    for node in graph.nodes:
        kind = node.definition.control_flow
        for source, _ in node.inputs:
            users.setdefault(source, node)
        if kind in ("switch", "exit") and not is_everywhere(node.inputs[0][0]):
            node.device = node.inputs[0][0].device
    for node in reversed(graph.nodes):
        kind = node.definition.control_flow
        if kind == "next_iteration" or (kind == "enter" and not node.dtypes[0]._is_ref_dtype):
            if node in users:
                node.device = users[node].device


def _read_in_order(graph: ClientGraph) -> None:
    """Lets what a node waits for come before its read of a variable on another device.

    The value is sent by the variable's device, which would else have nothing to wait for.
    """
    names = {node.name for node in graph.nodes}
    ordered = []
    for node in graph.nodes:
        for place, (source, i) in enumerate(node.inputs):
            away = source.device != node.device and not is_everywhere(source)
            if away and node.controls and source.dtypes[i]._is_ref_dtype:
                read = _read_for(node, (source, i), names)
                node.inputs[place] = (read, 0)
                ordered.append(read)
        ordered.append(node)
    graph.nodes[:] = ordered


def _read_for(node: Node, edge: Edge, names: set[str]) -> Node:
    source, i = edge
    name = next(
        name for n in itertools.count() if (name := f"{source.name}/_read_{n}") not in names
    )
    names.add(name)
    dtype = source.dtypes[i].base_dtype
    return Node(
        name, REGISTRY["Identity"], {"T": dtype}, [edge], list(node.controls), [dtype],
        [source.dims[i]], source.op, source.device,
    )  # fmt: skip


class _Cutter:
    def __init__(self, graph: ClientGraph, options: PartitionOptions) -> None:
        self.graph, self.options = graph, options
        self.names = {n.name for n in graph.nodes}
        self.count = 0
        self.loops: dict[tuple[str, str], Node] = {}
        self.frames = frames(graph)
        self.dead = may_be_dead(graph)
        self.hops, self.awaited = self._distances()
        self.parts: dict[str, list[Node]] = {}
        self.copies: dict[tuple[Node, str], Node] = {}
        self.received: dict[tuple[Edge, str], Edge] = {}
        self.signals: dict[tuple[Node, str], Node] = {}
        self.tokens: dict[Node, Node] = {}

    def cut(self) -> list[Partition]:
        self._add_control_loops()
        self.inputs = {node: list(node.inputs) for node in self.graph.nodes}
        kept = [node for node in self.graph.nodes if not is_everywhere(node)]
        for node in kept:
            part = self._part(node.device)
            node.inputs = [self._edge(edge, node) for edge in node.inputs]
            part.append(node)
        for node in kept:  # after all data, which tells of its source just as well as a signal
            node.controls = [self._control(source, node) for source in node.controls]
        fetches = [self._fetched(edge) for edge in self.graph.fetches]
        return [self._finish(device, fetches) for device in self.parts]

    def _distances(self) -> tuple[dict[Node, int], dict[Node, int]]:
        return _hops(self.graph, self.frames), _awaited(self.graph, self.frames)

    def _part(self, device: str) -> list[Node]:
        return self.parts.setdefault(device, [])

    def _finish(self, device: str, fetches: list[tuple[str, Edge]]) -> Partition:
        args = [
            (i, self.copies[node, device])
            for i, (node, _) in enumerate(self.graph.feeds)
            if (node, device) in self.copies
        ]
        mine = [i for i, (home, _) in enumerate(fetches) if home == device]
        nodes = self._part(device)
        targets = [n for n in self.graph.targets if n.device == device and not is_everywhere(n)]
        targets += [n for n in nodes if n.definition.transfer == "send"]
        graph = ClientGraph(
            [
                *(arg for _, arg in args),
                *by_readiness([n for n in nodes if not n.definition.is_argument]),
            ],
            [(arg, 0) for _, arg in args],
            [fetches[i][1] for i in mine],
            targets,
        )
        return Partition(device, graph, [i for i, _ in args], mine)

    def _fetched(self, edge: Edge) -> tuple[str, Edge]:
        node, i = edge
        if not is_everywhere(node):
            return node.device, edge
        device = next(iter(self.parts), node.device)
        return device, (self._copy(node, device), i)

    # ---- edges ----

    def _edge(self, edge: Edge, user: Node) -> Edge:
        source, i = edge
        if is_everywhere(source):
            return self._copy(source, user.device), i
        if source.device == user.device:
            return edge
        if _is_measure(source) and self._is_here(self.inputs[source][0], user.device):
            return self._shape(source, user), i
        return self._receive(edge, user)

    def _control(self, source: Node, user: Node) -> Node:
        if is_everywhere(source):
            return self._copy(source, user.device)
        if source.device == user.device:
            return source
        for i in range(len(source.dtypes)):
            known = self.received.get(((source, i), user.device))
            if known is not None and source.definition.control_flow != "switch":
                return self._token(known[0])  # what it made being here says that it is done
        if (source, user.device) not in self.signals:
            signal = self._signal(source)
            self.signals[source, user.device] = self._transfer((signal, 0), source, user)
        return self._token(self.signals[source, user.device])

    def _token(self, recv: Node) -> Node:
        """A node to wait for that is dead if what is received is.

        For TensorFlow's workers, which may be among those of a cluster, a receive is never dead,
        but what uses its value may be.
        """
        may_be_dead = recv.definition is RECV and "_may_be_dead" in recv.attrs
        if self.options.incarnations is None or not may_be_dead:
            return recv
        if recv not in self.tokens:
            attrs = {"T": recv.dtypes[0]}
            made = self._node(
                recv.name, REGISTRY["Identity"], attrs, [(recv, 0)], recv, recv.device
            )
            self._part(recv.device).append(made)
            self.tokens[recv] = made
        return self.tokens[recv]

    def _copy(self, node: Node, device: str) -> Node:
        made = self.copies.get((node, device))
        if made is None:
            made = Node(
                node.name, node.definition, node.attrs, [], [], node.dtypes, node.dims, node.op,
                device,
            )  # fmt: skip
            self.copies[node, device] = made
            self._part(device).append(made)
        return made

    def _is_here(self, edge: Edge, device: str) -> bool:
        node = edge[0]
        return node.device == device or is_everywhere(node) or (edge, device) in self.received

    def _shape(self, shape: Node, user: Node) -> Node:
        """Another Shape, of what is on the device of `user` already."""
        made = self.copies.get((shape, user.device))
        if made is None:
            here = self._edge(self.inputs[shape][0], user)
            made = self._node(shape.name, shape.definition, shape.attrs, [here], shape, user.device)
            self.copies[shape, user.device] = made
            self._part(user.device).append(made)
        return made

    def _receive(self, edge: Edge, user: Node) -> Edge:
        known = self.received.get((edge, user.device))
        if known is None:
            source, i = edge
            if source.dtypes[i] is dtypes.resource:
                raise errors.InternalError(
                    None, None, f"{user.name} on {user.device} uses a resource of {source.device}"
                )
            known = self.received[edge, user.device] = self._send(edge, user)
        return known

    def _send(self, edge: Edge, user: Node) -> Edge:
        source, i = edge
        if not self._halved(edge):
            return self._transfer(edge, source, user), 0
        small = self._cast(edge, dtypes.bfloat16, source.device)
        self._part(source.device).append(small)
        arrived = self._transfer((small, 0), source, user)
        whole = self._cast((arrived, 0), source.dtypes[i].base_dtype, user.device)
        self._part(user.device).append(whole)
        return whole, 0

    def _halved(self, edge: Edge) -> bool:
        source, i = edge
        asked = self.options.as_bfloat16 or source.attrs.get("_bfloat16_sendrecv", False)
        return bool(asked) and source.dtypes[i].base_dtype is dtypes.float32

    def _cast(self, edge: Edge, to: dtypes.DType, device: str) -> Node:
        source, i = edge
        kept = source.dtypes[i].base_dtype
        attrs = {"SrcT": kept, "DstT": to, "Truncate": to is dtypes.bfloat16}
        made = self._node(f"{source.name}/cast", REGISTRY["Cast"], attrs, [edge], source, device)
        made.dtypes, made.dims = [to], [source.dims[i]]
        return made

    def _transfer(self, edge: Edge, source: Node, user: Node) -> Node:
        """A pair of nodes that brings `edge` to the device of `user`; returns the one there."""
        node, i = edge
        dtype = node.dtypes[i].base_dtype
        ends = {
            "tensor_name": f"edge_{self.count}_{source.name}",
            "send_device": source.device,
            "send_device_incarnation": (self.options.incarnations or {}).get(source.device, 1),
            "recv_device": user.device,
            "client_terminated": False,
        }
        name = source.name
        send = self._node(name, SEND, {"T": dtype, **ends}, [edge], source, source.device)
        recv = self._node(name, RECV, {"tensor_type": dtype, **ends}, [], source, user.device)
        recv.dtypes, recv.dims = [dtype], [node.dims[i]]
        recv.attrs["_hop"] = self.hops[source] + 1
        recv.attrs["_after"] = self.awaited[source]
        inside = leaving(source, self.frames)
        if inside or source in self.dead:
            send.attrs["_may_be_dead"] = recv.attrs["_may_be_dead"] = True
        if inside:
            recv.controls = [self.loops[inside[-1], user.device]]
        self._part(source.device).append(send)
        self._part(user.device).append(recv)
        return recv

    def _signal(self, source: Node) -> Node:
        """An empty tensor that is there once `source` is done: a control edge, to be sent."""
        empty = np.zeros(0, np.float32)
        attrs = {"dtype": dtypes.float32, "value": empty}
        made = self._node(source.name, REGISTRY["Const"], attrs, [], source, source.device)
        made.dtypes, made.dims, made.controls = [dtypes.float32], [(0,)], [source]
        self._part(source.device).append(made)
        return made

    def _node(
        self, name: str, kind: Any, attrs: dict[str, Any], inputs: list[Edge], like: Node,
        device: str,
    ) -> Node:  # fmt: skip
        """A new node with a name of its own; its outputs are those of `like` where it has any."""
        self.count += 1
        while f"{name}/_{self.count}" in self.names:
            self.count += 1
        unique = f"{name}/_{self.count}"
        outputs = len(kind.output_args)
        return Node(
            unique, kind, attrs, inputs, [], list(like.dtypes[:outputs]),
            list(like.dims[:outputs]), like.op, device,
        )  # fmt: skip

    # ---- loops over several devices ----

    def _add_control_loops(self) -> None:
        verdicts = {
            self.frames[n][-1]: n
            for n in self.graph.nodes
            if n.definition.control_flow == "loop_cond" and self.frames[n]
        }
        enters = {
            n.attrs["frame_name"]: n
            for n in self.graph.nodes
            if n.definition.control_flow == "enter"
        }
        for node in list(self.graph.nodes):
            for source in node.sources:
                inside = leaving(source, self.frames)
                if is_everywhere(source) or source.device == node.device or not inside:
                    continue
                if inside == entering(node, self.frames):
                    self._control_loop(inside, node.device, verdicts, enters)
        if self.loops:
            self.graph.nodes = by_readiness(self.graph.nodes)
            self.hops, self.awaited = self._distances()

    def _control_loop(
        self, inside: Frames, device: str, verdicts: dict[str, Node], enters: dict[str, Node]
    ) -> Node:
        """The Merge of a loop on `device` that goes round as often as the loop `inside[-1]`."""
        name = inside[-1]
        known = self.loops.get((name, device))
        if known is not None:
            return known
        if name not in verdicts:
            raise errors.InvalidArgumentError(
                None, None, f"A cross-device loop must have a pivot predicate: {name}"
            )
        verdict, enter = verdicts[name], enters[name]
        if len(inside) > 1:
            start = self._control_loop(inside[:-1], device, verdicts, enters)
        else:
            attrs = {"dtype": dtypes.float32, "value": np.zeros(0, np.float32)}
            start = self._loop_node("Const", attrs, [], verdict, device, ())
        kind = {"T": dtypes.float32}
        limit = enter.attrs.get("parallel_iterations", 10)
        attrs = {**kind, "frame_name": name, "is_constant": False, "parallel_iterations": limit}
        first = self._loop_node("Enter", attrs, [(start, 0)], verdict, device, inside)
        merge = self._loop_node("Merge", {**kind, "N": 2}, [(first, 0)], verdict, device, inside)
        merge.dtypes.append(dtypes.int32)
        merge.dims.append(())
        self.loops[name, device] = merge
        turn = self._loop_node(
            "Switch", kind, [(merge, 0), (verdict, 0)], verdict, device, inside
        )  # fmt: skip
        turn.dtypes.append(dtypes.float32)
        turn.dims.append((0,))
        back = self._loop_node("NextIteration", kind, [(turn, 1)], verdict, device, inside)
        merge.inputs.append((back, 0))
        return merge

    def _loop_node(
        self, kind: str, attrs: dict[str, Any], inputs: list[Edge], like: Node, device: str,
        inside: Frames,
    ) -> Node:  # fmt: skip
        made = self._node(f"{like.name}/_cloop", REGISTRY[kind], attrs, inputs, like, device)
        made.dtypes, made.dims = [dtypes.float32], [(0,)]
        self.graph.nodes.append(made)
        self.frames[made] = inside
        return made


def _hops(graph: ClientGraph, frame_of: dict[Node, Frames]) -> dict[Node, int]:
    """How many devices the longest way to each node goes through, but for the first."""
    hops: dict[Node, int] = {}
    turns = other_turns(graph, frame_of)
    for node in topological(graph.nodes, turns):
        far = 0
        for source in [*node.sources, *turns.get(node, ())]:
            cut = source.device != node.device and not is_everywhere(source)
            far = max(far, hops.get(source, 0) + cut)
        hops[node] = far
    return hops


def _awaited(graph: ClientGraph, frame_of: dict[Node, Frames]) -> dict[Node, int]:
    """A number for the operations that may have to wait and come before each node; 0 for none.

    What one of them waits for may hang on anything that another node of the step starts.
    """
    numbers, bits = {0: 0}, 0
    before: dict[Node, int] = {}
    turns = other_turns(graph, frame_of)
    for node in topological(graph.nodes, turns):
        before[node] = 0
        if node.definition.blocking:
            before[node], bits = 1 << bits, bits + 1
        for source in [*node.sources, *turns.get(node, ())]:
            before[node] |= before.get(source, 0)
        numbers.setdefault(before[node], len(numbers))
    return {node: numbers[found] for node, found in before.items()}


def by_readiness(nodes: list[Node]) -> list[Node]:
    """Topological order: what uses a node comes soon after it, as it would run. The way back of a
    loop does not count."""
    known = set(nodes)

    def before(node: Node) -> list[Node]:
        found = [n for n, _ in node.inputs if n in known and not _back(n, node)]
        return found + [n for n in node.controls if n in known]

    def rank(node: Node, n: int) -> tuple[int, int]:
        """The node that became ready last comes first; nodes without sources, in their order."""
        return (0, -n) if before(node) else (1, n)

    return as_ready(nodes, before, rank)


def _back(source: Node, user: Node) -> bool:
    turns = source.definition.control_flow == "next_iteration"
    return turns and user.definition.control_flow == "merge"
