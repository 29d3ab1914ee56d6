"""Gradients through conds and loops.

For every loop that gradients pass through there is a *backward loop*, which runs as often as the
loop did and takes its iterations in reverse. What an iteration's gradient needs of the forward
loop is kept on stacks: a push in the forward loop, a pop in the backward one. Counters on both
sides, and control edges to them, keep pushes and pops in the order of the iterations.

A gradient is that of a *gradient call*; `LoopGradients` is what one call knows about its loops.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from typing import Any

from weft.autodiff.loop_variables import (
    add_backward_counter,
    add_forward_counter,
    inside,
    out_of,
)
from weft.autodiff.zeros import zeros_like_value, zeros_outside_loop
from weft.core import dtypes
from weft.graph.constant import constant
from weft.graph.constant_value import constant_value
from weft.graph.graph import (
    Operation,
    Tensor,
    colocate_with,
    control_dependencies,
    get_default_graph,
)
from weft.graph.op_def import raw
from weft.ops.array import array
from weft.ops.control import routing
from weft.ops.control.cond import CondContext
from weft.ops.control.control_flow_context import (
    ControlFlowContext,
    containing_loop,
    is_loop_switch,
    kind_of,
    loop_constant_enter,
    output_context,
    while_context,
)
from weft.ops.control.while_loop import WhileContext


def _sync(name: str, context: WhileContext, index: Tensor) -> Operation:
    """A node that the next iteration of a loop waits for; others may be put before it."""
    with control_dependencies(None):
        made = raw.ControlTrigger(name=name)
    made._set_control_flow_context(context)
    index.op._add_control_input(made)
    return made


class LoopGradient:
    """A forward loop, its backward loop, and what passes between them."""

    def __init__(self, forward: WhileContext, outer: LoopGradient | None) -> None:
        self.forward_context, self.outer = forward, outer
        # Forward values by name -> what gives them in the backward loop.
        self.history: dict[str, Tensor] = {}
        # Switches of loop variables -> the Merge their gradients meet in.
        self.switches: dict[Operation, Any] = {}
        self.unused_exits: list[Tensor] = []
        self.deferred_exits: list[Tensor] = []
        self.forward_exits = list(forward.loop_exits)
        self.pending_exits = len(forward.loop_exits)
        around_forward = forward.outer_context if outer is None else outer.forward_context
        with inside(around_forward):
            count, self.forward_index = add_forward_counter(forward, outer)
        if outer is None:
            with inside(around_forward):
                self.context = self._new_context()
                self.backward_index = add_backward_counter(self.context, count, None)
        else:
            # The inner loop may run differently often each time: its counts are history as well.
            outer.forward_context.AddName(count.name)
            history = outer.save(count)
            with outer.context:
                self.context = self._new_context()
                count = outer.load(history, count)
                self.backward_index = add_backward_counter(self.context, count, outer)

    def _new_context(self) -> WhileContext:
        forward = self.forward_context
        carried = ("maximum_iterations", "parallel_iterations", "back_prop", "swap_memory", "name")
        return WhileContext(**{each: getattr(forward, each) for each in carried}, grad_state=self)

    @cached_property
    def forward_sync(self) -> Operation:
        """Runs after all pushes of an iteration that conds guard; the next iteration waits."""
        return _sync("f_sync", self.forward_context, self.forward_index)

    @cached_property
    def backward_sync(self) -> Operation:
        """Runs after all pops of an iteration; the next iteration waits."""
        made = _sync("b_sync", self.context, self.backward_index)
        if self.context.outer_context is not None:
            self.context.outer_context.AddInnerOp(made)
        return made

    # ---- history ----

    def save(self, value: Tensor, dead_branch: bool = False) -> Tensor:
        """A stack that `value`, of the forward loop, is pushed on in every iteration.

        Called in the context of the gradient call. `dead_branch`: the value belongs to the branch
        of a cond that is not taken.
        """
        current = get_default_graph()._get_control_flow_context()
        with control_dependencies(None):
            with inside(current), colocate_with(value):
                limit = constant(-1, dtypes.int32)
                stack = raw.StackV2(limit, elem_type=value.dtype.base_dtype, name="f_acc")
            push = self._push(self.forward_context.AddValue(stack), value, dead_branch)
            # Not before the counter of this iteration, so after all pushes of the one before.
            push._add_control_input(self.forward_index.op.inputs[0].op)
        return stack

    def _push(self, stack: Tensor, value: Tensor, dead_branch: bool) -> Operation:
        def push(context: ControlFlowContext) -> Operation:
            with context:
                swap = self.forward_context.swap_memory
                return raw.StackPushV2(stack, value, swap_memory=swap).op

        context = output_context(value.op)
        if context is self.forward_context:
            pushed = push(context)
            self.forward_index.op._add_control_input(pushed)
            return pushed
        if not isinstance(context, CondContext):
            raise TypeError(f"value_ctxt is not a CondContext: {context}")
        if dead_branch:
            assert context.outer_context is not None
            pushed = push(context.outer_context)
            pushed._set_control_flow_context(context)
        else:
            pushed = push(context)
        self.forward_sync._add_control_input(pushed)
        return pushed

    def load(self, stack: Tensor, value: Tensor, dead_branch: bool = False) -> Tensor:
        """The value that `save(value)` pushed in the iteration whose gradient is being computed."""
        guard = _guarding_cond(value.op, stack.op._get_control_flow_context())
        with control_dependencies(None), self.context:
            if guard is not None:
                branch = 1 - guard.branch if dead_branch else guard.branch
                stack = routing.switch_beside(stack, self._saved_pred(guard))[branch]
            pop = raw.StackPopV2(stack, elem_type=value.dtype.base_dtype)
            pop.set_shape(value.shape)
        if self.context.parallel_iterations > 1:
            self.backward_sync._add_control_input(pop.op)
        return pop

    def _saved_pred(self, cond: CondContext) -> Tensor:
        state: LoopGradient | None = self
        while state is not None:
            if cond.pred.name in state.history:
                return state.history[cond.pred.name]
            state = state.outer
        return cond.pred

    def real_value(self, value: Tensor) -> Tensor:
        """`value` of the forward loop as the backward loop, the current context, may use it."""
        if value.name not in self.history:
            self.history[value.name] = self._real_value(value)
        return self.history[value.name]

    def _real_value(self, value: Tensor) -> Tensor:
        state: LoopGradient | None = self
        while (enter := loop_constant_enter(value)) is not None:
            # Invariants need no history; those of all loops are there anyway.
            value, state = enter.inputs[0], state.outer  # type: ignore[union-attr]
            if state is None:
                return self.context.AddValue(value)
        assert state is not None
        if value.op.definition.is_constant:
            return constant(constant_value(value), dtype=value.dtype)
        with out_of(self.context):
            stack = state.save(value)
        loaded = state.load(stack, value)
        return loaded if state is self else self.context.AddValue(loaded)

    def pred_of(self, cond: CondContext) -> Tensor:
        """The predicate of a cond in the forward loop, in the iteration at hand."""
        name = cond.pred.name
        if name not in self.history:
            with out_of(self.context):
                stack = self.save(cond.pred)
            self.history[name] = self.load(stack, cond.pred)
        return self.history[name]


def _guarding_cond(op: Operation, until: ControlFlowContext | None) -> CondContext | None:
    """The innermost cond that decides whether `op` runs, inside the context `until`."""
    context = op._get_control_flow_context()
    while context is not None and context is not until:
        if isinstance(context, CondContext):
            return context
        context = context.outer_context
    return None


# ---- the loops of one gradient call -----------------------------------------------------------


class LoopGradients:
    """The loops that one call of `gradients` passes through."""

    def __init__(self) -> None:
        self._map: dict[WhileContext, LoopGradient] = {}

    def state_of(self, context: ControlFlowContext | None) -> LoopGradient | None:
        loop = containing_loop(context)
        return None if loop is None else self._map.get(loop)

    def add_loop(self, exit_op: Operation) -> list[Operation]:
        """Makes the backward loop of the loop that `exit_op` leaves, unless it is there.

        Returns the other exits: gradients must pass through all of them or none.
        """
        loop = while_context(exit_op)
        if loop is None:
            raise ValueError(
                f"Failed to call gradients on a while loop ({exit_op.name}) without properly"
                " serializing graph via MetaGraphDef"
            )
        if loop in self._map:
            return []
        state = LoopGradient(loop, self.state_of(loop.outer_context))
        self._map[loop] = state
        return [tensor.op for tensor in state.forward_exits]

    def backward_context(self, op: Operation, before: bool) -> AbstractContextManager[Any]:
        """The context for gradients of `op`. `before`: for those of its outputs."""
        context = output_context(op) if before else op._get_control_flow_context()
        state = self.state_of(context)
        return nullcontext() if state is None else state.context

    def unused_exits(self, pending: dict[Operation, int], done: set[Operation]) -> list[Tensor]:
        """Exits that no y depends on, of loops with no other exit still to come.

        The variables that leave by them may still matter inside the loop.
        """
        found: list[Tensor] = []
        for state in self._map.values():
            idle = [leaving for leaving in state.forward_exits if not pending.get(leaving.op)]
            state.unused_exits += [leaving for leaving in idle if leaving.op not in done]
            state.pending_exits -= len(idle)
            if idle and not state.pending_exits:
                found += state.unused_exits
            for entering in state.forward_context.loop_enters:
                pending[entering.op] = pending.get(entering.op) or 1
        return found

    def exit_ready(self, tensor: Tensor, has_gradient: Any) -> tuple[list[Tensor], list[Tensor]]:
        """An exit has got all its gradients. Once all exits of its loop have, they go on:
        returns (exits to go on with, those of them that need a zero gradient).
        """
        state = self.state_of(tensor.op._get_control_flow_context())
        assert state is not None
        state.deferred_exits.append(tensor)
        state.pending_exits -= 1
        if state.pending_exits:
            return [], []
        used = [t for t in state.deferred_exits if has_gradient(t.op)]
        state.unused_exits.extend(t for t in state.deferred_exits if t not in used)
        return [*used, *state.unused_exits], state.unused_exits if used else []

    # ---- zeros ----

    def zeros_for_exit(self, tensor: Tensor) -> Tensor:
        """A zero gradient for a loop variable that nothing outside uses."""
        around = tensor.op._get_control_flow_context().outer_context
        outer = self.state_of(around)
        if outer is None:
            if tensor.shape.is_fully_defined():
                return array.zeros(tensor.shape, tensor.dtype)
            return array.zeros_like(tensor, optimize=False)
        if tensor.shape.is_fully_defined():
            with outer.context:
                return array.zeros(tensor.shape, tensor.dtype)
        with around:
            shape = array.shape_internal(tensor, optimize=False)
        stack = outer.save(shape)
        with outer.context:
            return array.zeros(outer.load(stack, shape), tensor.dtype)

    def zeros_like(self, op: Operation, index: int) -> Tensor | None:
        """Zeros for output `index` of `op`, in its backward context, which is the current one."""
        if is_loop_switch(op):
            return None
        state = self.state_of(op._get_control_flow_context())
        if state is None:
            return zeros_outside_loop(op, index)
        value, cond = op.outputs[index], op._get_control_flow_context()
        # A Switch sends nothing to the branch that is not taken: zeros stand in there.
        dead_branch = kind_of(op) == "switch"
        if value.shape.is_fully_defined():
            zeros = (
                zeros_like_value(value)
                if value.dtype == dtypes.resource
                else constant(0, value.dtype.base_dtype, shape=value.shape)
            )
            if dead_branch:
                pred = state.history.get(cond.pred.name, cond.pred)
                return routing.switch_beside(zeros, pred)[1 - cond.branch]
            return zeros
        shape = _untaken_shape(op, cond) if dead_branch else _shape_inside(value, cond)
        with out_of(state.context):
            stack = state.save(shape, dead_branch=dead_branch)
        return array.zeros(state.load(stack, shape, dead_branch), value.dtype)

    def finish(self) -> None:
        """Closes backward loops of variables that an iteration sets without looking at them."""
        for state in self._map.values():
            for merge in state.switches.values():
                first, second = merge.op.inputs
                if first is second:
                    # From the second backward iteration on, their gradient is zero.
                    merge.op._update_input(1, _zero_from_now_on(state.context, first))


def _untaken_shape(op: Operation, cond: CondContext) -> Tensor:
    with inside(cond.outer_context):
        other = routing.switch_beside(op.inputs[0], cond.pred)[1 - cond.branch]
        shape = array.shape_internal(other, optimize=False)
    for made in (other.op, shape.op):
        made._set_control_flow_context(cond)
    return shape


def _shape_inside(value: Tensor, context: ControlFlowContext) -> Tensor:
    with context:
        return array.shape_internal(value, optimize=False)


def _zero_from_now_on(context: WhileContext, entered: Tensor) -> Tensor:
    if entered.shape.is_fully_defined():
        with context:
            return routing.next_iteration(constant(0, entered.dtype, shape=entered.shape))
    with inside(context.outer_context):
        shape = array.shape_internal(entered.op.inputs[0], optimize=False)
        zeros = array.zeros(shape, entered.dtype)
    with context:
        return routing.next_iteration(zeros)
