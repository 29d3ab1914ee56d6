"""Rewrites of nodes, their names, attributes and order; see `transforms`."""

from __future__ import annotations

import itertools
import string
from typing import Any

from tensorboard.compat.proto.node_def_pb2 import NodeDef

from weft.core import dtypes
from weft.core.shapes import TensorShape
from weft.graph.graph import Graph
from weft.graph.graph_util import extract_sub_graph
from weft.graph.importer import import_graph_def
from weft.graph.op_def import REGISTRY
from weft.lib.tools.node_defs import copied, graph_of, nodes_by_name, source, with_inputs
from weft.lib.tools.transforms import Call, invalid, transform

_LETTERS = string.digits + string.ascii_letters


def _for_input(call: Call, name: str, parameter: str, default: Any) -> Any:
    """A parameter for all inputs (`type`), or for the one named (`name` and `type_for_name`)."""
    names, values = call.all("name"), call.all(f"{parameter}_for_name")
    if values and len(names) != len(values):
        raise invalid(f"You must pass in an equal number of names and {parameter}s")
    return dict(zip(names, values, strict=False)).get(name, call.one(parameter, default))


@transform
def strip_unused_nodes(graph_def: Any, call: Call) -> Any:
    """Leaves what lies between inputs and outputs; inputs become placeholders."""
    nodes = nodes_by_name(graph_def)
    inputs = {source(name) for name in call.inputs}
    for name in inputs:
        if name not in nodes:
            raise invalid(f"Input node {name} not found in graph")
    made = [
        _placeholder(node, call) if node.name in inputs and node.op != "Placeholder" else node
        for node in graph_def.node
    ]
    return extract_sub_graph(graph_of(made, graph_def), [source(name) for name in call.outputs])


def _placeholder(node: Any, call: Call) -> Any:
    made = NodeDef(name=node.name, op="Placeholder")
    kind = _for_input(call, node.name, "type", "float")
    kind = {"float": "float32", "double": "float64"}.get(kind, kind)
    made.attr["dtype"].type = dtypes.as_dtype(kind).as_datatype_enum
    sizes = [int(size) for size in _for_input(call, node.name, "shape", "").split(",") if size]
    shape = TensorShape([None if size < 0 else size for size in sizes])
    made.attr["shape"].shape.CopyFrom(shape.as_proto())
    return made


@transform
def remove_nodes(graph_def: Any, call: Call) -> Any:
    """Takes out nodes of the types `op`; their first input takes their place."""
    types, most = call.all("op"), call.one("max_inputs", 1)
    if not types:
        raise invalid(
            "remove_nodes expects at least one 'op'argument, e.g. remove_nodes(op=Identity)"
        )
    required = call.required
    replaced = {
        node.name: node.input[0]
        for node in graph_def.node
        if node.op in types and 1 <= len(node.input) <= most and node.name not in required
    }

    def rename(name: str) -> str:
        while (found := replaced.get(source(name))) is not None:
            name = f"^{source(found)}" if name.startswith("^") else found
        return name

    kept = graph_of((n for n in graph_def.node if n.name not in replaced), graph_def)
    return with_inputs(kept, rename)


@transform
def remove_control_dependencies(graph_def: Any, call: Call) -> Any:
    """Forgets the order that is not one of data."""
    return graph_of(
        (copied(n, [i for i in n.input if not i.startswith("^")]) for n in graph_def.node),
        graph_def,
    )


@transform
def remove_device(graph_def: Any, call: Call) -> Any:
    """Forgets where nodes were placed."""
    made = graph_of(graph_def.node, graph_def)
    for node in made.node:
        node.device = ""
    return made


@transform
def set_device(graph_def: Any, call: Call) -> Any:
    """Places all nodes on `device`, or with `if_default` those that are on none."""
    made = graph_of(graph_def.node, graph_def)
    for node in made.node:
        if not node.device or not call.one("if_default", False):
            node.device = call.one("device", "")
    return made


def _asked_for(node: Any, call: Call) -> bool:
    return call.one("op_name", "*") in ("*", node.op)


@transform
def remove_attribute(graph_def: Any, call: Call) -> Any:
    """Takes the attr `attribute_name` off nodes (of the type `op_name`)."""
    if len(call.all("attribute_name")) != 1:
        raise invalid(
            "remove_attribute expects exactly one 'attribute_name' argument,"
            " e.g. remove_attribute(op_name=Mul, attribute_name=foo)"
        )
    made = graph_of(graph_def.node, graph_def)
    for node in made.node:
        if _asked_for(node, call):
            node.attr.pop(call.one("attribute_name", ""), None)
    return made


