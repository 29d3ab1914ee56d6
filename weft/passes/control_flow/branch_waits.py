"""Whether a conditional in whose branches something waits can be one node.

As one node it starts when all its inputs are there and gives all its results at once. Folding must
not change which waits can overlap: nothing in it that waits may begin before the last input is
there, and nothing that waits may need only some of its results. Where folding would change that,
the conditional stays as it is.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable

from weft.passes.client_graph import ClientGraph, Edge, Node
from weft.passes.control_flow.branch_contexts import Context, DecidedNodes, edge_context
from weft.passes.control_flow.structured_nodes import NotFoldable, kind, subgraphs


def check_waiting(
    graph: ClientGraph, groups: Iterable[list[Node]], parts: DecidedNodes,
    contexts: dict[Node, Context], variables: int = 0,
) -> None:  # fmt: skip
    """NotFoldable if one of some conditionals, each given by its nodes, must not become one node.

    `variables`: so many of the graph's inputs are what another iteration of a loop makes of them.
    """
    members = list(groups)
    waiting = [nodes for nodes in members if any(map(_may_wait, nodes))]
    if not waiting:
        return
    if any(kind(n) == "next_iteration" for n in graph.nodes):
        raise NotFoldable("a branch waits in a loop that stays")
    awaited = _Awaited(graph, contexts, variables)
    for nodes in waiting if variables else members:
        if not awaited.can_be_one(nodes, parts):
            raise NotFoldable(f"a branch waits: {nodes[0].name}")


def _may_wait(node: Node) -> bool:
    return node.definition.blocking or node.definition.transfer is not None


def _union(masks: Iterable[int]) -> int:
    return functools.reduce(operator.or_, masks, 0)


class _Awaited:
    """Sets, as bits, of what may have to be waited for: nodes, and variables of a loop.

    `possible`: what may come before each node. `certain`: what is over when it starts, in every
    case in which it is not left out itself. `behind`: the nodes that a variable may hang on, in
    earlier iterations.
    """

    def __init__(self, graph: ClientGraph, contexts: dict[Node, Context], variables: int) -> None:
        self.graph, self.contexts, self.variables = graph, contexts, variables
        waiting = [n for n in graph.nodes if _may_wait(n)]
        self.bits = {n: 1 << i for i, n in enumerate(waiting)}
        self.nodes_mask = (1 << len(waiting)) - 1
        given = graph.feeds[:variables]
        self.variable = {node: 1 << (len(waiting) + k) for k, (node, _) in enumerate(given)}
        self.on_side: dict[tuple[Edge, int], int] = {}
        for node, bit in self.bits.items():
            for side in contexts[node]:
                self.on_side[side] = self.on_side.get(side, 0) | bit
        self.possible: dict[Node, int] = {}
        self.certain: dict[Node, int] = {}
        for node in graph.nodes:
            self._visit(node)
        self.behind = self._behind()

    def _visit(self, node: Node) -> None:
        own = self.bits.get(node, 0) | self.variable.get(node, 0)
        self.possible[node] = own | _union(self.possible[s] for s in node.sources)
        before = _union(self.certain[c] for c in node.controls)
        data = [self._certain_of(edge) for edge in node.inputs]
        if kind(node) == "merge":
            before |= functools.reduce(operator.and_, data)
        else:
            before |= _union(data)
        self.certain[node] = own | before | self._left_out(self.contexts[node])

    def _certain_of(self, edge: Edge) -> int:
        return self.certain[edge[0]] | self._left_out(edge_context(edge, self.contexts))

    def _left_out(self, context: Context) -> int:
        """The waits that do not run at all where these sides are taken."""
        return _union(self.on_side.get((predicate, 1 - side), 0) for predicate, side in context)

    def _behind(self) -> dict[int, int]:
        made = [self.possible[node] for node, _ in self.graph.fetches[: self.variables]]
        found = {bit: made[k] & self.nodes_mask for k, bit in enumerate(self.variable.values())}
        for _ in found:
            for bit, mask in zip(found, made, strict=True):
                found[bit] |= _union(found[other] for other in found if mask & other)
        return found

    def can_be_one(self, nodes: list[Node], parts: DecidedNodes) -> bool:
        inside = [n for n in nodes if n not in parts.merges]
        if any(kind(n) not in (None, "trigger") and n not in parts.switches for n in inside):
            return False  # it would be run by the executor, which keeps a thread
        if any(n.definition.transfer is not None for n in inside):
            return False
        still = _union(bit for bit, mask in self.behind.items() if not mask)
        needed = _union(self.possible[n] for n in nodes) & ~still
        return self._starts_in_time(inside, needed) and self._ends_in_time(nodes, needed)

    def _starts_in_time(self, inside: list[Node], needed: int) -> bool:
        waiting = [n for n in inside if n in self.bits]
        outside = needed & ~_union(self.bits[n] for n in waiting)
        if all(not outside & ~self.certain[n] for n in waiting):
            return True
        # One operation may wait for itself in an earlier iteration: it would come later anyway.
        alone = len(waiting) == 1 and not subgraphs(waiting[0]) and not outside & self.nodes_mask
        hangs_on = _union(mask for bit, mask in self.behind.items() if bit & outside)
        return alone and hangs_on == self.bits[waiting[0]]

    def _ends_in_time(self, nodes: list[Node], needed: int) -> bool:
        group, after = set(nodes), set(nodes)
        for node in self.graph.nodes:
            if node in group or after.isdisjoint(node.sources):
                continue
            after.add(node)
            if node in self.bits and needed & ~self.certain[node]:
                return False
        if not self.variables:
            return True
        # The next iteration may have begun: each user of a result must need all of them.
        return all(not needed & ~mask for mask in self._results(group))

    def _results(self, group: set[Node]) -> list[int]:
        """The waits that are certain, at each use of a result of a conditional."""
        found = []
        for node in self.graph.nodes:
            if node not in group:
                found += [self._certain_of(e) for e in node.inputs if e[0] in group]
                found += [self.certain[c] for c in node.controls if c in group]
        return found + [self._certain_of(e) for e in self.graph.fetches if e[0] in group]
