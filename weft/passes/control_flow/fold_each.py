"""Loops and conditionals that have TensorFlow's form, in a graph where not all of them have it.

Each is folded by itself if it fits. Those with something in them that waits (for a queue) become
nodes that wait. Nothing is folded that would then start or end too late for others that wait: the
executor runs it node by node.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable

from weft.passes.client_graph import ClientGraph, Edge, Node
from weft.passes.control_flow.fold import (
    Context,
    NotFoldable,
    contexts_of,
    copied,
    fold_loop,
    fold_predicate,
    frames_of,
    predicate_of,
    replace_by,
    waits,
)


def fold_what_fits(graph: ClientGraph) -> None:
    """Folds loops, innermost first, then conditionals, from the inside out."""
    _fold_loops(graph)
    refused: set[Edge] = set()
    while (predicate := _next_predicate(graph, refused)) is not None:
        # Folding one takes several steps, of which any may find that it cannot be done.
        copy = copied(graph)
        twins = dict(zip(graph.nodes, copy.nodes, strict=True))
        try:
            _fold_conditional(copy, (twins[predicate[0]], predicate[1]))
        except NotFoldable:
            refused.add(predicate)
        else:
            back = {new: old for old, new in twins.items()}
            refused = {(twins[n], i) for n, i in refused if twins[n] in back}
            replace_by(graph, copy)


def _fold_loops(graph: ClientGraph) -> None:
    graph_copy = copied(graph)
    try:
        frames = frames_of(graph_copy)
    except NotFoldable:
        return
    left: set[str] = set()  # loops with one inside that stays
    for frame in frames:
        assert frame.parent is not None
        try:
            inside = set(frame.nodes)
            alone = _stands_alone(graph_copy, inside, True)
            if frame.name in left or not alone or _follows_itself(graph_copy, inside):
                raise NotFoldable(frame.name)
            frame.parent.nodes.append(fold_loop(graph_copy, frame))
        except NotFoldable:
            left.add(frame.parent.name)
    replace_by(graph, graph_copy)


def _next_predicate(graph: ClientGraph, refused: set[Edge]) -> Edge | None:
    contexts = contexts_of(graph)
    switches = [
        n
        for n in graph.nodes
        if n.definition.control_flow == "switch"
        and predicate_of(n) not in refused
        and predicate_of(n)[0].definition.control_flow != "loop_cond"
    ]
    deepest = max(switches, key=lambda s: len(contexts[s]), default=None)
    return None if deepest is None else predicate_of(deepest)


def _fold_conditional(graph: ClientGraph, predicate: Edge) -> None:
    contexts: dict[Node, Context] = contexts_of(graph)
    inside = {n for n in graph.nodes if any(p == predicate for p, _ in contexts[n])}
    loops = ("enter", "exit", "next_iteration", "loop_cond")
    if any(n.definition.control_flow in loops for n in inside):
        raise NotFoldable("a loop that stays is in a branch")
    before = sum(n.definition.control_flow == "switch" for n in graph.nodes)
    switches = {n for n in graph.nodes if n.definition.control_flow == "switch"}
    own = {n for n in switches if predicate_of(n) == predicate}
    if any(waits(n) for n in inside):
        alone = inside.isdisjoint(_from_branches_elsewhere(graph))  # folding looks at the rest
    else:
        alone = _stands_alone(graph, inside | own)
    if not alone:
        raise NotFoldable("a branch would start too late, or keep others waiting")
    fold_predicate(graph, predicate, contexts)
    if sum(n.definition.control_flow == "switch" for n in graph.nodes) >= before:
        raise NotFoldable(f"a switch on {predicate[0].name} stays")


def _stands_alone(graph: ClientGraph, inside: set[Node], may_wait: bool = False) -> bool:
    """Whether nodes can run as one: nothing in them waits, nor is waited for by what they need.

    As one node, they start when all their inputs are there, and give all their results at once.
    That must not keep an operation waiting that another one, on which some of the inputs hang, may
    wait for. `may_wait`: it will do if they wait themselves, for others than each other.
    """
    if any(waits(n) and not (may_wait and n.definition.transfer is None) for n in inside):
        return False
    if inside & _from_branches_elsewhere(graph):
        return False  # what they use is there for one side only
    if not any(waits(n) for n in graph.nodes):
        return True
    return not _starts_too_late(graph, inside) and not _ends_too_late(graph, inside)


def _follows_itself(graph: ClientGraph, inside: set[Node]) -> bool:
    """Whether some of the nodes need what follows from others of them by way of the outside.

    So it is with a loop whose gradient is taken under control dependencies on what comes after it.
    """
    after: set[Node] = set()
    for node in graph.nodes:
        if node in inside:
            if not after.isdisjoint(node.sources):
                return True
        elif not inside.isdisjoint(node.sources) or not after.isdisjoint(node.sources):
            after.add(node)
    return False


def _starts_too_late(graph: ClientGraph, inside: set[Node]) -> bool:
    """Whether one of them that waits could begin before all that the others need is there."""
    waiting = [n for n in inside if waits(n)]
    if not waiting:
        return False
    awaited = _awaited(graph, in_first_iteration=True)
    bits = _bits(graph)
    own = _union(bits[n] for n in waiting)
    needed = _union(awaited[n] for n in inside) & ~own
    return any(awaited[n] & needed != needed for n in waiting)


def _ends_too_late(graph: ClientGraph, inside: set[Node]) -> bool:
    """Whether something after them that waits needs only some of their results."""
    awaited = _awaited(graph)
    needed = _union(awaited[n] for n in inside)
    after = set(inside)
    for node in graph.nodes:
        if any(source in after for source in node.sources):
            after.add(node)
            late = waits(node) and node not in inside
            if late and awaited[node] & needed != needed:
                return True
    return False


def _from_branches_elsewhere(graph: ClientGraph) -> set[Node]:
    """Nodes in branches that another device may not have taken, and all nodes that need them."""
    found: set[Node] = set()
    for node in graph.nodes:
        merges = node.definition.control_flow == "merge"
        needs = not merges and not found.isdisjoint(node.sources)
        if needs or "_may_be_dead" in node.attrs:
            found.add(node)
    return found


def _awaited(graph: ClientGraph, in_first_iteration: bool = False) -> dict[Node, int]:
    """The waiting nodes that each node comes after, itself among them, as a set of bits."""
    awaited = _bits(graph)
    changed = True
    while changed:  # loops close: what comes later in the list may come before
        changed = False
        for node in graph.nodes:
            before = node.sources
            if in_first_iteration:
                before = [s for s in before if s.definition.control_flow != "next_iteration"]
            mask = awaited[node] | _union(awaited[source] for source in before)
            changed = changed or mask != awaited[node]
            awaited[node] = mask
    return awaited


def _bits(graph: ClientGraph) -> dict[Node, int]:
    """A bit for each node that waits."""
    waiting = [n for n in graph.nodes if waits(n)]
    return dict.fromkeys(graph.nodes, 0) | {n: 1 << i for i, n in enumerate(waiting)}


def _union(masks: Iterable[int]) -> int:
    return functools.reduce(operator.or_, masks, 0)
