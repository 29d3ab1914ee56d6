"""Graph <-> MetaGraphDef: the nodes, the collections, and what a reader must know about both.

With an export scope only what lies below it is written, under names relative to it; inputs from
outside are then "unbound" and must be given when the MetaGraph is imported.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

from weft.graph.collection_def import (
    CollectionReader,
    add_collection_def,
    checked_graph,
    get_collection_proto_type,
    get_from_proto_function,
    get_to_proto_function,
    in_order,
    is_exported,
    prepend_name_scope,
    register_proto_function,
    strip_name_scope,
    text,
)
from weft.graph.graph import Graph
from weft.graph.importer import TENSORFLOW_VERSION, import_graph_def
from weft.graph.keys import GraphKeys
from weft.graph.meta_graph_parts import (
    extraneous_saver_nodes,
    ops_used_by_graph_def,
    scoped_graph_def,
    strip_graph_default_valued_attrs,
    stripped_op_list_for_graph,
)

__all__ = [
    "add_collection_def", "copy_scoped_meta_graph", "create_meta_graph_def", "export_meta_graph",
    "export_scoped_meta_graph", "get_collection_proto_type", "get_from_proto_function",
    "get_to_proto_function", "import_scoped_meta_graph",
    "import_scoped_meta_graph_with_return_elements", "ops_used_by_graph_def",
    "prepend_name_scope", "read_meta_graph_file", "register_proto_function",
    "strip_graph_default_valued_attrs", "strip_name_scope", "stripped_op_list_for_graph",
]  # fmt: skip

_GIT_VERSION = "unknown"
_MAX_BYTES = 1 << 31


# ---- export -----------------------------------------------------------------------------------


def _check_message(what: str, message: Any, wanted: Any) -> None:
    # Messages compare by type name: TensorFlow's own classes are as good.
    if message and getattr(message, "DESCRIPTOR", None) is not wanted.DESCRIPTOR:
        found = getattr(getattr(message, "DESCRIPTOR", None), "full_name", None)
        if found != wanted.DESCRIPTOR.full_name:
            raise TypeError(f"{what} must be of type {wanted.DESCRIPTOR.name}, not {type(message)}")


def create_meta_graph_def(
    meta_info_def: Any = None,
    graph_def: Any = None,
    saver_def: Any = None,
    collection_list: list[str] | None = None,
    graph: Graph | None = None,
    export_scope: str | None = None,
    exclude_nodes: Iterable[str] | None = None,
    clear_extraneous_savers: bool = False,
    strip_default_attrs: bool = False,
) -> Any:
    """A MetaGraphDef of `graph_def` (all of `graph` if None) and the collections of `graph`."""
    from tensorboard.compat.proto.graph_pb2 import GraphDef
    from tensorboard.compat.proto.meta_graph_pb2 import MetaGraphDef
    from tensorboard.compat.proto.saver_pb2 import SaverDef

    graph = checked_graph(graph)
    _check_message("meta_info_def", meta_info_def, MetaGraphDef.MetaInfoDef)
    _check_message("graph_def", graph_def, GraphDef)
    _check_message("saver_def", saver_def, SaverDef)
    result = MetaGraphDef()
    info = result.meta_info_def
    if meta_info_def:
        info.MergeFrom(meta_info_def)
    info.tensorflow_version, info.tensorflow_git_version = TENSORFLOW_VERSION, _GIT_VERSION
    result.graph_def.MergeFrom(graph_def or graph.as_graph_def(add_shapes=True))
    if not info.stripped_op_list.op:
        info.stripped_op_list.MergeFrom(stripped_op_list_for_graph(result.graph_def))
    if strip_default_attrs:
        strip_graph_default_valued_attrs(result)
    if saver_def:
        result.saver_def.MergeFrom(saver_def)
    keys = graph.get_all_collection_keys() if collection_list is None else collection_list
    for key in keys:
        only = None
        if clear_extraneous_savers and key == GraphKeys.SAVERS:
            from_proto = get_from_proto_function(key)
            only = [from_proto(saver_def)] if from_proto is not None else None
        add_collection_def(result, key, graph, export_scope, exclude_nodes, only)
    return result


def export_scoped_meta_graph(
    filename: str | None = None,
    graph_def: Any = None,
    graph: Graph | None = None,
    export_scope: str | None = None,
    as_text: bool = False,
    unbound_inputs_col_name: str | None = "unbound_inputs",
    clear_devices: bool = False,
    saver_def: Any = None,
    clear_extraneous_savers: bool = False,
    strip_default_attrs: bool = False,
    save_debug_info: bool = False,
    **kwargs: Any,
) -> tuple[Any, dict[str, Any]]:
    """(MetaGraphDef of what lies below `export_scope`, its variables by name relative to it)

    Inputs from outside the scope go into the collection `unbound_inputs_col_name`. With `filename`
    the message is also written, and beside it, with `save_debug_info`, where each node was made.
    """
    graph = checked_graph(graph)
    excluded: frozenset[str] = frozenset()
    if export_scope or clear_extraneous_savers or clear_devices:
        source = graph_def or graph.as_graph_def(add_shapes=True)
        if clear_extraneous_savers:
            excluded = extraneous_saver_nodes(source, saver_def)
        graph_def, unbound = scoped_graph_def(source, export_scope, excluded, clear_devices)
        if graph_def.ByteSize() >= _MAX_BYTES:
            raise ValueError("GraphDef cannot be larger than 2GB.")
        if unbound_inputs_col_name:
            # Not a change of the graph proper, so a finalized one allows it too.
            graph._collections.pop(unbound_inputs_col_name, None)
            if unbound:
                graph._collections[unbound_inputs_col_name] = list(unbound)
    variables = {
        strip_name_scope(v.name, export_scope): v
        for v in graph.get_collection(GraphKeys.GLOBAL_VARIABLES, scope=export_scope)
        if is_exported(v, export_scope, excluded)
    }
    message = create_meta_graph_def(
        graph_def=graph_def,
        graph=graph,
        export_scope=export_scope,
        exclude_nodes=excluded,
        clear_extraneous_savers=clear_extraneous_savers,
        saver_def=saver_def,
        strip_default_attrs=strip_default_attrs,
        **kwargs,
    )
    if filename:
        write_message(message, filename, as_text)
        if save_debug_info:
            stem, _ = os.path.splitext(filename)
            debug = _debug_info(graph, message.graph_def, export_scope)
            write_message(debug, f"{stem}.debug", as_text)
    return message, variables


def export_meta_graph(
    filename: str | None = None,
    meta_info_def: Any = None,
    graph_def: Any = None,
    saver_def: Any = None,
    collection_list: list[str] | None = None,
    as_text: bool = False,
    graph: Graph | None = None,
    export_scope: str | None = None,
    clear_devices: bool = False,
    clear_extraneous_savers: bool = False,
    strip_default_attrs: bool = False,
    save_debug_info: bool = False,
    **kwargs: Any,
) -> Any:
    """The MetaGraphDef of a graph or of a scope of it, written to `filename` if there is one."""
    message, _ = export_scoped_meta_graph(
        filename=filename,
        meta_info_def=meta_info_def,
        graph_def=graph_def,
        saver_def=saver_def,
        collection_list=collection_list,
        as_text=as_text,
        graph=graph,
        export_scope=export_scope,
        clear_devices=clear_devices,
        clear_extraneous_savers=clear_extraneous_savers,
        strip_default_attrs=strip_default_attrs,
        save_debug_info=save_debug_info,
        **kwargs,
    )
    return message


def _debug_info(graph: Graph, graph_def: Any, export_scope: str | None) -> Any:
    """The files and lines that made each node, innermost first."""
    from tensorboard.compat.proto.graph_debug_info_pb2 import GraphDebugInfo

    info = GraphDebugInfo()
    files: dict[str, int] = {}
    for node in graph_def.node:
        op = graph.get_operation_by_name(prepend_name_scope(node.name, export_scope))
        trace = info.traces[op.name]
        for file, line, *_ in reversed(op.traceback):
            index = files.setdefault(file, len(files))
            trace.file_line_cols.add(file_index=index, line=line)
    info.files.extend(files)
    return info


# ---- files ------------------------------------------------------------------------------------


def write_message(message: Any, filename: str, as_text: bool) -> None:
    """Writes a message; a reader never sees half of it."""
    from google.protobuf import text_format

    if as_text:
        content = text_format.MessageToString(message).encode("utf-8")
    else:
        content = message.SerializeToString()
    filename = os.fspath(filename)
    if "://" in filename:
        import fsspec

        with fsspec.open(filename, "wb") as file:
            file.write(content)
        return
    os.makedirs(os.path.dirname(filename) or ".", exist_ok=True)
    partial = f"{filename}.tmp{os.getpid()}"
    with open(partial, "wb") as file:
        file.write(content)
    os.replace(partial, filename)


def _content(filename: str) -> bytes:
    try:
        if "://" in filename:
            import fsspec

            with fsspec.open(filename, "rb") as file:
                return bytes(file.read())
        with open(filename, "rb") as file:
            return file.read()
    except FileNotFoundError:
        raise OSError(f"File {filename} does not exist.") from None


def read_meta_graph_file(filename: str) -> Any:
    """The MetaGraphDef in a file, which may be binary or text."""
    from google.protobuf import text_format
    from google.protobuf.message import DecodeError
    from tensorboard.compat.proto.meta_graph_pb2 import MetaGraphDef

    from weft.protos.text import merge_text

    message = MetaGraphDef()
    content = _content(os.fspath(filename))
    try:
        message.ParseFromString(content)
        return message
    except (DecodeError, RuntimeWarning):
        message.Clear()
    try:
        merge_text(content.decode("utf-8"), message)
    except (text_format.ParseError, UnicodeDecodeError) as error:
        raise OSError(f"Cannot parse file {filename}: {error}.") from None
    return message


# ---- import -----------------------------------------------------------------------------------


def import_scoped_meta_graph(
    meta_graph_or_file: Any,
    clear_devices: bool = False,
    graph: Graph | None = None,
    import_scope: str | None = None,
    input_map: dict[str, Any] | None = None,
    unbound_inputs_col_name: str | None = "unbound_inputs",
    restore_collections_predicate: Callable[[str], bool] = lambda key: True,
) -> dict[str, Any]:
    """Adds a MetaGraph's nodes and collections to `graph`, below `import_scope`.

    Returns the variables of the scope by their names in the MetaGraph.
    """
    return import_scoped_meta_graph_with_return_elements(
        meta_graph_or_file,
        clear_devices,
        graph,
        import_scope,
        input_map,
        unbound_inputs_col_name,
        restore_collections_predicate,
    )[0]


def import_scoped_meta_graph_with_return_elements(
    meta_graph_or_file: Any,
    clear_devices: bool = False,
    graph: Graph | None = None,
    import_scope: str | None = None,
    input_map: dict[str, Any] | None = None,
    unbound_inputs_col_name: str | None = "unbound_inputs",
    restore_collections_predicate: Callable[[str], bool] = lambda key: True,
    return_elements: list[str] | None = None,
) -> tuple[dict[str, Any], list[Any] | None]:
    """As `import_scoped_meta_graph`; also returns the elements that `return_elements` names."""
    is_message = hasattr(meta_graph_or_file, "graph_def")
    message = meta_graph_or_file if is_message else read_meta_graph_file(meta_graph_or_file)
    if unbound_inputs_col_name and unbound_inputs_col_name in message.collection_def:
        _check_bound(message.collection_def[unbound_inputs_col_name], input_map)
    graph = checked_graph(graph)
    with graph.as_default():
        if clear_devices:
            for node in message.graph_def.node:
                node.device = ""
        scope = graph.unique_name(import_scope or "", mark_as_used=False)
        has_ops = message.meta_info_def.HasField("stripped_op_list")
        elements = import_graph_def(
            message.graph_def,
            name=import_scope or scope,
            input_map=input_map,
            producer_op_list=message.meta_info_def.stripped_op_list if has_ops else None,
            return_elements=return_elements,
        )
        restore = CollectionReader(graph, message, scope)
        for key in in_order(message.collection_def):
            if key != unbound_inputs_col_name and restore_collections_predicate(key):
                restore(key)
        variables = graph.get_collection(GraphKeys.GLOBAL_VARIABLES, scope=scope)
        return {strip_name_scope(v.name, scope): v for v in variables}, elements


def _check_bound(collection: Any, input_map: dict[str, Any] | None) -> None:
    kind = collection.WhichOneof("kind")
    names = [text(v) for v in getattr(collection, kind).value] if kind else []
    if names and (not input_map or sorted(names) != sorted(input_map)):
        missing = ",".join(n for n in names if not input_map or n not in input_map)
        raise ValueError(
            f"Graph contains unbound inputs: {missing}. Must provide these inputs through"
            " input_map."
        )


def copy_scoped_meta_graph(
    from_scope: str,
    to_scope: str,
    from_graph: Graph | None = None,
    to_graph: Graph | None = None,
) -> dict[str, Any]:
    """Copies what lies below one scope to another, of the same graph or not."""
    from_graph, to_graph = checked_graph(from_graph), checked_graph(to_graph)
    if from_graph is to_graph and from_scope == to_scope:
        raise ValueError(
            "'from_scope' and 'to_scope' need to be different when performing copy in the same"
            " graph."
        )
    message, _ = export_scoped_meta_graph(export_scope=from_scope, graph=from_graph)
    return import_scoped_meta_graph(message, graph=to_graph, import_scope=to_scope)
