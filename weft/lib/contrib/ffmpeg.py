"""tf.contrib.ffmpeg: sounds and films out of files, by the program ffmpeg where it is installed."""

from __future__ import annotations

from typing import Any

from weft.graph.op_def import raw
from weft.graph.tensor import Tensor


def decode_audio(
    contents: Any,
    file_format: Any = None,
    samples_per_second: Any = None,
    channel_count: Any = None,
    stream: str | None = None,
) -> Tensor:
    """Samples [frames, channels] of a sound in mp3, mp4, ogg or wav, at the rate asked for."""
    return raw.DecodeAudioV2(
        contents, file_format, samples_per_second, channel_count, stream=stream or ""
    )


def encode_audio(audio: Any, file_format: Any = None, samples_per_second: Any = None) -> Tensor:
    """The contents of a wav file with these samples [frames, channels]."""
    return raw.EncodeAudioV2(audio, file_format, samples_per_second, 192000)


def decode_video(contents: Any) -> Tensor:
    """The pictures [frames, height, width, 3] of a film."""
    return raw.DecodeVideo(contents)
