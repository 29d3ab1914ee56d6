"""Summaries: values of a step as serialized `Summary` messages, for event files and TensorBoard."""

from __future__ import annotations

import io
import struct
import sys
from functools import lru_cache
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.tensor_proto import array_to_proto
from weft.graph.traits import DEPRECATED, HOST, NO_GRADIENT
from weft.ops.kit.shared import invalid

_PNG_MODES = {1: "L", 3: "RGB", 4: "RGBA"}
_REAL = "{float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}"


def new_summary() -> Any:
    from tensorboard.compat.proto.summary_pb2 import Summary

    return Summary()


def _serialized(summary: Any) -> np.ndarray:
    return np.array(summary.SerializeToString(), object)


def text_of(tag: Any, complaint: str) -> str:
    """The tag that a scalar holds."""
    if np.ndim(tag):
        raise invalid(complaint)
    return np.asarray(tag, object).item().decode()


# ---- scalars -------------------------------------------------------------------------------------


@op(
    "ScalarSummary", inputs="tags: string, values: T", outputs="summary: string",
    attrs=f"T: {_REAL}", shape=s.scalar, traits=HOST | NO_GRADIENT,
)  # fmt: skip
def scalar_summary(xp: Any, tags: Any, values: Any) -> Any:
    names, numbers = np.asarray(tags, object), np.asarray(values)
    if names.shape != numbers.shape:
        one = f" (tag '{names.ravel()[0].decode()}')" if names.size == 1 else ""
        raise invalid(
            "tags and values not the same shape: "
            f"{s.show(names.shape)} != {s.show(numbers.shape)}{one}"
        )
    summary = new_summary()
    with np.errstate(over="ignore"):
        plain = numbers.astype(np.float32).ravel().tolist()
    for name, number in zip(names.ravel().tolist(), plain, strict=True):
        summary.value.add(tag=name.decode(), simple_value=number)
    return _serialized(summary)


# ---- histograms ----------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def bucket_limits() -> np.ndarray:
    """The upper ends of the buckets: a tenth wider each, from 1e-12 to 1e20 and mirrored."""
    positive = []
    limit = 1e-12
    while limit < 1e20:
        positive.append(limit)
        limit *= 1.1
    positive.append(sys.float_info.max)
    return np.array([-each for each in reversed(positive)] + [0.0, *positive])


def fill_histogram(message: Any, values: np.ndarray, name: str) -> None:
    """Counts `values` into a HistogramProto; runs of empty buckets become one."""
    flat = values.ravel().astype(np.float64)
    if not np.isfinite(flat).all():
        what = "Nan" if np.isnan(flat[~np.isfinite(flat)][0]) else "Infinity"
        raise invalid(f"{what} in summary histogram for: {name}")
    limits = bucket_limits()
    counts = np.bincount(np.searchsorted(limits, flat, side="right"), minlength=len(limits))
    message.min = flat.min() if flat.size else sys.float_info.max
    message.max = flat.max() if flat.size else -sys.float_info.max
    message.num = flat.size
    message.sum = _sum_in_order(flat)
    message.sum_squares = _sum_in_order(flat * flat)
    filled = counts > 0
    kept = filled | np.append(filled[1:], True)
    message.bucket_limit.extend(limits[kept].tolist())
    message.bucket.extend(counts[: len(limits)][kept].astype(float).tolist())


def _sum_in_order(values: np.ndarray) -> float:
    # One after the other, so that even the rounding is TensorFlow's.
    return float(np.add.accumulate(values)[-1]) if values.size else 0.0


@op(
    "HistogramSummary", inputs="tag: string, values: T", outputs="summary: string",
    attrs=f"T: {_REAL} = float", shape=s.scalar, traits=HOST | NO_GRADIENT,
)  # fmt: skip
def histogram_summary(xp: Any, ctx: Any, tag: Any, values: Any) -> Any:
    summary = new_summary()
    value = summary.value.add(tag=text_of(tag, "tags must be scalar"))
    fill_histogram(value.histo, np.asarray(values), ctx.node.name)
    return _serialized(summary)


# ---- images --------------------------------------------------------------------------------------


def to_pixels(image: np.ndarray, bad_color: np.ndarray) -> np.ndarray:
    """An image of floats as bytes.

    Values that are all positive are scaled so that the largest becomes 255; otherwise zero is in
    the middle. A pixel that is not finite gets the bad color.
    """
    finite = np.isfinite(image).all(axis=-1)
    with np.errstate(over="ignore"):
        good = image[finite].astype(np.float32)
    low, high = (good.min(), good.max()) if good.size else (np.float32(np.inf), -np.float32(np.inf))
    top, middle = (max(abs(low), abs(high)), 128) if low < 0 else (high, 0)
    span = np.float32(127 if middle else 255)
    scale = np.float32(0) if top < np.float32(1e-6) else span / top
    pixels = np.empty(image.shape, np.uint8)
    pixels[finite] = (image[finite] * scale.astype(image.dtype) + image.dtype.type(middle)).astype(
        np.uint8
    )
    pixels[~finite] = bad_color[: image.shape[-1]]
    return pixels


