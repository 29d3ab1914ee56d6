"""Loops: every variable goes Enter -> Merge -> Switch -> body -> NextIteration -> Merge, and Exit.

What condition and body use from outside enters the loop as a constant of its frame. A backward
loop (autodiff/loops.py) is a `WhileContext` too, with a `grad_state`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft.core import nest
from weft.core.shapes import TensorShape
from weft.graph.collection_def import prepend_name_scope, register_proto_function, strip_name_scope
from weft.graph.constant import constant
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import (
    Operation,
    Tensor,
    add_to_collection,
    control_dependencies,
    get_default_graph,
    name_scope,
)
from weft.graph.keys import GraphKeys
from weft.graph.op_def import raw
from weft.ops import routing
from weft.ops.cond import without_summaries
from weft.ops.control_flow_context import (
    READERS,
    ControlFlowContext,
    containing_loop,
    enclosing,
    is_constant_enter,
    kind_of,
    output_context,
    while_context,
)
from weft.ops.loop_shapes import check_invariant, set_invariants, shape_invariant
from weft.ops.tensor_array import flow_of, with_flows
from weft.protos import control_flow as messages

# Cheap to keep from every iteration, while their input is not: in a backward loop they look at
# the forward value where it is made.
_SHAPE_OPS = frozenset(("Shape", "Size", "Rank"))


class WhileContext(ControlFlowContext):
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
        self._loop_enters: list[Tensor] = []
        self._loop_exits: list[Tensor] = []
        if context_def is not None:
            self._read(context_def, import_scope)
            return
        self._maximum_iterations = maximum_iterations
        self._parallel_iterations = parallel_iterations
        self.back_prop, self._swap_memory = back_prop, swap_memory
        # Nodes without inputs wait for the first of these in the condition, the second in the body.
        self._pivot_for_pred: Tensor | None = None
        self._pivot_for_body: Tensor | None = None
        self._pivot: Tensor | None = None

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
        outside = val if self._outer_context is None else self._outer_context.AddValue(val)
        with control_dependencies(None):
            inside = self._enter(outside, is_constant=True)
            inside.graph.prevent_feeding(inside)
            if self._outer_context is not None:
                self._outer_context.AddInnerOp(inside.op)
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

    # ---- building a loop ----

    def build(
        self,
        pred: Callable[..., Any],
        body: Callable[..., Any],
        loop_vars: Any,
        shape_invariants: Any,
        return_same_structure: bool,
    ) -> Any:
        """Adds the loop to the graph and returns the variables as they leave it."""
        tensors = [routing.convert(flow_of(value)) for value in nest.flatten(loop_vars)]
        if shape_invariants is None:
            shape_invariants = [shape_invariant(tensor) for tensor in tensors]
        with self:
            result, exits = self._build(
                pred, body, loop_vars, nest.flatten(tensors, expand_composites=True),
                nest.flatten(shape_invariants),
            )  # fmt: skip
        packed = _packed(result, nest.flatten(result, expand_composites=True), exits)
        if return_same_structure or len(exits) != 1:
            return packed
        return packed[0]

    def _build(
        self,
        pred: Callable[..., Any],
        body: Callable[..., Any],
        loop_vars: Any,
        tensors: list[Tensor],
        invariants: list[TensorShape],
    ) -> tuple[Any, list[Tensor]]:
        originals = nest.flatten(loop_vars, expand_composites=True)
        self._enter_variables(tensors, invariants)
        merges = [routing.merge([x, x])[0] for x in self._loop_enters]
        self._pivot_for_pred = merges[0]
        condition = convert_to_tensor(pred(*_packed(loop_vars, originals, merges)))
        self._pivot = raw.LoopCond(condition, name="LoopCond")
        switches = [routing.switch_beside(x, self._pivot) for x in merges]
        inside = [routing.identity(on_true) for _, on_true in switches]
        self._pivot_for_body = inside[0]
        result = self._build_body(body, _packed(loop_vars, originals, inside))
        after = [
            routing.convert(flow_of(value))
            for value in nest.flatten(result, expand_composites=True)
        ]
        if len(merges) != len(after):
            raise ValueError(
                "Number of inputs and outputs of body must match loop_vars:"
                f" {len(merges)}, {len(after)}"
            )
        for merge, value in zip(merges, after, strict=True):
            add_back_edge(merge, value)
        self._loop_exits = [routing.exit(on_false) for on_false, _ in switches]
        self.ExitResult(self._loop_exits)
        return result, self._loop_exits

    def _enter_variables(self, tensors: list[Tensor], invariants: list[TensorShape]) -> None:
        # The outer contexts are asked for them first, so that this one does not take them for
        # values from outside.
        self._values = {tensor.name for tensor in tensors}
        outer = self._outer_context
        outside = [x if outer is None else outer.AddValue(x) for x in tensors]
        with control_dependencies(None):
            enters = [self._enter(x, is_constant=False, use_input_shape=False) for x in outside]
            for tensor in enters:
                tensor.graph.prevent_feeding(tensor)
                if outer is not None:
                    outer.AddInnerOp(tensor.op)
        self._order_after_outer_pivot(enters)
        set_invariants(outside, enters, invariants)
        self._adopt_enters(enters)
        self._values = {tensor.name for tensor in enters}
        self._loop_enters = enters

    def _order_after_outer_pivot(self, enters: list[Tensor]) -> None:
        """A loop started by constants of an outer loop starts once in each of its iterations."""
        pivots = [c.GetControlPivot() for c in enclosing(self._outer_context) if c is not None]
        pivot = next((p for p in pivots if p is not None), None)
        if pivot is not None:
            for tensor in enters:
                if is_constant_enter(tensor.op.inputs[0].op):
                    tensor.op._add_control_input(pivot.op)

    def _build_body(self, body: Callable[..., Any], arguments: Any) -> Any:
        result = without_summaries(body, *arguments)
        if not nest.is_sequence_or_composite(result):
            result = [result]
        # The outermost level may be a list on one side and a tuple on the other.
        nest.assert_same_structure(list(arguments), list(result), expand_composites=True)
        return result

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
        self._graph._note_mutation()

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


def _packed(structure: Any, originals: list[Any], tensors: Sequence[Tensor]) -> Any:
    """`tensors` in the form of `structure`, flows as the TensorArrays among `originals`."""
    return nest.pack_sequence_as(
        structure, with_flows(originals, list(tensors)), expand_composites=True
    )


def add_back_edge(merge: Any, value: Any, enforce_shape_invariant: bool = True) -> None:
    """Makes `value` what `merge`, a Merge of two inputs, passes on in the next iteration."""
    if isinstance(merge, Tensor):
        following = routing.next_iteration(convert_to_tensor(value))
        if enforce_shape_invariant:
            check_invariant(merge, following)
        merge.op._update_input(1, following)
        return
    if type(merge).__name__ == "IndexedSlices":
        value = routing.as_indexed_slices(value)
    following = routing.next_iteration(value)
    for m, v in zip(
        nest.flatten(merge, expand_composites=True),
        nest.flatten(following, expand_composites=True),
        strict=True,
    ):
        m.op._update_input(1, v)


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
    maximum_iterations: Any = None,
    return_same_structure: bool = False,
) -> Any:
    """`body` applied to `loop_vars` again and again while `cond` of them holds.

    Both are called once, now, to build the loop. A variable keeps its shape from one iteration to
    the next, unless `shape_invariants` says less about it.
    """
    if not callable(cond):
        raise TypeError("cond must be callable.")
    if not callable(body):
        raise TypeError("body must be callable.")
    if parallel_iterations < 1:
        raise TypeError("parallel_iterations must be a positive integer.")
    with name_scope(name, "while", loop_vars):
        if not loop_vars:
            raise ValueError("No loop variables provided")
        if maximum_iterations is not None:
            maximum_iterations = convert_to_tensor(maximum_iterations, name="maximum_iterations")
            if maximum_iterations.shape.ndims != 0:
                raise ValueError(
                    f"maximum_iterations must be a scalar, saw shape: {maximum_iterations.shape}"
                )
            counter = constant(0, maximum_iterations.dtype, name="iteration_counter")
            alone = len(loop_vars) == 1 and not return_same_structure
            cond, body = _counted(cond, body, maximum_iterations, alone)
            loop_vars = (counter, loop_vars[0] if alone else loop_vars)
            if shape_invariants is not None:
                shape_invariants = (TensorShape([]), shape_invariants)
        if shape_invariants is not None:
            nest.assert_same_structure(loop_vars, shape_invariants)
            shape_invariants = nest.map_structure(shape_invariant, loop_vars, shape_invariants)
        context = WhileContext(
            maximum_iterations=maximum_iterations,
            parallel_iterations=parallel_iterations,
            back_prop=back_prop,
            swap_memory=swap_memory,
        )
        if context.outer_context is None:
            # Contexts inside others travel with those.
            add_to_collection(GraphKeys.WHILE_CONTEXT, context)
        result = context.build(cond, body, loop_vars, shape_invariants, return_same_structure)
        return result if maximum_iterations is None else result[1]


def _counted(
    cond: Callable[..., Any], body: Callable[..., Any], limit: Tensor, alone: bool
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """`cond` and `body` with a counter in front; `alone` if the variables are a single one."""

    def spread(variables: Any) -> Any:
        return (variables,) if alone else variables

    def counted_cond(i: Tensor, variables: Any) -> Tensor:
        return raw.LogicalAnd(raw.Less(i, limit), cond(*spread(variables)))

    def counted_body(i: Tensor, variables: Any) -> Any:
        return i + 1, body(*spread(variables))

    return counted_cond, counted_body
