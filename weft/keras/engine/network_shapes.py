"""Output shapes of a model from input shapes alone, without making any operation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.core import nest
from weft.core.shapes import Dimension, TensorShape


def _is_shape(value: Any) -> bool:
    if value is None or isinstance(value, (int, Dimension, TensorShape)):
        return True
    sizes = (int, Dimension, type(None))
    return isinstance(value, (tuple, list)) and all(isinstance(size, sizes) for size in value)


def convert_shapes(shapes: Any, to_tuples: bool = True) -> Any:
    """A structure of shapes in any form, as one of tuples or of TensorShapes."""
    if _is_shape(shapes):
        shape = TensorShape(shapes)
        return tuple(shape.as_list()) if to_tuples else shape
    if isinstance(shapes, dict):
        return {key: convert_shapes(each, to_tuples) for key, each in shapes.items()}
    if isinstance(shapes, (list, tuple)):
        return type(shapes)(convert_shapes(each, to_tuples) for each in shapes)
    raise ValueError(f"Received non-atomic and non-sequence element: {shapes}")


def shape_type_conversion(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A method of a shape that gets tuples and whose result is TensorShapes."""

    def wrapper(instance: Any, input_shape: Any) -> Any:
        if input_shape is not None:
            input_shape = convert_shapes(input_shape, to_tuples=True)
        made = fn(instance, input_shape)
        return None if made is None else convert_shapes(made, to_tuples=False)

    return wrapper


def output_shape(network: Any, input_shape: Any) -> Any:
    """The shapes of the outputs, call by call from the deepest."""
    given = nest.flatten(convert_shapes(input_shape, to_tuples=False))
    if len(given) != len(network._input_layers):
        raise ValueError(
            f"Invalid input_shape argument {input_shape}: model has "
            f"{len(network._input_layers)} tensor inputs."
        )
    # Tensor of the model -> its shape.
    known = {id(x): shape for x, shape in zip(network.inputs, given, strict=True)}
    for depth in sorted(network._nodes_by_depth, reverse=True):
        for node in network._nodes_by_depth[depth]:
            if not node.inbound_layers:
                continue
            shapes = nest.map_structure(lambda x: tuple(known[id(x)].as_list()), node.input_tensors)
            made = convert_shapes(node.outbound_layer.compute_output_shape(shapes), to_tuples=False)
            outputs = nest.flatten(node.output_tensors)
            for x, shape in zip(outputs, nest.flatten(made), strict=False):
                known[id(x)] = shape
    return nest.map_structure(lambda x: known[id(x)], network._nested_outputs)
