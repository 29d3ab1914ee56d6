"""Identities and arithmetic that cost nothing to leave out.

Only rewrites that give the same bits are made: x*1 and x-0 are x, x+0 is not (for x = -0.0). And
only those that leave the order alone: an operand that goes is a constant that waits for nothing.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from weft.passes.client_graph import ClientGraph, Edge, Node


def simplify(graph: ClientGraph) -> None:
    """Leaves out nodes that give what they take, and waits for what has nothing to do; in place."""
    old: dict[Edge, Edge] = {}
    gone: dict[Node, list[Node]] = {}
    for node in graph.nodes:
        if old:
            node.inputs = [old.get(edge, edge) for edge in node.inputs]
        if node.controls:
            node.controls = [waited for waited in node.controls if not _is_idle(waited)]
        same = _same_as(node)
        if same is None:
            continue
        if node.controls or same[0].dtypes[same[1]]._is_ref_dtype:
            continue  # it also orders what comes after it; a read of a reference is an event
        if same[0].definition.control_flow is not None:
            continue  # what waits for this node waits for one side of a switch
        old[node, 0] = same
        gone[node] = [same[0]]
    if gone:
        targets = set(graph.targets)
        graph.nodes = [node for node in graph.nodes if node not in gone or node in targets]
        graph.replace(old, {n: to for n, to in gone.items() if n not in targets})


def _same_as(node: Node) -> Edge | None:
    """The edge whose value this node's only output always equals."""
    if node.definition.is_transparent:
        return node.inputs[0]
    rule = _RULES.get(node.type)
    return None if rule is None else rule(node)


def _is_idle(node: Node) -> bool:
    """Whether it is done as soon as a step begins."""
    return node.type == "NoOp" and not node.controls


def _constant(edge: Edge) -> np.ndarray | None:
    """The value of a constant that waits for nothing."""
    node, _ = edge
    return node.attrs["value"] if node.definition.is_constant and not node.controls else None


def _is_const(edge: Edge, value: float) -> bool:
    array = _constant(edge)
    return array is not None and _is_all(array, value)


def _is_all(array: np.ndarray, value: float) -> bool:
    return array.dtype.kind in "fiuVc" and array.size > 0 and bool(np.all(array == value))


def _keeps_shape(node: Node, i: int) -> bool:
    source, index = node.inputs[i]
    dims = source.dims[index]
    return dims is not None and None not in dims and dims == node.dims[0]


def _neutral(value: float, sides: tuple[int, ...]) -> Callable[[Node], Edge | None]:
    def rule(node: Node) -> Edge | None:
        for side in sides:
            if _is_const(node.inputs[side], value) and _keeps_shape(node, 1 - side):
                return node.inputs[1 - side]
        return None

    return rule


def _reshape(node: Node) -> Edge | None:
    known = _constant(node.inputs[1]) is not None and _keeps_shape(node, 0)
    return node.inputs[0] if known else None


def _transpose(node: Node) -> Edge | None:
    order = _constant(node.inputs[1])
    same = order is not None and np.array_equal(order, np.arange(order.size))
    return node.inputs[0] if same else None


def _cast(node: Node) -> Edge | None:
    source, i = node.inputs[0]
    return node.inputs[0] if source.dtypes[i] == node.dtypes[0] else None


def _double_negation(node: Node) -> Edge | None:
    inner = node.inputs[0][0]
    return inner.inputs[0] if inner.type == node.type and not inner.controls else None


def _array_size(node: Node) -> Edge | None:
    """A TensorArray that cannot grow keeps the size it was made with."""
    maker = node.inputs[0][0]
    if maker.type == "TensorArrayV3" and not (maker.attrs["dynamic_size"] or maker.controls):
        return maker.inputs[0]
    return None


def _over_no_axis(node: Node) -> Edge | None:
    axes = _constant(node.inputs[1])
    return node.inputs[0] if axes is not None and axes.size == 0 else None


_RULES: dict[str, Callable[[Node], Edge | None]] = {
    "Mul": _neutral(1, (0, 1)),
    "RealDiv": _neutral(1, (1,)),
    "Sub": _neutral(0, (1,)),
    "Sum": _over_no_axis,
    "Reshape": _reshape,
    "Transpose": _transpose,
    "Cast": _cast,
    "Neg": _double_negation,
    "LogicalNot": _double_negation,
    "TensorArraySizeV3": _array_size,
}
