"""Weights of files from other versions and backends of Keras, in the form that layers have here.

That also goes for LSTM and GRU layers against their cuDNN forms, whose weights are laid out
differently.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft.lib.keras.utils.layer_utils import convert_kernel

Weights = list[np.ndarray]

CONVOLUTIONS = ("Conv1D", "Conv2D", "Conv3D", "Conv2DTranspose", "ConvLSTM2D")
# Where Keras 1 has the parts of what is one matrix now: input, forget, cell and output gates.
LSTM_GATES = (0, 6, 3, 9)
GRU_GATES = (0, 3, 6)


def preprocess_weights_for_loading(
    layer: Any,
    weights: Weights,
    original_keras_version: str | None = None,
    original_backend: str | None = None,
) -> Weights:
    """The values of a layer's weights, made from those of a file."""
    origin = (original_keras_version, original_backend)
    kind = type(layer).__name__
    if kind == "Bidirectional":
        half = len(weights) // 2
        weights = preprocess_weights_for_loading(
            layer.forward_layer, weights[:half], *origin
        ) + preprocess_weights_for_loading(layer.backward_layer, weights[half:], *origin)
    elif kind == "TimeDistributed":
        weights = preprocess_weights_for_loading(layer.layer, weights, *origin)
    elif kind in ("Model", "Sequential"):
        weights = _of_model(layer, weights, origin)
    if original_keras_version == "1" and kind in _FROM_KERAS_1:
        weights = _FROM_KERAS_1[kind](layer, list(weights))
    if kind in CONVOLUTIONS and weights:
        weights = _of_convolution(layer, list(weights), original_backend)
    return _between_rnn_forms(layer, weights)


def _of_model(model: Any, weights: Weights, origin: Any) -> Weights:
    """The weights of a model in a model: those trained of all its layers, then the others."""
    count = len(model.trainable_weights)
    trained, others = weights[:count], weights[count:]
    new_trained: Weights = []
    new_others: Weights = []
    for layer in model.layers:
        if not layer.weights:
            continue
        n, m = len(layer.trainable_weights), len(layer.non_trainable_weights)
        done = preprocess_weights_for_loading(layer, trained[:n] + others[:m], *origin)
        new_trained += done[:n]
        new_others += done[n:]
        trained, others = trained[n:], others[m:]
    return new_trained + new_others


# ---- Keras 1 ----


def _conv1d_of_keras_1(layer: Any, weights: Weights) -> Weights:
    kernel = weights[0]
    if kernel.shape[:2] != (layer.kernel_size[0], 1) or kernel.shape[3] != layer.filters:
        kernel = kernel.transpose(2, 3, 1, 0)
    return [kernel[:, 0, :, :], *weights[1:]]


def _conv_of_keras_1(axes: dict[str, tuple[int, ...]]) -> Callable[[Any, Weights], Weights]:
    """Kernels are turned for a data format, as `axes` says."""

    def convert(layer: Any, weights: Weights) -> Weights:
        order = axes.get(layer.data_format)
        return weights if order is None else [weights[0].transpose(order), *weights[1:]]

    return convert


def _joined(weights: Weights, gates: tuple[int, ...]) -> Weights:
    """Kernel, recurrent kernel and bias, of the parts for each gate."""
    return [np.concatenate([weights[i + part] for i in gates], axis=-1) for part in range(3)]


def _gru_of_keras_1(layer: Any, weights: Weights) -> Weights:
    return _joined(weights, GRU_GATES) if len(weights) == 9 else weights


def _lstm_of_keras_1(layer: Any, weights: Weights) -> Weights:
    return _joined(weights, LSTM_GATES) if len(weights) == 12 else weights


def _conv_lstm_of_keras_1(layer: Any, weights: Weights) -> Weights:
    if len(weights) != 12:
        return weights
    kernel, recurrent, bias = _joined(weights, LSTM_GATES)
    if layer.data_format == "channels_first":
        kernel, recurrent = kernel.transpose(2, 3, 1, 0), recurrent.transpose(2, 3, 1, 0)
    return [kernel, recurrent, bias]


