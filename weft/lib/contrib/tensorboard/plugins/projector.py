"""tf.contrib.tensorboard.plugins.projector: which embeddings TensorBoard is to show."""

from __future__ import annotations

import os
from typing import Any

from google.protobuf import text_format
from tensorboard.plugins.projector.projector_config_pb2 import EmbeddingInfo as EmbeddingInfo
from tensorboard.plugins.projector.projector_config_pb2 import ProjectorConfig as ProjectorConfig
from tensorboard.plugins.projector.projector_config_pb2 import SpriteMetadata as SpriteMetadata

from weft.storage import file_io


def visualize_embeddings(summary_writer: Any, config: ProjectorConfig) -> None:
    """Writes `config` to the folder of `summary_writer`, where TensorBoard looks for it."""
    logdir = summary_writer.get_logdir()
    if logdir is None:
        raise ValueError("Summary writer must have a logdir")
    text = text_format.MessageToString(config)
    file_io.write_string_to_file(os.path.join(logdir, "projector_config.pbtxt"), text)
