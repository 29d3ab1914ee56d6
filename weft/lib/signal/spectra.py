"""The spectrum of a signal as it changes: Fourier transforms of frames that overlap."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.graph.constant_value import constant_value
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.lib.signal.fourier import irfft, rfft
from weft.lib.signal.frames import frame, overlap_and_add, scalar
from weft.lib.signal.windows import hann_window
from weft.ops.array import array
from weft.ops.math import math

Window = Callable[..., Any]


def _enclosing_power_of_two(value: Tensor) -> Tensor:
    known = constant_value(value)
    if known is not None:
        exponent = np.ceil(np.log(known) / np.log(2.0))
        return constant(int(2**exponent), value.dtype)
    logarithm = math.log(math.cast(value, dtypes.float32))
    exponent = math.ceil(logarithm / math.log(2.0))
    return math.cast(math.pow(2.0, exponent), value.dtype)


def _transform_length(fft_length: Any, frame_length: Tensor) -> Tensor:
    if fft_length is None:
        return _enclosing_power_of_two(frame_length)
    return scalar(fft_length, "fft_length")


def stft(
    signals: Any, frame_length: Any, frame_step: Any, fft_length: Any = None,
    window_fn: Window | None = hann_window, pad_end: bool = False, name: str | None = None,
) -> Tensor:  # fmt: skip
    """[..., samples] -> [..., frames, fft_length / 2 + 1]: the spectra of windowed frames."""
    with name_scope(name, "stft", [signals, frame_length, frame_step]):
        signals = convert_to_tensor(signals, name="signals")
        signals.shape.with_rank_at_least(1)
        length, step = scalar(frame_length, "frame_length"), scalar(frame_step, "frame_step")
        size = _transform_length(fft_length, length)
        frames = frame(signals, length, step, pad_end=pad_end)
        return rfft(_windowed(frames, window_fn, length, frames.dtype), [size])


def _windowed(frames: Tensor, window_fn: Window | None, length: Tensor, dtype: DType) -> Tensor:
    return frames if window_fn is None else frames * window_fn(length, dtype=dtype)


def inverse_stft_window_fn(
    frame_step: Any, forward_window_fn: Window = hann_window, name: str | None = None
) -> Window:
    """The window for `inverse_stft` that undoes `forward_window_fn`, frames being a step apart."""
    with name_scope(name, "inverse_stft_window_fn", [forward_window_fn]):
        step = scalar(frame_step, "frame_step")

    def inverse(frame_length: Any, dtype: DType) -> Tensor:
        """The window, divided by the sum of the squares of all windows at each sample."""
        with name_scope(name, "inverse_stft_window_fn", [forward_window_fn]):
            length = scalar(frame_length, "frame_length")
            window = forward_window_fn(length, dtype=dtype)
            times = -(-length // step)
            padded = array.pad(math.square(window), [(0, times * step - length)])
            energy = math.reduce_sum(array.reshape(padded, [times, step]), 0, True)
            repeated = array.tile(energy, [times, 1])
            return window / array.reshape(repeated, [times * step])[:length]

    return inverse


def _with_last(frames: Tensor, length: Tensor) -> Tensor:
    """`frames` cut or padded with zeros to `length`."""
    known = constant_value(length)
    have = None if frames.dims is None else frames.dims[-1]
    if known is None or have is None:
        frames = frames[..., :length]
        missing = math.maximum(0, length - array.shape(frames)[-1])
        zeros = array.zeros([array.rank(frames) - 1, 2], length.dtype)
        frames = array.pad(frames, array.concat([zeros, [[0, missing]]], 0))
    elif have > known:
        frames = frames[..., : int(known)]
    elif have < known:
        outer = [[0, 0]] * (len(frames.shape) - 1)
        frames = array.pad(frames, [*outer, [0, int(known) - have]])
    if known is not None and frames.dims is not None:
        frames.set_shape([None] * (len(frames.dims) - 1) + [int(known)])
    return frames


def inverse_stft(
    stfts: Any, frame_length: Any, frame_step: Any, fft_length: Any = None,
    window_fn: Window | None = hann_window, name: str | None = None,
) -> Tensor:  # fmt: skip
    """[..., frames, bins] -> [..., samples]: frames from their spectra, windowed, and added."""
    with name_scope(name, "inverse_stft", [stfts]):
        spectra = convert_to_tensor(stfts, name="stfts")
        spectra.shape.with_rank_at_least(2)
        length, step = scalar(frame_length, "frame_length"), scalar(frame_step, "frame_step")
        size = _transform_length(fft_length, length)
        frames = _with_last(irfft(spectra, [size]), length)
        return overlap_and_add(_windowed(frames, window_fn, length, spectra.dtype.real_dtype), step)
