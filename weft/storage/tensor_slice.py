"""Slices: the parts of tensors that are stored.

A slice has one item for each dimension: (start, length), or None for all of it. Its text is
"0,2:-" (the first two rows); a variable that is part of a larger one is saved with the larger
shape in front: "4 3 0,2:-".
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any

from weft.core import errors

TensorSlice = tuple[tuple[int, int] | None, ...]
Shape = tuple[int, ...]


def shape_text(shape: Iterable[int]) -> str:
    """A shape as TensorFlow's messages spell it: "[2,3]"."""
    return f"[{','.join(map(str, shape))}]"


def slice_text(slice_: TensorSlice) -> str:
    return ":".join("-" if part is None else f"{part[0]},{part[1]}" for part in slice_)


def full_slice(rank: int) -> TensorSlice:
    return (None,) * rank


def is_full(slice_: TensorSlice, shape: Shape) -> bool:
    """Whether the slice is the whole tensor, said either way."""
    return sliced_shape(shape, slice_) == shape


def parse_slice(text: str) -> TensorSlice:
    return tuple(_parse_part(part, text) for part in text.split(":") if part)


def _parse_part(part: str, text: str) -> tuple[int, int] | None:
    if part == "-":
        return None
    try:
        start, length = map(int, filter(None, part.split(",")))
    except ValueError:
        raise _invalid(
            f"Expected a pair of numbers or '-' but got '{part}': string = {text}"
        ) from None
    if start < 0 or length <= 0:
        raise _invalid(
            "Expected non-negative start and positive length but got "
            f"start = {start}, length = {length}: string = {text}"
        )
    return start, length


def parse_shape_and_slice(text: str) -> tuple[Shape, TensorSlice, Shape]:
    """(the whole tensor's shape, the slice, the slice's shape) of "4 3 0,2:-"."""
    *sizes, spec = text.split(" ")
    if not sizes:
        raise _invalid(f"Need least two elements in shape_and_slice specification: {text}")
    slice_ = parse_slice(spec)
    try:
        shape = tuple(map(int, sizes))
    except ValueError:
        raise _invalid(f"Non numerical dimension in shape_and_slice: {text}") from None
    return shape, slice_, sliced_shape(shape, slice_)


def sliced_shape(shape: Shape, slice_: TensorSlice) -> Shape:
    """The shape of a slice of a tensor of this shape."""
    where = f"shape = {shape_text(shape)}, slice = {slice_text(slice_)}"
    if len(shape) != len(slice_):
        raise errors.InternalError(None, None, f"Mismatching ranks: {where}")
    for axis, (size, part) in enumerate(zip(shape, slice_, strict=True)):
        if part is not None and sum(part) > size:
            raise errors.InternalError(
                None, None, f"Extent in dimension {axis} out of bounds: {where}"
            )
    return tuple(
        size if part is None else part[1] for size, part in zip(shape, slice_, strict=True)
    )


def overlap(shape: Shape, a: TensorSlice, b: TensorSlice) -> tuple[tuple[slice, ...], ...] | None:
    """The place of the common part of two slices in each of them; None when there is none."""
    in_a, in_b = [], []
    for size, part_a, part_b in zip(shape, a, b, strict=True):
        start_a, length_a = part_a or (0, size)
        start_b, length_b = part_b or (0, size)
        start = max(start_a, start_b)
        end = min(start_a + length_a, start_b + length_b)
        if start >= end:
            return None
        in_a.append(slice(start - start_a, end - start_a))
        in_b.append(slice(start - start_b, end - start_b))
    return tuple(in_a), tuple(in_b)


def covers(shape: Shape, stored: Iterable[TensorSlice], slice_: TensorSlice) -> bool:
    """Whether every element of a slice is in one of the stored slices, and in one only."""
    wanted = sliced_shape(shape, slice_)
    common = [overlap(shape, slice_, each) for each in stored]
    boxes = [each[0] for each in common if each is not None]
    count = sum(math.prod(part.stop - part.start for part in box) for box in boxes)
    return count == math.prod(wanted) and _are_disjoint(boxes)


def _are_disjoint(boxes: list[tuple[slice, ...]]) -> bool:
    """Whether no element is in two of the boxes. Those that are apart on one axis go quickly."""
    if len(boxes) < 2 or not boxes[0]:
        return len(boxes) < 2
    axis = max(range(len(boxes[0])), key=lambda i: len({box[i].start for box in boxes}))
    beside: list[tuple[slice, ...]] = []
    for box in sorted(boxes, key=lambda box: box[axis].start):
        beside = [each for each in beside if each[axis].stop > box[axis].start]
        if any(_meet(box, each) for each in beside):
            return False
        beside.append(box)
    return True


def _meet(a: tuple[slice, ...], b: tuple[slice, ...]) -> bool:
    return all(x.start < y.stop and y.start < x.stop for x, y in zip(a, b, strict=True))


def to_proto(slice_: TensorSlice, message: Any) -> None:
    for part in slice_:
        extent = message.extent.add()
        if part is not None:
            extent.start, extent.length = part


def from_proto(message: Any) -> TensorSlice:
    return tuple(
        (extent.start, extent.length) if extent.HasField("length") and extent.length >= 0 else None
        for extent in message.extent
    )


def slice_key(name: bytes, slice_: TensorSlice) -> bytes:
    """The key of a stored slice: sorts by name, then by where the slice starts."""
    escaped = re.sub(b"[\x00\xff]", lambda m: m[0] + bytes([m[0][0] ^ 0xFF]), name)
    key = _unsigned(0) + escaped + b"\x00\x01" + _unsigned(len(slice_))
    for part in slice_:
        start, length = part or (0, -1)
        key += _signed(start) + _signed(length)
    return key


def _unsigned(number: int) -> bytes:
    """A number as its length in bytes, then its bytes, the highest first."""
    length = (number.bit_length() + 7) // 8
    return bytes([length]) + number.to_bytes(length, "big")


def _signed(number: int) -> bytes:
    """Seven bits a byte, highest first, behind a sign and as many ones as more bytes follow."""
    bits = (~number if number < 0 else number).bit_length()
    length = bits // 7 + 1
    header = ((1 << length) - 1) << (7 * length)
    mask = (1 << (8 * length)) - 1
    return ((number & mask) ^ header).to_bytes(length, "big")


def _invalid(message: str) -> errors.InvalidArgumentError:
    return errors.InvalidArgumentError(None, None, message)
