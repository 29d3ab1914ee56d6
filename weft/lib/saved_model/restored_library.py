"""The functions of a SavedModel, under names that nothing else in the process has."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from typing import Any

from weft.graph.function import LibraryFunction
from weft.graph.function_def import _stay_inside
from weft.graph.op_def import REGISTRY
from weft.ops.functions.traced_graph import unique_function_name

_loads = itertools.count(1)


class RestoredLibrary:
    """`functions` has them by their new names, `new_names` says which these are.

    What they keep in the process by a shared name (tables, queues) is the load's own.
    """

    def __init__(self, meta_graph: Any) -> None:
        library = meta_graph.graph_def.library
        self._defaults = _defaults(meta_graph.meta_info_def.stripped_op_list)
        self._suffix = f"_load_{next(_loads)}"
        messages = list(library.function)
        self.new_names = {
            each.signature.name: unique_function_name(re.sub(r"_\d+$", "", each.signature.name))
            for each in messages
        }
        gradients = {each.function_name: each.gradient_func for each in library.gradient}
        self.functions: dict[str, LibraryFunction] = {}
        for message in messages:
            gradient = self.new_names.get(gradients.get(message.signature.name, ""))
            made = LibraryFunction(self._renamed(message), gradient)
            self.functions[made.name] = made

    def named(self, old_name: str) -> LibraryFunction:
        return self.functions[self.new_names[old_name]]

    def _renamed(self, message: Any) -> Any:
        copy = type(message)()
        copy.CopyFrom(message)
        copy.signature.name = self.new_names[message.signature.name]
        inside = {f"loc:@{node.name}".encode() for node in copy.node_def}
        for node in copy.node_def:
            self.rename(node)
            if "_class" in node.attr:
                _stay_inside(node, inside)
        return copy

    def rename(self, node: Any) -> None:
        """Lets a node call functions by their new names, and keep things under names of its own.

        It also gets the attributes that the writer left out because of its defaults.
        """
        for name, default in self._defaults.get(node.op, {}).items():
            if name not in node.attr and name in REGISTRY[node.op].attrs:
                node.attr[name].CopyFrom(default)
        node.op = self.new_names.get(node.op, node.op)
        for reference in references(node):
            reference.name = self.new_names.get(reference.name, reference.name)
        # Of a call, whatever the writer registered: here calls are differentiated as they are.
        if "_gradient_op_type" in node.attr and node.op.endswith("PartitionedCall"):
            del node.attr["_gradient_op_type"]
        definition = REGISTRY.get(node.op)
        if definition is not None and "shared_name" in definition.attrs:
            named = node.attr["shared_name"]
            named.s = (named.s or node.name.encode()) + self._suffix.encode()

    def needed_by(self, function: LibraryFunction) -> list[LibraryFunction]:
        """The function and all that it calls, directly or not."""
        found: dict[str, LibraryFunction] = {}
        waiting = [function.name]
        while waiting:
            name = waiting.pop()
            if name in found or name not in self.functions:
                continue
            found[name] = made = self.functions[name]
            waiting += [made.gradient] if made.gradient else []
            waiting += _called_by(made.message.node_def)
        return list(found.values())


def _defaults(op_list: Any) -> dict[str, dict[str, Any]]:
    """Op -> attribute -> what the writer took for it, of ops that are known here."""
    return {
        op.name: {a.name: a.default_value for a in op.attr if a.HasField("default_value")}
        for op in op_list.op
        if op.name in REGISTRY
    }


def references(node: Any) -> Iterator[Any]:
    """The functions that the attributes of a node name, as messages."""
    for value in node.attr.values():
        if value.HasField("func"):
            yield value.func
        elif value.HasField("list"):
            yield from value.list.func


def _called_by(nodes: Iterable[Any]) -> list[str]:
    return [name for node in nodes for name in (node.op, *(r.name for r in references(node)))]
