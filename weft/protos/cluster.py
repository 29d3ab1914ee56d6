"""The messages of TensorFlow's master and worker services, with its names and field numbers.

Fields whose messages the tensorboard package ships (GraphDef, ConfigProto, TensorProto, ...) are
bytes here: on the wire a message inside of another is just that. Whoever needs one parses it, and
tensors are taken out without being parsed at all (`cluster/transport/wire.py`).
"""

from __future__ import annotations

from typing import Any

from weft.protos.declare import messages

_DEVICES = {
    "DeviceLocality": """
        1 bus_id int32
        2 numa_node int32
        3 links bytes
    """,
    "DeviceAttributes": """
        1 name string
        2 device_type string
        4 memory_limit int64
        5 locality DeviceLocality
        6 incarnation fixed64
        7 physical_device_desc string
    """,
    "NamedTensorProto": """
        1 name string
        2 tensor bytes
    """,
}

_MASTER = {
    "CreateSessionRequest": """
        1 graph_def bytes
        2 config bytes
        3 target string
    """,
    "CreateSessionResponse": """
        1 session_handle string
        2 graph_version int64
        1001 frame_port int32
        1002 frame_name string
    """,
    "ExtendSessionRequest": """
        1 session_handle string
        2 graph_def bytes
        3 current_graph_version int64
    """,
    "ExtendSessionResponse": "4 new_graph_version int64",
    "RunStepRequest": """
        1 session_handle string
        2 feed [NamedTensorProto]
        3 fetch [string]
        4 target [string]
        5 options bytes
        6 partial_run_handle string
        7 store_errors_in_response_body bool
        8 request_id int64
    """,
    "RunStepResponse": """
        1 tensor [NamedTensorProto]
        2 metadata bytes
        3 status_code int32
        4 status_error_message string
    """,
    "PartialRunSetupRequest": """
        1 session_handle string
        2 feed [string]
        3 fetch [string]
        4 target [string]
        5 request_id int64
    """,
    "PartialRunSetupResponse": "1 partial_run_handle string",
    "CloseSessionRequest": "1 session_handle string",
    "CloseSessionResponse": "",
    "ResetRequest": """
        1 container [string]
        2 device_filters [string]
    """,
    "ResetResponse": "",
    "ListDevicesRequest": "1 session_handle string",
    "ListDevicesResponse": """
        1 local_device [DeviceAttributes]
        2 remote_device [DeviceAttributes]
    """,
    "MakeCallableRequest": """
        1 session_handle string
        2 options bytes
        3 request_id int64
    """,
    "MakeCallableResponse": "1 handle int64",
    "RunCallableRequest": """
        1 session_handle string
        2 handle int64
        3 feed [bytes]
        4 request_id int64
    """,
    "RunCallableResponse": """
        1 fetch [bytes]
        2 metadata bytes
    """,
    "ReleaseCallableRequest": """
        1 session_handle string
        2 handle int64
    """,
    "ReleaseCallableResponse": "",
}

_WORKER = {
    "GetStatusRequest": "",
    # The last fields are ours: TensorFlow skips them, and its own workers do not set them.
    "GetStatusResponse": """
        1 device_attributes [DeviceAttributes]
        1000 cleans_up bool
        1001 frame_port int32
        1002 frame_name string
    """,
    "CreateWorkerSessionRequest": """
        1 session_handle string
        2 server_def bytes
        3 isolate_session_state bool
        4 cluster_device_attributes [DeviceAttributes]
    """,
    "CreateWorkerSessionResponse": "",
    "DeleteWorkerSessionRequest": "1 session_handle string",
    "DeleteWorkerSessionResponse": "",
    "RegisterGraphRequest": """
        1 session_handle string
        2 graph_def bytes
        3 has_control_flow bool
        4 graph_options bytes
        5 debug_options bytes
        6 create_worker_session_called bool
        7 collective_graph_key int64
    """,
    "RegisterGraphResponse": "1 graph_handle string",
    "DeregisterGraphRequest": """
        1 graph_handle string
        2 session_handle string
        3 create_worker_session_called bool
    """,
    "DeregisterGraphResponse": "",
    "CleanupAllRequest": "1 container [string]",
    "CleanupAllResponse": "",
    "ExecutorOpts": """
        1 record_costs bool
        3 record_timeline bool
        4 record_partition_graphs bool
        5 report_tensor_allocations_upon_oom bool
    """,
    "RunGraphRequest": """
        1 graph_handle string
        2 step_id int64
        3 send [NamedTensorProto]
        4 recv_key [string]
        5 exec_opts ExecutorOpts
        6 is_partial bool
        7 is_last_partial_run bool
        8 session_handle string
        9 store_errors_in_response_body bool
        10 create_worker_session_called bool
        11 request_id int64
    """,
    "RunGraphResponse": """
        1 recv [NamedTensorProto]
        2 step_stats bytes
        3 cost_graph bytes
        4 partition_graph [bytes]
        5 status_code int32
        6 status_error_message string
    """,
    "CleanupGraphRequest": "1 step_id int64",
    "CleanupGraphResponse": "",
    "RecvTensorRequest": """
        1 step_id int64
        2 rendezvous_key string
        3 dma_ok bool
        4 client_locality DeviceLocality
        5 server_locality DeviceLocality
        6 transport_options bytes
        7 request_id int64
    """,
    "LoggingRequest": """
        1 enable_rpc_logging bool
        4 disable_rpc_logging bool
        2 clear bool
        3 fetch_step_id [int64]
    """,
    "LoggingResponse": "1 step [bytes]",
    "TracingRequest": "1 options bytes",
    "TracingResponse": "",
    "MarkRecvFinishedRequest": "1 request_id int64",
    "MarkRecvFinishedResponse": "",
}

_classes = messages("tensorflow/core/protobuf/cluster.proto", {**_DEVICES, **_MASTER, **_WORKER})

DeviceAttributes = _classes["DeviceAttributes"]


def message(name: str) -> Any:
    """The class of a message of the master or worker service."""
    return _classes[name]
