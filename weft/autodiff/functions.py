"""Gradients of calls, and what the gradients of conditionals and loops over functions share.

A call's gradient is a call of another function, which computes what it needs of the first anew. A
conditional (`branch_gradient.py`) or loop (`while_gradient.py`) instead hands what its gradient
needs on: as further results, or on stacks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.function import (
    LibraryFunction,
    add_function,
    function_named,
    gradient_body,
    set_differentiate,
)
from weft.graph.function_def import Body, function_def
from weft.graph.graph import Graph
from weft.graph.op_def import REGISTRY, FuncRef, raw, register_gradient
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims
from weft.graph.tensor import Tensor


def differentiable(dtype: DType) -> bool:
    """Whether a value of this type has a gradient of its own; a variable's goes by its handle."""
    base = dtype.base_dtype
    return base.is_floating or base.is_complex or base in (dtypes.resource, dtypes.variant)


# ---- calls ------------------------------------------------------------------------------------


def call_gradient(op: Operation, *grads: Any) -> list[Any]:
    """The gradient of a call: its arguments and the gradients of its results go to a function."""
    if op.definition.calls == "function":
        reference = FuncRef(op.type, tuple(op.attrs.items()))
    else:
        reference = op.attrs["f"]
    given = [_dense(grad, op.outputs[i]) for i, grad in enumerate(grads)]
    types = [_gradient_type(tensor) for tensor in op.inputs]
    return list(raw.SymbolicGradient([*op.inputs, *given], types, reference))


def python_gradient(op: Operation) -> Any:
    """The Python function that differentiates a call, if its function has one."""
    function = op.graph._functions.get(op.type)
    return function.python_gradient if function is not None else None


for _name in ("PartitionedCall", "StatefulPartitionedCall"):
    register_gradient(_name, call_gradient)


def second_gradient(op: Operation, *grads: Any) -> list[Any]:
    """The gradient of a call's gradient, which becomes a function of the library for it."""
    library, reference = op.graph._functions, op.attrs["f"]
    body = gradient_body(library, reference)
    ops = body.graph.get_operations()
    made = add_body(op.graph, f"{reference.name}_gradient", ops, body.inputs, body.outputs)
    given = [_dense(grad, op.outputs[i]) for i, grad in enumerate(grads)]
    types = [_gradient_type(tensor) for tensor in op.inputs]
    return list(raw.SymbolicGradient([*op.inputs, *given], types, made))


register_gradient("SymbolicGradient", second_gradient)


def _dense(grad: Any, like: Tensor) -> Tensor:
    return raw.ZerosLike(like) if grad is None else convert_to_tensor(grad)


def _gradient_type(tensor: Tensor) -> DType:
    """The type of a gradient: that of the variable if the tensor is its handle."""
    if tensor.dtype.base_dtype is not dtypes.resource:
        return tensor.dtype.base_dtype
    op = tensor.op
    while op.type == "Identity" or hasattr(op, "_captured"):
        op = op._captured.op if hasattr(op, "_captured") else op.inputs[0].op
    if op.type == "VarHandleOp":
        found: DType = op.attrs["dtype"]
        return found
    for user in tensor.consumers():
        if "dtype" in user.attrs:
            read: DType = user.attrs["dtype"]
            return read
    return dtypes.float32


def differentiated(library: dict[str, Any], reference: FuncRef) -> Body:
    """A body that maps a function's arguments and its results' gradients to gradients."""
    from weft.autodiff.gradients import gradients

    body = own_body(library, reference)
    with body.graph.as_default():
        dys = [raw.Placeholder(y.dtype.base_dtype, name="dy") for y in body.outputs]
        pairs = [(y, dy) for y, dy in zip(body.outputs, dys, strict=True) if _flows(y)]
        found = gradients([y for y, _ in pairs], body.inputs, [dy for _, dy in pairs])
        dxs = [_dense_or_zeros(dx, x) for dx, x in zip(found, body.inputs, strict=True)]
    return Body(body.graph, [*body.inputs, *dys], dxs)


set_differentiate(differentiated)


def own_body(
    library: dict[str, Any], reference: FuncRef, dims: Sequence[Dims] | None = None
) -> Body:
    """A body to be changed; `dims` is what is known of its arguments' shapes."""
    if reference.name in library or reference.name not in REGISTRY:
        function = function_named(library, reference.name)
        return function.new_body(dict(reference.attrs), library, dims)
    return _body_of_op(reference)


def _body_of_op(reference: FuncRef) -> Body:
    """A registered operation, taken as a function."""
    from weft.graph.apply import complete_attrs, output_types
    from weft.graph.importer import input_types

    definition, attrs = REGISTRY[reference.name], dict(reference.attrs)
    complete_attrs(definition, attrs)
    graph = Graph()
    with graph.as_default():
        inputs = [raw.Placeholder(dtype) for dtype in input_types(definition, attrs)]
        types = output_types(definition, attrs)
        op = graph.add_op(definition, tuple(inputs), types, attrs, definition.name)
    return Body(graph, inputs, list(op.outputs))


