"""Models that get their weights from a shape, and layers that are added to finished models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.core import errors
from weft.core.shapes import TensorShape
from weft.graph.graph import Tensor
from weft.lib.keras.backend.config import floatx
from weft.lib.keras.backend.symbolic import in_model_graph
from weft.lib.keras.engine.add_layers import AddLoss, AddMetric
from weft.lib.keras.engine.base_layer import Layer, default
from weft.lib.keras.engine.network_checks import check_no_legacy_layers
from weft.lib.keras.engine.node import Node
from weft.lib.keras.engine.topology import map_subgraph, node_key
from weft.ops.array import array


class NetworkBuilding:
    inputs: Any
    built: bool
    call: Callable[..., Any]
    _call_spec: Any
    _layers: list[Any]
    _is_graph_network: bool
    _network_nodes: set[str]
    _nodes_by_depth: dict[int, list[Node]]

    @default
    def build(self, input_shape: Any) -> None:
        """Makes the weights of a subclass, by calling it on placeholders of the given shapes."""
        if not self._is_graph_network:
            if input_shape is None:
                raise ValueError(
                    "Input shape must be defined when calling build on a model subclass network."
                )
            if not isinstance(input_shape, (tuple, list, TensorShape)):
                raise ValueError(
                    "Specified input shape is not one of the valid types. Please specify a batch "
                    "input shape of type tuple or list of input shapes. User provided input type: "
                    f"{type(input_shape)}"
                )
            if input_shape and not self.inputs:
                self._call_to_build(input_shape)
        self.built = True

    @in_model_graph
    def _call_to_build(self, input_shape: Any) -> None:
        def placeholder(shape: Any) -> Tensor:
            return array.placeholder(floatx(), shape=shape)

        listed = isinstance(input_shape, list)
        x = [placeholder(s) for s in input_shape] if listed else placeholder(input_shape)
        try:
            self.call(x, **self._arguments_to_build())
        except (errors.InvalidArgumentError, TypeError) as error:
            raise ValueError(
                "You cannot build your model by calling `build` if your layers do not support "
                "float type inputs. Instead, in order to instantiate and build your model, `call` "
                "your model on real tensor data (of the correct dtype)."
            ) from error

    def _arguments_to_build(self) -> dict[str, Any]:
        spec = self._call_spec
        if len(spec.args) < 2:
            raise ValueError(
                "You can only call `build` on a model if its `call` method accepts an `inputs` "
                "argument."
            )
        required = spec.args[2 : len(spec.args) - len(spec.defaults or ())]
        if any(name != "training" for name in required):
            raise ValueError(
                "Currently, you cannot build your model if it has positional or keyword arguments "
                "that are not inputs to the model, but are required for its `call` method. "
                "Instead, in order to instantiate and build your model, `call` your model on real "
                "tensor data with all expected call arguments."
            )
        return dict.fromkeys(required, False)

    # ---- additions ----

    def _graph_network_add_loss(self, loss: Any) -> None:
        self._insert_after(loss, AddLoss(unconditional=False))

    def _graph_network_add_metric(self, value: Any, aggregation: Any, name: Any) -> None:
        self._insert_after(value, AddMetric(aggregation, name))

    def _insert_after(self, tensor: Any, layer: Layer) -> None:
        """Calls `layer` on a tensor, and makes the way to it part of the model."""
        nodes, layers = map_subgraph(self.inputs, [tensor])
        layer(tensor)
        self._insert_layers([*layers, layer], [*nodes, *layer._inbound_nodes])

    def _insert_layers(self, layers: list[Any], relevant_nodes: list[Node] | None = None) -> None:
        """Adds layers, and their calls, that lead to none of the outputs."""
        check_no_legacy_layers(layers)
        depths = {node: d for d, nodes in self._nodes_by_depth.items() for node in nodes}
        waiting = relevant_nodes or [node for layer in layers for node in layer._inbound_nodes]
        members = {*waiting, *depths}
        while waiting:
            later = []
            for node in waiting:
                below = [n for n in node._get_all_node_dependencies() if n in members]
                if not all(n in depths for n in below):
                    later.append(node)
                    continue
                depth = min([0, *(depths[n] for n in below)]) - 1
                key = node_key(
                    node.outbound_layer.name, node.outbound_layer._inbound_nodes.index(node)
                )
                if key not in self._network_nodes:
                    depths[node] = depth
                    self._network_nodes.add(key)
                    self._nodes_by_depth[depth].append(node)
            if len(later) == len(waiting):
                raise ValueError("Layers could not be added due to missing dependencies.")
            waiting = later
        known = set(self._layers)
        self._layers.extend(layer for layer in dict.fromkeys(layers) if layer not in known)
