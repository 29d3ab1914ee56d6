"""The gradient of a `While`: a loop that runs backward over lists of what the first one computed.

The loop gets a counter if it has none in front, and a list (`TensorList`) for each value of its
body that the gradient needs; the backward loop counts as far and pops. Its own counter and limit
are in front, as in any loop (`ops/functions/loop_functions.py`). Values that do not change from
turn to turn need no list. All of it is made of operations that have gradients, so the backward loop
has one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from weft.autodiff.functions import (
    ForwardBackward,
    add_body,
    add_outputs,
    backward_graph,
    differentiable,
    differentiate_body,
    late_arguments,
    loop_body,
    own_body,
    with_constants,
    zeros_for,
)
from weft.core import dtypes
from weft.core.dtypes import DType
from weft.graph.constant_value import folded_value
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.function_def import Body
from weft.graph.graph import Graph
from weft.graph.op_def import FuncRef, raw, register_gradient
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims
from weft.graph.tensor import Tensor
from weft.ops.functions.traced_graph import lowered_outputs

_OWN = 3  # counter, limit and number of turns of a backward loop


@dataclass
class _Loop:
    """A body and its gradient, with what passes between them.

    `fixed` are inputs of the body that stay the same, `kept` tensors that change, each with the
    position of the list that it is pushed on, among the loop's variables.
    """

    op: Operation
    half: ForwardBackward
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
    half = differentiate_body(body, grads, handles)
    loop = _Loop(op, half, [i for i in handles if i in half.inputs])
    loop.count = op.outputs[0] if _counts_turns(op, body) else None
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


def _counts_turns(op: Operation, body: Body) -> bool:
    """Whether the first variable is a counter of turns, and the second a limit that stays."""
    if len(op.inputs) < 2 or any(x.dtype.base_dtype is not dtypes.int32 for x in op.inputs[:2]):
        return False
    start, following = folded_value(op.inputs[0]), _behind_identities(body.outputs[0])
    if start is None or start.shape or start or following.op.definition.infix != "+":
        return False
    counter, step = map(_behind_identities, following.op.inputs)
    stays = _behind_identities(body.outputs[1]) is body.inputs[1]
    return stays and counter is body.inputs[0] and bool(folded_value(step) == 1)


def _behind_identities(tensor: Tensor) -> Tensor:
    while tensor.op.definition.is_identity:
        tensor = tensor.op.inputs[0]
    return tensor


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
    """Makes the loop push `tensors`, and count its turns if it does not."""
    op, half = loop.op, loop.half
    counts = loop.count is None
    with half.body.graph.as_default():
        given = [raw.Placeholder(dtypes.variant, shape=[], name="list") for _ in tensors]
        pairs = zip(given, tensors, strict=True)
        results = [raw.TensorListPushBack(handle, tensor) for handle, tensor in pairs]
        if counts:
            given.append(raw.Placeholder(dtypes.int32, shape=[], name="counter"))
            results.append(raw.AddV2(given[-1], constant(1)))
    if not given:
        return
    op.attrs["body"] = add_body(
        op.graph, op.attrs["body"].name,
        [*half.forward, *(each for tensor in results for each in with_constants(tensor))],
        [*half.body.inputs, *given], [*half.body.outputs, *results],
        control_outputs=half.body.control_outputs,
    )  # fmt: skip
    op.attrs["cond"] = _with_arguments(op.graph, op.attrs["cond"], [t.dtype for t in given])
    _add_inputs(op, _starts(op, tensors, counts))
    made = add_outputs(op, given)
    op.attrs["_num_original_outputs"] = len(op.outputs)
    loop.count = made[-1] if counts else loop.count
    loop.kept |= {tensor: made[k].value_index for k, tensor in enumerate(tensors)}


def _starts(op: Operation, tensors: list[Tensor], counts: bool) -> list[Tensor]:
    """Empty lists, and zero turns. They come before the loop, inside of what it is inside of."""
    with op.graph.as_default(), op.graph.control_dependencies(None):
        op.graph._set_control_flow_context(op._get_control_flow_context())
        found = [raw.EmptyTensorList(_shape(t.dims), -1, t.dtype.base_dtype) for t in tensors]
        return [*found, constant(0, name="turns")] if counts else found


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
    return add_body(
        graph, reference.name, ops, [*body.inputs, *added], body.outputs,
        control_outputs=body.control_outputs,
    )  # fmt: skip


# ---- the backward loop ------------------------------------------------------------------------


def _run_back(loop: _Loop, grads: list[Tensor]) -> dict[int, Tensor]:
    """Adds the backward loop; gradients by position among the inputs of the forward one."""
    op, half = loop.op, loop.half
    body, dims = _backward_body(loop)
    sums = [zeros_for(op.inputs[i]) for i in loop.variables]
    assert loop.count is not None
    fixed = [*(op.inputs[i] for i in loop.fixed), *late_arguments(half.body)]
    limit = op.inputs[1] if loop.count.value_index == 0 else constant(-1)
    start = constant(0, dtypes.int32, name="grad_counter")
    given = [start, limit, loop.count, *grads, *sums, *loop.lists, *fixed]
    graph = backward_graph(op)
    condition = _counts_up(graph, [tensor.dtype.base_dtype for tensor in given])
    made = op.definition(
        given, condition, body, output_shapes=dims, name=f"{op.name.rpartition('/')[2]}_grad",
        parallel_iterations=op.attrs["parallel_iterations"],
    )  # fmt: skip
    made[0].op.attrs["_num_original_outputs"] = len(made)
    found = lowered_outputs(made, graph)
    positions = [*half.outputs, *loop.variables]
    return dict(zip(positions, found[_OWN : _OWN + len(positions)], strict=True))


def _backward_body(loop: _Loop) -> tuple[FuncRef, list[Dims]]:
    """The function of one turn back, and the shapes of its results."""
    half, inputs = loop.half, loop.half.body.inputs
    position = {i: k for k, i in enumerate(half.inputs)}
    with half.body.graph.as_default():
        counter, limit, turns = (
            raw.Placeholder(dtypes.int32, shape=[], name=name)
            for name in ("counter", "maximum_iterations", "turns")
        )
        following = raw.AddV2(counter, constant(1))
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
        *with_constants(following),
        *(op for r, _ in pops for op in with_constants(r)),
    ]
    ops += [total.op for total in totals]
    arguments = [counter, limit, turns, *half.dys, *sums, *lists, *fixed]
    results = [following, limit, turns, *flowing, *totals, *(rest for rest, _ in pops), *fixed]
    shapes = [inputs[i].dims for i in half.outputs] + [None] * len(sums)
    shapes = [*[()] * _OWN, *shapes, *(() for _ in pops), *(tensor.dims for tensor in fixed)]
    name = f"{loop.op.type}_gradient"
    return add_body(backward_graph(loop.op), name, ops, arguments, results), shapes


def _popped(handle: Tensor, like: Tensor) -> tuple[Tensor, Tensor]:
    """The rest of a list, and its last element."""
    rest, value = raw.TensorListPopBack(handle, _shape(like.dims), like.dtype.base_dtype)
    value.dims = like.dims
    return rest, value


def _rewire(ops: Sequence[Operation], new: dict[Tensor, Tensor]) -> None:
    for op in ops:
        for i, tensor in enumerate(op.inputs):
            if tensor in new:
                op._update_input(i, new[tensor])


def _counts_up(graph: Graph, types: Sequence[DType]) -> FuncRef:
    """The condition of a backward loop: it has not run as often as the forward one."""
    condition = Graph()
    with condition.as_default():
        arguments = [raw.Placeholder(dtype, name=f"arg{i}") for i, dtype in enumerate(types)]
        more = raw.Less(arguments[0], arguments[2])
    return add_body(graph, "counts_up", condition.get_operations(), arguments, [more])
