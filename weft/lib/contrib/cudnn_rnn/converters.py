"""Weights of recurrent layers in two forms: as NVIDIA's library has them, and as cells do.

NVIDIA's form is one vector, made of a matrix and a bias for each gate: those on the inputs of a
layer, then those on its state. A cell joins gates, and inputs with state, into kernels of its own;
how, is told by the `_Kernel`s of each kind of cell.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from weft.graph.op_def import raw
from weft.graph.tensor import Tensor
from weft.lib.contrib.cudnn_rnn.layers import CUDNN_INPUT_LINEAR_MODE, CUDNN_RNN_UNIDIRECTION
from weft.ops.array import array

CUDNN_LSTM, CUDNN_GRU = "lstm", "gru"
CUDNN_RNN_RELU, CUDNN_RNN_TANH = "rnn_relu", "rnn_tanh"
# Half on the inputs, half on the state.
CUDNN_LSTM_PARAMS_PER_LAYER, CUDNN_GRU_PARAMS_PER_LAYER = 8, 6
CUDNN_RNN_TANH_PARAMS_PER_LAYER = CUDNN_RNN_RELU_PARAMS_PER_LAYER = 2


class _Kernel(NamedTuple):
    """A kernel of a cell: the gates it has, side by side, and what they read."""

    gates: tuple[int, ...]
    on_inputs: bool = True
    on_state: bool = True
    name: str = ""

    @property
    def halves(self) -> tuple[int, ...]:
        """0 for matrices on inputs, 1 for those on the state."""
        return tuple(i for i, read in enumerate((self.on_inputs, self.on_state)) if read)


Lists = tuple[list[Tensor], list[Tensor]]


class CudnnParamsFormatConverter:
    """Converts the weights of stacked recurrent layers between both forms.

    Args:
        num_layers: the number of layers.
        num_units: the size of a layer.
        input_size: that of the input.
        num_proj: the size of a projection of the outputs, if there is one.
        input_mode: "linear_input", "skip_input" or "auto_select".
        direction: "unidirectional" or "bidirectional".
    """

    _rnn_mode = ""
    _num_params_per_layer = 0
    _kernels: tuple[_Kernel, ...] = ()

    def __init__(
        self,
        num_layers: int,
        num_units: int,
        input_size: int,
        num_proj: int | None = None,
        input_mode: str = CUDNN_INPUT_LINEAR_MODE,
        direction: str = CUDNN_RNN_UNIDIRECTION,
    ) -> None:
        self._num_layers, self._num_units, self._input_size = num_layers, num_units, input_size
        self._num_proj, self._input_mode, self._direction = num_proj, input_mode, direction
        self._num_dirs = 1 if direction == CUDNN_RNN_UNIDIRECTION else 2
        self._places = num_layers * self._num_dirs
        self._num_params = self._num_params_per_layer * self._places

    # ---- both ways ----

    def tf_canonical_to_opaque(self, tf_canonicals: Sequence[Any], weights_proj: Any = None) -> Any:
        """The vector of kernels and biases of cells: all kernels first, then all biases."""
        half, each = len(tf_canonicals) // 2, len(self._kernels)
        kernels = _grouped(tf_canonicals[:half], each)
        biases = _grouped(tf_canonicals[half:], each)
        matrices: list[Any] = []
        for place, some in enumerate(kernels):
            matrices += self._matrices(place // self._num_dirs, some)
            if weights_proj is not None:
                matrices.append(array.transpose(weights_proj[place]))
        flat = [array.reshape(matrix, [-1]) for matrix in matrices]
        return self._joined(flat, [bias for some in biases for bias in self._vectors(some)])

    def opaque_to_tf_canonical(self, opaque_param: Any) -> tuple[list[Tensor], ...]:
        """(kernels, biases) of cells, and matrices of projections if there are some."""
        matrices, vectors = self._parted(opaque_param)
        per_place = self._num_params_per_layer
        kernels: list[Tensor] = []
        projections: list[Tensor] = []
        for some in _grouped(matrices, per_place + bool(self._num_proj)):
            kernels += self._joined_kernels(some[:per_place])
            projections += [array.transpose(each) for each in some[per_place:]]
        biases = [b for some in _grouped(vectors, per_place) for b in self._joined_biases(some)]
        return (kernels, biases, projections) if self._num_proj else (kernels, biases)

    # ---- the vector ----

    def _described(self) -> tuple[dict[str, Any], str]:
        """What the operations are told, and their version."""
        told: dict[str, Any] = {
            "num_layers": self._num_layers,
            "num_units": self._num_units,
            "input_size": self._input_size,
            "rnn_mode": self._rnn_mode,
            "input_mode": self._input_mode,
            "direction": self._direction,
        }
        return ({**told, "num_proj": self._num_proj}, "V2") if self._num_proj else (told, "")

    def _parted(self, opaque_param: Any) -> Lists:
        told, version = self._described()
        counts = {"num_params": self._num_params}
        if version:
            counts = {
                "num_params_weights": self._num_params + self._places,
                "num_params_biases": self._num_params,
            }
        part = getattr(raw, f"CudnnRNNParamsToCanonical{version}")
        weights, biases = part(params=opaque_param, **told, **counts)
        return list(weights), list(biases)

    def _joined(self, weights: list[Any], biases: list[Any]) -> Any:
        told, version = self._described()
        join = getattr(raw, f"CudnnRNNCanonicalToParams{version}")
        return join(weights=weights, biases=biases, **told)

    # ---- a layer in one direction ----

    def _joined_kernels(self, matrices: Sequence[Any]) -> Iterator[Tensor]:
        halves = _grouped(matrices, len(matrices) // 2)
        for kernel in self._kernels:
            rows = [_beside([halves[i][gate] for i in kernel.halves]) for gate in kernel.gates]
            yield array.transpose(array.concat(rows, 0))

    def _joined_biases(self, vectors: Sequence[Any]) -> Iterator[Tensor]:
        """Biases of inputs and state are added: a cell has one for both."""
        halves = _grouped(vectors, len(vectors) // 2)
        for kernel in self._kernels:
            parts = [[halves[i][gate] for i in kernel.halves] for gate in kernel.gates]
            yield array.concat(
                [part[0] if len(part) == 1 else part[0] + part[1] for part in parts], 0
            )

    def _matrices(self, layer: int, kernels: Sequence[Any]) -> list[Any]:
        width, state = self._input_size, self._num_proj or self._num_units
        if layer:
            width = state * self._num_dirs

        def parts(row: Any, kernel: _Kernel) -> list[Any]:
            sizes = [(width, state)[i] for i in kernel.halves]
            return [row] if len(sizes) == 1 else array.split(row, sizes, axis=1)

        return self._by_gate(map(array.transpose, kernels), parts)

    def _vectors(self, biases: Sequence[Any]) -> list[Any]:
        """Each bias that was a sum becomes two halves."""

        def parts(row: Any, kernel: _Kernel) -> list[Any]:
            return [row] if len(kernel.halves) == 1 else [row * 0.5] * 2

        return self._by_gate(biases, parts)

    def _by_gate(self, joined: Any, parts: Any) -> list[Any]:
        """All gates on inputs, then all on the state, out of what has gates side by side."""
        found: dict[tuple[int, int], Any] = {}
        for kernel, value in zip(self._kernels, joined, strict=True):
            count = len(kernel.gates)
            rows = [value] if count == 1 else array.split(value, count, axis=0)
            for gate, row in zip(kernel.gates, rows, strict=True):
                pairs = zip(kernel.halves, parts(row, kernel), strict=True)
                found.update(((half, gate), part) for half, part in pairs)
        return [found[key] for key in sorted(found)]


def _grouped(values: Sequence[Any], size: int) -> list[Sequence[Any]]:
    return [values[i : i + size] for i in range(0, len(values), size)]


def _beside(matrices: list[Any]) -> Any:
    return matrices[0] if len(matrices) == 1 else array.concat(matrices, 1)


# ---- kinds of layers ---------------------------------------------------------------------------


class CudnnParamsFormatConverterLSTM(CudnnParamsFormatConverter):
    """Weights of LSTM layers: cells have the new value before the forget gate."""

    _rnn_mode = CUDNN_LSTM
    _num_params_per_layer = CUDNN_LSTM_PARAMS_PER_LAYER
    _kernels = (_Kernel((0, 2, 1, 3)),)


class CudnnParamsFormatConverterGRU(CudnnParamsFormatConverter):
    """Weights of GRU layers: the new value has kernels of its own for inputs and state."""

    _rnn_mode = CUDNN_GRU
    _num_params_per_layer = CUDNN_GRU_PARAMS_PER_LAYER
    _kernels = (
        _Kernel((0, 1), name="/gates"),
        _Kernel((2,), on_state=False, name="/candidate/input_projection"),
        _Kernel((2,), on_inputs=False, name="/candidate/hidden_projection"),
    )


class CudnnParamsFormatConverterBasic(CudnnParamsFormatConverter):
    """Weights of plain layers, which have no gates."""

    _kernels = (_Kernel((0,)),)


class CudnnParamsFormatConverterTanh(CudnnParamsFormatConverterBasic):
    """Weights of plain layers with tanh."""

    _rnn_mode = CUDNN_RNN_TANH
    _num_params_per_layer = CUDNN_RNN_TANH_PARAMS_PER_LAYER


class CudnnParamsFormatConverterRelu(CudnnParamsFormatConverterBasic):
    """Weights of plain layers with relu."""

    _rnn_mode = CUDNN_RNN_RELU
    _num_params_per_layer = CUDNN_RNN_RELU_PARAMS_PER_LAYER
