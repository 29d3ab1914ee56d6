"""Collections of a graph <-> CollectionDef.

Tensors and operations travel as names, numbers and strings as they are; a collection of other
objects needs functions to and from a message (`register_proto_function`).
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from weft.core.errors import InvalidArgumentError
from weft.graph.graph import Graph, get_default_graph
from weft.graph.keys import GraphKeys

_LOG = logging.getLogger("weft")
UNBOUND = "$unbound_inputs_"


# ---- collections of objects -------------------------------------------------------------------


class ProtoFunctions(NamedTuple):
    """How the items of one collection become messages and come back."""

    proto_type: Any
    to_proto: Callable[..., Any] | None
    from_proto: Callable[..., Any] | None


_NO_FUNCTIONS = ProtoFunctions(None, None, None)
_functions: dict[str, ProtoFunctions] = {}


def register_proto_function(
    collection_name: str,
    proto_type: Any = None,
    to_proto: Callable[..., Any] | None = None,
    from_proto: Callable[..., Any] | None = None,
) -> None:
    """Items of `collection_name` are written as `proto_type` messages.

    `to_proto(item, export_scope=)` returns a message, or None for an item that is left out;
    `from_proto(message, import_scope=)` returns the item again.
    """
    if to_proto and not callable(to_proto):
        raise TypeError("to_proto must be callable.")
    if from_proto and not callable(from_proto):
        raise TypeError("from_proto must be callable.")
    if collection_name in _functions:
        raise KeyError(f"Registering two proto functions with name '{collection_name}'!")
    _functions[collection_name] = ProtoFunctions(proto_type, to_proto, from_proto)


def proto_functions(collection_name: str) -> ProtoFunctions:
    return _functions.get(collection_name, _NO_FUNCTIONS)


def get_collection_proto_type(collection_name: str) -> Any:
    return proto_functions(collection_name).proto_type


def get_to_proto_function(collection_name: str) -> Callable[..., Any] | None:
    return proto_functions(collection_name).to_proto


def get_from_proto_function(collection_name: str) -> Callable[..., Any] | None:
    return proto_functions(collection_name).from_proto


# ---- names and scopes -------------------------------------------------------------------------


def text(value: str | bytes) -> str:
    return value.decode("utf-8") if isinstance(value, bytes) else value


def strip_name_scope(name: Any, export_scope: str | None) -> Any:
    """`name` relative to `export_scope`; "^" and "loc:@" stay in front."""
    if not export_scope or not isinstance(name, str | bytes):
        return name
    scope = re.escape(export_scope.rstrip("/"))
    return re.sub(rf"([\^]|loc:@|^){scope}[\/]+(.*)", r"\1\2", text(name), count=1)


def prepend_name_scope(name: Any, import_scope: str | None) -> Any:
    """`name` below `import_scope`; "^" and "loc:@" stay in front."""
    if not import_scope or not isinstance(name, str | bytes):
        return name
    mark, rest = re.fullmatch(r"(\^|loc:@|)(.*)", text(name), re.DOTALL).groups()  # type: ignore[union-attr]
    return f"{mark}{import_scope.rstrip('/')}/{rest}"


def is_exported(item: Any, export_scope: str | None, excluded: frozenset[str]) -> bool:
    """Whether a name, or something with a name, belongs to what is written."""
    name = item if isinstance(item, str) else getattr(item, "name", None)
    if not isinstance(name, str):
        return True
    if name in excluded:
        return False
    if name.lstrip("^").startswith(UNBOUND):
        return True
    return not export_scope or name.startswith(export_scope)


# ---- writing --------------------------------------------------------------------------------


def checked_graph(graph: Graph | None) -> Graph:
    if graph is not None and not isinstance(graph, Graph):
        raise TypeError(f"graph must be of type Graph, not {type(graph)}")
    return graph if graph is not None else get_default_graph()


def add_collection_def(
    meta_graph_def: Any,
    key: Any,
    graph: Graph | None = None,
    export_scope: str | None = None,
    exclude_nodes: Iterable[str] | None = None,
    override_contents: list[Any] | None = None,
) -> None:
    """Writes one collection; one that cannot be written is left out with a warning."""
    graph = checked_graph(graph)
    if not isinstance(key, str | bytes):
        _LOG.warning(
            "Only collections with string type keys will be serialized. This key has %s", type(key)
        )
        return
    key = text(key)
    excluded = frozenset(exclude_nodes or ())
    items = override_contents or graph.get_collection(key)
    items = [item for item in items if is_exported(item, export_scope, excluded)]
    if not items:
        return
    try:
        _fill_collection(meta_graph_def.collection_def[key], key, items, export_scope)
    except Exception as error:
        # Anything may be in a collection; what cannot travel must not stop the rest.
        _LOG.warning(
            "Issue encountered when serializing %s.\nType is unsupported, or the types of the items"
            " don't match field type in CollectionDef. Note this is a warning and probably safe to"
            " ignore.\n%s",
            key,
            error,
        )
        meta_graph_def.collection_def.pop(key, None)


def _fill_collection(message: Any, key: str, items: list[Any], export_scope: str | None) -> None:
    proto_type, to_proto, _ = proto_functions(key)
    if to_proto is not None:
        for item in items:
            proto = to_proto(item, export_scope=export_scope)
            if proto is not None:
                if not isinstance(proto, proto_type):
                    raise TypeError(f"expected {proto_type}, got {type(proto)}")
                message.bytes_list.value.append(proto.SerializeToString())
        return
    first = items[0]
    if isinstance(first, str | bytes):
        message.bytes_list.value.extend(i if isinstance(i, bytes) else i.encode() for i in items)
    elif isinstance(first, int):
        message.int64_list.value.extend(items)
    elif isinstance(first, float):
        message.float_list.value.extend(items)
    elif getattr(getattr(first, "DESCRIPTOR", None), "full_name", "") == "google.protobuf.Any":
        message.any_list.value.extend(items)
    else:
        names = [strip_name_scope(item.name, export_scope) for item in items]
        message.node_list.value.extend(names)


# ---- reading --------------------------------------------------------------------------------


def in_order(collections: Any) -> list[str]:
    """Trainable variables first: in old files that is where it says that they are trainable."""
    first = GraphKeys.TRAINABLE_VARIABLES
    return sorted(collections, key=lambda key: (key != first, key))


class CollectionReader:
    """Puts collections of a MetaGraph back; a variable in several of them is made once."""

    def __init__(self, graph: Graph, message: Any, scope: str) -> None:
        self.graph, self.scope = graph, scope
        self.collections = message.collection_def
        version = message.meta_info_def.tensorflow_version
        # VariableDef.trainable came with TensorFlow 1.9.
        self.knows_trainable = not version or _release(version) >= (1, 9)
        self.variables: dict[bytes, Any] = {}

    def __call__(self, key: str) -> None:
        message = self.collections[key]
        kind = message.WhichOneof("kind")
        if kind is None:
            _LOG.error("Cannot identify data type for collection %s. Skipping.", key)
            return
        is_metric = key == GraphKeys.METRIC_VARIABLES
        functions = proto_functions(GraphKeys.GLOBAL_VARIABLES if is_metric else key)
        values = getattr(message, kind).value
        for value in values:
            try:
                item = self.item(key, kind, functions, value)
            except KeyError as error:
                text = f"The collection {key!r} does not fit the graph: {error.args[0]}"
                raise ValueError(text) from error
            self.graph.add_to_collection(key, item)

    def item(self, key: str, kind: str, functions: ProtoFunctions, value: Any) -> Any:
        if functions.from_proto is not None and kind == "bytes_list":
            return self.object(key, functions, value)
        if kind == "node_list":
            return self.graph.as_graph_element(prepend_name_scope(value, self.scope))
        return prepend_name_scope(value, self.scope) if kind == "bytes_list" else value

    def object(self, key: str, functions: ProtoFunctions, value: bytes) -> Any:
        from google.protobuf.message import DecodeError

        is_variable = key in GraphKeys._VARIABLE_COLLECTIONS
        if is_variable and value in self.variables:
            return self.variables[value]
        assert functions.from_proto is not None
        proto = functions.proto_type()
        try:
            proto.ParseFromString(value)
        except DecodeError as error:
            raise InvalidArgumentError(
                None, None, f"The collection {key!r} holds no {proto.DESCRIPTOR.name}: {error}"
            ) from error
        if is_variable and not self.knows_trainable:
            proto.trainable = key == GraphKeys.TRAINABLE_VARIABLES
        item = functions.from_proto(proto, import_scope=self.scope)
        if is_variable:
            self.variables[value] = item
        return item


def _release(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2])
