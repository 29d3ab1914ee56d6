"""Conditionals: each branch is built in a context that takes everything from outside through a
Switch on the predicate; Merges after the branches pick what the taken one computed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core import dtypes, nest
from weft.graph.collection_def import prepend_name_scope, register_proto_function, strip_name_scope
from weft.graph.constant_value import constant_value, folded_value
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
from weft.graph.slices import IndexedSlices
from weft.ops.control.control import no_op, with_dependencies
from weft.ops.control.control_flow_context import (
    READERS,
    ControlFlowContext,
    contains,
    enclosing,
    kind_of,
)
from weft.ops.control.function_forms import function_form
from weft.ops.control.routing import merge, switch, switch_beside
from weft.ops.kit.eager import executing_eagerly
from weft.ops.lists.tensor_array import flow_of, with_flows
from weft.protos import control_flow as messages


class CondContext(ControlFlowContext):
    """One branch of a cond. `branch` is 1 for the one that runs when `pred` is true."""

    def __init__(
        self,
        pred: Tensor | None = None,
        pivot: Tensor | None = None,
        branch: int | None = None,
        name: str = "cond_text",
        context_def: Any = None,
        import_scope: str | None = None,
    ) -> None:
        super().__init__(get_default_graph().unique_name(name))
        if context_def is not None:
            self._read(context_def, import_scope)
            return
        assert pred is not None and pivot is not None and branch is not None
        self._pred, self._pivot, self._branch = pred, pivot, branch
        # The predicate counts as seen, so that it is used as it is, not guarded by itself.
        self._values.update((pred.name, pivot.name))
        self._external_values[pred.name] = pred
        pivot.op._set_control_flow_context(self)

    @property
    def pred(self) -> Tensor:
        return self._pred

    @property
    def pivot(self) -> Tensor:
        return self._pivot

    @property
    def branch(self) -> int:
        return self._branch

    @property
    def grad_state(self) -> Any:  # type: ignore[override]
        loop = self.GetWhileContext()
        return None if loop is None else loop.grad_state

    @property
    def back_prop(self) -> bool:  # type: ignore[override]
        loop = self.GetWhileContext()
        return loop is not None and loop.back_prop

    def GetControlPivot(self) -> Tensor:
        return self._pivot

    def IsCondContext(self) -> bool:
        return True

    # ---- nodes and values ----

    def AddValue(self, val: Tensor) -> Tensor:
        return self._once(val, self._brought)

    def _once(self, val: Tensor, bring: Callable[[Tensor], Tensor]) -> Tensor:
        """The tensor for `val` in this branch; `bring` makes it from the tensor outside."""
        if val.name not in self._values:
            self._external_values[val.name] = bring(self._outside(val))
        return self._external_values.get(val.name, val)

    def _outside(self, val: Tensor) -> Tensor:
        """The tensor for `val` just outside this branch; from now on it counts as seen."""
        outer, seen = self._outer_context, val
        if outer is not None:
            seen = outer.AddValue(val)
            self._external_values[seen.name] = seen
        self._values |= {val.name, seen.name}
        return seen

    def _switched(self, outside: Tensor) -> Tensor:
        inside: Tensor = switch_beside(outside, self._pred)[self._branch]
        return inside

    def _brought(self, outside: Tensor) -> Tensor:
        with control_dependencies(None):
            inside = self._switched(outside)
            if self._outer_context is not None:
                self._outer_context.AddInnerOp(inside.op)
        inside.graph.prevent_fetching(inside.op)
        inside.op._set_control_flow_context(self)
        self._mark_seen(inside)
        return inside

    def _mark_seen(self, *tensors: Tensor) -> None:
        names = [tensor.name for tensor in tensors]
        for context in enclosing(self):
            if context is not None:
                context._values.update(names)

    def take_op(self, op: Operation) -> None:
        if op.inputs:
            self._take_inputs(op)
            self._remove_external_control_edges(op)
            if op.definition.calls:
                op._add_control_input(self._pivot.op)
        else:
            self._remove_external_control_edges(op)
            if not any(contains(self, c._get_control_flow_context()) for c in op.control_inputs):
                op._add_control_input(self._pivot.op)
        self._mark_seen(*op.outputs)
        if self._outer_context is not None or kind_of(op) != "exit":
            op.graph.prevent_fetching(op)
        if self._outer_context is not None:
            self._outer_context.AddInnerOp(op)

    def _take_inputs(self, op: Operation) -> None:
        for i, value in enumerate(op.inputs):
            # The back edge of a loop that is being imported leads to a node that comes later.
            if kind_of(op) == "merge" and kind_of(value.op) == "next_iteration":
                continue
            inside = self.AddValue(value)
            if inside is not value:
                op._update_input(i, inside)

    # ---- results ----

    def build(self, function: Callable[[], Any]) -> tuple[Any, Any]:
        """Calls `function`; returns its result as it is, and as tensors of this branch."""
        original = without_summaries(function)
        if original is None:
            return None, None
        result = nest.map_structure(self._result_tensor, original, expand_composites=True)
        return original, result if isinstance(result, (list, tuple)) else [result]

    def _result_tensor(self, value: Any) -> Tensor:
        if isinstance(value, Operation):
            # An operation has no value; the pivot, computed after it, stands for it.
            return with_dependencies([value], self._pivot)
        # What was not seen yet is from outside, and only returned.
        captured = get_default_graph().capture(convert_to_tensor(flow_of(value)))
        return self._once(captured, self._switched)

    # ---- to and from messages ----

    def to_proto(self, export_scope: str | None = None) -> Any:
        """A CondContextDef, or None if this is not in `export_scope`."""
        if not self._is_exported(export_scope):
            return None
        context_def = messages.CondContextDef(
            pred_name=strip_name_scope(self._pred.name, export_scope),
            pivot_name=strip_name_scope(self._pivot.name, export_scope),
            branch=self._branch,
        )
        self._add_common_fields(context_def, export_scope)
        return context_def

    def to_control_flow_context_def(
        self, context_def: Any, export_scope: str | None = None
    ) -> None:
        context_def.cond_ctxt.CopyFrom(self.to_proto(export_scope=export_scope))

    def _read(self, context_def: Any, import_scope: str | None) -> None:
        names = (context_def.context_name, context_def.pred_name, context_def.pivot_name)
        self._name, *tensors = (prepend_name_scope(name, import_scope) for name in names)
        self._pred, self._pivot = map(get_default_graph().as_graph_element, tensors)
        self._branch = context_def.branch
        self._read_values(context_def.values_def, import_scope)

    @staticmethod
    def from_proto(context_def: Any, import_scope: str | None = None) -> CondContext:
        context = CondContext(context_def=context_def, import_scope=import_scope)
        context._read_nested(context_def, import_scope)
        return context


READERS["cond_ctxt"] = CondContext.from_proto
register_proto_function(
    GraphKeys.COND_CONTEXT,
    proto_type=messages.CondContextDef,
    to_proto=CondContext.to_proto,
    from_proto=CondContext.from_proto,
)


def without_summaries(function: Callable[..., Any], *args: Any) -> Any:
    """`function(*args)`, after the summaries it wrote: nothing outside can wait for those."""
    graph, key = get_default_graph(), GraphKeys._SUMMARY_COLLECTION
    count = len(graph.get_collection(key))
    result = function(*args)
    if len(graph.get_collection(key)) == count:
        return result
    summaries = graph.get_collection_ref(key)
    written = summaries[count:]
    del summaries[count:]
    with control_dependencies(written):
        if result is None:
            return no_op()
        return nest.map_structure(_passed_on, result, expand_composites=True)


def _passed_on(value: Any) -> Any:
    if isinstance(value, Operation):
        with control_dependencies([value]):
            return no_op()
    return value if flow_of(value) is not value else raw.Identity(value)


def cond(
    pred: Any,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    strict: bool = False,
    name: str | None = None,
    fn1: Callable[[], Any] | None = None,
    fn2: Callable[[], Any] | None = None,
) -> Any:
    """`true_fn()` if `pred` holds when the step runs, else `false_fn()`.

    Both are called once, now, to build their branch. They return structures of the same form and
    types; unless `strict`, a list of one element counts as the element.

    Args:
        pred: a boolean scalar; a Python bool picks a branch now.
        true_fn, false_fn: functions without arguments.
        strict: keep lists of one element.
        name: of the operations.
        fn1, fn2: older names of the functions.

    Returns:
        A tensor, or the structure of tensors that the functions return.

    Raises:
        TypeError: `pred` or a function is of the wrong kind, or the types of results differ.
        ValueError: the results have different forms.

    Example:
        >>> x = tf.placeholder(tf.float32, [])
        >>> magnitude = tf.cond(x < 0, lambda: -x, lambda: x)
        >>> float(session.run(magnitude, {x: -4}))
        4.0
    """
    true_fn = _branch_argument(true_fn, "true_fn", fn1, "fn1")
    false_fn = _branch_argument(false_fn, "false_fn", fn2, "fn2")
    for function, label in ((true_fn, "true_fn"), (false_fn, "false_fn")):
        if not callable(function):
            raise TypeError(f"{label} must be callable.")
    if executing_eagerly():
        result = true_fn() if pred else false_fn()
        return result if strict else _unpacked(result)
    if get_default_graph().functional_control_flow:
        return function_form("cond")(pred, true_fn, false_fn, name)
    with name_scope(name, "cond", [pred]):
        if isinstance(pred, bool):
            raise TypeError("pred must not be a Python bool")
        if_false, if_true = switch(pred, pred)
        pivots = raw.Identity(if_true, name="switch_t"), raw.Identity(if_false, name="switch_f")
        pred = raw.Identity(pred, name="pred_id")
        for tensor in (if_true, if_false, *pivots, pred):
            tensor.graph.prevent_fetching(tensor.op)
        context_t, original_t, result_t = _build_branch(pred, pivots[0], 1, true_fn, "true_fn")
        context_f, original_f, result_f = _build_branch(pred, pivots[1], 0, false_fn, "false_fn")
        if not strict:
            original_t, original_f = _unpacked(original_t), _unpacked(original_f)
        nest.assert_same_structure(original_t, original_f, expand_composites=True)
        if not result_t:
            raise ValueError("true_fn and false_fn must return at least one result.")
        _unify_index_types(result_t, result_f)
        merged = _merged(result_t, result_f)
        if context_t.outer_context is None:
            # Contexts inside others travel with those.
            add_to_collection(GraphKeys.COND_CONTEXT, context_t)
            add_to_collection(GraphKeys.COND_CONTEXT, context_f)
        merged = with_flows(nest.flatten(original_t, expand_composites=True), merged)
        packed = nest.pack_sequence_as(original_t, merged, expand_composites=True)
        return packed if strict else _unpacked(packed)


def _branch_argument(new: Any, new_name: str, old: Any, old_name: str) -> Any:
    if old is not None:
        if new is not None:
            raise TypeError(f"cond(): {new_name} and {old_name} may not be set simultaneously.")
        return old
    if new is None:
        raise TypeError(f"cond(): {new_name} argument required")
    return new


def _build_branch(
    pred: Tensor, pivot: Tensor, branch: int, function: Callable[[], Any], label: str
) -> tuple[CondContext, Any, Any]:
    context = CondContext(pred, pivot, branch)
    with context:
        original, result = context.build(function)
        if original is None:
            raise ValueError(f"{label} must have a return value.")
        context.ExitResult(result)
    return context, original, result


def _unpacked(result: Any) -> Any:
    return result[0] if isinstance(result, (list, tuple)) and len(result) == 1 else result


def _unify_index_types(result_t: Any, result_f: Any) -> None:
    """Slices from the two branches must have indices of one type: int64 if they differ."""
    for t, f in zip(nest.flatten(result_t), nest.flatten(result_f), strict=True):
        if isinstance(t, IndexedSlices) and t.indices.dtype != f.indices.dtype:
            for slices in (t, f):
                if slices.indices.dtype != dtypes.int64:
                    slices._indices = raw.Cast(slices.indices, DstT=dtypes.int64)


def _merged(result_t: Any, result_f: Any) -> list[Any]:
    flat_t = nest.flatten(result_t, expand_composites=True)
    flat_f = nest.flatten(result_f, expand_composites=True)
    for t, f in zip(flat_t, flat_f, strict=True):
        if t.dtype.base_dtype != f.dtype.base_dtype:
            raise ValueError(
                "Outputs of true_fn and false_fn must have the same type:"
                f" {t.dtype.name}, {f.dtype.name}"
            )
    return [merge([f, t])[0] for f, t in zip(flat_f, flat_t, strict=True)]


# ---- predicates that may be known now ---------------------------------------------------------


def smart_constant_value(pred: Any) -> Any:
    """The value of `pred` if it follows from constants now, or None."""
    if isinstance(pred, Tensor):
        value = constant_value(pred)
        return folded_value(pred) if value is None else value
    if isinstance(pred, bool | int | np.generic) and pred in (0, 1):
        return bool(pred)
    raise TypeError(
        f"`pred` must be a Tensor, or a Python bool, or 1 or 0. Found instead: {type(pred)}"
    )


def smart_cond(
    pred: Any,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    name: str | None = None,
) -> Any:
    """`cond`, or only the branch that will run when `pred` is known now."""
    branches: dict[str, Any] = {"true_fn": true_fn, "false_fn": false_fn}
    for argument, function in branches.items():
        if not callable(function):
            raise TypeError(f"`{argument}` must be callable.")
    known = smart_constant_value(pred)
    if known is None:
        return cond(pred, **branches, name=name)
    return branches["true_fn" if known else "false_fn"]()
