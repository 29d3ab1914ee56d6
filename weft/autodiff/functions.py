"""Shared parts of the gradients of calls, conditionals and loops over functions.

A call's gradient (`call_gradient.py`) is a call of another function. A conditional
(`branch_gradient.py`) or loop (`while_gradient.py`) hands on what its gradient needs: as further
results, or in lists.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from weft.core import dtypes, nest
from weft.core.dtypes import DType
from weft.core.walk import reached
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.function import (
    LibraryFunction,
    add_function,
    function_named,
)
from weft.graph.function_def import Body, effects_of, function_def, mark_handle, name_effects
from weft.graph.graph import Graph, get_default_graph
from weft.graph.op_def import REGISTRY, FuncRef, raw
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims, known
from weft.graph.tensor import Tensor


def differentiable(dtype: DType) -> bool:
    """Whether a value of this type has a gradient of its own; a variable's goes by its handle."""
    base = dtype.base_dtype
    return base.is_floating or base.is_complex or base in (dtypes.resource, dtypes.variant)


def gradient_type(tensor: Tensor) -> DType:
    """The type of a gradient: that of the variable if the tensor is its handle."""
    if tensor.dtype.base_dtype is not dtypes.resource:
        return tensor.dtype.base_dtype
    op = tensor.op
    while op.definition.is_identity or hasattr(op, "_captured"):
        op = op._captured.op if hasattr(op, "_captured") else op.inputs[0].op
    if (told := getattr(op, "_handle_dtype", None)) is not None:
        known: DType = told
        return known
    if op.definition.is_variable:
        found: DType = op.attrs["dtype"]
        return found
    for user in tensor.consumers():
        if "dtype" in user.attrs:
            read: DType = user.attrs["dtype"]
            return read
    return dtypes.float32


def late_arguments(body: Body) -> dict[Tensor, Tensor]:
    """Tensors from outside that only the gradient of a body uses, each with its argument."""
    found: dict[Tensor, Tensor] = getattr(body.graph, "late", {})
    return found


def own_body(
    library: dict[str, Any], reference: FuncRef, dims: Sequence[Dims] | None = None
) -> Body:
    """A body to be changed; `dims` is what is known of its arguments' shapes."""
    if reference.name in library or reference.name not in REGISTRY:
        function = function_named(library, reference.name)
        return function.new_body(dict(reference.attrs), library, dims)
    return _body_of_op(reference)


def loop_body(
    library: dict[str, Any], reference: FuncRef, dims: Sequence[Dims] | None = None
) -> Body:
    """A body to be changed. One that only calls a function, as a body with captured inputs does, is
    what that function does: its gradient then need not compute the function anew.
    """
    body = own_body(library, reference, dims)
    calls = [op for op in body.graph.get_operations() if not op.definition.is_placeholder]
    if len(calls) != 1 or calls[0].definition.calls != "function":
        return body
    call = calls[0]
    known = library.get(call.type)
    own_gradient = known is None or known.gradient or known.python_gradient
    if own_gradient or len(set(call.inputs)) < len(call.inputs) or call._control_inputs:
        return body
    inner = own_body(library, FuncRef(call.type, tuple(call.attrs.items())), _dims_of(call, dims))
    inside = dict(zip([*call.inputs, *call.outputs], [*inner.inputs, *inner.outputs], strict=True))
    with inner.graph.as_default():
        for tensor in body.inputs:
            if tensor not in inside:
                inside[tensor] = raw.Placeholder(tensor.dtype.base_dtype, shape=tensor.shape)
    inputs, outputs = [inside[x] for x in body.inputs], [inside[y] for y in body.outputs]
    return Body(inner.graph, inputs, outputs, inner.effects, inner.control_outputs)


def _dims_of(call: Operation, known: Sequence[Dims] | None) -> list[Dims] | None:
    return None if known is None else [tensor.dims for tensor in call.inputs]


def _body_of_op(reference: FuncRef) -> Body:
    """A registered operation, taken as a function."""
    from weft.graph.apply import complete_attrs, output_types
    from weft.graph.input_types import input_types

    definition, attrs = REGISTRY[reference.name], dict(reference.attrs)
    complete_attrs(definition, attrs)
    graph = Graph()
    with graph.as_default():
        inputs = [raw.Placeholder(dtype) for dtype in input_types(definition, attrs)]
        types = output_types(definition, attrs)
        op = graph.add_op(definition, tuple(inputs), types, attrs, definition.name)
    return Body(graph, inputs, list(op.outputs))


def flows(tensor: Tensor) -> bool:
    return differentiable(tensor.dtype) and tensor.dtype.base_dtype is not dtypes.resource


def dense_or_zeros(grad: Any, x: Tensor) -> Tensor:
    return zeros_for(x) if grad is None else convert_to_tensor(grad)


def zeros_for(x: Tensor) -> Tensor:
    """A gradient of zeros: as large as the variable if `x` is the handle of one."""
    if x.dtype.base_dtype is dtypes.resource:
        return raw.Fill(raw.VariableShape(x), constant(0, gradient_type(x)))
    if known(x.dims) and x.dtype.base_dtype is not dtypes.variant:
        # A loop then need not keep `x` for its shape.
        return raw.Fill(constant(x.dims, dtypes.int32), constant(0, x.dtype.base_dtype))
    return raw.ZerosLike(x)


