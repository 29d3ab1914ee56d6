"""Calls of a function for several elements at a time, their results in the order of the elements,
or as they come where the traversal allows any order.

Threads help where a call leaves the interpreter: to compute with XLA or NumPy, to read, to wait.
A function that is soon done is called by the consumer: handing it to a thread would cost more.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from weft.core.errors import OutOfRangeError
from weft.ops.dataset.functions import Captured, Mapping
from weft.ops.dataset.objects import Iterator
from weft.ops.dataset.scope import Scope
from weft.ops.kit.shared import invalid

# Calls that take less than this, in seconds, are not worth a thread.
_SHORT = 0.002
_TRIALS = 3


def at_end(error: OutOfRangeError, keeps: bool) -> None:
    """A function may end the dataset by saying that there is no more, unless it must not."""
    if keeps:
        raise invalid(f"Function invocation produced OutOfRangeError: {error.message}") from error


class Job:
    """A call: `done` is set when `result` or `error` is there."""

    __slots__ = ("argument", "done", "error", "result")

    def __init__(self, argument: Any) -> None:
        self.argument, self.done = argument, False
        self.result: Any = None
        self.error: BaseException | None = None

    def outcome(self) -> Any:
        if self.error is not None:
            raise self.error
        return self.result


class Workers:
    """Threads that do jobs, as many as are wanted at a time; they end with their scope."""

    def __init__(self, call: Callable[[Any], Any], count: int, scope: Scope) -> None:
        self.call, self.count, self.scope = call, count, scope
        lock = threading.Lock()
        self.changed, self.wanted = threading.Condition(lock), threading.Condition(lock)
        self.waiting: deque[Job] = deque()
        self.idle, self.running, self.closed = 0, 0, False
        scope.add(self)

    def submit(self, job: Job) -> None:
        with self.changed:
            self.waiting.append(job)
            # A thread that was told is idle until it has woken up: one job each.
            if len(self.waiting) <= self.idle:
                self.wanted.notify()
            elif self.running < self.count:
                self.running += 1
                self.scope.start(self._work, "call")

    def _work(self) -> None:
        while True:
            with self.changed:
                self.idle += 1
                while not self.waiting and not self.closed:
                    self.wanted.wait()
                self.idle -= 1
                if self.closed:
                    self.running -= 1
                    return
                job = self.waiting.popleft()
            try:
                job.result = self.call(job.argument)
            except BaseException as error:
                job.error = error
            with self.changed:
                job.done = True
                self.changed.notify_all()

    def wait(self, jobs: Sequence[Job]) -> Job:
        """The first of these jobs that is done, once there is one."""
        with self.changed:
            while (done := next((job for job in jobs if job.done), None)) is None:
                if self.closed:
                    self.scope.check()
                self.changed.wait()
        return done

    def close(self) -> None:
        with self.changed:
            self.closed = True
            self.changed.notify_all()
            self.wanted.notify_all()


class InParallel(Mapping):
    """Keeps calls under way for the next elements of the input."""

    state = ("backlog", "trials", "ended", "pending")

    def __init__(
        self, input: Iterator, function: Captured, scope: Scope, calls: int, keeps: bool
    ) -> None:
        super().__init__(input, function, scope)
        self.calls, self.keeps, self.any_order = calls, keeps, scope.any_order
        self.jobs: deque[Job] = deque()
        self.workers: Workers | None = None
        self.trials = 0 if not function.runs_python else _TRIALS
        self.spent, self.ended = float("inf"), False

    @property
    def pending(self) -> list[Any]:
        """The elements whose results have not been taken yet."""
        return [job.argument for job in self.jobs]

    @pending.setter
    def pending(self, elements: Sequence[Any]) -> None:
        self.jobs = deque(map(Job, elements))
        if elements:
            for job in self.jobs:
                self._workers().submit(job)

    def can_lift(self) -> bool:
        return not self.jobs and super().can_lift()

    def next(self) -> Any:
        try:
            return self._one_by_one() if self._calls_are_short() else self._overlapping()
        except OutOfRangeError as error:
            self.ended = not self.keeps
            return at_end(error, self.keeps)

    def _calls_are_short(self) -> bool:
        return not self.jobs and (self.trials < _TRIALS or self.spent < _SHORT)

    def _one_by_one(self) -> Any:
        element = None if self.ended else self.following()
        if element is None:
            return None
        start = time.perf_counter()
        result = self.function(element)
        self.spent = min(self.spent, time.perf_counter() - start)
        self.trials += 1
        return result

    def _overlapping(self) -> Any:
        while len(self.jobs) < self.calls and not self.ended:
            element = self.following()
            if element is None:
                self.ended = True
                break
            job = Job(element)
            self.jobs.append(job)
            self._workers().submit(job)
        if not self.jobs:
            return None
        job = self._workers().wait(self.jobs if self.any_order else [self.jobs[0]])
        self.jobs.remove(job)
        return job.outcome()

    def _workers(self) -> Workers:
        if self.workers is None:
            self.workers = Workers(self.function, self.calls, self.scope)
        return self.workers

    def close(self) -> None:
        if self.workers is not None:
            self.workers.close()
        super().close()
