"""The calls of a layer: its inputs, outputs, their shapes and masks."""

from __future__ import annotations

from typing import Any

from weft.core import nest
from weft.lib.keras.engine.history import KerasHistory
from weft.lib.keras.engine.node import Node


def mask_of(x: Any) -> Any:
    return getattr(x, "_keras_mask", None)


class LayerNodes:
    name: Any
    _inbound_nodes: list[Node]
    _outbound_nodes: list[Node]

    def _add_inbound_node(
        self, input_tensors: Any, output_tensors: Any, arguments: dict[str, Any] | None = None
    ) -> None:
        """Records that the layer turned `input_tensors`, all from layers, into others."""

        def part(index: int) -> Any:
            return nest.map_structure(lambda t: t._keras_history[index], input_tensors)

        Node(self, part(0), part(1), part(2), input_tensors, output_tensors, arguments)
        node_index = len(self._inbound_nodes) - 1
        for i, tensor in enumerate(nest.flatten(output_tensors)):
            tensor._keras_history = KerasHistory(self, node_index, i)

    @property
    def inbound_nodes(self) -> list[Node]:
        return self._inbound_nodes

    @property
    def outbound_nodes(self) -> list[Node]:
        return self._outbound_nodes

    # ---- of one call ----

    def _at_node(self, node_index: int, attribute: str, what: str) -> Any:
        nodes = self._inbound_nodes
        if not nodes:
            raise RuntimeError(f"The layer has never been called and thus has no defined {what}.")
        if node_index >= len(nodes):
            raise ValueError(
                f"Asked to get {what} at node {node_index}, but the layer has only {len(nodes)} "
                "inbound nodes."
            )
        values = getattr(nodes[node_index], attribute)
        is_single = isinstance(values, list) and len(values) == 1
        return values[0] if is_single else values

    def get_input_at(self, node_index: int) -> Any:
        return self._at_node(node_index, "input_tensors", "input")

    def get_output_at(self, node_index: int) -> Any:
        return self._at_node(node_index, "output_tensors", "output")

    def get_input_shape_at(self, node_index: int) -> Any:
        return self._at_node(node_index, "input_shapes", "input shape")

    def get_output_shape_at(self, node_index: int) -> Any:
        return self._at_node(node_index, "output_shapes", "output shape")

    def get_input_mask_at(self, node_index: int) -> Any:
        return _masks(self.get_input_at(node_index))

    def get_output_mask_at(self, node_index: int) -> Any:
        return _masks(self.get_output_at(node_index))

    # ---- of the only call ----

    @property
    def input(self) -> Any:
        if not self._inbound_nodes:
            raise AttributeError(f"Layer {self.name} is not connected, no input to return.")
        return self.get_input_at(0)

    @property
    def output(self) -> Any:
        if not self._inbound_nodes:
            raise AttributeError(f"Layer {self.name} has no inbound nodes.")
        return self.get_output_at(0)

    @property
    def input_mask(self) -> Any:
        return _masks(self.input)

    @property
    def output_mask(self) -> Any:
        return _masks(self.output)

    @property
    def input_shape(self) -> Any:
        return self._shape_of_all("input")

    @property
    def output_shape(self) -> Any:
        return self._shape_of_all("output")

    def _shape_of_all(self, what: str) -> Any:
        """The shape that inputs or outputs had in every call."""
        if not self._inbound_nodes:
            raise AttributeError(
                f"The layer has never been called and thus has no defined {what} shape."
            )
        shapes = [getattr(node, f"{what}_shapes") for node in self._inbound_nodes]
        if len({str(shape) for shape in shapes}) == 1:
            return shapes[0]
        raise AttributeError(
            f'The layer "{self.name}" has multiple inbound nodes, with different {what} shapes. '
            f'Hence the notion of "{what} shape" is ill-defined for the layer. Use '
            f"`get_{what}_shape_at(node_index)` instead."
        )


def _masks(tensors: Any) -> Any:
    if isinstance(tensors, list):
        return [mask_of(x) for x in tensors]
    return mask_of(tensors)
