"""A model made of layers as a dictionary, and back.

Layers are listed with the calls they take part in; a call's inputs are named by records
`[name of the layer, number of its call, number of the output, other arguments of the call]`.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core import nest
from weft.graph.graph import Tensor
from weft.lib.keras.engine.history import history_of
from weft.lib.keras.engine.topology import node_key
from weft.lib.keras.utils.generic import entry
from weft.lib.platform import tf_logging as logging


class Record:
    """A list that counts as one leaf of a structure."""

    def __init__(self, items: list[Any]) -> None:
        self.items = items


def network_config(network: Any) -> dict[str, Any]:
    """The configuration of a model that is a graph of layers."""
    numbers = _numbers_of_calls(network)
    layers = [_layer_config(network, layer, numbers) for layer in network.layers]

    def ends(coordinates: list[Any], structure: Any) -> Any:
        kept = [
            Record([layer.name, numbers[node_key(layer.name, node)], index])
            for layer, node, index in coordinates
            if node_key(layer.name, node) in network._network_nodes
        ]
        return _unwrapped(nest.pack_sequence_as(structure, kept))

    config = {
        "name": network.name,
        "layers": layers,
        "input_layers": ends(network._input_coordinates, network._nested_inputs),
        "output_layers": ends(network._output_coordinates, network._nested_outputs),
    }
    return copy.deepcopy(config)


def skips_first_node(layer: Any) -> bool:
    """Whether the first call of a layer is the one that made it: true of models of layers."""
    return bool(getattr(layer, "_is_graph_network", False))


def _numbers_of_calls(network: Any) -> dict[str, int]:
    """Key of a call -> its number among those that belong to this model."""
    numbers: dict[str, int] = {}
    for layer in network.layers:
        kept = 1 if skips_first_node(layer) else 0
        for index in range(len(layer._inbound_nodes)):
            key = node_key(layer.name, index)
            if key in network._network_nodes:
                numbers[key] = kept
                kept += 1
    return numbers


def _layer_config(network: Any, layer: Any, numbers: dict[str, int]) -> dict[str, Any]:
    calls = []
    for index, node in enumerate(layer._inbound_nodes):
        if node_key(layer.name, index) in network._network_nodes and node.inbound_layers:
            calls.append(_call_config(layer, node, numbers))
    return {
        "name": layer.name,
        "class_name": type(layer).__name__,
        "config": layer.get_config(),
        "inbound_nodes": calls,
    }


def _call_config(layer: Any, node: Any, numbers: dict[str, int]) -> Any:
    kwargs = _arguments_config(layer, node)
    records = [
        Record([below.name, numbers.get(node_key(below.name, number), 0), index, kwargs])
        for below, number, index, _ in node.iterate_inbound()
    ]
    return _unwrapped(nest.pack_sequence_as(node.input_tensors, records))


def _arguments_config(layer: Any, node: Any) -> dict[str, Any]:
    if not node.arguments:
        return {}
    kwargs = nest.map_structure(_value_config, node.arguments)
    try:
        json.dumps(kwargs)
    except TypeError:
        logging.warning(
            f"Layer {layer.name} was passed non-serializable keyword arguments: {node.arguments}. "
            "They will not be included in the serialized model (and thus will be missing at "
            "deserialization time)."
        )
        return {}
    return kwargs


def _value_config(value: Any) -> Any:
    history = history_of(value)
    if history is not None:
        return [history.layer.name, history.node_index, history.tensor_index]
    if isinstance(value, Tensor):
        from weft.lib.keras.backend import get_value

        value = get_value(value)
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


def _unwrapped(structure: Any) -> Any:
    """Records as the lists they hold; always a list or dictionary of them."""
    plain = nest.map_structure(lambda x: x.items if isinstance(x, Record) else x, structure)
    return plain if nest.is_nested(structure) else [plain]


def _wrapped(structure: Any) -> Any:
    """Lists that look like records, as records."""
    if isinstance(structure, list):
        if len(structure) in (3, 4) and isinstance(structure[0], str):
            return Record(structure)
        return [_wrapped(each) for each in structure]
    if isinstance(structure, tuple):
        return tuple(_wrapped(each) for each in structure)
    if isinstance(structure, dict):
        return {key: _wrapped(each) for key, each in structure.items()}
    return structure


def _misfit() -> ValueError:
    return ValueError("Improperly formatted model config.")


class Rebuilt:
    """The layers of a configuration, called as it says."""

    def __init__(self, config: dict[str, Any], deserialize: Callable[[Any], Any]) -> None:
        self.layers: dict[str, Any] = {}
        waiting: dict[str, list[Any]] = {}
        for data in entry(config, "layers"):
            name = entry(data, "name")
            self.layers[name] = deserialize(data)
            waiting[name] = _wrapped(entry(data, "inbound_nodes"))
        # A call waits until those have been made that its inputs come from.
        while any(waiting.values()):
            before = sum(len(calls) for calls in waiting.values())
            for name, calls in waiting.items():
                waiting[name] = [call for call in calls if not self._call(name, call)]
            if sum(len(calls) for calls in waiting.values()) == before:
                raise _misfit()

    def _call(self, name: str, call: Any) -> bool:
        kwargs: dict[str, Any] = {}
        for record in nest.flatten(call):
            below, number = self._source(record)
            if len(below._inbound_nodes) <= number:
                return False
            if len(record.items) == 4:
                kwargs = record.items[3]
        inputs = nest.map_structure(self._tensor, call)
        flat = nest.flatten(inputs)
        if not isinstance(inputs, dict) and len(flat) == 1:
            inputs = flat[0]
        self.layers[name](inputs, **nest.map_structure(self._value, _wrapped(kwargs)))
        return True

    def _source(self, record: Any) -> tuple[Any, int]:
        """The layer that a record names, and the number of a call of it."""
        if not isinstance(record, Record) or len(record.items) not in (3, 4):
            raise _misfit()
        name, number = record.items[:2]
        if name not in self.layers or not isinstance(number, int) or number < 0:
            raise _misfit()
        return self.layers[name], number

    def _tensor(self, record: Any) -> Any:
        layer, number = self._source(record)
        index = record.items[2]
        calls = layer._inbound_nodes
        tensors = nest.flatten(calls[number].output_tensors) if number < len(calls) else []
        if not isinstance(index, int) or not 0 <= index < len(tensors):
            raise _misfit()
        return tensors[index]

    def _value(self, value: Any) -> Any:
        return self._tensor(value) if isinstance(value, Record) else value

    def ends(self, structure: Any) -> Any:
        """The tensors that records of a configuration name."""
        return nest.map_structure(self._tensor, _wrapped(structure))
