"""Many short strings as one text, so that NumPy can go through all of them at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

_BETWEEN = 0
_ROOM = b"\0" * 8  # behind the last string, so that a word may begin at its last byte


@dataclass(frozen=True)
class Joined:
    """The bytes of all strings, and where each begins and ends."""

    data: bytes
    starts: np.ndarray
    ends: np.ndarray

    @property
    def lengths(self) -> np.ndarray:
        return self.ends - self.starts

    def words(self, at: np.ndarray, size: int) -> np.ndarray:
        """The little-endian numbers of `size` bytes that begin at these places, as uint64."""
        count = len(self.data) - size + 1
        every = np.ndarray((count,), f"<u{size}", self.data, strides=(1,))
        return every[at].astype(np.uint64, copy=False)


def joined(strings: Sequence[bytes]) -> Joined | None:
    """The strings as one text; None if one of them has a NUL, which stands between them."""
    data = b"\0".join([*strings, _ROOM])
    between = np.flatnonzero(np.frombuffer(data, np.uint8, len(data) - len(_ROOM)) == _BETWEEN)
    if len(between) != len(strings):
        return None
    starts = np.empty_like(between)
    starts[:1] = 0
    np.add(between[:-1], 1, out=starts[1:])
    return Joined(data, starts, between)
