"""Common subexpressions: pure nodes with the same type, attributes and inputs become one."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.passes.client_graph import ClientGraph, Edge, Node

_MAX_CONST = 1 << 10


def cse(graph: ClientGraph) -> None:
    seen: dict[Any, Node] = {}
    old: dict[Edge, Edge] = {}
    gone: dict[Node, list[Node]] = {}
    for node in graph.nodes:
        if old:
            node.inputs = [old.get(edge, edge) for edge in node.inputs]
        key = _key(node)
        if key is None:
            continue
        first = seen.setdefault(key, node)
        if first is not node:
            for i in range(len(node.dtypes)):
                old[node, i] = first, i
            gone[node] = [first]
    if gone:
        graph.nodes = [node for node in graph.nodes if node not in gone]
        graph.replace(old, gone)


def _key(node: Node) -> Any:
    kind = node.definition
    if (
        kind.stateful
        or node.definition.is_argument
        or not (kind.traceable or kind.runs_on == "host")
    ):
        return None
    if kind.takes_ctx or kind.has_ref_input or any(d._is_ref_dtype for d in node.dtypes):
        return None
    if any(n.dtypes[i]._is_ref_dtype for n, i in node.inputs):
        return None  # what a reference holds depends on when it is read
    inputs = [(id(n), i) for n, i in node.inputs]
    if kind.commutative:
        inputs.sort()
    attrs = _attrs_key(node.attrs)
    if attrs is None:
        return None
    return kind.name, tuple(inputs), attrs, frozenset(map(id, node.controls)), node.device


def _attrs_key(attrs: dict[str, Any]) -> Any:
    items = []
    for name in sorted(attrs):
        if name.startswith("_"):
            continue
        value = attrs[name]
        if isinstance(value, np.ndarray):
            if value.size > _MAX_CONST:
                return None
            content: Any = tuple(value.ravel()) if value.dtype == object else value.tobytes()
            value = (value.dtype.str, value.shape, content)
        elif type(value) is list:
            value = tuple(value)
        items.append((name, value))
    try:
        hash(key := tuple(items))
    except TypeError:
        return None
    return key
