"""Checkpoints that `tf.train.Checkpoint` wrote, for Savers, which know variables by name."""

from __future__ import annotations

from weft.core import errors
from weft.ops.files.slice_files import open_checkpoint
from weft.protos.checkpoint import TrackableObjectGraph

OBJECT_GRAPH_PROTO_KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"


def object_graph_key_mapping(checkpoint_path: str) -> dict[str, str]:
    """Variable name -> key in a checkpoint that `tf.train.Checkpoint` wrote."""
    with open_checkpoint(checkpoint_path) as reader:
        content = reader.read(OBJECT_GRAPH_PROTO_KEY.encode())
    graph = TrackableObjectGraph()
    graph.ParseFromString(content.item())
    return {
        attribute.full_name: attribute.checkpoint_key
        for node in graph.nodes
        for attribute in node.attributes
    }


def check_all_there(current: set[str], previous: set[str]) -> None:
    """NotFoundError if a name of now is none of those of the checkpoint."""
    missing = current - previous
    if missing:
        raise errors.NotFoundError(
            None,
            None,
            f"\n\nExisting variables not in the checkpoint: {', '.join(sorted(missing))}\n\n"
            "Variables names when this checkpoint was written which don't exist now: "
            f"{', '.join(sorted(previous - current))}\n\n"
            f"({len(previous & current)} variable name(s) did match)\n\n"
            "Could not find some variables in the checkpoint (see names above). It was written by "
            "tf.train.Checkpoint and is read by variable names: they may have changed, or new "
            "variables may have come. Saver(var_list=...) takes the variables that existed then, "
            "or a dictionary from old names to variables.",
        )
