"""Calls of functions in a GraphDef, replaced by the nodes of the functions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tensorboard.compat.proto.node_def_pb2 import NodeDef

from weft.graph.function import body_of
from weft.graph.graph_def import attr_from_proto
from weft.lib.tools.node_defs import copied, graph_of, source

_CALLS = ("PartitionedCall", "StatefulPartitionedCall")
_DEEPEST = 64


def inline_calls(graph_def: Any, library: dict[str, Any]) -> Any:
    """A GraphDef without calls; nodes keep the names of the calls, and hand on their results."""
    for _ in range(_DEEPEST):
        if not any(node.op in _CALLS for node in graph_def.node):
            return graph_def
        nodes = [made for node in graph_def.node for made in _inlined(node, library)]
        graph_def = graph_of(nodes, graph_def)
    raise ValueError(f"functions call each other more than {_DEEPEST} deep")


def _inlined(node: Any, library: dict[str, Any]) -> Iterator[Any]:
    if node.op not in _CALLS:
        yield node
        return
    body = body_of(library, attr_from_proto(node.attr["f"]))
    data = [name for name in node.input if not name.startswith("^")]
    control = [name for name in node.input if name.startswith("^")]
    arguments = dict(zip((tensor.op.name for tensor in body.inputs), data, strict=True))

    def renamed(name: str) -> str:
        given = arguments.get(source(name))
        if name.startswith("^"):
            return f"^{node.name}/{name[1:]}" if given is None else f"^{source(given)}"
        return f"{node.name}/{name}" if given is None else given

    for inner in body.graph.as_graph_def().node:
        if inner.name not in arguments:
            made = copied(inner, [*map(renamed, inner.input), *([] if inner.input else control)])
            made.name = f"{node.name}/{inner.name}"
            made.attr.pop("_class", None)
            yield made
    results = [renamed(tensor.name.removesuffix(":0")) for tensor in body.outputs]
    effects = [renamed(f"^{op.name}") for op in body.effects]
    yield _handed_on(node, results, [*control, *effects])


def _handed_on(call: Any, results: list[str], control: list[str]) -> Any:
    """A node named like the call, with its results."""
    made = NodeDef(name=call.name, op="IdentityN" if results else "NoOp")
    made.input.extend([*results, *dict.fromkeys(control)])
    if results:
        made.attr["T"].CopyFrom(call.attr["Tout"])
    return made
