"""Gradients of calls: calls of other functions, which compute what they need of the first anew.

TensorFlow differentiates the function of a `SymbolicGradient` when it runs a step, with what it
knows of few operations. Where that would not do, the gradient is a function of the library.
"""

from __future__ import annotations

from typing import Any

from weft.autodiff.functions import (
    add_body,
    ancestors,
    dense_or_zeros,
    flows,
    gradient_type,
    own_body,
)
from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.function import gradient_body, set_differentiate
from weft.graph.function_def import Body
from weft.graph.graph import Graph
from weft.graph.op_def import FuncRef, raw, register_gradient
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor


def call_gradient(op: Operation, *grads: Any) -> list[Any]:
    """The gradient of a call: its arguments and the gradients of its results go to a function."""
    given = [_dense(grad, op.outputs[i]) for i, grad in enumerate(grads)]
    if op.definition.calls != "function":
        return _call_of_gradient(op, op.attrs["f"], given)
    reference = FuncRef(op.type, tuple(op.attrs.items()))
    if _has_control_flow(op.graph._functions, reference):
        return _call_of_gradient(op, reference, given)
    types = [gradient_type(tensor) for tensor in op.inputs]
    return list(raw.SymbolicGradient([*op.inputs, *given], types, reference))


def _has_control_flow(library: dict[str, Any], reference: FuncRef) -> bool:
    """Whether a function does what TensorFlow could not differentiate when it runs a step."""
    kinds = {op.definition.calls for op in own_body(library, reference).graph.get_operations()}
    return bool(kinds - {None, "function", "gradient"})


def _call_of_gradient(op: Operation, reference: FuncRef, given: list[Tensor]) -> list[Any]:
    """Calls a function that is made here: the gradient of `reference`."""
    made = _gradient_function(op.graph, reference)
    signature = op.graph._functions[made.name].message.signature
    types = [dtypes.as_dtype(arg.type) for arg in signature.output_arg]
    call = raw.StatefulPartitionedCall if signature.is_stateful else raw.PartitionedCall
    return list(call([*op.inputs, *given], types, made))


def _gradient_function(graph: Graph, reference: FuncRef) -> FuncRef:
    """The gradient of a function, as a function of the library."""
    body = gradient_body(graph._functions, reference)
    needed = ancestors([tensor.op for tensor in body.outputs])
    ops = [op for op in body.graph.get_operations() if op in needed]
    return add_body(graph, f"{reference.name}_gradient", ops, body.inputs, body.outputs)


def python_gradient(op: Operation) -> Any:
    """The Python function that differentiates a call, if its function has one."""
    function = op.graph._functions.get(op.type)
    return function.python_gradient if function is not None else None


for _name in ("PartitionedCall", "StatefulPartitionedCall"):
    register_gradient(_name, call_gradient)


def second_gradient(op: Operation, *grads: Any) -> list[Any]:
    """The gradient of a call's gradient, which becomes a function of the library for it."""
    given = [_dense(grad, op.outputs[i]) for i, grad in enumerate(grads)]
    return _call_of_gradient(op, _gradient_function(op.graph, op.attrs["f"]), given)


register_gradient("SymbolicGradient", second_gradient)


def _dense(grad: Any, like: Tensor) -> Tensor:
    return raw.ZerosLike(like) if grad is None else convert_to_tensor(grad)


def differentiated(library: dict[str, Any], reference: FuncRef) -> Body:
    """A body that maps a function's arguments and its results' gradients to gradients."""
    from weft.autodiff.gradients import gradients

    body = own_body(library, reference)
    with body.graph.as_default():
        dys = [raw.Placeholder(y.dtype.base_dtype, name="dy") for y in body.outputs]
        pairs = [(y, dy) for y, dy in zip(body.outputs, dys, strict=True) if flows(y)]
        found = gradients([y for y, _ in pairs], body.inputs, [dy for _, dy in pairs])
        dxs = [dense_or_zeros(dx, x) for dx, x in zip(found, body.inputs, strict=True)]
    return Body(body.graph, [*body.inputs, *dys], dxs)


set_differentiate(differentiated)
