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
BasicDecoderOutput.__doc__ = (
    "One step of a decoder: what the cell gave, and what was drawn from it."
)


def layered_output_size(cell: Any, output_layer: Layer | None) -> Any:
    """The size of a cell's output after `output_layer`."""
    size = cell.output_size
    if output_layer is None:
        return size
    batched = nest.map_structure(TensorShape([None]).concatenate, size)
    shapes = output_layer.compute_output_shape(batched)
    return nest.map_structure(lambda shape: shape[1:], shapes)


def check_output_layer(layer: Any) -> None:
    if layer is not None and not isinstance(layer, Layer):
        raise TypeError(f"output_layer must be a Layer, received: {type(layer)}")


class BasicDecoder(Decoder):
    """Calls the cell, then `output_layer`, then lets the helper sample and go on."""

    def __init__(
        self, cell: Any, helper: Helper, initial_state: Any, output_layer: Layer | None = None
    ) -> None:
        assert_like_rnncell("cell", cell)
        if not isinstance(helper, Helper):
            raise TypeError(f"helper must be a Helper, received: {type(helper)}")
        check_output_layer(output_layer)
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
        first, *_ = nest.flatten(self._initial_state)
        sizes = layered_output_size(self._cell, self._output_layer)
        kinds = nest.map_structure(lambda _: first.dtype, sizes)
        return BasicDecoderOutput(rnn_output=kinds, sample_id=self._helper.sample_ids_dtype)

    def initialize(self, name: str | None = None) -> Any:
        return (*self._helper.initialize(), self._initial_state)

    def step(self, time: Any, inputs: Any, state: Any, name: str | None = None) -> Any:
        with name_scope(name, "BasicDecoderStep", [time]):
            outputs, state = self._cell(inputs, state)
            if self._output_layer is not None:
                outputs = self._output_layer(outputs)
            now = {"time": time, "outputs": outputs, "state": state}
            ids = self._helper.sample(**now)
            finished, following, state = self._helper.next_inputs(**now, sample_ids=ids)
        return BasicDecoderOutput(outputs, ids), state, following, finished
