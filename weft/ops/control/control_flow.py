"""Control flow under the names programs know it by: conditionals, loops and their nodes."""

from __future__ import annotations

from weft.ops.control.case import case, smart_case, switch_case
from weft.ops.control.cond import CondContext, cond, smart_cond, smart_constant_value
from weft.ops.control.control import (
    Assert,
    control_trigger,
    group,
    no_op,
    tuple_,
    with_dependencies,
)
from weft.ops.control.control_flow_context import ControlFlowContext, from_control_flow_context_def
from weft.ops.control.control_nodes import loop_cond
from weft.ops.control.routing import exit, merge, switch
from weft.ops.control.while_loop import WhileContext, while_loop

__all__ = [
    "Assert",
    "CondContext",
    "ControlFlowContext",
    "WhileContext",
    "case",
    "cond",
    "control_trigger",
    "exit",
    "from_control_flow_context_def",
    "group",
    "loop_cond",
    "merge",
    "no_op",
    "smart_case",
    "smart_cond",
    "smart_constant_value",
    "switch",
    "switch_case",
    "tuple_",
    "while_loop",
    "with_dependencies",
]
