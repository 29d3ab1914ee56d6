"""Constant folding: what depends only on constants is computed once, at plan time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.graph.constant import const
from weft.graph.kernel_call import bind
from weft.graph.shape_fn import size
from weft.passes.client_graph import ClientGraph, Edge, Node, needed
from weft.passes.control_flow.structured_nodes import has_effect

_MAX_ELEMENTS = 1 << 20
# Of unknown shape, but with no more elements than the inputs have.
_NEVER_LONGER = {"BroadcastGradientArgs"}


def fold(graph: ClientGraph) -> None:
    """Replaces pure nodes over constants by constants; Shape of a known shape too."""
    old: dict[Edge, Edge] = {}
    nodes: list[Node] = []
    for node in graph.nodes:
        if any(edge in old for edge in node.inputs):
            node.inputs = [old.get(edge, edge) for edge in node.inputs]
        values = computed_early(node, _constant, _MAX_ELEMENTS)
        if values is not None:
            for i, value in enumerate(values):
                folded = _const_node(node, i, value)
                nodes.append(folded)
                old[node, i] = folded, 0
        nodes.append(node)
    graph.nodes = nodes
    graph.replace(old)
    graph.targets += _lost_effects(graph)
    graph.drop_unused()


def _lost_effects(graph: ClientGraph) -> list[Node]:
    """The nodes that only a folded node waited for and that change something when they run."""
    keep = needed([*(node for node, _ in graph.fetches), *graph.targets])
    return [node for node in graph.nodes if node not in keep and _changes_something(node)]


def _changes_something(node: Node) -> bool:
    kind = node.definition
    only_looks = kind.reads_only or kind.reads_variable or kind.is_variable or kind.is_argument
    return has_effect(node) and not only_looks


def _constant(edge: Edge) -> np.ndarray | None:
    """The value of a constant; one with control inputs belongs to a loop or a branch."""
    node, _ = edge
    return node.attrs["value"] if node.definition is const and not node.controls else None


def computed_early(
    node: Node, known: Callable[[Edge], np.ndarray | None], most: int
) -> list[np.ndarray] | None:
    """The outputs of a node that depend on nothing but `known` values and static shapes."""
    kind = node.definition
    if kind.is_constant or kind.stateful or node.controls:
        return None
    if kind.measures and not kind.calls_python:
        return _of_shape(node) if node.inputs else None
    inputs = [known(edge) for edge in node.inputs]
    if any(value is None for value in inputs):
        return None
    return folded_values(node, [value for value in inputs if value is not None], most)


def folded_values(node: Node, inputs: list[np.ndarray], most: int) -> list[np.ndarray] | None:
    """The outputs of a node for these inputs, if it can be computed when a step is planned.

    `most`: elements that the inputs or an output may have.
    """
    kind = node.definition
    if not kind.calls_python:  # else its author says that one call tells the value
        if not node.inputs or kind.stateful or not kind.traceable or kind.needs_xla:
            return None
        if any(d is dtypes.string for d in node.dtypes) or _grows(node, most):
            return None
    if sum(v.size for v in inputs) > most:
        return None
    try:
        with np.errstate(all="ignore"):
            return [np.asarray(v) for v in bind(kind, node.attrs)(np, inputs)]
    except Exception:
        return None  # it fails again when the step runs, where the error can name the node


def _grows(node: Node, most: int) -> bool:
    if node.type in _NEVER_LONGER:
        return False
    elements = [size(dims) for dims in node.dims]
    return any(count is None or count > most for count in elements)


def _of_shape(node: Node) -> list[np.ndarray] | None:
    found = []
    for (source, i), dtype in zip(node.inputs, node.dtypes, strict=False):
        dims = source.dims[i]
        if (
            dims is None
            or (None in dims and node.definition.measures != "rank")
            or source.definition.is_argument
        ):
            return None
        if node.definition.measures == "rank":
            value: Any = len(dims)
        else:
            value = size(dims) if node.definition.measures == "size" else dims
        try:
            found.append(np.array(value, dtype.np_storage))
        except OverflowError:
            return None  # of a number that does not fit, which the kernel says
    return found


def _const_node(node: Node, i: int, value: np.ndarray) -> Node:
    value.setflags(write=False)
    dtype = node.dtypes[i].base_dtype
    name = f"{node.name}/folded" if i == 0 else f"{node.name}/folded_{i}"
    return Node(
        name, const, {"value": value, "dtype": dtype}, [], [], [dtype], [value.shape], node.op,
        node.device,
    )  # fmt: skip
