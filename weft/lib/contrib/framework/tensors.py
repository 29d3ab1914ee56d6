"""Tensors whose shapes are checked, and small helpers of tf.contrib.framework about tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Graph, name_scope
from weft.graph.tensor import Tensor
from weft.ops.math import math
from weft.ops.scores import confusion_matrix


def assert_scalar_int(tensor: Any, name: str | None = None) -> Tensor:
    """`tensor`, or a ValueError if it is no scalar of an integer type."""
    with name_scope(name, "assert_scalar_int", [tensor]):
        tensor = convert_to_tensor(tensor)
        if not tensor.dtype.base_dtype.is_integer:
            raise ValueError(
                f"Expected integer type for {tensor.name}, received type: {tensor.dtype}."
            )
        if tensor.shape.ndims != 0:
            raise ValueError(f"Expected scalar shape for {tensor.name}, saw shape: {tensor.shape}.")
        return tensor


def reduce_sum_n(tensors: Sequence[Tensor], name: str | None = None) -> Tensor:
    """The sum of all elements of all tensors."""
    with name_scope(name, "reduce_sum_n", tensors) as scope:
        sums = [math.reduce_sum(each, name=each.op.name + "/sum") for each in tensors]
        match sums:
            case []:
                raise ValueError("No tensors provided.")
            case [only]:
                return only
            case _:
                return math.add_n(sums, name=scope)


def remove_squeezable_dimensions(
    predictions: Any, labels: Any, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Both, without a last dimension of 1 that only one of them has.

    `tf.confusion_matrix.remove_squeezable_dimensions` has labels first.
    """
    labels, predictions = confusion_matrix.remove_squeezable_dimensions(
        labels, predictions, name=name or "remove_squeezable_dimensions"
    )
    return predictions, labels


def get_placeholders(graph: Graph) -> list[Tensor]:
    """The placeholders of a graph, in the order they were made."""
    if not isinstance(graph, Graph):
        raise TypeError(f"Input graph needs to be a Graph: {graph}")
    return [op.outputs[0] for op in graph.get_operations() if op.type == "Placeholder"]
