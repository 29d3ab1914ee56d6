"""tf.audio: WAV files, and what speech recognition starts from: spectrograms and cepstra."""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.traits import HOST
from weft.ops.files.summary import wav
from weft.ops.kit.shared import invalid

_SHORT = "Data too short when trying to read "
_FLOOR = 1e-12  # below which the energy of a band does not count


# ---- WAV files -----------------------------------------------------------------------------------


class _Reader:
    """The contents of a file, read forwards."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, count: int, what: str = "string") -> bytes:
        if self.at + count > len(self.data):
            raise invalid(_SHORT + what)
        self.at += count
        return self.data[self.at - count : self.at]

    def expect(self, text: bytes) -> None:
        found = self.take(len(text))
        if found != text:
            shown = found.decode("latin-1")
            raise invalid(f"Header mismatch: Expected {text.decode()} but found {shown}")

    def number(self, layout: str) -> int:
        return struct.unpack(f"<{layout}", self.take(struct.calcsize(layout), "value"))[0]


def _read_format(file: _Reader) -> tuple[int, int]:
    """(channels, sample rate)"""
    file.expect(b"RIFF")
    file.number("I")
    file.expect(b"WAVE")
    file.expect(b"fmt ")
    size = file.number("I")
    if size not in (16, 18):
        raise invalid(f"Bad file size for WAV: Expected 16 or 18, but got{size}")
    kind, channels, rate = file.number("H"), file.number("H"), file.number("I")
    per_second, per_frame, bits = file.number("I"), file.number("H"), file.number("H")
    if kind != 1:
        raise invalid(f"Bad audio format for WAV: Expected 1 (PCM), but got{kind}")
    if channels < 1:
        raise invalid(f"Bad number of channels for WAV: Expected at least 1, but got {channels}")
    if bits != 16:
        raise invalid(f"Can only read 16-bit WAV files, but received {bits}")
    if per_frame != 2 * channels:
        raise invalid(
            f"Bad bytes per sample in WAV header: Expected {2 * channels} but got {per_frame}"
        )
    if per_second != per_frame * rate:
        raise invalid(
            f"Bad bytes per second in WAV header: Expected {per_frame * rate} but got"
            f" {per_second} (sample_rate={rate}, bytes_per_sample={per_frame})"
        )
    file.at += size - 16
    return channels, rate


def read_wav(data: bytes) -> tuple[np.ndarray, int]:
    """(samples [frames, channels] from -1 to 1, sample rate) of a file of 16 bits per sample."""
    file = _Reader(data)
    channels, rate = _read_format(file)
    samples = None
    while file.at < len(data):
        name, size = file.take(4), file.number("I")
        if name != b"data":
            file.at += size
            continue
        if samples is not None:
            raise invalid("More than one data chunk found in WAV")
        frames = size // (2 * channels)
        samples = np.frombuffer(file.take(frames * 2 * channels), "<i2")
    if samples is None:
        raise invalid("No data chunk found in WAV")
    return samples.reshape(-1, channels).astype(np.float32) * np.float32(2**-15), rate


def _decoded_shape(c: ShapeContext) -> list[Dims]:
    s.with_rank(c.dims(0), 0)
    sizes = []
    for name in ("samples", "channels"):
        wanted = c.attr(f"desired_{name}")
        if wanted < -1:
            raise ValueError(f"{name} must be non-negative, got {wanted}")
        sizes.append(None if wanted == -1 else wanted)
    return [tuple(sizes), ()]


@op(
    "DecodeWav", inputs="contents: string", outputs="audio: float, sample_rate: int32",
    attrs="desired_channels: int = -1, desired_samples: int = -1",
    shape=_decoded_shape, traits=HOST,
)  # fmt: skip
def decode_wav_(xp: Any, contents: Any, *, desired_channels: int, desired_samples: int) -> Any:
    if np.ndim(contents):
        raise invalid(f"contents must be scalar, got shape {s.show(np.shape(contents))}")
    samples, rate = read_wav(np.asarray(contents, object).item())
    if desired_samples >= 0:
        missing = max(desired_samples - len(samples), 0)
        samples = np.pad(samples[:desired_samples], ((0, missing), (0, 0)))
    if desired_channels >= 0:
        last = samples.shape[1] - 1
        samples = samples[:, np.minimum(np.arange(desired_channels), last)]
    return samples, np.array(rate, np.int32)


def _encoded_shape(c: ShapeContext) -> Dims:
    s.with_rank(c.dims(0), 2)
    s.with_rank(c.dims(1), 0)
    return ()


@op(
    "EncodeWav", inputs="audio: float, sample_rate: int32", outputs="contents: string", attrs="",
    shape=_encoded_shape, traits=HOST,
)  # fmt: skip
def encode_wav_(xp: Any, audio: Any, sample_rate: Any) -> Any:
    if audio.ndim != 2:
        raise invalid(f"audio must be 2-dimensional{s.show(audio.shape)}")
    if np.ndim(sample_rate):
        got = s.show(np.shape(sample_rate))
        raise invalid(f"Input sample_rate should be a scalar tensor, got {got} instead.")
    if sample_rate <= 0:
        # As an unsigned number of 64 bits, which a negative rate is read as.
        raise invalid(f"sample_rate must be in (0, 2^32), got: {int(sample_rate) % 2**64}")
    if audio.shape[1] and not audio.shape[0]:
        raise invalid("num_frames must be positive.")
    return np.array(wav(audio, int(sample_rate)), object)


def decode_wav(
    contents: Any, desired_channels: int = -1, desired_samples: int = -1, name: str | None = None
) -> Any:
    """(audio [samples, channels], sample_rate) of a WAV file, cut or padded as desired."""
    return decode_wav_(
        contents, desired_channels=desired_channels, desired_samples=desired_samples, name=name
    )


def encode_wav(audio: Any, sample_rate: Any, name: str | None = None) -> Any:
    """A WAV file of [samples, channels] numbers from -1 to 1."""
    return encode_wav_(audio, sample_rate, name=name)


# ---- spectrograms and cepstra --------------------------------------------------------------------


def _transform_size(window_size: int) -> int:
    return 1 << max(window_size - 1, 0).bit_length()


def _spectrogram_shape(c: ShapeContext) -> Dims:
    length, channels = s.with_rank(c.dims(0), 2)
    window, stride = c.attr("window_size"), c.attr("stride")
    if stride < 1:
        raise ValueError(
            f"Spectrogram initialization failed for window size {window} and stride {stride}"
        )
    if length is not None:
        length = 0 if length < window else 1 + (length - window) // stride
    return channels, length, 1 + _transform_size(window) // 2


@op(
    "AudioSpectrogram", inputs="input: float", outputs="spectrogram: float",
    attrs="window_size: int, stride: int, magnitude_squared: bool = false",
    shape=_spectrogram_shape,
)  # fmt: skip
def audio_spectrogram_(
    xp: Any, input: Any, *, window_size: int, stride: int, magnitude_squared: bool
) -> Any:
    """[channels, windows, frequencies] of [samples, channels], through windows of Hann's shape."""
    if input.ndim != 2:
        raise invalid(f"input must be 2-dimensional{s.show(input.shape)}")
    count = 0 if len(input) < window_size else 1 + (len(input) - window_size) // stride
    if not input.shape[1]:
        bins = _transform_size(window_size) // 2 + 1
        return xp.zeros((0, count, bins), np.float32)
    places = np.arange(count)[:, None] * stride + np.arange(window_size)
    shape = 0.5 - 0.5 * np.cos(2 * np.pi / window_size * np.arange(window_size))
    frames = xp.transpose(input.astype(np.float64))[:, places] * shape
    found = xp.fft.rfft(frames, n=_transform_size(window_size))
    power = found.real**2 + found.imag**2
    return (power if magnitude_squared else xp.sqrt(power)).astype(np.float32)


