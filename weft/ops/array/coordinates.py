"""All the coordinates of an array, in order: what `Where` finds where nothing is left out.

A feature that every example has is looked for, gathered, filled up and crossed by kernels that find
each time that nothing is missing. The small coordinate arrays are made once, and are known again by
being the very same object.
"""

from __future__ import annotations

import functools

import numpy as np

LARGE = 1 << 16  # elements: larger ones would not be worth their memory


@functools.lru_cache(maxsize=64)
def _grid(shape: tuple[int, ...]) -> np.ndarray:
    made = _all(shape)
    made.setflags(write=False)
    return made


def _all(shape: tuple[int, ...]) -> np.ndarray:
    every = np.indices(shape, np.int64).reshape(len(shape), -1)
    return np.ascontiguousarray(every.T)


def all_coordinates(shape: tuple[int, ...]) -> np.ndarray:
    """The coordinates of every element, a row each, not to be changed."""
    return _grid(shape) if _is_small(shape) else _all(shape)


def is_grid(indices: np.ndarray, shape: tuple[int, ...]) -> bool:
    """Whether these are the coordinates of all elements, made here; others may equal them."""
    return not indices.flags.writeable and _is_small(shape) and indices is _grid(shape)


def found_in(mask: np.ndarray) -> np.ndarray:
    """The coordinates of what is not zero, a row each."""
    if mask.ndim == 1:  # looking costs as much as finding
        return mask.nonzero()[0][:, None].astype(np.int64, copy=False)
    if _is_small(mask.shape) and mask.all():
        return _grid(mask.shape)
    found = mask.nonzero()
    positions = np.empty((len(found[0]), mask.ndim), np.int64)
    for axis, at in enumerate(found):
        positions[:, axis] = at
    return positions


def _is_small(shape: tuple[int, ...]) -> bool:
    size = len(shape)
    for d in shape:
        size *= d
    return 0 < size <= LARGE
