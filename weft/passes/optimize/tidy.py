"""What every graph goes through before patterns are looked for in it."""

from __future__ import annotations

from weft.passes.client_graph import ClientGraph
from weft.passes.optimize.cse import cse
from weft.passes.optimize.fold import fold
from weft.passes.optimize.simplify import simplify


def tidy(graph: ClientGraph, *, simple: bool, folded: bool, shared: bool) -> None:
    """Leaves out what does nothing, computes constants, computes nothing twice; in place."""
    if simple:
        simplify(graph)
    if folded:
        fold(graph)
    if shared:
        cse(graph)
    if simple:
        simplify(graph)
