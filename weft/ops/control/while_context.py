"""The context of a loop: which nodes and values are inside, and what enters from outside.

What condition and body use from outside enters the loop as a constant of its frame. A backward
loop (autodiff/loops.py) is a `WhileContext` too, with a `grad_state`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.graph.collection_def import prepend_name_scope, register_proto_function, strip_name_scope
from weft.graph.graph import Operation, Tensor, control_dependencies, get_default_graph
from weft.graph.keys import GraphKeys
from weft.graph.op_def import raw
from weft.ops.control import routing
from weft.ops.control.control_flow_context import (
    READERS,
    ControlFlowContext,
    containing_loop,
    enclosing,
    is_constant_enter,
    kind_of,
    output_context,
    while_context,
)
from weft.ops.control.loop_builder import LoopBuilder
from weft.protos import control_flow as messages

# Cheap to keep from every iteration, while their input is not: in a backward loop they look at
# the forward value where it is made.
_SHAPE_OPS = frozenset(("Shape", "Size", "Rank"))


class WhileContext(LoopBuilder):
    """The condition and body of one loop."""

    def __init__(
        self,
        maximum_iterations: Tensor | None = None,
        parallel_iterations: int = 10,
        back_prop: bool = True,
        swap_memory: bool = False,
        name: str = "while_context",
        grad_state: Any = None,
        context_def: Any = None,
        import_scope: str | None = None,
    ) -> None:
        self._graph = get_default_graph()
        if not isinstance(parallel_iterations, int) or parallel_iterations <= 0:
            raise ValueError(
                f"`parallel_iterations` must be a positive integer: {parallel_iterations}"
            )
        super().__init__("" if context_def is not None else self._graph.unique_name(name))
        self.grad_state = grad_state
        self._loop_enters, self._loop_exits = [], []
        if context_def is not None:
            self._read(context_def, import_scope)
            return
        self._maximum_iterations = maximum_iterations
        self._parallel_iterations = parallel_iterations
        self.back_prop, self._swap_memory = back_prop, swap_memory
        self._pivot_for_pred = self._pivot_for_body = self._pivot = None

    @property
    def maximum_iterations(self) -> Tensor | None:
        return self._maximum_iterations

    @property
    def parallel_iterations(self) -> int:
        return self._parallel_iterations

    @property
    def swap_memory(self) -> bool:
        return self._swap_memory

    @property
    def pivot(self) -> Tensor | None:
        """The loop condition."""
        return self._pivot

    @property
    def loop_enters(self) -> list[Tensor]:
        return self._loop_enters

    @property
    def loop_exits(self) -> list[Tensor]:
        return self._loop_exits

    def GetWhileContext(self) -> WhileContext:
        return self

    def IsWhileContext(self) -> bool:
        return True

    def GetControlPivot(self) -> Tensor | None:
        return self._pivot_for_pred if self._pivot_for_body is None else self._pivot_for_body

    # ---- nodes and values ----

    def AddValue(self, val: Tensor) -> Tensor:
        # A node of this very loop is no new value even if it was not announced: it may belong to a
        # loop that is being imported, where uses come before what they use.
        if val.name in self._values or val.op._get_control_flow_context() is self:
            return self._external_values.get(val.name, val)
        self._values.add(val.name)
        saved = self._saved_forward_value(val)
        inside = self._entered(val) if saved is None else saved
        self._external_values[val.name] = inside
        return inside

    def _saved_forward_value(self, val: Tensor) -> Tensor | None:
        """A value of the forward loop, as the current backward loop gets at it."""
        state = _backward_state(get_default_graph()._get_control_flow_context())
        if state is None:
            return None
        if containing_loop(output_context(val.op)) is not state.forward_context:
            return None
        return state.real_value(val)

    def _entered(self, val: Tensor) -> Tensor:
        outer = self._outer_context
        outside = val if outer is None else outer.AddValue(val)
        with control_dependencies(None):
            inside = self._enter(outside, is_constant=True)
            inside.graph.prevent_feeding(inside)
            if outer is not None:
                outer.AddInnerOp(inside.op)
        self._adopt_enters([inside])
        self._values.add(inside.name)
        return inside

    def _enter(self, data: Any, is_constant: bool, **kwargs: Any) -> Any:
        return routing.enter(
            data, self._name, is_constant=is_constant,
            parallel_iterations=self._parallel_iterations, **kwargs,
        )  # fmt: skip

    def _context_for(self, op: Operation) -> ControlFlowContext:
        if op.type in _SHAPE_OPS:
            source = op.inputs[0].op
            state = _backward_state(get_default_graph()._get_control_flow_context())
            if state is not None and while_context(source) is state.forward_context:
                op._set_control_flow_context(source._get_control_flow_context())
                return source._get_control_flow_context()
        return self

    def take_op(self, op: Operation) -> None:
        for i, value in enumerate(op.inputs):
            inside = self.AddValue(value)
            if inside is not value:
                op._update_input(i, inside)
        kept, dropped = self._remove_external_control_edges(op)
        if not kept and self._is_free(op):
            op._add_control_input(self._control_pivot())
        self._values.update(tensor.name for tensor in op.outputs)
        if dropped:
            self._wait_for_outside(op, dropped)
        if self._outer_context is not None or kind_of(op) != "exit":
            op.graph.prevent_fetching(op)
            for tensor in op.outputs:
                op.graph.prevent_feeding(tensor)
        if self._outer_context is not None:
            self._outer_context.AddInnerOp(op)

    def _control_pivot(self) -> Operation:
        pivot = self.GetControlPivot()
        assert pivot is not None
        return pivot.op

    def _is_free(self, op: Operation) -> bool:
        """Whether nothing that `op` takes says in which iteration it runs."""
        if op.definition.calls:
            return True
        return all(is_constant_enter(value.op) for value in op.inputs)

    def _wait_for_outside(self, op: Operation, controls: list[Operation]) -> None:
        """A control edge cannot enter a loop, but an Identity of a value that enters can."""
        with control_dependencies(None), self:
            waits = [raw.Identity(c.outputs[0]).op for c in controls if c.outputs]
        op._add_control_inputs(waits)

    def _adopt_enters(self, enters: Sequence[Tensor]) -> None:
        """Enters are made outside every context; they belong here and keep outer control inputs."""
        graph = get_default_graph()
        for tensor in enters:
            op = tensor.op
            controls = [c for c in graph._controls_for(op.inputs) if self._is_around(c)]
            op._set_control_flow_context(self)
            op._add_control_inputs(controls)
            for controller in graph._scopes.controllers:
                controller.seen.add(op)

    def _is_around(self, op: Operation) -> bool:
        """Whether `op` runs once for each time this loop is started."""
        context, outer = output_context(op), self._outer_context
        loop = containing_loop(outer)
        for each in enclosing(outer):
            if each is context:
                return True
            if each is None or each is loop:
                return False
        return False

    # ---- to and from messages ----

    def to_proto(self, export_scope: str | None = None) -> Any:
        """A WhileContextDef, or None if this is not in `export_scope`."""
        if not self._is_exported(export_scope):
            return None

        def name(tensor: Tensor | None) -> str:
            return "" if tensor is None else strip_name_scope(tensor.name, export_scope)

        context_def = messages.WhileContextDef(
            parallel_iterations=self._parallel_iterations,
            back_prop=self.back_prop,
            swap_memory=self._swap_memory,
            pivot_name=name(self._pivot),
            pivot_for_pred_name=name(self._pivot_for_pred),
            pivot_for_body_name=name(self._pivot_for_body),
            loop_exit_names=[name(tensor) for tensor in self._loop_exits],
            loop_enter_names=[name(tensor) for tensor in self._loop_enters],
            maximum_iterations_name=name(self._maximum_iterations),
        )
        self._add_common_fields(context_def, export_scope)
        return context_def

    def to_control_flow_context_def(
        self, context_def: Any, export_scope: str | None = None
    ) -> None:
        context_def.while_ctxt.CopyFrom(self.to_proto(export_scope=export_scope))

    def _read(self, context_def: Any, import_scope: str | None) -> None:
        def tensor(name: str) -> Any:
            if not name:
                return None
            return self._graph.as_graph_element(prepend_name_scope(name, import_scope))

        self._name = prepend_name_scope(context_def.context_name, import_scope)
        self._maximum_iterations = tensor(context_def.maximum_iterations_name)
        self._parallel_iterations = context_def.parallel_iterations
        self.back_prop, self._swap_memory = context_def.back_prop, context_def.swap_memory
        self._pivot_for_pred = tensor(context_def.pivot_for_pred_name)
        self._pivot_for_body = tensor(context_def.pivot_for_body_name)
        self._pivot = tensor(context_def.pivot_name)
        self._loop_exits = [tensor(name) for name in context_def.loop_exit_names]
        self._loop_enters = [tensor(name) for name in context_def.loop_enter_names]
        self._read_values(context_def.values_def, import_scope)
        if import_scope:
            self._rename_frame()

    def _rename_frame(self) -> None:
        """The frame is named after the context, which an import scope renames."""
        for value in self._values:
            op = self._graph.as_graph_element(value).op
            if kind_of(op) == "enter":
                op.attrs["frame_name"] = self._name
                self._graph._note_mutation(op)

    @staticmethod
    def from_proto(context_def: Any, import_scope: str | None = None) -> WhileContext:
        context = WhileContext(context_def=context_def, import_scope=import_scope)
        context._read_nested(context_def, import_scope)
        return context


READERS["while_ctxt"] = WhileContext.from_proto
register_proto_function(
    GraphKeys.WHILE_CONTEXT,
    proto_type=messages.WhileContextDef,
    to_proto=WhileContext.to_proto,
    from_proto=WhileContext.from_proto,
)


def _backward_state(context: ControlFlowContext | None) -> Any:
    loop = containing_loop(context)
    return None if loop is None else loop.grad_state
