"""Initial values that were computed inside of a function, moved to the graph outside."""

from __future__ import annotations

from weft.graph.graph import Graph, get_default_graph, init_scope
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor


class UnliftableError(Exception):
    """Raised if a value depends on an argument of the function it is in."""

    ag_pass_through = True


def lifted(tensor: Tensor) -> Tensor:
    """A copy of `tensor`, and of what it needs, in the graph that functions are built in."""
    with init_scope():
        outer = get_default_graph()
    copies: dict[Operation, Operation] = {}
    return _lift(tensor, tensor, outer, copies)


def _lift(
    tensor: Tensor, wanted: Tensor, outer: Graph, copies: dict[Operation, Operation]
) -> Tensor:
    while tensor.graph is not outer and hasattr(tensor.op, "_captured"):
        tensor = tensor.op._captured
    if tensor.graph is outer:
        return tensor
    op = tensor.op
    if op not in copies:
        if op.definition.is_placeholder:
            raise UnliftableError(
                f"Unable to lift tensor {wanted!r} because it depends transitively on placeholder"
                f" {op!r} via at least one path."
            )
        inputs = tuple(_lift(each, wanted, outer, copies) for each in op.inputs)
        types = [each.dtype for each in op.outputs]
        with init_scope():
            copies[op] = outer.add_op(op.definition, inputs, types, dict(op.attrs), op.name)
    return copies[op].outputs[tensor.value_index]
