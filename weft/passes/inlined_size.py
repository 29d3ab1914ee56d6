"""The size of a graph after calls are replaced, counted before any is.

27 functions of two nodes, each calling the one before twice, are 134 million nodes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from weft.core import flags
from weft.core.errors import ResourceExhaustedError
from weft.graph.op_def import FuncRef
from weft.passes.client_graph import ClientGraph


def check_inlined_size(graph: ClientGraph, library: dict[str, Any]) -> None:
    """ResourceExhaustedError if the graph would have too many nodes."""
    most = flags.MAX_NODES.value
    sizes: dict[str, int] = {}
    total = len(graph.nodes)
    for node in graph.nodes:
        for name in filter(library.__contains__, _called(node.type, node.attrs)):
            total += _size(name, library, sizes, most)
        if total > most:
            raise ResourceExhaustedError(
                None, node.op, f"The functions that the step calls have more than {most} nodes when"
                f" they are written out. {flags.MAX_NODES.name} sets the limit",
            )  # fmt: skip


def _called(kind: str, attrs: dict[str, Any]) -> Iterator[str]:
    yield kind
    for value in attrs.values():
        for each in value if isinstance(value, list) else (value,):
            if isinstance(each, FuncRef):
                yield each.name


def _size(name: str, library: dict[str, Any], sizes: dict[str, int], most: int) -> int:
    """Nodes of a function with those of all it calls, or a number above `most`.

    A function that calls itself counts once: that is an error which others report.
    """
    stack = [name]
    while stack:
        current = stack[-1]
        calls: Counter[str] = library[current].calls
        new = [callee for callee in calls if callee in library and callee not in sizes]
        if current not in sizes and new:
            sizes[current] = 0  # while it is being counted
            stack += new
            continue
        stack.pop()
        if not sizes.get(current):
            inner = sum(count * sizes.get(callee, 0) for callee, count in calls.items())
            sizes[current] = min(library[current].node_count + inner, most + 1)
    return sizes[name]
