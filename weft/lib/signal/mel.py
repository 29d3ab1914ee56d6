"""From linear spectra to bands that are evenly spaced to the ear, and their cepstra."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.graph.constant_value import constant_value
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.lib.signal.cosine import dct
from weft.lib.signal.frames import frame
from weft.ops.array import array
from weft.ops.math import math

_BREAK_HERTZ = 700.0
_HIGH_Q = 1127.0


def _hertz_to_mel(hertz: Tensor) -> Tensor:
    with name_scope(None, "hertz_to_mel", [hertz]):
        return _HIGH_Q * math.log(1.0 + hertz / _BREAK_HERTZ)


def _check(bins: int, rate: Any, low: float, high: float, dtype: DType) -> None:
    nyquist = "upper_edge_hertz must not be larger than the Nyquist frequency (sample_rate / 2)."
    rules = (
        (bins <= 0, "num_mel_bins must be positive. Got: {}", bins),
        (rate <= 0.0, "sample_rate must be positive. Got: {}", rate),
        (low < 0.0, "lower_edge_hertz must be non-negative. Got: {}", low),
        (low >= high, "lower_edge_hertz {:.1f} >= upper_edge_hertz {:.1f}", low, high),
        (high > rate / 2, nyquist + " Got: {} for sample_rate: {}", high, rate),
        (not dtype.is_floating, "dtype must be a floating point type. Got: {}", dtype),
    )
    for holds, message, *values in rules:
        if holds:
            raise ValueError(message.format(*values))


def _constant_rate(sample_rate: Any) -> Any:
    if not isinstance(sample_rate, Tensor):
        return sample_rate
    known = constant_value(sample_rate)
    if known is None:
        raise ValueError(
            "`sample_rate` was a non-constant Tensor. Must be a Python float or a constant Tensor."
        )
    return known


def linear_to_mel_weight_matrix(
    num_mel_bins: int = 20, num_spectrogram_bins: int = 129, sample_rate: Any = 8000,
    lower_edge_hertz: float = 125.0, upper_edge_hertz: float = 3800.0,
    dtype: DType = dtypes.float32, name: str | None = None,
) -> Tensor:  # fmt: skip
    """[spectrogram bins, mel bins]: triangles evenly spaced in mel, as weights of frequencies."""
    with name_scope(name, "linear_to_mel_weight_matrix") as name:
        sample_rate = _constant_rate(sample_rate)
        _check(num_mel_bins, sample_rate, lower_edge_hertz, upper_edge_hertz, dtype)
        rate, low, high = (
            convert_to_tensor(value, dtype, name=name)
            for name, value in (
                ("sample_rate", sample_rate),
                ("lower_edge_hertz", lower_edge_hertz),
                ("upper_edge_hertz", upper_edge_hertz),
            )
        )
        zero = convert_to_tensor(0.0, dtype)
        # Frequency zero has no place on a logarithmic scale; its weights are zeros.
        frequencies = math.linspace(zero, rate / 2.0, num_spectrogram_bins)[1:]
        mels = array.expand_dims(_hertz_to_mel(frequencies), 1)
        marks = math.linspace(_hertz_to_mel(low), _hertz_to_mel(high), num_mel_bins + 2)
        weights = math.maximum(zero, _triangles(mels, marks, num_mel_bins))
        return array.pad(weights, [[1, 0], [0, 0]], name=name)


def _triangles(at: Tensor, marks: Tensor, count: int) -> Tensor:
    """The height at each frequency of triangles over three marks each; negative outside."""
    edges = array.split(frame(marks, frame_length=3, frame_step=1), 3, axis=1)
    left, center, right = (array.reshape(edge, [1, count]) for edge in edges)
    rising = (at - left) / (center - left)
    return math.minimum(rising, (right - at) / (right - center))


def mfccs_from_log_mel_spectrograms(log_mel_spectrograms: Any, name: str | None = None) -> Tensor:
    """The cepstral coefficients of logarithms of mel spectrograms: a scaled cosine transform."""
    with name_scope(name, "mfccs_from_log_mel_spectrograms", [log_mel_spectrograms]):
        spectra = convert_to_tensor(log_mel_spectrograms, dtypes.float32)
        bins: Any = spectra.dims[-1] if spectra.dims else None
        if bins == 0:
            raise ValueError(f"num_mel_bins must be positive. Got: {spectra}")
        if bins is None:
            bins = array.shape(spectra)[-1]
        waves = dct(spectra, type=2)
        return waves * math.rsqrt(math.cast(bins, dtypes.float32) * 2.0)
