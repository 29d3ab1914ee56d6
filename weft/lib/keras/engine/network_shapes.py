"""Output shapes of a model from input shapes alone, without making any operation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core import nest
from weft.core.shapes import Dimension, TensorShape


def _is_shape(value: Any) -> bool:
    if value is None or isinstance(value, (int, Dimension, TensorShape)):
        return True
    sizes = (int, np.integer, Dimension, type(None))
    return isinstance(value, (tuple, list)) and all(isinstance(size, sizes) for size in value)


def map_shapes(function: Callable[[TensorShape], Any], shapes: Any) -> Any:
    """`function` of a shape, or of every one in a structure; they may be in any form."""
    if _is_shape(shapes):
        return function(TensorShape(shapes))
    if isinstance(shapes, dict):
        return type(shapes)((key, map_shapes(function, each)) for key, each in shapes.items())
    if isinstance(shapes, (list, tuple)):
        parts = [map_shapes(function, each) for each in shapes]
        return type(shapes)(*parts) if hasattr(shapes, "_fields") else type(shapes)(parts)
    raise ValueError(f"Received non-atomic and non-sequence element: {shapes}")


def as_shapes(shapes: Any) -> Any:
    """A structure of shapes in any form, as one of TensorShapes."""
    return map_shapes(lambda shape: shape, shapes)


def as_tuples(shapes: Any) -> Any:
    """A structure of shapes in any form, as one of tuples; None where not even a rank is known."""
    return map_shapes(lambda shape: None if shape.ndims is None else tuple(shape.as_list()), shapes)


def output_shape(network: Any, input_shape: Any) -> Any:
    """The shapes of the outputs, call by call from the deepest."""
    given = nest.flatten(as_shapes(input_shape))
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
            made = as_shapes(node.outbound_layer.compute_output_shape(shapes))
            outputs = nest.flatten(node.output_tensors)
            for x, shape in zip(outputs, nest.flatten(made), strict=False):
                known[id(x)] = shape
    return nest.map_structure(lambda x: known[id(x)], network._nested_outputs)
