"""Executor runs as continuations instead of a blocked thread.

A run goes up to where it has to wait, and is then a `Deferred` for its user: a step
over several devices, a loop, a conditional, or a request of another process.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from weft.core import errors
from weft.core.deferred import Deferred, Ends, Sink
from weft.runtime.executor import Executor, Stop, with_iteration
from weft.runtime.host.interpret import Observer
from weft.runtime.limits import RunningSteps, limits
from weft.runtime.rendezvous import Rendezvous
from weft.runtime.tasks import TaskGraph
from weft.runtime.threads import Job
from weft.runtime.token_executor import TokenExecutor

Finish = Callable[[list[Any]], Any]


class StepContext(NamedTuple):
    """Observer, deadline, session and rendezvous of a step."""

    observe: Observer | None = None
    deadline: float | None = None
    running: RunningSteps | None = None
    rendezvous: Rendezvous | None = None

    def only_running(self) -> bool:
        """Whether a step can end only by itself, or with its session."""
        return self.observe is None and self.deadline is None and self.rendezvous is None

    def apply_to(self, call: Callable[[], Any]) -> Any:
        """Calls it on this thread; loops inside stop at the deadline, or with the session."""
        before = limits.running, limits.deadline
        limits.running = before[0] if self.running is None else self.running
        limits.deadline = self.deadline
        try:
            return call()
        finally:
            limits.running, limits.deadline = before

    def executor(self, tasks: TaskGraph, values: list[Any], by_tokens: bool = False) -> Executor:
        kind = TokenExecutor if by_tokens or tasks.has_tokens else Executor
        return kind(tasks, values, self.deadline, self.running, self.observe, self.rendezvous)


NO_CONTEXT = StepContext()


def promised(executor: Executor, finish: Finish, at: Stop | None = None) -> Any:
    """`finish(slots)` of a run of the executor, or a promise of it."""
    return _Run(executor, finish).start(at)


class Continuation:
    """Work that may have to wait; each time it goes on, `start(job)` finds a thread for it.

    `done(outputs, error)` is called once. What is to be done at the end of the step is in `ends`.
    """

    def __init__(
        self, start: Callable[[Job], None], limits: StepContext, ends: Ends, done: Sink
    ) -> None:
        self._start, self._limits, self._ends, self._done = start, limits, ends, done

    def go(self, begin: Callable[[], Any]) -> None:
        """Runs it on this thread, up to where it has to wait, or to its end."""
        try:
            found = self._limits.apply_to(begin)
        except Exception as error:
            self._done(None, error)
            return
        except BaseException as error:  # a keyboard interrupt goes on up
            self._done(None, error)
            raise
        if isinstance(found, Deferred):
            self._ends.add(found)
            found.deliver_to(partial(self._kept, found))
        else:
            self._done(found, None)

    def _kept(self, promise: Deferred, outputs: Any, error: BaseException | None) -> None:
        self._start(lambda: self.go(lambda: promise.take(outputs, error)))


class _Run:
    def __init__(self, executor: Executor, finish: Finish) -> None:
        self.executor, self.finish = executor, finish

    def start(self, at: Stop | None) -> Any:
        self.executor.enter()
        return self._run(partial(self.executor.begin, at))

    def _go_on(self, _: Any) -> Any:
        return self._run(None)

    def _run(self, begin: Callable[[], None] | None) -> Any:
        executor = self.executor
        try:
            if begin is not None:
                begin()
            while not executor.advance():
                promise = self._promise()
                if promise is not None:
                    return promise
            outputs = self.finish(executor.outcome())
            if executor.inbox.ends:
                outputs = executor.inbox.ends.kept(outputs)
        except BaseException:
            executor.inbox.withdraw()
            executor.leave()
            raise
        executor.leave()
        return outputs

    def _promise(self) -> Deferred | None:
        """One that is kept as soon as the run can go on; None if it can."""
        inbox = self.executor.inbox
        promise = Deferred(then=self._go_on, at_end=inbox.ends.take())
        if inbox.sleep(partial(promise.complete, ())):
            promise.on_cancel = partial(self._cancel, promise)
            return promise
        inbox.ends.add(promise)
        return None

    def _cancel(self, promise: Deferred) -> None:
        event = self.executor.inbox.cancel()
        error: BaseException = errors.CancelledError(None, None, "The step was cancelled")
        if event is not None and isinstance(event.error, Exception):
            error = with_iteration(event.error, event.task, event.frame, event.iteration)
        promise.fail(error)
        self.executor.leave()