def _flows(tensor: Tensor) -> bool:
    return differentiable(tensor.dtype) and tensor.dtype.base_dtype is not dtypes.resource


def _dense_or_zeros(grad: Any, x: Tensor) -> Tensor:
    return zeros_for(x) if grad is None else convert_to_tensor(grad)


def zeros_for(x: Tensor) -> Tensor:
    """A gradient of zeros: as large as the variable if `x` is the handle of one."""
    if x.dtype.base_dtype is dtypes.resource:
        return raw.Fill(raw.VariableShape(x), constant(0, _gradient_type(x)))
    return raw.ZerosLike(x)


# ---- a body and its gradient, cut apart -------------------------------------------------------


@dataclass
class Halves:
    """A body with the gradient of it in one graph.

    `dys` and `dxs` belong to the outputs and inputs that gradients flow through; `saved` are the
    tensors of the forward half that the backward half uses, besides the inputs.
    """

    body: Body
    outputs: list[int]
    inputs: list[int]
    dys: list[Tensor] = field(default_factory=list)
    dxs: list[Tensor] = field(default_factory=list)
    forward: list[Operation] = field(default_factory=list)
    backward: list[Operation] = field(default_factory=list)
    saved: list[Tensor] = field(default_factory=list)


def halves(body: Body, grads: Sequence[Any]) -> Halves:
    """`grads`: what came for each output; None where nothing flows."""
    from weft.autodiff.gradients import gradients

    outputs = [i for i, grad in enumerate(grads) if grad is not None and _flows(body.outputs[i])]
    inputs = [i for i, x in enumerate(body.inputs) if differentiable(x.dtype)]
    made = Halves(body, outputs, inputs)
    with body.graph.as_default():
        ys, xs = [body.outputs[i] for i in outputs], [body.inputs[i] for i in inputs]
        made.dys = [raw.Placeholder(y.dtype.base_dtype, shape=y.shape, name="dy") for y in ys]
        found = gradients(ys, xs, made.dys) if ys and xs else [None] * len(xs)
        made.dxs = [_dense_or_zeros(dx, x) for dx, x in zip(found, xs, strict=True)]
    _cut(made)
    return made


def _cut(made: Halves) -> None:
    body = made.body
    needed = _ancestors([*(y.op for y in body.outputs), *body.effects])
    needed |= {x.op for x in body.inputs}
    used = _ancestors([dx.op for dx in made.dxs])
    behind = [op for op in body.graph.get_operations() if op in used and op not in needed]
    wanted = [*(tensor for op in behind for tensor in op.inputs), *made.dxs]
    copied: dict[Operation, None] = {}
    saved: dict[Tensor, None] = {}
    arguments = {x.op for x in body.inputs}
    while wanted:
        tensor = wanted.pop(0)
        if tensor.op not in needed or tensor.op in arguments or tensor.op in copied:
            continue
        if _is_of_shapes(tensor.op):
            copied[tensor.op] = None
            wanted.extend(tensor.op.inputs)
        else:
            saved[tensor] = None
    made.forward = [op for op in body.graph.get_operations() if op in needed]
    made.backward, made.saved = [*copied, *behind], list(saved)


def _is_of_shapes(op: Operation) -> bool:
    """Constants, and integers that follow from shapes: easier to compute again than to hand on."""
    if op.type in ("Const", "Shape", "ShapeN", "Size", "Rank"):
        return True
    if op.definition.stateful or op.definition.calls or op.definition.control_flow:
        return False
    whole = all(tensor.dtype.base_dtype.is_integer for tensor in op.outputs)
    return whole and bool(op.inputs) and all(_is_of_shapes(tensor.op) for tensor in op.inputs)


def _ancestors(roots: Sequence[Operation]) -> set[Operation]:
    found: set[Operation] = set()
    stack = list(roots)
    while stack:
        op = stack.pop()
        if op not in found:
            found.add(op)
            stack.extend(tensor.op for tensor in op.inputs)
            stack.extend(op._control_inputs)
    return found


def add_body(
    graph: Graph,
    base: str,
    ops: Sequence[Operation],
    inputs: Sequence[Tensor],
    outputs: Sequence[Tensor],
) -> FuncRef:
    """Makes `ops` a function of `graph`'s library."""
    message = function_def(None, base, ops, inputs, outputs)
    add_function(graph, LibraryFunction(message))
    return FuncRef(message.signature.name)


def add_outputs(op: Operation, tensors: Sequence[Tensor]) -> list[Tensor]:
    """Gives an operation further outputs, of the types of `tensors`."""
    made = [
        Tensor(op, len(op.outputs) + i, tensor.dtype.base_dtype) for i, tensor in enumerate(tensors)
    ]
    for new, tensor in zip(made, tensors, strict=True):
        new.dims = tensor.dims
    op.outputs += made
    if op.attrs.get("output_shapes"):
        op.attrs["output_shapes"] = [*op.attrs["output_shapes"], *(t.dims for t in tensors)]
    op.graph._note_mutation()
    return made
