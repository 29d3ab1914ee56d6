"""A loop whose body may have to wait, without a thread that waits.

It runs as one generated function for as long as nothing has to wait; then iteration by iteration
(`loop_flow.py`) until nothing waits any more. While it waits, it is a `Deferred` for the step.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.core import errors
from weft.core.errors import raise_from
from weft.runtime.host.codegen_loop import Loop, straight_loop
from weft.runtime.loop_flow import LoopFlow, in_iteration
from weft.runtime.loop_shape import LoopShape
from weft.runtime.xla.region import Region

# Iterations after which it shows what the body is like, and how often that may change.
_TRIAL, _ATTEMPTS = 4, 8


class WaitingLoop:
    """Runs the condition, then the body, until the condition is false."""

    def __init__(self, loop: Any) -> None:
        self.loop = loop
        self.shape: LoopShape | None = None
        self.line: Loop | None = None
        self.attempts = self.seen = 0

    def __call__(self, xp: Any, inputs: Sequence[Any]) -> Any:
        prepared = self.loop.body.ready()
        if self.shape is None or self.shape.prepared is not prepared:
            self.shape, self.line = LoopShape(self.loop, prepared), None
            self.attempts = self.seen = 0
        variables = self.loop.variables
        return self._go_on(LoopFlow(self.shape, inputs[:variables], inputs[variables:]))

    def _go_on(self, flow: LoopFlow) -> Any:
        try:
            while flow.result is None:
                line = self._line() if flow.is_quiet() and flow.shape is self.shape else None
                if line is not None:
                    self._run_straight(line, flow)
                    continue
                flow.advance()
                self.seen += 1
                if flow.result is None and not flow.is_quiet():
                    promise = flow.waiting.promise(lambda: self._go_on(flow))
                    if promise is not None:
                        return promise
        except BaseException:
            flow.waiting.cancel()
            raise
        return flow.waiting.ends.kept(flow.result)

    def _line(self) -> Loop | None:
        """The loop as one function, once it is known how much there is to do in it."""
        if self.line is None and self.seen >= _TRIAL:
            assert self.shape is not None
            loop, body = self.loop, self.shape.prepared
            regions = [u for u in body.units if isinstance(u, Region)]
            can_be = loop.condition.in_order and not loop.body.by_tokens
            if can_be and all(u.entries for u in regions):
                self.attempts += 1
                parts = loop.condition.ready(), body, loop.variables
                self.line = straight_loop(*parts, True, any_size=self.attempts > _ATTEMPTS)
        return self.line

    def _run_straight(self, line: Loop, flow: LoopFlow) -> None:
        count = [flow.begun]
        state = [flow.coming[k] for k in range(self.loop.variables)]
        try:
            end = line(state, flow.fixed, count)
        except errors.OpError as error:
            raise_from(in_iteration(error, count[0], self.loop.node.name), error)
        flow.begun = count[0]
        if isinstance(end, list):
            flow.result = end
            return
        flow.continue_at(*end)
        if end[1] is None:
            self.line, self.seen = None, 0  # it was made for less than what comes now
