"""Assertions that hold whatever is fed: they would only make others wait, on another device too."""

from __future__ import annotations

import numpy as np

from weft.graph.constant import const
from weft.passes.client_graph import ClientGraph, Edge, Node, needed
from weft.passes.optimize.fold import computed_early

# Conditions are made of sizes and numbers; what is larger is not worth the time here.
_MAX_ELEMENTS = 1 << 10


def drop_proven(graph: ClientGraph) -> None:
    """Leaves out every Assert whose condition is made of constants and is true; in place."""
    asserts = [node for node in graph.nodes if node.definition.asserts]
    if not asserts:
        return
    known = _known_values(graph, needed(node.inputs[0][0] for node in asserts))
    proven = {node: node.controls for node in asserts if _is_true(known.get(node.inputs[0]))}
    if proven:
        graph.replace({}, proven)
        graph.drop_unused()


def _known_values(graph: ClientGraph, within: set[Node]) -> dict[Edge, np.ndarray]:
    """The values that depend on nothing but constants and static shapes."""
    known: dict[Edge, np.ndarray] = {}
    fed = set(graph.feeds)
    for node in graph.nodes:
        if node in within and not node.controls:
            for i, value in enumerate(_values(node, known)):
                if (node, i) not in fed:
                    known[node, i] = value
    return known


def _values(node: Node, known: dict[Edge, np.ndarray]) -> list[np.ndarray]:
    if node.definition is const:
        return [node.attrs["value"]]
    if node.definition.calls_python:
        return []
    return computed_early(node, known.get, _MAX_ELEMENTS) or []


def _is_true(condition: np.ndarray | None) -> bool:
    return condition is not None and condition.size == 1 and bool(condition)
