"""The messages of tfdbg's debug servers (`tensorflow.EventListener`)."""

from __future__ import annotations

from tensorboard.compat.proto import tensor_pb2

from weft.protos.declare import messages

_STATES = ("STATE_UNSPECIFIED", "DISABLED", "READ_ONLY", "READ_WRITE")

_replies = messages(
    "tensorflow/core/debug/debug_service_replies.proto",
    {
        "DebugOpStateChange": """
            1 state DebugOpState
            2 node_name string
            3 output_slot int32
            4 debug_op string
        """,
        "EventReply": """
            1 debug_op_state_changes [DebugOpStateChange]
            2 tensor TensorProto
        """,
    },
    [tensor_pb2.DESCRIPTOR],
    {"DebugOpState": _STATES},
)
EventReply = _replies["EventReply"]
DebugOpStateChange = _replies["DebugOpStateChange"]

# The stacks are messages of another package (tfprof's CodeDef and OpLogProto), here as their bytes.
_sources = messages(
    "tensorflow/core/debug/debug_service_sources.proto",
    {
        "IdToString": """
            1 key int64
            2 value string
        """,
        "CallTraceback": """
            1 call_type CallType
            2 call_key string
            3 origin_stack bytes
            4 origin_id_to_string [IdToString]
            5 graph_traceback bytes
            6 graph_version int64
        """,
        "DebuggedSourceFile": """
            1 host string
            2 file_path string
            3 last_modified int64
            4 bytes int64
            5 lines [string]
        """,
        "DebuggedSourceFiles": """
            1 source_files [DebuggedSourceFile]
        """,
    },
    enums={"CallType": ("UNSPECIFIED", "GRAPH_EXECUTION", "EAGER_EXECUTION")},
)
CallTraceback = _sources["CallTraceback"]
DebuggedSourceFiles = _sources["DebuggedSourceFiles"]
SERVICE = "tensorflow.EventListener"
