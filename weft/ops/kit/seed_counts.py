"""Counts of operations, by which what follows gets its seeds, where TensorFlow makes others."""

from __future__ import annotations

from weft.graph.graph import get_default_graph


def count_further(number: int) -> None:
    """Counts so many operations more than there are; fewer if it is negative."""
    graph = get_default_graph()
    graph.count_nodes(graph._last_id, number)
