"""A graph as a page: a picture whose scopes open and fold, that can be searched.

The page holds all it needs, and draws itself (`graph_page.html`).
"""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

from weft.core.html import framed
from weft.graph.graph import Graph
from weft.graph.operation import Operation
from weft.graph.pictures.cards import made_at

MOST = 20_000  # nodes of a picture
_HEIGHT = 460
_DATA = "/*GRAPH*/null"


def graph_frame(graph: Graph) -> str:
    """The page inside of a frame, for a notebook."""
    return framed(graph_page(graph), _HEIGHT)


def graph_page(graph: Graph) -> str:
    """The page of a graph, HTML that stands by itself."""
    text = resources.files("weft.graph.pictures").joinpath("graph_page.html").read_text("utf-8")
    # What ends a script in HTML must not come up inside of it.
    return text.replace(_DATA, json.dumps(described(graph)).replace("</", "<\\/"))


def described(graph: Graph) -> dict[str, Any]:
    """The nodes as the page takes them: inputs by number, of nodes that are in the picture."""
    operations = graph.get_operations()
    drawn = operations[:MOST]
    numbers = {op: i for i, op in enumerate(drawn)}
    nodes = [_node(op, op.name, numbers) for op in drawn]
    for function in graph._functions.values():
        if len(nodes) < MOST:
            nodes += _body(function, len(nodes))
    return {"nodes": nodes, "left_out": len(operations) - len(drawn)}


def _node(op: Operation, name: str, numbers: dict[Operation, int]) -> dict[str, Any]:
    sources = dict.fromkeys(each.op for each in op.inputs)
    return {
        "name": name,
        "type": op.type,
        "inputs": [numbers[source] for source in sources if source in numbers],
        "controls": [numbers[source] for source in op.control_inputs if source in numbers],
        "outputs": [f"{each.dtype.name} {each.shape}" for each in op.outputs],
        "device": op.device,
        "line": made_at(op),
    }


def _body(function: Any, first: int) -> list[dict[str, Any]]:
    """The nodes of a function's body, in a scope of its own."""
    body = function.message.node_def
    numbers = {node.name: first + i for i, node in enumerate(body)}
    return [
        {
            "name": f"function {function.name}/{node.name}",
            "type": node.op,
            "inputs": _known(numbers, [name for name in node.input if name[0] != "^"]),
            "controls": _known(numbers, [name[1:] for name in node.input if name[0] == "^"]),
            "outputs": [],
            "device": node.device,
            "line": "",
        }
        for node in body
    ]


def _known(numbers: dict[str, int], inputs: list[str]) -> list[int]:
    names = dict.fromkeys(name.partition(":")[0] for name in inputs)
    return [numbers[name] for name in names if name in numbers]
