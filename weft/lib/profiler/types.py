"""The statistics of a graph by type of operation: a list, the most expensive first."""

from __future__ import annotations

from typing import Any

from weft.lib.profiler.filters import accounted, matches, ordered, shown
from weft.lib.profiler.statistics import ROOT, Node


def profile_types(nodes: dict[str, Node], options: dict[str, Any]) -> tuple[Node, list[Node]]:
    """The sum, and the types to show; the total of a type includes those after it."""
    groups = ordered(_grouped(nodes, options), options)
    _add_up(groups)
    first = _first(groups, options.get("start_name_regexes", []))
    found: list[Node] = []
    for depth, group in enumerate(groups[first:]):
        if matches(group.name, options.get("trim_name_regexes", [])):
            break
        if shown(group, options, depth, by_type=True):
            found.append(group)
    if options.get("account_displayed_op_only", False):
        _add_up(found)
        groups = found
    root = Node(ROOT)
    if groups:
        root.add(groups[0])
    return root, found


def _grouped(nodes: dict[str, Node], options: dict[str, Any]) -> list[Node]:
    groups: dict[str, Node] = {}
    for node in nodes.values():
        if not accounted(node, options):
            continue
        node.accounted = True
        node.start_total()
        group = groups.setdefault(node.type, Node(node.type, node.type, accounted=True))
        group.types |= node.types
        group.members.append(node)
        for name, value in node.own.items():
            group.own[name] += value
    for group in groups.values():
        group.start_total()
    return list(groups.values())


def _add_up(groups: list[Node]) -> None:
    after: Node | None = None
    for group in reversed(groups):
        group.start_total()
        if after is not None:
            group.add(after)
        after = group


def _first(groups: list[Node], patterns: Any) -> int:
    if list(patterns) in ([], [".*"]):
        return 0
    return next((i for i, g in enumerate(groups) if matches(g.name, patterns)), len(groups))
