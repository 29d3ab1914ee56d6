"""Initial values: where they are computed, and what they are if they read other variables.

So that variables initialized from one another can be initialized in one step, in any order, an
initial value reads the *initialized value* of every variable it depends on: its value if it has
one, else its own initial value.
"""

from __future__ import annotations

from typing import Any

from tensorboard.compat.proto.attr_value_pb2 import AttrValue

from weft.graph.graph import GraphKeys, Tensor, get_default_graph
from weft.graph.op_def import raw

# Reads of resource variables, and tests for initialization, are left as they are.
_LEFT_ALONE = {"IsVariableInitialized", "VarIsInitializedOp", "ReadVariableOp", "If"}
_VARIABLES = {"Variable", "VariableV2", "VarHandleOp"}


def initializer_scope(scope: str) -> Any:
    """New nodes are placed with the variable whose name scope is `scope`."""
    group = AttrValue(list=AttrValue.ListValue(s=[f"loc:@{scope.rstrip('/')}".encode()]))
    return get_default_graph()._attr_scope({"_class": group})


def check_outside_control_flow(initial: Tensor, name: str) -> None:
    if initial.op._get_control_flow_context() is not None:
        raise ValueError(
            f"Initializer for variable {name} is from inside a control-flow construct, such as a "
            "loop or conditional. When creating a variable inside a loop or conditional, use a "
            "lambda as the initializer."
        )


def guard_initial_value(name: str, initial_value: Tensor) -> Tensor:
    """`initial_value`, reading the initialized value of every variable that it reads."""
    order = _ancestors(initial_value.op)
    if order is None or all(op.type not in _VARIABLES for op in order):
        return initial_value
    new: dict[Tensor, Tensor] = {}
    for op in order:
        if op.type in _LEFT_ALONE:
            continue
        if op.type in _VARIABLES:
            value = _initialized_value_of(op)
            if value is not None:
                new[op.outputs[0]] = value
        elif any(tensor in new for tensor in op.inputs):
            copy = _copy_with_inputs(op, tuple(new.get(t, t) for t in op.inputs), name)
            new.update(zip(op.outputs, copy.outputs, strict=True))
    return new.get(initial_value, initial_value)


def _copy_with_inputs(op: Any, inputs: tuple[Tensor, ...], suffix: str) -> Any:
    kind = "Switch" if op.type == "RefSwitch" else op.type
    types = [tensor.dtype.base_dtype for tensor in op.outputs]
    name = f"{op.name}_{suffix}".replace(":", "_")
    return op.graph.add_op(getattr(raw, kind), inputs, types, dict(op.attrs), name)


def _ancestors(op: Any) -> list[Any] | None:
    """`op` and what it waits for, producers first; None if there is a cycle (a loop) among them.

    What is behind an operation that is left alone does not matter.
    """
    order: list[Any] = []
    state: dict[Any, bool] = {}  # False while an operation's own inputs are being visited
    stack = [(op, False)]
    while stack:
        current, finished = stack.pop()
        if finished:
            state[current] = True
            order.append(current)
        elif current not in state:
            state[current] = False
            stack.append((current, True))
            waits = []
            if current.type not in _LEFT_ALONE:
                waits = [tensor.op for tensor in current.inputs] + current.control_inputs
            if any(state.get(other) is False for other in waits):
                return None
            stack.extend((other, False) for other in waits if other not in state)
    return order


def _initialized_value_of(variable_op: Any) -> Tensor | None:
    for key in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES):
        for variable in variable_op.graph.get_collection(key):
            if variable.name in (variable_op.name, variable_op.name + ":0"):
                return variable.initialized_value()
    return None
