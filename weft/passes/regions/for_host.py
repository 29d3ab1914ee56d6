"""Which values go between a host and the programs on an accelerator.

A program can leave results that only a host reads in memory of the host when it ends. Asking for
them afterwards would take another journey there and back, several times as long as a short step. It
can also find there what a user feeds, or a node of the host has made.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from weft.core import device_name
from weft.ops.devices.transfer import key
from weft.passes.client_graph import ClientGraph, Node
from weft.passes.control_flow.fold import subgraphs
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


def mark_fed(graph: ClientGraph, units: list[Unit]) -> None:
    """Notes of each region which of its inputs users feed."""
    fed = set(graph.feeds)
    for unit in units:
        unit.fed = {edge for edge in unit.inputs if edge in fed}


def mark_received(hosts: Sequence[list[Unit]], others: Sequence[list[Unit]]) -> None:
    """Notes of each region of the `others` which of its inputs come from a node of the `hosts`."""
    made = {name for units in hosts for name in _sent_by_nodes(units)}
    for unit in (unit for units in others for unit in units):
        unit.fed |= {
            (node, i)
            for node, i in unit.inputs
            if node.definition.transfer == "recv" and key(node.attrs) in made
        }


def _sent_by_nodes(units: list[Unit]) -> Iterator[str]:
    """The names of what is sent that no program has made."""
    home = {node: unit for unit in units for node in unit.nodes}
    for node in home:
        if node.definition.transfer == "send":
            source = node.inputs[0][0]
            if source in home and not home[source].is_region and not subgraphs(source):
                yield key(node.attrs)


def _sends_to_host(node: Node) -> bool:
    if node.definition.transfer != "send":
        return False
    return device_name.parse(node.attrs["recv_device"]).device_type == HOST_TYPE
