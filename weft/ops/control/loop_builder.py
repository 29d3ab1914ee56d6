"""How the nodes of a loop are made: every variable goes Enter -> Merge -> Switch -> body ->
NextIteration -> Merge, and Exit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft.core import nest
from weft.core.shapes import TensorShape
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, control_dependencies
from weft.graph.op_def import raw
from weft.ops.control import routing
from weft.ops.control.cond import without_summaries
from weft.ops.control.control_flow_context import ControlFlowContext, enclosing, is_constant_enter
from weft.ops.control.loop_shapes import check_invariant, set_invariants, shape_invariant
from weft.ops.lists.tensor_array import flow_of, with_flows


class LoopBuilder(ControlFlowContext):
    """The part of a `WhileContext` that builds its loop."""

    # Nodes without inputs wait for the first of these in the condition, the second in the body.
    _pivot_for_pred: Tensor | None
    _pivot_for_body: Tensor | None
    _pivot: Tensor | None
    _loop_enters: list[Tensor]
    _loop_exits: list[Tensor]

    def _enter(self, data: Any, is_constant: bool, **kwargs: Any) -> Any:
        raise NotImplementedError

    def _adopt_enters(self, enters: Sequence[Tensor]) -> None:
        raise NotImplementedError

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
