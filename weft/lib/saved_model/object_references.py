"""What the parts of a SavedObjectGraph say of each other: whether all of it is there."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Any

from weft.core import compat, errors


def check_references(meta_graph: Any, export_dir: Any) -> None:
    """InvalidArgumentError if an object, a function or a file is named that is not there."""
    objects = meta_graph.object_graph_def
    known: dict[str, Container[Any]] = {
        "object": range(len(objects.nodes)),
        "function": {each.signature.name for each in meta_graph.graph_def.library.function},
        "trace": set(objects.concrete_functions),
        "asset": range(len(meta_graph.asset_file_def)),
        "node": {each.name for each in meta_graph.graph_def.node},
    }
    for source, kind, key in _references(objects):
        if key not in known[kind]:
            raise errors.InvalidArgumentError(
                None, None, f"{source} of the SavedModel at {compat.as_str_any(export_dir)} needs"
                f" the {kind} {key!r}, which is not in the file",
            )  # fmt: skip


def _references(objects: Any) -> Iterator[tuple[str, str, Any]]:
    """Who names what: a description, the kind of thing, and its name or number."""
    yield "The object graph", "object", 0
    for name, trace in objects.concrete_functions.items():
        yield f"The trace {name!r}", "function", name
        for number in trace.bound_inputs:
            yield f"The trace {name!r}", "object", number
    for number, node in enumerate(objects.nodes):
        source = f"The object {number}"
        for child in node.children:
            yield source, "object", child.node_id
        kind = node.WhichOneof("kind")
        if kind == "function":
            for name in node.function.concrete_functions:
                yield source, "trace", name
        elif kind == "bare_concrete_function":
            yield source, "trace", node.bare_concrete_function.concrete_function_name
        elif kind == "asset":
            yield source, "asset", node.asset.asset_file_def_index
        elif kind == "constant":
            yield source, "node", node.constant.operation
