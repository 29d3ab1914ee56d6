"""Many strings at once, read by NumPy where CPython keeps them.

The elements of an object array are addresses. At the address of a bytes object are a header that
ends with its type, then its length, its hash, and its bytes. So types, lengths and words of ten
thousand strings take NumPy a few reads, where Python would look at one string after the other.
"""

from __future__ import annotations

import functools
import operator
import sys

import numpy as np

_WORD = 8
# In words from the address of an object.
_TYPE = object.__basicsize__ // _WORD - 1
_LENGTH = _TYPE + 1
_DATA = (bytes.__basicsize__ - 1) // _WORD
FEW = 512  # strings that Python has looked at before NumPy has begun


class _Words:
    """A piece of memory, as something that NumPy makes an array of."""

    def __init__(self, address: int, count: int) -> None:
        self.__array_interface__ = {
            "data": (address, True), "shape": (count,), "typestr": "<i8", "version": 3,
        }  # fmt: skip


@functools.cache
def _memory() -> np.ndarray:
    """All memory but its first word, which is never anything's address."""
    return np.asarray(_Words(_WORD, 1 << 45))


class BytesMemory:
    """The memory of strings, which live as long as this does: it holds the array of them."""

    def __init__(self, objects: np.ndarray, addresses: np.ndarray) -> None:
        self._objects = objects
        self._places = (addresses >> 3) - 1

    def _at(self, offset: int) -> np.ndarray:
        found: np.ndarray = _memory()[offset:][self._places]
        return found

    def are_bytes(self) -> bool:
        return bool((self._at(_TYPE) == id(bytes)).all())

    @functools.cached_property
    def lengths(self) -> np.ndarray:
        return self._at(_LENGTH)

    def words(self, number: int) -> np.ndarray:
        """Eight bytes of each string as uint64, of which those behind its end mean nothing.

        None may begin more than a word behind the end of a string.
        """
        return self._at(_DATA + number).view(np.uint64)

    def rows(self, chosen: np.ndarray, length: int) -> np.ndarray:
        """The strings at `chosen`, which are all of this length, as [strings, length]."""
        words = np.arange(_DATA, _DATA + -(-length // _WORD))
        found: np.ndarray = _memory()[self._places[chosen][:, None] + words].view(np.uint8)
        rows: np.ndarray = found.reshape(len(chosen), -1)[:, :length]
        return rows


def memory_of(array: np.ndarray) -> BytesMemory | None:
    """The memory of an array's strings; None where it cannot be read, or not all are bytes."""
    if not _is_readable():
        return None
    # A copy: another thread may put other objects into the array, and these would be gone.
    objects = array.flatten()
    addresses = np.asarray(_Words(objects.__array_interface__["data"][0], objects.size))
    if not addresses.all():  # an element that was never set
        return None
    memory = BytesMemory(objects, addresses)
    return memory if memory.are_bytes() else None


def all_bytes(array: np.ndarray) -> bool:
    """Whether every element of an object array is of type bytes, and of no other."""
    if array.size > FEW and _is_readable():
        return memory_of(array) is not None
    flat = array.ravel().tolist()
    return operator.countOf(map(type, flat), bytes) == len(flat)


def _is_readable() -> bool:
    """Whether this interpreter keeps objects as this file says."""
    return sys.implementation.name == "cpython" and _layout == (0, 1, 1, "little")


_layout = (
    object.__basicsize__ % _WORD, bytes.__basicsize__ % _WORD, bytes.__itemsize__, sys.byteorder,
)  # fmt: skip
