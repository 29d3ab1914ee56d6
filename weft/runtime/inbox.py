"""Where the results arrive that a step waits for, and until when it does."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from weft.core import errors
from weft.core.deferred import Deferred
from weft.runtime.frames import Frame, Iteration
from weft.runtime.tasks import Task


class Arrival(NamedTuple):
    """What a task waited for, or what it failed with."""

    deferred: Deferred
    task: Task
    frame: Frame
    iteration: Iteration
    outputs: Any
    error: BaseException | None

    def take(self) -> Any:
        """The outputs of the task, or another `Deferred`."""
        if self.error is not None:
            raise self.error
        then = self.deferred.then
        return self.outputs if then is None else then(self.outputs)


class Inbox:
    """The promises that tasks of one step wait for; whoever keeps one need not know the step."""

    def __init__(self, deadline: float | None) -> None:
        self.deadline = deadline
        self.waiting: dict[int, tuple[Deferred, Task]] = {}
        self._arrived: queue.SimpleQueue[Arrival | errors.OpError] = queue.SimpleQueue()
        self._ends: list[Callable[[], None]] = []

    def expect(self, deferred: Deferred, task: Task, frame: Frame, iteration: Iteration) -> None:
        self.waiting[id(deferred)] = deferred, task
        if deferred.at_end is not None:
            self._ends.append(deferred.at_end)
        put = self._arrived.put

        def sink(outputs: Any, error: BaseException | None) -> None:
            put(Arrival(deferred, task, frame, iteration, outputs, error))

        deferred.deliver_to(sink)

    def abort(self, error: errors.OpError) -> None:
        """Instead of what comes next, the step gets an error; from any thread."""
        self._arrived.put(error)

    def next(self) -> Arrival:
        """What comes next. Fails when the deadline comes first."""
        event = self._next()
        if isinstance(event, errors.OpError):
            event = self._first_withdrawn(event)
        del self.waiting[id(event.deferred)]
        return event

    def _next(self) -> Arrival | errors.OpError:
        if self.deadline is None:
            return self._arrived.get()
        try:
            return self._arrived.get(timeout=max(0.0, self.deadline - time.monotonic()))
        except queue.Empty:
            raise self._too_late() from None

    def check_time(self) -> None:
        if self.deadline is not None and time.monotonic() >= self.deadline:
            raise self._too_late()

    def _too_late(self) -> errors.OpError:
        names = ", ".join(sorted(task.name for _, task in self.waiting.values()))
        message = "Timed out waiting for notification" + (f": {names}" if names else "")
        return errors.DeadlineExceededError(None, None, message)

    def _first_withdrawn(self, error: errors.OpError) -> Arrival:
        """Withdraws whatever the step waits for; the first that says so by failing is the event."""
        self.withdraw()
        while not self._arrived.empty():
            event = self._arrived.get()
            if isinstance(event, Arrival) and event.error is not None:
                return event
        raise error

    def withdraw(self) -> None:
        for deferred, _ in list(self.waiting.values()):
            deferred.cancel()

    def close(self) -> None:
        """The step is over."""
        self.waiting.clear()
        for end in self._ends:
            end()