@transform
def rename_attribute(graph_def: Any, call: Call) -> Any:
    """Gives the attr `old_attribute_name` the name `new_attribute_name`."""
    old, new = call.one("old_attribute_name", ""), call.one("new_attribute_name", "")
    if not old or not new:
        raise invalid(
            "rename_attribute expects exactly one 'old_attribute_name' and one"
            " 'new_attribute_name' argument, e.g. rename_attribute(old_attribute_name=foo,"
            " new_attribute_name=bar)"
        )
    made = graph_of(graph_def.node, graph_def)
    for node in made.node:
        if _asked_for(node, call) and old in node.attr:
            node.attr[new].CopyFrom(node.attr[old])
            del node.attr[old]
    return made


@transform
def rename_op(graph_def: Any, call: Call) -> Any:
    """Makes nodes of the type `old_op_name` ones of `new_op_name`."""
    old, new = call.one("old_op_name", ""), call.one("new_op_name", "")
    if not old or not new:
        raise invalid(
            "rename_op expects exactly one 'old_op_name' and 'new_op_name' argument,"
            " e.g. rename_op(old_op_name=Mul, new_op_name=Multiply)"
        )
    made = graph_of(graph_def.node, graph_def)
    for node in made.node:
        if node.op == old:
            node.op = new
    return made


@transform
def add_default_attributes(graph_def: Any, call: Call) -> Any:
    """Writes attrs that have their default down."""
    with Graph().as_default() as graph:
        import_graph_def(graph_def, name="")
        known = nodes_by_name(graph.as_graph_def())
    made = graph_of(graph_def.node, graph_def)
    for node in made.node:
        for name, value in known[node.name].attr.items():
            if name not in node.attr:
                node.attr[name].CopyFrom(value)
    return made


@transform
def sort_by_execution_order(graph_def: Any, call: Call) -> Any:
    """Puts every node after its inputs."""
    return graph_of(in_execution_order(graph_def), graph_def)


def in_execution_order(graph_def: Any) -> list[Any]:
    """Nodes after their inputs; a loop begins where the value comes in."""
    nodes = nodes_by_name(graph_def)
    consumers: dict[str, list[str]] = {name: [] for name in nodes}
    waiting: dict[str, int] = {}
    for node in graph_def.node:
        inputs = [source(name) for name in node.input]
        back = [name for name in inputs if nodes[name].op.endswith("NextIteration")]
        waiting[node.name] = len(inputs) - (len(back) if node.op.endswith("Merge") else 0)
        for name in inputs:
            consumers[name].append(node.name)
    ready = [name for name, count in waiting.items() if not count]
    order: list[Any] = []
    while ready:
        name = ready.pop(0)
        order.append(nodes[name])
        for consumer in consumers[name]:
            waiting[consumer] -= 1
            if not waiting[consumer]:
                ready.append(consumer)
    return order


@transform
def merge_duplicate_nodes(graph_def: Any, call: Call) -> Any:
    """Leaves one of each set of nodes that compute the same from the same."""
    required = call.required
    merged: dict[str, str] = {}
    seen: dict[bytes, str] = {}
    kept = []
    for node in in_execution_order(graph_def):
        made = copied(node, [_merged(name, merged) for name in node.input])
        kept.append(made)
        definition = REGISTRY.get(node.op)
        if node.name in required or definition is None or definition.stateful:
            continue
        key = copied(made)
        key.name = ""
        first = seen.setdefault(key.SerializeToString(deterministic=True), node.name)
        if first != node.name:
            merged[node.name] = first
            kept.pop()
    return graph_of(kept, graph_def)


def _merged(name: str, merged: dict[str, str]) -> str:
    node = source(name)
    return name.replace(node, merged.get(node, node), 1)


@transform
def obfuscate_names(graph_def: Any, call: Call) -> Any:
    """Gives nodes short names that say nothing; inputs and outputs keep theirs."""
    required = call.required
    short = (name for name in map(_short_name, itertools.count()) if name not in required)
    names = {
        node.name: node.name if node.name in required else next(short) for node in graph_def.node
    }
    made = with_inputs(graph_def, lambda name: _merged(name, names))
    for node in made.node:
        node.name = names[node.name]
    return made


def _short_name(number: int) -> str:
    rest, digit = divmod(number, len(_LETTERS))
    return (_short_name(rest) if rest else "") + _LETTERS[digit]
