"""Elements that are made before they are asked for, by a thread; or when they are, by a thread.

A step that asks a `Producer` for an element gets it, or a `Deferred`: it holds no thread while it
waits. Where an input is quick and never waits, it is asked directly: a thread would not help.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from weft.core.deferred import Deferred
from weft.core.errors import CancelledError, OutOfRangeError
from weft.ops.dataset.declare import INPUT, STRUCTURE, dataset_op, scalar
from weft.ops.dataset.objects import Dataset, Iterator, Unary
from weft.ops.dataset.scope import Scope
from weft.ops.kit.shared import invalid

# An input that makes an element in less time than this, in seconds, needs no thread.
_QUICK = 0.0003
_TRIALS = 3
_MOST_AHEAD = 16


def end_of_sequence() -> OutOfRangeError:
    return OutOfRangeError(None, None, "End of sequence")


class Failure:
    """An error in the place of an element."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


class Producer(Iterator):
    """Takes elements of its input on a thread of its own, up to `capacity` ahead of demand.

    With a capacity of 0 it makes one when a consumer waits for it. `direct`: as long as the input
    is quick, consumers take from it themselves; it must never wait.
    """

    state = ("ended",)

    def __init__(
        self, make: Callable[[], Iterator], capacity: int, scope: Scope, direct: bool = False,
        grows: bool = False,
    ) -> None:  # fmt: skip
        self.input = make()
        self.capacity, self.scope, self.direct, self.grows = capacity, scope, direct, grows
        self.changed = threading.Condition()
        self.working = threading.Lock()  # held while an element is taken from the input
        self.buffer: deque[Any] = deque()
        self.waiting: deque[Deferred] = deque()
        self.started = self.ended = self.closed = self.idle = False
        self.blocked = 0  # threads that wait for an element
        self.trials, self.spent = 0, float("inf")
        scope.add(self)

    def parts(self) -> Sequence[Iterator | None]:
        return (self.input,)

    # ---- consumers ----

    def next(self) -> Any:
        """The next element; waits for it."""
        if self.direct:
            with self.working:
                if self.direct:
                    return self._take_directly()
        with self.changed:
            self._start()
            while not self.buffer:
                if self.ended:
                    return None
                if self.closed:
                    raise CancelledError(None, None, "Iterator was cancelled")
                self._missed()
                self.blocked += 1
                self.changed.notify_all()
                self.changed.wait()
                self.blocked -= 1
            item = self.buffer.popleft()
            self._taken()
        return _element(item)

    def ask(self) -> Any:
        """The next element, None at the end, or a `Deferred` of it."""
        if self.direct:
            with self.working:
                if self.direct:
                    return self._take_directly()
        with self.changed:
            self._start()
            if self.buffer and not self.waiting:
                item = self.buffer.popleft()
                self._taken()
            elif self.ended:
                return None
            else:
                self._missed()
                return self._wait_in_line()
        return _element(item)

    def _taken(self) -> None:
        """There is room for another element: wakes the thread if it waits for that."""
        if self.idle:
            self.changed.notify_all()

    def _wait_in_line(self) -> Deferred:
        deferred = Deferred()
        if self.closed:
            deferred.fail(CancelledError(None, None, "Iterator was cancelled"))
            return deferred
        deferred.on_cancel = partial(self._withdraw, deferred)
        self.waiting.append(deferred)
        self.changed.notify_all()
        return deferred

    def _withdraw(self, deferred: Deferred) -> None:
        """Cancels a request: an element that is under way is for the next request."""
        with self.changed:
            if deferred in self.waiting:
                self.waiting.remove(deferred)
        deferred.fail(CancelledError(None, None, "GetNext operation was cancelled"))

    def _take_directly(self) -> Any:
        if self.ended:
            return None
        start = time.perf_counter()
        element = self.input.next()
        self.trials += 1
        if self.trials <= _TRIALS:
            self.spent = min(self.spent, time.perf_counter() - start)
            if self.trials == _TRIALS and self.spent > _QUICK:
                self.direct = False
        self.ended = element is None
        return element

    def _missed(self) -> None:
        """A consumer had to wait: if the capacity is up to us, it grows."""
        if self.grows and self.capacity < _MOST_AHEAD:
            self.capacity *= 2

    # ---- the thread that makes them ----

    def _start(self) -> None:
        if not self.started and not self.closed:
            self.started = True
            self.scope.start(self._produce, "produce")

    def _is_wanted(self) -> bool:
        return len(self.buffer) < self.capacity + len(self.waiting) + self.blocked

    def _produce(self) -> None:
        while True:
            with self.changed:
                while not self._is_wanted() and not self.closed:
                    self.idle = True
                    self.changed.wait()
                self.idle = False
                closed = self.closed
            if closed:
                self.input.close()
                return
            with self.working:
                try:
                    item = self.input.next()
                except BaseException as error:
                    item = Failure(error)
                delivery = self._deliver(item)
            delivery()
            if item is None:
                return
            del item, delivery

    def _deliver(self, item: Any) -> Callable[[], Any]:
        """Puts an item where it belongs; what is returned is to be called without a lock."""
        with self.changed:
            if item is None:
                self.ended = True
                waiting, self.waiting = self.waiting, deque()
                self.changed.notify_all()
                return lambda: [each.fail(end_of_sequence()) for each in waiting]
            if not self.waiting:
                self.buffer.append(item)
                self.changed.notify_all()
                return _nothing
            deferred = self.waiting.popleft()
        if isinstance(item, Failure):
            return partial(deferred.fail, item.error)
        return partial(self._hand_over, deferred, item)

    def _hand_over(self, deferred: Deferred, item: Any) -> None:
        if not deferred.complete(item):
            with self.changed:
                self.buffer.appendleft(item)

    # ---- its end, and its state ----

    def close(self) -> None:
        with self.changed:
            if self.closed:
                return
            self.closed = True
            waiting, self.waiting = self.waiting, deque()
            self.changed.notify_all()
            idle = not self.started
        for deferred in waiting:
            deferred.fail(CancelledError(None, None, "Iterator was cancelled"))
        if idle or self.ended:
            self.input.close()

    def save(self) -> Any:
        with self.working, self.changed:
            own, parts = super().save()
            return {**own, "buffer": list(self.buffer)}, parts

    def restore(self, saved: Any) -> None:
        with self.working, self.changed:
            super().restore(saved)
            self.buffer = deque(saved[0]["buffer"])
            if self.buffer:
                self.direct = False


def _element(item: Any) -> Any:
    if isinstance(item, Failure):
        raise item.error
    return item


def _nothing() -> None:
    pass


class Prefetch(Unary):
    """Keeps `size` elements ready; -1 lets us choose."""

    def __init__(self, input: Dataset, size: int) -> None:
        super().__init__(input)
        self.size = size

    def open(self, scope: Scope, raw: bool = False) -> Iterator:
        if self.size == 0:
            return self.input.open(scope)
        return Producer(
            lambda: self.input.open(scope), max(self.size, 1), scope, not self.input.waits,
            self.size < 0,
        )  # fmt: skip

    def changes_nothing(self) -> bool:
        return self.size == 0


@dataset_op(
    "PrefetchDataset", f"{INPUT}, buffer_size: int64",
    f"{STRUCTURE}, slack_period: int = 0, legacy_autotune: bool = true", waits=True,
)  # fmt: skip
def prefetch_dataset(
    xp: Any, input_dataset: Dataset, buffer_size: Any, *, slack_period: int
) -> Dataset:
    size = scalar(buffer_size, "buffer_size")
    if size < -1:
        raise invalid("buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning")
    return Prefetch(input_dataset, size)
