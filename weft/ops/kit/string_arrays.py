"""Tensors of strings as the kernels handle them: object arrays of bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.core.bytes_memory import FEW, memory_of
from weft.ops.kit.shared import as_array


def string(value: Any) -> bytes:
    """The string of a scalar tensor, which may have become bare bytes."""
    return value if isinstance(value, bytes) else value.item()


def scalar(value: bytes) -> np.ndarray:
    """A tensor of one string."""
    cell = np.empty((), object)
    cell[()] = value
    return cell


def strings(values: Sequence[bytes], shape: tuple[int, ...] | None = None) -> np.ndarray:
    """A tensor of these strings: a vector, or of `shape`."""
    if shape == ():
        return scalar(values[0])
    result = np.fromiter(values, object, len(values))
    return result if shape is None else result.reshape(shape)


def flat(value: Any) -> list[bytes]:
    """The strings of a tensor in row-major order."""
    return as_array(value).ravel().tolist()


def byte_lengths(array: np.ndarray) -> np.ndarray:
    """How many bytes each string of an array has."""
    memory = memory_of(array) if array.size > FEW else None
    if memory is not None:
        return memory.lengths.reshape(array.shape)
    return np.fromiter(map(len, flat(array)), np.int64, array.size).reshape(array.shape)


def mapped(function: Callable[[bytes], bytes], value: Any) -> np.ndarray:
    """`function` of every string."""
    return strings([function(each) for each in flat(value)], np.shape(as_array(value)))
