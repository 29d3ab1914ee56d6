"""The statistics of a graph by line of Python: a tree of the calls that made its nodes.

A node of a gradient counts for the line that made the node it is the gradient of, apart from it.
"""

from __future__ import annotations

import os
import re
from typing import Any

from weft.lib.profiler.filters import accounted
from weft.lib.profiler.statistics import ROOT, Node

GRADIENT = re.compile(r"gradients/(.+?)_grad/")
SUFFIX = " (gradient)"


def tree_of_lines(graph: Any, nodes: dict[str, Node], options: dict[str, Any]) -> Node:
    """The root; below it a node for each frame, named `file.py:line:function`."""
    ops = {op.name: op for op in graph.get_operations()}
    root = Node(ROOT, accounted=False)
    known: dict[tuple[str, ...], Node] = {(): root}
    for name, node in nodes.items():
        path = _path(name, ops)
        if not path or not accounted(node, options):
            continue
        leaf = _grown(path, known)
        node.accounted = True
        node.start_total()
        leaf.members.append(node)
        leaf.types |= node.types
        for statistic, value in node.own.items():
            leaf.own[statistic] += value
    return root


def _path(name: str, ops: dict[str, Any]) -> tuple[str, ...]:
    """The frames that made a node, outermost first."""
    found = GRADIENT.search(name)
    forward = ops.get(found[1]) if found is not None else None
    op = forward or ops.get(name)
    suffix = SUFFIX if forward is not None else ""
    frames = op.traceback if op is not None else ()
    return tuple(f"{os.path.basename(f[0])}:{f[1]}:{f[2]}{suffix}" for f in frames)


def _grown(path: tuple[str, ...], known: dict[tuple[str, ...], Node]) -> Node:
    """The node of a path, with all that are above it."""
    if path not in known:
        known[path] = Node(path[-1], accounted=True)
        _grown(path[:-1], known).children.append(known[path])
    return known[path]


def tree_of_inputs(graph: Any, nodes: dict[str, Node]) -> Node:
    """The root; below it the nodes that nothing uses, and below each node its inputs.

    A node that several use is below the first of them alone.
    """
    inputs = {op.name: list(dict.fromkeys(t.op.name for t in op.inputs)) for op in graph._ops}
    used = {name for names in inputs.values() for name in names}
    root, seen = Node(ROOT), set[str]()
    for name in sorted(nodes.keys() - used):
        stack = [(root, name)]
        while stack:
            parent, each = stack.pop()
            if each in seen or each not in nodes:
                continue
            seen.add(each)
            parent.children.append(nodes[each])
            stack += [(nodes[each], below) for below in reversed(inputs.get(each, []))]
    return root
