"""Messages of queue runners and readers that the tensorboard package does not ship."""

from __future__ import annotations

from weft.protos.declare import messages

_CODES = (
    "OK CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS"
    " PERMISSION_DENIED RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED"
    " INTERNAL UNAVAILABLE DATA_LOSS UNAUTHENTICATED"
)
_classes = messages(
    "tensorflow/core/protobuf/queue_runner.proto",
    {
        "QueueRunnerDef": """
            1 queue_name string
            2 enqueue_op_name [string]
            3 close_op_name string
            4 cancel_op_name string
            5 queue_closed_exception_types [Code]
        """,
        "ReaderBaseState": """
            1 work_started int64
            2 work_finished int64
            3 num_records_produced int64
            4 current_work bytes
        """,
    },
    enums={"Code": _CODES.split()},
)
QueueRunnerDef = _classes["QueueRunnerDef"]
ReaderBaseState = _classes["ReaderBaseState"]
