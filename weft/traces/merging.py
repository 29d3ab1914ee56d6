"""Recordings of processes -> the events of a Chrome trace, on the clock of the first.

Perfetto and chrome://tracing open what comes out. A process is a process there; a row is a thread:
those of Python, those of XLA, the streams of devices, and rows for what holds no thread (steps of a
worker, waits), in as many lanes as overlap.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from weft.traces.flows import link
from weft.traces.idle import explained

Json = dict[str, Any]

# Kinds of what holds no thread -> the row they are shown in, and where it is in its process.
_LOOSE_ROWS = {"worker": ("steps", -3), "receive": ("waits", 2), "wait": ("waits", 2)}
IDLE = ("idle", -2)
_THREAD, _DEVICE = 0, 1


class Row:
    """A row of one process and its lanes. Events that nest share a lane, if the row allows it."""

    def __init__(self, name: str, rank: int, nests: bool = True) -> None:
        self.name, self.rank, self.nests = name, rank, nests
        self.lanes: list[list[Json]] = []
        self._open: list[list[float]] = []

    def add(self, event: Json) -> None:
        """Events come by their start, longer ones first."""
        start, end = event["ts"], event["ts"] + event["dur"]
        for lane, ends in zip(self.lanes, self._open, strict=True):
            while ends and ends[-1] <= start:
                ends.pop()
            if not ends or (self.nests and end <= ends[-1]):
                ends.append(end)
                lane.append(event)
                return
        self.lanes.append([event])
        self._open.append([end])


def merged(recordings: Sequence[Json], together: bool = False) -> Json:
    """One trace of all processes. `shift` of a recording is what its clock is ahead by, in us.

    With `together`, only of the time in which all of them were recorded.
    """
    if together:
        recordings = _of_common_time(recordings)
    lines = _lines(recordings)
    tensors = _sent(recordings)
    events: list[Json] = []
    for pid, recording in enumerate(recordings):
        events += _process(pid, recording, tensors)
    return {
        "traceEvents": events + link(events),
        "displayTimeUnit": "ms",
        "weft": {"lines": lines},
    }


def _lines(recordings: Sequence[Json]) -> Json:
    """Node -> line, of the nodes that events are about: who knows it may be another process."""
    details = [detail for each in recordings for detail in each["details"] if detail]
    used = {name for d in details for name in (d.get("node"), *d.get("nodes", ()))}
    known = [item for each in recordings for item in each.get("lines", {}).items()]
    return {name: line for name, line in known if name in used}


def _of_common_time(recordings: Sequence[Json]) -> list[Json]:
    spans = [[at - each.get("shift", 0.0) for at in each["span"]] for each in recordings]
    first, last = max(span[0] for span in spans), min(span[1] for span in spans)
    found = []
    for each in recordings:
        begin, end = first + each.get("shift", 0.0), last + each.get("shift", 0.0)
        events = [e for e in each["events"] if e[2] + e[3] >= begin and e[2] <= end]
        found.append({**each, "events": events})
    return found


def _sent(recordings: Sequence[Json]) -> dict[str, str]:
    """Transfer -> tensor: the sender knows which output of the node it is."""
    details = [detail for each in recordings for detail in each["details"] if detail]
    return {d["flow"]: d["tensor"] for d in details if "flow" in d and "tensor" in d}


def _process(pid: int, recording: Json, tensors: dict[str, str]) -> list[Json]:
    process = recording["process"].replace("/replica:0", "")
    name = f"{process} (pid {recording['pid']}, {recording['host']})"
    found = [_meta("process_name", pid, 0, name=name)]
    found.append(_meta("process_sort_index", pid, 0, sort_index=pid))
    for tid, (row, number, lane) in enumerate(_lanes(recording, tensors)):
        label = row.name if number == 0 else f"{row.name} {number + 1}"
        found.append(_meta("thread_name", pid, tid, name=label))
        found.append(_meta("thread_sort_index", pid, tid, sort_index=row.rank * 1000 + tid))
        for event in lane:
            event["pid"], event["tid"] = pid, tid
            found.append(event)
    return found


def _meta(kind: str, pid: int, tid: int, **args: Any) -> Json:
    return {"ph": "M", "name": kind, "pid": pid, "tid": tid, "args": args}


def _lanes(recording: Json, tensors: dict[str, str]) -> Iterable[tuple[Row, int, list[Json]]]:
    rows: dict[Any, Row] = {}
    threads = recording["threads"]
    for event, key in _events(recording, tensors):
        if key not in rows:
            rows[key] = _row(key, threads)
        rows[key].add(event)
    for row in sorted(rows.values(), key=lambda row: (row.rank, row.name)):
        for number, lane in enumerate(row.lanes):
            yield row, number, lane


def _row(key: Any, threads: Json) -> Row:
    if isinstance(key, tuple):
        return Row(key[0], key[1], nests=False)
    if isinstance(key, str):
        return Row(key, _DEVICE)
    return Row(threads.get(str(key), "thread"), _THREAD)


def _events(recording: Json, tensors: dict[str, str]) -> list[tuple[Json, Any]]:
    """The events of one process with the keys of their rows, by their start, longer ones first."""
    shift, details = recording.get("shift", 0.0), recording["details"]
    found = []
    for kind, name, start, took, thread, place in recording["events"]:
        event = {"ph": "X", "cat": kind, "name": name, "ts": start - shift, "dur": took}
        if detail := details[place]:
            event["args"] = detail
            if kind == "receive" and detail["flow"] in tensors:
                event["name"] = f"{name.rpartition(' ')[0]} {tensors[detail['flow']]}"
        found.append((event, thread or _LOOSE_ROWS.get(kind, ("other", 3))))
    found += [(event, IDLE) for event in explained([event for event, _ in found])]
    found.sort(key=lambda pair: (pair[0]["ts"], -pair[0]["dur"]))
    return found
