"""LSTM cells whose products are convolutions."""

from __future__ import annotations

from typing import Any

from weft.core.shapes import TensorShape
from weft.graph.graph import Tensor
from weft.lib.rnn.basic_cells import LSTMStateTuple
from weft.lib.rnn.cells import KERNEL, RNNCell
from weft.lib.rnn.gates import cut, remembered
from weft.ops.array import join as array_join
from weft.ops.math import unary
from weft.ops.math.math import sigmoid
from weft.ops.nn import conv as nn_conv
from weft.ops.state import variable_scope as vs
from weft.ops.state.initializers import constant_initializer


class ConvLSTMCell(RNNCell):
    """An LSTM whose gates are convolutions of the inputs and the state."""

    def __init__(
        self,
        conv_ndims: int,
        input_shape: Any,
        output_channels: int,
        kernel_shape: Any,
        use_bias: bool = True,
        skip_connection: bool = False,
        forget_bias: float = 1.0,
        initializers: Any = None,
        name: str = "conv_lstm_cell",
    ) -> None:
        super().__init__(name=name)
        if conv_ndims != len(input_shape) - 1:
            raise ValueError(f"Invalid input_shape {input_shape} for conv_ndims={conv_ndims}.")
        self._conv_ndims, self._kernel_shape = conv_ndims, list(kernel_shape)
        self._output_channels, self._use_bias = output_channels, use_bias
        self._forget_bias, self._skip_connection = forget_bias, skip_connection
        self._spatial = list(input_shape[:-1])
        self._output_depth = output_channels + (input_shape[-1] if skip_connection else 0)

    @property
    def output_size(self) -> TensorShape:
        return TensorShape([*self._spatial, self._output_depth])

    @property
    def state_size(self) -> LSTMStateTuple:
        size = TensorShape([*self._spatial, self._output_channels])
        return LSTMStateTuple(size, size)

    def call(self, inputs: Any, state: Any, scope: Any = None) -> tuple[Tensor, LSTMStateTuple]:
        c, h = state
        channels = self._conv_ndims + 1
        i, j, f, o = cut(self._convolved([inputs, h], channels), 4, channels)
        c = remembered(c, i, j, f + self._forget_bias, unary.tanh)
        output = unary.tanh(c) * sigmoid(o)
        if self._skip_connection:
            output = array_join.concat([output, inputs], axis=-1)
        return output, LSTMStateTuple(c, output)

    def _convolved(self, parts: list[Tensor], channels: int) -> Tensor:
        features, depth = 4 * self._output_channels, sum(x.shape.as_list()[-1] or 0 for x in parts)
        kernel = vs.get_variable(
            KERNEL, [*self._kernel_shape, depth, features], dtype=parts[0].dtype
        )
        x = array_join.concat(parts, channels)
        if self._conv_ndims == 1:
            result = nn_conv.conv1d(x, kernel, 1, padding="SAME")
        else:
            convolve = nn_conv.conv2d if self._conv_ndims == 2 else nn_conv.conv3d
            result = convolve(x, kernel, [1] * (self._conv_ndims + 2), padding="SAME")
        if not self._use_bias:
            return result
        return result + vs.get_variable(
            "biases", [features], dtype=x.dtype, initializer=constant_initializer(0.0, x.dtype)
        )


class Conv1DLSTMCell(ConvLSTMCell):
    """A ConvLSTMCell over sequences."""

    def __init__(self, name: str = "conv_1d_lstm_cell", **kwargs: Any) -> None:
        super().__init__(conv_ndims=1, name=name, **kwargs)


class Conv2DLSTMCell(ConvLSTMCell):
    """A ConvLSTMCell over images."""

    def __init__(self, name: str = "conv_2d_lstm_cell", **kwargs: Any) -> None:
        super().__init__(conv_ndims=2, name=name, **kwargs)


class Conv3DLSTMCell(ConvLSTMCell):
    """A ConvLSTMCell over volumes."""

    def __init__(self, name: str = "conv_3d_lstm_cell", **kwargs: Any) -> None:
        super().__init__(conv_ndims=3, name=name, **kwargs)
