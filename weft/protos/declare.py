"""Messages that the tensorboard package does not ship, declared as text.

They live in a pool of their own, so that a process which also loads TensorFlow does not declare
them twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_Field = descriptor_pb2.FieldDescriptorProto
_SCALARS = {
    "string": _Field.TYPE_STRING,
    "bytes": _Field.TYPE_BYTES,
    "bool": _Field.TYPE_BOOL,
    "int32": _Field.TYPE_INT32,
    "int64": _Field.TYPE_INT64,
    "uint64": _Field.TYPE_UINT64,
    "fixed32": _Field.TYPE_FIXED32,
    "fixed64": _Field.TYPE_FIXED64,
    "double": _Field.TYPE_DOUBLE,
}
_PACKAGE = "tensorflow"


def messages(
    file_name: str, declarations: dict[str, str], imports: Sequence[Any] = ()
) -> dict[str, Any]:
    """Message name -> class.

    A declaration has a line for each field: number, name, type; "[type]" is repeated, "type?" knows
    whether it was set. A type is a scalar, another message of the same call, or one of the files in
    `imports`, whose pool and package the new messages then share.
    """
    package = imports[0].package if imports else _PACKAGE
    pool = imports[0].pool if imports else descriptor_pool.DescriptorPool()
    file = descriptor_pb2.FileDescriptorProto(name=file_name, package=package, syntax="proto3")
    file.dependency.extend(other.name for other in imports)
    for name, fields in declarations.items():
        message = file.message_type.add(name=name)
        for line in filter(None, map(str.strip, fields.splitlines())):
            number, field, kind = line.split()
            _add_field(message, int(number), field, kind, package)
    pool.AddSerializedFile(file.SerializeToString())
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{package}.{name}"))
        for name in declarations
    }


def _add_field(message: Any, number: int, name: str, kind: str, package: str) -> None:
    field = message.field.add(name=name, number=number)
    repeated = kind.startswith("[")
    field.label = _Field.LABEL_REPEATED if repeated else _Field.LABEL_OPTIONAL
    if kind.endswith("?"):
        field.oneof_index = len(message.oneof_decl)
        message.oneof_decl.add(name=f"has_{name}")
    kind = kind.strip("[]?")
    if kind in _SCALARS:
        field.type = _SCALARS[kind]
    else:
        field.type, field.type_name = _Field.TYPE_MESSAGE, f".{package}.{kind}"
