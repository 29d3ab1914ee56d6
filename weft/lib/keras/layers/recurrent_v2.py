"""GRU and LSTM as TensorFlow 2 declares them: with the settings of cuDNN's."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.core.signatures import with_parameters_of
from weft.graph.constant import constant
from weft.graph.graph import device
from weft.lib.keras.layers import recurrent_v1, rnn_cells


class _Runtime:
    """The part of a layer that notes, as a tensor nothing reads, what it ran on: not known."""

    def call(self, *args: Any, **kwargs: Any) -> Any:
        outputs = super().call(*args, **kwargs)  # type: ignore[misc]
        with device("/cpu:0"):
            constant(0.0, dtypes.float32, name="runtime")
        return outputs


class GRUCell(rnn_cells.GRUCell):
    """A gated recurrent unit; r is applied after the matrix product."""

    @with_parameters_of(
        rnn_cells.GRUCell.__init__,
        recurrent_activation="sigmoid",
        implementation=2,
        reset_after=True,
    )
    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)


class LSTMCell(rnn_cells.LSTMCell):
    """A cell with a memory; its gates are sigmoids."""

    @with_parameters_of(
        rnn_cells.LSTMCell.__init__, recurrent_activation="sigmoid", implementation=2
    )
    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)


class GRU(_Runtime, recurrent_v1.GRU):
    """A layer of gated recurrent units; r is applied after the matrix product."""

    _counts_steps = True

    @with_parameters_of(
        recurrent_v1.GRU.__init__,
        extra={"time_major": ("unroll", False)},
        recurrent_activation="sigmoid",
        implementation=2,
        reset_after=True,
    )
    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)


class LSTM(_Runtime, recurrent_v1.LSTM):
    """A layer of long short-term memory; its gates are sigmoids."""

    _counts_steps = True

    @with_parameters_of(
        recurrent_v1.LSTM.__init__,
        extra={"time_major": ("stateful", False)},
        recurrent_activation="sigmoid",
        implementation=2,
    )
    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
