"""Initial values that were computed inside of a function, moved to the graph outside."""

from __future__ import annotations

from collections.abc import Sequence

from weft.graph.graph import Graph, get_default_graph, init_scope
from weft.graph.tensor import Tensor


class UnliftableError(Exception):
    """Raised if a value depends on an argument of the function it is in."""

    ag_pass_through = True


def lifted(tensor: Tensor, arguments: Sequence[Tensor] = ()) -> Tensor:
    """A copy of `tensor`, and of what it needs, in the graph that functions are built in.

    `arguments` are those of the call that the function is traced for, where they have values.
    """
    with init_scope():
        outer = get_default_graph()
    inside = getattr(tensor.graph, "inputs", ())
    return _lift(tensor, tensor, outer, dict(zip(inside, arguments, strict=False)))


def _lift(tensor: Tensor, wanted: Tensor, outer: Graph, copies: dict[Tensor, Tensor]) -> Tensor:
    while tensor.graph is not outer and hasattr(tensor.op, "_captured"):
        tensor = tensor.op._captured
    if tensor.graph is outer:
        return tensor
    op = tensor.op
    if tensor not in copies:
        if op.definition.is_placeholder:
            raise UnliftableError(
                f"Unable to lift tensor {wanted!r} because it depends transitively on placeholder"
                f" {op!r} via at least one path."
            )
        inputs = tuple(_lift(each, wanted, outer, copies) for each in op.inputs)
        types = [each.dtype for each in op.outputs]
        with init_scope():
            made = outer.add_op(op.definition, inputs, types, dict(op.attrs), op.name)
        copies.update(zip(op.outputs, made.outputs, strict=True))
    return copies[tensor]
