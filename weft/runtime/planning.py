"""Which plan a graph needs."""

from __future__ import annotations

from weft.passes.client_graph import ClientGraph
from weft.passes.pipeline import has_frames
from weft.runtime.dataflow_plan import DataflowPlan
from weft.runtime.plan import Plan
from weft.runtime.resources import ResourceStore
from weft.runtime.waiting_plan import WaitingPlan


def make_plan(
    graph: ClientGraph, store: ResourceStore, nested: bool = False, may_wait: bool = False
) -> Plan:
    """`may_wait`: whether it is run as one that may have to wait in any case."""
    if has_frames(graph) or any("_may_be_dead" in n.attrs for n in graph.nodes):
        return DataflowPlan(graph, store, nested)
    waits = may_wait or any(n.definition.blocking for n in graph.nodes)
    return (WaitingPlan if waits else Plan)(graph, store, nested)
