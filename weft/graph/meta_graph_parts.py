"""The graph part of a MetaGraphDef: the ops it uses, defaults, and what lies below a scope."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from weft.graph.collection_def import UNBOUND, is_exported, strip_name_scope, text
from weft.graph.graph_def import new_graph_def, op_def_proto
from weft.graph.op_def import REGISTRY


def ops_used_by_graph_def(graph_def: Any) -> list[str]:
    """The op types of all nodes, also of those in functions that are called."""
    functions = {f.signature.name: f for f in graph_def.library.function}
    used: set[str] = set()
    waiting = [node.op for node in graph_def.node]
    while waiting:
        name = waiting.pop()
        if name not in used and name in functions:
            waiting += [node.op for node in functions[name].node_def]
        used.add(name)
    return [name for name in used if name not in functions]


_FUNCTION_ENDS = frozenset(("_Arg", "_Retval", "_ListToArray", "_ArrayToList"))


def stripped_op_list_for_graph(graph_def: Any) -> Any:
    """An OpList with the signature of every op that is used."""
    used = sorted(ops_used_by_graph_def(graph_def))
    known = [name for name in used if name in REGISTRY]
    if strange := sorted(set(used) - {*known, *_FUNCTION_ENDS}):
        raise ValueError(f"Op {strange[0]} is used by the graph, but is not registered")
    return op_list(known)


def op_list(names: Iterable[str]) -> Any:
    """An OpList with the signatures of these ops."""
    from tensorboard.compat.proto.op_def_pb2 import OpList

    return OpList(op=[op_def_proto(REGISTRY[name]) for name in names])


def strip_graph_default_valued_attrs(meta_graph_def: Any) -> None:
    """Removes attributes that say what the op's signature says anyway.

    A reader that does not know an attribute yet can then still load the graph.
    """
    for node, attr in _attrs_with_defaults(meta_graph_def.graph_def):
        if attr.name in node.attr and node.attr[attr.name] == attr.default_value:
            del node.attr[attr.name]
    meta_graph_def.meta_info_def.stripped_default_attrs = True


def add_default_valued_attrs(graph_def: Any) -> None:
    """Undoes `strip_graph_default_valued_attrs`."""
    for node, attr in _attrs_with_defaults(graph_def):
        if attr.name not in node.attr:
            node.attr[attr.name].CopyFrom(attr.default_value)


def _attrs_with_defaults(graph_def: Any) -> Iterator[tuple[Any, Any]]:
    """(node, declaration of an attribute that has a default), in bodies of functions too."""
    functions = {f.signature.name for f in graph_def.library.function}
    bodies = [graph_def.node, *(f.node_def for f in graph_def.library.function)]
    for node in (node for body in bodies for node in body):
        if node.op in functions or node.op not in REGISTRY:
            continue
        for attr in op_def_proto(REGISTRY[node.op]).attr:
            if attr.HasField("default_value"):
                yield node, attr


def _scoped_node(node: Any, export_scope: str | None, unbound: list[str]) -> None:
    """Rewrites the names in a NodeDef; notes the inputs that come from outside."""
    node.name = strip_name_scope(node.name, export_scope)
    for i, name in enumerate(node.input):
        if export_scope and not name.lstrip("^").startswith(export_scope):
            mark = "^" if name.startswith("^") else ""
            node.input[i] = f"{mark}{UNBOUND}{name.lstrip('^')}"
            unbound.append(node.input[i])
        else:
            node.input[i] = strip_name_scope(name, export_scope)
    if "_class" in node.attr:
        groups = [text(g) for g in node.attr["_class"].list.s]
        kept = [g for g in groups if is_exported(g.partition("@")[2], export_scope, frozenset())]
        node.attr["_class"].list.s[:] = [strip_name_scope(g, export_scope).encode() for g in kept]
    if node.op in ("Enter", "RefEnter"):
        frame = strip_name_scope(node.attr["frame_name"].s, export_scope)
        node.attr["frame_name"].s = frame if isinstance(frame, bytes) else frame.encode()


def scoped_graph_def(
    source: Any, export_scope: str | None, excluded: frozenset[str], clear_devices: bool
) -> tuple[Any, list[str]]:
    """(the part of `source` below a scope, the inputs that it lacks)"""
    result = new_graph_def()
    result.versions.CopyFrom(source.versions)
    result.library.CopyFrom(source.library)
    unbound: list[str] = []
    for node in source.node:
        if not is_exported(node.name, export_scope, excluded):
            continue
        copy = result.node.add()
        copy.CopyFrom(node)
        _scoped_node(copy, export_scope, unbound)
        if clear_devices:
            copy.device = ""
    return result, unbound


_SAVER_OPS = frozenset(
    (
        "SaveV2", "Save", "SaveSlices", "SaveSlice", "LegacySave", "LegacySaveSlice", "RestoreV2",
        "Restore", "RestoreSlice", "LegacyRestore", "LegacyRestoreSlice",
    )
)  # fmt: skip


def _scope_of(tensor_name: str) -> str:
    op_name = tensor_name.lstrip("^").partition(":")[0]
    return op_name.rpartition("/")[0]


def extraneous_saver_nodes(graph_def: Any, saver_def: Any) -> frozenset[str]:
    """The nodes of savers other than `saver_def`: all that share a scope with their ops."""
    kept = set()
    if saver_def is not None:
        kept = {_scope_of(saver_def.save_tensor_name), _scope_of(saver_def.restore_op_name)}
    savers = {node.name for node in graph_def.node if node.op in _SAVER_OPS}
    scopes = {_scope_of(name) for name in savers} - savers - kept
    return frozenset(
        node.name
        for node in graph_def.node
        if any(node.name.startswith(f"{scope}/") for scope in scopes)
    )
