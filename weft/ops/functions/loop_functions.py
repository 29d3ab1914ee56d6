"""tf.while_loop inside of a `tf.function`: a `While` node over two functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft.core import dtypes, nest
from weft.core.shapes import TensorShape
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import get_default_graph
from weft.graph.op_def import raw
from weft.graph.tensor import Tensor
from weft.ops.control.loop_shapes import is_at_most
from weft.ops.functions.traced_graph import TracedGraph, all_captured, define, flatten, is_stateful
from weft.ops.lists.tensor_array import flow_of, with_flows


class FunctionalLoop:
    """A loop in the making: its variables as tensors, and the graphs of condition and body."""

    def __init__(self, loop_vars: Any, shape_invariants: Any, parallel_iterations: int) -> None:
        self.variables, self.originals = loop_vars, flatten(loop_vars)
        self.tensors = [convert_to_tensor(flow_of(value)) for value in self.originals]
        self.shapes = self._invariants(shape_invariants)
        self.parallel_iterations = parallel_iterations
        label = get_default_graph().get_name_scope().rpartition("/")[2] or "while"
        self.cond, self.body = TracedGraph(f"{label}_cond"), TracedGraph(f"{label}_body")

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

    def build(
        self, cond: Callable[..., Any], body: Callable[..., Any], return_same_structure: bool
    ) -> Any:
        """Adds the loop and returns the variables as they leave it."""
        entering = self._arguments(self.cond)
        test = self.cond.own(self.cond.trace(cond, *self._packed(self.variables, entering)))
        inside = self._arguments(self.body)
        result = self.body.trace(body, *self._packed(self.variables, inside))
        if not nest.is_sequence_or_composite(result):
            result = [result]
        # The outermost level may be a list on one side and a tuple on the other.
        nest.assert_same_structure(list(self.variables), list(result), expand_composites=True)
        after = [self.body.own(value) for value in flatten(result)]
        self._check(after)
        found = self._add_node(entering, test, inside, after)
        packed = self._packed(result, found)
        if return_same_structure or len(found) != 1:
            return packed
        return packed[0]

    def _arguments(self, graph: TracedGraph) -> list[Tensor]:
        with graph.as_default():
            return [
                _argument(tensor, shape, i)
                for i, (tensor, shape) in enumerate(zip(self.tensors, self.shapes, strict=True))
            ]

    def _packed(self, structure: Any, tensors: Sequence[Tensor]) -> Any:
        values = with_flows(flatten(structure), list(tensors))
        return nest.pack_sequence_as(structure, values, expand_composites=True)

    def _check(self, after: list[Tensor]) -> None:
        for before, shape, tensor in zip(self.tensors, self.shapes, after, strict=True):
            if before.dtype.base_dtype != tensor.dtype.base_dtype:
                raise TypeError(
                    f"Loop var {before.name} enters the loop with type {before.dtype.name} but has"
                    f" type {tensor.dtype.name} after 1 iteration."
                )
            if not is_at_most(tensor.shape, shape):
                raise ValueError(
                    f"Input tensor '{before.name}' enters the loop with shape {before.shape}, but"
                    f" has shape {tensor.shape} after one iteration. To allow the shape to vary"
                    " across iterations, use the `shape_invariants` argument of tf.while_loop to"
                    " specify a less-specific shape."
                )

    def _add_node(
        self, entering: list[Tensor], test: Tensor, inside: list[Tensor], after: list[Tensor]
    ) -> list[Tensor]:
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
            found = make(
                [*self.tensors, *captured], condition, body, output_shapes=shapes,
                parallel_iterations=self.parallel_iterations,
            )  # fmt: skip
        return list(found)[: len(self.tensors)]


def _argument(tensor: Tensor, shape: TensorShape, i: int) -> Tensor:
    known = None if shape.ndims is None else shape
    return raw.Placeholder(tensor.dtype.base_dtype, shape=known, name=f"variable_{i}")
