"""A mutex that is waited for by promises, not by threads."""

from __future__ import annotations

from functools import partial

from weft.core.deferred import Deferred
from weft.ops.kit.waiting import DONE, WAIT, Monitor, Waiter


class Lock(Waiter):
    """The right to be alone; also the value that a step passes on while it holds it."""

    cancelled = "Lock acquisition cancelled."

    def __init__(self, mutex: Mutex) -> None:
        super().__init__()
        self.mutex = mutex

    def attempt(self, mutex: Mutex) -> int:
        if mutex.holder is not None:
            return WAIT
        mutex.holder = self
        return DONE

    def withdrawn(self, mutex: Mutex) -> None:
        if mutex.holder is self:
            mutex.holder = None

    def outputs(self) -> tuple[Lock]:
        return (self,)

    def release(self) -> None:
        """Lets the next one in; no effect if this lock is not held."""
        self.mutex.change(partial(self.withdrawn, self.mutex))


class Mutex(Monitor):
    """One lock at a time, in the order they were asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.holder: Lock | None = None

    def acquire(self) -> Deferred:
        """A `Lock`, which is released when the step is over if not before."""
        lock = Lock(self)
        got = self.submit(0, lock)
        if not isinstance(got, Deferred):
            deferred = Deferred()
            deferred.complete(got)
            got = deferred
        got.at_end = lock.release
        return got
