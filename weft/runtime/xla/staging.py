"""Memory in which a program on an accelerator finds what is fed.

An array of NumPy's that a program is given first goes to the device, by a call of its own, which
takes longer than a short step, and copies a large array by one thread. Memory that the device reads
by itself is written to as fast as the host can, and the program fetches it when it needs it. A few
pieces of such memory take turns, for a step may still be on its way when the next one is fed.
"""

from __future__ import annotations

import ctypes
import threading
import weakref
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from weft.core import machine
from weft.ops.kit.room import byte_count
from weft.runtime.devices.memory import memory_for_host

MOST = 1 << 28  # bytes that a step is fed
_TURNS = 3
_MOST_KEPT = 1 << 30  # bytes of all programs
_LARGE, _THREADS = 1 << 23, min(4, machine.cores())


class Piece:
    """Memory for all that one step is fed: `arrays` of jax's, which `views` write to."""

    __slots__ = ("arrays", "done", "views")

    def __init__(self, arrays: list[Any]) -> None:
        self.arrays = arrays
        self.views = [_view(array) for array in arrays]
        self.done: Any = None  # a result of the last program that was given this


class Staging:
    """Pieces of memory for some `inputs` of a program, of these shapes and types."""

    def __init__(
        self, device: Any, inputs: Sequence[int], specs: Sequence[tuple[Any, Any]]
    ) -> None:
        self.inputs = inputs
        self._memory, self._specs = memory_for_host(device), specs
        self._bytes = sum(byte_count(shape, dtype) for shape, dtype in specs)
        self._given: deque[Piece] = deque()  # in the order of the programs that they were given to
        self._lock = threading.Lock()
        _all.add(self)

    def filled(self, values: Sequence[Any]) -> Piece:
        """A piece that nobody reads any more, with these values in it."""
        piece = self._free() or self._made()
        for view, value in zip(piece.views, values, strict=True):
            _copy(view, value)
        return piece

    def give_back(self, piece: Piece, done: Any) -> None:
        """After a program was called with a piece; `done` is there when that has ended."""
        piece.done = done
        with self._lock:
            self._given.append(piece)

    def forget(self) -> None:
        """Lets go of what is kept for later steps."""
        with self._lock:
            self._given.clear()

    def kept(self) -> int:
        return len(self._given) * self._bytes

    def _free(self) -> Piece | None:
        with self._lock:
            if not self._given:
                return None
            oldest = self._given[0]
            if not oldest.done.is_ready() and len(self._given) < _TURNS:
                return None
            self._given.popleft()
        oldest.done.block_until_ready()
        return oldest

    def _made(self) -> Piece:
        import jax

        if sum(each.kept() for each in list(_all)) > _MOST_KEPT:
            for each in list(_all):
                each.forget()
        blank = [np.zeros(shape, dtype) for shape, dtype in self._specs]
        return Piece(jax.block_until_ready(jax.device_put(blank, self._memory)))  # type: ignore[no-untyped-call]


_all: weakref.WeakSet[Staging] = weakref.WeakSet()


def _copy(target: Any, source: Any) -> None:
    """Copies an array, a large one by several threads."""
    if target.nbytes < _LARGE or _THREADS == 1:
        np.copyto(target, source)
        return
    if source.flags.c_contiguous:
        target, source = target.reshape(-1), source.reshape(-1)
    size = -(-len(target) // _THREADS)
    parts = [slice(start, start + size) for start in range(0, len(target), size)]
    with ThreadPoolExecutor(_THREADS) as threads:
        list(threads.map(lambda part: np.copyto(target[part], source[part]), parts))


def _view(array: Any) -> Any:
    memory = (ctypes.c_char * array.nbytes).from_address(array.unsafe_buffer_pointer())
    return np.frombuffer(memory, np.uint8).view(array.dtype).reshape(array.shape)
