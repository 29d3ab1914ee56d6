"""What each line of a program cost, by the recordings of its processes.

A recording (`weft/runtime/recording/`) has what threads did, one inside of another, and what ran
inside of compiled programs, by node; and the line of the user's program that made each node.
"""

from __future__ import annotations

import bisect
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from weft.lib.profiler.lines import GRADIENT

Json = dict[str, Any]
Line = tuple[str, int]  # file and number
_OPERATION, _PROGRAM = "op", "program"
# What does not belong to one line.
_APART = {"compile": "compiling programs", "plan": "planning steps", "step": "session.run itself"}
_REST = "calling compiled programs"


@dataclass
class Cost:
    """Microseconds and how many times something ran."""

    micros: float = 0.0
    runs: float = 0.0

    def add(self, micros: float, runs: float = 1.0) -> None:
        self.micros += micros
        self.runs += runs


@dataclass
class Costs:
    """By line, and by what belongs to no line."""

    lines: dict[Line, Cost] = field(default_factory=lambda: defaultdict(Cost))
    apart: dict[str, Cost] = field(default_factory=lambda: defaultdict(Cost))
    steps: int = 0

    @property
    def total(self) -> float:
        found = [*self.lines.values(), *self.apart.values()]
        return sum(cost.micros for cost in found)

    def costliest(self, count: int) -> list[tuple[Line, Cost]]:
        return sorted(self.lines.items(), key=lambda each: -each[1].micros)[:count]


def costs_of(recordings: Iterable[Json]) -> Costs:
    """The costs of all processes together."""
    found = Costs()
    for recording in recordings:
        _add(recording, found)
    return found


def _add(recording: Json, found: Costs) -> None:
    details, lines = recording["details"], recording["lines"]
    inside, called = 0.0, 0.0  # of compiled programs
    busy = _Busy(recording["events"])
    for event, micros in _own_times(recording["events"]):
        kind, detail = event[0], details[event[5]] or {}
        if kind == _PROGRAM:
            called += micros
        elif kind in _APART:
            found.apart[_APART[kind]].add(micros)
            found.steps += kind == "step"
        elif kind == "python":
            _charge(found, micros, detail.get("at"))
        elif kind in ("node", "interpreted"):
            # A region is interpreted once or twice: its costliest node stands for it.
            names = detail.get("nodes") if kind == "node" else None
            micros = max(0.0, micros - busy.within(event[2], event[2] + event[3]))
            _share(found, micros, names or [detail.get("node")], lines)
    for event in recording["events"]:
        if event[0] == _OPERATION:
            detail = details[event[5]] or {}
            inside += event[3]
            _share(found, event[3], [detail.get("node")], lines)
    if called > inside:
        found.apart[_REST].add(called - inside)


def _charge(found: Costs, micros: float, at: Any) -> None:
    """Adds to a Python function, which is known by where it begins."""
    if at:
        found.lines[at[0], at[1]].add(micros)


def _share(found: Costs, micros: float, names: list[Any], lines: Json) -> None:
    """Adds to the lines of some nodes, in equal parts."""
    for name in names:
        line = _line(name, lines)
        part = micros / len(names)
        if line is None:
            found.apart["nodes of no line"].add(part, 1 / len(names))
        else:
            found.lines[line].add(part, 1 / len(names))


def _line(name: str | None, lines: Json) -> Line | None:
    """The line that made a node; of a gradient, the one that made what it is the gradient of."""
    gradient = GRADIENT.search(name or "")
    forward = lines.get(gradient[1]) if gradient is not None else None
    frame = forward or lines.get(name or "")
    return None if frame is None else (frame[0], frame[1])


class _Busy:
    """When compiled programs ran; a node of the host that runs meanwhile waits for them."""

    def __init__(self, events: list[Any]) -> None:
        spans = sorted((e[2], e[2] + e[3]) for e in events if e[0] == _OPERATION)
        self._starts, self._ends = list[float](), list[float]()
        for start, end in spans:
            if self._ends and start <= self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], end)
            else:
                self._starts.append(start)
                self._ends.append(end)

    def within(self, start: float, end: float) -> float:
        """How much of an interval it was."""
        at, found = bisect.bisect_right(self._ends, start), 0.0
        while at < len(self._starts) and self._starts[at] < end:
            found += min(end, self._ends[at]) - max(start, self._starts[at])
            at += 1
        return found


def _own_times(events: list[Any]) -> Iterator[tuple[Any, float]]:
    """The events of threads, with the time that was spent in none of those inside of them."""
    threads = defaultdict[int, list[Any]](list)
    for event in events:
        if isinstance(event[4], int) and event[4]:
            threads[event[4]].append(event)
    for each in threads.values():
        each.sort(key=lambda event: (event[2], -event[3]))
        yield from _nested(each)


def _nested(events: list[Any]) -> Iterator[tuple[Any, float]]:
    """`events` of one thread, by their beginnings."""
    open_: list[tuple[Any, list[float]]] = []
    for event in events:
        while open_ and open_[-1][0][2] + open_[-1][0][3] <= event[2]:
            last, (own,) = open_.pop()
            yield last, own
        if open_:
            open_[-1][1][0] -= event[3]
        open_.append((event, [event[3]]))
    for last, (own,) in open_:
        yield last, own
