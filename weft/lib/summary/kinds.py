"""tf.compat.v2.summary.scalar and its like: tensors as TensorBoard's plugins read them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.core import dtypes
from weft.graph.constant import constant
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import name_scope
from weft.graph.tensor import Tensor
from weft.lib.summary import experimental  # whose summary_scope libraries replace
from weft.lib.summary.write import plugin_metadata, write
from weft.ops.array.join import concat, stack
from weft.ops.array.one_hot_search import one_hot
from weft.ops.array.repeat import tile
from weft.ops.array.shape import reshape, shape, size, transpose
from weft.ops.control.check import assert_non_negative
from weft.ops.control.check_shapes import assert_rank, assert_scalar
from weft.ops.control.check_types import assert_type
from weft.ops.control.cond import cond
from weft.ops.functions.functional import map_fn
from weft.ops.image.adjust import convert_image_dtype
from weft.ops.image.audio import encode_wav
from weft.ops.image.encode import encode_png
from weft.ops.math.casts import cast
from weft.ops.math.elementwise import equal, minimum
from weft.ops.math.reduce import reduce_max, reduce_min, reduce_sum
from weft.ops.math.sequence import linspace
from weft.ops.math.unary import floor
from weft.ops.strings.numbers import as_string

_BUCKETS = 30
_WAV = b"\x10\x0b"  # the field `encoding` of audio's metadata


def scalar(name: str, data: Any, step: Any = None, description: str | None = None) -> Tensor:
    """Writes a number.

    Args:
        name: the tag; the name scope comes before.
        data: a number.
        step: a number, tensor or variable (int64); None: the one of `experimental.set_step`.
        description: a text that TensorBoard shows (Markdown).

    Returns:
        A bool tensor: whether something was written.

    Raises:
        ValueError: there is a writer, but no step.
    """
    about = plugin_metadata("scalars", description)
    with experimental.summary_scope(name, "scalar_summary", [data, step]) as (tag, _):
        assert_scalar(data)
        return write(tag, cast(data, dtypes.float32), step, about)


def text(name: str, data: Any, step: Any = None, description: str | None = None) -> Tensor:
    """Writes strings.

    Args:
        name: the tag; the name scope comes before.
        data: strings (Markdown).
        step: a number, tensor or variable (int64); None: the one of `experimental.set_step`.
        description: a text that TensorBoard shows (Markdown).

    Returns:
        A bool tensor: whether something was written.

    Raises:
        ValueError: there is a writer, but no step.
    """
    about = plugin_metadata("text", description)
    with experimental.summary_scope(name, "text_summary", [data, step]) as (tag, _):
        assert_type(data, dtypes.string)
        return write(tag, data, step, about)


# ---- histograms ----------------------------------------------------------------------------------


def histogram(
    name: str, data: Any, step: Any = None, buckets: Any = None, description: str | None = None
) -> Tensor:
    """Writes how numbers are distributed.

    Args:
        name: the tag; the name scope comes before.
        data: numbers of any shape.
        step: a number, tensor or variable (int64); None: the one of `experimental.set_step`.
        buckets: how many parts the range of the numbers is cut into; None: 30.
        description: a text that TensorBoard shows (Markdown).

    Returns:
        A bool tensor: whether something was written.

    Raises:
        ValueError: there is a writer, but no step.
    """
    about = plugin_metadata("histograms", description)
    with experimental.summary_scope(name, "histogram_summary", [data, buckets, step]) as (tag, _):
        count = _BUCKETS if buckets is None else buckets
        return write(tag, _counted(data, count), step, about)


def _counted(data: Any, count: Any) -> Tensor:
    """Rows of (left edge, right edge, how many numbers between them)."""
    with name_scope("buckets"):
        assert_scalar(count)
        assert_type(count, dtypes.int32)
        numbers = cast(reshape(data, [-1]), dtypes.float64)
        return cond(
            equal(size(numbers), 0),
            lambda: constant([], dtypes.float64, [0, 3]),
            lambda: _counted_some(numbers, count),
        )


def _counted_some(numbers: Tensor, count: Any) -> Tensor:
    least, most = reduce_min(numbers), reduce_max(numbers)
    return cond(
        equal(most - least, 0),
        lambda: _counted_equal(numbers, least),
        lambda: _counted_between(numbers, least, most, count),
    )


def _counted_equal(numbers: Tensor, value: Tensor) -> Tensor:
    """One bucket for numbers that are all the same."""
    return stack([[value - 0.5, value + 0.5, cast(size(numbers), dtypes.float64)]])


def _counted_between(numbers: Tensor, least: Tensor, most: Tensor, count: Any) -> Tensor:
    width = (most - least) / cast(count, dtypes.float64)
    places = cast(floor((numbers - least) / width), dtypes.int32)
    # The largest number lies on the last edge, and belongs to the bucket before.
    marks = one_hot(minimum(places, count - 1), depth=count)
    counts = cast(reduce_sum(marks, axis=0), dtypes.float64)
    edges = linspace(least, most, count + 1)
    return transpose(stack([edges[:-1], edges[1:], counts]))


# ---- images and sounds ---------------------------------------------------------------------------


def image(
    name: str, data: Any, step: Any = None, max_outputs: Any = 3, description: str | None = None
) -> Tensor:
    """Writes the first images of a batch.

    Args:
        name: the tag; the name scope comes before.
        data: `[batch, height, width, channels]`, with 1 to 4 channels; floats are in [0, 1].
        step: a number, tensor or variable (int64); None: the one of `experimental.set_step`.
        max_outputs: how many images are written.
        description: a text that TensorBoard shows (Markdown).

    Returns:
        A bool tensor: whether something was written.

    Raises:
        ValueError: there is a writer, but no step.
    """
    about = plugin_metadata("images", description)
    with experimental.summary_scope(name, "image_summary", [data, max_outputs, step]) as (tag, _):
        assert_rank(data, 4)
        assert_non_negative(max_outputs)
        images = convert_image_dtype(data, dtypes.uint8, saturate=True)
        encoded = _encoded(encode_png, images[:max_outputs], "encode_each_image")
        sizes = shape(images)
        width, height = as_string(sizes[2], name="width"), as_string(sizes[1], name="height")
        dimensions = stack([width, height], name="dimensions")
        return write(tag, concat([dimensions, encoded], axis=0), step, about)


def audio(
    name: str,
    data: Any,
    sample_rate: Any,
    step: Any = None,
    max_outputs: Any = 3,
    encoding: str | None = None,
    description: str | None = None,
) -> Tensor:
    """Writes the first sounds of a batch.

    Args:
        name: the tag; the name scope comes before.
        data: `[batch, frames, channels]`, numbers in [-1, 1].
        sample_rate: how many frames a second has.
        step: a number, tensor or variable (int64); None: the one of `experimental.set_step`.
        max_outputs: how many sounds are written.
        encoding: "wav", or None for the same.
        description: a text that TensorBoard shows (Markdown).

    Returns:
        A bool tensor: whether something was written.

    Raises:
        ValueError: another encoding; there is a writer, but no step.
    """
    if encoding not in (None, "wav"):
        raise ValueError(f"Unknown encoding: {encoding!r}")
    about = plugin_metadata("audio", description, _WAV)
    with experimental.summary_scope(
        name, "audio_summary", [data, sample_rate, max_outputs, step]
    ) as (tag, _):
        assert_rank(data, 3)
        assert_non_negative(max_outputs)
        sounds = convert_to_tensor(data)[:max_outputs]
        encoded = _encoded(
            lambda sound: encode_wav(sound, sample_rate), sounds, "encode_each_audio"
        )
        labels = tile([""], shape(sounds)[:1])
        return write(tag, transpose(stack([encoded, labels])), step, about)


def _encoded(encode: Callable[[Any], Any], rows: Tensor, name: str) -> Tensor:
    """Each row as a string; a batch may be empty."""
    encoded = map_fn(encode, rows, dtype=dtypes.string, name=name)
    return cond(shape(encoded)[0] > 0, lambda: encoded, lambda: constant([], dtypes.string))
