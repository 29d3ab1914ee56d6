"""Messages of queue runners and readers that the tensorboard package does not ship.

They live in a pool of their own, so that a process which also loads TensorFlow does not declare
them twice.
"""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_Field = descriptor_pb2.FieldDescriptorProto
_TYPES = {
    "string": _Field.TYPE_STRING,
    "int64": _Field.TYPE_INT64,
    "bytes": _Field.TYPE_BYTES,
    "code": _Field.TYPE_ENUM,
}
_CODES = (
    "OK CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS"
    " PERMISSION_DENIED RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED"
    " INTERNAL UNAVAILABLE DATA_LOSS UNAUTHENTICATED"
)

# Message -> (number, name, type); a type in brackets is repeated.
_MESSAGES: dict[str, list[tuple[int, str, str]]] = {
    "QueueRunnerDef": [
        (1, "queue_name", "string"),
        (2, "enqueue_op_name", "[string]"),
        (3, "close_op_name", "string"),
        (4, "cancel_op_name", "string"),
        (5, "queue_closed_exception_types", "[code]"),
    ],
    "ReaderBaseState": [
        (1, "work_started", "int64"),
        (2, "work_finished", "int64"),
        (3, "num_records_produced", "int64"),
        (4, "current_work", "bytes"),
    ],
}


def _build() -> dict[str, Any]:
    pool = descriptor_pool.DescriptorPool()
    codes = descriptor_pb2.FileDescriptorProto(
        name="tensorflow/core/lib/core/error_codes.proto",
        package="tensorflow.error",
        syntax="proto3",
    )
    enum = codes.enum_type.add(name="Code")
    for number, name in enumerate(_CODES.split()):
        enum.value.add(name=name, number=number)
    pool.Add(codes)
    file = descriptor_pb2.FileDescriptorProto(
        name="tensorflow/core/protobuf/queue_runner.proto",
        package="tensorflow",
        syntax="proto3",
        dependency=[codes.name],
    )
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for number, field_name, kind in fields:
            field = message.field.add(name=field_name, number=number)
            repeated = kind.startswith("[")
            field.label = _Field.LABEL_REPEATED if repeated else _Field.LABEL_OPTIONAL
            field.type = _TYPES[kind.strip("[]")]
            if field.type == _Field.TYPE_ENUM:
                field.type_name = ".tensorflow.error.Code"
    pool.Add(file)
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"tensorflow.{name}"))
        for name in _MESSAGES
    }


_classes = _build()
QueueRunnerDef = _classes["QueueRunnerDef"]
ReaderBaseState = _classes["ReaderBaseState"]
