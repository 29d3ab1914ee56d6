"""Where values of all replicas become one: sums, stacks, and what to put in their place."""

from __future__ import annotations

from weft.passes.client_graph import Edge, Node

_SUMS = ("AddN", "NcclReduce")
_ADDITIONS = ("Add", "AddV2")
_STACKS = ("ConcatV2", "Pack")


def terms(node: Node, count: int) -> list[Edge]:
    """The `count` values that a node joins, each of a replica it may be; none if it joins others.

    These are the terms of a sum, in whatever form, or the parts of a stack.
    """
    if node.type in _SUMS or node.type in _STACKS:
        found = node.inputs[:-1] if node.type == "ConcatV2" else node.inputs
    elif node.type in _ADDITIONS:
        found = _addends(node, count)
    else:
        return []
    return list(found) if len(found) == count else []


def _addends(node: Node, count: int) -> list[Edge]:
    """The terms of `a + b + c`; a zero before them, as the sum of a list in Python has, is none."""
    found: list[Edge] = []
    edge: Edge = node, 0
    while len(found) < count - 1 and edge[0].type in _ADDITIONS:
        edge, right = edge[0].inputs
        found.append(right)
    if edge[0].type in _ADDITIONS and _is_zero(edge[0].inputs[0]):
        edge = edge[0].inputs[1]
    return [edge, *reversed(found)]


def _is_zero(edge: Edge) -> bool:
    node = edge[0]
    return node.definition.is_constant and node.attrs["value"].size == 1 and not node.attrs["value"]


def is_sum(node: Node) -> bool:
    """Whether the terms of a node are added."""
    if node.type == "NcclReduce":
        return node.attrs["reduction"] in ("sum", b"sum")
    return node.type in _ADDITIONS or node.type == "AddN"


def stacked(node: Node, count: int) -> list[Edge]:
    """The parts of a stack along a new first dimension."""
    parts = terms(node, count)
    if node.type == "Pack" and node.attrs.get("axis", 0) == 0:
        return parts
    if node.type != "ConcatV2" or not _is_number(node.inputs[-1], 0):
        return []
    if not all(part.type == "ExpandDims" and _is_number(part.inputs[1], 0) for part, _ in parts):
        return []
    return [part.inputs[0] for part, _ in parts]


def reduced_stack(node: Node, count: int) -> list[Edge]:
    """The parts of a stack of which the node is the sum or the mean, over the first dimension."""
    if node.type not in ("Mean", "Sum") or node.attrs.get("keep_dims"):
        return []
    return stacked(node.inputs[0][0], count) if _is_number(node.inputs[1], 0) else []


def _is_number(edge: Edge, number: int) -> bool:
    node = edge[0]
    if not node.definition.is_constant or node.attrs["value"].size != 1:
        return False
    return bool(node.attrs["value"].reshape(()) == number)
