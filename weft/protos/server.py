"""`ServerDef`, which the tensorboard package does not ship; its parts are tensorboard's."""

from __future__ import annotations

from tensorboard.compat.proto import cluster_pb2, config_pb2

from weft.protos.declare import messages

_classes = messages(
    "weft/protos/server.proto",
    {
        "ServerDef": """
            1 cluster ClusterDef
            2 job_name string
            3 task_index int32
            4 default_session_config ConfigProto
            5 protocol string
        """
    },
    imports=[cluster_pb2.DESCRIPTOR, config_pb2.DESCRIPTOR],
)
ServerDef = _classes["ServerDef"]
ServerDef.__doc__ = "A task of a cluster: where all tasks are, and which of them this one is."
