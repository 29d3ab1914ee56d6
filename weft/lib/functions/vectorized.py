"""tf.vectorized_map: a function applied to every row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.core import dtypes, nest
from weft.graph.convert import convert_to_tensor
from weft.graph.function import LibraryFunction, add_function
from weft.graph.function_def import Body, effects_of, function_def
from weft.graph.graph import get_default_graph, name_scope
from weft.graph.op_def import FuncRef, raw
from weft.graph.tensor import Tensor
from weft.lib.functions.eager_calls import run_body
from weft.ops.array.gather import gather
from weft.ops.array.shape import shape
from weft.ops.dataset.lift import lift
from weft.ops.functions.functional import map_fn
from weft.ops.functions.traced_graph import TracedGraph, flatten, unique_function_name
from weft.ops.kit.eager import executing_eagerly


def vectorized_map(fn: Callable[[Any], Any], elems: Any) -> Any:
    """`fn` of each row of `elems`, the results stacked, in the structure that `fn` returns.

    Where all that it does can be done for all rows at once, that is what happens: operations get a
    further axis. Otherwise it is a loop over the rows.
    """
    with name_scope("vectorized_map"):
        elems = nest.map_structure(convert_to_tensor, elems)

        # A row is taken from what is outside, so that gradients inside find their way there.
        def row(at: Tensor) -> Any:
            return nest.map_structure(lambda x: gather(x, at), elems)

        graph = TracedGraph("vectorized_map")
        with graph.as_default():
            at = raw.Placeholder(dtypes.int32, shape=())
            graph.inputs = [at]
            rows = row(at)
        result = graph.trace(fn, rows)
        outputs = [graph.own(leaf) for leaf in flatten(result)]
        flat, leading = nest.flatten(elems), [at, *nest.flatten(rows)]
        body = Body(graph, [*leading, *graph.extra_args], outputs, effects_of(graph))
        many, every = lift(body, len(leading)), raw.Range(0, shape(flat[0])[0], 1)
        if many is None:
            types = nest.map_structure(lambda x: convert_to_tensor(x).dtype.base_dtype, result)
            return map_fn(lambda at: fn(row(at)), every, types)
        found = _called(many, [every, *flat, *graph.extra_inputs])
        return nest.pack_sequence_as(result, found, expand_composites=True)


def _called(body: Body, inputs: list[Tensor]) -> list[Tensor]:
    """The results of a function of all rows, as one call."""
    if executing_eagerly():
        return run_body(body, inputs)
    name = unique_function_name("vectorized_map")
    message = function_def(name, name, body.graph.get_operations(), body.inputs, body.outputs)
    outer = get_default_graph()
    for function in body.graph._functions.values():
        add_function(outer, function)
    add_function(outer, LibraryFunction(message, built=body))
    types = [tensor.dtype.base_dtype for tensor in body.outputs]
    found = list(raw.PartitionedCall(inputs, types, FuncRef(name)))
    for tensor, inner in zip(found, body.outputs, strict=True):
        if inner.dims is not None:
            tensor.dims = (inputs[1].shape._dims_tuple[0], *inner.dims[1:])  # type: ignore[index]
    return found
