"""Conditionals of TensorFlow's form, spread out as Switch and Merge -> `_If` nodes.

From the inside out: those that lie deepest are folded together, then contexts are looked up again,
so that the time goes with the size of the graph and the depth of its nesting.
"""

from __future__ import annotations

from weft.passes.client_graph import ClientGraph, Edge, Node
from weft.passes.control_flow.branch_contexts import Context, DecidedNodes, contexts_of, innermost
from weft.passes.control_flow.branch_levels import Group, branch_groups, can_be_ordered, release
from weft.passes.control_flow.branch_waits import check_waiting
from weft.passes.control_flow.if_node import fold_group
from weft.passes.control_flow.structured_nodes import NotFoldable, kind
from weft.passes.place.contraction import Contraction


def fold_branches(graph: ClientGraph, variables: int = 0) -> None:
    """Replaces all conditionals. `variables`: the first inputs of the graph, and its first fetches,
    are the variables of a loop."""
    while switches := _switches(graph):
        contexts = contexts_of(graph)
        _fold_predicates(graph, innermost(switches, contexts), contexts, variables)
        if len(_switches(graph)) >= len(switches):
            raise NotFoldable(f"switch {switches[0].name} stays")
    for node in graph.nodes:
        if node.definition.is_constant:
            node.controls = [c for c in node.controls if not _is_pivot(c)]


def fold_predicate(graph: ClientGraph, predicate: Edge, contexts: dict[Node, Context]) -> None:
    """Replaces everything decided by `predicate` by `_If` nodes, one after another."""
    _fold_predicates(graph, [predicate], contexts)


def _fold_predicates(
    graph: ClientGraph, predicates: list[Edge], contexts: dict[Node, Context], variables: int = 0
) -> None:
    """`predicates`: no node is in branches of two of them."""
    parts = DecidedNodes(predicates)
    for node in graph.nodes:
        parts.sort_in(node, contexts)
    group_of = branch_groups(graph, parts)
    release(graph, parts, group_of)
    if len(predicates) > 1 and not can_be_ordered(graph, group_of):
        return _fold_predicates(graph, predicates[:1], contexts, variables)
    members: dict[Group, list[Node]] = {}
    for node, group in group_of.items():
        members.setdefault(group, []).append(node)
    check_waiting(graph, members.values(), parts, contexts, variables)
    rank = {predicate: i for i, predicate in enumerate(predicates)}
    contraction = Contraction(graph)
    for predicate, level in sorted(members, key=lambda group: (rank[group[0]], group[1])):
        fold_group(
            contraction, contraction.current(predicate), level, members[predicate, level], parts
        )
    contraction.finish()


def _switches(graph: ClientGraph) -> list[Node]:
    return [n for n in graph.nodes if kind(n) == "switch"]


def _is_pivot(node: Node) -> bool:
    """Whether a node only ties others to the branch or frame that is now a graph of its own."""
    return node.definition.is_argument or (
        node.definition.is_identity and node.inputs[0][0].definition.is_argument
    )
