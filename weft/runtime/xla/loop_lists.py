"""Lists of tensors on their way through the loops and conditionals of a program.

A loop needs the room for all that it will push before it starts: how much one turn pushes, which a
first look tells, times how often the loop can run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from weft.ops.lists.tensor_list_traced import Facts, TracedList, tree_map
from weft.runtime.xla.traced_state import Objects


class LoopLists:
    """The lists among the variables of a loop, by position.

    `entering` is what is known of each at the beginning of a turn. For the first look that is as if
    it were empty, so that what is known afterwards tells how much one turn adds.
    """

    def __init__(self, start: Sequence[Any], times: int | None, objects: Objects) -> None:
        self.objects, self.is_guess = objects, times is None
        self.times = objects.bounds[-1] if times is None else times
        self.start = {i: v.facts for i, v in enumerate(start) if isinstance(v, TracedList)}
        self.entering = {i: replace(facts, most=0, peak=0) for i, facts in self.start.items()}
        self.leaving: dict[int, Facts] = {}
        self.final: dict[int, Facts] = {}

    def enter(self, variables: Sequence[Any]) -> list[Any]:
        known = self.entering
        return [v.knowing(known[i]) if i in known else v for i, v in enumerate(variables)]

    def leave(self, results: Sequence[Any]) -> None:
        self.leaving = {i: results[i].facts for i in self.entering}

    def settle(self, start: list[Any], shapes: Sequence[Any]) -> bool:
        """Gives the lists of `start` their room; whether that calls for another look."""
        again = False
        for i, before in self.start.items():
            after = self.leaving[i]
            added = max(0, after.most)
            guessed = after.peak > 0 and (self.is_guess or after.watcher is not None)
            watcher = self.objects if guessed else before.watcher
            size = before.size if after.size == before.size else None
            top = before.most + added * (max(1, self.times) - 1)
            room = top + max(0, after.peak)
            rows = room * self.objects.factor if guessed else room
            self.entering[i] = Facts(before.dims, size, top, top, watcher)
            most = before.most + added * self.times
            self.final[i] = Facts(before.dims, size, most, most, watcher)
            given, start[i] = start[i], start[i].grown(rows, shapes[i].buffer)
            again = again or watcher is not before.watcher or size != before.size
            again = again or _elements(given) not in (None, _elements(start[i]))
        return again

    def exit(self, final: Sequence[Any]) -> list[Any]:
        known = self.final
        return [v.knowing(known[i]) if i in known else v for i, v in enumerate(final)]


def _elements(list_: TracedList) -> Any:
    """The shapes of a list's elements; those of lists may change as they get more room."""
    if list_.buffer is None:
        return None
    shapes: list[Any] = []
    tree_map(lambda array: shapes.append(array.shape[1:]), list_.buffer)
    return shapes


# ---- where branches meet ----------------------------------------------------------------------


def alike(one: Any, two: Any) -> Any:
    """The form of a result that is a list, or is missing in one of two branches; or else None."""
    if one is None or two is None:
        return two if one is None else one
    if not isinstance(one, TracedList):
        return None
    return two if one.buffer is None or two.rows > one.rows else one


def in_form(value: Any, form: Any) -> Any:
    """A result of a branch, in the form that both branches agree on."""
    if form is None:
        return value
    if value is None:
        return tree_map(lambda part: np.zeros(part.shape, part.dtype), form)
    if not isinstance(value, TracedList):
        return value
    made = value.grown(form.rows, form.buffer)
    return TracedList(made.buffer, made.length, form.dtype, value.facts)


def either(one: Facts | None, two: Facts | None) -> Facts | None:
    """The facts about a list that comes from one of two branches."""
    if one is None or two is None:
        return two if one is None else one
    size = one.size if one.size == two.size else None
    most, watcher = max(one.most, two.most), one.watcher or two.watcher
    return Facts(one.dims or two.dims, size, most, max(one.peak, two.peak, most), watcher)
