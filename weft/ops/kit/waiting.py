"""Requests that wait, as queues, barriers, accumulators and staging areas have them.

A `Waiter` is a request on a shared object that is tried until it is done; a `Monitor` is such an
object. No thread blocks: a request that cannot be met now stays in a line, and every change of
the object tries the lines again and delivers what became possible.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from weft.core import errors
from weft.core.deferred import Deferred

# What an attempt at a request came to.
WAIT, PROGRESS, DONE = range(3)


class Waiter:
    """A request. `attempt(owner)` is called with the owner's lock held, until it returns DONE.

    It leaves its outcome in `error`, or in whatever `outputs()` makes the outputs from; that is
    called without the lock, by the step that asked.
    """

    cancelled = "Operation was cancelled"

    def __init__(self) -> None:
        self.deferred: Deferred | None = None
        self.error: BaseException | None = None
        self.done = False

    def attempt(self, owner: Any) -> int:
        raise NotImplementedError

    def outputs(self) -> Any:
        return ()

    def withdrawn(self, owner: Any) -> None:
        """Gives back what a cancelled request was granted. Under the owner's lock."""

    def _deliver(self) -> None:
        assert self.deferred is not None
        if self.error is not None:
            self.deferred.fail(self.error)
        else:
            self.deferred.complete(())


Line = deque[Waiter]


class Monitor:
    """An object with a lock and lines of waiters. `lines` are served in order, each from its head.

    With `in_turn`, a waiter that cannot proceed keeps those behind it waiting; otherwise every
    waiter of a line is tried.
    """

    in_turn = True

    def __init__(self, lines: int = 1) -> None:
        self.lock = threading.Lock()
        self.lines: tuple[Line, ...] = tuple(deque() for _ in range(lines))

    def waiting(self) -> int:
        """How many requests wait."""
        with self.lock:
            return sum(map(len, self.lines))

    def submit(self, line: int, waiter: Waiter) -> Any:
        """The outputs of the request if it can be met at once, else a `Deferred`."""
        with self.lock:
            finished = self._first_attempt(self.lines[line], waiter)
            deferred = None
            if not waiter.done:
                deferred = waiter.deferred = Deferred(
                    on_cancel=partial(self._withdraw, line, waiter),
                    then=lambda _: waiter.outputs(),
                )
        self._deliver(finished)
        if deferred is not None:
            return deferred
        if waiter.error is not None:
            raise waiter.error
        return waiter.outputs()

    def _first_attempt(self, line: Line, waiter: Waiter) -> list[Waiter]:
        """Lines a waiter up, unless it is the first there and can be met at once."""
        if not line and waiter.attempt(self) == DONE:
            waiter.done = True
            return self._serve() if any(self.lines) else []
        line.append(waiter)
        return self._serve()

    def change(self, action: Callable[[], Iterable[Waiter] | None]) -> None:
        """Runs `action` with the lock held, then serves the lines.

        Waiters that `action` returns were ended by it, with an error.
        """
        with self.lock:
            ended = list(action() or ())
            for waiter in ended:
                waiter.done = True
            ended += self._serve()
        self._deliver(ended)

    def _withdraw(self, line: int, waiter: Waiter) -> None:
        def withdraw() -> list[Waiter]:
            if waiter.done:
                if waiter.error is None:
                    waiter.withdrawn(self)  # the step has not seen what it was granted
                return []
            self.lines[line].remove(waiter)
            waiter.withdrawn(self)
            waiter.error = errors.CancelledError(None, None, waiter.cancelled)
            return [waiter]

        self.change(withdraw)

    def _serve(self) -> list[Waiter]:
        finished: list[Waiter] = []
        progress = True
        while progress:
            progress = False
            for line in self.lines:
                if line and self._serve_line(line, finished):
                    progress = True
        return finished

    def _serve_line(self, line: Line, finished: list[Waiter]) -> bool:
        progress = False
        for waiter in list(line) if not self.in_turn else _heads(line):
            came_to = waiter.attempt(self)
            if came_to == DONE:
                waiter.done = True
                line.remove(waiter)
                finished.append(waiter)
            progress = progress or came_to != WAIT
            if came_to != DONE and self.in_turn:
                break
        return progress

    @staticmethod
    def _deliver(finished: Iterable[Waiter]) -> None:
        for waiter in finished:
            if waiter.deferred is not None:
                waiter._deliver()


def _heads(line: Line) -> Iterator[Waiter]:
    """The first of the line, again and again; the loop must remove it each time."""
    while line:
        yield line[0]
