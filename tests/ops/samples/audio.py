"""Samples of weft/ops/image/audio.py."""

import struct

import numpy as np

from tests.ops.sample import Sample, f32, i32, ramp, s


def wav(samples: list[int], channels: int = 1, bits: int = 16, extra: bytes = b"") -> bytes:
    data = struct.pack(f"<{len(samples)}h", *samples)
    frame = channels * bits // 8
    header = struct.pack("<HHIIHH", 1, channels, 8000, 8000 * frame, frame, bits)
    chunks = b"fmt " + struct.pack("<I", 16) + header + extra
    chunks += b"data" + struct.pack("<I", len(data)) + data
    return b"RIFF" + struct.pack("<I", len(chunks) + 4) + b"WAVE" + chunks


SOUND = s(wav([0, 1000, -32768, 32767, 5, -6], channels=2))
WAVES = f32(np.sin(np.arange(80) * 0.3), (80, 1))

SAMPLES = [
    Sample("DecodeWav", SOUND),
    Sample("DecodeWav", SOUND, desired_channels=1, desired_samples=2),
    Sample("DecodeWav", SOUND, desired_channels=3, desired_samples=5),
    Sample("DecodeWav", s(wav([1, 2], extra=b"LIST" + struct.pack("<I", 4) + b"abcd"))),
    Sample("DecodeWav", s(wav([1, 2], bits=8))),
    Sample("DecodeWav", s(wav([1, 2])[:-2])),
    Sample("DecodeWav", s(b"RIFX")),
    Sample("DecodeWav", s(b"")),
    Sample("EncodeWav", f32([[0.5, -1.5], [2, 0.00002]]), i32(44100)),
    Sample("EncodeWav", f32([[0.5]]), i32(0)),
    Sample("EncodeWav", f32([0.5]), i32(1)),
    Sample("AudioSpectrogram", WAVES, window_size=10, stride=7),
    Sample("AudioSpectrogram", WAVES, window_size=16, stride=8, magnitude_squared=True, rtol=1e-4),
    Sample("AudioSpectrogram", ramp("float32", (9, 2)), window_size=4, stride=3, rtol=1e-4),
    Sample("AudioSpectrogram", ramp("float32", (3, 2)), window_size=4, stride=3),
    Sample("Mfcc", np.abs(ramp("float32", (1, 3, 65), -1, 9)), i32(16000), rtol=1e-4),
    Sample(
        "Mfcc",
        np.abs(ramp("float32", (2, 2, 33), -1, 9)),
        i32(8000),
        filterbank_channel_count=12,
        dct_coefficient_count=5,
        lower_frequency_limit=100.0,
        upper_frequency_limit=3000.0,
        rtol=1e-4,
    ),
]
