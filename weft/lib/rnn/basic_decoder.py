"""A decoder made of a cell, a helper that gives inputs, and a layer for the outputs."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

from weft.core import nest
from weft.core.shapes import TensorShape
from weft.graph.graph import name_scope
from weft.lib.layers.base import Layer
from weft.lib.rnn.cells import assert_like_rnncell
from weft.lib.rnn.decoder import Decoder
from weft.lib.rnn.helper import Helper

BasicDecoderOutput = namedtuple("BasicDecoderOutput", ("rnn_output", "sample_id"))


def layered_output_size(cell: Any, output_layer: Layer | None) -> Any:
    """The size of a cell's output after `output_layer`."""
    size = cell.output_size
    if output_layer is None:
        return size
    batched = nest.map_structure(lambda s: TensorShape([None]).concatenate(s), size)
    return nest.map_structure(lambda s: s[1:], output_layer.compute_output_shape(batched))


class BasicDecoder(Decoder):
    """Calls the cell, then `output_layer`, then lets the helper sample and go on."""

    def __init__(
        self, cell: Any, helper: Helper, initial_state: Any, output_layer: Layer | None = None
    ) -> None:
        assert_like_rnncell("cell", cell)
        if not isinstance(helper, Helper):
            raise TypeError(f"helper must be a Helper, received: {type(helper)}")
        if output_layer is not None and not isinstance(output_layer, Layer):
            raise TypeError(f"output_layer must be a Layer, received: {type(output_layer)}")
        self._cell, self._helper = cell, helper
        self._initial_state, self._output_layer = initial_state, output_layer

    @property
    def batch_size(self) -> Any:
        return self._helper.batch_size

    @property
    def output_size(self) -> BasicDecoderOutput:
        return BasicDecoderOutput(
            rnn_output=layered_output_size(self._cell, self._output_layer),
            sample_id=self._helper.sample_ids_shape,
        )

    @property
    def output_dtype(self) -> BasicDecoderOutput:
        dtype = nest.flatten(self._initial_state)[0].dtype
        sizes = layered_output_size(self._cell, self._output_layer)
        return BasicDecoderOutput(
            nest.map_structure(lambda _: dtype, sizes), self._helper.sample_ids_dtype
        )

    def initialize(self, name: str | None = None) -> Any:
        return (*self._helper.initialize(), self._initial_state)

    def step(self, time: Any, inputs: Any, state: Any, name: str | None = None) -> Any:
        with name_scope(name, "BasicDecoderStep", [time]):
            outputs, cell_state = self._cell(inputs, state)
            if self._output_layer is not None:
                outputs = self._output_layer(outputs)
            ids = self._helper.sample(time=time, outputs=outputs, state=cell_state)
            finished, next_inputs, next_state = self._helper.next_inputs(
                time=time, outputs=outputs, state=cell_state, sample_ids=ids
            )
        return BasicDecoderOutput(outputs, ids), next_state, next_inputs, finished
