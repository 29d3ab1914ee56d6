"""A whole loop of host nodes as one generated Python function.

What does not change from one iteration to the next is computed once, before the second: a loop that
never runs must not fail because of its body.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.passes.client_graph import Node
from weft.runtime.interpret import HostNode, located
from weft.runtime.resources import ResourceStore
from weft.runtime.straight import FILE, Writer, node_of

Loop = Callable[[Sequence[Any], Sequence[Any], list[int]], list[Any]]


def straight_loop(condition: Any, body: Any, variables: int, store: ResourceStore) -> Loop:
    """A loop over two plans: (state, fixed inputs, count) -> final state.

    `count` is a one-element list that holds the number of finished iterations, also on failure.
    """
    source = _Source(condition, body, variables, store)
    names = source.writer.names
    exec(compile("\n".join(source.lines), FILE, "exec"), names)
    inner = names.pop("loop")

    def loop(state: Sequence[Any], fixed: Sequence[Any], count: list[int]) -> list[Any]:
        try:
            final: list[Any] = inner(map(to_host, state), map(to_host, fixed), count)
            return final
        except Exception as error:
            node = node_of(error, source.where)
            raise (located(error, node) if node is not None else error) from error

    return loop


def to_host(value: Any) -> Any:
    """Arrays on a device come to the host; numbers become NumPy's scalars, which add up faster."""
    if type(value).__module__.startswith("jax"):
        value = np.asarray(value)
    is_number = isinstance(value, np.ndarray) and not value.ndim and value.dtype != object
    return value[()] if is_number else value


class _Source:
    """The lines of the function, and which node each line that calls a kernel runs."""

    def __init__(self, condition: Any, body: Any, variables: int, store: ResourceStore) -> None:
        self.writer = Writer(store, hold_lock=False, on_host=True)
        self.lines: list[str] = []
        self.where: dict[int, Node] = {}
        fixed = _unchanged(body, variables)
        inputs = [f"x{i}" for i in range(len(body.feed_slots))]
        state = ", ".join(inputs[:variables])
        self.add(0, "def loop(state, fixed, count):")
        self.add(1, f"{''.join(x + ', ' for x in inputs)} = *state, *fixed")
        self.add(1, "n = 0")
        self.add(1, "with errstate(all='ignore'):")
        self.add(2, "try:")
        self.part("c", condition, inputs)
        once, again = _split(condition, fixed)
        self.nodes(3, once + again)
        leave = f"if not {self.writer.slot(condition.fetch_slots[0])}: return [{state}]"
        self.add(3, leave)
        self.part("b", body, inputs)
        body_once, body_again = _split(body, fixed)
        self.nodes(3, body_once)
        self.add(3, "while True:")
        self.nodes(4, body_again)
        if variables:
            results = ", ".join(self.writer.slot(i) for i in body.fetch_slots)
            self.add(4, f"{state} = {results}")
        self.add(4, "n += 1")
        self.part("c", condition, inputs)
        self.nodes(4, again)
        self.add(4, leave)
        self.add(2, "finally: count[0] = n")

    def add(self, depth: int, line: str) -> None:
        self.lines.append("    " * depth + line)

    def part(self, prefix: str, plan: Any, inputs: list[str]) -> None:
        """From here on lines are those of `plan`: its inputs are the loop's, the rest its own."""
        self.writer.prefix = prefix
        self.writer.called = dict(zip(plan.feed_slots, inputs, strict=True))
        for slot, value in enumerate(plan.template):
            if value is not None:
                self.writer.names[self.writer.slot(slot)] = to_host(value)

    def nodes(self, depth: int, items: list[HostNode]) -> None:
        for item in items:
            self.add(depth, self.writer.line(item))
            self.where[len(self.lines)] = item.node


def _unchanged(body: Any, variables: int) -> set[int]:
    """Positions of inputs that are the same in every iteration."""
    graph = body.graph
    kept = {i for i in range(variables) if graph.fetches[i] == graph.feeds[i]}
    return kept | set(range(variables, len(graph.feeds)))


def _split(plan: Any, fixed: set[int]) -> tuple[list[HostNode], list[HostNode]]:
    """The nodes that need to run only once, and the others."""
    same = {node for i, (node, _) in enumerate(plan.graph.feeds) if i in fixed}
    moving = {*plan.nodes, *(node for node, _ in plan.graph.feeds)}
    once: list[HostNode] = []
    again: list[HostNode] = []
    for node, item in plan.nodes.items():
        sources = {source for source, _ in node.inputs} & moving
        after = {c for c in node.controls if c in plan.nodes}
        fixed_alone = item.kind == "pure" and not item.derefs and not _has_effect(node)
        if fixed_alone and sources | after <= same:
            same.add(node)
            once.append(item)
        else:
            again.append(item)
    return once, again


def _has_effect(node: Node) -> bool:
    return node.definition.stateful or bool(node.attrs.get("effect"))
