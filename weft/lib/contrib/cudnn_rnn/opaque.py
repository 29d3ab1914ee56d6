"""Recurrent layers with all weights in one vector, as functions and as objects.

Programs know this, with the converters, saveables and cells, as the module
`tensorflow.contrib.cudnn_rnn.python.ops.cudnn_rnn_ops`.
"""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.core.signatures import with_parameters_of
from weft.graph.constant import constant
from weft.graph.op_def import raw
from weft.graph.random_seed import get_seed
from weft.graph.tensor import Tensor
from weft.lib.contrib.cudnn_rnn.converters import (
    CUDNN_GRU,
    CUDNN_LSTM,
    CUDNN_RNN_RELU,
    CUDNN_RNN_TANH,
)
from weft.lib.contrib.cudnn_rnn.layers import (
    CUDNN_INPUT_LINEAR_MODE,
    CUDNN_RNN_UNIDIRECTION,
    check_direction,
    check_input_mode,
)
from weft.ops.array import array
from weft.ops.array.fill import fill
from weft.ops.nn.cudnn_layers import GATES

_MODES = (CUDNN_LSTM, CUDNN_GRU, CUDNN_RNN_TANH, CUDNN_RNN_RELU)
Three = tuple[Tensor, Tensor, Tensor]


def _kind(
    rnn_mode: str, input_mode: str, direction: str, dropout: float, seed: int | None
) -> dict[str, Any]:
    """The attributes that all operations have, checked."""
    if rnn_mode not in _MODES:
        raise ValueError(f"Invalid rnn_mode: {rnn_mode}, expect one of ({', '.join(_MODES)})")
    check_direction(direction)
    check_input_mode(input_mode)
    seed, seed2 = get_seed(seed)
    return {
        "rnn_mode": rnn_mode,
        "input_mode": input_mode,
        "direction": direction,
        "dropout": dropout,
        "seed": seed or 0,
        "seed2": seed2 or 0,
    }


# ---- running -----------------------------------------------------------------------------------


def _run(
    rnn_mode: str,
    states: tuple[Any, Any, Any, Any],
    is_training: bool,
    sequence_lengths: Any,
    time_major: bool,
    kind: tuple[Any, ...],
    num_proj: int | None = None,
    name: str | None = None,
) -> Three:
    """Runs layers over `states`: inputs, h, c and the vector of weights."""
    told = {**_kind(rnn_mode, *kind), "is_training": is_training, "name": name}
    if sequence_lengths is None and time_major and not num_proj:
        outputs, h, c, _ = raw.CudnnRNN(*states, **told)
        return outputs, h, c
    if sequence_lengths is None:
        sizes = array.shape(states[0])
        batch, steps = (sizes[1], sizes[0]) if time_major else (sizes[0], sizes[1])
        sequence_lengths = fill([batch], steps)
    more = {"time_major": time_major, "num_proj": num_proj or 0}
    outputs, h, c, _, _ = raw.CudnnRNNV3(*states, sequence_lengths, **told, **more)
    return outputs, h, c


def cudnn_lstm(
    inputs: Any,
    input_h: Any,
    input_c: Any,
    params: Any,
    is_training: bool,
    sequence_lengths: Any = None,
    time_major: bool = True,
    input_mode: str = CUDNN_INPUT_LINEAR_MODE,
    direction: str = CUDNN_RNN_UNIDIRECTION,
    dropout: float = 0.0,
    seed: int | None = 0,
    num_proj: int | None = None,
    name: str | None = None,
) -> Three:
    """(outputs, h, c) of LSTM layers."""
    kind = (input_mode, direction, dropout, seed)
    states = (inputs, input_h, input_c, params)
    return _run(CUDNN_LSTM, states, is_training, sequence_lengths, time_major, kind, num_proj, name)


def _without_c(rnn_mode: str, given: dict[str, Any]) -> tuple[Tensor, Tensor]:
    """(outputs, h) of layers with one state, by the parameters of `cudnn_gru`."""
    nothing = constant([], dtype=given["input_h"].dtype)
    states = (given["inputs"], given["input_h"], nothing, given["params"])
    kind = tuple(given[key] for key in ("input_mode", "direction", "dropout", "seed"))
    how = (given["is_training"], given["sequence_lengths"], given["time_major"], kind)
    outputs, h, _ = _run(rnn_mode, states, *how, name=given["name"])
    return outputs, h


