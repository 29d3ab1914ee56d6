"""Nested Python values and type specs as messages: what functions take and return."""

from __future__ import annotations

import collections
from collections.abc import Callable, Mapping
from typing import Any

from tensorboard.compat.proto.struct_pb2 import StructuredValue, TypeSpecProto

from weft.core.dtypes import DType, as_dtype
from weft.core.shapes import TensorShape
from weft.graph.type_spec import IndexedSlicesSpec, SparseTensorSpec, TensorSpec, TypeSpec
from weft.lib.ragged.spec import RaggedTensorSpec

_CLASSES: dict[str, Any] = {
    "SPARSE_TENSOR_SPEC": SparseTensorSpec,
    "INDEXED_SLICES_SPEC": IndexedSlicesSpec,
    "RAGGED_TENSOR_SPEC": RaggedTensorSpec,
}


class NotEncodableError(ValueError):
    """Raised for a value that no message can hold."""


def encode_spec(spec: TypeSpec) -> Any:
    """The message of a spec: its class and what its constructor takes."""
    for name, kind in _CLASSES.items():
        if type(spec) is kind:
            return TypeSpecProto(
                type_spec_class=TypeSpecProto.TypeSpecClass.Value(name),
                type_spec_class_name=kind.__name__,
                type_state=encode(spec._serialize()),
            )
    raise NotEncodableError(f"No encoder for a {type(spec).__name__}: {spec}")


def decode_spec(message: Any) -> Any:
    """The spec of a message."""
    name = TypeSpecProto.TypeSpecClass.Name(message.type_spec_class)
    if name not in _CLASSES:
        raise ValueError(f"The type '{message.type_spec_class_name}' is not supported.")
    return _CLASSES[name]._deserialize(decode(message.type_state))


# ---- values -> messages -------------------------------------------------------------------------


def encode(part: Any) -> Any:
    """The message of a nested structure of specs and plain values."""
    value = StructuredValue()
    if part is None:
        value.none_value.SetInParent()
        return value
    for kinds, fill in _ENCODERS:
        if isinstance(part, kinds):
            fill(value, part)
            return value
    raise NotEncodableError(f"No encoder for object [{part}] of type [{type(part)}].")


def _fill_sequence(value: Any, part: Any) -> None:
    if hasattr(part, "_fields"):
        value.named_tuple_value.name = type(part).__name__
        for name in part._fields:
            pair = value.named_tuple_value.values.add(key=name)
            pair.value.CopyFrom(encode(getattr(part, name)))
        return
    held = value.tuple_value if isinstance(part, tuple) else value.list_value
    held.SetInParent()
    held.values.extend(map(encode, part))


def _fill_mapping(value: Any, part: Any) -> None:
    value.dict_value.SetInParent()
    for key, each in part.items():
        if not isinstance(key, str):
            raise NotEncodableError(f"Keys of a dictionary must be strings, got {key!r}.")
        value.dict_value.fields[key].CopyFrom(encode(each))


def _fill_tensor_spec(value: Any, spec: Any) -> None:
    held = value.tensor_spec_value
    held.name, held.dtype = spec.name or "", spec.dtype.as_datatype_enum
    held.shape.CopyFrom(spec.shape.as_proto())


def _set(field: str) -> Callable[[Any, Any], None]:
    return lambda value, part: setattr(value, field, part)


# The first that fits counts: a bool is an int as well.
_ENCODERS: list[tuple[Any, Callable[[Any, Any], None]]] = [
    (TensorShape, lambda value, part: value.tensor_shape_value.CopyFrom(part.as_proto())),
    (DType, lambda value, part: setattr(value, "tensor_dtype_value", part.as_datatype_enum)),
    (TensorSpec, _fill_tensor_spec),
    (TypeSpec, lambda value, part: value.type_spec_value.CopyFrom(encode_spec(part))),
    (bool, _set("bool_value")),
    (int, _set("int64_value")),
    (float, _set("float64_value")),
    (str, _set("string_value")),
    ((tuple, list), _fill_sequence),
    (Mapping, _fill_mapping),
]


# ---- messages -> values -------------------------------------------------------------------------


def decode(value: Any) -> Any:
    """The structure of a message."""
    kind = value.WhichOneof("kind")
    if kind in _DECODERS:
        return _DECODERS[kind](getattr(value, kind))
    if kind in ("int64_value", "float64_value", "string_value", "bool_value"):
        return getattr(value, kind)
    raise ValueError(f"No decoder for {value}")


def _named_tuple(message: Any) -> Any:
    made = collections.namedtuple(message.name, [pair.key for pair in message.values])  # type: ignore[misc]
    return made(*(decode(pair.value) for pair in message.values))


def _tensor_spec(message: Any) -> TensorSpec:
    shape, dtype = TensorShape(message.shape), as_dtype(message.dtype)
    return TensorSpec(shape, dtype, message.name or None)


_DECODERS: dict[str | None, Callable[[Any], Any]] = {
    "none_value": lambda message: None,
    "tensor_shape_value": TensorShape,
    "tensor_dtype_value": as_dtype,
    "tensor_spec_value": _tensor_spec,
    "bounded_tensor_spec_value": _tensor_spec,
    "type_spec_value": decode_spec,
    "list_value": lambda message: [decode(each) for each in message.values],
    "tuple_value": lambda message: tuple(decode(each) for each in message.values),
    "dict_value": lambda message: {key: decode(each) for key, each in message.fields.items()},
    "named_tuple_value": _named_tuple,
}
