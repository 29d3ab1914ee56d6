"""The variables of a graph that have other shapes than a checkpoint holds for them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from weft.core.shapes import TensorShape
from weft.core.walk import reached
from weft.graph.constant_value import folded_value
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor
from weft.lib.train.checkpoint.reader import CheckpointReader
from weft.ops.state.variable_nodes import variable_dims


def mismatches(restore: Operation, prefix: str) -> str:
    """One line for each variable that the node `restore` cannot give what is in the checkpoint."""
    held = CheckpointReader(prefix).get_variable_to_shape_map()
    lines = [
        f"  {name}: {TensorShape.from_dims(dims)} in the graph,"
        f" {TensorShape(held[name])} in the checkpoint"
        for name, dims in _restored(restore)
        if name in held and not TensorShape.from_dims(dims).is_compatible_with(held[name])
    ]
    return "\n".join(lines)


def _restored(restore: Operation) -> Iterator[tuple[str, Any]]:
    """The name in the checkpoint and the shape of each variable that is restored as a whole."""
    below = reached([restore], lambda op: op.control_inputs)
    for op in sorted(below, key=lambda op: op._id):
        source = _source(op.inputs[1]) if op.definition.assigns else None
        if source is None:
            continue
        names, slices = (folded_value(source.op.inputs[i]) for i in (1, 2))
        if names is None or slices is None or slices[source.value_index]:
            continue
        yield names[source.value_index].decode(), variable_dims(op.inputs[0])


def _source(tensor: Tensor) -> Tensor | None:
    """The output of RestoreV2 that a tensor is, as it is handed on to a variable."""
    while tensor.op.definition.keeps_places:
        tensor = tensor.op.inputs[0]
    return tensor if tensor.op.type == "RestoreV2" else None
