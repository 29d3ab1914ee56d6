"""Signals cut into frames that overlap, and put together from them."""

from __future__ import annotations

from math import gcd
from typing import Any

from weft.core import dtypes
from weft.graph.constant_value import constant_value
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.ops.array import array
from weft.ops.array.gather import gather
from weft.ops.array.one_hot_search import one_hot
from weft.ops.array.strided import strided_slice
from weft.ops.kit.seed_counts import count_further
from weft.ops.math import math


def scalar(value: Any, name: str) -> Tensor:
    tensor = convert_to_tensor(value, name=name)
    tensor.shape.assert_has_rank(0)
    return tensor


def _frame_dims(signal: Tensor, length: Any, step: Any, pad_end: bool, axis: Any) -> Any:
    """The known shape of the frames, or None."""
    length, step, axis = (constant_value(each) for each in (length, step, axis))
    if signal.dims is None:
        return None
    if axis is None:
        return [None] * (len(signal.dims) + 1)
    if length is not None and length < 0:
        raise ValueError(f"Dimension {int(length)} must be >= 0")
    size, count = signal.dims[axis], None
    if size is not None and step:
        if pad_end:
            count = max(0, -(-size // int(step)))
        elif length is not None:
            count = max(0, (size - int(length) + int(step)) // int(step))
    known = None if length is None else int(length)
    return [*signal.dims[:axis], count, known, *signal.dims[axis:][1:]]


def _count(size: Tensor, length: Tensor, step: Tensor, pad_end: bool) -> Tensor:
    if pad_end:
        return -(-size // step)
    return math.maximum(0, 1 + (size - length) // step)


def _padded(signal: Tensor, axis: Tensor, missing: Tensor, value: Any) -> Tensor:
    value = convert_to_tensor(value, signal.dtype)
    value.shape.assert_has_rank(0)
    after = one_hot(axis, array.rank(signal), missing, 0)
    return array.pad(
        signal, array.stack([array.zeros_like(after), after], 1), constant_values=value
    )


def _piece(length: Tensor, step: Tensor) -> int:
    """The largest number of samples of which frames and steps are made, as far as is known."""
    known = constant_value(length), constant_value(step)
    return 1 if known[0] is None or known[1] is None else gcd(int(known[0]), int(known[1]))


def _gathered(signal: Tensor, axis: Tensor, count: Any, length: Tensor, step: Tensor) -> Tensor:
    """Frames, gathered piece by piece."""
    piece = _piece(length, step)
    shape = array.shape(signal)
    outer, size, inner = shape[:axis], shape[axis], shape[axis + 1 :]
    pieces = size // piece

    def sized(*dims: Any) -> Tensor:
        return array.concat([outer, dims, inner], 0)

    whole = strided_slice(signal, array.zeros_like(shape), sized(pieces * piece))
    rows = array.reshape(whole, sized(pieces, piece))
    starts = array.expand_dims(math.range(count) * (step // piece), 1)
    chosen = gather(rows, starts + math.range(length // piece), axis=axis)
    return array.reshape(chosen, sized(count, length))


def frame(
    signal: Any, frame_length: Any, frame_step: Any, pad_end: bool = False, pad_value: Any = 0,
    axis: Any = -1, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Frames of an axis, `frame_step` apart: [..., samples, ...] -> [..., frames, length, ...].

    With `pad_end` a frame begins at every step, and `pad_value` stands for what is missing.
    """
    with name_scope(name, "frame", [signal, frame_length, frame_step, pad_value]):
        signal = convert_to_tensor(signal, name="signal")
        signal.shape.with_rank_at_least(1)
        length, step = scalar(frame_length, "frame_length"), scalar(frame_step, "frame_step")
        axis = scalar(axis, "axis")
        dims = _frame_dims(signal, length, step, pad_end, axis)
        axis = math.range(array.rank(signal))[axis]
        size = array.shape(signal)[axis]
        count = _count(size, length, step, pad_end)
        if pad_end:
            missing = math.maximum(0, length + step * (count - 1) - size)
            signal = _padded(signal, axis, missing, pad_value)
        frames = _gathered(signal, axis, count, length, step)
        count_further(10 if pad_end else -12)
        if dims is not None:
            frames.set_shape(dims)
        return frames


def overlap_and_add(signal: Any, frame_step: Any, name: str | None = None) -> Tensor:
    """The signal whose frames, `frame_step` apart, these were: they are added where they overlap.

    [..., frames, length] -> [..., samples]
    """
    with name_scope(name, "overlap_and_add", [signal, frame_step]):
        signal = convert_to_tensor(signal, name="signal")
        signal.shape.with_rank_at_least(2)
        step = scalar(frame_step, "frame_step")
        if not step.dtype.is_integer:
            raise ValueError(f"frame_step must be an integer. Got {step.dtype}")
        sizes = array.shape(signal)
        batch, (frames, length) = sizes[:-2], (sizes[-2], sizes[-1])
        total = length + step * (frames - 1)
        touching = _touch(signal, step)
        count_further(1 if touching else 4)
        if touching:
            return array.reshape(signal, array.concat([batch, [total]], 0), name="fast_path")
        return _added(signal, batch, frames, length, step)[..., :total]


def _touch(signal: Tensor, step: Tensor) -> bool:
    """Whether each frame is known to begin where the one before it ends."""
    length = signal.dims[-1] if signal.dims else None
    return length is not None and bool(constant_value(step) == length)


def _added(signal: Tensor, batch: Any, frames: Any, length: Any, step: Any) -> Tensor:
    """Frames in pieces of one step: piece j of frame i belongs to step i + j.

    With one more row of zeros than needed, rows read one after the other are each shifted by one.
    """
    pieces = -(-length // step)
    steps = frames + pieces

    def as_batch(x: Tensor, *dims: Any) -> Tensor:
        return array.reshape(x, array.concat([batch, dims], 0))

    outer = array.size(batch)
    ends = [[0, pieces], [0, pieces * step - length]]
    padded = array.pad(signal, array.concat([array.zeros([outer, 2], dtypes.int32), ends], 0))
    swapped = array.transpose(
        as_batch(padded, steps, pieces, step),
        array.concat([math.range(outer), math.add([1, 0, 2], outer)], 0),
    )
    shifted = as_batch(swapped, steps * pieces, step)[..., : (steps - 1) * pieces, :]
    summed = math.reduce_sum(as_batch(shifted, pieces, steps - 1, step), -3)
    return as_batch(summed, (steps - 1) * step)
