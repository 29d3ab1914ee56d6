"""The dataflow executor: runs a graph with loops, branches and waiting operations.

A task runs when its inputs are there, which `TokenFlow` finds out. An operation that must wait
hands back a `Deferred` and holds no thread.
"""

from __future__ import annotations

import time
from collections import deque
from typing import Any

import numpy as np

from weft.core import dtypes, errors
from weft.core.deferred import Deferred
from weft.core.errors import raise_from
from weft.passes.client_graph import Node
from weft.runtime.frames import DEAD, Frame, Iteration
from weft.runtime.host.interpret import Observer, located
from weft.runtime.inbox import Inbox
from weft.runtime.limits import RunningSteps
from weft.runtime.rendezvous import Rendezvous
from weft.runtime.tasks import Task, TaskGraph
from weft.runtime.token_flow import TokenFlow

# Where a step goes on: its slots, how many tasks have run, and what the next one waits for if it
# has begun.
Stop = tuple[list[Any], int, Deferred | None]
# So deep may tasks that take no time follow from one another before they wait for their turn.
_DEPTH = 40


class Executor(TokenFlow):
    """One step over a `TaskGraph`, on the calling thread; deferred results reach it by its inbox.

    `observe(node, inputs, outputs, start, end)` sees every node that is a task of its own.
    """

    def __init__(
        self,
        graph: TaskGraph,
        feeds: list[tuple[int, Any]],
        deadline: float | None = None,
        running: RunningSteps | None = None,
        observe: Observer | None = None,
        rendezvous: Rendezvous | None = None,
    ) -> None:
        super().__init__(graph)
        self.running, self.observe, self.rendezvous = running, observe, rendezvous
        self.ready: deque[tuple[Task, Frame, Iteration, bool]] = deque()
        self.inbox = Inbox(deadline)
        self.starts: dict[tuple[Task, Iteration], float] = {}
        self.stopped = False
        self.depth = 0
        for slot, value in feeds:
            self.first.values[slot] = value

    # ---- the step ----

    def run(self, at: Stop | None = None) -> list[Any]:
        """Runs the step on this thread; returns the slots of the root frame.

        `at`: where it begins, if not at the beginning.
        """
        self.enter()
        try:
            self.begin_at(at)
            while not self.advance():
                self._receive()
        except BaseException:
            self.inbox.withdraw()
            raise
        finally:
            self.leave()
        return self.first.values

    def enter(self) -> None:
        if self.running is not None:
            self.running.add(self)

    def leave(self) -> None:
        """The step is over, however it ended."""
        if self.running is not None:
            self.running.remove(self)
        self.inbox.close()

    def begin_at(self, at: Stop | None) -> None:
        """Begins, or goes on with a step of which the first tasks have run."""
        if at is None:
            self.begin()
            return
        (values, done, deferred), tasks = at, self.graph.tasks
        self.first.values = values
        for task in tasks[:done]:
            self.first.outstanding += 1
            self.finish(task, self.root, self.first, False)
        self.ready.clear()
        self.first.outstanding = 0
        if deferred is None:
            self.push(tasks[done], self.root, self.first, False)
        else:
            self.first.outstanding = 1
            self.inbox.expect(deferred, tasks[done], self.root, self.first)
        for task in tasks[done + 1 :]:
            if not self.first.pending[task.index]:
                self.push(task, self.root, self.first, False)

    def advance(self) -> bool:
        """Runs what can run and takes what has arrived; whether the step is over."""
        inbox = self.inbox
        while self.ready or inbox.waiting:
            # What has waited comes first: iterations should take from a queue in their order.
            if (inbox.waiting or self.stopped) and not inbox.is_empty():
                self._receive()
            elif self.ready and not self.stopped:
                self._step(*self.ready.popleft())
                if inbox.deadline is not None:
                    inbox.check_time()
            else:
                self._flush()
                return False
        self._flush()
        return True

    def _flush(self) -> None:
        if self.rendezvous is not None:
            self.rendezvous.flush()

    def awaited(self) -> list[str]:
        """The names of what it waits for."""
        return self.inbox.awaited()

    def abort(self, error: errors.OpError) -> None:
        """Ends the step with `error`, from any thread; what it waits for is withdrawn."""
        self.stopped = True
        self.inbox.abort(error)

    # ---- running one task ----

    def push(self, task: Task, frame: Frame, iteration: Iteration, dead: bool) -> None:
        """What takes no time is done now, the rest in its turn."""
        if dead:
            if task.kind == "exit":
                # An exit is dead in every iteration but the last; the frame's end decides.
                frame.dead_exits.add(task.index)
                return
            # A trigger only gathers control edges, whichever branch they come from.
            dead = task.kind != "trigger"
        iteration.outstanding += 1
        if (dead or task.is_quick) and self.depth < _DEPTH:
            self.depth += 1
            self._step(task, frame, iteration, dead)
            self.depth -= 1
        else:
            self.ready.append((task, frame, iteration, dead))

    def _step(self, task: Task, frame: Frame, iteration: Iteration, dead: bool) -> None:
        kind = task.kind
        if kind == "send":
            self._send(task, frame, iteration, dead)
        elif dead:
            self.finish(task, frame, iteration, True)
        elif kind == "plain":
            self._compute(task, frame, iteration)
        elif kind == "recv":
            self._recv(task, frame, iteration)
        else:
            _STEER.get(kind, _pass_on)(task, iteration)
            self.finish(task, frame, iteration, False)

    def _compute(self, task: Task, frame: Frame, iteration: Iteration) -> None:
        self._flush()
        self._note_start(task, iteration)
        try:
            deferred = task.run(iteration.values)
        except Exception as error:
            raise_from(explained(error, task, frame, iteration), error)
        if deferred is None:
            self._done(task, frame, iteration)
        else:
            self.inbox.expect(deferred, task, frame, iteration)

    def _receive(self) -> None:
        """Takes the next result that arrives."""
        event = self.inbox.next()
        task, frame, iteration = event.task, event.frame, event.iteration
        try:
            outputs = event.take()
        except Exception as problem:
            raise explained(problem, task, frame, iteration) from problem
        if isinstance(outputs, Deferred):
            self.inbox.expect(outputs, task, frame, iteration)
        elif task.kind == "recv":
            self._received(outputs[0], task, frame, iteration)
        else:
            for slot, value in zip(task.out_slots, outputs, strict=True):
                iteration.values[slot] = value
            self._done(task, frame, iteration)

    def _done(self, task: Task, frame: Frame, iteration: Iteration) -> None:
        if self.observe is not None:
            self._show(task, iteration)
        self.finish(task, frame, iteration, False)

    # ---- transfers ----

    def _send(self, task: Task, frame: Frame, iteration: Iteration, dead: bool) -> None:
        """Sends also what is dead, so that whoever waits for it knows."""
        assert self.rendezvous is not None
        value = DEAD if dead else _read(iteration.values[task.in_slots[0]])
        self._note_start(task, iteration)
        self.rendezvous.send(f"{task.transfer_key};{frame.tag(iteration)}", value)
        if dead:
            self.finish(task, frame, iteration, True)
        else:
            self._done(task, frame, iteration)

    def _recv(self, task: Task, frame: Frame, iteration: Iteration) -> None:
        assert self.rendezvous is not None
        self._note_start(task, iteration)
        found = self.rendezvous.recv(f"{task.transfer_key};{frame.tag(iteration)}")
        if isinstance(found, Deferred):
            self.inbox.expect(found, task, frame, iteration)
        else:
            self._received(found[0], task, frame, iteration)

    def _received(self, value: Any, task: Task, frame: Frame, iteration: Iteration) -> None:
        if value is DEAD:
            self.finish(task, frame, iteration, True)
        else:
            iteration.values[task.out_slots[0]] = task.arrive(value)
            self._done(task, frame, iteration)

    # ---- those who look on ----

    def _note_start(self, task: Task, iteration: Iteration) -> None:
        if self.observe is not None:
            self.starts[task, iteration] = time.perf_counter()

    def _show(self, task: Task, iteration: Iteration) -> None:
        assert self.observe is not None
        start, values = self.starts.pop((task, iteration)), iteration.values
        if task.node is not None:
            inputs = [values[i] for i in task.in_slots]
            outputs = [values[i] for i in task.out_slots]
            self.observe(task.node, inputs, outputs, start, time.perf_counter())


