"""Stacks that are there before a program is called, which pushes on them or pops what they hold.

A program has its own form of a stack for each of these: an empty one gets room for what is pushed;
one that holds rows of one shape, or one value many times, is only popped.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from weft.ops.kit.row_updates import put_row, take_row
from weft.ops.kit.value_checks import must_hold
from weft.ops.lists.padded_rows import padded
from weft.ops.lists.stacks import Stack, Whole

_FEW = 1 << 10  # bytes of a value that many rows may share


class StackForm(NamedTuple):
    """What a program must know of a stack.

    `rows`: type and shape of the array that holds what is on it, or `known`: the value that all of
    it is. `step`: 1 if each iteration of the loop pushes one value, -1 if each pops one, and all
    stacks with this step hold equally many; else 0.
    """

    max_size: int
    step: int
    rows: tuple[Any, tuple[int, ...]] | None = None
    known: tuple[Any, tuple[int, ...], bytes] | None = None

    @property
    def arrays(self) -> int:
        """How many arrays a program is given of it: rows, how many there are."""
        return 2

    def enter(self, xp: Any, ctx: Any, arrays: Sequence[Any]) -> GivenStack:
        rows, count = arrays
        return GivenStack(xp, ctx, self, rows, self._count(ctx, count))

    def _count(self, ctx: Any, given: Any) -> Count | CountInStep:
        if not self.step:
            return Count(ctx, given)
        ctx.trips = ctx.trips or Trips(ctx)
        return CountInStep(ctx.trips, self.step, given)


def length(stack: Stack) -> int:
    return stack.whole.length if stack.whole is not None else len(stack.items or ())


def form_of(stack: Stack, room: int, must_be_known: bool, step: int) -> StackForm | None:
    """The form of a stack for a program, None if there is none for what it holds."""
    if stack.items is None:
        return None
    if stack.whole is None and not stack.items:
        return StackForm(stack.max_size, step)
    rows = _shared(stack, must_be_known)
    if rows is None:
        return None
    if must_be_known or (stack.whole is not None and stack.whole.rows is None):
        known = (rows.dtype, rows.shape, rows.tobytes()) if rows.nbytes <= _FEW else None
        return StackForm(stack.max_size, step, known=known) if known else None
    shape = rows.shape if stack.whole is not None else (room, *rows.shape)
    return StackForm(stack.max_size, step, rows=(rows.dtype, tuple(shape)))


def _shared(stack: Stack, is_one_value: bool) -> Any:
    """What all values of a stack have in common: what a program made, or the first; None if not."""
    whole, items = stack.whole, stack.items or []
    if whole is not None:
        return whole.known if whole.rows is None else None if is_one_value else whole.rows
    first = items[0]
    if not all(_are_alike(first, item) for item in items):
        return None
    return first if not is_one_value or all(np.array_equal(first, i) for i in items) else None


def _are_alike(one: Any, two: Any) -> bool:
    if not isinstance(two, (np.ndarray, np.generic)):
        return False
    return bool(two.dtype == one.dtype and two.shape == one.shape)


def arrays_of(stack: Stack, form: StackForm) -> list[Any]:
    """What a program is given of a stack that has this form."""
    count = np.int32(length(stack))
    if form.rows is None:
        return [None, count]
    if stack.whole is not None:
        return [stack.whole.rows, count]
    return [padded(np.stack(stack.items or ()), form.rows[1][0]), count]


class Count:
    """How many values are on one stack, at this point of a program."""

    def __init__(self, ctx: Any, given: Any) -> None:
        self.cell = ctx.cell(given)

    @property
    def now(self) -> Any:
        return self.cell.state

    def pushed(self) -> Any:
        """The index for one value more."""
        at = self.now
        self.cell.state = at + np.int32(1)
        return at

    def popped(self) -> Any:
        """The index of the last value, which goes."""
        self.cell.state = at = self.now - np.int32(1)
        must_hold(at >= 0)
        return at


class Trips:
    """The iterations of a loop that are over; each uses some stacks once, all in one direction.

    Such stacks share a count, and so what an iteration computes from it.
    """

    def __init__(self, ctx: Any) -> None:
        self.cell = ctx.cell(np.int32(0))
        self._at: dict[int, Any] = {}

    @property
    def state(self) -> Any:
        return self.cell.state

    def begin(self) -> None:
        """Called when an iteration begins."""
        self._at.clear()

    def end(self) -> None:
        """Called when it is over."""
        self.cell.state = self.cell.state + np.int32(1)

    def index(self, step: int, given: Any) -> Any:
        """Where this iteration pushes a value, or what it pops, on stacks that held so many."""
        if step not in self._at:
            last = np.int32(step < 0)
            self._at[step] = given + np.int32(step) * self.cell.state - last
            if step < 0:
                must_hold(self._at[step] >= 0)
        return self._at[step]


class CountInStep:
    """As Count, of a stack that each iteration of the loop uses once."""

    def __init__(self, trips: Trips, step: int, given: Any) -> None:
        self.trips, self.step, self.given = trips, step, given

    now = None  # as the trips tell

    def pushed(self) -> Any:
        return self.trips.index(self.step, self.given)

    popped = pushed


class GivenStack:
    """A stack of the host inside a program; `pushed` holds the rows that the program adds."""

    def __init__(self, xp: Any, ctx: Any, form: StackForm, rows: Any, count: Any) -> None:
        self.xp, self.ctx, self.form, self.rows = xp, ctx, form, rows
        self.count, self.pushed = count, ctx.cell(None)
        self.known: Any = None
        if form.known is not None:
            dtype, shape, content = form.known
            self.known = np.frombuffer(content, dtype).reshape(shape)

    @property
    def state(self) -> tuple[Any, Any]:
        return self.pushed.state, self.count.now

    def push(self, value: Any) -> None:
        if hasattr(value, "zeros_like") or not hasattr(value, "shape"):
            raise NotImplementedError("a list or an array of tensors is pushed on a stack")
        if self.rows is not None:
            raise NotImplementedError("a stack that is not empty is pushed on")
        at = self.count.pushed()
        if self.form.max_size >= 0:
            must_hold(at < self.form.max_size)
        if not self._is_known(value):
            self._push_row(at, self.xp.asarray(value))

    def _is_known(self, value: Any) -> bool:
        """Whether a trace knows `value`, and it is all that the stack has ever held."""
        is_fixed = isinstance(value, (np.ndarray, np.generic)) and value.nbytes <= _FEW
        if self.known is None and is_fixed and self.pushed.state is None and self.ctx.bounds:
            self.known = value
        if self.known is not None and not (is_fixed and np.array_equal(self.known, value)):
            raise NotImplementedError("a stack holds a value that is known, and others")
        return self.known is not None

    def _push_row(self, at: Any, value: Any) -> None:
        if self.pushed.state is None:
            shape = max(1, self.ctx.rows()), *value.shape
            self.pushed.state = self.xp.zeros(shape, value.dtype)
        buffer = self.xp.asarray(self.pushed.state)
        if self.ctx.guesses:
            self.ctx.watch(at, buffer.shape[0])
        self.pushed.state = put_row(buffer, at, value)

    def pop(self) -> Any:
        at = self.count.popped()
        if self.known is not None:
            return self.known
        if self.rows is None:
            raise NotImplementedError("a stack is popped before anything was pushed")
        return take_row(self.rows, at)

    def close(self) -> None:
        raise NotImplementedError("a stack of the host is closed")

    def put_back(self, stack: Stack, state: tuple[Any, Any], trips: int) -> None:
        """Makes the stack of the host what it is after the program and so many iterations.

        `state`: what its `state` has become.
        """
        pushed, step = state[0], self.form.step
        count = length(stack) + step * trips if step else int(state[1])
        if self.known is not None or pushed is not None:
            stack.hold(Whole(pushed, self.known, count))
        else:
            stack.drop(count)
