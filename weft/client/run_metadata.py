"""RunMetadata, a message of TensorBoard's, with a picture of its own in notebooks."""

from __future__ import annotations

from typing import Any

from tensorboard.compat.proto.config_pb2 import RunMetadata


def _timeline(self: Any) -> str:
    from weft.client.pictures import run_metadata_timeline

    return run_metadata_timeline(self)


RunMetadata._repr_html_ = _timeline
