"""`SavedModel`, which the tensorboard package does not ship; its parts are tensorboard's."""

from __future__ import annotations

from tensorboard.compat.proto import meta_graph_pb2

from weft.protos.declare import messages

_classes = messages(
    "weft/protos/saved_model.proto",
    {
        "SavedModel": """
            1 saved_model_schema_version int64
            2 meta_graphs [MetaGraphDef]
        """
    },
    imports=[meta_graph_pb2.DESCRIPTOR],
)
SavedModel = _classes["SavedModel"]
