"""Embeddings for TensorBoard's projector: outputs of layers on given data, in a checkpoint."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core import dtypes
from weft.lib.keras import backend as K
from weft.lib.train.checkpoint.saver import Saver
from weft.ops.array import array
from weft.ops.math import sequence
from weft.ops.state.updates import scatter_update
from weft.ops.state.variables import Variable


class EmbeddingsWriter:
    """Computes embeddings batch by batch into variables, and saves these.

    `owner` is the TensorBoard callback, with its model, data and names of layers.
    """

    def __init__(self, owner: Any) -> None:
        self.owner = owner
        given = owner.embeddings_data
        self.data = [
            np.asarray(x) for x in (given if isinstance(given, (list, tuple)) else [given])
        ]
        self._start = array.placeholder(dtypes.int32, [])
        self._size = array.placeholder(dtypes.int32, [])
        self._variables = {layer.name: self._variable(layer) for layer in self._layers()}
        self._updates = [self._update(*item) for item in self._variables.items()]
        self._saver = Saver(list(self._variables.values()))
        K.get_session().run([each.initializer for each in self._variables.values()])
        self._describe()

    def _layers(self) -> list[Any]:
        names = self.owner.embeddings_layer_names
        layers = self.owner.model.layers
        if not names:
            return [layer for layer in layers if type(layer).__name__ == "Embedding"]
        return [layer for layer in layers if layer.name in names]

    def _variable(self, layer: Any) -> Any:
        width = int(np.prod(layer.output.shape.as_list()[1:]))
        rows = self.data[0].shape[0]
        return Variable(np.zeros((rows, width), np.float32), name=f"{layer.name}_embedding")

    def _update(self, name: str, variable: Any) -> Any:
        output = self.owner.model.get_layer(name).output
        rows = array.reshape(output, [self._size, int(variable.shape[1])])
        places = sequence.range(self._start, self._start + self._size)
        return scatter_update(variable, places, rows)

    def _describe(self) -> None:
        """The configuration that tells the projector where to look."""
        from tensorboard.plugins.projector.projector_config_pb2 import ProjectorConfig

        config = ProjectorConfig()
        metadata = self.owner.embeddings_metadata
        for name, variable in self._variables.items():
            path = metadata if isinstance(metadata, str) else (metadata or {}).get(name)
            config.embeddings.add(tensor_name=variable.name, metadata_path=path)
        self._write_config(str(config))

    def _write_config(self, text: str) -> None:
        from weft.storage.file_io import FileIO

        with FileIO(f"{self.owner.log_dir}/projector_config.pbtxt", "w") as file:
            file.write(text)

    def write(self, epoch: int) -> None:
        session = K.get_session()
        inputs = self.owner.model.inputs
        for start in range(0, len(self.data[0]), self.owner.batch_size):
            part = slice(start, start + self.owner.batch_size)
            feeds: dict[Any, Any] = {
                x: values[part] for x, values in zip(inputs, self.data, strict=True)
            }
            feeds |= {self._start: start, self._size: len(self.data[0][part])}
            phase = K.learning_phase()
            if not isinstance(phase, int):
                feeds[phase] = False
            session.run(self._updates, feeds)
        self._saver.save(session, self.owner.embeddings_path, epoch)
