"""In which order the conditionals on a predicate come.

A gradient decides by the predicate of its forward pass, and needs its results first: so what a
predicate decides is not one conditional but several, one after another. They are counted for many
predicates in one walk over the graph.
"""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

from weft.passes.client_graph import ClientGraph, Edge, Node
from weft.passes.control_flow.branch_contexts import DecidedNodes

# How many conditionals on each predicate come before a node; predicates with none are left out.
# Never changed once made: most nodes share that of a source.
Counts = dict[Edge, int]


# One conditional: its predicate, and which of the successive ones on that it is.
Group = tuple[Edge, int]


def branch_groups(graph: ClientGraph, parts: DecidedNodes) -> dict[Node, Group]:
    """The conditional that each node belongs to, in the order of the graph."""
    counts = _counts(graph, parts)
    level = {node: counts[node].get(predicate, 0) for node, predicate in parts.home.items()}
    _move_to_users(graph, parts, counts, level)
    return {node: (predicate, level[node]) for node, predicate in parts.home.items()}


def _counts(graph: ClientGraph, parts: DecidedNodes) -> dict[Node, Counts]:
    counts: dict[Node, Counts] = {}
    arithmetic = _Arithmetic()
    for node in graph.nodes:
        found = arithmetic.none
        for source in node.sources:
            before = counts.get(source, arithmetic.none)
            if _is_over(source, node, parts):
                before = arithmetic.one_more(before, parts.home[source])
            found = arithmetic.larger(found, before)
        counts[node] = found
    return counts


def _is_over(source: Node, node: Node, parts: DecidedNodes) -> bool:
    """Whether the conditional that `source` belongs to is over when its value gets to `node`."""
    if source in parts.merges:
        return True
    inside = source in parts.branch and source not in parts.switches
    return inside and parts.home.get(node) != parts.home[source]


class _Arithmetic:
    """Operations on counts. They remember, by identity, since most operands come again."""

    def __init__(self) -> None:
        self.none: Counts = {}
        self._larger: dict[tuple[int, int], Counts] = {}
        self._one_more: dict[tuple[int, Edge], Counts] = {}
        self._kept: list[Counts] = []  # an `id` must not be given to another one

    def larger(self, a: Counts, b: Counts) -> Counts:
        """The larger of two counts, for each predicate."""
        if a is b or not b:
            return a
        if not a:
            return b
        key = id(a), id(b)
        if key not in self._larger:
            both = {**a, **{p: n for p, n in b.items() if n > a.get(p, 0)}}
            self._larger[key] = a if both == a else b if both == b else both
            self._kept += (a, b)
        return self._larger[key]

    def one_more(self, a: Counts, predicate: Edge) -> Counts:
        key = id(a), predicate
        if key not in self._one_more:
            self._one_more[key] = {**a, predicate: a.get(predicate, 0) + 1}
            self._kept.append(a)
        return self._one_more[key]


def _move_to_users(
    graph: ClientGraph, parts: DecidedNodes, counts: dict[Node, Counts], level: dict[Node, int]
) -> None:
    """A switch goes to the first conditional that uses it, so that no earlier one hands it on.

    Most hand on variables: each conditional then reads its own, when it runs.
    """
    first: dict[Node, int] = {}
    for node in reversed(graph.nodes):
        if node in parts.switches and node in first:
            level[node] = max(level[node], first[node])
        for source in node.sources:
            if source in parts.switches:
                predicate = parts.home[source]
                own = parts.home.get(node) == predicate
                use = level[node] if own else counts[node].get(predicate, 0)
                first[source] = min(first.get(source, use), use)


def release(graph: ClientGraph, parts: DecidedNodes, group_of: dict[Node, Group]) -> None:
    """A switch is done as soon as it has its inputs, whichever branch is taken: what waits for it
    from outside of its conditional waits for these."""
    for node in graph.nodes:
        if node.controls and not parts.switches.isdisjoint(node.controls):
            found: dict[Node, None] = {}
            stack = list(reversed(node.controls))
            while stack:
                source = stack.pop()
                if source in parts.switches and group_of[source] != group_of.get(node):
                    stack += source.sources
                else:
                    found[source] = None
            node.controls = list(found)


def can_be_ordered(graph: ClientGraph, group_of: dict[Node, Group]) -> bool:
    """Whether each group can be one node: no two of them wait for each other."""
    before: dict[Node | Group, set[Node | Group]] = {}
    for node in graph.nodes:
        mine: Node | Group = group_of.get(node, node)
        theirs = {group_of.get(source, source) for source in node.sources}
        before.setdefault(mine, set()).update(theirs - {mine})
    try:
        TopologicalSorter(before).prepare()
    except CycleError:
        return False
    return True
