"""The statistics of a graph by name scope: a tree."""

from __future__ import annotations

from typing import Any

from weft.lib.profiler.filters import accounted, matches, ordered, shown
from weft.lib.profiler.statistics import ROOT, SCOPE, Node


def tree_of(nodes: dict[str, Node]) -> Node:
    """The root, above every scope and every node that is in none."""
    root, known = Node(ROOT, types={SCOPE}), dict(nodes)
    for name in sorted(nodes):
        child = known[name]
        while "/" in child.name:
            outer = child.name.rpartition("/")[0]
            is_new = outer not in known
            parent = known.setdefault(outer, Node(outer, types={SCOPE}))
            parent.children.append(child)
            if not is_new:
                break
            child = parent
        else:
            if child not in root.children:
                root.children.append(child)
    return root


def profile_tree(root: Node, options: dict[str, Any], is_settled: bool = False) -> Node:
    """A tree, with totals and without what the options leave out.

    `is_settled`: which of its nodes count has been decided.
    """
    root.children = _account(root.children, options, is_settled)
    _add_up(root)
    starts = options.get("start_name_regexes", [])
    if list(starts) != [".*"]:
        root.children = _starting(root.children, starts)
    return _visible([root], options, 1, is_settled)[0]


def _account(nodes: list[Node], options: dict[str, Any], is_settled: bool) -> list[Node]:
    """Nodes that count, or that have such below them, with their totals."""
    found = []
    for node in nodes:
        node.children = _account(node.children, options, is_settled)
        node.accounted = is_settled or accounted(node, options)
        if node.accounted or node.children:
            _add_up(node)
            found.append(node)
    return found


def _add_up(node: Node) -> None:
    node.start_total()
    for child in node.children:
        node.add(child)


def _starting(nodes: list[Node], patterns: Any) -> list[Node]:
    found: list[Node] = []
    for node in nodes:
        inside = matches(node.name, patterns)
        found.extend([node] if inside else _starting(node.children, patterns))
    return found


def _visible(nodes: list[Node], options: dict[str, Any], depth: int, by_total: bool) -> list[Node]:
    """The nodes to show; the children of one that is not take its place."""
    found = []
    for node in nodes:
        below: list[Node] = []
        trimmed = matches(node.name, options.get("trim_name_regexes", []))
        if not trimmed and depth <= options.get("max_depth", 10):
            below = _visible(node.children, options, depth + 1, by_total)
        if not shown(node, options, depth, by_total):
            found.extend(below)
            continue
        node.children = ordered(below, options)
        if options.get("account_displayed_op_only", False):
            _add_up(node)
        found.append(node)
    return found
