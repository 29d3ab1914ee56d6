"""Tensors of strings as the kernels handle them: object arrays of bytes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from weft.core import step_limits
from weft.core.bytes_memory import FEW, memory_of
from weft.core.step_limits import parts
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


def flat_parts(value: Any) -> Iterator[np.ndarray]:
    """The same as vectors, at least one, that are not long; the step can end between them."""
    array = as_array(value).ravel()
    if array.size <= step_limits.PART:
        return iter((array,))
    return (array[part] for part in parts(array.size))


def elements(value: Any) -> Iterable[Any]:
    """The same one by one, for a loop that may be long."""
    array = as_array(value)
    if array.size <= step_limits.PART:
        return array.ravel().tolist()
    return itertools.chain.from_iterable(part.tolist() for part in flat_parts(array))


def in_parts(function: Callable[[np.ndarray], np.ndarray], value: Any) -> np.ndarray:
    """`function` of the elements as a vector, of each of which it makes one; of many, by parts."""
    array = as_array(value)
    if array.size <= step_limits.PART:
        return function(array.ravel()).reshape(array.shape)
    return np.concatenate([function(part) for part in flat_parts(array)]).reshape(array.shape)


def byte_lengths(array: np.ndarray) -> np.ndarray:
    """How many bytes each string of an array has."""
    memory = memory_of(array) if array.size > FEW else None
    if memory is not None:
        return memory.lengths.reshape(array.shape)
    return np.fromiter(map(len, elements(array)), np.int64, array.size).reshape(array.shape)


def mapped(function: Callable[[bytes], bytes], value: Any) -> np.ndarray:
    """`function` of every string."""
    return strings([function(each) for each in elements(value)], np.shape(as_array(value)))
