"""Type specs as messages: the types of signatures whose values consist of several tensors."""

from __future__ import annotations

from typing import Any

from tensorboard.compat.proto.struct_pb2 import StructuredValue, TypeSpecProto

from weft.core.dtypes import DType, as_dtype
from weft.core.shapes import TensorShape
from weft.graph.type_spec import IndexedSlicesSpec, SparseTensorSpec, TypeSpec
from weft.ragged.spec import RaggedTensorSpec

_CLASSES: dict[str, Any] = {
    "SPARSE_TENSOR_SPEC": SparseTensorSpec,
    "INDEXED_SLICES_SPEC": IndexedSlicesSpec,
    "RAGGED_TENSOR_SPEC": RaggedTensorSpec,
}


def encode_spec(spec: TypeSpec) -> Any:
    """The message of a spec: its class and what its constructor takes."""
    for name, kind in _CLASSES.items():
        if type(spec) is kind:
            return TypeSpecProto(
                type_spec_class=TypeSpecProto.TypeSpecClass.Value(name),
                type_spec_class_name=kind.__name__,
                type_state=_encode(spec._serialize()),
            )
    raise ValueError(f"No encoder for a {type(spec).__name__}: {spec}")


def decode_spec(message: Any) -> Any:
    """The spec of a message."""
    name = TypeSpecProto.TypeSpecClass.Name(message.type_spec_class)
    if name not in _CLASSES:
        raise ValueError(f"The type '{message.type_spec_class_name}' is not supported.")
    return _CLASSES[name]._deserialize(_decode(message.type_state))


def _encode(part: Any) -> Any:
    value = StructuredValue()
    if part is None:
        value.none_value.SetInParent()
    elif isinstance(part, TensorShape):
        value.tensor_shape_value.CopyFrom(part.as_proto())
    elif isinstance(part, DType):
        value.tensor_dtype_value = part.as_datatype_enum
    elif isinstance(part, int):
        value.int64_value = part
    elif isinstance(part, str):
        value.string_value = part
    elif isinstance(part, tuple):
        value.tuple_value.values.extend(map(_encode, part))
        value.tuple_value.SetInParent()
    else:
        raise ValueError(f"No encoder for {part!r}")
    return value


def _decode(value: Any) -> Any:
    kind = value.WhichOneof("kind")
    if kind == "tuple_value":
        return tuple(map(_decode, value.tuple_value.values))
    if kind == "tensor_shape_value":
        return TensorShape(value.tensor_shape_value)
    if kind == "tensor_dtype_value":
        return as_dtype(value.tensor_dtype_value)
    if kind == "none_value":
        return None
    if kind in ("int64_value", "string_value"):
        return getattr(value, kind)
    raise ValueError(f"No decoder for {value}")
