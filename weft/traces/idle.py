"""Idle time, explained: what a process waited for while none of its threads had anything to do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

Json = dict[str, Any]
Span = tuple[float, float]

_WORK = frozenset(("program", "interpreted", "node", "compile", "plan", "python", "op", "send"))
_WAITS = frozenset(("receive", "wait"))
_STEPS = frozenset(("worker",))
_SHORTEST = 20.0  # microseconds


def explained(events: Sequence[Json]) -> list[Json]:
    """An event for each time in which a worker's step only waited, named after the reason.

    The reason is the wait that ended last before work went on.
    """
    busy = joined(_span(e) for e in events if e["cat"] in _WORK)
    steps = joined(_span(e) for e in events if e["cat"] in _STEPS)
    waits = sorted((e for e in events if e["cat"] in _WAITS), key=lambda e: _span(e)[1])
    found, first = [], 0
    for start, end in gaps(steps, busy):
        while first < len(waits) and _span(waits[first])[1] <= start:
            first += 1
        reason = _reason(waits, first, start, end)
        if reason is not None:
            args = {**reason.get("args", {}), "for": reason["name"]}
            args.pop("flow", None)
            found.append({
                "ph": "X", "cat": "idle", "name": reason["name"], "ts": start, "dur": end - start,
                "args": args,
            })  # fmt: skip
    return found


def _reason(waits: Sequence[Json], first: int, start: float, end: float) -> Json | None:
    ended, i = list[Json](), first
    while i < len(waits) and _span(waits[i])[1] <= end + _SHORTEST:
        if waits[i]["ts"] < end:
            ended.append(waits[i])
        i += 1
    if not ended:  # it goes on
        ended = [wait for wait in waits[i : i + 1] if wait["ts"] <= start]
    # A full queue is the reason only where there is no other.
    others = [wait for wait in ended if "Enqueue" not in wait.get("args", {}).get("op", "")]
    return next(reversed(others or ended), None)


def _span(event: Json) -> Span:
    return event["ts"], event["ts"] + event["dur"]


def joined(spans: Iterable[Span]) -> list[Span]:
    """Spans that overlap become one."""
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((start, end))
    return found


def gaps(steps: Sequence[Span], busy: Sequence[Span]) -> Iterable[Span]:
    """The parts of steps that are in no busy span, but for very short ones."""
    first = 0
    for start, end in steps:
        while first < len(busy) and busy[first][1] <= start:
            first += 1
        i, at = first, start
        while i < len(busy) and busy[i][0] < end:
            if busy[i][0] - at > _SHORTEST:
                yield at, busy[i][0]
            at = max(at, busy[i][1])
            i += 1
        if end - at > _SHORTEST:
            yield at, end
