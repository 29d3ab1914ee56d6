"""Operations and tensors of a graph by name, and what goes in and out of a set of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from weft.graph.graph import Graph
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor
from weft.ops.state.variables import Variable


def _flat(given: Any) -> list[Any]:
    if isinstance(given, Graph):
        return list(given.get_operations())
    if isinstance(given, Iterable) and not isinstance(given, (str, Tensor, Variable)):
        return [each for part in given for each in _flat(part)]
    return [given]


def make_list_of_op(
    ops: Any, check_graph: bool = True, allow_graph: bool = True, ignore_ts: bool = False
) -> list[Operation]:
    """Operations, given as a graph or as lists of them; tensors among them may be passed over."""
    found = [each for each in _flat(ops) if not (ignore_ts and isinstance(each, Tensor))]
    found = [op for each in found for op in (each.ops if hasattr(each, "ops") else [each])]
    for each in found:
        if not isinstance(each, Operation):
            raise TypeError(f"{each} is not an Operation")
    if check_graph and len({id(each.graph) for each in found}) > 1:
        raise ValueError("Operations of several graphs")
    return found


def make_list_of_t(
    ts: Any, check_graph: bool = True, allow_graph: bool = True, ignore_ops: bool = False
) -> list[Tensor]:
    """Tensors, given as a graph or as lists of them; operations among them may be passed over."""
    if isinstance(ts, Graph):
        return get_tensors(ts)
    found = [each for each in _flat(ts) if not (ignore_ops and isinstance(each, Operation))]
    found = [each._as_graph_element() if isinstance(each, Variable) else each for each in found]
    for each in found:
        if not isinstance(each, Tensor):
            raise TypeError(f"{each} is not a Tensor")
    if check_graph and len({id(each.graph) for each in found}) > 1:
        raise ValueError("Tensors of several graphs")
    return found


def get_tensors(graph: Graph) -> list[Tensor]:
    """All tensors of a graph."""
    return [tensor for op in graph.get_operations() for tensor in op.outputs]


def _matching(pattern: Any) -> Callable[[str], Any]:
    return re.compile(pattern).search if isinstance(pattern, str) else pattern.search


def filter_ops(ops: Any, positive_filter: Any) -> list[Operation]:
    """The operations that the filter holds for; all if it is True."""
    found = make_list_of_op(ops)
    return [op for op in found if positive_filter is True or positive_filter(op)]


def filter_ts(ops: Any, positive_filter: Any) -> list[Tensor]:
    """The inputs and outputs of operations for which the filter holds, each once."""
    kept: dict[Tensor, None] = {}
    for op in make_list_of_op(ops):
        for tensor in [*op.inputs, *op.outputs]:
            if positive_filter is True or positive_filter(tensor):
                kept.setdefault(tensor)
    return list(kept)


def filter_ops_from_regex(ops: Any, regex: Any) -> list[Operation]:
    """The operations whose name the pattern is found in."""
    matches = _matching(regex)
    return [op for op in make_list_of_op(ops) if matches(op.name)]


def filter_ts_from_regex(ops: Any, regex: Any) -> list[Tensor]:
    """Inputs and outputs whose name the pattern is found in."""
    matches = _matching(regex)
    return filter_ts(ops, lambda tensor: matches(tensor.name))


def get_name_scope_ops(ops: Any, scope: str) -> list[Operation]:
    """The operations below a name scope."""
    scope = scope.rstrip("/")
    return filter_ops_from_regex(ops, f"^{re.escape(scope)}(/.*)?$")


def select_ops(*args: Any, **kwargs: Any) -> list[Operation]:
    """Operations by patterns of names (in `graph`), or as they are; `positive_filter` chooses."""
    graph, keep = kwargs.pop("graph", None), kwargs.pop("positive_filter", None)
    kwargs.pop("restrict_ops_regex", None)
    found: dict[Operation, None] = {}
    for arg in args:
        if isinstance(arg, (str, re.Pattern)):
            if graph is None:
                raise ValueError("Use the keyword argument 'graph' to use regex.")
            for op in filter_ops_from_regex(graph, arg):
                found.setdefault(op)
        else:
            for op in make_list_of_op(arg, ignore_ts=True):
                found.setdefault(op)
    return [op for op in found if keep is None or keep(op)]


def select_ts(*args: Any, **kwargs: Any) -> list[Tensor]:
    """Tensors by patterns of names (in `graph`), or as they are; `positive_filter` chooses."""
    graph, keep = kwargs.pop("graph", None), kwargs.pop("positive_filter", None)
    kwargs.pop("restrict_ts_regex", None)
    found: dict[Tensor, None] = {}
    for arg in args:
        if isinstance(arg, (str, re.Pattern)):
            if graph is None:
                raise ValueError("Use the keyword argument 'graph' to use regex.")
            matches = _matching(arg)
            some: Iterable[Tensor] = (t for t in get_tensors(graph) if matches(t.name))
        else:
            some = make_list_of_t(arg, ignore_ops=True)
        for tensor in some:
            found.setdefault(tensor)
    return [tensor for tensor in found if keep is None or keep(tensor)]


def select_ops_and_ts(*args: Any, **kwargs: Any) -> tuple[list[Operation], list[Tensor]]:
    """Both of them. A pattern for tensors starts with the comment `(?#ts)`."""
    for_tensors = [a for a in args if isinstance(a, str) and a.startswith("(?#ts)")]
    others = [a for a in args if a not in for_tensors]
    return select_ops(*others, **kwargs), select_ts(*for_tensors, *_objects(others), **kwargs)


def _objects(args: list[Any]) -> list[Any]:
    return [a for a in args if not isinstance(a, (str, re.Pattern))]


def get_ops_ios(ops: Any, control_inputs: Any = False, control_outputs: Any = None) -> Any:
    """The operations that are neighbours of these, by edges that come in and that go out."""
    found: dict[Operation, None] = {}
    for op in make_list_of_op(ops):
        before = [tensor.op for tensor in op.inputs] + (op.control_inputs if control_inputs else [])
        after = [other for tensor in op.outputs for other in tensor.consumers()]
        for other in [*before, *after]:
            found.setdefault(other)
    return list(found)


def compute_boundary_ts(ops: Any) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
    """(inputs from outside, outputs used outside or nowhere, tensors used inside)"""
    chosen = make_list_of_op(ops)
    members = set(chosen)
    outputs = [tensor for op in chosen for tensor in op.outputs]
    inputs = dict.fromkeys(t for op in chosen for t in op.inputs if t.op not in members)
    inside = [t for t in outputs if any(c in members for c in t.consumers())]
    outside = [t for t in outputs if not t.consumers() or set(t.consumers()) - members]
    return list(inputs), outside, inside
