"""Arrows from sends to receives, as Chrome's flow events."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from typing import Any

Json = dict[str, Any]
_INSIDE = 0.5  # microseconds: times since 1970 are not exacter than half of this


def link(events: Sequence[Json]) -> list[Json]:
    """Two flow events for each transfer whose both ends were recorded.

    In loops, a key is sent again and again: the first send is for the first receive.
    """
    sends: dict[str, deque[Json]] = defaultdict(deque)
    for event in _by_time(events, "send"):
        sends[event["args"]["flow"]].append(event)
    arrows: list[Json] = []
    for event in _by_time(events, "receive"):
        waiting = sends.get(event["args"]["flow"])
        if waiting:
            arrows += _arrow(len(arrows) // 2 + 1, waiting.popleft(), event)
    return arrows


def _by_time(events: Sequence[Json], kind: str) -> list[Json]:
    found = [event for event in events if event.get("cat") == kind]
    return sorted(found, key=lambda event: event["ts"] + event["dur"])


def _arrow(number: int, send: Json, receive: Json) -> list[Json]:
    common = {"cat": "flow", "name": send["args"].get("tensor", ""), "id": number}
    ends: tuple[tuple[str, Json, Json], ...] = (("s", send, {}), ("f", receive, {"bp": "e"}))
    return [
        {**common, "ph": phase, **more,
         "pid": event["pid"], "tid": event["tid"], "ts": flow_time(event)}
        for phase, event, more in ends
    ]  # fmt: skip


def flow_time(event: Json) -> float:
    """The time of a flow event: just inside of the event that it is drawn from.

    A send may end after what it sent was received, so its arrow leaves it at the beginning.
    """
    start: float = event["ts"]
    inside = min(_INSIDE, event["dur"] / 2)
    return start + (inside if event.get("cat") == "send" else event["dur"] - inside)
