"""A recording as a profile for TensorBoard: its rows beside what XLA's own profiler has kept.

Operations are named `node:Type` there, by which the plugin's tables know operations of a graph.
"""

from __future__ import annotations

import socket
from collections.abc import Iterable, Sequence
from typing import Any

from weft.protos.xplane import XSpace

Json = dict[str, Any]
_HOST = "/host:CPU"
_STEP = "step"
_NODES = frozenset(("node", "op"))
_FIRST_LINE = 1 << 20  # ids of lines: above those of threads
_START = "profile_start_time"  # nanoseconds of the wall clock; times of lines count from it


def to_profile(recording: Json, profiles: Iterable[bytes] = ()) -> bytes:
    """One serialized profile of a recording and of XLA's profiles of the same time."""
    space = XSpace()
    for profile in profiles:
        space.MergeFromString(profile)
    del space.hostnames[:]
    space.hostnames.append(socket.gethostname())
    found = [plane for plane in space.planes if plane.name == _HOST]
    start = _start_of(space) or int(recording["span"][0] * 1e3)
    _Plane(found[0] if found else space.planes.add(name=_HOST), start).add(recording)
    serialized: bytes = space.SerializeToString()
    return serialized


def _start_of(space: Any) -> int:
    """When XLA's profile begins, if there is one."""
    for plane in space.planes:
        names = {entry.key: entry.value.name for entry in plane.stat_metadata}
        for stat in plane.stats:
            if names.get(stat.metadata_id) == _START:
                return int(stat.uint64_value)
    return 0


class _Plane:
    """A plane to which lines are added."""

    def __init__(self, plane: Any, start: int) -> None:
        self._plane, self._start = plane, start
        self._events = {entry.value.name: entry.key for entry in plane.event_metadata}
        self._stats = {entry.value.name: entry.key for entry in plane.stat_metadata}
        self._steps = 0

    def add(self, recording: Json) -> None:
        rows: dict[Any, list[Any]] = {}
        for event in recording["events"]:
            rows.setdefault(event[4] or event[0], []).append(event)
        begin = recording["span"][0]
        for number, (key, events) in enumerate(rows.items()):
            name = recording["threads"].get(str(key), str(key))
            line = self._plane.lines.add(id=_FIRST_LINE + number, name=f"weft {name}")
            line.timestamp_ns = max(0, int(begin * 1e3) - self._start)
            self._fill(line, events, recording["details"], begin)

    def _fill(self, line: Any, events: Sequence[Any], details: list[Any], begin: float) -> None:
        for kind, name, at, took, _, place in sorted(events, key=lambda event: event[2]):
            detail = details[place] or {}
            if kind in _NODES and detail.get("op"):
                name = f"{name}:{detail['op']}"
            event = line.events.add(metadata_id=_number(self._events, name, self._named_event))
            event.offset_ps = max(0, int((at - begin) * 1e6))
            event.duration_ps = int(took * 1e6)
            if kind == _STEP or "step_num" in detail:
                self._steps += 1
                self._stat(event, "step_num").int64_value = detail.get("step_num", self._steps)
                self._stat(event, "_r").int64_value = 1  # all that is below belongs to the step
            elif detail.get("node"):
                self._stat(event, "node").str_value = detail["node"]

    def _stat(self, event: Any, name: str) -> Any:
        return event.stats.add(metadata_id=_number(self._stats, name, self._named_stat))

    def _named_event(self, number: int, name: str) -> None:
        entry = self._plane.event_metadata.add(key=number)
        entry.value.id, entry.value.name = number, name

    def _named_stat(self, number: int, name: str) -> None:
        entry = self._plane.stat_metadata.add(key=number)
        entry.value.id, entry.value.name = number, name


def _number(known: dict[str, int], name: str, add: Any) -> int:
    """The number of a name; a new one is added to the plane."""
    number = known.get(name)
    if number is None:
        number = known[name] = max(known.values(), default=0) + 1
        add(number, name)
    return number