_FROM_KERAS_1: dict[str, Callable[[Any, Weights], Weights]] = {
    "Conv1D": _conv1d_of_keras_1,
    "Conv2D": _conv_of_keras_1({"channels_first": (2, 3, 1, 0)}),
    "Conv2DTranspose": _conv_of_keras_1(
        {"channels_last": (0, 1, 3, 2), "channels_first": (2, 3, 0, 1)}
    ),
    "Conv3D": _conv_of_keras_1({"channels_first": (2, 3, 4, 1, 0)}),
    "GRU": _gru_of_keras_1,
    "LSTM": _lstm_of_keras_1,
    "ConvLSTM2D": _conv_lstm_of_keras_1,
}


# ---- other backends ----


def _of_convolution(layer: Any, weights: Weights, backend: str | None) -> Weights:
    kernels = 2 if type(layer).__name__ == "ConvLSTM2D" else 1
    if backend == "theano":
        weights[:kernels] = [convert_kernel(kernel) for kernel in weights[:kernels]]
    if tuple(layer.weights[0].shape.as_list()) != weights[0].shape and weights[0].ndim == 4:
        weights[:kernels] = [kernel.transpose(3, 2, 0, 1) for kernel in weights[:kernels]]
    return weights


# ---- cuDNN ----


def _each_gate(kernels: np.ndarray, change: Callable[[Any], Any], gates: int) -> np.ndarray:
    return np.hstack([change(kernel) for kernel in np.hsplit(kernels, gates)])


def _turned(weights: Weights, gates: int, from_cudnn: bool) -> Weights:
    """Kernels the other way round: cuDNN has them transposed, and row after row."""
    order: Any = "F" if from_cudnn else "C"
    kernel = _each_gate(weights[0], lambda k: k.T.reshape(k.shape, order=order), gates)
    return [kernel, _each_gate(weights[1], np.transpose, gates)]


def _between_rnn_forms(layer: Any, weights: Weights) -> Weights:
    kind = type(layer).__name__
    if len(weights) != 3:
        return weights
    if kind in ("LSTM", "CuDNNLSTM"):
        return _lstm(kind, weights)
    if kind in ("GRU", "CuDNNGRU"):
        return _gru(layer, weights)
    return weights


def _lstm(target: str, weights: Weights) -> Weights:
    units, bias = weights[1].shape[0], weights[2]
    sources = {(8 * units,): "CuDNNLSTM", (4 * units,): "LSTM"}
    if bias.shape not in sources:
        raise ValueError(f"Invalid bias shape: {bias.shape}")
    source = sources[bias.shape]
    if source == target:
        return weights
    from_cudnn = source == "CuDNNLSTM"
    # cuDNN has one bias for the inputs and one for the states.
    biases = np.sum(np.split(bias, 2), axis=0) if from_cudnn else np.tile(0.5 * bias, 2)
    return [*_turned(weights, 4, from_cudnn), biases]


def _gru(layer: Any, weights: Weights) -> Weights:
    units, bias = weights[1].shape[0], weights[2]
    after, before = "GRU(reset_after=True)", "GRU(reset_after=False)"
    sources = {(6 * units,): "CuDNNGRU", (2, 3 * units): after, (3 * units,): before}
    if bias.shape not in sources:
        raise ValueError(f"Invalid bias shape: {bias.shape}")
    source = sources[bias.shape]
    if type(layer).__name__ == "CuDNNGRU":
        target = "CuDNNGRU"
    else:
        target = after if layer.reset_after else before
    if source == target:
        return weights
    if before in (source, target):
        raise ValueError(f"{source} is not compatible with {target}")
    from_cudnn = source == "CuDNNGRU"
    return [*_turned(weights, 3, from_cudnn), bias.reshape((2, -1) if from_cudnn else -1)]
