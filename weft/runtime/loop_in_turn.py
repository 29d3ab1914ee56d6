"""A loop of which each iteration is over before the next begins, and each may have to wait.

For a body with loops or branches in it that have no structure, so that nobody knows what of the
next iteration could begin.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

from weft.core import errors
from weft.core.deferred import Deferred
from weft.core.errors import raise_from
from weft.runtime.limits import limits
from weft.runtime.loop_flow import in_iteration
from weft.runtime.promise_set import WaitingFor


class LoopInTurn:
    """One run of a loop."""

    def __init__(self, loop: Any, state: Sequence[Any], fixed: Sequence[Any]) -> None:
        self.loop, self.count = loop, 0
        self.way = self._iterations(list(state), list(fixed))
        self.waiting = WaitingFor(self._error)

    def _iterations(
        self, state: list[Any], fixed: list[Any]
    ) -> Generator[Any, list[Any], list[Any]]:
        """Yields the outcome of each run of a plan, or a promise; is sent the outcome."""
        while True:
            limits.check()
            verdict = yield self.loop.condition.start(state + fixed, list)
            if not verdict[0]:
                return state
            state = yield self.loop.body.start(state + fixed, list)
            self.count += 1

    def advance(self, outcome: list[Any] | None = None) -> Any:
        """The final state, or a promise of it."""
        try:
            while True:
                found = self.way.send(outcome)  # type: ignore[arg-type]
                if isinstance(found, Deferred):
                    self.waiting.add(found, None)
                    found = self._arrived()
                if isinstance(found, Deferred):
                    return found
                outcome = found
        except StopIteration as end:
            return self.waiting.ends.kept(end.value)
        except errors.OpError as error:
            raise_from(self._error(error, None), error)

    def _arrived(self) -> Any:
        """What the loop waits for, or a promise to go on when it is there."""
        while True:
            if self.waiting.arrived:
                _, outputs = self.waiting.take()
                if not isinstance(outputs, Deferred):
                    return outputs
            else:
                promise = self.waiting.promise(self._go_on)
                if promise is not None:
                    return promise

    def _go_on(self) -> Any:
        found = self._arrived()
        return found if isinstance(found, Deferred) else self.advance(found)

    def _error(self, error: BaseException, place: Any) -> BaseException:
        note = f" of loop '{self.loop.node.name}')"
        if not isinstance(error, errors.OpError) or note in error.message:
            return error
        return in_iteration(error, self.count, self.loop.node.name)
