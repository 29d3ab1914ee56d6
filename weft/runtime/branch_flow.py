"""One run of a branch that has to wait: its units run as what they need arrives."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from weft.core.deferred import Deferred
from weft.runtime.interpret import located
from weft.runtime.waiting_for import WaitingFor


class BranchFlow:
    """Goes on from unit `unit` of a waiting plan, which waits for `promise` if that is not None.

    `finish(results)`: what is made of the results of the branch.
    """

    def __init__(
        self, plan: Any, values: list[Any], unit: int, promise: Deferred | None,
        finish: Callable[[list[Any]], list[Any]],
    ) -> None:  # fmt: skip
        self.plan, self.values, self.finish = plan, values, finish
        self.tasks = plan.tasks.tasks
        self.pending = plan.tasks.pending.copy()
        self.left = len(self.tasks)
        self.ready: deque[int] = deque()
        self.waiting = WaitingFor(self._error)
        for done in range(unit):
            self._done(done)
        later = range(unit + 1, len(self.tasks))
        self.ready = deque(i for i in later if not self.pending[i])
        if promise is None:
            self.ready.appendleft(unit)
        else:
            self.waiting.add(promise, unit)

    def advance(self) -> Any:
        """Runs what can run. What has been made in the end, or a promise of it."""
        try:
            while self.left:
                if self.ready:
                    self._run(self.ready.popleft())
                elif self.waiting.arrived:
                    self._receive()
                else:
                    promise = self.waiting.promise(self.advance)
                    if promise is not None:
                        return promise
            outputs = self.finish(self.plan.results(self.values))
        except BaseException:
            self.waiting.cancel()
            raise
        return self.waiting.kept(outputs)

    def _run(self, unit: int) -> None:
        promise = self.plan.run_unit(unit, self.values)
        if promise is not None:
            self.waiting.add(promise, unit)
        else:
            self._done(unit)

    def _receive(self) -> None:
        unit, outputs = self.waiting.take()
        if not isinstance(outputs, Deferred):
            self.plan.fill(self.values, unit, outputs)
            self._done(unit)

    def _done(self, unit: int) -> None:
        self.left -= 1
        for task in self.tasks[unit].control_outs:
            self.pending[task.index] -= 1
            if not self.pending[task.index]:
                self.ready.append(task.index)

    def _error(self, error: BaseException, unit: int) -> BaseException:
        node = self.tasks[unit].node
        return error if node is None or not isinstance(error, Exception) else located(error, node)
