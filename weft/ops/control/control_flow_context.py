"""Control-flow contexts: which branch or loop body is being built, and what it took from outside.

A context is entered while a branch or a body is built. Graph.add_op then hands it every new node
(`AddOp`), and the context replaces inputs from outside by the Switch or Enter that guards them.
Methods that programs written for TensorFlow call have TensorFlow's names.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Iterable
from typing import Any

from weft.core import nest
from weft.graph.collection_def import prepend_name_scope, strip_name_scope
from weft.graph.graph import Operation, Tensor, get_default_graph
from weft.protos import control_flow as messages

_LOG = logging.getLogger("weft")

# ControlFlowContextDef's fields -> what reads them; the classes of contexts add themselves.
READERS: dict[str, Callable[..., Any]] = {}


class ControlFlowContext:
    """A branch of a cond or the body of a loop, under construction or done."""

    grad_state: Any = None
    back_prop = False

    def __init__(self, name: str = "") -> None:
        self._name = name
        self._nested_contexts: list[ControlFlowContext] = []
        self._outer_context: ControlFlowContext | None = (
            get_default_graph()._get_control_flow_context()
        )
        if self._outer_context is not None:
            self._outer_context._nested_contexts.append(self)
        self._context_stack: list[Any] = []
        # Names of the tensors this context has seen, and for those from outside the tensor that
        # stands for each of them in here.
        self._values: set[str] = set()
        self._external_values: dict[str, Tensor] = {}

    @property
    def name(self) -> str:
        return self._name

    @property
    def outer_context(self) -> ControlFlowContext | None:
        return self._outer_context

    def __str__(self) -> str:
        return self._name

    # ---- being the current context ----

    def Enter(self) -> None:
        """Makes this the context of new nodes."""
        graph = get_default_graph()
        self._context_stack.append(graph._get_control_flow_context())
        graph._set_control_flow_context(self)

    def Exit(self) -> None:
        """Goes back to the context before `Enter`."""
        get_default_graph()._set_control_flow_context(self._context_stack.pop())

    def __enter__(self) -> ControlFlowContext:
        self.Enter()
        return self

    def __exit__(self, *exc: Any) -> None:
        self.Exit()

    def ExitResult(self, result: Any) -> None:
        """Lets the outer context use these results."""
        if self._outer_context is not None:
            for tensor in nest.flatten(result, expand_composites=True):
                self._outer_context.AddName(tensor.name)

    def EnterGradientColocation(self, op: Operation, gradient_uid: str) -> None:
        if self._outer_context is not None:
            self._outer_context.EnterGradientColocation(op, gradient_uid)

    def ExitGradientColocation(self, op: Operation, gradient_uid: str) -> None:
        if self._outer_context is not None:
            self._outer_context.ExitGradientColocation(op, gradient_uid)

    # ---- nodes and values ----

    def AddName(self, name: str) -> None:
        self._values.add(name)

    def AddOp(self, op: Operation) -> None:
        """Takes a new node into this context. Guards of its inputs are named below it."""
        context = self._context_for(op)
        if not op.inputs:
            context.take_op(op)
            return
        for tensor in op.inputs:
            check_input_from_valid_context(op, tensor.op)
        with op.graph.name_scope(op.name + "/"):
            context.take_op(op)

    def _context_for(self, op: Operation) -> ControlFlowContext:
        return self

    def take_op(self, op: Operation) -> None:
        """Makes `op` part of this context, whichever is the current one."""
        raise NotImplementedError

    def AddValue(self, val: Tensor) -> Tensor:
        """The tensor that stands for `val` in this context."""
        raise NotImplementedError

    def check_used_by(self, op: Operation, value: Tensor) -> None:
        """ValueError if `op`, outside of every context, may not use a value of this one."""
        check_input_from_valid_context(op, value.op)

    def AddInnerOp(self, op: Operation) -> None:
        """A node was added to a context inside this one."""
        if self._outer_context is not None:
            self._outer_context.AddInnerOp(op)

    def GetControlPivot(self) -> Tensor | None:
        """The tensor that nodes without inputs wait for, to run only with this context."""
        return None

    def _remove_external_control_edges(
        self, op: Operation
    ) -> tuple[list[Operation], list[Operation]]:
        """Drops control inputs from outside the enclosing loop; returns (kept, dropped)."""
        loop = self.GetWhileContext()
        controls = op.control_inputs
        if loop is None:
            return controls, []
        kept = [c for c in controls if containing_loop(output_context(c)) is loop]
        dropped = [c for c in controls if c not in kept]
        if dropped:
            op._remove_all_control_inputs()
            op._add_control_inputs(kept)
        return kept, dropped

    # ---- what kind of context ----

    def GetWhileContext(self) -> Any:
        """The innermost loop this context is in, or is."""
        return None if self._outer_context is None else self._outer_context.GetWhileContext()

    def IsWhileContext(self) -> bool:
        return False

    def IsCondContext(self) -> bool:
        return False

    def IsXLAContext(self) -> bool:
        return False

    # ---- to and from messages ----

    def to_proto(self, export_scope: str | None = None) -> Any:
        raise NotImplementedError

    def to_control_flow_context_def(
        self, context_def: Any, export_scope: str | None = None
    ) -> None:
        raise NotImplementedError

    def _is_exported(self, export_scope: str | None) -> bool:
        return export_scope is None or self.name.startswith(export_scope)

    def _add_common_fields(self, context_def: Any, export_scope: str | None) -> None:
        context_def.context_name = strip_name_scope(self.name, export_scope)
        values = context_def.values_def
        values.values.extend(strip_name_scope(name, export_scope) for name in sorted(self._values))
        for name, tensor in self._external_values.items():
            values.external_values[strip_name_scope(name, export_scope)] = strip_name_scope(
                tensor.name, export_scope
            )
        for nested in self._nested_contexts:
            nested.to_control_flow_context_def(context_def.nested_contexts.add(), export_scope)

    def _read_values(self, values_def: Any, import_scope: str | None) -> None:
        """Takes over the values of a message, and the nodes that made them."""
        graph = get_default_graph()
        self._values = {prepend_name_scope(name, import_scope) for name in values_def.values}
        self._external_values = {
            prepend_name_scope(name, import_scope): graph.as_graph_element(
                prepend_name_scope(inside, import_scope)
            )
            for name, inside in values_def.external_values.items()
        }
        own = self._values - self._external_values.keys()
        for name in {value.split(":")[0] for value in own}:
            graph.as_graph_element(name)._set_control_flow_context(self)

    def _read_nested(self, context_def: Any, import_scope: str | None) -> None:
        with self:
            for nested in context_def.nested_contexts:
                from_control_flow_context_def(nested, import_scope=import_scope)


def from_control_flow_context_def(context_def: Any, import_scope: str | None = None) -> Any:
    """The context that a ControlFlowContextDef describes."""
    kind = context_def.WhichOneof("ctxt")
    if kind not in READERS:
        raise NotImplementedError(f"Unknown ControlFlowContextDef field: {kind}")
    return READERS[kind](getattr(context_def, kind), import_scope=import_scope)


ControlFlowContextDef = messages.ControlFlowContextDef


# ---- questions about nodes and contexts -------------------------------------------------------


def kind_of(op: Operation) -> str | None:
    """switch, merge, enter, exit, next_iteration, loop_cond, or None for other nodes."""
    return op.definition.control_flow


def is_constant_enter(op: Operation) -> bool:
    """Whether `op` brings a loop invariant into its loop."""
    return kind_of(op) == "enter" and bool(op.attrs["is_constant"])


def loop_constant_enter(value: Tensor) -> Operation | None:
    """The Enter of the loop invariant that `value` is, if it is one."""
    op = value.op
    while kind_of(op) == "switch" or op.type in ("Identity", "RefIdentity"):
        op = op.inputs[0].op
    return op if is_constant_enter(op) else None


def output_context(op: Operation) -> ControlFlowContext | None:
    """The context that the outputs of `op` belong to: of an Exit, the one around the loop."""
    context = op._get_control_flow_context()
    # Nodes of a plain GraphDef have no contexts.
    if context is not None and kind_of(op) == "exit":
        return context.outer_context
    return context


def containing_loop(context: ControlFlowContext | None) -> Any:
    """The innermost loop that `context` is in, or is."""
    return None if context is None else context.GetWhileContext()


def while_context(op: Operation) -> Any:
    """The loop that `op` is in."""
    return containing_loop(op._get_control_flow_context())


def contains(outer: ControlFlowContext | None, context: ControlFlowContext | None) -> bool:
    """Whether `outer` is `context` or encloses it."""
    return outer in enclosing(context)


def enclosing(context: ControlFlowContext | None) -> Iterable[ControlFlowContext | None]:
    """`context`, those around it, and None, which encloses everything."""
    while context is not None:
        yield context
        context = context.outer_context
    yield None


def is_cond_switch(op: Operation) -> bool:
    """Whether `op` is a Switch whose outputs are used in conds only."""
    if kind_of(op) != "switch":
        return False
    for tensor in op.outputs:
        for user in tensor.consumers():
            context = user._get_control_flow_context()
            if context is not None and kind_of(user) == "enter":
                context = context.outer_context
            if context is None or not context.IsCondContext():
                return False
    return True


def is_loop_switch(op: Operation) -> bool:
    """Whether `op` is the Switch of a loop variable."""
    if kind_of(op) != "switch":
        return False
    context = op._get_control_flow_context()
    return context is not None and context.IsWhileContext() and not is_cond_switch(op)


# ---- may this node use that one? --------------------------------------------------------------


def check_input_from_valid_context(op: Operation, input_op: Operation) -> None:
    """ValueError if `op` takes a value from inside a loop that it is not in."""
    if _may_use(op, input_op):
        return
    loop = while_context(op)
    why = "they are in different while loops." if loop else f"'{input_op.name}' is in a while loop."
    message = f"Cannot use '{input_op.name}' as input to '{op.name}' because {why}"
    for each in (op, input_op):
        where = "".join(traceback.format_list(each.traceback))
        _LOG.info("%s: while context %s, made at\n%s", each.name, while_context(each), where)
    raise ValueError(message + " See info log for more details.")


def _may_use(op: Operation, input_op: Operation) -> bool:
    context, source = op._get_control_flow_context(), output_context(input_op)
    if source is None or context is source:
        return True
    loop, source_loop = containing_loop(context), containing_loop(source)
    if loop is None:
        # Enters and Switches are made outside every context and put into one afterwards.
        return source_loop is None or kind_of(op) in ("enter", "switch")
    if contains(source_loop, loop):
        return True
    state, source_state = loop.grad_state, source_loop.grad_state
    if state is not None:
        # A backward loop may look at its forward loop, at what encloses that and is inside it.
        forward = state.forward_context
        if contains(source_loop, forward) or forward is source_loop.outer_context:
            return True
    if source_state is not None:
        # The other way round happens while the gradient of a gradient is asked for.
        forward = source_state.forward_context
        if forward is loop:
            return True
        if forward.grad_state is not None and forward.grad_state.forward_context is loop:
            return True
    return False
