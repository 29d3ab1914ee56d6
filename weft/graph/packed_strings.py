"""Strings in the bytes of a TensorProto: all their lengths, then all the strings."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import accumulate, pairwise

import numpy as np

from weft.core.varint import read_varint, varint


def pack(texts: Iterable[bytes]) -> bytes:
    texts = list(texts)
    return b"".join([*(varint(len(text)) for text in texts), *texts])


def unpack(content: bytes | memoryview, shape: tuple[int, ...]) -> np.ndarray:
    """The strings as an array of this shape; ValueError where there are fewer."""
    count, lengths, at = math.prod(shape), [], 0
    if min(shape, default=0) < 0 or count > len(content):
        raise _too_few(shape)
    try:
        for _ in range(count):
            length, at = read_varint(content, at)
            lengths.append(length)
    except IndexError:
        raise _too_few(shape) from None
    ends = list(accumulate(lengths, initial=at))
    if ends[-1] > len(content):
        raise _too_few(shape)
    array = np.empty(shape, object)
    array.reshape(-1)[:] = [bytes(content[start:end]) for start, end in pairwise(ends)]
    return array


def _too_few(shape: tuple[int, ...]) -> ValueError:
    return ValueError(f"There are not {list(shape)} strings in a tensor")
