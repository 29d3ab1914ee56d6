"""tf.cond inside of a `tf.function`: an `If` node between two functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.core import nest
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import get_default_graph, name_scope
from weft.graph.op_def import raw
from weft.graph.shape_fn import Dims
from weft.graph.tensor import Tensor
from weft.ops.functions.traced_graph import TracedGraph, all_captured, define, flatten, is_stateful
from weft.ops.lists.tensor_array import with_flows


def cond_of_functions(
    pred: Any,
    true_fn: Callable[[], Any],
    false_fn: Callable[[], Any],
    settle: Callable[[list[TracedGraph], list[Any]], list[Any]],
    name: str | None,
) -> Any:
    """What the branch that is taken returns.

    `settle` gets the graphs of both branches and what was returned there. It gives what is to be
    returned: structures of the same form.
    """
    with name_scope(name, "cond", [pred]) as scope:
        if isinstance(pred, bool):
            raise TypeError("pred must not be a Python bool")
        pred = convert_to_tensor(pred, name="pred")
        label = scope.rstrip("/").rpartition("/")[2]
        graphs = [TracedGraph(f"{label}_true"), TracedGraph(f"{label}_false")]
        results = [g.trace(fn) for g, fn in zip(graphs, (true_fn, false_fn), strict=True)]
        results = settle(graphs, results)
        outputs = [
            [g.own(value) for value in flatten(r)] for g, r in zip(graphs, results, strict=True)
        ]
        _check_types(*outputs)
        found = _add_node(pred, graphs, outputs)
        packed = with_flows(flatten(results[0]), found)
        return nest.pack_sequence_as(results[0], packed, expand_composites=True)


def _check_types(on_true: list[Tensor], on_false: list[Tensor]) -> None:
    for t, f in zip(on_true, on_false, strict=True):
        if t.dtype.base_dtype != f.dtype.base_dtype:
            raise ValueError(
                "Outputs of true_fn and false_fn must have the same type:"
                f" {t.dtype.name}, {f.dtype.name}"
            )


def _add_node(pred: Tensor, graphs: list[TracedGraph], outputs: list[list[Tensor]]) -> list[Tensor]:
    outer = get_default_graph()
    captured = all_captured(graphs)
    branches = [
        define(outer, graph, [graph.argument_for(x) for x in captured], results)
        for graph, results in zip(graphs, outputs, strict=True)
    ]
    make = raw.If if any(map(is_stateful, graphs)) else raw.StatelessIf
    types = [tensor.dtype.base_dtype for tensor in outputs[0]]
    shapes = [common_dims(t.dims, f.dims) for t, f in zip(*outputs, strict=True)]
    awaited = [op for graph in graphs for op in graph.awaited]
    with outer.control_dependencies(awaited):
        found = make(pred, captured, types, branches[0], branches[1], output_shapes=shapes)
    return list(found) if types else []


def common_dims(a: Dims, b: Dims) -> Dims:
    """What is known of a shape that is one of two."""
    if a is None or b is None or len(a) != len(b):
        return None
    return tuple(x if x == y else None for x, y in zip(a, b, strict=True))
