"""The nodes that an answer shows, and their order."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from weft.core import errors
from weft.lib.profiler.statistics import ROOT, Node

# Option -> what must be at least that much; of a node and all below it for time and memory.
_LEAST_TOTAL = {
    "min_bytes": "requested_bytes",
    "min_peak_bytes": "peak_bytes",
    "min_residual_bytes": "residual_bytes",
    "min_output_bytes": "output_bytes",
    "min_micros": "exec_micros",
    "min_accelerator_micros": "accelerator_exec_micros",
    "min_cpu_micros": "cpu_exec_micros",
}
_LEAST_OWN = {"min_params": "parameters", "min_float_ops": "float_ops"}
_ORDERS = {
    "bytes": "requested_bytes",
    "peak_bytes": "peak_bytes",
    "residual_bytes": "residual_bytes",
    "output_bytes": "output_bytes",
    "micros": "exec_micros",
    "accelerator_micros": "accelerator_exec_micros",
    "cpu_micros": "cpu_exec_micros",
    "params": "parameters",
    "float_ops": "float_ops",
    "occurrence": "run_count",
}


def matches(name: str, patterns: Iterable[str]) -> bool:
    return any(re.fullmatch(pattern, name) for pattern in patterns)


def accounted(node: Node, options: dict[str, Any]) -> bool:
    """Whether what the node itself costs is asked for."""
    patterns = options.get("account_type_regexes", [])
    return list(patterns) == [".*"] or any(matches(kind, patterns) for kind in node.types)


def shown(node: Node, options: dict[str, Any], depth: int, by_type: bool = False) -> bool:
    if node.name == ROOT:
        return True
    least = {name: node.total[of] for name, of in _LEAST_TOTAL.items()}
    least |= {name: (node.total if by_type else node.own)[of] for name, of in _LEAST_OWN.items()}
    if not by_type:
        least["min_occurrence"] = node.own["run_count"]
    return (
        all(value >= options.get(name, 0) for name, value in least.items())
        and depth <= options.get("max_depth", 10)
        and matches(node.name, options.get("show_name_regexes", []))
        and not matches(node.name, options.get("hide_name_regexes", []))
    )


def ordered(nodes: list[Node], options: dict[str, Any]) -> list[Node]:
    """By name, or the most expensive first."""
    order = options.get("order_by", "name")
    by_name = sorted(nodes, key=lambda node: node.name)
    if order == "name" or not nodes:
        return by_name
    if order not in _ORDERS:
        raise errors.InvalidArgumentError(None, None, f"unknown order_by: {order}")
    if order == "occurrence" and nodes[0].members:  # types: how many nodes there are
        return sorted(by_name, key=lambda node: -len(node.members))
    return sorted(by_name, key=lambda node: -node.total[_ORDERS[order]])
