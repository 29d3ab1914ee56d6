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
    "uint32": _Field.TYPE_UINT32,
    "uint64": _Field.TYPE_UINT64,
    "fixed32": _Field.TYPE_FIXED32,
    "fixed64": _Field.TYPE_FIXED64,
    "float": _Field.TYPE_FLOAT,
    "double": _Field.TYPE_DOUBLE,
}
_PACKAGE = "tensorflow"


def messages(
    file_name: str,
    declarations: dict[str, str],
    imports: Sequence[Any] = (),
    enums: dict[str, Sequence[str]] | None = None,
    package: str = _PACKAGE,
) -> dict[str, Any]:
    """Message name -> class.

    A declaration has a line for each field: number, name, type and, for a member of a oneof, the
    oneof's name. "[type]" is repeated, "{type}" a map from strings, "type?" knows whether it was
    set. A type is a scalar, another message of the same call, one of `enums` (whose values count
    from 0), or one of the files in `imports`, whose pool and package the new messages then share.
    """
    package = imports[0].package if imports else package
    pool = imports[0].pool if imports else descriptor_pool.DescriptorPool()
    file = descriptor_pb2.FileDescriptorProto(name=file_name, package=package, syntax="proto3")
    file.dependency.extend(other.name for other in imports)
    for name, values in (enums or {}).items():
        enum = file.enum_type.add(name=name)
        for number, value in enumerate(values):
            enum.value.add(name=value, number=number)
    kinds = _SCALARS | {name: _Field.TYPE_ENUM for name in enums or ()}
    for name, fields in declarations.items():
        message = file.message_type.add(name=name)
        for line in filter(None, map(str.strip, fields.splitlines())):
            _add_field(message, line, package, kinds)
    pool.AddSerializedFile(file.SerializeToString())
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{package}.{name}"))
        for name in declarations
    }


def _add_field(message: Any, line: str, package: str, kinds: dict[str, Any]) -> None:
    number, name, kind, *oneof = line.split()
    field = message.field.add(name=name, number=int(number))
    repeated = kind[0] in "[{"
    field.label = _Field.LABEL_REPEATED if repeated else _Field.LABEL_OPTIONAL
    if kind.endswith("?"):
        oneof = [f"has_{name}"]
    for group in oneof:
        known = [each.name for each in message.oneof_decl]
        if group not in known:
            message.oneof_decl.add(name=group)
        field.oneof_index = [*known, group].index(group)
    kind, is_map = kind.strip("[]{}?"), kind.startswith("{")
    if is_map:
        entry = message.nested_type.add(name=name.title().replace("_", "") + "Entry")
        entry.options.map_entry = True
        _add_field(entry, "1 key string", package, kinds)
        _add_field(entry, f"2 value {kind}", package, kinds)
        kind = f"{message.name}.{entry.name}"
    field.type = kinds.get(kind, _Field.TYPE_MESSAGE)
    if kind not in _SCALARS:
        field.type_name = f".{package}.{kind}"
