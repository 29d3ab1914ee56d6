"""Sounds and films by the program ffmpeg, which is not part of weft (nor of TensorFlow)."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from weft.core.errors import UnavailableError, UnknownError
from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.traits import HOST, NO_GRADIENT
from weft.ops.files.summary import wav
from weft.ops.kit.shared import invalid

_FORMATS = ("mp3", "mp4", "ogg", "wav")
_LIMIT_S = 600
_PROBED = ["-probesize", "5000000"]
_QUIET = ["-nostats", "-nostdin", "-hide_banner", "-loglevel", "error"]
_TRAITS: Any = {"traits": HOST | NO_GRADIENT}


def _run(program: str, contents: bytes, command: Callable[[str], list[str]]) -> bytes | None:
    """The output of a program of ffmpeg's for a file of these contents; None where it fails."""
    found = shutil.which(program)
    if found is None:
        raise UnavailableError(
            None, None, "FFmpeg must be installed to run this op. FFmpeg can be found at "
            "http://www.ffmpeg.org.",
        )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "contents"
        path.write_bytes(contents)
        done = subprocess.run(
            [found, *command(str(path))], capture_output=True, check=False, timeout=_LIMIT_S
        )
    return done.stdout if done.returncode == 0 else None


def _check(file_format: str, samples_per_second: int, channel_count: int) -> None:
    if file_format not in _FORMATS:
        known = ", ".join(_FORMATS)
        raise invalid(f'file_format must be one of {{{known}}}, but was: "{file_format}"')
    for name, value in (
        ("samples_per_second", samples_per_second),
        ("channel_count", channel_count),
    ):
        if value <= 0:
            raise invalid(f"{name} must be positive, but got: {value}")


def _decoded(contents: Any, file_format: str, rate: int, channels: int, stream: str) -> Any:
    """Samples [frames, channels] from -1 to 1; none where ffmpeg cannot read the file."""
    _check(file_format, rate, channels)

    def command(path: str) -> list[str]:
        sound = [
            "-vn",
            "-sn",
            "-map_metadata",
            "-1",
            "-ac:a:0",
            str(channels),
            "-ar:a:0",
            str(rate),
        ]
        chosen = ["-map", f"0:{stream}"] if stream else []
        raw = ["-codec:a:0", "pcm_s16le", "-sample_fmt", "s16", "-f", "s16le", "pipe:1"]
        return [*_QUIET, "-f", file_format, *_PROBED, "-i", path, *sound, *chosen, *raw]

    found = _run("ffmpeg", np.asarray(contents).item(), command)
    if found is None:
        return np.zeros((0, 0), np.float32)
    samples = np.frombuffer(found, "<i2")
    if not len(samples):
        raise UnknownError(None, None, "No output created by FFmpeg.")
    if len(samples) % channels:
        message = "FFmpeg created non-integer number of audio frames."
        raise UnknownError(None, None, message)
    return samples.reshape(-1, channels).astype(np.float32) / np.float32(32768)


def _text(value: Any) -> str:
    return np.asarray(value).item().decode().lower()


def _samples_shape(c: ShapeContext) -> Dims:
    channels = c.value(3)
    return None, None if channels is None else int(channels)


@op(
    "DecodeAudioV2",
    inputs="contents: string, file_format: string, samples_per_second: int32, "
    "channel_count: int32",
    outputs="sampled_audio: float", attrs='stream: string = ""', shape=_samples_shape, **_TRAITS,
)  # fmt: skip
def decode_audio_v2(
    xp: Any, contents: Any, file_format: Any, samples_per_second: Any, channel_count: Any, *,
    stream: str,
) -> Any:  # fmt: skip
    numbers = int(samples_per_second), int(channel_count)
    return _decoded(contents, _text(file_format), *numbers, stream)


@op(
    "DecodeAudio", inputs="contents: string", outputs="sampled_audio: float",
    attrs="file_format: string, samples_per_second: int, channel_count: int",
    shape=lambda c: (None, c.attr("channel_count")), **_TRAITS,
)  # fmt: skip
def decode_audio(
    xp: Any, contents: Any, *, file_format: str, samples_per_second: int, channel_count: int
) -> Any:
    return _decoded(contents, file_format.lower(), samples_per_second, channel_count, "")


def _encoded(sampled_audio: Any, file_format: str, rate: int, bits: int) -> Any:
    if file_format != "wav":
        raise invalid(f'file_format must be "wav", but got: {file_format}')
    for name, value in (("samples_per_second", rate), ("bits_per_second", bits)):
        if value <= 0:
            raise invalid(f"{name} must be positive, but got: {value}")
    return np.array(wav(np.asarray(sampled_audio), rate), object)


@op(
    "EncodeAudioV2",
    inputs="sampled_audio: float, file_format: string, samples_per_second: int32, "
    "bits_per_second: int32",
    outputs="contents: string", shape=s.scalar, **_TRAITS,
)  # fmt: skip
def encode_audio_v2(
    xp: Any, sampled_audio: Any, file_format: Any, samples_per_second: Any, bits_per_second: Any
) -> Any:
    numbers = int(samples_per_second), int(bits_per_second)
    return _encoded(sampled_audio, _text(file_format), *numbers)


@op(
    "EncodeAudio", inputs="sampled_audio: float", outputs="contents: string",
    attrs="file_format: string, samples_per_second: int, bits_per_second: int = 192000",
    shape=s.scalar, **_TRAITS,
)  # fmt: skip
def encode_audio(
    xp: Any, sampled_audio: Any, *, file_format: str, samples_per_second: int, bits_per_second: int
) -> Any:
    return _encoded(sampled_audio, file_format.lower(), samples_per_second, bits_per_second)


def _size(contents: bytes) -> tuple[int, int]:
    """(height, width) of the first film in a file, by ffprobe."""
    asked = ["-v", "error", "-select_streams", "v:0", "-show_entries", "stream=width,height"]
    found = _run("ffprobe", contents, lambda path: [*asked, "-of", "json", path])
    streams = json.loads(found or b"{}").get("streams")
    if not streams:
        raise UnknownError(None, None, "Not enough video info returned by FFmpeg [0, 0, 0, 3]")
    return streams[0]["height"], streams[0]["width"]


@op(
    "DecodeVideo", inputs="contents: string", outputs="output: uint8",
    shape=lambda c: (None, None, None, None), **_TRAITS,
)  # fmt: skip
def decode_video(xp: Any, contents: Any) -> Any:
    """Pictures [frames, height, width, 3]."""
    film = np.asarray(contents).item()
    colors = ["-vcodec", "rawvideo", "-pix_fmt", "rgb24", "-f", "image2pipe", "pipe:1"]
    found = _run("ffmpeg", film, lambda path: [*_QUIET, *_PROBED, "-i", path, *colors])
    if not found:
        raise UnknownError(None, None, "No output created by FFmpeg.")
    return np.frombuffer(found, np.uint8).reshape(-1, *_size(film), 3)
