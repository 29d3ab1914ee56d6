"""One call of a layer: what went in, from which calls of which layers, and what came out."""

from __future__ import annotations

from typing import Any

from weft.core import nest
from weft.core.shapes import TensorShape
from weft.graph.graph import Tensor
from weft.lib.keras.engine.history import create_keras_history, history_of, needs_keras_history


def int_shape(x: Any) -> Any:
    """The static shape as a tuple, or None if not even the rank is known."""
    shape = TensorShape(x.shape)
    return None if shape.ndims is None else tuple(shape.as_list())


def _give_history(arguments: list[Any]) -> None:
    """Makes layers of the operations that led to tensors among `arguments`."""
    for argument in arguments:
        if isinstance(argument, Tensor) and needs_keras_history(argument, True):
            create_keras_history(argument)


class Node:
    """Joins the layers that inputs come from to the layer that was called.

    It is added to the `_outbound_nodes` of the former and to the `_inbound_nodes` of the latter.
    """

    def __init__(
        self,
        outbound_layer: Any,
        inbound_layers: Any,
        node_indices: Any,
        tensor_indices: Any,
        input_tensors: Any,
        output_tensors: Any,
        arguments: dict[str, Any] | None = None,
    ) -> None:
        if isinstance(outbound_layer, (list, tuple, dict)):
            raise ValueError(
                "`outbound_layer` should be a layer instance, not a list, tuple, or, dict."
            )
        self.outbound_layer, self.inbound_layers = outbound_layer, inbound_layers
        self.node_indices, self.tensor_indices = node_indices, tensor_indices
        self.input_tensors, self.output_tensors = ends = input_tensors, output_tensors
        self.input_shapes, self.output_shapes = (nest.map_structure(int_shape, t) for t in ends)
        self.arguments = arguments
        _give_history(nest.flatten(arguments))
        self._join()

    def _join(self) -> None:
        """Tells the layers on both sides of the call of it."""
        for layer in nest.flatten(self.inbound_layers):
            if layer is not None:
                layer._outbound_nodes.append(self)
        self.outbound_layer._inbound_nodes.append(self)

    def iterate_inbound(self, include_arguments: bool = False) -> list[tuple[Any, int, int, Any]]:
        """(layer, index of its call, index of its output, tensor) for each input."""
        structures = (
            self.inbound_layers,
            self.node_indices,
            self.tensor_indices,
            self.input_tensors,
        )
        found = list(zip(*(nest.flatten(each) for each in structures), strict=False))
        if include_arguments:
            found += [(*history_of(x), x) for x in self._tensor_arguments()]  # type: ignore[misc]
        return found

    def _tensor_arguments(self) -> list[Any]:
        return [x for x in nest.flatten(self.arguments) if history_of(x) is not None]

    def _get_all_node_dependencies(self) -> list[Node]:
        """The calls whose results this one uses."""
        inbound = self.iterate_inbound(include_arguments=True)
        return [layer._inbound_nodes[index] for layer, index, _, _ in inbound]

    def get_config(self) -> dict[str, Any]:
        def name_of(layer: Any) -> str | None:
            return layer.name if layer else None

        return {
            "outbound_layer": self.outbound_layer.name,
            "inbound_layers": nest.map_structure(name_of, self.inbound_layers),
            "node_indices": self.node_indices,
            "tensor_indices": self.tensor_indices,
        }
