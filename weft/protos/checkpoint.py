"""Messages of checkpoint files: the index of tensor bundles (V2), tables of slices (V1), the graph
of objects that `tf.train.Checkpoint` saves, and the `checkpoint` file that names the latest.

Enumerations are plain numbers here, and a tensor within a V1 record is left as bytes: on the wire
that is the same.
"""

from __future__ import annotations

from weft.protos.declare import messages

_classes = messages(
    "tensorflow/core/protobuf/weft_checkpoint.proto",
    {
        "VersionDef": """
            1 producer int32
            2 min_consumer int32
            3 bad_consumers [int32]
        """,
        "Dim": """
            1 size int64
            2 name string
        """,
        "TensorShapeProto": """
            2 dim [Dim]
            3 unknown_rank bool
        """,
        "Extent": """
            1 start int64
            2 length int64?
        """,
        "TensorSliceProto": """
            1 extent [Extent]
        """,
        "BundleHeaderProto": """
            1 num_shards int32
            2 endianness int32
            3 version VersionDef
        """,
        "BundleEntryProto": """
            1 dtype int32
            2 shape TensorShapeProto
            3 shard_id int32
            4 offset int64
            5 size int64
            6 crc32c fixed32
            7 slices [TensorSliceProto]
        """,
        "SavedSliceMeta": """
            1 name string
            2 shape TensorShapeProto
            3 type int32
            4 slice [TensorSliceProto]
        """,
        "SavedTensorSliceMeta": """
            1 tensor [SavedSliceMeta]
            2 versions VersionDef
        """,
        "SavedSlice": """
            1 name string
            2 slice TensorSliceProto
            3 data bytes
        """,
        "SavedTensorSlices": """
            1 meta SavedTensorSliceMeta
            2 data SavedSlice
        """,
        "CheckpointState": """
            1 model_checkpoint_path string
            2 all_model_checkpoint_paths [string]
            3 all_model_checkpoint_timestamps [double]
            4 last_preserved_timestamp double
        """,
        "ObjectReference": """
            1 node_id int32
            2 local_name string
        """,
        "SerializedTensor": """
            1 name string
            2 full_name string
            3 checkpoint_key string
            4 optional_restore bool
        """,
        "SlotVariableReference": """
            1 original_variable_node_id int32
            2 slot_name string
            3 slot_variable_node_id int32
        """,
        "TrackableObject": """
            1 children [ObjectReference]
            2 attributes [SerializedTensor]
            3 slot_variables [SlotVariableReference]
        """,
        "TrackableObjectGraph": """
            1 nodes [TrackableObject]
        """,
    },
)
BundleHeaderProto = _classes["BundleHeaderProto"]
BundleEntryProto = _classes["BundleEntryProto"]
TensorShapeProto = _classes["TensorShapeProto"]
TensorSliceProto = _classes["TensorSliceProto"]
SavedTensorSlices = _classes["SavedTensorSlices"]
SavedSliceMeta = _classes["SavedSliceMeta"]
CheckpointState = _classes["CheckpointState"]
TrackableObjectGraph = _classes["TrackableObjectGraph"]
