"""One run of a loop that may wait: its iterations overlap as far as their data allow.

Each unit of the body runs when what it needs of its own iteration is there, and the condition of an
iteration when the loop variables are there that it looks at. An iteration begins only when nothing
else can go on: so that, as long as nothing waits, one is over before the next.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any

from weft.core import errors
from weft.core.deferred import Deferred
from weft.core.errors import raise_from
from weft.runtime.host.interpret import located
from weft.runtime.limits import limits
from weft.runtime.loop_shape import LoopShape
from weft.runtime.promise_set import WaitingFor

_NOT_YET = object()
# Stands for the condition where units of the body are numbered.
_CONDITION = -1


class _Trip:
    """One iteration. `goes`: what the condition said, once it could say."""

    __slots__ = ("goes", "index", "left", "missing", "pending", "state", "undecided", "values")

    def __init__(self, index: int, shape: LoopShape, values: list[Any]) -> None:
        self.index, self.values = index, values
        self.goes: bool | None = None
        self.state: list[Any] = [_NOT_YET] * shape.variables
        self.missing, self.undecided = shape.variables, len(shape.decides)
        self.pending, self.left = shape.pending.copy(), len(shape.pending)


class LoopFlow:
    """`result` is the final state once there is one."""

    def __init__(self, shape: LoopShape, state: Sequence[Any], fixed: Sequence[Any]) -> None:
        self.shape, self.fixed = shape, list(fixed)
        self.result: list[Any] | None = None
        self.begun = 0  # iterations
        # The variables of the iteration that has not begun, as far as they are known.
        self.coming = dict(enumerate(state))
        self.under_way: dict[int, _Trip] = {}
        self.last: _Trip | None = None  # the condition was false there
        self.ready: deque[tuple[_Trip, int]] = deque()
        self.waiting = WaitingFor(self._error)

    def is_quiet(self) -> bool:
        """Whether all iterations that began are over, and all is known about the next."""
        return not self.under_way and len(self.coming) == self.shape.variables

    def advance(self) -> None:
        """Runs what can run; up to the end of an iteration if nothing waits."""
        if self.is_quiet():
            self._begin()
        while self.result is None:
            if self.ready:
                self._run(*self.ready.popleft())
            elif self.waiting.arrived:
                self._receive()
            elif self.is_quiet() or not self._has_room():
                return
            else:
                self._begin()

    def continue_at(
        self, unit: int, waits_for: Deferred | None, state: list[Any], values: list[Any]
    ) -> None:
        """Goes on in the middle of an iteration, whose units before `unit` have run."""
        trip = _Trip(self.begun, self.shape, values)
        self.under_way[self.begun] = trip
        self.begun += 1
        trip.goes, trip.state, trip.missing = True, state, 0
        trip.pending = self.shape.others.copy()
        self.coming = {}
        self._hand_on_what_is_there(trip)
        for done in range(unit):
            self._done(trip, done)
        self.ready.clear()
        later = range(unit + 1, len(trip.pending))
        self.ready.extend((trip, i) for i in later if not trip.pending[i])
        if waits_for is None:
            self.ready.appendleft((trip, unit))
        else:
            self.waiting.add(waits_for, (trip, unit))

    # ---- the way of an iteration ----

    def _has_room(self) -> bool:
        return bool(self.coming) and len(self.under_way) < self.shape.limit

    def _begin(self) -> None:
        limits.check()
        values = self.shape.body.begin([_NOT_YET] * self.shape.variables + self.fixed)
        trip = _Trip(self.begun, self.shape, values)
        self.under_way[self.begun] = trip
        self.begun += 1
        given, self.coming = self.coming, {}
        if not trip.undecided:
            self._decide(trip)
        for k, value in given.items():
            self._arrive(trip, k, value)

    def _arrive(self, trip: _Trip, k: int, value: Any) -> None:
        """A loop variable has its value."""
        trip.state[k] = trip.values[self.shape.body.feed_slots[k]] = value
        trip.missing -= 1
        for unit in self.shape.readers[k]:
            self._less(trip, unit)
        if trip.goes:
            self._pass_on(trip, [(to, at) for to, at in self.shape.passes if at == k])
        if k in self.shape.decides:
            trip.undecided -= 1
            if not trip.undecided:
                self._decide(trip)
        self._end(trip)

    def _decide(self, trip: _Trip) -> None:
        try:
            found = self.shape.condition.start(trip.state + self.fixed, list)
        except errors.OpError as error:
            raise_from(self._in_iteration(error, trip), error)
        if isinstance(found, Deferred):
            self.waiting.add(found, (trip, _CONDITION))
        else:
            self._decided(trip, bool(found[0]))

    def _decided(self, trip: _Trip, goes: bool) -> None:
        trip.goes = goes
        if not goes:
            self.last = trip
            return
        for unit in range(len(trip.pending)):
            self._less(trip, unit)
        self._hand_on_what_is_there(trip)

    def _less(self, trip: _Trip, unit: int) -> None:
        """A unit has one thing less to wait for."""
        trip.pending[unit] -= 1
        if not trip.pending[unit]:
            self.ready.append((trip, unit))

    def _run(self, trip: _Trip, unit: int) -> None:
        try:
            deferred = self.shape.body.run_unit(unit, trip.values)
        except errors.OpError as error:
            raise_from(self._in_iteration(error, trip), error)
        if deferred is not None:
            self.waiting.add(deferred, (trip, unit))
        else:
            self._done(trip, unit)

    def _receive(self) -> None:
        (trip, unit), outputs = self.waiting.take()
        if isinstance(outputs, Deferred):
            return
        if unit == _CONDITION:
            self._decided(trip, bool(outputs[0]))
            self._end(trip)
        else:
            self.shape.body.fill(trip.values, unit, outputs)
            self._done(trip, unit)

    def _done(self, trip: _Trip, unit: int) -> None:
        for user in self.shape.users[unit]:
            self._less(trip, user)
        slots = self.shape.body.fetch_slots
        for k in self.shape.makes[unit]:
            self._hand_on(trip, k, trip.values[slots[k]])
        trip.left -= 1
        self._end(trip)

    # ---- from one iteration to the next ----

    def _hand_on_what_is_there(self, trip: _Trip) -> None:
        body = self.shape.body
        for k in self.shape.constant:
            self._hand_on(trip, k, body.template[body.fetch_slots[k]])
        self._pass_on(trip, self.shape.passes)

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

    # ---- failing ----

    def _error(self, error: BaseException, at: Any) -> BaseException:
        """What an operation that waited failed with, by its node and iteration."""
        trip, unit = at
        node = None if unit == _CONDITION else self.shape.body.node_at(unit)
        if node is None and isinstance(error, errors.OpError):
            return self._in_iteration(error, trip)  # whoever ran it has said which node it was
        if not isinstance(error, Exception) or node is None:
            return error
        return self._in_iteration(located(error, node), trip)

    def _in_iteration(self, error: Any, trip: _Trip) -> Exception:
        return in_iteration(error, trip.index, self.shape.name)


def in_iteration(error: Any, index: int, loop: str) -> Exception:
    error._message += f" (iteration {index} of loop '{loop}')"
    return error  # type: ignore[no-any-return]