def cudnn_gru(
    inputs: Any,
    input_h: Any,
    params: Any,
    is_training: bool,
    sequence_lengths: Any = None,
    time_major: bool = True,
    input_mode: str = CUDNN_INPUT_LINEAR_MODE,
    direction: str = CUDNN_RNN_UNIDIRECTION,
    dropout: float = 0.0,
    seed: int | None = 0,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """(outputs, h) of GRU layers."""
    return _without_c(CUDNN_GRU, dict(locals()))


@with_parameters_of(cudnn_gru)
def cudnn_rnn_tanh(**given: Any) -> tuple[Tensor, Tensor]:
    """(outputs, h) of plain layers with tanh."""
    return _without_c(CUDNN_RNN_TANH, given)


@with_parameters_of(
    cudnn_gru,
    without=("sequence_lengths", "time_major"),
    extra={"sequence_lengths": ("seed", None), "time_major": ("sequence_lengths", True)},
)
def cudnn_rnn_relu(**given: Any) -> tuple[Tensor, Tensor]:
    """(outputs, h) of plain layers with relu."""
    return _without_c(CUDNN_RNN_RELU, given)


# ---- the vector --------------------------------------------------------------------------------


def cudnn_rnn_opaque_params_to_canonical(
    rnn_mode: str,
    num_layers: int,
    num_units: int,
    input_size: int,
    params: Any,
    input_mode: str = CUDNN_INPUT_LINEAR_MODE,
    direction: str = CUDNN_RNN_UNIDIRECTION,
    dropout: float = 0,
    seed: int | None = 0,
    num_proj: int | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """(matrices, biases) of the gates, out of the vector."""
    kind = _kind(rnn_mode, input_mode, direction, dropout, seed)
    places = num_layers * (1 if direction == CUDNN_RNN_UNIDIRECTION else 2)
    count = 2 * GATES[rnn_mode] * places
    given = (num_layers, num_units, input_size, params)
    if not num_proj:
        return raw.CudnnRNNParamsToCanonical(*given, num_params=count, name=name, **kind)
    counts = {"num_params_weights": count + places, "num_params_biases": count}
    return raw.CudnnRNNParamsToCanonicalV2(*given, num_proj=num_proj, name=name, **counts, **kind)


def cudnn_rnn_canonical_to_opaque_params(
    rnn_mode: str,
    num_layers: int,
    num_units: int,
    input_size: int,
    weights: Any,
    biases: Any,
    input_mode: str = CUDNN_INPUT_LINEAR_MODE,
    direction: str = CUDNN_RNN_UNIDIRECTION,
    dropout: float = 0,
    seed: int | None = 0,
    num_proj: int | None = None,
    name: str | None = None,
) -> Any:
    """The vector of matrices and biases of the gates."""
    kind = _kind(rnn_mode, input_mode, direction, dropout, seed)
    given = (num_layers, num_units, input_size, weights, biases)
    if not num_proj:
        return raw.CudnnRNNCanonicalToParams(*given, name=name, **kind)
    return raw.CudnnRNNCanonicalToParamsV2(*given, num_proj=num_proj, name=name, **kind)


def cudnn_rnn_opaque_params_size(
    rnn_mode: str,
    num_layers: int,
    num_units: int,
    input_size: int,
    input_mode: str = CUDNN_INPUT_LINEAR_MODE,
    direction: str = CUDNN_RNN_UNIDIRECTION,
    dtype: Any = dtypes.float32,
    dropout: float = 0,
    seed: int | None = 0,
    num_proj: int | None = None,
    name: str | None = None,
) -> Tensor:
    """The size of the vector."""
    kind = _kind(rnn_mode, input_mode, direction, dropout, seed)
    types = {"T": dtype, "S": dtypes.int32, "num_proj": num_proj or 0}
    sizes = (num_layers, num_units, input_size)
    return raw.CudnnRNNParamsSize(*sizes, name=name, **types, **kind)[0]


# ---- objects -----------------------------------------------------------------------------------


class _CudnnRNN:
    """Layers of one kind and size; the vector of their weights is the caller's."""

    _rnn_mode = ""

    def __init__(
        self,
        num_layers: int,
        num_units: int,
        input_size: int,
        input_mode: str = CUDNN_INPUT_LINEAR_MODE,
        direction: str = CUDNN_RNN_UNIDIRECTION,
        dtype: Any = dtypes.float32,
        dropout: float = 0.0,
        seed: int | None = 0,
    ) -> None:
        self._sizes = {
            "num_layers": num_layers,
            "num_units": num_units,
            "input_size": input_size,
        }
        self._kind = {
            "input_mode": input_mode,
            "direction": direction,
            "dropout": dropout,
            "seed": seed,
        }
        self._dtype = dtype
        self._num_proj: int | None = None

    num_layers = property(lambda self: self._sizes["num_layers"])
    num_units = property(lambda self: self._sizes["num_units"])
    input_size = property(lambda self: self._sizes["input_size"])
    input_mode = property(lambda self: self._kind["input_mode"])
    direction = property(lambda self: self._kind["direction"])
    rnn_mode = property(lambda self: self._rnn_mode)
    num_proj = property(lambda self: self._num_proj)

    @property
    def _described(self) -> dict[str, Any]:
        own = {"rnn_mode": self._rnn_mode, "num_proj": self._num_proj}
        return {**self._sizes, **self._kind, **own}

    def params_size(self) -> Tensor:
        """The size of the vector of weights."""
        return cudnn_rnn_opaque_params_size(dtype=self._dtype, **self._described)

    def params_to_canonical(self, params: Any) -> tuple[Any, Any]:
        """(matrices, biases) of the gates, out of the vector."""
        return cudnn_rnn_opaque_params_to_canonical(params=params, **self._described)

    def canonical_to_params(self, weights: Any, biases: Any) -> Any:
        """The vector of matrices and biases of the gates."""
        return cudnn_rnn_canonical_to_opaque_params(
            weights=weights, biases=biases, **self._described
        )


class CudnnLSTM(_CudnnRNN):
    """LSTM layers; a call returns (outputs, h, c)."""

    _rnn_mode = CUDNN_LSTM

    @with_parameters_of(_CudnnRNN.__init__, extra={"num_proj": ("seed", None)})
    def __init__(self, num_proj: int | None = None, **given: Any) -> None:
        super().__init__(**given)
        self._num_proj = num_proj

    def __call__(
        self,
        input_data: Any,
        input_h: Any,
        input_c: Any,
        params: Any,
        sequence_lengths: Any = None,
        time_major: bool = True,
        is_training: bool = True,
    ) -> Three:
        how = {"sequence_lengths": sequence_lengths, "time_major": time_major, **self._kind}
        states = (input_data, input_h, input_c, params)
        return cudnn_lstm(*states, is_training, num_proj=self._num_proj, **how)


class _OneState(_CudnnRNN):
    """Layers with one state; a call returns (outputs, h)."""

    @with_parameters_of(_CudnnRNN.__init__)
    def __init__(self, direction: str, **given: Any) -> None:
        if direction not in ("unidirectional", "bidirectional"):
            raise ValueError(f"Invalid direction: {direction}")
        super().__init__(direction=direction, **given)

    def __call__(
        self,
        input_data: Any,
        input_h: Any,
        params: Any,
        sequence_lengths: Any = None,
        time_major: bool = True,
        is_training: bool = True,
    ) -> tuple[Tensor, Tensor]:
        given = {
            "inputs": input_data,
            "input_h": input_h,
            "params": params,
            "sequence_lengths": sequence_lengths,
            "time_major": time_major,
            "is_training": is_training,
            "name": None,
        }
        return _without_c(self._rnn_mode, {**given, **self._kind})


class CudnnGRU(_OneState):
    """GRU layers."""

    _rnn_mode = CUDNN_GRU


class CudnnRNNTanh(_OneState):
    """Plain layers with tanh."""

    _rnn_mode = CUDNN_RNN_TANH


class CudnnRNNRelu(_OneState):
    """Plain layers with relu."""

    _rnn_mode = CUDNN_RNN_RELU
