"""A model as a table of its layers; weights of convolutions and Dense layers turned around."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core import nest
from weft.lib.keras import backend as K
from weft.lib.keras.utils.io_utils import say

CONVOLUTIONS = ("Conv1D", "Conv2D", "Conv3D", "Conv2DTranspose")


def count_params(weights: Any) -> int:
    """The number of scalars in variables, each counted once."""
    distinct = {id(weight): weight for weight in weights}.values()
    return sum(int(np.prod(weight.shape.as_list())) for weight in distinct)


def print_summary(
    model: Any,
    line_length: int | None = None,
    positions: Any = None,
    print_fn: Callable[[str], Any] | None = None,
) -> None:
    """Prints name, output shape and size of every layer, and what it is connected to.

    The last column is left out where each layer follows the one before.
    """
    say_line = print_fn or say
    plain = _is_a_chain(model)
    columns = ["Layer (type)", "Output Shape", "Param #"] + ([] if plain else ["Connected to"])
    line_length = line_length or (65 if plain else 98)
    positions = positions or ([0.45, 0.85, 1.0] if plain else [0.33, 0.55, 0.67, 1.0])
    if positions[-1] <= 1:
        positions = [int(line_length * share) for share in positions]
    say_line(f'Model: "{model.name}"')
    say_line("_" * line_length)
    say_line(_row(columns, positions))
    for i, layer in enumerate(model.layers):
        say_line(("=" if i == 0 else "_") * line_length)
        for fields in _rows_of(layer, None if plain else _nodes(model)):
            say_line(_row(fields, positions))
    say_line("=" * line_length)
    trainable, rest = _sizes(model)
    say_line(f"Total params: {trainable + rest:,}")
    say_line(f"Trainable params: {trainable:,}")
    say_line(f"Non-trainable params: {rest:,}")
    say_line("_" * line_length)


def _sizes(model: Any) -> tuple[int, int]:
    if hasattr(model, "_check_trainable_weights"):
        model._check_trainable_weights()
    # What the model was compiled with is what it trains, even if a layer was frozen since.
    trained = getattr(model, "_collected_trainable_weights", None)
    weights = model.trainable_weights if trained is None else trained
    return count_params(weights), count_params(model.non_trainable_weights)


def _nodes(model: Any) -> list[Any]:
    return [node for nodes in model._nodes_by_depth.values() for node in nodes]


def _is_a_chain(model: Any) -> bool:
    if type(model).__name__ == "Sequential" or not model._is_graph_network:
        return True
    for nodes in model._nodes_by_depth.values():
        if len(nodes) > 1 or len(nest.flatten(nodes[0].inbound_layers)) > 1:
            return False
    used = {id(node) for node in _nodes(model)}
    return all(sum(id(n) in used for n in layer._inbound_nodes) <= 1 for layer in model.layers)


def _rows_of(layer: Any, nodes: list[Any] | None) -> list[list[Any]]:
    """The rows of a layer: one, and one for each further connection."""
    try:
        shape: Any = layer.output_shape
    except AttributeError:
        shape = "multiple"
    except RuntimeError:
        shape = "?"
    fields = [f"{layer.name} ({type(layer).__name__})", shape, layer.count_params()]
    if nodes is None:
        return [fields]
    first, *others = _connections(layer, nodes) or [""]
    return [[*fields, first], *(["", "", "", other] for other in others)]


def _connections(layer: Any, nodes: list[Any]) -> list[str]:
    return [
        f"{inbound.name}[{node_index}][{tensor_index}]"
        for node in layer._inbound_nodes
        if any(node is each for each in nodes)
        for inbound, node_index, tensor_index, _ in node.iterate_inbound()
    ]


def _row(fields: list[Any], positions: list[int]) -> str:
    line = ""
    for i, (field, position) in enumerate(zip(fields, positions, strict=False)):
        line = (line[:-1] + " " if i else line) + str(field)
        line = line[:position].ljust(position)
    return line


def convert_kernel(kernel: np.ndarray) -> np.ndarray:
    """A kernel of a convolution as one of a correlation, or the other way round."""
    if not 3 <= kernel.ndim <= 5:
        raise ValueError("Invalid kernel shape:", kernel.shape)
    return np.copy(np.flip(kernel, tuple(range(kernel.ndim - 2))))


def convert_all_kernels_in_model(model: Any) -> None:
    """Turns around all kernels of convolutions, as weights of Theano need it."""
    layers = [layer for layer in model.layers if type(layer).__name__ in CONVOLUTIONS]
    K.batch_set_value([(each.kernel, convert_kernel(K.get_value(each.kernel))) for each in layers])


def convert_dense_weights_data_format(
    dense: Any, previous_feature_map_shape: Any, target_data_format: str = "channels_first"
) -> None:
    """Reorders the weights of a Dense layer that follows a flattened image.

    They fit the other data format afterwards.
    """
    assert target_data_format in ("channels_last", "channels_first")
    kernel, *bias = dense.get_weights()
    shape = tuple(previous_feature_map_shape)
    if target_data_format == "channels_first":
        before, order = (shape[1], shape[2], shape[0]), (2, 0, 1, 3)
    else:
        before, order = (shape[2], shape[0], shape[1]), (1, 2, 0, 3)
    turned = kernel.reshape(*before, kernel.shape[1]).transpose(order)
    dense.set_weights([turned.reshape(kernel.shape), *bias])
