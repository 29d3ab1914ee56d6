"""Results of programs on an accelerator that nothing there reads: fetched, or sent to a host.

A program can leave them in memory of the host when it ends. Asking for them afterwards would take
another journey there and back, several times as long as a short step.
"""

from __future__ import annotations

from weft.core import device_name
from weft.passes.client_graph import Node
from weft.passes.devices import HOST_TYPE
from weft.passes.regions.units import Unit


def mark_for_host(units: list[Unit]) -> None:
    """Notes of each region of a step which of its outputs only hosts read."""
    home = {node: unit for unit in units for node in unit.nodes}
    read_here = {
        edge
        for node, unit in home.items()
        for edge in node.inputs
        if home.get(edge[0]) is not unit and not _sends_to_host(node)
    }
    for unit in units:
        unit.for_host = set(unit.outputs) - read_here


def _sends_to_host(node: Node) -> bool:
    if node.definition.transfer != "send":
        return False
    return device_name.parse(node.attrs["recv_device"]).device_type == HOST_TYPE
