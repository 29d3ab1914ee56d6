"""Steps of a graph whose units wait for nothing but tensors from other tasks.

Most of what a worker is given is of this kind. What has been worked out when the graph was
registered (which units wait for which, which tensors are pushed) is all that a step has to look at.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.cluster.transport.remote_rendezvous import RemoteRendezvous
from weft.runtime.continuation import Finish, promised
from weft.runtime.executor import Executor
from weft.runtime.frames import Frame, Iteration
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
        receives = [task for task in self.tasks.tasks if task.kind == "recv"]
        self.receives = {task.transfer_key + ROOT: task for task in receives}

    def start(
        self,
        feeds: Sequence[Any],
        finish: Finish,
        running: RunningSteps,
        rendezvous: RemoteRendezvous,
    ) -> Any:
        """`finish(fetches)` of a step, or a promise of it; no thread waits."""
        prepared = self.plan.ready()
        if prepared is not self.prepared:
            self._prepare(prepared)
        step = _Step(self, prepared.begin(feeds), running, rendezvous)
        return promised(step, lambda values: finish(self.plan.results(values)))


class _Step(Executor):
    """One step: sends come first, since others wait for them; receives are asked for at once."""

    rendezvous: RemoteRendezvous

    def __init__(
        self, flow: Flow, values: list[Any], running: RunningSteps, rendezvous: RemoteRendezvous
    ) -> None:
        super().__init__(flow.tasks, values, running=running, rendezvous=rendezvous)
        self.receives = flow.receives
        self.wanted: list[str] = []

    def push(self, task: Task, frame: Frame, iteration: Iteration, dead: bool = False) -> None:
        if task.kind == "recv":
            key = task.transfer_key + ROOT
            self.inbox.waiting[key] = None, task
            self.wanted.append(key)
        elif task.kind == "send":
            self.ready.appendleft((task, frame, iteration, dead))
        else:
            self.ready.append((task, frame, iteration, dead))

    def flush(self) -> None:
        if self.wanted:
            wanted, self.wanted = self.wanted, []
            self.rendezvous.want(wanted, self.inbox)
        self.rendezvous.flush()

    def receive(self) -> None:
        """Takes the values that have come together."""
        found = self.inbox.get()
        if isinstance(found, BaseException):
            raise found
        for key, value in found:
            del self.inbox.waiting[key]
            self.received(value, self.receives[key], self.root, self.first)
