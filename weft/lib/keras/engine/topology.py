"""From inputs to outputs: the calls of layers in between, and how deep each lies.

The depth of a call is the length of the longest way from it to an output. A model repeats its
calls from the deepest to the outputs, and lists its layers in that order.
"""

from __future__ import annotations

import collections
from typing import Any, NamedTuple

from weft.core import nest
from weft.lib.keras.engine.history import create_keras_history
from weft.lib.keras.engine.node import Node


class Topology(NamedTuple):
    # The names of calls, as `node_key` makes them.
    keys: set[str]
    nodes_by_depth: dict[int, list[Node]]
    layers: list[Any]


def node_key(layer_name: str, node_index: int) -> str:
    return f"{layer_name}_ib-{node_index}"


def map_graph(inputs: list[Any], outputs: list[Any]) -> Topology:
    """Finds the calls that lead from `inputs` to `outputs`; raises if something is missing."""
    order, keys, layer_indices = _walk_back(outputs)
    node_depths, layer_depths = _depths(order)
    for tensor in inputs:
        layer = tensor._keras_history.layer
        if layer not in layer_depths:
            # No output depends on it; it is an input all the same.
            layer_depths[layer], layer_indices[layer] = 0, -1
            node_depths[layer._inbound_nodes[0]] = 0
            keys.add(node_key(layer.name, 0))
    nodes_by_depth: dict[int, list[Node]] = collections.defaultdict(list)
    for node, depth in node_depths.items():
        nodes_by_depth[depth].append(node)
    layers = sorted(layer_depths, key=lambda layer: (-layer_depths[layer], layer_indices[layer]))
    _check_connected(inputs, nodes_by_depth)
    _check_names(layers)
    return Topology(keys, nodes_by_depth, layers)


def map_subgraph(inputs: list[Any], outputs: list[Any]) -> tuple[list[Node], list[Any]]:
    """The calls and the layers between `inputs` and `outputs`, operations among them."""
    create_keras_history(outputs)
    found = map_graph(inputs, outputs)
    return [node for nodes in found.nodes_by_depth.values() for node in nodes], found.layers


def _walk_back(outputs: list[Any]) -> tuple[list[Node], set[str], dict[Any, int]]:
    """(calls, each after those it depends on; their keys; layers in the order they were met)"""
    order: list[Node] = []
    keys: set[str] = set()
    layer_indices: dict[Any, int] = {}
    finished: set[Node] = set()
    open_nodes: set[Node] = set()
    for output in outputs:
        # What is on the stack a second time has had its inputs looked at.
        stack = [(*output._keras_history[:2], output, False)]
        while stack:
            layer, index, tensor, inputs_done = stack.pop()
            node = layer._inbound_nodes[index]
            if inputs_done:
                open_nodes.remove(node)
                finished.add(node)
                order.append(node)
                continue
            if node in finished:
                continue
            if node in open_nodes:
                raise ValueError(f'The tensor {tensor} at layer "{layer.name}" is part of a cycle.')
            open_nodes.add(node)
            keys.add(node_key(layer.name, index))
            layer_indices.setdefault(layer, len(layer_indices))
            stack.append((layer, index, tensor, True))
            inbound = node.iterate_inbound(include_arguments=True)
            stack += [(below, i, x, False) for below, i, _, x in reversed(inbound)]
    return order, keys, layer_indices


def _depths(order: list[Node]) -> tuple[dict[Node, int], dict[Any, int]]:
    nodes: dict[Node, int] = {}
    layers: dict[Any, int] = {}
    for node in reversed(order):
        # All calls of a shared layer lie as deep as the deepest.
        depth = max(nodes.setdefault(node, 0), layers.get(node.outbound_layer, 0))
        layers[node.outbound_layer] = nodes[node] = depth
        for below in node._get_all_node_dependencies():
            nodes[below] = max(depth + 1, nodes.get(below, 0))
    return nodes, layers


def _check_connected(inputs: list[Any], nodes_by_depth: dict[int, list[Node]]) -> None:
    known = {id(x) for x in inputs}
    passed: list[str] = []
    for depth in sorted(nodes_by_depth, reverse=True):
        for node in nodes_by_depth[depth]:
            layer = node.outbound_layer
            for x in nest.flatten(node.input_tensors):
                if id(x) not in known:
                    raise ValueError(
                        f'Graph disconnected: cannot obtain value for tensor {x} at layer "'
                        f'{layer.name}". The following previous layers were accessed without '
                        f"issue: {passed}"
                    )
            known.update(id(x) for x in nest.flatten(node.output_tensors))
            passed.append(layer.name)


def _check_names(layers: list[Any]) -> None:
    names = collections.Counter(layer.name for layer in layers)
    for name, count in names.items():
        if count != 1:
            raise ValueError(
                f'The name "{name}" is used {count} times in the model. All layer names should be '
                "unique."
            )


def get_source_inputs(tensor: Any, layer: Any = None, node_index: int | None = None) -> Any:
    """The input tensors that `tensor` was computed from; a tensor of no layer is returned itself.

    `layer` and `node_index` say which call gave `tensor`, where the tensor is not to be asked.
    """
    if not hasattr(tensor, "_keras_history"):
        return tensor
    if layer is None or node_index:
        layer, node_index, _ = tensor._keras_history
    if not layer._inbound_nodes:
        return [tensor]
    node = layer._inbound_nodes[node_index or 0]
    if not node.inbound_layers:
        return nest.flatten(node.input_tensors)
    found: dict[int, Any] = {}
    for below, index, _, x in node.iterate_inbound():
        for source in get_source_inputs(x, below, index):
            found.setdefault(id(source), source)
    return list(found.values())
