"""A loop whose body may have to wait, without a thread that waits.

It runs until an operation of the body gives a `Deferred`; then so does the loop, and goes on from
there when the result has come.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.core import errors
from weft.core.deferred import Deferred
from weft.runtime.interpret import located
from weft.runtime.running import limits


class _Progress:
    """How far one run of a loop has come. `values` are the body's, while it is in the middle."""

    def __init__(self, state: list[Any], fixed: list[Any]) -> None:
        self.state, self.fixed = state, fixed
        self.values: list[Any] | None = None
        self.unit = self.count = 0


class WaitingLoop:
    """Runs the condition, then the body, until the condition is false."""

    def __init__(self, loop: Any) -> None:
        self.loop = loop

    def __call__(self, xp: Any, inputs: Sequence[Any]) -> Any:
        variables = self.loop.variables
        return self._go_on(_Progress(list(inputs[:variables]), list(inputs[variables:])))

    def _go_on(self, at: _Progress) -> Any:
        condition, body = self.loop.condition, self.loop.body
        try:
            while True:
                if at.values is None:
                    given = at.state + at.fixed
                    if not condition.run(given)[0]:
                        return at.state
                    limits.check()
                    at.values, at.unit = body.begin(given), 0
                stop = body.advance(at.values, at.unit)
                if stop is not None:
                    at.unit, deferred = stop
                    return self._later(deferred, at)
                at.state, at.values = body.results(at.values), None
                at.count += 1
        except errors.OpError as error:
            raise self._in_iteration(error, at) from error

    def _later(self, deferred: Deferred, at: _Progress) -> Deferred:
        finish = deferred.then
        node = self.loop.body.tasks.tasks[at.unit].node

        def then(outputs: Any) -> Any:
            try:
                outputs = outputs if finish is None else finish(outputs)
            except Exception as error:
                raise self._in_iteration(located(error, node), at) from error
            if isinstance(outputs, Deferred):
                return self._later(outputs, at)
            self.loop.body.fill(at.values, at.unit, outputs)
            at.unit += 1
            return self._go_on(at)

        deferred.then = then
        return deferred

    def _in_iteration(self, error: Any, at: _Progress) -> Exception:
        error._message += f" (iteration {at.count} of loop '{self.loop.node.name}')"
        return error  # type: ignore[no-any-return]
