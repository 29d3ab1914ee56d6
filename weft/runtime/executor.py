"""The executor: runs the tasks of a graph as what they need comes in.

It alone counts what tasks still lack, knows which can run and what has been promised. An operation
that must wait hands back a `Deferred` and holds no thread. As it is here it runs graphs without
control flow; `TokenExecutor` adds frames and dead values, `LoopRun` the iterations of a loop that
has structure, and the steps of a worker another list of work.
"""

from __future__ import annotations

import time
from collections import deque
from typing import Any

import numpy as np

from weft.core import errors
from weft.core.deferred import Deferred
from weft.core.errors import raise_from
from weft.runtime.frames import DEAD, Frame, Iteration
from weft.runtime.host.interpret import Observer, with_node
from weft.runtime.inbox import Inbox
from weft.runtime.limits import RunningSteps, limits
from weft.runtime.rendezvous import Rendezvous
from weft.runtime.tasks import Task, TaskGraph

# Where a run goes on: how many tasks have run, and the promise that the next waits for, if it has
# begun.
Stop = tuple[int, Deferred | None]


class Executor:
    """One run over a `TaskGraph`, on one thread at a time; promises are kept through its inbox.

    `observe(node, inputs, outputs, start, end)` sees every node that is a task of its own.
    """

    root = Frame("", None, None, 0, 0, 1)  # of a graph without loops nothing is noted there

    def __init__(
        self,
        graph: TaskGraph,
        values: list[Any],
        deadline: float | None = None,
        running: RunningSteps | None = None,
        observe: Observer | None = None,
        rendezvous: Rendezvous | None = None,
    ) -> None:
        self.graph, self.readers = graph, graph.readers.copy()
        self.running, self.observe, self.rendezvous = running, observe, rendezvous
        self.first = Iteration(0, 0, graph.pending.copy(), values)
        self.ready: deque[tuple[Task, Frame, Iteration, bool]] = deque()
        self.inbox = Inbox(deadline)
        self.starts: dict[tuple[Task, Iteration], float] = {}
        self.stopped = False

    # ---- the run ----

    def run(self, at: Stop | None = None) -> list[Any]:
        """Runs to the end on this thread; `at`: where it begins, if not at the beginning."""
        self.enter()
        try:
            self.begin(at)
            while not self.advance():
                self.receive()
        except BaseException:
            self.inbox.withdraw()
            raise
        finally:
            self.leave()
        return self.outcome()

    def outcome(self) -> list[Any]:
        """The slots of a run that is over."""
        return self.first.values

    def enter(self) -> None:
        if self.running is not None:
            self.running.add(self)

    def leave(self) -> None:
        """Ends the run, whatever came of it."""
        if self.running is not None:
            self.running.remove(self)
        self.inbox.close()

    def begin(self, at: Stop | None = None) -> None:
        if at is not None:
            self.resume(self.root, self.first, *at)
            return
        for task in self.graph.roots:
            self.push(task, self.root, self.first)

    def resume(
        self, frame: Frame, iteration: Iteration, done: int, promise: Deferred | None
    ) -> None:
        """Goes on after the first `done` tasks; the next one waits for `promise` if it began."""
        tasks = self.graph.tasks
        for task in tasks[:done]:
            self.finish(task, frame, iteration)
        self.ready.clear()
        if promise is None:
            self.push(tasks[done], frame, iteration)
        else:
            self.inbox.expect(promise, tasks[done], frame, iteration)
        for task in tasks[done + 1 :]:
            if not iteration.pending[task.index]:
                self.push(task, frame, iteration)

    def advance(self) -> bool:
        """Runs what can run and takes what has arrived; whether the run is over."""
        inbox = self.inbox
        while self.ready or inbox.waiting:
            # What has waited comes first: iterations should take from a queue in their order.
            if (inbox.waiting or self.stopped) and not inbox.is_empty():
                self.receive()
            elif self.ready and not self.stopped:
                self.start(*self.ready.popleft())
                if inbox.deadline is not None:
                    inbox.check_time()
            else:
                self.flush()
                return False
        self.flush()
        return True

    def flush(self) -> None:
        """Lets go of what was sent, before this thread does something else."""
        if self.rendezvous is not None:
            self.rendezvous.flush()

    def awaited(self) -> list[str]:
        """The names of the tasks that wait."""
        return self.inbox.awaited()

    def abort(self, error: errors.OpError) -> None:
        """Ends the run with `error`, from any thread, and withdraws what it waits for."""
        self.stopped = True
        self.inbox.abort(error)

    # ---- one task ----

    def push(self, task: Task, frame: Frame, iteration: Iteration, dead: bool = False) -> None:
        """Puts a task that lacks nothing on the list of work."""
        self.ready.append((task, frame, iteration, dead))

    def start(self, task: Task, frame: Frame, iteration: Iteration, dead: bool) -> None:
        if self.observe is not None:
            self.starts[task, iteration] = time.perf_counter()
        if task.kind == "send":
            self._send(task, frame, iteration, dead)
        elif task.kind == "recv":
            self._recv(task, frame, iteration)
        else:
            self.compute(task, frame, iteration)

    def compute(self, task: Task, frame: Frame, iteration: Iteration) -> None:
        self.flush()
        try:
            if self.observe is None:
                promise = task.run(iteration.values)
            else:
                with limits.observed(self.observe):
                    promise = task.run(iteration.values)
        except Exception as error:
            raise_from(with_iteration(error, task, frame, iteration), error)
        if promise is not None:
            self.inbox.expect(promise, task, frame, iteration)
            return
        if self.observe is not None:
            self._show(task, iteration)
        self.finish(task, frame, iteration)

    def receive(self) -> None:
        """Takes the next result that arrives."""
        event = self.inbox.next()
        task, frame, iteration = event.task, event.frame, event.iteration
        try:
            outputs = event.take()
        except Exception as problem:
            raise with_iteration(problem, task, frame, iteration) from problem
        if isinstance(outputs, Deferred):
            self.inbox.expect(outputs, task, frame, iteration)
        elif task.kind == "recv":
            self.received(outputs[0], task, frame, iteration)
        else:
            for slot, value in zip(task.out_slots, outputs, strict=True):
                iteration.values[slot] = value
            if self.observe is not None:
                self._show(task, iteration)
            self.finish(task, frame, iteration)

    def finish(self, task: Task, frame: Frame, iteration: Iteration, dead: bool = False) -> None:
        """Pushes the tasks that lacked only this one, and lets go of what it was last to read."""
        pending = iteration.pending
        for follower in task.followers:
            pending[follower.index] -= 1
            if not pending[follower.index]:
                self.push(follower, frame, iteration)
        for slot in task.reads:
            self.readers[slot] -= 1
            if not self.readers[slot]:
                iteration.values[slot] = None

    # ---- transfers ----

    def _send(self, task: Task, frame: Frame, iteration: Iteration, dead: bool) -> None:
        """Dead values are sent, too: the receiver must learn of them."""
        assert self.rendezvous is not None
        try:
            value = DEAD if dead else read(iteration.values[task.in_slots[0]])
        except Exception as error:
            raise_from(with_iteration(error, task, frame, iteration), error)
        self.rendezvous.send(f"{task.transfer_key};{iteration.tag}", value)
        if self.observe is not None and not dead:
            self._show(task, iteration)
        self.finish(task, frame, iteration, dead)

    def _recv(self, task: Task, frame: Frame, iteration: Iteration) -> None:
        assert self.rendezvous is not None
        found = self.rendezvous.recv(f"{task.transfer_key};{iteration.tag}")
        if isinstance(found, Deferred):
            self.inbox.expect(found, task, frame, iteration)
        else:
            self.received(found[0], task, frame, iteration)

    def received(self, value: Any, task: Task, frame: Frame, iteration: Iteration) -> None:
        dead = value is DEAD
        if not dead:
            iteration.values[task.out_slots[0]] = task.arrive(value)
            if self.observe is not None:
                self._show(task, iteration)
        self.finish(task, frame, iteration, dead)

    # ---- observers ----

    def _show(self, task: Task, iteration: Iteration) -> None:
        assert self.observe is not None
        start, values = self.starts.pop((task, iteration)), iteration.values
        if task.node is not None:
            inputs = [values[i] for i in task.in_slots]
            outputs = [values[i] for i in task.out_slots]
            self.observe(task.node, inputs, outputs, start, time.perf_counter())


def read(value: Any) -> Any:
    """The value that a reference names; any other as it is."""
    if type(value) in (np.ndarray, np.bool_):
        return value
    return value.read() if hasattr(value, "read") else value


def with_iteration(error: Exception, task: Task, frame: Frame, iteration: Iteration) -> Exception:
    """An error of a task that says in which iteration of which loops, and by which node."""
    where = frame.describe(iteration)
    if task.node is None or (isinstance(error, errors.OpError) and error.op is not None):
        if where and isinstance(error, errors.OpError):
            error._message += where  # the node is named already
        return error
    if where and isinstance(error, errors.OpError):
        error = type(error)(None, None, error.message + where)  # type: ignore[call-arg]
    elif where:
        error = type(error)(f"{error}{where}")
    return with_node(error, task.node)