# ---- a body and its gradient, cut apart -------------------------------------------------------


@dataclass
class ForwardBackward:
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


def differentiate_body(
    body: Body, grads: Sequence[Any], handles: Sequence[int] | None = None
) -> ForwardBackward:
    """`grads`: what came for each output; None where nothing flows.

    Of a loop, `handles` are the inputs that are handles; others go by their outputs.
    """
    from weft.autodiff.gradients import derivatives

    outputs = [i for i, grad in enumerate(grads) if grad is not None and flows(body.outputs[i])]
    if handles is None:
        inputs = [i for i, x in enumerate(body.inputs) if differentiable(x.dtype)]
    else:
        inputs = sorted({*outputs, *handles})
    made = ForwardBackward(body, outputs, inputs)
    with body.graph.as_default():
        ys, xs = [body.outputs[i] for i in outputs], [body.inputs[i] for i in inputs]
        made.dys = [raw.Placeholder(y.dtype.base_dtype, shape=y.shape, name="dy") for y in ys]
        found = derivatives(ys, xs, made.dys) if ys and xs else [None] * len(xs)
        if handles is not None:
            # A handle that nothing flows to is no variable's, or of one that is only written.
            kept = [k for k, i in enumerate(inputs) if found[k] is not None or i in outputs]
            made.inputs = [inputs[k] for k in kept]
            found, xs = [found[k] for k in kept], [xs[k] for k in kept]
        made.dxs = [dense_or_zeros(dx, x) for dx, x in zip(found, xs, strict=True)]
    _cut(made)
    return made


def differentiate_connected_body(
    body: Body, grads: Sequence[Any]
) -> tuple[ForwardBackward, list[Any]]:
    """Like `differentiate_body`, for a call: without inputs that nothing flows to.

    Gradients stay as they are; those of a few rows have their parts among the `dxs`.
    """
    from weft.autodiff.gradients import derivatives

    outputs = [i for i, g in enumerate(grads) if g is not None and flows(body.outputs[i])]
    inputs = [i for i, x in enumerate(body.inputs) if differentiable(x.dtype)]
    made = ForwardBackward(body, outputs, inputs)
    with body.graph.as_default():
        ys, xs = [body.outputs[i] for i in made.outputs], [body.inputs[i] for i in made.inputs]
        made.dys = [raw.Placeholder(y.dtype.base_dtype, shape=y.shape, name="dy") for y in ys]
        found = derivatives(ys, xs, made.dys) if ys and xs else [None] * len(xs)
    made.inputs = [i for i, dx in zip(made.inputs, found, strict=True) if dx is not None]
    there = [dx for dx in found if dx is not None]
    made.dxs = nest.flatten(there, expand_composites=True)
    _cut(made)
    return made, there


def _cut(made: ForwardBackward) -> None:
    body = made.body
    needed = ancestors([*(y.op for y in body.outputs), *body.effects])
    needed |= {x.op for x in body.inputs}
    used = ancestors([dx.op for dx in made.dxs])
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
    if op.definition.is_constant or op.definition.measures:
        return True
    if op.definition.stateful or op.definition.calls or op.definition.control_flow:
        return False
    whole = all(tensor.dtype.base_dtype.is_integer for tensor in op.outputs)
    return whole and bool(op.inputs) and all(_is_of_shapes(tensor.op) for tensor in op.inputs)


def ancestors(roots: Sequence[Operation]) -> set[Operation]:
    return reached(roots, lambda op: [*(tensor.op for tensor in op.inputs), *op._control_inputs])


def add_body(
    graph: Graph,
    base: str,
    ops: Sequence[Operation],
    inputs: Sequence[Tensor],
    outputs: Sequence[Tensor],
    keep: bool = False,
    control_outputs: Sequence[Operation] = (),
) -> FuncRef:
    """Makes `ops` a function of `graph`'s library.

    `keep`: they stay as they are, and what Python knows of them may be needed to differentiate them
    further.
    """
    message = function_def(None, base, ops, inputs, outputs)
    name_effects(message, control_outputs)
    for i, tensor in enumerate(inputs):
        if tensor.dtype.base_dtype is dtypes.resource:
            mark_handle(message, i, gradient_type(tensor))
    built = None
    if keep:
        inside, owner = set(ops), outputs[0].graph
        effects = [op for op in effects_of(owner) if op in inside]
        built = Body(owner, list(inputs), list(outputs), effects)
    add_function(graph, LibraryFunction(message, built=built))
    return FuncRef(message.signature.name)


def backward_graph(op: Operation) -> Graph:
    """The graph that the gradient of a call is made in, which knows the functions it calls.

    It is another one where the gradient is asked for inside of a function that has captured what
    depends on the call.
    """
    graph = get_default_graph()
    if graph is not op.graph:
        for function in op.graph._functions.values():
            add_function(graph, function)
    return graph


def with_constants(tensor: Tensor) -> list[Operation]:
    """The operation that makes a tensor, and the constants it takes."""
    return [*(t.op for t in tensor.op.inputs if t.op.definition.is_constant), tensor.op]


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
    op.graph._note_mutation(op)
    return made
