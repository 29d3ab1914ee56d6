"""The same bytes of many strings at once, eight of them in a word of NumPy's."""

from __future__ import annotations

import itertools

import numpy as np

from weft.core.bytes_memory import FEW, BytesMemory, memory_of

_WORD = 8
_MOST = 4  # words of a piece
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


def cut_all(texts: np.ndarray, start: int, length: int) -> np.ndarray | None:
    """Up to `length` bytes of each string of a vector from `start`; all if `length` is negative.

    None where this is no way to take them: a string is too short, or there are few.
    """
    memory = memory_of(texts) if texts.size > FEW and start >= 0 else None
    if memory is None:
        return None
    left = memory.lengths - start
    sizes = np.minimum(left, length) if length >= 0 else left
    count = max(1, -(-int(sizes.max()) // _WORD))
    if left.min() < (count - 1) * _WORD or count > _MOST:
        return None
    words = _words(memory, start, sizes, count)
    return None if _any_ends_in_zero(words, sizes) else _as_strings(words)


def _words(memory: BytesMemory, start: int, sizes: np.ndarray, count: int) -> np.ndarray:
    """The pieces as [strings, count], with zeros behind their ends."""
    first, skipped = divmod(start, _WORD)
    found = [memory.words(first + i) for i in range(count + (skipped > 0))]
    if skipped:
        down, up = np.uint64(8 * skipped), np.uint64(64 - 8 * skipped)
        found = [a >> down | b << up for a, b in itertools.pairwise(found)]
    words = np.stack(found, 1)
    words[:, -1] &= ~(_ALL << _bits(sizes - (count - 1) * _WORD))
    return words


def _any_ends_in_zero(words: np.ndarray, sizes: np.ndarray) -> bool:
    """Whether a piece has a last byte that NumPy would take for the filling behind its end."""
    at = sizes - 1 - (words.shape[1] - 1) * _WORD
    last = words[:, -1] >> _bits(at)
    return bool(((last == 0) & (sizes > 0)).any())


def _bits(count: np.ndarray) -> np.ndarray:
    return count.view(np.uint64) << np.uint64(3)


def _as_strings(words: np.ndarray) -> np.ndarray:
    return words.view(f"S{words.itemsize * words.shape[1]}")[:, 0].astype(object)
