"""The gradient of a `While`: a loop that runs backward over lists of what the first one computed.

The loop gets a counter, and a list (`TensorList`) for each value of its body that the gradient
needs; the backward loop counts down and pops. Values that do not change from turn to turn need no
list. All of it is made of operations that have gradients, so the backward loop has one as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from weft.autodiff.functions import (
    Halves,
    add_body,
    add_outputs,
    differentiable,
    halves,
    late_arguments,
    loop_body,
    own_body,
    with_constants,
    zeros_for,
)
from weft.core import dtypes
from weft.core.dtypes import DType
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.function_def import Body
from weft.graph.graph import Graph
from weft.graph.op_def import FuncRef, raw, register_gradient
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims
from weft.graph.tensor import Tensor


@dataclass
class _Loop:
    """A body and its gradient, with what passes between them.

    `fixed` are inputs of the body that stay the same, `kept` tensors that change, each with the
    position of the list that it is pushed on, among the loop's variables.
    """

    op: Operation
    half: Halves
    variables: list[int]  # handles of variables: their gradients add up over the turns
    fixed: list[int] = field(default_factory=list)
    kept: dict[Tensor, int] = field(default_factory=dict)
    count: Tensor | None = None

    @property
    def lists(self) -> list[Tensor]:
        return [self.op.outputs[i] for i in self.kept.values()]


def while_gradient(op: Operation, *grads: Any) -> list[Any]:
    """One gradient for each input of the loop, those added here included."""
    body = _body(op)
    grads = tuple(g if _flows(y) else None for g, y in zip(grads, body.outputs, strict=True))
    handles = [i for i, x in enumerate(body.inputs) if x.dtype.base_dtype is dtypes.resource]
    half = halves(body, grads, handles)
    loop = _Loop(op, half, [i for i in handles if i in half.inputs])
    _save(loop, _choose(loop))
    found = _run_back(loop, [convert_to_tensor(grads[i]) for i in half.outputs])
    return [found.get(i) for i in range(len(op.inputs))]


for _name in ("While", "StatelessWhile"):
    register_gradient(_name, while_gradient)


def _body(op: Operation) -> Body:
    """The body, with the shapes that the loop starts with if they stay the same."""
    library, function = op.graph._functions, op.attrs["body"]
    dims = [tensor.dims for tensor in op.inputs]
    body = loop_body(library, function, dims)
    same = [tensor.dims for tensor in body.outputs] == dims
    return body if same else loop_body(library, function)


def _flows(result: Tensor) -> bool:
    """Whether a result of the body can have a gradient: a list of whole numbers has none."""
    pushes = result.op.type in ("TensorListPushBack", "TensorListPopBack")
    return not pushes or differentiable(result.op.attrs["element_dtype"])


# ---- the forward loop -------------------------------------------------------------------------


def _choose(loop: _Loop) -> list[Tensor]:
    """Finds what the backward half uses: inputs that stay, and all that changes.

    Gives those tensors that no list has yet; a loop differentiated before has some.
    """
    half, body = loop.half, loop.half.body
    used = dict.fromkeys([t for op in half.backward for t in op.inputs] + half.dxs)
    changing = list(half.saved)
    for i, tensor in enumerate(body.inputs):
        if tensor in used:
            if body.outputs[i] is tensor:
                loop.fixed.append(i)
            else:
                changing.append(tensor)
    found = {tensor: _list_of(body, tensor) for tensor in changing}
    loop.kept = {tensor: i for tensor, i in found.items() if i is not None}
    return [tensor for tensor in changing if tensor not in loop.kept]


def _list_of(body: Body, tensor: Tensor) -> int | None:
    """The position of a list that each turn does nothing to but push `tensor`."""
    for user in tensor.consumers():
        if user.type == "TensorListPushBack" and user.inputs[1] is tensor:
            for i, (given, result) in enumerate(zip(body.inputs, body.outputs, strict=True)):
                if user.inputs[0] is given and result.op is user:
                    return i
    return None


def _save(loop: _Loop, tensors: list[Tensor]) -> None:
    """Makes the loop count its turns and push `tensors`."""
    op, half = loop.op, loop.half
    with half.body.graph.as_default():
        counter = raw.Placeholder(dtypes.int32, shape=[], name="counter")
        following = raw.AddV2(counter, constant(1))
        given = [raw.Placeholder(dtypes.variant, shape=[], name="list") for _ in tensors]
        pairs = zip(given, tensors, strict=True)
        pushed = [raw.TensorListPushBack(handle, tensor) for handle, tensor in pairs]
    extra = [counter, *given]
    op.attrs["body"] = add_body(
        op.graph, op.attrs["body"].name,
        [*half.forward, *with_constants(following), *(t.op for t in pushed)],
        [*half.body.inputs, *extra], [*half.body.outputs, following, *pushed],
    )  # fmt: skip
    op.attrs["cond"] = _with_arguments(op.graph, op.attrs["cond"], [t.dtype for t in extra])
    with op.graph.control_dependencies(None):
        # They come before the loop, and are inside of what it is inside of.
        op.graph._set_control_flow_context(op._get_control_flow_context())
        zero = constant(0, name="turns")
        start = [raw.EmptyTensorList(_shape(t.dims), -1, t.dtype.base_dtype) for t in tensors]
    _add_inputs(op, [zero, *start])
    loop.count, *made = add_outputs(op, extra)
    loop.kept |= {tensor: made[k].value_index for k, tensor in enumerate(tensors)}


def _shape(dims: Dims) -> Any:
    """The shape of elements as operations on lists take it; -1 for what is not known."""
    known = -1 if dims is None else [-1 if n is None else n for n in dims]
    return constant(known, dtypes.int32, name="element_shape")


def _add_inputs(op: Operation, tensors: Sequence[Tensor]) -> None:
    op.inputs = (*op.inputs, *tensors)
    for tensor in tensors:
        tensor._consumers.append(op)
    op.attrs["T"] = [*op.attrs["T"], *(t.dtype.base_dtype for t in tensors)]


def _with_arguments(graph: Graph, reference: FuncRef, types: Sequence[DType]) -> FuncRef:
    """The same function with further arguments, which it does not use."""
    body = own_body(graph._functions, reference)
    with body.graph.as_default():
        added = [raw.Placeholder(dtype, name="unused") for dtype in types]
    ops = body.graph.get_operations()
    return add_body(graph, reference.name, ops, [*body.inputs, *added], body.outputs)


# ---- the backward loop ------------------------------------------------------------------------


def _run_back(loop: _Loop, grads: list[Tensor]) -> dict[int, Tensor]:
    """Adds the backward loop; gradients by position among the inputs of the forward one."""
    op, half = loop.op, loop.half
    body, dims = _backward_body(loop)
    sums = [zeros_for(op.inputs[i]) for i in loop.variables]
    assert loop.count is not None
    fixed = [*(op.inputs[i] for i in loop.fixed), *late_arguments(half.body)]
    given = [loop.count, *grads, *sums, *loop.lists, *fixed]
    condition = _counts_down(op.graph, [tensor.dtype.base_dtype for tensor in given])
    found = op.definition(given, condition, body, output_shapes=dims)
    positions = [*half.outputs, *loop.variables]
    return dict(zip(positions, found[1 : 1 + len(positions)], strict=True))


def _backward_body(loop: _Loop) -> tuple[FuncRef, list[Dims]]:
    """The function of one turn back, and the shapes of its results."""
    half, inputs = loop.half, loop.half.body.inputs
    position = {i: k for k, i in enumerate(half.inputs)}
    with half.body.graph.as_default():
        counter = raw.Placeholder(dtypes.int32, shape=[], name="counter")
        before = raw.Sub(counter, constant(1))
        lists = [raw.Placeholder(dtypes.variant, shape=[], name="list") for _ in loop.kept]
        pops = [_popped(handle, like) for handle, like in zip(lists, loop.kept, strict=True)]
        values = dict(zip(loop.kept, (value for _, value in pops), strict=True))
        _rewire(half.backward, values)
        dxs = [values.get(dx, dx) for dx in half.dxs]
        sums = [raw.Placeholder(dxs[position[i]].dtype, name="sum") for i in loop.variables]
        totals = [raw.AddV2(s, dxs[position[i]]) for s, i in zip(sums, loop.variables, strict=True)]
    fixed = [*(inputs[i] for i in loop.fixed), *late_arguments(half.body).values()]
    flowing = [dxs[position[i]] for i in half.outputs]
    ops = [
        *half.backward,
        *with_constants(before),
        *(op for r, _ in pops for op in with_constants(r)),
    ]
    ops += [total.op for total in totals]
    arguments = [counter, *half.dys, *sums, *lists, *fixed]
    results = [before, *flowing, *totals, *(rest for rest, _ in pops), *fixed]
    shapes = [inputs[i].dims for i in half.outputs] + [None] * len(sums)
    shapes = [(), *shapes, *(() for _ in pops), *(tensor.dims for tensor in fixed)]
    return add_body(loop.op.graph, f"{loop.op.type}_gradient", ops, arguments, results), shapes


def _popped(handle: Tensor, like: Tensor) -> tuple[Tensor, Tensor]:
    """What is left of a list, and its last element."""
    rest, value = raw.TensorListPopBack(handle, _shape(like.dims), like.dtype.base_dtype)
    value.dims = like.dims
    return rest, value


def _rewire(ops: Sequence[Operation], new: dict[Tensor, Tensor]) -> None:
    for op in ops:
        for i, tensor in enumerate(op.inputs):
            if tensor in new:
                op._update_input(i, new[tensor])


def _counts_down(graph: Graph, types: Sequence[DType]) -> FuncRef:
    """The condition of a backward loop: the counter has not come down to zero."""
    condition = Graph()
    with condition.as_default():
        arguments = [raw.Placeholder(dtype, name=f"arg{i}") for i, dtype in enumerate(types)]
        more = raw.Greater(arguments[0], constant(0))
    return add_body(graph, "counts_down", condition.get_operations(), arguments, [more])
