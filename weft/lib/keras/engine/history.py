"""The layer call that a tensor came out of.

A tensor that comes from a `keras.Input` through layers carries `_keras_history`. One that came
through operations that are no layers gets it when a layer is called on it: each operation on the
way becomes a layer.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from weft.core import nest
from weft.graph.graph import Operation
from weft.lib.keras.engine.call_context import call_context


class KerasHistory(NamedTuple):
    """The `tensor_index`-th output of the `node_index`-th call of `layer`."""

    layer: Any
    node_index: int
    tensor_index: int


def history_of(tensor: Any) -> KerasHistory | None:
    return getattr(tensor, "_keras_history", None)


def have_all_keras_metadata(tensors: Any) -> bool:
    return all(hasattr(x, "_keras_history") for x in nest.flatten(tensors))


def uses_keras_history(tensors: Any) -> bool:
    """Whether one of `tensors` comes from a `keras.Input`.

    Those found not to are marked, so that the graph is not searched again and again.
    """
    waiting, seen = list(nest.flatten(tensors)), set()
    while waiting:
        tensor = waiting.pop()
        if id(tensor) in seen or getattr(tensor, "_keras_history_checked", False):
            continue
        seen.add(id(tensor))
        if history_of(tensor) is not None:
            return True
        waiting.extend(getattr(getattr(tensor, "op", None), "inputs", ()))
    mark_checked(tensors)
    return False


def mark_checked(tensors: Any) -> None:
    for tensor in nest.flatten(tensors):
        if hasattr(tensor, "op"):
            tensor._keras_history_checked = True


def needs_keras_history(tensors: Any, ignore_call_context: bool = False) -> bool:
    """Whether operations have to be made into layers before a layer is called on `tensors`.

    Inside of another layer's call they never have to.
    """
    if call_context().in_call and not ignore_call_context:
        return False
    if all(history_of(tensor) is not None for tensor in nest.flatten(tensors)):
        return False
    return uses_keras_history(tensors)


def create_keras_history(tensors: Any) -> list[Any]:
    """Makes layers of the operations between inputs and `tensors`; returns these layers."""
    created: list[Any] = []
    _create(nest.flatten(tensors), set(), created)
    return created


def _create(tensors: list[Any], done: set[Operation], created: list[Any]) -> None:
    from weft.lib.keras.backend import function
    from weft.lib.keras.engine.tf_op_layer import TensorFlowOpLayer

    for tensor in tensors:
        if history_of(tensor) is not None or tensor.op in done:
            continue
        op = tensor.op
        from_layers, constants = [], {}
        for i, x in enumerate(op.inputs):
            if uses_keras_history(x):
                from_layers.append(x)
            else:
                constants[i] = function([], x)([])
        _create(from_layers, done, created)
        # Named and typed as the operation that it stands for.
        layer = TensorFlowOpLayer(
            op.node_def.SerializeToString(), constants=constants, name=op.name
        )
        created.append(layer)
        layer._add_inbound_node(from_layers, list(op.outputs))
        done.add(op)
