"""Runs of a loop that may wait: iterations overlap as far as their data allow, and hold no thread.

Each unit of the body runs when what it needs of its own iteration is there, and the condition of an
iteration when the loop variables are there that it looks at. An iteration begins only when nothing
else can go on: so that, as long as nothing waits, one is over before the next. Then the loop can
run as one generated function, up to the first unit that has to wait.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from weft.core import errors
from weft.runtime.continuation import promised
from weft.runtime.executor import Executor
from weft.runtime.frames import Frame, Iteration
from weft.runtime.host.codegen_loop import StraightLoop, straight_loop
from weft.runtime.limits import limits
from weft.runtime.loop_shape import LoopShape
from weft.runtime.tasks import Task
from weft.runtime.xla.region import Region

_NOT_YET = object()
# Iterations after which it shows what the body is like, and how often that may change.
_TRIAL, _ATTEMPTS = 4, 8


class WaitingLoop:
    """A `_While` node whose body or condition may wait; called once for each run."""

    def __init__(self, loop: Any) -> None:
        self.loop = loop
        self.shape: LoopShape | None = None
        self.line: StraightLoop | None = None
        self.attempts = self.seen = 0

    def __call__(self, xp: Any, inputs: Sequence[Any]) -> Any:
        prepared = self.loop.body.ready()
        if self.shape is None or self.shape.prepared is not prepared:
            self.shape, self.line = LoopShape(self.loop, prepared), None
            self.attempts = self.seen = 0
        return promised(LoopRun(self, self.shape, inputs), list)

    def straight_line(self) -> StraightLoop | None:
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

    def forget_line(self) -> None:
        """It was made for less than what comes now."""
        self.line, self.seen = None, 0


class _Trip(Iteration):
    """One iteration. `goes`: what the condition said, once it could say."""

    __slots__ = ("goes", "left", "missing", "state")

    def __init__(self, frame: int, index: int, shape: LoopShape, values: list[Any]) -> None:
        super().__init__(frame, index, shape.pending.copy(), values)
        self.goes: bool | None = None
        self.state: list[Any] = [_NOT_YET] * shape.variables
        self.missing, self.left = shape.variables, len(shape.graph.tasks)


class LoopRun(Executor):
    """One run of a loop; `result` is the final state once there is one."""

    def __init__(self, loop: WaitingLoop, shape: LoopShape, inputs: Sequence[Any]) -> None:
        super().__init__(shape.graph, [])
        self.loop, self.shape = loop, shape
        self.frame = Frame(shape.name, None, self.root, 0, 0, shape.limit)
        self.fixed = list(inputs[shape.variables :])
        self.result: list[Any] | None = None
        self.begun = 0  # iterations
        # The variables of the iteration that has not begun, as far as they are known.
        self.coming = dict(enumerate(inputs[: shape.variables]))
        self.under_way: dict[int, _Trip] = {}
        self.last: _Trip | None = None  # the condition was false there

    def outcome(self) -> list[Any]:
        assert self.result is not None
        return self.result

    def begin(self, at: Any = None) -> None:
        """Nothing: an iteration begins when nothing else can go on."""

    def advance(self) -> bool:
        while self.result is None:
            if self.is_quiet():
                line = self.loop.straight_line() if self.shape is self.loop.shape else None
                if line is not None:
                    self._run_straight(line)
                    continue
                self._begin_trip()
            super().advance()
            if self.result is not None or self.is_quiet():
                continue
            if not self.coming or len(self.under_way) >= self.shape.limit:
                return False
            self._begin_trip()
        return True

    def is_quiet(self) -> bool:
        """Whether all iterations that began are over, and all is known about the next."""
        return not self.under_way and len(self.coming) == self.shape.variables

    def _run_straight(self, line: StraightLoop) -> None:
        count = [self.begun]
        state = [self.coming[k] for k in range(self.shape.variables)]
        try:
            end = line(state, self.fixed, count)
        except errors.OpError as error:
            error._message += f" (iteration {count[0]} of loop '{self.shape.name}')"
            raise
        self.begun = count[0]
        if isinstance(end, list):
            self.result = end
            return
        unit, promise, state, values = end
        self._resume_trip(state, [*values, None], unit, promise)
        if promise is None:
            self.loop.forget_line()

    # ---- the way of an iteration ----

    def _begin_trip(self) -> None:
        limits.check()
        self.loop.seen += 1
        shape, given = self.shape, self.coming
        values = [*shape.template, None]
        for slot, value in zip(shape.feed_slots[shape.variables :], self.fixed, strict=True):
            values[slot] = value
        trip = self._add_trip(values)
        if not trip.pending[shape.decider.index]:
            self.push(shape.decider, self.frame, trip)
        for k, value in given.items():
            self._arrive(trip, k, value)

    def _resume_trip(self, state: list[Any], values: list[Any], unit: int, promise: Any) -> None:
        """Goes on in the middle of an iteration, whose units before `unit` have run."""
        trip = self._add_trip(values)
        trip.goes, trip.state, trip.missing = True, state, 0
        trip.pending = [*self.shape.others, 0]
        self._hand_on_what_is_there(trip)
        self.resume(self.frame, trip, unit, promise)

    def _add_trip(self, values: list[Any]) -> _Trip:
        trip = _Trip(self.frame.number, self.begun, self.shape, values)
        self.under_way[self.begun] = trip
        self.begun += 1
        self.coming = {}
        return trip

    def _arrive(self, trip: _Trip, k: int, value: Any) -> None:
        """Gives a loop variable its value."""
        trip.state[k] = trip.values[self.shape.feed_slots[k]] = value
        trip.missing -= 1
        self._count_down(self.shape.readers[k], trip)
        if trip.goes:
            self._pass_on(trip, [(to, at) for to, at in self.shape.passes if at == k])
        self._end(trip)

    def finish(self, task: Task, frame: Frame, iteration: Any, dead: bool = False) -> None:
        if task is self.shape.decider:
            self._decide(iteration)
        else:
            self._count_down(task.followers, iteration)
            for k in self.shape.makes[task.index]:
                self._hand_on(iteration, k, iteration.values[self.shape.fetch_slots[k]])
            iteration.left -= 1
        self._end(iteration)

    def _decide(self, trip: _Trip) -> None:
        trip.goes = bool(trip.values[self.shape.decider.out_slots[0]])
        if trip.goes:
            self._count_down(self.graph.tasks, trip)
            self._hand_on_what_is_there(trip)
        else:
            self.last = trip

    def _count_down(self, tasks: Iterable[Task], trip: _Trip) -> None:
        """Each of the tasks lacks one thing less."""
        for task in tasks:
            trip.pending[task.index] -= 1
            if not trip.pending[task.index]:
                self.push(task, self.frame, trip)

    # ---- from one iteration to the next ----

    def _hand_on_what_is_there(self, trip: _Trip) -> None:
        shape = self.shape
        for k in shape.constant:
            self._hand_on(trip, k, shape.template[shape.fetch_slots[k]])
        self._pass_on(trip, shape.passes)

    def _pass_on(self, trip: _Trip, passes: Iterable[tuple[int, int]]) -> None:
        given = trip.state + self.fixed
        for k, at in passes:
            if given[at] is not _NOT_YET:
                self._hand_on(trip, k, given[at])

    def _hand_on(self, trip: _Trip, k: int, value: Any) -> None:
        following = self.under_way.get(trip.index + 1)
        if following is None:
            self.coming[k] = value
        else:
            self._arrive(following, k, value)

    def _end(self, trip: _Trip) -> None:
        """Forgets an iteration that is over. The loop is over with the last of them."""
        if trip.missing or trip.goes is None or (trip.goes and trip.left):
            return
        self.under_way.pop(trip.index, None)
        if self.last is not None and not self.under_way:
            self.result = self.last.state
