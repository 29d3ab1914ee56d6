"""Vectors of weights that are saved as the kernels and biases of cells, and restored from them."""

from __future__ import annotations

from typing import Any

from weft.lib.contrib.cudnn_rnn import converters
from weft.lib.contrib.cudnn_rnn.layers import (
    CUDNN_INPUT_LINEAR_MODE,
    CUDNN_RNN_UNIDIRECTION,
    prefix_of,
)
from weft.lib.train.checkpoint.saver_saveable import SaveableObject, SaveSpec
from weft.ops.array.placeholders import identity
from weft.ops.state.updates import assign
from weft.ops.state.variable_scope import VariableScope


class CudnnOpaqueParamsSaveable(SaveableObject):
    """A vector of weights in checkpoints that any cells can read.

    Kernels of all layers come first, then their biases; of each layer those of the forward
    direction, then those of the other.

    Args:
        opaque_params: the variable with the vector.
        num_layers: the number of layers.
        num_units: the size of a layer.
        input_size: that of the input.
        input_mode: "linear_input", "skip_input" or "auto_select".
        direction: "unidirectional" or "bidirectional".
        scope: the scope that cells with these weights would be in.
        name: of this object.
    """

    _format_converter_cls: type[converters.CudnnParamsFormatConverter]
    _rnn_cell_name = ""

    def __init__(
        self,
        opaque_params: Any,
        num_layers: int,
        num_units: int,
        input_size: int,
        input_mode: str = CUDNN_INPUT_LINEAR_MODE,
        direction: str = CUDNN_RNN_UNIDIRECTION,
        scope: Any = None,
        name: str = "cudnn_rnn_saveable",
    ) -> None:
        self._num_layers, self._direction = num_layers, direction
        self._variables = opaque_params
        self._scope = (scope.name if isinstance(scope, VariableScope) else scope) or None
        self._format_converter = self._format_converter_cls(
            num_layers, num_units, input_size, input_mode=input_mode, direction=direction
        )
        weights, biases = self._format_converter.opaque_to_tf_canonical(opaque_params)
        self._weight_names, self._bias_names = self._tf_canonical_names()
        self._param_names = self._weight_names + self._bias_names
        specs = [
            SaveSpec(value, "", f"{self._scope}/{own}" if self._scope else own)
            for value, own in zip(weights + biases, self._param_names, strict=True)
        ]
        super().__init__(identity(opaque_params), specs, name)

    @property
    def format_converter(self) -> converters.CudnnParamsFormatConverter:
        return self._format_converter

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        vector = self.format_converter.tf_canonical_to_opaque(restored_tensors)
        return assign(self._variables, vector, validate_shape=False)

    def _tf_canonical_names(self) -> tuple[list[str], list[str]]:
        ways = 1 if self._direction == CUDNN_RNN_UNIDIRECTION else 2
        names = [
            prefix_of(self._rnn_cell_name, layer, way, ways) + kernel.name
            for layer in range(self._num_layers)
            for way in range(ways)
            for kernel in self._format_converter_cls._kernels
        ]
        return [f"{name}/kernel" for name in names], [f"{name}/bias" for name in names]


class CudnnLSTMSaveable(CudnnOpaqueParamsSaveable):
    """Weights of LSTM layers, saved as those of `CudnnCompatibleLSTMCell`s."""

    _format_converter_cls = converters.CudnnParamsFormatConverterLSTM
    _rnn_cell_name = "cudnn_compatible_lstm_cell"


class CudnnGRUSaveable(CudnnOpaqueParamsSaveable):
    """Weights of GRU layers, saved as those of `CudnnCompatibleGRUCell`s."""

    _format_converter_cls = converters.CudnnParamsFormatConverterGRU
    _rnn_cell_name = "cudnn_compatible_gru_cell"


class CudnnRNNTanhSaveable(CudnnOpaqueParamsSaveable):
    """Weights of plain layers with tanh, saved as those of `BasicRNNCell`s."""

    _format_converter_cls = converters.CudnnParamsFormatConverterTanh
    _rnn_cell_name = "basic_rnn_cell"


class CudnnRNNReluSaveable(CudnnOpaqueParamsSaveable):
    """Weights of plain layers with relu, saved as those of `BasicRNNCell`s."""

    _format_converter_cls = converters.CudnnParamsFormatConverterRelu
    _rnn_cell_name = "basic_rnn_cell"
