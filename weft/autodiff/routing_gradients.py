"""Gradients of the nodes that route values: Switch, Merge, Enter, Exit, NextIteration."""

from __future__ import annotations

from typing import Any

from weft.autodiff.loop_variables import accumulated, accumulated_slices
from weft.core import dtypes
from weft.graph.graph import Operation, Tensor, get_default_graph
from weft.graph.op_def import register_gradient
from weft.graph.slices import IndexedSlices, SparseTensor
from weft.ops.control import routing
from weft.ops.control.cond import CondContext
from weft.ops.control.control_flow_context import output_context
from weft.ops.control.while_loop import WhileContext, add_back_edge
from weft.ops.math import elementwise


def _current() -> Any:
    return get_default_graph()._get_control_flow_context()


def _switch_grad(op: Operation, *grads: Any) -> tuple[Any, None]:
    match op._get_control_flow_context():
        case WhileContext():
            return _loop_switch_grad(op, *grads), None
        case CondContext() as context:
            return _branch_switch_grad(op, context.branch, grads), None
    _, which = op.inputs
    sides = [routing.switch(grad, which)[side] for side, grad in enumerate(grads)]
    return routing.merge(sides)[0], None


def _branch_switch_grad(op: Operation, branch: int, grads: Any) -> Tensor | None:
    """The merged gradient of both branches of a cond, or None if one has no gradient."""
    if grads[1 - branch] is not None:
        return routing.merge(grads, name="cond_grad")[0]
    if op.inputs[0].dtype != dtypes.resource:
        return None
    return routing.merge([grads[branch]] * 2, name="cond_resource_grad")[0]


def _loop_switch_grad(op: Operation, from_exit: Any, from_body: Any) -> Any:
    """A loop's Switch is met twice: coming from its Exit, then from the body."""
    state = _current().grad_state
    merged = state.switches.get(op)
    if merged is not None:
        if from_body is not None:
            add_back_edge(merged, from_body, enforce_shape_invariant=False)
        return None
    if from_exit is None:
        return None
    # The second input is set when the Switch is met again.
    merged = routing.merge([from_exit, from_exit], name="b_switch")[0]
    state.switches[op] = merged
    return merged


def _merge_grad(op: Operation, grad: Any, _: Any) -> Any:
    current = _current()
    match output_context(op.inputs[0].op):
        case WhileContext():
            return routing.switch_beside(grad, current.pivot)
        case CondContext() as context:
            state = getattr(current, "grad_state", None)
            pred = context.pred if state is None else state.pred_of(context)
            return routing.switch_beside(grad, pred, name="cond_grad")
    came = [elementwise.equal(op.outputs[1], i) for i, _ in enumerate(op.inputs)]
    return [routing.switch_beside(grad, from_here)[1] for from_here in came]


def _exit_grad(op: Operation, grad: Any) -> Any:
    context = _current()
    if not context.back_prop:
        return None
    if op._get_control_flow_context().grad_state is not None:
        raise TypeError("Second-order gradient for while loops not supported.")
    if not isinstance(grad, (Tensor, IndexedSlices, SparseTensor)):
        raise TypeError(f"Type {type(grad)} not supported")
    parts = [grad] if isinstance(grad, Tensor) else grad._composite_components()
    for part in parts:
        context.AddName(part.name)
    with context:
        entered = context._enter(grad, is_constant=False, name="b_exit")
    context.loop_enters.append(entered)
    return entered


def _enter_grad(op: Operation, grad: Any) -> Any:
    context = _current()
    if not context.back_prop or context.grad_state is None:
        return grad
    if op.attrs["is_constant"]:
        if isinstance(grad, Tensor):
            return accumulated(context, op, grad)
        if isinstance(grad, IndexedSlices):
            return accumulated_slices(context, op, grad)
        raise TypeError(f"Type {type(grad)} not supported")
    left = routing.exit(grad)
    context.loop_exits.append(left)
    context.ExitResult([left])
    return left


def _next_iteration_grad(op: Operation, grad: Any) -> Any:
    # The Switch adds the backward NextIteration.
    return grad


for _name, _function in (
    ("Switch", _switch_grad), ("Merge", _merge_grad), ("Exit", _exit_grad),
    ("Enter", _enter_grad), ("NextIteration", _next_iteration_grad),
):  # fmt: skip
    register_gradient(_name, _function)
    register_gradient(f"Ref{_name}", _function)
