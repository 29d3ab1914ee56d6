"""The messages that control-flow contexts travel in, with TensorFlow's names and field numbers.

The tensorboard package does not ship them. They live in a pool of their own, so that a process
which also loads TensorFlow does not declare them twice.
"""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_Field = descriptor_pb2.FieldDescriptorProto
_PACKAGE = "tensorflow"
_SCALARS = {"string": _Field.TYPE_STRING, "int32": _Field.TYPE_INT32, "bool": _Field.TYPE_BOOL}

# Message -> lines of "number name type"; a type in brackets is repeated.
_MESSAGES = {
    "ValuesDef": """
        1 values [string]
        2 external_values map
    """,
    "ControlFlowContextDef": """
        1 cond_ctxt CondContextDef
        2 while_ctxt WhileContextDef
    """,
    "CondContextDef": """
        1 context_name string
        2 pred_name string
        3 pivot_name string
        4 branch int32
        5 values_def ValuesDef
        6 nested_contexts [ControlFlowContextDef]
    """,
    "WhileContextDef": """
        1 context_name string
        2 parallel_iterations int32
        3 back_prop bool
        4 swap_memory bool
        5 pivot_name string
        6 pivot_for_pred_name string
        7 pivot_for_body_name string
        8 loop_exit_names [string]
        10 loop_enter_names [string]
        9 values_def ValuesDef
        11 maximum_iterations_name string
        12 nested_contexts [ControlFlowContextDef]
    """,
}
_ONEOFS = {"ControlFlowContextDef": "ctxt"}


def _field(message: Any, number: int, name: str, kind: str) -> None:
    field = message.field.add(name=name, number=number)
    repeated = kind.startswith("[") or kind == "map"
    field.label = _Field.LABEL_REPEATED if repeated else _Field.LABEL_OPTIONAL
    kind = kind.strip("[]")
    if kind == "map":
        entry = message.nested_type.add(name="ExternalValuesEntry")
        entry.options.map_entry = True
        _field(entry, 1, "key", "string")
        _field(entry, 2, "value", "string")
        kind = f"{message.name}.{entry.name}"
    if kind in _SCALARS:
        field.type = _SCALARS[kind]
    else:
        field.type, field.type_name = _Field.TYPE_MESSAGE, f".{_PACKAGE}.{kind}"
    if message.oneof_decl:
        field.oneof_index = 0


def _build() -> dict[str, Any]:
    file = descriptor_pb2.FileDescriptorProto(
        name="tensorflow/core/protobuf/control_flow.proto", package=_PACKAGE, syntax="proto3"
    )
    for name, lines in _MESSAGES.items():
        message = file.message_type.add(name=name)
        if name in _ONEOFS:
            message.oneof_decl.add(name=_ONEOFS[name])
        for line in lines.split("\n"):
            if line.strip():
                number, field, kind = line.split()
                _field(message, int(number), field, kind)
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}"))
        for name in _MESSAGES
    }


_classes = _build()
ValuesDef = _classes["ValuesDef"]
ControlFlowContextDef = _classes["ControlFlowContextDef"]
CondContextDef = _classes["CondContextDef"]
WhileContextDef = _classes["WhileContextDef"]
