"""Conditionals as one node, `If` or `Case`, between functions: in a `tf.function`, and everywhere
after `tf.enable_control_flow_v2()`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft.core import dtypes, nest
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import control_dependencies, get_default_graph, name_scope
from weft.graph.op_def import raw
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims
from weft.graph.slices import IndexedSlices
from weft.graph.tensor import Tensor
from weft.ops.control.function_forms import adds_form
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
from weft.ops.lists.tensor_array import with_flows

Settle = Callable[[list[TracedGraph], list[Any]], list[Any]]


@adds_form("cond")
def cond_of_functions(
    pred: Any,
    true_fn: Callable[[], Any],
    false_fn: Callable[[], Any],
    name: str | None,
    settle: Settle | None = None,
) -> Any:
    """The results of the branch that is taken.

    `settle` gets the graphs of both branches and what was returned there. It gives what is to be
    returned: structures of the same form.
    """
    if isinstance(pred, bool):
        raise TypeError("pred must not be a Python bool", pred)
    with name_scope(name or "cond") as scope:
        label = function_label(scope)
        graphs = [block_graph(f"{label}_{side}") for side in ("true", "false")]
        pred = squeezed(convert_to_tensor(pred))
        return _choice(_if, pred, graphs, [true_fn, false_fn], scope, settle)


@adds_form("case")
def case_of_functions(index: Any, functions: Sequence[Callable[[], Any]]) -> Any:
    """The results of function number `index`; of the last one if there is none."""
    with name_scope("indexed_case") as scope:
        label = function_label(scope)
        graphs = [block_graph(f"{label}_branch{i}") for i in range(len(functions))]
        index = convert_to_tensor(index, name="branch_index")
        return _choice(_case, index, graphs, functions, scope, None)


def _choice(
    kind: Callable[[Tensor], Callable[..., Any]],
    decides: Tensor,
    graphs: list[TracedGraph],
    functions: Sequence[Callable[[], Any]],
    scope: str,
    settle: Settle | None,
) -> Any:
    pairs = zip(graphs, functions, strict=True)
    results = [graph.trace(_valued(function, decides)) for graph, function in pairs]
    if settle is not None:
        results = settle(graphs, results)
    owned = [_owned(g, each) for g, each in zip(graphs, results, strict=True)]
    _unify_index_types(graphs, owned)
    if settle is None:
        _check_alike(owned, of_two=kind is _if)
    found = _add_node(kind(decides), graphs, owned, scope)
    packed = with_flows(flatten(results[0]), found)
    return nest.pack_sequence_as(results[0], packed, expand_composites=True)


def _valued(function: Callable[[], Any], decides: Tensor) -> Callable[[], Any]:
    """`function`, giving in the place of operations what decided, once they have run."""

    def value(leaf: Any) -> Any:
        if not isinstance(leaf, Operation):
            return leaf
        with control_dependencies([leaf]):
            return raw.Identity(decides)

    return lambda: nest.map_structure(value, function(), expand_composites=True)


def _owned(graph: TracedGraph, result: Any) -> Any:
    def own(leaf: Any) -> Any:
        return None if leaf is None else graph.own(leaf)

    return nest.map_structure(own, result, expand_composites=True)


def _check_alike(results: list[Any], of_two: bool) -> None:
    """Raises TypeError unless all branches give structures of one form and tensors of one type."""
    for i, other in enumerate(results[1:], 1):
        try:
            nest.assert_same_structure(results[0], other, expand_composites=True)
        except (ValueError, TypeError) as error:
            raise _mismatch(results, i, of_two, str(error)) from None
        for a, b in zip(flatten(results[0]), flatten(other), strict=True):
            if (a is None) != (b is None) or (a is not None and a.dtype != b.dtype):
                raise _mismatch(results, i, of_two, f"{a} and {b} have different types")


def _mismatch(results: list[Any], i: int, of_two: bool, detail: str) -> TypeError:
    if of_two:
        first, other, where = "true_fn", "false_fn", "tf.cond"
    else:
        first, other, where = "branches[0]", f"branches[{i}]", "tf.switch_case"
    return TypeError(
        f"{first} and {other} arguments to {where} must have the same number, type, and overall"
        f" structure of return values.\n\n{first} output: {results[0]}\n{other} output:"
        f" {results[i]}\n\nError details:\n{detail}"
    )


def _unify_index_types(graphs: list[TracedGraph], results: list[Any]) -> None:
    """Slices from different branches get indices of one type: int64 if they differ."""
    columns = zip(*(nest.flatten(each) for each in results), strict=False)
    for column in columns:
        if not all(isinstance(each, IndexedSlices) for each in column):
            continue
        if len({each.indices.dtype for each in column}) > 1:
            for graph, slices in zip(graphs, column, strict=True):
                with graph.as_default():
                    slices._indices = raw.Cast(slices.indices, DstT=dtypes.int64)


def _add_node(
    make: Callable[..., Any], graphs: list[TracedGraph], results: list[Any], scope: str
) -> list[Any]:
    """Identities of the node's outputs, which are all that may be fetched; None stays None."""
    outer, captured = get_default_graph(), all_captured(graphs)
    outputs = [[x for x in flatten(each) if x is not None] for each in results]
    branches = [
        define(outer, graph, [graph.argument_for(x) for x in captured], each)
        for graph, each in zip(graphs, outputs, strict=True)
    ]
    columns = list(zip(*outputs, strict=True))
    types = [column[0].dtype.base_dtype for column in columns]
    shapes = [common_dims([tensor.dims for tensor in column]) for column in columns]
    stateful = any(map(is_stateful, graphs))
    with outer.control_dependencies([op for graph in graphs for op in graph.awaited]):
        made = make(stateful, captured, types, branches, output_shapes=shapes, name=scope)
    found = iter(lowered_outputs(made, outer))
    return [None if x is None else next(found) for x in flatten(results[0])]


def _if(pred: Tensor) -> Callable[..., Any]:
    def make(stateful: bool, captured: Any, types: Any, branches: Any, **attrs: Any) -> Any:
        node = raw.If if stateful else raw.StatelessIf
        return node(pred, captured, types, *branches, **attrs)

    return make


def _case(index: Tensor) -> Callable[..., Any]:
    def make(stateful: bool, captured: Any, types: Any, branches: Any, **attrs: Any) -> Any:
        return raw.Case(index, captured, types, branches, **attrs)

    return make


def common_dims(shapes: Sequence[Dims]) -> Dims:
    """The most specific shape that holds for all of several shapes."""
    first = shapes[0]
    if first is None or any(each is None or len(each) != len(first) for each in shapes):
        return None
    columns = zip(*(each for each in shapes if each is not None), strict=True)
    return tuple(column[0] if len(set(column)) == 1 else None for column in columns)