def png(pixels: np.ndarray) -> bytes:
    """A [height, width, channels] array of bytes as a PNG file."""
    from PIL import Image

    height, width, channels = pixels.shape
    mode = _PNG_MODES[channels]
    file = io.BytesIO()
    image = Image.frombytes(mode, (width, height), np.ascontiguousarray(pixels).tobytes())
    image.save(file, "PNG")
    return file.getvalue()


def _check_images(images: np.ndarray, bad_color: np.ndarray) -> None:
    if images.ndim != 4 or images.shape[3] not in _PNG_MODES:
        raise invalid(f"Tensor must be 4-D with last dim 1, 3, or 4, not {s.show(images.shape)}")
    if not images.shape[1] * images.shape[2]:
        sizes = ", ".join(map(str, images.shape))
        raise invalid(f"input tensor must have non-zero dims. Found: [{sizes}].")
    if bad_color.dtype != np.uint8:
        raise invalid(f"bad_color must be uint8, got {dtypes.as_dtype(bad_color.dtype).name}")
    if bad_color.ndim != 1:
        raise invalid(f"bad_color must be a vector, got shape {s.show(bad_color.shape)}")
    if images.dtype != np.uint8 and len(bad_color) < images.shape[3]:
        raise invalid(
            f"expected depth <= bad_color.size, got depth = {images.shape[3]}, "
            f"bad_color.size = {len(bad_color)}"
        )


def add_images(
    summary: Any, tag: str, images: np.ndarray, max_images: int, bad_color: np.ndarray
) -> None:
    """Adds the first images of a batch to a Summary."""
    _check_images(images, bad_color)
    for number, image in enumerate(images[:max_images]):
        value = summary.value.add(tag=_numbered(tag, "image", number, max_images))
        pixels = image if image.dtype == np.uint8 else to_pixels(image, bad_color)
        height, width, value.image.colorspace = pixels.shape
        value.image.height, value.image.width = height, width
        value.image.encoded_image_string = png(pixels)


def _numbered(tag: str, kind: str, number: int, most: int) -> str:
    # By how many were asked for, not by how many there are.
    return f"{tag}/{kind}/{number}" if most > 1 else f"{tag}/{kind}"


@op(
    "ImageSummary", inputs="tag: string, tensor: T", outputs="summary: string",
    attrs="max_images: int >= 1 = 3, T: {uint8, float, half, double} = float, "
    "bad_color: tensor = uint8[255, 0, 0, 255]",
    shape=s.scalar, traits=HOST | NO_GRADIENT,
)  # fmt: skip
def image_summary(xp: Any, tag: Any, tensor: Any, *, max_images: int, bad_color: Any) -> Any:
    summary = new_summary()
    name = text_of(tag, "Tags must be a scalar")
    add_images(summary, name, np.asarray(tensor), max_images, np.asarray(bad_color))
    return _serialized(summary)


# ---- sound ---------------------------------------------------------------------------------------


def wav(samples: np.ndarray, sample_rate: int) -> bytes:
    """A [frames, channels] array of numbers from -1 to 1 as a WAV file of 16 bits per sample."""
    frames, channels = samples.shape
    if not frames:
        raise invalid("num_frames must be positive.")
    if not 0 < channels < 1 << 16:
        raise invalid(f"num_channels must be in (0, 2^16), got: {channels}")
    scaled = samples.astype(np.float32) * np.float32(1 << 15)
    away = np.trunc(scaled + np.copysign(np.float32(0.5), scaled))  # halves go away from zero
    data = np.clip(away, -(1 << 15), (1 << 15) - 1).astype("<i2").tobytes()
    header = struct.pack(
        "<4sI4s4sIHHIIHH4sI",
        b"RIFF", len(data) + 36, b"WAVE", b"fmt ", 16, 1, channels, sample_rate,
        sample_rate * 2 * channels, 2 * channels, 16, b"data", len(data),
    )  # fmt: skip
    return header + data


def add_sounds(
    summary: Any, tag: str, sounds: np.ndarray, sample_rate: float, max_outputs: int
) -> None:
    """Adds the first sounds of a batch to a Summary."""
    if sounds.ndim not in (2, 3):
        raise invalid(f"Tensor must be 3-D or 2-D, got: {s.show(sounds.shape)}")
    if not sample_rate > 0:
        raise invalid("sample_rate must be > 0")
    batch = sounds if sounds.ndim == 3 else sounds[..., np.newaxis]
    for number, samples in enumerate(batch[:max_outputs]):
        audio = summary.value.add(tag=_numbered(tag, "audio", number, max_outputs)).audio
        audio.sample_rate = sample_rate
        audio.length_frames, audio.num_channels = samples.shape
        audio.content_type = "audio/wav"
        audio.encoded_audio_string = wav(samples, max(1, round(sample_rate)))


