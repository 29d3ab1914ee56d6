"""How often a loop runs at most, where a counter tells."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from weft.passes.client_graph import ClientGraph, Edge, Loop, Node
from weft.runtime.xla.traced_state import Objects

# Iterations that a loop of unknown length is at first given room for, less one.
_SHORTEST = 15


@contextmanager
def one_more_loop(objects: Objects, loop: Loop, bound: int | None) -> Iterator[None]:
    """Inside, `objects` knows that `loop` is around."""
    guess = 1 << max(_SHORTEST, loop.longest - 1).bit_length()
    if objects.room and not objects.bounds:
        guess = objects.room
    objects.bounds.append(guess if bound is None else bound)
    objects.guesses += bound is None
    try:
        yield
    finally:
        objects.bounds.pop()
        objects.guesses -= bound is None


_LEAST = -(1 << 63)  # of all numbers
_COMPARISONS = ("<", "<=", ">", ">=")


def counter_ranges(loop: Loop, inputs: list[Any], bound: int | None) -> dict[int, range]:
    """Loop variables that count iterations from a known number on -> what they may be in one."""
    if bound is None:
        return {}
    starts = {i: _number(inputs[i]) for i in range(loop.variables) if _steps(loop, i) == 1}
    return {i: range(start, start + bound) for i, start in starts.items() if start is not None}


def trip_bound(loop: Loop, inputs: list[Any], objects: Objects) -> int | None:
    """How often the loop can run at most, if a counter that is compared with a number tells."""
    stack = [loop.condition.fetches[0]]
    while stack:
        test = stack.pop()[0]
        if test.definition.is_identity or test.type == "LogicalAnd":
            stack.extend(test.inputs)
        elif test.definition.infix in _COMPARISONS:
            bound = _bound(test, loop, inputs, objects)
            if bound is not None:
                return bound
    return None


def _bound(test: Node, loop: Loop, inputs: list[Any], objects: Objects) -> int | None:
    """The bound that `counter < number` means, or `counter > number` of one that counts down."""
    counter = _variable(test.inputs[0], loop)
    comparison = test.definition.infix or ""
    up = comparison.startswith("<")
    end = _value(test.inputs[1], loop.condition, inputs, objects if up else None)
    if counter is None or end is None:
        return None
    start = _number(inputs[counter])
    if start is None and not up:
        start = objects.most(inputs[counter])
    if start is None or _steps(loop, counter) != (1 if up else -1):
        return None
    distance = end - start if up else start - end
    return max(0, distance + comparison.endswith("="))


def note_limit(objects: Objects, inputs: list[Any], output: Any) -> None:
    """Notes that a minimum is at most what is known of one side, as with the lengths of an RNN."""
    if _number(output) is None:
        known = [n for n in (_most(value, objects) for value in inputs) if n is not None]
        if known:
            objects.ranges[id(output)] = output, range(_LEAST, min(known) + 1)


def _value(
    edge: Edge, graph: ClientGraph, inputs: list[Any], objects: Objects | None
) -> int | None:
    """The value of an edge of the condition, or with `objects` an upper bound, if known."""
    if edge[0].definition.is_constant:
        return _number(edge[0].attrs["value"])
    args = [arg for arg, _ in graph.feeds]
    if edge[0] not in args:
        return None
    value = inputs[args.index(edge[0])]
    return _number(value) if objects is None else _most(value, objects)


def _most(value: Any, objects: Objects) -> int | None:
    number = _number(value)
    return objects.most(value) if number is None else number


def _number(value: Any) -> int | None:
    known = isinstance(value, (np.ndarray, np.generic)) and value.size == 1
    return int(value.item()) if known and value.dtype.kind in "iu" else None


def _variable(edge: Edge, loop: Loop) -> int | None:
    """The loop variable that an edge of the condition is."""
    args = [arg for arg, _ in loop.condition.feeds[: loop.variables]]
    return args.index(edge[0]) if edge[0] in args else None


def _steps(loop: Loop, index: int) -> int:
    """The step of a loop variable: 1, -1, or 0 for anything else."""
    body = loop.body
    step, own = body.fetches[index][0], body.feeds[index][0]
    if step.definition.infix not in ("+", "-"):
        return 0
    (first, _), (second, _) = step.inputs
    if step.definition.infix != "-" and second is own:
        first, second = second, first
    if first is not own or not second.definition.is_constant or _number(second.attrs["value"]) != 1:
        return 0
    return -1 if step.definition.infix == "-" else 1