# ---- control flow --------------------------------------------------------------------------------


def _switch(task: Task, iteration: Iteration) -> None:
    values = iteration.values
    data, pred = task.in_slots
    taken = 1 if _read(values[pred]) else 0
    values[task.out_slots[taken]] = values[data]
    values[task.out_slots[1 - taken]] = DEAD


def _merge(task: Task, iteration: Iteration) -> None:
    values = iteration.values
    position = iteration.alive[task.index]
    values[task.out_slots[0]] = _merged(task.node, values[task.in_slots[position]])
    values[task.out_slots[1]] = np.array(position, np.int32)


def _pass_on(task: Task, iteration: Iteration) -> None:
    if task.out_slots:
        iteration.values[task.out_slots[0]] = iteration.values[task.in_slots[0]]


_STEER = {"switch": _switch, "merge": _merge}


def _merged(node: Node | None, value: Any) -> Any:
    """What a merge passes on. One of values, not references, may be given a reference."""
    assert node is not None
    dtype = node.dtypes[0]
    return value if dtype._is_ref_dtype or dtype is dtypes.resource else _read(value)


def _read(value: Any) -> Any:
    if type(value) in (np.ndarray, np.bool_):
        return value
    return value.read() if hasattr(value, "read") else value


def explained(error: Exception, task: Task, frame: Frame, iteration: Iteration) -> Exception:
    """An error of a task that says in which iteration of which loops, and by which node."""
    where = frame.describe(iteration)
    if task.node is None or (isinstance(error, errors.OpError) and error.op is not None):
        if where and isinstance(error, errors.OpError):
            error._message += where  # whoever ran it has said which node it was
        return error
    if where and isinstance(error, errors.OpError):
        error = type(error)(None, None, error.message + where)  # type: ignore[call-arg]
    elif where:
        error = type(error)(f"{error}{where}")
    return located(error, task.node)