def _audio_summary(tag: Any, tensor: Any, sample_rate: float, max_outputs: int) -> Any:
    summary = new_summary()
    name = text_of(tag, "Tag must be a scalar")
    add_sounds(summary, name, np.asarray(tensor), sample_rate, max_outputs)
    return _serialized(summary)


@op(
    "AudioSummary", inputs="tag: string, tensor: float", outputs="summary: string",
    attrs="sample_rate: float, max_outputs: int >= 1 = 3",
    shape=s.scalar, traits=HOST | NO_GRADIENT | DEPRECATED,
)  # fmt: skip
def audio_summary(xp: Any, tag: Any, tensor: Any, *, sample_rate: float, max_outputs: int) -> Any:
    return _audio_summary(tag, tensor, float(np.float32(sample_rate)), max_outputs)


@op(
    "AudioSummaryV2", inputs="tag: string, tensor: float, sample_rate: float",
    outputs="summary: string", attrs="max_outputs: int >= 1 = 3",
    shape=s.scalar, traits=HOST | NO_GRADIENT,
)  # fmt: skip
def audio_summary_v2(xp: Any, tag: Any, tensor: Any, sample_rate: Any, *, max_outputs: int) -> Any:
    return _audio_summary(tag, tensor, float(sample_rate), max_outputs)


# ---- tensors -------------------------------------------------------------------------------------


def fill_tensor(message: Any, array: np.ndarray, dtype: dtypes.DType) -> None:
    """A TensorProto with the bytes of the tensor, whatever its size; strings as they are."""
    message.CopyFrom(
        array_to_proto(array.ravel()[:0] if dtype is not dtypes.string else array, dtype)
    )
    del message.tensor_shape.dim[:]
    for extent in array.shape:
        message.tensor_shape.dim.add(size=extent)
    if dtype is not dtypes.string and array.size:
        little = array.astype(array.dtype.newbyteorder("<"), copy=False)
        message.tensor_content = np.ascontiguousarray(little).tobytes()


@op(
    "TensorSummary", inputs="tensor: T", outputs="summary: string",
    attrs='T: type, description: string = "", labels: list(string) = [], '
    'display_name: string = ""',
    shape=s.scalar, traits=HOST | NO_GRADIENT,
)  # fmt: skip
def tensor_summary(
    xp: Any, ctx: Any, tensor: Any, *, T: dtypes.DType,
    description: str, labels: list[str], display_name: str,
) -> Any:  # fmt: skip
    summary = new_summary()
    value = summary.value.add(node_name=ctx.node.name)
    fill_tensor(value.tensor, np.asarray(tensor), T)
    return _serialized(summary)


@op(
    "TensorSummaryV2", inputs="tag: string, tensor: T, serialized_summary_metadata: string",
    outputs="summary: string", attrs="T: type",
    shape=s.scalar, traits=HOST | NO_GRADIENT,
)  # fmt: skip
def tensor_summary_v2(
    xp: Any, tag: Any, tensor: Any, serialized_summary_metadata: Any, *, T: dtypes.DType
) -> Any:
    summary = new_summary()
    value = summary.value.add(tag=text_of(tag, "tag must be scalar"))
    fill_tensor(value.tensor, np.asarray(tensor), T)
    value.metadata.ParseFromString(np.asarray(serialized_summary_metadata, object).ravel()[0])
    return _serialized(summary)


# ---- merging -------------------------------------------------------------------------------------


@op(
    "MergeSummary", inputs="inputs: N * string", outputs="summary: string", attrs="N: int >= 1",
    shape=s.scalar, traits=HOST | NO_GRADIENT,
)  # fmt: skip
def merge_summary(xp: Any, inputs: Any) -> Any:
    merged = new_summary()
    parts = [each for part in inputs for each in np.asarray(part, object).ravel().tolist()]
    tags: set[str] = set()
    for part in parts:
        for value in _parsed(part).value:
            if value.tag in tags:
                raise invalid(f"Duplicate tag {value.tag} found in summary inputs")
            if value.tag:
                tags.add(value.tag)
            merged.value.append(value)
    return _serialized(merged)


def _parsed(part: bytes) -> Any:
    from google.protobuf.message import DecodeError

    summary = new_summary()
    try:
        summary.ParseFromString(part)
    except DecodeError:
        raise invalid("Could not parse one of the summary inputs") from None
    return summary
