"""The deadline of the step that a thread runs, for loops inside it to check."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

from weft.core.errors import DeadlineExceededError, OpError

T = TypeVar("T")
PART = 1 << 16  # elements of a long loop between which the step can end


def deadline_error(awaited: Iterable[str] = ()) -> OpError:
    """The error of a step that waited for these when its time was up."""
    names = ", ".join(sorted(awaited))
    message = "Timed out waiting for notification" + (f": {names}" if names else "")
    return DeadlineExceededError(None, None, message)


class Steps(Protocol):
    """The steps of a session, as each of them sees the others."""

    def check(self) -> None:
        """Raises if the steps must end."""

    def add(self, step: Any) -> None:
        """Adds a step that has begun and can be ended."""

    def remove(self, step: Any) -> None:
        """Removes a step that is over."""


class _Limits(threading.local):
    """The deadline of the step of this thread, by time.monotonic; None if there is no limit.

    `running`: the steps of its session, where it is known. `compiles`: its second run compiles,
    however many shapes have come before. `observe`: sees every node that runs, in loops as well.
    """

    deadline: float | None = None
    running: Steps | None = None
    compiles = False
    observe: Callable[..., None] | None = None

    def check(self) -> None:
        if self.running is not None:
            self.running.check()
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise deadline_error()

    @contextmanager
    def observed(self, observe: Callable[..., None]) -> Iterator[None]:
        """`observe` sees the nodes that run inside, of loops and branches too."""
        before, self.observe = self.observe, observe
        try:
            yield
        finally:
            self.observe = before

    @contextmanager
    def not_counted(self) -> Iterator[None]:
        """The time that a step may take does not pass inside."""
        start = time.monotonic()
        try:
            yield
        finally:
            if self.deadline is not None:
                self.deadline += time.monotonic() - start


limits = _Limits()


def looking_up(items: Iterable[T]) -> Iterator[T]:
    """The items, for a loop that may be long: between two of them the step can end."""
    for item in items:
        limits.check()
        yield item


def parts(count: int) -> Iterator[slice]:
    """Slices of so many elements, which are not long; between two of them the step can end."""
    for start in looking_up(range(0, count, PART)):
        yield slice(start, min(start + PART, count))


def long(items: Sequence[T]) -> Iterable[T]:
    """The items, for a loop that may be long and does little for each."""
    if len(items) <= PART:
        return items
    return itertools.chain.from_iterable(items[part] for part in parts(len(items)))
