"""Steps of a graph whose units wait for nothing but tensors from other tasks.

Most of what a worker is given is of this kind. What has been worked out when the graph was
registered (who waits for whom, which tensors come by themselves) is all that a step has to look at.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.cluster.transport.remote_rendezvous import Inbox, RemoteRendezvous
from weft.core import errors
from weft.core.deferred import Deferred
from weft.core.errors import raise_from
from weft.runtime.continuation import Finish
from weft.runtime.host.interpret import located
from weft.runtime.inbox import Mailbox
from weft.runtime.limits import RunningSteps
from weft.runtime.plan import Plan
from weft.runtime.prepared import Prepared
from weft.runtime.tasks import Task

ROOT = ";0:0"
"""The end of every key outside of loops."""


class Flow:
    """A plan, to be run with a rendezvous."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._prepare(plan.ready())

    @classmethod
    def of(cls, plan: Any) -> Flow | None:
        """None where operations wait for other things, too."""
        if not isinstance(plan, Plan) or plan.in_order or plan.by_tokens:
            return None
        nodes = [unit.nodes[0] for unit in plan.layout.units if not unit.is_region]
        if any(n.definition.blocking and not n.definition.transfer for n in nodes):
            return None
        return cls(plan)

    def _prepare(self, prepared: Prepared) -> None:
        self.prepared, self.tasks = prepared, prepared.tasks
        self.keys = {t.index: t.transfer_key + ROOT for t in self.tasks.tasks if t.transfer_key}
        self.receives = {self.keys[t.index]: t for t in self.tasks.tasks if t.kind == "recv"}

    def start(
        self,
        feeds: Sequence[Any],
        finish: Finish,
        running: RunningSteps,
        rendezvous: RemoteRendezvous,
    ) -> Any:
        """What `finish` makes of the fetches of a step, or a promise of it: nobody waits."""
        prepared = self.plan.ready()
        if prepared is not self.prepared:
            self._prepare(prepared)
        step = _Step(self, prepared.begin(feeds), finish, running, rendezvous)
        running.add(step)
        return step.go_on()


class _Step:
    def __init__(
        self, flow: Flow, values: list[Any], finish: Finish, running: RunningSteps,
        rendezvous: RemoteRendezvous,
    ) -> None:  # fmt: skip
        self.flow, self.values, self.finish = flow, values, finish
        self.running, self.rendezvous = running, rendezvous
        self.inbox: Inbox = Mailbox()
        self.pending = flow.tasks.pending.copy()
        self.readers = flow.tasks.readers.copy()
        self.left = len(flow.tasks.tasks)
        self.ready = list(flow.tasks.roots)

    def abort(self, error: errors.OpError) -> None:
        self.inbox.put(error)

    def go_on(self) -> Any:
        """Runs up to where it has to wait, or to its end."""
        try:
            while not self._advance():
                promise = Deferred(then=lambda _: self.go_on())
                if self.inbox.sleep(lambda promise=promise: promise.complete(())):  # type: ignore[misc]
                    return promise
            self.rendezvous.flush()
        except BaseException:
            self.running.remove(self)
            raise
        self.running.remove(self)
        return self.finish(self.flow.plan.results(self.values))

    def _advance(self) -> bool:
        """Runs what can run and takes what has arrived; whether the step is over."""
        while self.left:
            if self.ready:
                done = self._start(self.ready)
            else:
                self.rendezvous.flush()
                if self.inbox.is_empty():
                    return False
                done = self._received()
            self.left -= len(done)
            self.ready = [user for task in done for user in self._finish(task)]
        return True

    def _start(self, ready: list[Task]) -> list[Task]:
        """Starts tasks: first what others wait for. Gives those that are done."""
        done, plain, wanted = [], [], []
        for task in ready:
            if task.kind == "recv":
                wanted.append(self.flow.keys[task.index])
            elif task.kind == "send":
                self._send(task)
                done.append(task)
            else:
                plain.append(task)
        if wanted:
            self.rendezvous.want(wanted, self.inbox)
        for task in plain:
            self.rendezvous.flush()
            self._compute(task)
            done.append(task)
        return done

    def _send(self, task: Task) -> None:
        value = self.values[task.in_slots[0]]
        read = getattr(value, "read", None)
        try:
            value = value if read is None else read()
        except Exception as error:
            raise_from(located(error, task.node), error)  # type: ignore[arg-type]
        self.rendezvous.send(self.flow.keys[task.index], value)

    def _compute(self, task: Task) -> None:
        try:
            task.run(self.values)
        except Exception as error:
            raise_from(error if task.node is None else located(error, task.node), error)

    def _received(self) -> list[Task]:
        """Takes what has come; gives the receives that are done by that."""
        found = self.inbox.get()
        if isinstance(found, BaseException):
            raise found
        done = []
        for key, value in found:
            task = self.flow.receives[key]
            self.values[task.out_slots[0]] = task.arrive(value)
            done.append(task)
        return done

    def _finish(self, task: Task) -> list[Task]:
        """What can start now that `task` is done. Values that nobody will read are let go."""
        for slot in task.reads:
            self.readers[slot] -= 1
            if not self.readers[slot]:
                self.values[slot] = None
        pending, ready = self.pending, []
        for user in task.control_outs:
            pending[user.index] -= 1
            if not pending[user.index]:
                ready.append(user)
        return ready
