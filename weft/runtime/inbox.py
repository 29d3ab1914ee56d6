"""Mailboxes: promised results arrive here, up to the deadline of the step."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from weft.core import errors
from weft.core.deferred import Deferred, Ends
from weft.core.waiting import take
from weft.runtime.frames import Frame, Iteration
from weft.runtime.limits import deadline_error
from weft.runtime.tasks import Task

Wake = Callable[[], object]


class Arrival(NamedTuple):
    """The result of a promise: the outputs that a task waited for, or an error."""

    deferred: Deferred
    task: Task
    frame: Frame
    iteration: Iteration
    outputs: Any
    error: BaseException | None

    def take(self) -> Any:
        """The outputs of the task, or another `Deferred`."""
        return self.deferred.take(self.outputs, self.error)


class Mailbox:
    """A queue with one reader, which can sleep without holding a thread."""

    def __init__(self) -> None:
        self._arrived: queue.SimpleQueue[Any] = queue.SimpleQueue()
        # Those of the queue: they are called between any two tasks.
        self.get, self.is_empty = self._arrived.get, self._arrived.empty
        self._lock = threading.Lock()
        self._wake: Wake | None = None

    def put(self, event: Any) -> None:
        self._arrived.put(event)
        if self._wake is not None:
            wake = self._no_more_sleep()
            if wake is not None:
                wake()

    def sleep(self, wake: Wake) -> bool:
        """Has `wake` called, once, when something arrives; False if something has."""
        self._wake = wake
        # If something has woken it since then, that goes on, not the reader that went to sleep.
        return self._arrived.empty() or self._no_more_sleep() is None

    def _no_more_sleep(self) -> Wake | None:
        with self._lock:
            wake, self._wake = self._wake, None
        return wake


class Inbox(Mailbox):
    """The promises that tasks of one step wait for; a promise need not know the step."""

    def __init__(self, deadline: float | None) -> None:
        super().__init__()
        self.deadline = deadline
        # By the promise, or by the key of a value that is pushed.
        self.waiting: dict[Any, tuple[Deferred | None, Task]] = {}
        self.ends = Ends()

    def expect(self, deferred: Deferred, task: Task, frame: Frame, iteration: Iteration) -> None:
        self.waiting[id(deferred)] = deferred, task
        self.ends.add(deferred)

        def sink(outputs: Any, error: BaseException | None) -> None:
            self.put(Arrival(deferred, task, frame, iteration, outputs, error))

        deferred.deliver_to(sink)

    def abort(self, error: errors.OpError) -> None:
        """Instead of what comes next, the step gets an error; from any thread."""
        self.put(error)

    def next(self) -> Arrival:
        """The next arrival. Fails when the deadline comes first."""
        event = self._next()
        if isinstance(event, errors.OpError):
            event = self._first_withdrawn(event)
        del self.waiting[id(event.deferred)]
        return event

    def _next(self) -> Arrival | errors.OpError:
        event: Arrival | errors.OpError
        try:
            left = None if self.deadline is None else max(0.0, self.deadline - time.monotonic())
            event = take(self._arrived, left)
            return event
        except queue.Empty:
            raise self._too_late() from None

    def check_time(self) -> None:
        if self.deadline is not None and time.monotonic() >= self.deadline:
            raise self._too_late()

    def _too_late(self) -> errors.OpError:
        return deadline_error(self.awaited())

    def awaited(self) -> list[str]:
        return [task.name for _, task in list(self.waiting.values())]

    def _first_withdrawn(self, error: errors.OpError) -> Arrival:
        """Withdraws whatever the step waits for; the first that says so by failing is the event."""
        self.withdraw()
        found = self._failure()
        if found is None:
            raise error
        return found

    def _failure(self) -> Arrival | None:
        while not self.is_empty():
            event = self.get()
            if isinstance(event, Arrival) and event.error is not None:
                return event
        return None

    def cancel(self) -> Arrival | None:
        """Withdraws everything a sleeping step waits for; the first failure, if there is one."""
        self._no_more_sleep()
        self.withdraw()
        return self._failure()

    def withdraw(self) -> None:
        for deferred, _ in list(self.waiting.values()):
            if deferred is not None:
                deferred.cancel()

    def close(self) -> None:
        """The step is over."""
        self.waiting.clear()
        if self.ends:
            self.ends.over()
