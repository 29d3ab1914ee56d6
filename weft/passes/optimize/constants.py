"""The values of edges that depend on nothing but constants, where they are wanted."""

from __future__ import annotations

import numpy as np

from weft.passes.client_graph import Edge, Node, origin
from weft.passes.optimize.fold import folded_values

_MAX_ELEMENTS = 1 << 26


class Constants:
    """Values of constants, also of those that are too large to be put into the graph."""

    def __init__(self) -> None:
        self._known: dict[Node, list[np.ndarray] | None] = {}

    def value(self, edge: Edge) -> np.ndarray | None:
        """The value of an edge, or None if it is not constant."""
        node, i = edge
        if node.controls:
            return None  # it belongs to a loop or a branch, or comes after an effect
        if node.definition.is_constant:
            array: np.ndarray = node.attrs["value"]
            return array
        if node not in self._known:
            self._known[node] = None
            self._known[node] = self._computed(node)
        found = self._known[node]
        return None if found is None else found[i]

    def _computed(self, node: Node) -> list[np.ndarray] | None:
        inputs = []
        for edge in node.inputs:
            value = self.value(edge)
            if value is None:
                return None
            inputs.append(value)
        return folded_values(node, inputs, _MAX_ELEMENTS)


def is_scalar(node: Node) -> float | None:
    """The number that a constant of one element holds."""
    if not node.definition.is_constant or node.controls or node.attrs["value"].size != 1:
        return None
    return float(node.attrs["value"].reshape(()))


def uniform(edge: Edge, inner: list[Node]) -> float | None:
    """The number that all elements are, whatever their shape.

    Nodes that read some of `inner` for their shape become part of it.
    """
    node = origin(edge)[0]
    if node.controls:
        return None
    if node.definition.is_constant:
        value = node.attrs["value"]
        return float(value.flat[0]) if value.size and (value == value.flat[0]).all() else None
    found: float | None = None
    if node.type in ("OnesLike", "ZerosLike"):
        found = float(node.type == "OnesLike")
    elif node.type == "Fill":
        found = uniform(node.inputs[1], inner)
    elif node.definition.infix == "*":
        factors = [uniform(e, inner) for e in node.inputs]
        if None not in factors:
            found = float(np.prod(np.array(factors, np.float64)))
    if found is not None and any(origin(e)[0] in inner for e in node.inputs):
        inner.append(node)
    return found
