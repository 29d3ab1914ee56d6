"""Variables that gradients add to loops: counters of iterations, and sums over all of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from weft.core import dtypes
from weft.graph.constant import constant
from weft.graph.graph import Operation, Tensor
from weft.graph.op_def import raw
from weft.graph.slices import IndexedSlices
from weft.ops.array import array
from weft.ops.control import routing
from weft.ops.control.control_flow_context import ControlFlowContext
from weft.ops.control.while_loop import WhileContext
from weft.ops.math import elementwise
from weft.ops.state.gather_nodes import variable_shape

if TYPE_CHECKING:
    from weft.autodiff.loops import LoopGradient


def inside(context: ControlFlowContext | None) -> AbstractContextManager[Any]:
    return nullcontext() if context is None else context


@contextmanager
def out_of(context: ControlFlowContext) -> Iterator[None]:
    """Leaves the current context for a while."""
    context.Exit()
    try:
        yield
    finally:
        context.Enter()


def _add_variable(context: WhileContext, start: Tensor, name: str) -> Tensor:
    """Enters a new variable of `context`, the current context."""
    context.AddName(start.name)
    entered = context._enter(start, is_constant=False, name=name)
    context.loop_enters.append(entered)
    return entered


def _leave(context: WhileContext, value: Tensor, name: str) -> Tensor:
    left = routing.exit(value, name=name)
    context.loop_exits.append(left)
    context.ExitResult([left])
    return left


def add_forward_counter(context: WhileContext, outer: LoopGradient | None) -> tuple[Tensor, Tensor]:
    """n = 0; in every iteration n += 1. Returns the total, and n for the next iteration."""
    start = constant(0, name="f_count")
    if outer is not None:
        # Pushes of one run of an inner loop come before those of its next run.
        start.op._add_control_input(outer.forward_index.op.inputs[0].op)
    with context:
        entered = _add_variable(context, start, "f_count")
        merged = routing.merge([entered, entered])[0]
        on_exit, on_body = routing.switch(merged, context.pivot)
        following = routing.next_iteration(elementwise.add(on_body, 1))
        merged.op._update_input(1, following)
        return _leave(context, on_exit, "f_count"), following


def add_backward_counter(
    context: WhileContext, count: Tensor, outer: LoopGradient | None
) -> Tensor:
    """n = count; while n >= 1, n -= 1: this is what makes the backward loop a loop."""
    one = constant(1, name="b_count")
    with context:
        entered = _add_variable(context, count, "b_count")
        merged = routing.merge([entered, entered])[0]
        context._pivot_for_pred = merged
        context._pivot = raw.LoopCond(elementwise.greater_equal(merged, one), name="b_count")
        on_exit, on_body = routing.switch(merged, context._pivot)
        index = elementwise.subtract(on_body, one)
        context._pivot_for_body = index
        following = routing.next_iteration(index)
        merged.op._update_input(1, following)
        zero = _leave(context, on_exit, "b_count")
        if outer is not None:
            # Pops of one run of an inner loop come before those of its next run.
            outer.backward_sync._add_control_input(zero.op)
        return following


def accumulated(context: WhileContext, op: Operation, grad: Tensor) -> Tensor:
    """The sum over all iterations of `grad`, the gradient of the invariant that `op` enters."""
    with out_of(context):
        start = _zero_gradient(context, op, grad)
    entered = _add_variable(context, start, "b_acc")
    merged = routing.merge([entered, entered], name="b_acc")[0]
    on_exit, on_body = routing.switch(merged, context.pivot)
    following = routing.next_iteration(elementwise.add(on_body, grad))
    merged.op._update_input(1, following)
    return _leave(context, on_exit, "b_acc")


def _zero_gradient(context: WhileContext, op: Operation, grad: Tensor) -> Tensor:
    """Zeros of the shape of `grad`, around the backward loop `context`."""
    outer = context.outer_context
    if grad.shape.is_fully_defined():
        with inside(outer):
            return constant(0, grad.dtype, shape=grad.shape, name="b_acc")
    value = op.inputs[0]
    if isinstance(outer, WhileContext) and outer.grad_state is not None:
        with inside(context.grad_state.forward_context.outer_context):
            shape = _shape_of(value)
        state = context.grad_state.outer
        stack = state.save(shape)
        with outer:
            return array.zeros(state.load(stack, shape), grad.dtype)
    with inside(outer):
        return array.zeros(_shape_of(value), grad.dtype)


def _shape_of(value: Tensor) -> Tensor:
    """The shape of `value`, or of the variable that it is a handle of."""
    if value.dtype == dtypes.resource:
        return variable_shape(value)
    return array.shape_internal(value, optimize=False)


def accumulated_slices(context: WhileContext, op: Operation, grad: IndexedSlices) -> IndexedSlices:
    """`_accumulated` for rows: those of all iterations, one after the other."""
    shape = grad.dense_shape
    with out_of(context), inside(context.outer_context):
        values = _one_zero_row(op, grad.values)
        starts = [constant([0], grad.indices.dtype), values]
        if shape is not None:
            starts.append(_dense_shape(op, shape))
    for start in starts:
        context.AddName(start.name)
    enters = [
        context._enter(start, is_constant=False, use_input_shape=False, name="b_acc")
        for start in starts
    ]
    # The number of rows grows; the rest of the shapes stays.
    enters[0].set_shape([None])
    if values.shape.ndims is not None:
        enters[1].set_shape([None, *values.shape.as_list()[1:]])
    context.loop_enters.extend(enters)
    merges = [routing.merge([x, x], name="b_acc")[0] for x in enters]
    switches = [routing.switch(x, context.pivot) for x in merges]
    following = [
        array.concat([on_body, new], 0)
        for (_, on_body), new in zip(switches[:2], (grad.indices, grad.values), strict=True)
    ]
    if shape is not None:
        following.append(elementwise.maximum(shape, switches[2][1]))
    following = [routing.next_iteration(x) for x in following]
    for merge, value in zip(merges, following, strict=True):
        merge.op._update_input(1, value)
    exits = [routing.exit(on_exit, name="b_acc") for on_exit, _ in switches]
    context.loop_exits.extend(exits)
    context.ExitResult(exits)
    return IndexedSlices(exits[1], exits[0], None if shape is None else exits[2])


def _one_zero_row(op: Operation, values: Tensor) -> Tensor:
    if values.shape.is_fully_defined():
        dims = [1, *values.shape.as_list()[1:]]
        return constant(0, values.dtype, shape=dims, name="b_acc")
    rest = _shape_of(op.inputs[0])[1:]
    return array.zeros(array.concat([[1], rest], 0), values.dtype)


def _dense_shape(op: Operation, shape: Tensor) -> Tensor:
    """The shape that all rows are rows of. It also holds when the loop runs zero times."""
    dims = _shape_of(op.inputs[0])
    return dims if dims.dtype == shape.dtype else raw.Cast(dims, DstT=shape.dtype)
