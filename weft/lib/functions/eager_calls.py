"""Calls of library functions in eager execution: what they do is done, operation by operation.

Operations of a body are computed in the eager graph, where a gradient tape sees them like any
others; those that call functions in turn are decided here, since values are known. A body with
conditionals and loops of TensorFlow 1 is planned and run like the step of a session.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

from weft.graph.function import body_of, function_named, gradient_body
from weft.graph.function_def import Body
from weft.graph.graph import Graph, get_default_graph
from weft.graph.op_def import FuncRef
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor
from weft.ops.kit.eager import constants
from weft.passes.inline import inline
from weft.passes.pipeline import ALL, finish
from weft.passes.prune import prune
from weft.runtime.functions import Instance


def run_body(body: Body, args: Sequence[Tensor]) -> list[Tensor]:
    """The results of a function, of tensors that have values."""
    steps = _steps(body)
    if steps is None:
        return _run_as_step(body, args)
    graph = get_default_graph()
    library = body.graph._functions
    values = dict(zip(body.inputs, args, strict=True))
    for op in steps:
        inputs = tuple(values[tensor] for tensor in op.inputs)
        calls = op.definition.calls
        if calls is None:
            found = _handle(graph, op) if _makes_handle(op) else _computed(graph, op, inputs)
        else:
            found = _CALLS[calls](op, inputs, library)
        values.update(zip(op.outputs, found, strict=True))
    return [values[tensor] for tensor in body.outputs]


def _computed(graph: Graph, op: Operation, inputs: tuple[Tensor, ...]) -> Sequence[Tensor]:
    types = [tensor.dtype for tensor in op.outputs]
    return graph.add_op(op.definition, inputs, types, dict(op.attrs), op.name).outputs


def _makes_handle(op: Operation) -> bool:
    return not op.inputs and bool(op.attrs.get("shared_name")) and len(op.outputs) == 1


def _handle(graph: Graph, op: Operation) -> Sequence[Tensor]:
    """The handle of what an operation names: one for all calls.

    What it stands for goes with the last tensor that names it, and is to last as the function does.
    """
    known = vars(graph).setdefault("_handles_of_functions", weakref.WeakKeyDictionary())
    if op not in known:
        known[op] = _computed(graph, op, ())
    found: Sequence[Tensor] = known[op]
    return found


def _run_as_step(body: Body, args: Sequence[Tensor]) -> list[Tensor]:
    """As a session would: conditionals and loops of TensorFlow 1 mean nothing node by node.

    A tape does not see what happens in there.
    """
    graph: Any = get_default_graph()
    known = vars(body).setdefault("_instances", weakref.WeakKeyDictionary())
    if graph not in known:
        known[graph] = _instance(body, graph._resources)
    found = known[graph]([tensor.op._value[tensor.value_index] for tensor in args])
    return constants(found, [tensor.dtype for tensor in body.outputs])


def _instance(body: Body, store: Any) -> Instance:
    planned = prune(body.inputs, body.outputs, body.effects)
    inline(planned, body.graph._functions, ("call",))
    for node in planned.nodes:
        node.device = ""
    finish(planned, ALL)
    return Instance(planned, store)


def _steps(body: Body) -> list[Operation] | None:
    """The operations that a call needs, in an order in which they can be done; found out once.

    None if they cannot be done one after the other, since some are parts of loops.
    """
    if "_steps" not in vars(body):
        is_plain = not any(op.definition.control_flow for op in body.graph.get_operations())
        vars(body)["_steps"] = _in_order(body) if is_plain else None
    known: list[Operation] | None = vars(body)["_steps"]
    return known


def _in_order(body: Body) -> list[Operation]:
    found: dict[Operation, None] = {}
    done = {tensor.op for tensor in body.inputs}
    waiting = [*reversed([*body.effects, *(tensor.op for tensor in body.outputs)])]
    while waiting:
        op = waiting[-1]
        before = [*(tensor.op for tensor in op.inputs), *op._control_inputs]
        missing = [each for each in before if each not in done]
        if op in done or not missing:
            waiting.pop()
            if op not in done:
                done.add(op)
                found[op] = None
        else:
            waiting.extend(missing)
    return list(found)


# ---- operations that call functions --------------------------------------------------------------

_Library = dict[str, Any]
_Tensors = Sequence[Tensor]


def _call(op: Operation, args: _Tensors, library: _Library) -> list[Tensor]:
    return run_body(body_of(library, op.attrs["f"]), args)


def _call_by_type(op: Operation, args: _Tensors, library: _Library) -> list[Tensor]:
    return run_body(function_named(library, op.type).body(dict(op.attrs), library), args)


def _gradient(op: Operation, args: _Tensors, library: _Library) -> list[Tensor]:
    return run_body(gradient_body(library, op.attrs["f"]), args)


def _if(op: Operation, args: _Tensors, library: _Library) -> list[Tensor]:
    chosen = "then_branch" if _holds(args[0]) else "else_branch"
    return run_body(body_of(library, op.attrs[chosen]), args[1:])


def _case(op: Operation, args: _Tensors, library: _Library) -> list[Tensor]:
    branches = op.attrs["branches"]
    index = int(args[0].numpy())  # type: ignore[attr-defined]
    chosen = index if 0 <= index < len(branches) else -1
    return run_body(body_of(library, branches[chosen]), args[1:])


def _while(op: Operation, args: _Tensors, library: _Library) -> list[Tensor]:
    condition, body = (body_of(library, op.attrs[name]) for name in ("cond", "body"))
    values = list(args)
    while _holds(run_body(condition, values)[0]):
        values = run_body(body, values)
    return values


def _for(op: Operation, args: _Tensors, library: _Library) -> list[Tensor]:
    from weft.graph.convert import constant

    start, limit, delta = (int(each.numpy()) for each in args[:3])  # type: ignore[attr-defined]
    body, values = body_of(library, op.attrs["body"]), list(args[3:])
    for i in range(start, limit, delta):
        values = run_body(body, [constant(i), *values])
    return values


def _remote(op: Operation, args: _Tensors, library: _Library) -> list[Tensor]:
    reference: FuncRef = op.attrs["f"]
    return run_body(body_of(library, reference), args[1:])


def _holds(condition: Tensor) -> bool:
    """The truth value of a condition: text, arrays and numbers count as they do in a graph."""
    value = condition.numpy()  # type: ignore[attr-defined]
    return bool(value.size if getattr(value, "ndim", 0) else value)


_CALLS = {
    "attribute": _call,
    "function": _call_by_type,
    "gradient": _gradient,
    "if": _if,
    "case": _case,
    "while": _while,
    "for": _for,
    "remote": _remote,
}
