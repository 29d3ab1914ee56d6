"""Nodes that do the same in different replicas: all but names and seeds agrees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.passes.client_graph import ClientGraph, Edge, Node
from weft.passes.control_flow.structured_nodes import nodes_inside, subgraphs

# Attributes that name something, or begin a generator whose state is kept by the node's name.
_NAMES = frozenset(
    "container frame_name instance_key seed seed2 shared_name stack_name tensor_array_name".split()
)


def are_alike(nodes: Sequence[Node]) -> bool:
    """Whether nodes, all of them others, compute the same of inputs that may differ."""
    first = nodes[0]
    return len(set(nodes)) == len(nodes) and all(_is_like(first, node) for node in nodes[1:])


def _is_like(first: Node, other: Node) -> bool:
    return (
        first.definition is other.definition
        and len(first.inputs) == len(other.inputs)
        and first.dtypes == other.dtypes
        and first.dims == other.dims
        and _same_attrs(first.attrs, other.attrs)
        and _same_inside(first, other)
    )


def _same_attrs(first: dict[str, Any], other: dict[str, Any]) -> bool:
    named = [_compared(attrs) for attrs in (first, other)]
    return named[0] == named[1] and all(_is_same(first[name], other[name]) for name in named[0])


def _compared(attrs: dict[str, Any]) -> set[str]:
    return {name for name in attrs if name not in _NAMES and not name.startswith("_")}


def _is_same(first: Any, other: Any) -> bool:
    if isinstance(first, np.ndarray) and isinstance(other, np.ndarray):
        return (
            first.dtype == other.dtype
            and first.shape == other.shape
            and (first is other or first.tobytes() == other.tobytes())
        )
    return bool(first == other)


def _same_inside(first: Node, other: Node) -> bool:
    """Of loops and branches, which must have no state of their own."""
    pairs = list(zip(subgraphs(first), subgraphs(other), strict=False))
    if any(_has_state(node) for node in nodes_inside(first)):
        return False
    return len(subgraphs(other)) == len(pairs) and all(_same_graphs(*pair) for pair in pairs)


def _has_state(node: Node) -> bool:
    return node.definition.is_handle or node.definition.stateful


def _same_graphs(first: ClientGraph, other: ClientGraph) -> bool:
    if len(first.nodes) != len(other.nodes):
        return False
    numbers = [{node: i for i, node in enumerate(graph.nodes)} for graph in (first, other)]

    def places(edges: Sequence[Edge], graph: int) -> list[tuple[int, int]]:
        return [(numbers[graph][node], i) for node, i in edges]

    return places(first.fetches, 0) == places(other.fetches, 1) and all(
        _is_like(a, b) and places(a.inputs, 0) == places(b.inputs, 1)
        for a, b in zip(first.nodes, other.nodes, strict=True)
    )
