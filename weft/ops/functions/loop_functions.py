"""Loops as one node, `While`, over two functions: in a `tf.function`, and everywhere after
`tf.enable_control_flow_v2()`.

In front of the variables of the program are two more: a counter of turns, which gradients need, and
the most turns there may be (-1 for any number).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft.core import dtypes, nest
from weft.core.shapes import TensorShape
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import get_default_graph, name_scope
from weft.graph.op_def import raw
from weft.graph.tensor import Tensor
from weft.ops.control.function_forms import adds_form
from weft.ops.control.loop_shapes import is_at_most
from weft.ops.functions.traced_graph import (
    TracedGraph,
    all_captured,
    block_graph,
    define,
    flatten,
    function_label,
    is_stateful,
    lowered_outputs,
    squeezed,
)
from weft.ops.lists.tensor_array import flow_of, with_flows

_OWN = 2  # the counter and the limit


@adds_form("while")
def while_of_functions(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any,
    parallel_iterations: int,
    maximum_iterations: Any,
    name: str | None,
    return_same_structure: bool,
) -> Any:
    """The variables as they leave the loop; a single one alone unless `return_same_structure`."""
    loop = _Loop(loop_vars, shape_invariants)
    with name_scope(name or "while") as scope:
        loop.begin(scope, maximum_iterations)
        found = loop.build(cond, body, scope, parallel_iterations)
    if return_same_structure or len(found) != 1:
        return loop.packed(found)
    return flatten(loop.packed(found))[0]


class _Loop:
    """A loop in the making: its variables as tensors, and the graphs of condition and body."""

    cond: TracedGraph
    body: TracedGraph

    def __init__(self, loop_vars: Any, shape_invariants: Any) -> None:
        self.variables, self.originals = loop_vars, flatten(loop_vars)
        self.tensors = [convert_to_tensor(flow_of(value)) for value in self.originals]
        self.shapes = self._invariants(shape_invariants)
        self.limited = False

    def _invariants(self, given: Any) -> list[TensorShape]:
        if given is None:
            return [tensor.shape for tensor in self.tensors]
        shapes: list[TensorShape] = nest.flatten(given)
        # A list of tensors is one value, whatever is said of its elements.
        shapes = [
            tensor.shape if tensor.dtype.base_dtype is dtypes.variant else shape
            for tensor, shape in zip(self.tensors, shapes, strict=True)
        ]
        if not all(isinstance(shape, TensorShape) for shape in shapes):
            raise ValueError("`shapes` must be a (possibly nested) list of shapes.")
        for tensor, shape in zip(self.tensors, shapes, strict=True):
            if not is_at_most(tensor.shape, shape):
                raise ValueError(
                    f"The shape invariant specified for {tensor.name} is not compatible with the"
                    f" initial shape of the loop variable. It enters the loop with shape"
                    f" {tensor.shape}, but the specified shape invariant is {shape}."
                )
        return shapes

    def begin(self, scope: str, maximum_iterations: Any) -> None:
        """Puts the counter and the limit in front, and opens the graphs."""
        label = function_label(scope)
        self.cond, self.body = block_graph(f"{label}_cond"), block_graph(f"{label}_body")
        self.limited = maximum_iterations is not None
        most = maximum_iterations if self.limited else -1
        limit = convert_to_tensor(most, dtype=dtypes.int32, name="maximum_iterations")
        if limit.shape.ndims not in (0, None):
            raise ValueError(f"maximum_iterations must be a scalar, saw shape: {limit.shape}")
        self.tensors = [constant(0, dtypes.int32, name="loop_counter"), limit, *self.tensors]
        self.shapes = [TensorShape([])] * _OWN + self.shapes

    def build(
        self, cond: Callable[..., Any], body: Callable[..., Any], scope: str, parallel: int
    ) -> list[Tensor]:
        """Adds the loop and returns the variables as they leave it, one after another."""
        entering = self._arguments(self.cond, scope)
        test = self.cond.own(self.cond.trace(self._test, cond, entering))
        inside = self._arguments(self.body, scope)
        result = self.body.trace(self._turn, body, inside)
        after = [self.body.own(value) for value in flatten(result)]
        self._check(after)
        return self._add_node(entering, test, inside, after, scope, parallel)

    def _test(self, cond: Callable[..., Any], arguments: list[Tensor]) -> Any:
        test = squeezed(cond(*self.packed(arguments[_OWN:])))
        if not self.limited:
            return test
        return raw.LogicalAnd(raw.Less(arguments[0], arguments[1]), test)

    def _turn(self, body: Callable[..., Any], arguments: list[Tensor]) -> list[Any]:
        result = body(*self.packed(arguments[_OWN:]))
        if not nest.is_sequence_or_composite(result):
            result = [result]
        # The outermost level may be a list on one side and a tuple on the other.
        nest.assert_same_structure(list(result), list(self.variables), expand_composites=True)
        return [arguments[0] + 1, arguments[1], *result]

    def _arguments(self, graph: TracedGraph, scope: str) -> list[Tensor]:
        names = [f"{scope}loop_counter", f"{scope}maximum_iterations"]
        names += ["Placeholder"] * (len(self.tensors) - _OWN)
        with graph.as_default():
            return [
                _argument(tensor, shape, name)
                for tensor, shape, name in zip(self.tensors, self.shapes, names, strict=True)
            ]

    def packed(self, tensors: Sequence[Tensor]) -> Any:
        """Tensors in the structure of the variables."""
        values = with_flows(self.originals, list(tensors))
        return nest.pack_sequence_as(self.variables, values, expand_composites=True)

    def _check(self, after: list[Tensor]) -> None:
        for before, shape, tensor in zip(self.tensors, self.shapes, after, strict=True):
            if before.dtype.base_dtype != tensor.dtype.base_dtype:
                raise TypeError(
                    f"Loop var {before.name} enters the loop with type {before.dtype!r} but has"
                    f" type {tensor.dtype!r} after 1 iteration. {before.name} type should remain"
                    " constant."
                )
            if not is_at_most(tensor.shape, shape):
                raise ValueError(
                    f"Input tensor '{before.name}' enters the loop with shape {before.shape}, but"
                    f" has shape {tensor.shape} after one iteration. To allow the shape to vary"
                    " across iterations, use the `shape_invariants` argument of tf.while_loop to"
                    " specify a less-specific shape."
                )

    def _add_node(
        self, entering: list[Tensor], test: Tensor, inside: list[Tensor], after: list[Tensor],
        scope: str, parallel: int,
    ) -> list[Tensor]:  # fmt: skip
        outer = get_default_graph()
        captured = all_captured([self.cond, self.body])
        fixed = [self.body.argument_for(x) for x in captured]
        for_test = [*entering, *(self.cond.argument_for(x) for x in captured)]
        condition = define(outer, self.cond, for_test, [test])
        body = define(outer, self.body, [*inside, *fixed], [*after, *fixed])
        stateful = is_stateful(self.cond) or is_stateful(self.body)
        make = raw.While if stateful else raw.StatelessWhile
        shapes = [shape._dims_tuple for shape in self.shapes] + [x.dims for x in captured]
        with outer.control_dependencies([*self.cond.awaited, *self.body.awaited]):
            made = make(
                [*self.tensors, *captured], condition, body, output_shapes=shapes,
                parallel_iterations=parallel, name=scope,
            )  # fmt: skip
        made[0].op.attrs["_num_original_outputs"] = len(made)
        return lowered_outputs(made, outer)[_OWN : len(self.tensors)]


def _argument(tensor: Tensor, shape: TensorShape, name: str) -> Tensor:
    known = None if shape.ndims is None else shape
    return raw.Placeholder(tensor.dtype.base_dtype, shape=known, name=name)
