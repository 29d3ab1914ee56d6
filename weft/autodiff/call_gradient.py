"""Gradients of calls: calls of other functions.

A function that an attribute names hands on what its gradient needs as further results, so that
nothing is done or drawn twice. The gradient of one that is an operation type computes that anew:
TensorFlow differentiates the function of a `SymbolicGradient` when it runs a step, with what it
knows of few operations. Where that would not do, the gradient is a function of the library.
"""

from __future__ import annotations

from typing import Any

from weft.autodiff.functions import (
    ForwardBackward,
    add_body,
    add_outputs,
    ancestors,
    backward_graph,
    dense_or_zeros,
    differentiate_connected_body,
    flows,
    gradient_type,
    late_arguments,
    own_body,
)
from weft.core import dtypes, nest
from weft.graph.convert import convert_to_tensor
from weft.graph.function import gradient_body, set_differentiate
from weft.graph.function_def import Body
from weft.graph.graph import Graph
from weft.graph.op_def import FuncRef, raw, register_gradient
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor


def call_gradient(op: Operation, *grads: Any) -> list[Any]:
    """The gradient of a call: its arguments and the gradients of its results go to a function."""
    if op.definition.calls == "attribute":
        return _gradient_of_body(op, grads)
    given = [_dense(grad, op.outputs[i]) for i, grad in enumerate(grads)]
    if op.definition.calls != "function":
        return _call_of_gradient(op, op.attrs["f"], given)
    reference = FuncRef(op.type, tuple(op.attrs.items()))
    if _has_control_flow(op.graph._functions, reference):
        return _call_of_gradient(op, reference, given)
    types = [gradient_type(tensor) for tensor in op.inputs]
    return list(raw.SymbolicGradient([*op.inputs, *given], types, reference))


def _gradient_of_body(op: Operation, grads: tuple[Any, ...]) -> list[Any]:
    """Makes the call return what its gradient needs, and calls that."""
    dims = [tensor.dims for tensor in op.inputs]
    body = own_body(op.graph._functions, op.attrs["f"], dims)
    side, found = differentiate_connected_body(body, grads)
    if not found:
        return [None] * len(op.inputs)
    saved = _hand_on(op, side)
    late = late_arguments(body)
    inputs = [*side.dys, *body.inputs, *side.saved, *late.values()]
    base = op.attrs["f"].name
    graph = backward_graph(op)
    backward = add_body(graph, f"{base}_backward", side.backward, inputs, side.dxs, keep=True)
    given = [convert_to_tensor(grads[i]) for i in side.outputs]
    results = add_node(graph, backward, [*given, *op.inputs, *saved, *late])
    for tensor, dx in zip(results, side.dxs, strict=True):
        tensor.dims = dx.dims
    packed = nest.pack_sequence_as(found, results, expand_composites=True)
    places = dict(zip(side.inputs, packed, strict=True))
    return [places.get(i) for i in range(len(op.inputs))]


def _hand_on(op: Operation, side: ForwardBackward) -> list[Tensor]:
    """The tensors that the gradient needs, as outputs of the call; some may be there already."""
    body = side.body
    new = [tensor for tensor in side.saved if tensor not in body.outputs]
    results = [*body.outputs, *new]
    if new:
        name = op.attrs["f"].name
        op.attrs["f"] = add_body(
            op.graph, f"{name}_forward", side.forward, body.inputs, results, keep=True
        )
        op.attrs["Tout"] = [*op.attrs["Tout"], *(t.dtype.base_dtype for t in new)]
        add_outputs(op, new)
    return [op.outputs[results.index(tensor)] for tensor in side.saved]


def add_node(graph: Graph, function: FuncRef, inputs: list[Tensor]) -> list[Tensor]:
    """The results of a new node that calls a function of the graph's library."""
    signature = graph._functions[function.name].message.signature
    types = [dtypes.as_dtype(arg.type) for arg in signature.output_arg]
    call = raw.StatefulPartitionedCall if signature.is_stateful else raw.PartitionedCall
    return list(call(inputs, types, function))


def _has_control_flow(library: dict[str, Any], reference: FuncRef) -> bool:
    """Whether a function does what TensorFlow could not differentiate when it runs a step."""
    kinds = {op.definition.calls for op in own_body(library, reference).graph.get_operations()}
    return bool(kinds - {None, "function", "gradient"})


def _call_of_gradient(op: Operation, reference: FuncRef, given: list[Tensor]) -> list[Any]:
    """Calls a function that is made here: the gradient of `reference`."""
    graph = backward_graph(op)
    return add_node(graph, _gradient_function(graph, reference), [*op.inputs, *given])


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
    return _call_of_gradient(op, _gradient_function(backward_graph(op), op.attrs["f"]), given)


register_gradient("SymbolicGradient", second_gradient)


def _dense(grad: Any, like: Tensor) -> Tensor:
    return raw.ZerosLike(like) if grad is None else convert_to_tensor(grad)


def differentiated(library: dict[str, Any], reference: FuncRef) -> Body:
    """A body that maps a function's arguments and its results' gradients to gradients."""
    from weft.autodiff.gradients import derivatives

    body = own_body(library, reference)
    with body.graph.as_default():
        dys = [raw.Placeholder(y.dtype.base_dtype, name="dy") for y in body.outputs]
        pairs = [(y, dy) for y, dy in zip(body.outputs, dys, strict=True) if flows(y)]
        found = derivatives([y for y, _ in pairs], body.inputs, [dy for _, dy in pairs])
        dxs = [dense_or_zeros(dx, x) for dx, x in zip(found, body.inputs, strict=True)]
    return Body(body.graph, [*body.inputs, *dys], dxs)


set_differentiate(differentiated)
