"""What a layer was called on, and what came out."""

from __future__ import annotations

from typing import Any

from weft.core import nest
from weft.core.shapes import TensorShape


class LayerCalls:
    name: Any

    def __init__(self) -> None:
        self._calls: list[tuple[Any, Any]] = []

    def _call_at(self, node_index: int, which: int, what: str) -> Any:
        if not self._calls:
            raise RuntimeError(f"The layer has never been called and thus has no defined {what}.")
        if not node_index < len(self._calls):
            raise ValueError(
                f"Asked to get {what} at node {node_index}, but the layer has only "
                f"{len(self._calls)} inbound nodes."
            )
        return self._calls[node_index][which]

    def _only_call(self, which: int, what: str) -> Any:
        if not self._calls:
            raise AttributeError(f"Layer {self.name} is not connected, no {what} to return.")
        if len(self._calls) > 1:
            raise AttributeError(
                f'Layer {self.name} has multiple inbound nodes, hence the notion of "layer {what}" '
                f"is ill-defined. Use `get_{what}_at(node_index)` instead."
            )
        return self._calls[0][which]

    def get_input_at(self, node_index: int) -> Any:
        return self._call_at(node_index, 0, "input")

    def get_output_at(self, node_index: int) -> Any:
        return self._call_at(node_index, 1, "output")

    def get_input_shape_at(self, node_index: int) -> Any:
        return nest.map_structure(_static, self._call_at(node_index, 0, "input_shape"))

    def get_output_shape_at(self, node_index: int) -> Any:
        return nest.map_structure(_static, self._call_at(node_index, 1, "output_shape"))

    @property
    def input(self) -> Any:
        return self._only_call(0, "input")

    @property
    def output(self) -> Any:
        return self._only_call(1, "output")

    @property
    def input_shape(self) -> Any:
        return nest.map_structure(_static, self._only_call(0, "input"))

    @property
    def output_shape(self) -> Any:
        return nest.map_structure(_static, self._only_call(1, "output"))


def _static(x: Any) -> Any:
    dims = TensorShape(x.shape)
    return None if dims.ndims is None else tuple(dims.as_list())
