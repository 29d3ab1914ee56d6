"""The gradient of a `While`: a loop that runs backward over what the first one put on stacks.

The loop gets a counter, and a stack for each value of its body that the gradient needs; the
backward loop counts down and pops. Values that do not change from turn to turn need no stack.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from weft.autodiff.functions import (
    Halves,
    add_body,
    add_outputs,
    halves,
    own_body,
    zeros_for,
)
from weft.core import dtypes
from weft.core.dtypes import DType
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.function_def import Body
from weft.graph.graph import Graph
from weft.graph.op_def import REGISTRY, FuncRef, raw, register_gradient
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor


@dataclass
class _Loop:
    """A body and its gradient, with what passes between them.

    `fixed` are inputs of the body that stay the same, `pushed` tensors that change; `handles` are
    the body's arguments for the stacks.
    """

    op: Operation
    half: Halves
    fixed: list[int] = field(default_factory=list)
    pushed: list[Tensor] = field(default_factory=list)
    handles: list[Tensor] = field(default_factory=list)
    stacks: list[Tensor] = field(default_factory=list)
    count: Tensor | None = None

    @property
    def variables(self) -> list[int]:
        """Inputs that are handles of variables: their gradients add up over the turns."""
        inputs = self.half.body.inputs
        return [i for i in self.half.inputs if inputs[i].dtype.base_dtype is dtypes.resource]


def while_gradient(op: Operation, *grads: Any) -> list[Any]:
    """One gradient for each input of the loop, those added here included."""
    half = halves(_body(op), grads)
    loop = _Loop(op, half)
    _choose(loop)
    _save(loop)
    found = _run_back(loop, [convert_to_tensor(grads[i]) for i in half.outputs])
    return [found.get(i) for i in range(len(op.inputs))]


for _name in ("While", "StatelessWhile"):
    register_gradient(_name, while_gradient)


def _body(op: Operation) -> Body:
    """The body, with the shapes that the loop starts with if they stay the same."""
    library, function = op.graph._functions, op.attrs["body"]
    dims = [tensor.dims for tensor in op.inputs]
    body = own_body(library, function, dims)
    same = [tensor.dims for tensor in body.outputs] == dims
    return body if same else own_body(library, function)


def _choose(loop: _Loop) -> None:
    """What the backward half uses: inputs that stay, and all that changes."""
    half = loop.half
    used = dict.fromkeys([t for op in half.backward for t in op.inputs] + half.dxs)
    pushed = list(half.saved)
    for i, tensor in enumerate(half.body.inputs):
        if tensor in used:
            if half.body.outputs[i] is tensor:
                loop.fixed.append(i)
            else:
                pushed.append(tensor)
    loop.pushed = pushed


def _save(loop: _Loop) -> None:
    """Makes the loop count its turns and push what is needed of each."""
    op, half, types = loop.op, loop.half, [t.dtype.base_dtype for t in loop.pushed]
    with half.body.graph.as_default():
        counter = raw.Placeholder(dtypes.int32, shape=[], name="counter")
        following = raw.AddV2(counter, constant(1))
        loop.handles = [raw.Placeholder(dtypes.resource, shape=[], name="stack") for _ in types]
        pushes = [raw.StackPushV2(h, t).op for h, t in zip(loop.handles, loop.pushed, strict=True)]
    extra = [counter, *loop.handles]
    op.attrs["body"] = add_body(
        op.graph, op.attrs["body"].name,
        [*half.forward, *extra_ops(following), *pushes], [*half.body.inputs, *extra],
        [*half.body.outputs, following, *loop.handles],
    )  # fmt: skip
    op.attrs["cond"] = _with_arguments(op.graph, op.attrs["cond"], [t.dtype for t in extra])
    with op.graph.control_dependencies(None):
        zero = constant(0, name="turns")
        loop.stacks = [raw.StackV2(-1, elem_type=dtype) for dtype in types]
    _add_inputs(op, [zero, *loop.stacks])
    loop.count = add_outputs(op, extra)[0]


def extra_ops(tensor: Tensor) -> list[Operation]:
    """An operation and the constants it takes."""
    return [*(t.op for t in tensor.op.inputs if t.op.type == "Const"), tensor.op]


def _add_inputs(op: Operation, tensors: Sequence[Tensor]) -> None:
    op.inputs = (*op.inputs, *tensors)
    for tensor in tensors:
        tensor._consumers.append(op)
    op.attrs["T"] = [*op.attrs["T"], *(t.dtype.base_dtype for t in tensors)]
    # A loop that has effects now is one of the kind that may.
    op.definition = REGISTRY["While"]


def _with_arguments(graph: Graph, reference: FuncRef, types: Sequence[DType]) -> FuncRef:
    """The same function with further arguments, which it does not use."""
    body = own_body(graph._functions, reference)
    with body.graph.as_default():
        added = [raw.Placeholder(dtype, name="unused") for dtype in types]
    ops = body.graph.get_operations()
    return add_body(graph, reference.name, ops, [*body.inputs, *added], body.outputs)


def _run_back(loop: _Loop, grads: list[Tensor]) -> dict[int, Tensor]:
    """Adds the backward loop; gradients by position among the inputs of the forward one."""
    op, half = loop.op, loop.half
    body, count = _backward_body(loop, len(grads))
    sums = [zeros_for(op.inputs[i]) for i in loop.variables]
    assert loop.count is not None
    given = [loop.count, *grads, *sums, *loop.stacks, *(op.inputs[i] for i in loop.fixed)]
    condition = _counts_down(op.graph, [tensor.dtype.base_dtype for tensor in given])
    found = raw.While(given, condition, body)
    return dict(zip([*half.outputs, *loop.variables], found[1:count], strict=True))


def _backward_body(loop: _Loop, flowing: int) -> tuple[FuncRef, int]:
    """The function of one turn back, and how many of its results come before the stacks."""
    half, inputs = loop.half, loop.half.body.inputs
    position = {i: k for k, i in enumerate(half.inputs)}
    with half.body.graph.as_default():
        counter = raw.Placeholder(dtypes.int32, shape=[], name="counter")
        before = raw.Sub(counter, constant(1))
        pops = {t: _popped(h, t) for h, t in zip(loop.handles, loop.pushed, strict=True)}
        _rewire(half.backward, pops)
        dxs = [pops.get(dx, dx) for dx in half.dxs]
        sums = [raw.Placeholder(dxs[position[i]].dtype, name="sum") for i in loop.variables]
        totals = [raw.AddV2(s, dxs[position[i]]) for s, i in zip(sums, loop.variables, strict=True)]
    fixed = [inputs[i] for i in loop.fixed]
    arguments = [counter, *half.dys, *sums, *loop.handles, *fixed]
    results = [before, *(dxs[position[i]] for i in half.outputs), *totals]
    ops = [*half.backward, *extra_ops(before), *(p.op for p in pops.values())]
    ops += [total.op for total in totals]
    outputs = [*results, *loop.handles, *fixed]
    made = add_body(loop.op.graph, f"{loop.op.type}_gradient", ops, arguments, outputs)
    return made, len(results)


def _popped(handle: Tensor, like: Tensor) -> Tensor:
    found: Tensor = raw.StackPopV2(handle, elem_type=like.dtype.base_dtype)
    found.dims = like.dims
    return found


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
