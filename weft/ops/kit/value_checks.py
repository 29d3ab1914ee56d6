"""Conditions on values that TensorFlow's CPU kernels check, in programs that cannot raise.

A kernel that runs on NumPy raises. Traced into a program for the host it only notes what must hold:
the program says whether all of it held, and a step for which it did not is run again by the
interpreter, which raises (runtime/xla/checks.py). A condition may therefore be stricter than the
check it stands for; it must not be laxer. On accelerators nothing is noted, as TensorFlow's
GPU kernels check nothing: there a kernel gives what they give.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol

import numpy as np

from weft.graph.by_library import by_library

Array = Any


class Notes(Protocol):
    """The collection of a program's conditions."""

    def must_hold(self, condition: Any) -> None: ...

    def must_be_within(self, indices: Any, limit: int, least: int) -> None: ...

    def is_within(self, indices: Any, limit: int) -> None: ...

    def are_known(self, indices: Any, limit: int) -> bool: ...

    def is_stored(self, array: Any) -> bool: ...


_notes: ContextVar[Notes | None] = ContextVar("notes", default=None)


@contextmanager
def noting(notes: Notes | None) -> Iterator[None]:
    """Inside, kernels that are traced note their conditions in `notes`."""
    token = _notes.set(notes)
    try:
        yield
    finally:
        _notes.reset(token)


def must_hold(condition: Any) -> bool:
    """Notes, in a program, that the step fails unless `condition` (of any shape) is all true.

    Gives whether that is so: where it is not, what a kernel makes of bad values counts.
    """
    notes = _notes.get()
    if notes is not None:
        notes.must_hold(condition)
    return notes is not None


@by_library
def require(xp: Any, condition: Any, complain: Callable[[], Exception]) -> None:
    """Raises `complain()` unless `condition` (of any shape) is all true; a program notes it."""
    must_hold(condition)


@require.numpy
def _(xp: Any, condition: Any, complain: Callable[[], Exception]) -> None:
    if not np.all(condition):
        raise complain()


@by_library
def require_below(xp: Any, numbers: Array, limit: int, complain: Callable[[], Exception]) -> None:
    """As `require`, that all numbers are less than `limit`; negative ones are."""
    notes = _notes.get()
    if notes is not None and not notes.are_known(numbers, limit):
        notes.must_hold(numbers < limit)


@require_below.numpy
def _(xp: Any, numbers: Array, limit: int, complain: Callable[[], Exception]) -> None:
    if not np.all(numbers < limit):
        raise complain()


def must_be_within(indices: Array, limit: int, least: int = 0) -> bool:
    """As `must_hold`, that all indices are in [least, limit)."""
    notes = _notes.get()
    if notes is not None:
        notes.must_be_within(indices, limit, least)
    return notes is not None


def is_within(indices: Array, limit: int) -> None:
    """Notes, in a program, that all indices are in [0, limit): whoever needs that need not look."""
    notes = _notes.get()
    if notes is not None:
        notes.is_within(indices, limit)


def is_stored(array: Array) -> bool:
    """Whether, in a program for the host, an array is there before the program begins."""
    notes = _notes.get()
    return notes is not None and notes.is_stored(array)


def are_within(indices: Array, limit: Any, least: int = 0) -> Array:
    """Whether each of the indices is in [least, limit)."""
    if np.ndim(limit) == 0 and limit > np.iinfo(indices.dtype).max:
        return indices >= least
    return (indices >= least) & (indices < np.asarray(limit, indices.dtype))


def write_parts(cells: Sequence[Any], update: Callable[[Any], Sequence[Array]]) -> None:
    """Writes `update(void)` to variables: new values that are mostly the old ones.

    Where `void` is true the update must change nothing. In a program that may fail it comes as late
    as can be, when it is known whether the program has failed: to choose between the old and the
    new value of a whole table afterwards would mean to copy the table.
    """
    later = getattr(cells[0], "write_later", None)
    if later is not None:
        later(cells, update)
        return
    for cell, value in zip(cells, update(False), strict=True):
        cell.write(value)
