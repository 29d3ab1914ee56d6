"""Graph <-> GraphDef, attributes <-> AttrValue."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.core.shapes import TensorShape, sizes_in
from weft.graph.attr_values import text_of
from weft.graph.graph import Graph
from weft.graph.op_def import ArgDef, AttrDef, FuncRef, OpDef
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims
from weft.graph.tensor_proto import array_to_proto, proto_to_array


def new_graph_def() -> Any:
    from tensorboard.compat.proto.graph_pb2 import GraphDef

    return GraphDef()


# ---- attributes -------------------------------------------------------------------------------


def attr_to_proto(value: Any, kind: str | None, dtype: DType | None = None) -> Any:
    """An attribute as AttrValue. `kind` is the declared kind; None guesses it from the value."""
    from tensorboard.compat.proto.attr_value_pb2 import AttrValue

    message = AttrValue()
    kind = kind or _guess_kind(value)
    if kind.startswith("list("):
        message.list.SetInParent()
        for item in value:
            _add_to_list(message.list, kind[5:-1], item)
    else:
        _set_scalar(message, kind, value, dtype)
    return message


def _guess_kind(value: Any) -> str:
    if isinstance(value, list):
        return f"list({_guess_kind(value[0])})" if value else "list(string)"
    for kind, types in (
        ("bool", bool), ("int", (int, np.integer)), ("float", float), ("string", (str, bytes)),
        ("type", DType), ("tensor", np.ndarray), ("func", FuncRef),
    ):  # fmt: skip
        if isinstance(value, types):
            return kind
    return "shape"


_FIELD = {"int": "i", "float": "f", "bool": "b", "string": "s", "type": "type"}


def _plain(kind: str, value: Any) -> Any:
    if kind == "string":
        return value.encode("utf-8") if isinstance(value, str) else value
    if kind == "type":
        return value.as_datatype_enum
    return value


def _set_scalar(message: Any, kind: str, value: Any, dtype: DType | None) -> None:
    if kind in _FIELD:
        setattr(message, _FIELD[kind], _plain(kind, value))
    elif kind == "shape":
        message.shape.CopyFrom(TensorShape.from_dims(value).as_proto())
    elif kind == "tensor":
        message.tensor.CopyFrom(array_to_proto(value, dtype))
    else:
        _set_func(message.func, value)


def _set_func(message: Any, value: FuncRef) -> None:
    message.name = value.name
    for name, attr in value.attrs:
        message.attr[name].CopyFrom(attr_to_proto(attr, None))


def _add_to_list(message: Any, kind: str, value: Any) -> None:
    if kind in _FIELD:
        getattr(message, _FIELD[kind]).append(_plain(kind, value))
    elif kind == "shape":
        message.shape.add().CopyFrom(TensorShape.from_dims(value).as_proto())
    elif kind == "tensor":
        message.tensor.add().CopyFrom(array_to_proto(value))
    else:
        _set_func(message.func.add(), value)


def attr_from_proto(message: Any) -> Any:
    """An AttrValue as the plain value attributes are kept in."""
    field = message.WhichOneof("value")
    if field == "list":
        for name, items in message.list.ListFields():
            return [_plain_value(name.name, item) for item in items]
        return []
    return None if field is None else _plain_value(field, getattr(message, field))


def _plain_value(field: str, value: Any) -> Any:
    if field == "s":
        return text_of(value)
    if field == "type":
        return dtypes.as_dtype(value)
    if field == "shape":
        return dims_from_proto(value)
    if field == "tensor":
        return proto_to_array(value)
    if field == "func":
        return FuncRef(value.name, tuple((k, attr_from_proto(v)) for k, v in value.attr.items()))
    return value


def dims_from_proto(message: Any) -> Dims:
    if message.unknown_rank:
        return None
    return tuple([None if size < 0 else size for size in sizes_in(message)])


def public_attr(op: Operation, name: str) -> Any:
    """The value of an attribute as `Operation.get_attr` gives it."""
    value = op.attrs[name]
    attr = op.definition.attrs.get(name)
    kind = attr.kind if attr is not None else _guess_kind(value)
    if kind.startswith("list("):
        return [_public(kind[5:-1], item, op) for item in value]
    return _public(kind, value, op)


def _public(kind: str, value: Any, op: Operation) -> Any:
    if kind == "string":
        return value.encode("utf-8") if isinstance(value, str) else value
    if kind in ("shape", "tensor", "func"):
        message = attr_to_proto(value, kind, op.attrs.get("dtype"))
        return getattr(message, kind)
    return value


# ---- nodes and graphs -------------------------------------------------------------------------


def node_def(op: Operation) -> Any:
    from tensorboard.compat.proto.node_def_pb2 import NodeDef

    message = NodeDef(name=op.name, op=op.type, device=op.device)
    fill_node(message, op, sort_control=False)
    return message


# Attributes that TensorFlow 1.15 does not know, and the values that its graphs mean: they are
# written only where they are set to others.
_NEWER: dict[str, Any] = {"resize_if_index_out_of_bounds": False, "Tsegmentids": dtypes.int32}


def fill_node(message: Any, op: Operation, sort_control: bool = True) -> None:
    """Writes `op`; in GraphDefs the names of control inputs are in order."""
    message.input.extend(t._as_node_def_input() for t in op.inputs)
    names = [f"^{c.name}" for c in op._control_inputs]
    message.input.extend(sorted(names) if sort_control else names)
    declared = op.definition.attrs
    for name, value in op.attrs.items():
        if name in _NEWER and value == _NEWER[name]:
            continue
        attr = declared.get(name)
        dtype = op.attrs.get("dtype") if attr is not None and attr.kind == "tensor" else None
        message.attr[name].CopyFrom(attr_to_proto(value, attr and attr.kind, dtype))


def graph_def(graph: Graph, from_version: int = 0, add_shapes: bool = False) -> Any:
    message = new_graph_def()
    message.versions.producer = graph._producer
    if graph._min_consumer:
        message.versions.min_consumer = graph._min_consumer
    for op in graph.get_operations()[from_version:]:
        node = message.node.add(name=op.name, op=op.type, device=op.device)
        fill_node(node, op)
        if add_shapes and op.outputs:
            shapes = [t.dims for t in op.outputs]
            node.attr["_output_shapes"].CopyFrom(attr_to_proto(shapes, "list(shape)"))
    if graph._functions:
        from weft.graph.function import write_library

        write_library(graph, message.library, add_shapes)
    return message


# ---- signatures -------------------------------------------------------------------------------


@functools.cache
def op_def_proto(definition: OpDef) -> Any:
    """The OpDef message of a registered op."""
    from tensorboard.compat.proto.op_def_pb2 import OpDef as Message

    message = Message(
        name=definition.name,
        is_stateful=definition.stateful,
        is_commutative=definition.commutative,
        is_aggregate=definition.aggregate,
        allows_uninitialized_input=definition.allows_uninitialized,
    )
    for arg in definition.input_args:
        _fill_arg(message.input_arg.add(), arg)
    for arg in definition.output_args:
        _fill_arg(message.output_arg.add(), arg)
    for attr in definition.attrs.values():
        _fill_attr(message.attr.add(), attr)
    return message


def _fill_arg(message: Any, arg: ArgDef) -> None:
    message.name, message.is_ref = arg.name, arg.is_ref
    if arg.type is not None:
        message.type = arg.type.as_datatype_enum
    message.type_attr = arg.type_attr or ""
    message.number_attr = arg.number_attr or ""
    message.type_list_attr = arg.type_list_attr or ""


def _fill_attr(message: Any, attr: AttrDef) -> None:
    message.name, message.type = attr.name, attr.kind
    if attr.minimum is not None:
        message.has_minimum, message.minimum = True, attr.minimum
    if attr.has_default:
        message.default_value.CopyFrom(attr_to_proto(attr.default, attr.kind))
    if attr.allowed is not None:
        kind = "list(type)" if isinstance(attr.allowed[0], DType) else "list(string)"
        message.allowed_values.CopyFrom(attr_to_proto(list(attr.allowed), kind))
