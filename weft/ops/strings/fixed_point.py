"""Many 32-bit floats with six digits behind the point, as C's `%f` writes them.

A float of 24 bits times 10**6, which has 14 without its factors of two, is exact in 53 bits:
rounded to an integer, ties to even, it has the digits that the C library finds.
"""

from __future__ import annotations

import numpy as np

_FORM, _SCALE, _BEHIND = "%f", np.float64(1e6), 6
_FEW = 64
_LARGEST = 1e9
# The numbers, in millionths, from which on there is another digit before the point.
_TENS = 10 ** np.arange(_BEHIND + 1, _BEHIND + 10)
_ZERO, _POINT, _MINUS = b"0.-"


def _groups() -> np.ndarray:
    """The four digits of each number below 10,000, as the bytes of a 32-bit word."""
    places = np.array([1000, 100, 10, 1])
    digits = np.arange(10_000)[:, None] // places % 10 + _ZERO
    return digits.astype(np.uint8).view(np.uint32)[:, 0]


_GROUPS = _groups()


def fixed_point(values: np.ndarray, form: str) -> np.ndarray | None:
    """The texts of the numbers; None where this is not the way to write them."""
    if form != _FORM or len(values) < _FEW:
        return None
    size = np.abs(values)
    if not size.max() < _LARGEST:
        return None
    scaled = np.rint(size * _SCALE).astype(np.int64)
    # How many digits stand before the point, and whether there is a minus.
    before = np.searchsorted(_TENS, scaled, side="right")
    kinds = before * 2 + np.signbit(values)
    digits = _digits(scaled, int(before.max()) + 1 + _BEHIND)
    result = np.empty(len(values), object)
    for kind in np.flatnonzero(np.bincount(kinds)).tolist():
        rows = np.flatnonzero(kinds == kind)
        result[rows] = _texts(digits.take(rows, 0), kind // 2 + 1, bool(kind % 2))
    return result


def _digits(numbers: np.ndarray, least: int) -> np.ndarray:
    """At least so many digits of each number, zeros before it included."""
    count = -(-least // 4)
    if count < 3:
        numbers = numbers.astype(np.uint32)
    groups = np.empty((len(numbers), count), np.uint32)
    for place in range(count - 1, 0, -1):
        higher = numbers // 10_000
        groups[:, place] = _GROUPS.take(numbers - higher * 10_000)
        numbers = higher
    groups[:, 0] = _GROUPS.take(numbers)
    return groups.view(np.uint8)


def _texts(digits: np.ndarray, before: int, is_negative: bool) -> list[bytes]:
    """The texts of numbers with as many digits before the point."""
    text = np.empty((len(digits), is_negative + before + 1 + _BEHIND), np.uint8)
    text[:, :is_negative] = _MINUS
    text[:, is_negative : is_negative + before] = digits[:, -before - _BEHIND : -_BEHIND]
    text[:, is_negative + before] = _POINT
    text[:, -_BEHIND:] = digits[:, -_BEHIND:]
    return text.view(f"S{text.shape[1]}")[:, 0].tolist()
