"""The graph of one device as a debugger looks at it: inputs and recipients of every node, by name.

A graph that TensorFlow wrote may hold the nodes that its debugger put in (`__copy_...`,
`__dbg_...`); they are left out, and the edges go past them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from weft.graph.graph_def import new_graph_def
from weft.graph.op_def import REGISTRY
from weft.lib.debug.names import get_node_name

_COPY, _DEBUG = "__copy_", "__dbg_"


def is_copy_node(node_name: str) -> bool:
    return node_name.startswith(_COPY)


def is_debug_node(node_name: str) -> bool:
    return node_name.startswith(_DEBUG)


def parse_debug_node_name(node_name: str) -> tuple[str, int, int, str]:
    """`__dbg_a/b:0_1_DebugNanCount` -> (`a/b`, 0, 1, `DebugNanCount`)."""
    if not is_debug_node(node_name):
        raise ValueError(f"Invalid prefix in debug node name: '{node_name}'")
    parts = node_name.removeprefix(_DEBUG).rsplit("_", 2)
    if len(parts) != 3:
        raise ValueError(f"Invalid debug node name: '{node_name}'")
    tensor, number, debug_op = parts
    if tensor.count(":") != 1:
        raise ValueError(f"Invalid tensor name in debug node name: '{node_name}'")
    watched, _, slot = tensor.partition(":")
    return watched, int(slot), int(number), debug_op


class DebugGraph:
    """Tables by the names of nodes."""

    def __init__(self, debug_graph_def: Any, device_name: str | None = None) -> None:
        self.debug_graph_def = debug_graph_def
        named = (node.device for node in debug_graph_def.node if node.device)
        self.device_name: Any = device_name or next(named, None)
        self._copied = {n.name: n.input[0] for n in debug_graph_def.node if is_copy_node(n.name)}
        self.node_attributes: dict[str, Any] = {}
        self.node_devices: dict[str, set[str]] = {}
        self.node_op_types: dict[str, str] = {}
        self.node_inputs: dict[str, list[str]] = {}
        self.node_ctrl_inputs: dict[str, list[str]] = {}
        self._kept = [
            node for node in debug_graph_def.node
            if not (is_copy_node(node.name) or is_debug_node(node.name))
        ]  # fmt: skip
        for node in self._kept:
            self._add(node)
        self.node_recipients = self._recipients(self.node_inputs)
        self.node_ctrl_recipients = self._recipients(self.node_ctrl_inputs)
        self.node_reversed_ref_inputs = {
            name: users
            for name, users in self.node_recipients.items()
            if users and _gives_reference(self.node_op_types.get(name, ""))
        }

    def _add(self, node: Any) -> None:
        if node.name in self.node_inputs:
            raise ValueError(f"Duplicate node name on device {self.device_name}: '{node.name}'")
        self.node_attributes[node.name] = node.attr
        self.node_devices[node.name] = {node.device or self.device_name}
        self.node_op_types[node.name] = node.op
        controls = [name[1:] for name in node.input if name.startswith("^")]
        self.node_ctrl_inputs[node.name] = [n for n in controls if not is_debug_node(n)]
        data = [name for name in node.input if not name.startswith("^")]
        self.node_inputs[node.name] = [self._copied.get(get_node_name(n), n) for n in data]

    def _recipients(self, inputs: dict[str, list[str]]) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {name: [] for name in self.node_inputs}
        for user, sources in inputs.items():
            for source in sources:
                found.setdefault(get_node_name(source), []).append(user)
        return found

    @property
    def non_debug_graph_def(self) -> Any:
        """The graph without the debugger's nodes."""
        made = new_graph_def()
        for node in self._kept:
            copy = made.node.add()
            copy.CopyFrom(node)
            controls = [f"^{name}" for name in self.node_ctrl_inputs[node.name]]
            copy.input[:] = self.node_inputs[node.name] + controls
        return made


def _gives_reference(op_type: str) -> bool:
    definition = REGISTRY.get(op_type)
    return definition is not None and any(arg.is_ref for arg in definition.output_args)


def reconstruct_non_debug_graph_def(debug_graph_def: Any) -> Any:
    return DebugGraph(debug_graph_def).non_debug_graph_def


# ---- ways ----------------------------------------------------------------------------------------


class GraphTracingReachedDestination(Exception):
    """The node that was looked for has been found."""


class DFSGraphTracer:
    """Walks back from a node, depth first; `inputs` are met in this order, with their depths."""

    def __init__(
        self, input_lists: list[dict[str, list[str]]], skip_node_names: Iterable[str] = (),
        destination_node_name: str | None = None,
    ) -> None:  # fmt: skip
        self._lists, self._skipped = input_lists, frozenset(skip_node_names)
        self._goal = destination_node_name
        self._visited: set[str] = set()
        self._met: list[tuple[str, int]] = []

    def trace(self, graph_element_name: str) -> None:
        """Walks; GraphTracingReachedDestination when it comes to the destination."""
        stack: list[Any] = [iter(self._enter(graph_element_name))]
        while stack:
            source = next(stack[-1], None)
            if source is None:
                stack.pop()
            elif get_node_name(source) not in self._visited:
                self._met.append((source, len(stack)))
                stack.append(iter(self._enter(source)))

    def _enter(self, element: str) -> list[str]:
        """The inputs of a node that is met for the first time."""
        name = get_node_name(element)
        if name == self._goal:
            raise GraphTracingReachedDestination
        if name in self._skipped or name in self._visited:
            return []
        self._visited.add(name)
        return [source for inputs in self._lists for source in inputs.get(name, ())]

    def inputs(self) -> list[str]:
        return [name for name, _ in self._met]

    def depth_list(self) -> list[int]:
        return [depth for _, depth in self._met]
