"""Decimal numbers of many strings at once, eight characters in a word of NumPy's.

Only what everyone reads alike: digits, at most a minus before them and one point among them, in no
more than sixteen characters. Such a number is a whole number of 53 bits over a power of ten, so one
division rounds it as it should be.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core.bytes_memory import FEW, BytesMemory, memory_of

Words = np.ndarray  # of uint64; the first character is in the lowest byte
_ALL_ZEROS = np.uint64(0x3030303030303030)
_MINUS, _POINT = np.uint64(ord("-") ^ ord("0")), np.uint64(ord(".") ^ ord("0"))
_POINT_BIT = np.uint64(0x1010101010101010)  # that digits do not have, with zero as their zero
_SIX, _ABOVE_NINE = np.uint64(0x0606060606060606), np.uint64(0xF0F0F0F0F0F0F0F0)
# Factors and bits by which neighbours become one number, and where these then are.
_STEPS = [
    (np.uint64(factor), np.uint64(bits), np.uint64(kept))
    for factor, bits, kept in (
        (10, 8, 0x00FF00FF00FF00FF), (100, 16, 0x0000FFFF0000FFFF), (10_000, 32, 0xFFFFFFFF),
    )
]  # fmt: skip
_WORD, _LOWEST, _ONE, _FOUR = 8, np.uint64(255), np.uint64(1), np.uint64(4)
_EXACT, _SIGN = 1 << 53, np.uint64(1 << 63)


def decimals(array: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """The numbers of a vector of strings, and the places where something else is, of any number.

    None if the strings are few, or their memory cannot be read.
    """
    memory = memory_of(array) if array.size > FEW else None
    if memory is None:
        return None
    are_long = memory.lengths > _WORD
    if are_long.all():
        return _long(memory, slice(None))
    values, are_other = _short(memory)
    if are_long.any():
        values[are_long], are_other[are_long] = _long(memory, are_long)
    return values, are_other


def _short(memory: BytesMemory) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of up to eight characters, and which are none."""
    lengths = memory.lengths
    word, are_negative = _signed(memory.words(0))
    digits = _Digits(word << _bits(_WORD - lengths))
    are_other = digits.are_other | (lengths > _WORD)
    are_other |= lengths <= are_negative.astype(np.int64) + digits.have_point
    return _with_sign(digits.numbers / digits.scale(), are_negative), are_other


def _long(memory: BytesMemory, chosen: Any) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of nine to sixteen characters."""
    lengths = memory.lengths[chosen]
    unused = _bits(2 * _WORD - lengths)
    word, are_negative = _signed(memory.words(0)[chosen])
    rest = memory.words(1)[chosen] ^ _ALL_ZEROS
    first = _Digits(word << unused)
    last = _Digits(word >> _bits(lengths - _WORD) | rest << unused)
    whole = first.numbers * np.where(last.have_point, 1e7, 1e8) + last.numbers
    scale = np.where(first.have_point, first.scale() * 1e8, last.scale())
    are_other = first.are_other | last.are_other | (first.have_point & last.have_point)
    are_other |= (lengths > 2 * _WORD) | (whole >= _EXACT)
    return _with_sign(whole / scale, are_negative), are_other


def _bits(characters: np.ndarray) -> np.ndarray:
    return characters.view(np.uint64) << np.uint64(3)


def _signed(word: Words) -> tuple[Words, np.ndarray]:
    """Characters with zero as their zero, without the minus, and whether there was one."""
    word = word ^ _ALL_ZEROS
    are_negative = word & _LOWEST == _MINUS
    return word ^ are_negative * _MINUS, are_negative


def _with_sign(values: np.ndarray, are_negative: np.ndarray) -> np.ndarray:
    bits: np.ndarray = values.view(np.uint64) | are_negative * _SIGN
    return bits.view(np.float64)


class _Digits:
    """Eight digits, or seven and a point, of each number; `are_other` where it is not so.

    `numbers` are what the digits write, as floats.
    """

    def __init__(self, word: Words) -> None:
        self._point = point = word & _POINT_BIT
        self.have_point = point != 0
        mark = point >> _FOUR
        word = word ^ mark * _POINT
        odd = ((word + _SIX) | word) & _ABOVE_NINE | point & point - _ONE | word & mark * _LOWEST
        self.are_other = odd != 0
        before = word & mark - self.have_point
        self.numbers = _value(word + before * _LOWEST)  # moved to the place of the point

    def scale(self) -> np.ndarray:
        """Ten to the power of how many digits follow the point."""
        exponents = self._point.astype(np.float64).view(np.int64) >> 55
        found: np.ndarray = _SCALES[exponents]
        return found


# By an eighth of the exponent of a float, that is by the byte of the highest bit.
_SCALES = np.ones(256)
_SCALES[128:136] = 10.0 ** np.arange(7, -1, -1)


def _value(digits: Words) -> np.ndarray:
    for factor, bits, kept in _STEPS:
        digits = digits * factor + (digits >> bits) & kept
    return digits.view(np.int64).astype(np.float64)