def _mel(frequency: Any) -> Any:
    return 1127.0 * np.log(1.0 + frequency / 700.0)


@lru_cache(maxsize=8)
def _mel_bands(bins: int, rate: int, low: float, high: float, channels: int) -> np.ndarray:
    """[bins, channels]: what each frequency gives to the triangles, evenly spaced in mel."""
    spacing = (_mel(high) - _mel(low)) / (channels + 1)
    centers = _mel(low) + spacing * np.arange(1, channels + 2)
    step = 0.5 * rate / (bins - 1)
    first, last = int(1.5 + low / step), int(high / step)
    bands = np.zeros((bins, channels))
    for i in range(max(first, 0), min(last, bins - 1) + 1):
        at = _mel(i * step)
        left = min(int(np.searchsorted(centers[:channels], at)), channels) - 1
        start = centers[left] if left >= 0 else _mel(low)
        falling = (centers[left + 1] - at) / (centers[left + 1] - start)
        if left >= 0:
            bands[i, left] += falling
        if left + 1 < channels:
            bands[i, left + 1] += 1 - falling
    return bands


def _mfcc_shape(c: ShapeContext) -> Dims:
    channels, length, _ = s.with_rank(c.dims(0), 3)
    s.with_rank(c.dims(1), 0)
    return channels, length, c.attr("dct_coefficient_count")


@op(
    "Mfcc", inputs="spectrogram: float, sample_rate: int32", outputs="output: float",
    attrs="upper_frequency_limit: float = 4000, lower_frequency_limit: float = 20,"
    " filterbank_channel_count: int = 40, dct_coefficient_count: int = 13",
    shape=_mfcc_shape, static="sample_rate",
)  # fmt: skip
def mfcc_(
    xp: Any, spectrogram: Any, sample_rate: Any, *, upper_frequency_limit: float,
    lower_frequency_limit: float, filterbank_channel_count: int, dct_coefficient_count: int,
) -> Any:  # fmt: skip
    """The cosine transform of the logarithm of the energy in bands, of squared magnitudes."""
    if spectrogram.ndim != 3:
        raise invalid(f"spectrogram must be 3-dimensional{s.show(spectrogram.shape)}")
    if np.ndim(sample_rate):
        got = s.show(np.shape(sample_rate))
        raise invalid(f"Input sample_rate should be a scalar tensor, got {got} instead.")
    count = filterbank_channel_count
    bands = _mel_bands(
        spectrogram.shape[2], int(sample_rate), float(np.float32(lower_frequency_limit)),
        float(np.float32(upper_frequency_limit)), count,
    )  # fmt: skip
    if 0 in spectrogram.shape:
        return xp.zeros((*spectrogram.shape[:2], dct_coefficient_count), np.float32)
    energy = xp.sqrt(spectrogram.astype(np.float64)) @ bands
    order = np.arange(dct_coefficient_count)
    cosines = np.cos(order * np.pi / count * (np.arange(count)[:, None] + 0.5))
    cosines = cosines * np.sqrt(2.0 / count)
    return (xp.log(xp.maximum(energy, _FLOOR)) @ cosines).astype(np.float32)
