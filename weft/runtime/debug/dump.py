"""Graphs of a step on paper: the WEFT_DUMP files, and GraphDefs for RunMetadata."""

from __future__ import annotations

import itertools
import os
from typing import Any

from weft.core import flags
from weft.passes.client_graph import ClientGraph, Node
from weft.runtime.debug.trace import HOST

_calls = itertools.count()


def observer() -> Any:
    """A function that writes each stage of one call to WEFT_DUMP, or None when it is off."""
    if not flags.DUMP.value:
        return None
    folder = os.path.join(flags.DUMP.value, f"call_{next(_calls):04d}")
    os.makedirs(folder, exist_ok=True)

    def observe(stage: str, graph: ClientGraph) -> None:
        with open(os.path.join(folder, f"{stage}.txt"), "w") as file:
            file.write(text(graph, devices="placed" in stage))
        if "placed" in stage:
            with open(os.path.join(folder, f"{stage}.dot"), "w") as file:
                file.write(drawn(graph))

    return observe


def text(graph: ClientGraph, devices: bool = False) -> str:
    """One line per node, ready for `diff`."""
    lines = [_line(node) + (f" @ {node.device}" if devices else "") for node in graph.nodes]
    lines.append("fetch " + ", ".join(_edge(*edge) for edge in graph.fetches))
    if graph.targets:
        lines.append("target " + ", ".join(node.name for node in graph.targets))
    return "\n".join(lines) + "\n"


def drawn(graph: ClientGraph) -> str:
    """The graph in the language of Graphviz, one box per device."""
    numbers = {node: i for i, node in enumerate(graph.nodes)}
    lines = ["digraph placement {", "  rankdir=LR; node [shape=box, fontname=Helvetica];"]
    for i, device in enumerate(sorted({n.device for n in graph.nodes})):
        lines.append(f'  subgraph cluster_{i} {{ label="{device}"; style=rounded;')
        here = [node for node in graph.nodes if node.device == device]
        lines += [f'    n{numbers[n]} [label="{n.name}\\n{n.type}"];' for n in here]
        lines.append("  }")
    for node in graph.nodes:
        edges = [(source, "solid") for source, _ in node.inputs]
        edges += [(control, "dashed") for control in node.controls]
        for source, style in edges:
            cut = ", color=red, penwidth=2" if source.device != node.device else ""
            lines.append(f"  n{numbers[source]} -> n{numbers[node]} [style={style}{cut}];")
    return "\n".join([*lines, "}"]) + "\n"


def _edge(node: Node, i: int) -> str:
    return node.name if i == 0 else f"{node.name}:{i}"


def _line(node: Node) -> str:
    args = [_edge(*edge) for edge in node.inputs] + [f"^{c.name}" for c in node.controls]
    types = " ".join(d.name for d in node.dtypes)
    return f"{node.name} = {node.type}({', '.join(args)})" + (f" -> {types}" if types else "")


def to_graph_def(graph: ClientGraph) -> Any:
    from weft.graph.graph_def import new_graph_def

    message = new_graph_def()
    # Feeds have no device of their own: they arrive where the rest of the partition is.
    here = next((node.device for node in graph.nodes if node.device), HOST)
    for node in graph.nodes:
        entry = message.node.add()
        entry.name, entry.op = node.name, node.type
        entry.device = node.device or here
        entry.input.extend(_edge(*edge) for edge in node.inputs)
        entry.input.extend(f"^{c.name}" for c in node.controls)
        fill_attrs(entry, node)
    return message


def fill_attrs(entry: Any, node: Node) -> None:
    """Writes the attributes of a node into its NodeDef."""
    from weft.graph.graph_def import attr_to_proto

    if node.loop is not None or node.branches is not None:
        return  # no attribute can hold the graphs inside
    for name, value in node.attrs.items():
        kind = node.definition.attrs[name].kind if name in node.definition.attrs else None
        dtype = node.attrs.get("dtype") if kind == "tensor" else None
        entry.attr[name].CopyFrom(attr_to_proto(value, kind, dtype))
