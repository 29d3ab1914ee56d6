"""Checks that a dump and its graph belong together: no tensor comes before what it is made of."""

from __future__ import annotations

from collections.abc import Sequence

from weft.lib.debug.datum import DebugTensorDatum
from weft.lib.debug.graphs import DebugGraph
from weft.lib.debug.names import parse_node_or_tensor_name

_Output = tuple[str, int]


def check_causality(data: Sequence[DebugTensorDatum], graph: DebugGraph, device: str) -> None:
    """ValueError for a node that the graph does not have, or a tensor before one of its inputs."""
    for datum in data:
        if datum.node_name not in graph.node_inputs:
            raise ValueError(
                f"Node name '{datum.node_name}' is not found in partition graphs of device"
                f" {device}."
            )
    first: dict[_Output, int] = {}
    for datum in data:
        first.setdefault((datum.node_name, datum.output_slot), datum.timestamp)
    for name, slot in first:
        needed = _needed(name, graph, first)
        when = first[name, slot]
        late = [source for source in needed if first[source] > when]
        # A Merge needs only one of its inputs.
        if late and (graph.node_op_types[name] != "Merge" or len(late) == len(needed)):
            raise ValueError(
                f"Causality violated in timing relations of debug dumps: {name} ({when}): these"
                f" input(s) are not satisfied: {late!r}"
            )


def _needed(name: str, graph: DebugGraph, dumped: dict[_Output, int]) -> list[_Output]:
    """The dumped inputs of a node; what goes round a loop comes later."""
    found = []
    for text in graph.node_inputs[name]:
        source, slot = parse_node_or_tensor_name(text)
        around = graph.node_op_types.get(source) in ("Enter", "NextIteration")
        if not around and (source, slot or 0) in dumped:
            found.append((source, slot or 0))
    return found
