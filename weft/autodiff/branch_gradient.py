"""The gradient of a conditional over functions: one between the gradients of its branches.

Each branch returns, besides its results, what its gradient needs; for what the other branches
return it has stand-ins.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.autodiff.functions import (
    ForwardBackward,
    add_body,
    add_outputs,
    backward_graph,
    differentiate_body,
    late_arguments,
    own_body,
    with_constants,
)
from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.op_def import REGISTRY, FuncRef, raw, register_gradient
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor
from weft.ops.functions.traced_graph import lowered_outputs


def branch_gradient(op: Operation, *grads: Any) -> list[Any]:
    """One gradient for each input; none for what decides."""
    functions, dims = _branches(op), [tensor.dims for tensor in op.inputs[1:]]
    bodies = [own_body(op.graph._functions, function, dims) for function in functions]
    sides = [differentiate_body(body, grads) for body in bodies]
    handed = [_handed_on(sides, number) for number in range(len(sides))]
    forward = [
        _forward(op, function.name, side, extra)
        for function, side, extra in zip(functions, sides, handed, strict=True)
    ]
    op.attrs.update(_as_attrs(op, forward))
    op.attrs["Tout"] = [*op.attrs["Tout"], *(t.dtype.base_dtype for t in handed[0])]
    saved = add_outputs(op, handed[0])
    late = list(dict.fromkeys(tensor for body in bodies for tensor in late_arguments(body)))
    graph = backward_graph(op)
    backward = [
        add_body(
            graph, f"{op.type}_gradient", side.backward,
            [*side.dys, *side.body.inputs, *extra, *map(side.body.graph.capture, late)], side.dxs,
        )
        for side, extra in zip(sides, handed, strict=True)
    ]  # fmt: skip
    given = [convert_to_tensor(grads[i]) for i in sides[0].outputs]
    types = [dx.dtype.base_dtype for dx in sides[0].dxs]
    inputs = [*given, *op.inputs[1:], *saved, *late]
    made = REGISTRY[op.type](op.inputs[0], inputs, types, **_as_attrs(op, backward))
    found = lowered_outputs(made, graph) if types else []
    return [None, *_spread(sides[0], found, len(op.inputs) - 1)]


for _name in ("If", "StatelessIf", "Case", "StatelessCase"):
    register_gradient(_name, branch_gradient)


def _branches(op: Operation) -> list[FuncRef]:
    if op.definition.calls == "case":
        return list(op.attrs["branches"])
    return [op.attrs["then_branch"], op.attrs["else_branch"]]


def _as_attrs(op: Operation, functions: list[FuncRef]) -> dict[str, Any]:
    if op.definition.calls == "case":
        return {"branches": functions}
    return {"then_branch": functions[0], "else_branch": functions[1]}


def _handed_on(sides: Sequence[ForwardBackward], number: int) -> list[Tensor]:
    """The further results of branch `number`: its own saved tensors, stand-ins for the others'."""
    with sides[number].body.graph.as_default():
        return [
            tensor if i == number else _stand_in(tensor)
            for i, side in enumerate(sides)
            for tensor in side.saved
        ]


def _stand_in(tensor: Tensor) -> Tensor:
    """A placeholder for `tensor`, of unused value; zeros like it may be made, so a list is one."""
    found: Tensor
    if tensor.dtype.base_dtype is dtypes.variant:
        found = raw.EmptyTensorList(-1, -1, dtypes.float32)
    else:
        found = raw.FakeParam(tensor.dtype.base_dtype, tensor.shape)
    return found


def _forward(op: Operation, name: str, side: ForwardBackward, extra: list[Tensor]) -> FuncRef:
    made = [op for tensor in extra if tensor not in side.saved for op in with_constants(tensor)]
    ops = list(dict.fromkeys([*side.forward, *made]))
    return add_body(
        op.graph, name, ops, side.body.inputs, [*side.body.outputs, *extra],
        control_outputs=side.body.control_outputs,
    )  # fmt: skip


def _spread(side: ForwardBackward, found: list[Tensor], count: int) -> list[Any]:
    """Gradients in the places of the inputs they belong to."""
    values = dict(zip(side.inputs, found, strict=False))
    return [values.get(i) for i in range(count)]
