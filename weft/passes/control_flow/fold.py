"""Switch, Merge, Enter, Exit ... -> `_While` and `_If` nodes that hold whole subgraphs.

TensorFlow's loops and conditionals have a fixed form, and so have the gradients of them. Where a
graph has that form it is folded into structured nodes, innermost first, which run faster and can be
compiled whole. What does not fit, or has to wait in the middle, stays as it is (fold_each.py): then
the executor runs its nodes.
"""

from __future__ import annotations

from weft.passes.client_graph import ClientGraph, topological
from weft.passes.control_flow.branch_contexts import Context, contexts_of, predicate_of
from weft.passes.control_flow.fold_branches import fold_branches, fold_predicate
from weft.passes.control_flow.fold_loops import fold_loop, fold_loops, frames_of
from weft.passes.control_flow.structured_nodes import (
    IF,
    WHILE,
    NotFoldable,
    has_effect,
    is_settled,
    kind,
    origin_of,
    subgraphs,
    waits,
)
from weft.passes.subgraph import clone, copied, replace_by

# What others need of folding.
__all__ = [
    "IF",
    "WHILE",
    "Context",
    "NotFoldable",
    "clone",
    "contexts_of",
    "copied",
    "fold_control_flow",
    "fold_loop",
    "fold_predicate",
    "frames_of",
    "has_effect",
    "is_settled",
    "origin_of",
    "predicate_of",
    "replace_by",
    "subgraphs",
    "topological",
    "waits",
]


def fold_control_flow(graph: ClientGraph) -> bool:
    """Folds the control flow of `graph` in place; False if some of it resists."""
    if not any(kind(n) for n in graph.nodes):
        return True
    if any(waits(n) for n in graph.nodes) or not _fold_all(graph):
        from weft.passes.control_flow.fold_each import fold_what_fits

        fold_what_fits(graph)
    return not any(kind(n) not in (None, "trigger") for n in graph.nodes)


def _fold_all(graph: ClientGraph) -> bool:
    copy = copied(graph)
    try:
        fold_loops(copy)
        fold_branches(copy)
    except NotFoldable:
        return False
    replace_by(graph, copy)
    return True
